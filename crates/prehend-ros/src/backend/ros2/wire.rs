//! Samples as bytes.

use crate::backend::Encoding;
use bytes::Bytes;
use std::sync::Arc;

/// One sample as it travels.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) payload: Bytes,
    pub(crate) encoding: Encoding,
}

/// Whoever offers a service: rcl does not tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Server;

/// Takes samples as they arrive; called on the node's thread, so it must be quick.
pub(crate) type Sink = Arc<dyn Fn(Sample) + Send + Sync>;

impl Sample {
    /// Who sent it, when it is an answer of a service.
    pub(crate) fn server(&self) -> Server {
        Server
    }

    /// The sample in serialized bytes; `None` when they are no plain CDR.
    pub(super) fn of(serialized: Vec<u8>) -> Option<Self> {
        let encoding = Encoding::of(&serialized)?;
        Some(Self { payload: Bytes::from(serialized).slice(4..), encoding })
    }

    /// Writer and number among its samples: rcl lets no repetition through.
    pub(crate) fn origin(&self) -> Option<([u8; 16], i64)> {
        None
    }
}

/// Serialized bytes of `payload`, as rcl wants them.
pub(super) fn serialized(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + payload.len());
    bytes.extend_from_slice(&Encoding::LITTLE_HEADER);
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_there_and_back() {
        let sample = Sample::of(serialized(b"payload")).expect("CDR");
        assert_eq!((&*sample.payload, sample.encoding), (&b"payload"[..], Encoding::Little));
        assert_eq!(Sample::of(vec![0, 0, 0, 0]).map(|sample| sample.encoding), Some(Encoding::Big));
        for broken in [&[][..], &[0, 1, 0], &[0, 3, 0, 0, 1]] {
            assert!(Sample::of(broken.to_vec()).is_none(), "{broken:?}");
        }
    }
}
