//! Messages of ROS 1 (`rosrust_msg`) as those of ROS 2, which have the same fields but the header's number.

use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use rosrust::RosMsg;
use rosrust_msg::{sensor_msgs, std_msgs, tf2_msgs};
use std::io;

/// A message that ROS 1 has, too.
pub(crate) trait InRos1: Sized {
    /// The message, or its header alone, in the bytes of ROS 1.
    fn from_ros1(bytes: &[u8]) -> io::Result<Self>;
}

/// What a message consists of, as far as lengths go.
#[derive(Clone, Copy)]
enum Piece {
    /// Bytes.
    Fixed(usize),
    /// A number, and so many elements of this many bytes.
    List(usize),
}

const HEADER: [Piece; 2] = [Piece::Fixed(12), Piece::List(1)];

/// Whether the lists of a message with a header end before it does. rosrust takes memory for all that a list of numbers announces before
/// it reads one: a damaged length must not exhaust it.
fn check_lists(mut bytes: &[u8], pieces: &[Piece]) -> io::Result<()> {
    let short =
        || io::Error::new(io::ErrorKind::UnexpectedEof, "it ends too early, or a length in it is wrong");
    for piece in HEADER.iter().chain(pieces) {
        let size = match *piece {
            Piece::Fixed(size) => size,
            Piece::List(size) => {
                let (length, rest) = bytes.split_first_chunk().ok_or_else(short)?;
                bytes = rest;
                (u32::from_le_bytes(*length) as usize).checked_mul(size).ok_or_else(short)?
            }
        };
        bytes = bytes.get(size..).ok_or_else(short)?;
    }
    Ok(())
}

fn header(old: std_msgs::Header) -> Header {
    // Seconds of ROS 2 are signed; those beyond 2038 it cannot say.
    let sec = i32::try_from(old.stamp.sec).unwrap_or(i32::MAX);
    Header { stamp: Time { sec, nanosec: old.stamp.nsec }, frame_id: old.frame_id }
}

impl InRos1 for Header {
    fn from_ros1(bytes: &[u8]) -> io::Result<Self> {
        std_msgs::Header::decode(bytes).map(header)
    }
}

impl InRos1 for Image {
    fn from_ros1(bytes: &[u8]) -> io::Result<Self> {
        check_lists(bytes, &[Piece::Fixed(8), Piece::List(1), Piece::Fixed(5), Piece::List(1)])?;
        let old = sensor_msgs::Image::decode(bytes)?;
        Ok(Self {
            header: header(old.header),
            height: old.height,
            width: old.width,
            encoding: old.encoding,
            is_bigendian: old.is_bigendian,
            step: old.step,
            data: old.data,
        })
    }
}

impl InRos1 for CompressedImage {
    fn from_ros1(bytes: &[u8]) -> io::Result<Self> {
        check_lists(bytes, &[Piece::List(1); 2])?;
        let old = sensor_msgs::CompressedImage::decode(bytes)?;
        Ok(Self { header: header(old.header), format: old.format, data: old.data })
    }
}

impl InRos1 for CameraInfo {
    fn from_ros1(bytes: &[u8]) -> io::Result<Self> {
        check_lists(bytes, &[Piece::Fixed(8), Piece::List(1), Piece::List(8)])?;
        let old = sensor_msgs::CameraInfo::decode(bytes)?;
        Ok(Self {
            header: header(old.header),
            height: old.height,
            width: old.width,
            distortion_model: old.distortion_model,
            d: old.D,
            k: old.K.to_vec(),
            r: old.R.to_vec(),
            p: old.P.to_vec(),
            binning_x: old.binning_x,
            binning_y: old.binning_y,
            ..Self::default()
        })
    }
}

impl InRos1 for TFMessage {
    fn from_ros1(bytes: &[u8]) -> io::Result<Self> {
        let old = tf2_msgs::TFMessage::decode(bytes)?;
        let transform = |old: rosrust_msg::geometry_msgs::TransformStamped| {
            let (t, r) = (old.transform.translation, old.transform.rotation);
            let mut new = TransformStamped {
                header: header(old.header),
                child_frame_id: old.child_frame_id,
                ..TransformStamped::default()
            };
            let (translation, rotation) = (&mut new.transform.translation, &mut new.transform.rotation);
            (translation.x, translation.y, translation.z) = (t.x, t.y, t.z);
            (rotation.x, rotation.y, rotation.z, rotation.w) = (r.x, r.y, r.z, r.w);
            new
        };
        Ok(Self { transforms: old.transforms.into_iter().map(transform).collect() })
    }
}
