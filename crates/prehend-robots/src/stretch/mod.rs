//! The stretch node: what stands between `stretch_driver`'s interface and the names of the robot file.
//!
//! For a real Stretch. The driver moves its joints in mode `position`, one point after the other, counts a way of the base from where the
//! point began, has the gripper as one more joint, and frames of its own. The robot file has one arm of which the base is the first joint, a
//! gripper with an action, and the frames of `urdf/stretch.urdf`. So this node offers `arm.controller` and `gripper.action`, and publishes
//! `joint_states` and the robot file's frames, by what the driver reports. Not for the embedded robot, which has them; nor for planning
//! (the node `move_group`) and driving (Nav2).
//! Read `arm` first; `state` has what is reported.

mod arm;
mod config;
mod driver;
mod gripper;
mod parked;
mod state;
mod waypoints;

pub use config::StretchDriver;

use crate::arming::ArmingConfig;
use crate::shell::{NodeError, NodeOptions, Shell};
use driver::Driver;
use prehend_motion::RobotModel;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::std_srvs::srv::Trigger;
use prehend_ros::QosProfile;
use state::{Frames, Reporter};
use tokio::sync::watch;
use waypoints::Joint;

fn start(reason: impl ToString) -> NodeError {
    NodeError::Start { node: "stretch", reason: reason.to_string() }
}

/// Runs the node until it is told to stop; what moves is stopped then.
///
/// Errors: [`NodeError::Start`] when the robot file is not one of a Stretch with a driver, or its description lacks a link; [`NodeError::Ros`].
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("stretch", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let (node, robot) = (&shell.node, &shell.robot);
    node.parameters().finish()?;
    let (Some(names), Some(navigation), Some(ArmingConfig::Stretch(vendor))) =
        (&robot.driver, &robot.navigation, &robot.arming)
    else {
        return Err(start(format!(
            "the robot file of `{}` lacks one of the sections `driver`, `navigation` and `arming.stretch`: this node is for a Stretch",
            robot.name
        )));
    };
    let urdf = std::fs::read_to_string(&robot.urdf)
        .map_err(|error| start(format!("{}: {error}", robot.urdf.display())))?;
    let model = RobotModel::from_urdf(&urdf, robot.group()).map_err(start)?;
    let link = |name: &str| {
        model.link_index(name).ok_or_else(|| start(format!("{}: no link `{name}`", robot.urdf.display())))
    };
    let (base_link, parked_link) = (link(&names.base)?, link(&navigation.base)?);
    let joints: Vec<Joint> = model
        .joint_names()
        .iter()
        .enumerate()
        .map(|(index, name)| Joint { name: name.clone(), slides: model.slides(index) })
        .collect();
    let frames =
        Frames { base: names.base.clone(), parked: navigation.base.clone(), base_link, parked_link, model };
    let reporter = Reporter {
        driver: names.clone(),
        joints: joints.clone(),
        gripper: robot.gripper.joint.clone(),
        frames,
        states: node.subscribe(&names.joint_states, QosProfile::sensor_data())?,
        odometry: node.subscribe(&navigation.odometry, QosProfile::sensor_data())?,
        modes: node.subscribe(&vendor.mode, QosProfile::sensor_data())?,
        joint_states: node.create_publisher(&robot.joint_states, QosProfile::default().depth(10))?,
        tf: node.create_publisher("/tf", QosProfile::default().depth(100))?,
    };
    let (reported, now) = watch::channel(None);
    let driver = Driver::new(
        node.create_action_client::<FollowJointTrajectory::Action>(&names.controller)?,
        node.create_client::<Trigger::Service>(&vendor.stop, QosProfile::services())?,
        now,
        shell.peers.clone(),
    );
    let controller = node.create_action_server::<FollowJointTrajectory::Action>(&robot.arm.controller)?;
    let gripper = node.create_action_server::<GripperCommand::Action>(&robot.gripper.action)?;
    let (low, high) = (robot.gripper.closed, robot.gripper.open);
    let joint = robot.gripper.joint.clone();
    let servers = [
        tokio::spawn(reporter.report(reported)),
        tokio::spawn(arm::serve(controller, driver.clone(), joints.clone())),
        tokio::spawn(gripper::serve(gripper, driver.clone(), joints, joint, [low.min(high), low.max(high)])),
    ];
    shell.configured();
    shell.shutdown().await;
    driver.end().await;
    for server in servers {
        server.abort();
    }
    Ok(())
}
