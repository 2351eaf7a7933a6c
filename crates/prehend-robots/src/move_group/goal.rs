//! Goal constraints: joint values, or a pose of the tool.

use super::error::MoveGroupError;
use super::scene::Scene;
use super::state::ArmState;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_convert::{isometry, pose_from_msg};
use prehend_motion::{RobotModel, ToolSymmetry};
use prehend_msgs::moveit_msgs::msg::{
    Constraints, JointConstraint, OrientationConstraint, PositionConstraint,
};
use std::f64::consts::PI;

/// What a set of constraints asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Goal {
    /// Joint values in the model's order.
    Joints(Vec<f64>),
    /// The tip at a pose.
    Pose { base_from_tip: Isometry3<f64>, symmetry: ToolSymmetry },
}

/// Turns tried when the rotation about the tool's axis is free.
const FREE_TURNS: u8 = 12;

impl Goal {
    /// Reads one set of constraints. Joints that it does not name stay at `start`; tolerances are taken as met at their centre, but
    /// an orientation whose z tolerance is half a turn or more is free about the tool's z.
    pub(super) fn from_msg(
        constraints: &Constraints,
        scene: &Scene,
        start: &ArmState,
    ) -> Result<Self, MoveGroupError> {
        if !constraints.visibility_constraints.is_empty() {
            return Err(MoveGroupError::Unsupported { what: "a visibility constraint" });
        }
        let joints = constraints.joint_constraints.as_slice();
        match (
            joints,
            constraints.position_constraints.as_slice(),
            constraints.orientation_constraints.as_slice(),
        ) {
            ([], [], []) => Err(bad("empty")),
            (joints, [], []) => joint_goal(scene.world.model(), joints, start),
            ([], [position], [orientation]) => pose_goal(scene, position, orientation, start),
            ([], [_], []) => Err(bad("a position needs an orientation")),
            ([], [], [_]) => Err(bad("an orientation needs a position")),
            _ => Err(bad("give joint constraints, or one position and one orientation constraint")),
        }
    }
}

fn bad(reason: impl Into<String>) -> MoveGroupError {
    MoveGroupError::Goal { reason: reason.into() }
}

fn joint_goal(
    model: &RobotModel,
    constraints: &[JointConstraint],
    start: &ArmState,
) -> Result<Goal, MoveGroupError> {
    let mut joints = start.joints.clone();
    for constraint in constraints {
        let name = constraint.joint_name.as_str();
        let index = model.joint_names().iter().position(|joint| joint == name);
        let Some(joint) = index.and_then(|index| joints.get_mut(index)) else {
            return Err(bad(format!("group `{}` has no joint `{name}`", model.group().name)));
        };
        if !constraint.position.is_finite() {
            return Err(bad(format!("position of `{name}` is not finite")));
        }
        *joint = constraint.position;
    }
    Ok(Goal::Joints(joints))
}

fn pose_goal(
    scene: &Scene,
    position: &PositionConstraint,
    orientation: &OrientationConstraint,
    start: &ArmState,
) -> Result<Goal, MoveGroupError> {
    let model = scene.world.model();
    if position.link_name != orientation.link_name {
        return Err(bad("position and orientation are for different links"));
    }
    let link_from_tip = link_from_tip(model, &position.link_name, start)?;
    let [centre] = position.constraint_region.primitive_poses.as_slice() else {
        return Err(bad("the position's region must be one primitive with one pose"));
    };
    if position.constraint_region.primitives.len() != 1 {
        return Err(bad("the position's region must be one primitive with one pose"));
    }
    let region = scene.base_from_frame(&position.header.frame_id, start)?
        * pose_from_msg(centre).map_err(|error| bad(format!("position: {error}")))?;
    let q = &orientation.orientation;
    let turned =
        isometry([0.0; 3], [q.x, q.y, q.z, q.w]).map_err(|error| bad(format!("orientation: {error}")))?;
    let rotation: UnitQuaternion<f64> =
        scene.base_from_frame(&orientation.header.frame_id, start)?.rotation * turned.rotation;
    let offset = &position.target_point_offset;
    let offset = Vector3::new(offset.x, offset.y, offset.z);
    if !offset.iter().all(|value| value.is_finite()) {
        return Err(bad("the target point offset is not finite"));
    }
    let origin: Point3<f64> = Point3::from(region.translation.vector) - rotation * offset;
    let base_from_link = Isometry3::from_parts(Translation3::from(origin.coords), rotation);
    let free = orientation.absolute_z_axis_tolerance >= PI - 1e-6;
    let symmetry = if free { ToolSymmetry::Turns(FREE_TURNS) } else { ToolSymmetry::None };
    Ok(Goal::Pose { base_from_tip: base_from_link * link_from_tip, symmetry })
}

/// Pose of the tip in a link that is rigid to it; an empty name is the tip itself.
pub(super) fn link_from_tip(
    model: &RobotModel,
    link: &str,
    state: &ArmState,
) -> Result<Isometry3<f64>, MoveGroupError> {
    let group = model.group();
    if link.is_empty() || link == group.tip {
        return Ok(Isometry3::identity());
    }
    let unknown = || MoveGroupError::UnknownLink { link: link.to_owned(), tip: group.tip.clone() };
    let index = model.link_index(link).filter(|index| model.is_on_hand(*index)).ok_or_else(unknown)?;
    let poses = model.link_poses(&state.joints, state.drive).map_err(MoveGroupError::StartState)?;
    Ok(poses[index].inverse() * poses[model.tip_index()])
}
