//! Compressed chunks.

use std::io::Read;

/// Memory that is taken before anything is decompressed, bytes: a damaged size must not exhaust it.
const FIRST: u64 = 16 << 20;

/// The `size` bytes that `data` was made from by `method`.
///
/// Errors: what is wrong, as a sentence.
pub(super) fn decompress(method: &str, data: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(size.min(FIRST) as usize);
    // One byte more than announced shows that it is longer.
    let limit = size.saturating_add(1);
    let read = match method {
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|error| error.to_string())?;
            decoder.take(limit).read_to_end(&mut bytes)
        }
        "lz4" => lz4_flex::frame::FrameDecoder::new(data).take(limit).read_to_end(&mut bytes),
        other => return Err(format!("the compression `{other}` is not known; expected zstd or lz4")),
    };
    read.map_err(|error| format!("the {method} data of a chunk are broken: {error}"))?;
    if bytes.len() as u64 == size {
        Ok(bytes)
    } else {
        Err(format!("a chunk has {} or more bytes, {size} are announced", bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    #[test]
    fn both_methods_give_back_what_was_packed_and_refuse_what_was_not() {
        let plain: Vec<u8> = (0..200_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let size = plain.len() as u64;
        let zstd = compress_to_vec(plain.as_slice(), CompressionLevel::Fastest);
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(&plain).unwrap();
        for (method, packed) in [("zstd", zstd), ("lz4", lz4.finish().unwrap())] {
            assert!(decompress(method, &packed, size).unwrap() == plain, "{method}");
            for wrong in [size - 1, size + 1, u64::MAX] {
                assert!(
                    decompress(method, &packed, wrong).unwrap_err().contains("are announced"),
                    "{method}"
                );
            }
            assert!(decompress(method, &packed[..packed.len() / 2], size).is_err(), "{method} cut off");
            assert!(decompress(method, b"no frame of anything", size).is_err(), "{method}");
        }
        assert!(decompress("brotli", b"", 0).unwrap_err().contains("expected zstd or lz4"));
    }
}
