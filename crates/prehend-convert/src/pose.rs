//! Time, headers, vectors and poses.

use super::error::{ConvertError, Result, finite};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::geometry_msgs::msg as geometry;
use prehend_msgs::std_msgs::msg::Header;
use prehend_navigation::Pose2;

/// Seconds of a stamp.
pub fn seconds(time: &Time) -> f64 {
    f64::from(time.sec) + f64::from(time.nanosec) * 1e-9
}

/// Stamp of seconds; not a number and out of range become zero.
pub fn stamp(seconds: f64) -> Time {
    if !(seconds.is_finite() && (0.0..f64::from(i32::MAX)).contains(&seconds)) {
        return Time::default();
    }
    let sec = seconds.floor();
    let nanosec = (((seconds - sec) * 1e9).round() as u32).min(999_999_999);
    Time { sec: sec as i32, nanosec }
}

/// Header of a frame at a time in seconds.
pub fn header(frame: &str, at: f64) -> Header {
    Header { stamp: stamp(at), frame_id: frame.to_owned() }
}

/// Vector to message.
pub fn vector_to_msg(vector: &Vector3<f64>) -> geometry::Vector3 {
    geometry::Vector3 { x: vector.x, y: vector.y, z: vector.z }
}

/// Pose to message.
pub fn pose_to_msg(pose: &Isometry3<f64>) -> geometry::Pose {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    geometry::Pose {
        position: geometry::Point { x: t.x, y: t.y, z: t.z },
        orientation: geometry::Quaternion { x: q.x, y: q.y, z: q.z, w: q.w },
    }
}

/// Translation and quaternion `[x, y, z, w]` to a pose; the quaternion must be of unit length within 1 %.
pub fn isometry(translation: [f64; 3], rotation: [f64; 4]) -> Result<Isometry3<f64>> {
    finite("position", &translation)?;
    finite("orientation", &rotation)?;
    let [x, y, z, w] = rotation;
    let quaternion = Quaternion::new(w, x, y, z);
    let norm = quaternion.norm();
    if (norm - 1.0).abs() > 0.01 {
        return Err(ConvertError::NotUnit { norm });
    }
    // A quaternion that is already unit is kept to the bit, so that a plan hashes the same after the wire.
    let unit = if (norm - 1.0).abs() < 1e-9 {
        UnitQuaternion::new_unchecked(quaternion)
    } else {
        UnitQuaternion::from_quaternion(quaternion)
    };
    Ok(Isometry3::from_parts(Translation3::from(Vector3::from(translation)), unit))
}

/// Rigid transform to message.
pub fn transform_to_msg(pose: &Isometry3<f64>) -> geometry::Transform {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    geometry::Transform {
        translation: geometry::Vector3 { x: t.x, y: t.y, z: t.z },
        rotation: geometry::Quaternion { x: q.x, y: q.y, z: q.z, w: q.w },
    }
}

/// A pose in the plane of a rigid transform.
pub fn plane_pose(pose: &Isometry3<f64>) -> Pose2 {
    let forward = pose.rotation * Vector3::x();
    Pose2::new(pose.translation.x, pose.translation.y, forward.y.atan2(forward.x))
}

/// Message to pose.
pub fn pose_from_msg(msg: &geometry::Pose) -> Result<Isometry3<f64>> {
    let (p, q) = (&msg.position, &msg.orientation);
    isometry([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])
}
