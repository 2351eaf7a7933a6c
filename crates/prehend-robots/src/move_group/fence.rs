//! Path constraints: upright boxes that the tool stays in. Whatever else MoveIt's constraints can say is refused, not ignored.

use super::error::MoveGroupError;
use super::scene::Scene;
use super::state::ArmState;
use nalgebra::{Isometry3, Vector3};
use prehend_convert::pose_from_msg;
use prehend_motion::Fence;
use prehend_msgs::geometry_msgs::msg::{Point, Pose, Quaternion};
use prehend_msgs::moveit_msgs::msg::{BoundingVolume, Constraints, PositionConstraint};
use prehend_msgs::shape_msgs::msg::SolidPrimitive;

/// Turns and offsets below this are rounding, radians or metres.
const ROUNDING: f64 = 1e-6;

/// The fence as a constraint of the tool, which MoveIt takes for paths and for lines.
pub fn to_msg(fence: &Fence, base: &str, tool: &str) -> Constraints {
    let (low, high) = (fence.low(), fence.high());
    let middle = |i: usize| (low[i] + high[i]) / 2.0;
    let pose = Pose {
        position: Point { x: middle(0), y: middle(1), z: middle(2) },
        orientation: Quaternion { w: 1.0, ..Default::default() },
    };
    let around = SolidPrimitive {
        type_: SolidPrimitive::BOX,
        dimensions: (0..3).map(|i| high[i] - low[i]).collect(),
        ..Default::default()
    };
    let position = PositionConstraint {
        header: prehend_convert::header(base, 0.0),
        link_name: tool.to_owned(),
        constraint_region: BoundingVolume {
            primitives: vec![around],
            primitive_poses: vec![pose],
            ..Default::default()
        },
        weight: 1.0,
        ..Default::default()
    };
    Constraints { position_constraints: vec![position], ..Default::default() }
}

/// What constraints confine the tip to: what is in all boxes; `None` when they are empty.
///
/// Errors: [`MoveGroupError::Unsupported`] for anything but upright boxes of the tip, [`MoveGroupError::UnknownFrame`],
/// [`MoveGroupError::Message`].
pub(super) fn from_msg(
    constraints: &Constraints,
    scene: &Scene,
    start: &ArmState,
) -> Result<Option<Fence>, MoveGroupError> {
    let Constraints { joint_constraints, orientation_constraints, visibility_constraints, .. } = constraints;
    if !joint_constraints.is_empty()
        || !orientation_constraints.is_empty()
        || !visibility_constraints.is_empty()
    {
        return Err(MoveGroupError::Unsupported { what: "a constraint of a path but of its position" });
    }
    let mut fence: Option<Fence> = None;
    for position in &constraints.position_constraints {
        let one = one_box(position, scene, start)?;
        fence = Some(fence.map_or(one, |fence| fence.and(&one)));
    }
    Ok(fence)
}

fn one_box(position: &PositionConstraint, scene: &Scene, start: &ArmState) -> Result<Fence, MoveGroupError> {
    let unsupported = |what: &'static str| MoveGroupError::Unsupported { what };
    let (offset, tip) = (&position.target_point_offset, &scene.world.model().group().tip);
    let is_tip = position.link_name.is_empty() || position.link_name == *tip;
    if !is_tip || [offset.x, offset.y, offset.z].iter().any(|n| n.is_nan() || n.abs() > ROUNDING) {
        return Err(unsupported("a path constraint of another point than the tip"));
    }
    let region = &position.constraint_region;
    let ([primitive], [pose], []) =
        (region.primitives.as_slice(), region.primitive_poses.as_slice(), region.meshes.as_slice())
    else {
        return Err(unsupported("a path constraint that is not one box with one pose"));
    };
    let (SolidPrimitive::BOX, [x, y, z]) = (primitive.type_, primitive.dimensions.as_slice()) else {
        return Err(unsupported("a path constraint that is not one box with one pose"));
    };
    let pose = pose_from_msg(pose)
        .map_err(|error| MoveGroupError::Message { what: "pose of a path constraint", error })?;
    let base_from_box: Isometry3<f64> = scene.base_from_frame(&position.header.frame_id, start)? * pose;
    if base_from_box.rotation.angle() > ROUNDING {
        return Err(unsupported("a path constraint that is turned"));
    }
    let (middle, half) = (base_from_box.translation.vector, Vector3::new(*x, *y, *z) / 2.0);
    Ok(Fence::new((middle - half).into(), (middle + half).into()))
}
