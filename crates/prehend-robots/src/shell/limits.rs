//! Safety limits and other facts of the robot as parameters that everybody can read and nobody can set.

use super::NodeError;
use crate::RobotConfig;
use prehend_ros::{Node, ParameterError};
use std::path::Path;

/// Shows the limits of the robot file as parameters of `node`.
///
/// Errors: [`NodeError::Parameter`] when somebody sets one of them.
pub(super) fn show(node: &Node, robot: &RobotConfig, file: &Path) -> Result<(), NodeError> {
    let parameters = node.parameters();
    let limits = &robot.limits;
    let safety =
        format!("it is a safety limit of {}: change the file and start the nodes anew", file.display());
    let facts = format!("it is a fact of {}: change the file and start the nodes anew", file.display());
    let show = |name: &str, value: f64, text: &str| parameters.show(name, value, text, &safety);
    let list = |name: &str, value: &[f64], text: &str| parameters.show(name, value.to_vec(), text, &safety);
    list(
        "limits.workspace_low",
        &limits.workspace_low,
        "Least x, y, z of the tool in the base frame, metres.",
    )?;
    list(
        "limits.workspace_high",
        &limits.workspace_high,
        "Greatest x, y, z of the tool in the base frame, metres.",
    )?;
    show(
        "limits.support_clearance",
        limits.support_clearance,
        "Least height of the tool above the support, metres.",
    )?;
    show("limits.contact_force", limits.contact_force, "Pad force at which the robot side stops, newtons.")?;
    show("limits.peer_silence", limits.peer_silence, "Silence after which another node is lost, seconds.")?;
    parameters.show(
        "limits.approval",
        limits.approval.name().to_owned(),
        "For which plans a person is asked at least: never, unsure, first or each.",
        &safety,
    )?;
    show("limits.grip_force", robot.gripper.grip_force, "Grip force asked for, newtons.")?;
    show(
        "limits.velocity_scaling",
        robot.arm.velocity_scaling,
        "Share of the joint velocity limits in free motions.",
    )?;
    show(
        "limits.acceleration_scaling",
        robot.arm.acceleration_scaling,
        "Share of the joint acceleration limits.",
    )?;
    show(
        "limits.contact_velocity_scaling",
        robot.arm.contact_velocity_scaling,
        "Share of the joint velocity limits near contact.",
    )?;
    if let Some(base) = &robot.navigation {
        show("limits.max_speed", base.max_speed, "Greatest speed of the base, m/s.")?;
        show("limits.max_turn", base.max_turn, "Greatest turning rate of the base, rad/s.")?;
    }
    let told: Result<(), ParameterError> =
        parameters.show("robot", robot.name.clone(), "Name of the robot.", &facts);
    Ok(told?)
}
