//! Where camera and tool were when a frame was taken, and whether the camera rested.

use super::ObjectMapNode;
use super::failure::Failure;
use super::frames::Frame;
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_ros::{nanoseconds, time_from_nanoseconds};
use prehend_scene::Scope;

/// Time before the frame at which the camera must have been where it is in the frame.
const REST_NS: i64 = 120_000_000;
/// How far the camera may have moved in that time and still count as resting: metres and radians.
const REST_DISTANCE: f64 = 0.001;
const REST_ANGLE: f64 = 0.003;

/// What is known of them.
pub(super) enum Poses {
    /// Camera and tool in the map frame.
    Known(Isometry3<f64>, Option<Isometry3<f64>>),
    /// The transforms have not arrived yet, or the camera moves.
    Wait(Failure),
}

impl ObjectMapNode<'_> {
    /// Where camera and tool were at a time, in the frame of the scope's map, when the camera was at rest.
    pub(super) fn poses(&self, frame: &Frame, scope: Scope) -> Poses {
        let frames = &self.shell.robot.frames;
        let navigation = self.shell.robot.navigation.as_ref().filter(|_| scope == Scope::Room);
        let map_frame = navigation.map_or(&frames.base, |navigation| &navigation.frame);
        // The localisation may be corrected while the robot stands; whether it stands, the odometry knows.
        let rest_frame = navigation.map_or(&frames.base, |navigation| &navigation.odom);
        // The images say which frame they are in; the robot file only says where it should be.
        let (at, optical) = (&frame.stamp, frame.color.header.frame_id.as_str());
        if frame.depth.header.frame_id != optical {
            let (depth, color) = (frame.depth.header.frame_id.clone(), optical.to_owned());
            return Poses::Wait(Failure::Unaligned { depth, color });
        }
        let find_in = |target: &str, source: &str, time: &Time| {
            let transform = self.tf.lookup(target, source, time);
            transform.map_err(|error| Failure::Transform {
                base: target.to_owned(),
                camera: source.to_owned(),
                source: error,
            })
        };
        let find = |source: &str, time: &Time| find_in(map_frame, source, time);
        let camera = match find(optical, at) {
            Ok(transform) => transform,
            Err(why) => return Poses::Wait(why),
        };
        let camera = match convert::isometry(camera.translation, camera.rotation) {
            Ok(camera) => camera,
            Err(source) => {
                let (base, camera) = (map_frame.clone(), optical.to_owned());
                return Poses::Wait(Failure::BadTransform { base, camera, source });
            }
        };
        let earlier = time_from_nanoseconds((nanoseconds(at) - REST_NS).max(1));
        let (now, before) = match (find_in(rest_frame, optical, at), find_in(rest_frame, optical, &earlier)) {
            (Ok(now), before) => (now.isometry(), before),
            (Err(why), _) => return Poses::Wait(why),
        };
        match before {
            Ok(before) => {
                let before = convert::isometry(before.translation, before.rotation);
                let rests = before.is_ok_and(|before| {
                    let moved = before.inverse() * now;
                    moved.translation.vector.norm() < REST_DISTANCE && moved.rotation.angle() < REST_ANGLE
                });
                if !rests {
                    return Poses::Wait(Failure::Moving { waited: 0.0 });
                }
            }
            Err(why) => return Poses::Wait(why),
        }
        let tool = find(&frames.tool, at)
            .ok()
            .and_then(|tool| convert::isometry(tool.translation, tool.rotation).ok());
        Poses::Known(camera, tool)
    }
}
