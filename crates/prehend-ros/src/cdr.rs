//! Messages as ROS 2 stores them: the bytes that also travel, after four that tell their encoding.

use crate::RosError;
use crate::backend::{Encoding, decode, encode};
use prehend_msgs::Message;
use std::sync::atomic::AtomicUsize;

/// The message in stored bytes, as rosbag2 keeps them. When `T` is the first field of the stored message, only that field is
/// read: what comes after it is not looked at.
///
/// Errors: [`RosError::Decode`].
pub fn from_cdr<T: Message>(bytes: &[u8]) -> Result<T, RosError> {
    let Some(encoding) = Encoding::of(bytes) else {
        let begin = &bytes[..bytes.len().min(4)];
        let reason = format!("it begins with {begin:?}; plain CDR begins with 0, 0 or 0, 1");
        return Err(RosError::Decode { type_name: std::any::type_name::<T>(), reason });
    };
    decode(&bytes[4..], encoding)
}

/// The stored bytes of a message, little-endian.
///
/// Errors: [`RosError::Encode`].
pub fn to_cdr<T: Message>(message: &T) -> Result<Vec<u8>, RosError> {
    let mut bytes = Encoding::LITTLE_HEADER.to_vec();
    bytes.extend_from_slice(&encode(message, &AtomicUsize::new(0))?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::sensor_msgs::msg::CompressedImage;
    use prehend_msgs::std_msgs::msg::Header;

    #[test]
    fn stored_bytes_are_read_whole_or_by_their_header() {
        let mut message =
            CompressedImage { format: "png".to_owned(), data: vec![1, 2, 3], ..Default::default() };
        message.header.frame_id = "camera".to_owned();
        message.header.stamp.nanosec = 7;
        let bytes = to_cdr(&message).expect("encoded");
        assert_eq!(from_cdr::<CompressedImage>(&bytes).expect("whole"), message);
        assert_eq!(from_cdr::<Header>(&bytes).expect("its header"), message.header);
        for broken in [&bytes[..3], &bytes[..bytes.len() - 1], b"\x00\x07\x00\x00abcd"] {
            assert!(
                matches!(from_cdr::<CompressedImage>(broken), Err(RosError::Decode { .. })),
                "{broken:?}"
            );
        }
        let mut long = bytes;
        long[20..24].fill(0xff);
        assert!(from_cdr::<CompressedImage>(&long).is_err(), "a length beyond the end");
    }
}
