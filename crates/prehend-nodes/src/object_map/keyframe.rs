//! A frame as a keyframe: its messages read, its pictures upright, the gripper known for the robot's own.

use super::ObjectMapNode;
use super::failure::Failure;
use super::frames::{self, Frame};
use nalgebra::{Isometry3, Translation3, Vector3};
use prehend_convert as convert;
use prehend_geometry::OrientedBox;
use prehend_perception::{Keyframe, LabelImage, PartLabels};
use prehend_ros::{ParameterError, Parameters};

/// The volume of the gripper in the tool frame, where points belong to the robot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelfFilter {
    tool_from_box: Isometry3<f64>,
    size: Vector3<f64>,
}

impl SelfFilter {
    /// Reads `gripper_center` and `gripper_size` (tool frame, metres); the defaults fit the xArm gripper.
    pub(super) fn read(parameters: &Parameters) -> Result<Self, ParameterError> {
        let triple = |name: &'static str, default: [f64; 3]| -> Result<Vector3<f64>, ParameterError> {
            if !parameters.has(name) {
                return Ok(Vector3::from(default));
            }
            let list = parameters.f64_list(name)?;
            parameters
                .describe(name, "Box of the gripper, whose points are the robot's own: tool frame, metres.");
            Ok(<[f64; 3]>::try_from(list).map_or(Vector3::from(default), Vector3::from))
        };
        let center = triple("gripper_center", [0.0, 0.0, -0.085])?;
        let size = triple("gripper_size", [0.08, 0.20, 0.20])?;
        Ok(Self {
            tool_from_box: Isometry3::from_parts(Translation3::from(center), Default::default()),
            size,
        })
    }
}

impl ObjectMapNode<'_> {
    /// A frame as a keyframe, its poses in the frame of the map it is for.
    pub(super) fn keyframe(
        &self,
        frame: &Frame,
        map_from_camera: Isometry3<f64>,
        map_from_tool: Option<Isometry3<f64>>,
        view: &str,
    ) -> Result<Keyframe, Failure> {
        let gripper = map_from_tool.map(|map_from_tool| OrientedBox {
            pose: map_from_tool * self.self_filter.tool_from_box,
            size: self.self_filter.size,
        });
        let color = convert::color_image_from_msg(&frame.color)?;
        let (labels, detections) = match &frame.detected {
            Some((labels, detections)) => (frames::label_image(labels)?, frames::detections(detections)),
            None => (LabelImage::blank(color.width, color.height), Vec::new()),
        };
        let keyframe = Keyframe {
            view: if view.is_empty() { "view".to_owned() } else { view.to_owned() },
            stamp: convert::seconds(&frame.stamp),
            color,
            depth: convert::depth_image_from_msg(&frame.depth)?,
            labels,
            detections,
            parts: match &frame.parts {
                Some((labels, detections)) => Some(PartLabels {
                    labels: frames::label_image(labels)?,
                    detections: frames::detections(detections),
                }),
                None => None,
            },
            intrinsics: convert::intrinsics_from_msg(&frame.info)?,
            map_from_camera,
            robot: gripper.into_iter().collect(),
        };
        Ok(keyframe.turned(self.turn))
    }
}
