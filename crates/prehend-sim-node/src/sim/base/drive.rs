//! What the robot's own Nav2 does in the physics thread: follows routes, keeps the costmap, says where the base is.

use super::messages::{believed_msg, grid_msg, sent};
use prehend_msgs::geometry_msgs::msg::PoseWithCovarianceStamped;
use prehend_msgs::nav_msgs::msg::OccupancyGrid as GridMsg;
use prehend_navigation::follow::{Follow, FollowParams, Follower, Velocity};
use prehend_navigation::layer::{ObstacleLayer, Scan};
use prehend_navigation::route::Route;
use prehend_navigation::{Costmap, Inflation, OccupancyGrid, Pose2};
use prehend_robots::robot::Navigation;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use prehend_sim::World;
use prehend_sim::world::{DriveError, LaserSpec, STEP};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Steps between two control steps and costmaps: 60 and 2 Hz of simulated time.
const CONTROL_STEPS: u64 = 4;
const COSTMAP_STEPS: u64 = 120;
/// Beams mark obstacles up to this distance; nearer to something on the map than the slack they are that, metres.
const MARKING: [f64; 2] = [4.0, 0.15];

/// What the base reports of itself to its server.
#[derive(Clone, Debug)]
pub(in crate::sim) struct BaseState {
    /// Simulated time, seconds.
    pub(in crate::sim) time: f64,
    /// `map_from_base` as the localisation has it.
    pub(in crate::sim) believed: Pose2,
    /// The map with what was seen besides.
    pub(in crate::sim) costmap: Arc<Costmap>,
    /// Metres still to drive.
    pub(in crate::sim) remaining: f64,
}

/// How a drive ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::sim) enum DriveEnd {
    /// At the end of the route.
    Arrived,
    /// Something is in the way.
    Blocked,
    /// The base is not where its route is.
    Lost,
    /// The base touched something hard, driving like this.
    Bumped(Velocity),
    /// It was told to stop.
    Stopped,
    /// The base refused.
    Refused(DriveError),
}

struct Drive {
    follower: Follower,
    ended: oneshot::Sender<DriveEnd>,
    bumps: usize,
    wanted: Velocity,
    stopping: Option<DriveEnd>,
}

struct Publishers {
    map: Publisher<GridMsg>,
    costmap: Publisher<GridMsg>,
    pose: Publisher<PoseWithCovarianceStamped>,
}

/// The robot's own Nav2 as the physics thread has it.
pub(super) struct Navigator {
    names: Navigation,
    map: OccupancyGrid,
    map_costs: Costmap,
    layer: ObstacleLayer,
    costmap: Arc<Costmap>,
    changed: bool,
    published: bool,
    base_from_laser: Pose2,
    drive: Option<Drive>,
    state: watch::Sender<BaseState>,
    publishers: Publishers,
}

/// The inflation of all costmaps of a base.
fn inflation(names: &Navigation) -> Inflation {
    let inscribed_radius = names.footprint.inscribed_radius();
    let inflation_radius = names.footprint.circumscribed_radius() + 0.3;
    Inflation { inscribed_radius, inflation_radius, cost_scaling_factor: 4.0 }
}

impl Navigator {
    pub(super) fn create(
        node: &Node,
        names: &Navigation,
        world: &World,
        map: OccupancyGrid,
        believed: Pose2,
    ) -> Result<(Self, watch::Receiver<BaseState>), RosError> {
        let map_costs = Costmap::new(&map, inflation(names));
        let layer = ObstacleLayer::new(*map.layout(), MARKING[0], MARKING[1]);
        let costmap = Arc::new(map_costs.clone());
        let first = BaseState { time: world.time(), believed, costmap: Arc::clone(&costmap), remaining: 0.0 };
        let (state, reported) = watch::channel(first);
        let model = world.model();
        let poses = model.link_poses(world.arm_joints(), world.gripper_opening());
        let base_from_laser = model.laser().map_or(Pose2::default(), |laser| {
            let pose = poses[laser];
            Pose2::new(pose.translation.x, pose.translation.y, pose.rotation.euler_angles().2)
        });
        let navigator = Self {
            names: names.clone(),
            map,
            map_costs,
            layer,
            costmap,
            changed: false,
            published: false,
            base_from_laser,
            drive: None,
            state,
            publishers: Publishers::create(node, names)?,
        };
        Ok((navigator, reported))
    }

    /// Starts following a route; a drive that is under way ends as stopped.
    pub(super) fn start(&mut self, route: &Route, world: &World, ended: oneshot::Sender<DriveEnd>) {
        let params = FollowParams {
            max_speed: self.names.max_speed,
            max_turn: self.names.max_turn,
            ..FollowParams::default()
        };
        let drive = Drive {
            follower: Follower::new(route, params),
            ended,
            bumps: world.bumps().len(),
            wanted: Velocity::default(),
            stopping: None,
        };
        if let Some(replaced) = self.drive.replace(drive) {
            // Who waited for it may have gone.
            let _ = replaced.ended.send(DriveEnd::Stopped);
        }
    }

    /// Brakes; the drive ends when the base stands.
    pub(super) fn stop(&mut self) {
        if let Some(drive) = &mut self.drive {
            drive.stopping.get_or_insert(DriveEnd::Stopped);
        }
    }

    /// To be called after every step of the world; `scanned`: with a new scan.
    pub(super) fn step(&mut self, world: &mut World, steps: u64, scanned: bool) {
        if steps.is_multiple_of(CONTROL_STEPS) {
            self.control(world);
        }
        let Some(believed) = world.believed_pose() else { return };
        let time = world.time();
        if steps.is_multiple_of(CONTROL_STEPS) {
            let remaining = self.drive.as_ref().map_or(0.0, |drive| drive.follower.remaining(&believed));
            let costmap = Arc::clone(&self.costmap);
            self.state.send_replace(BaseState { time, believed, costmap, remaining });
        }
        if scanned && let Some(room) = &world.scene().scene.room {
            let spec = &room.localisation;
            sent(self.publishers.pose.publish(&believed_msg(&self.names, &believed, spec, time)));
        }
        if !self.published {
            self.published = true;
            sent(self.publishers.map.publish(&grid_msg(&self.names.frame, &self.map, time)));
            self.changed = true;
        }
        if self.changed && (steps.is_multiple_of(COSTMAP_STEPS) || steps == 1) {
            self.changed = false;
            let layout = *self.costmap.layout();
            if let Ok(grid) = OccupancyGrid::new(layout, self.costmap.to_occupancy()) {
                sent(self.publishers.costmap.publish(&grid_msg(&self.names.frame, &grid, time)));
            }
        }
    }

    /// Takes a scan into the costmap.
    pub(super) fn see(&mut self, world: &World, laser: &LaserSpec, ranges: &[f32]) {
        let Some(believed) = world.believed_pose() else { return };
        let scan = Scan {
            sensor: believed.compose(&self.base_from_laser),
            angle_min: laser.angle_min,
            angle_increment: laser.angle_increment,
            ranges,
        };
        if self.layer.take(&scan, &self.map_costs) {
            self.costmap = Arc::new(Costmap::new(&self.layer.over(&self.map), inflation(&self.names)));
            self.changed = true;
        }
    }

    fn control(&mut self, world: &mut World) {
        let (Some(drive), Some(believed)) = (&mut self.drive, world.believed_pose()) else {
            return;
        };
        if world.bumps().len() > drive.bumps {
            drive.stopping.get_or_insert(DriveEnd::Bumped(drive.wanted));
        }
        let dt = CONTROL_STEPS as f64 * STEP;
        let wanted = if drive.stopping.is_some() {
            Velocity::default()
        } else {
            match drive.follower.step(&believed, &self.costmap, &self.names.footprint, dt) {
                Follow::Drive(velocity) => {
                    drive.wanted = velocity;
                    velocity
                }
                Follow::Arrived => {
                    drive.stopping = Some(DriveEnd::Arrived);
                    Velocity::default()
                }
                Follow::Blocked { .. } => {
                    drive.stopping = Some(DriveEnd::Blocked);
                    Velocity::default()
                }
                Follow::Lost { .. } => {
                    drive.stopping = Some(DriveEnd::Lost);
                    Velocity::default()
                }
            }
        };
        if let Err(error) = world.drive(wanted) {
            drive.stopping = Some(DriveEnd::Refused(error));
        }
        // As Nav2, it says that it is there when it is near enough, and rolls out after that.
        if let Some(end) = drive.stopping
            && (end == DriveEnd::Arrived || !world.is_driving())
            && let Some(drive) = self.drive.take()
        {
            // Who waited for it may have gone.
            let _ = drive.ended.send(end);
        }
    }
}

impl Publishers {
    fn create(node: &Node, names: &Navigation) -> Result<Self, RosError> {
        let latched = QosProfile::transient_local().depth(1);
        Ok(Self {
            map: node.create_publisher(&names.map, latched)?,
            costmap: node.create_publisher(&names.costmap, latched)?,
            pose: node.create_publisher(&names.pose, latched)?,
        })
    }
}
