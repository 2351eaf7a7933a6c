//! A base that another's Nav2 drives: it takes velocities, and says where it was set down.

use super::super::arm_handle::ArmHandle;
use super::messages::{believed_msg, grid_msg, sent};
use futures::StreamExt;
use prehend_msgs::geometry_msgs::msg::{PoseWithCovarianceStamped, Twist};
use prehend_msgs::nav_msgs::msg::OccupancyGrid as GridMsg;
use prehend_navigation::follow::Velocity;
use prehend_navigation::{OccupancyGrid, Pose2};
use prehend_robots::robot::Navigation;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use prehend_sim::World;
use prehend_sim::scene::LocalisationSpec;
use std::time::Duration;
use tokio::task::JoinSet;

/// Wall time between two times that it says where it was set down.
const REPEAT: Duration = Duration::from_secs(1);
/// How well that is known: metres, radians.
const KNOWN: LocalisationSpec = LocalisationSpec { sigma_xy: 0.05, sigma_yaw: 0.03, drift: 0.0 };

/// The base in the physics thread.
pub(super) struct Commanded {
    frame: String,
    /// The map that is still to be published, and where.
    map: Option<(OccupancyGrid, Publisher<GridMsg>)>,
    /// Kept so that late joiners get the map.
    published: Option<Publisher<GridMsg>>,
}

impl Commanded {
    pub(super) fn create(
        node: &Node,
        names: &Navigation,
        map: Option<OccupancyGrid>,
    ) -> Result<Self, RosError> {
        let latched = QosProfile::transient_local().depth(1);
        let map = match map {
            Some(map) => Some((map, node.create_publisher(&names.map, latched)?)),
            None => None,
        };
        Ok(Self { frame: names.frame.clone(), map, published: None })
    }

    /// Drives like this until the next command, or until the base has heard none for a quarter of a second.
    pub(super) fn obey(&mut self, world: &mut World, velocity: Velocity) {
        if let Err(error) = world.drive(velocity) {
            tracing::debug!("velocity refused: {error}");
        }
    }

    pub(super) fn step(&mut self, time: f64) {
        if let Some((map, publisher)) = self.map.take() {
            sent(publisher.publish(&grid_msg(&self.frame, &map, time)));
            self.published = Some(publisher);
        }
    }
}

/// Takes velocities until the returned set is dropped. With `start`, it says that the robot stands there, until somebody localises it.
///
/// Errors: [`RosError`] when a topic cannot be joined.
pub(in crate::sim) fn serve(
    node: &Node,
    names: &Navigation,
    robot: ArmHandle,
    start: Option<Pose2>,
) -> Result<JoinSet<()>, RosError> {
    let mut tasks = JoinSet::new();
    let mut commands = node.subscribe::<Twist>(&names.velocity(), QosProfile::default().depth(1))?;
    tasks.spawn({
        let robot = robot.clone();
        async move {
            while let Some(twist) = commands.next().await {
                let velocity = Velocity { linear: twist.linear.x, angular: twist.angular.z };
                if robot.steer(velocity).is_err() {
                    return;
                }
            }
        }
    });
    let Some(start) = start else { return Ok(tasks) };
    let mut localised =
        node.subscribe::<PoseWithCovarianceStamped>(&names.pose, QosProfile::transient_local())?;
    let initial = node.create_publisher(&names.initial_pose(), QosProfile::default().depth(1))?;
    let names = names.clone();
    tasks.spawn(async move {
        let mut repeat = tokio::time::interval(REPEAT);
        loop {
            tokio::select! {
                _ = localised.next() => return,
                _ = repeat.tick() => {
                    sent(initial.publish(&believed_msg(&names, &start, &KNOWN, robot.state().time)));
                }
            }
        }
    });
    Ok(tasks)
}
