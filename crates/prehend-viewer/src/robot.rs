//! The robot as solids.

use crate::stage::{Rgb, Solid};
use prehend_motion::{JointError, RobotModel};

/// Colour of the robot.
pub const ROBOT: Rgb = [176, 182, 192];
/// Colour of the robot where a plan will bring it.
pub const GHOST: Rgb = [92, 160, 255];
/// Colour of what the planner keeps clear of.
pub const SHAPE: Rgb = [214, 150, 70];
/// Colour of what the robot holds.
pub const HELD: Rgb = [235, 205, 90];
/// How much a ghost hides of what is behind it.
const GHOST_OPACITY: f64 = 0.35;

/// The collision shapes of the robot at `joints` and, for the gripper, `drive`: in the frame of the model's base, units of
/// [`RobotModel::joint_names`]. As a ghost they are seen through.
///
/// Errors: [`JointError::Count`], [`JointError::NotFinite`]; limits are not checked.
pub fn robot_solids(
    model: &RobotModel,
    joints: &[f64],
    drive: f64,
    as_ghost: bool,
) -> Result<Vec<Solid>, JointError> {
    let (color, opacity) = if as_ghost { (GHOST, GHOST_OPACITY) } else { (ROBOT, 1.0) };
    let poses = model.link_poses(joints, drive)?;
    let links = model.links().iter().zip(poses);
    Ok(links
        .flat_map(|(link, base_from_link)| {
            link.shapes.iter().map(move |one| Solid {
                stage_from_solid: base_from_link * one.link_from_shape,
                shape: one.shape.clone(),
                color,
                opacity,
            })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_motion::RobotGroup;

    #[test]
    fn the_solids_follow_the_joints_and_the_base_stays() {
        let urdf = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/xarm6.urdf");
        let urdf = std::fs::read_to_string(urdf).expect("the robot's description");
        let model = RobotModel::from_urdf(&urdf, RobotGroup::xarm6()).expect("a robot");
        let zero = robot_solids(&model, &[0.0; 6], 0.0, false).expect("six joints");
        let turned = robot_solids(&model, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0, true).expect("six joints");
        assert!(zero.len() > 6 && zero.len() == turned.len());
        let moved = |index: usize| {
            let way = zero[index].stage_from_solid.translation.vector
                - turned[index].stage_from_solid.translation.vector;
            way.norm() > 1e-3
        };
        assert!(!moved(0) && (0..zero.len()).any(moved));
        assert!(zero.iter().all(|solid| solid.opacity == 1.0) && turned.iter().all(|s| s.opacity < 1.0));
        let wrong = robot_solids(&model, &[0.0; 5], 0.0, false);
        assert!(matches!(wrong, Err(JointError::Count { expected: 6, found: 5 })), "{wrong:?}");
    }
}
