//! The base in the physics thread: follows routes, scans, keeps the costmap, publishes what a base publishes.

use super::messages::{believed_msg, grid_msg, odometry_msg, scan_msg, transform_msg};
use prehend_msgs::geometry_msgs::msg::{PoseWithCovarianceStamped, TransformStamped};
use prehend_msgs::nav_msgs::msg::{OccupancyGrid as GridMsg, Odometry};
use prehend_msgs::sensor_msgs::msg::LaserScan;
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

/// Side of a cell of the map, metres.
pub(in crate::sim) const RESOLUTION: f64 = 0.05;
/// Steps between two control steps, scans, odometry messages and costmaps: 60, 10, 30 and 2 Hz of simulated time.
const CONTROL_STEPS: u64 = 4;
const SCAN_STEPS: u64 = 24;
const ODOMETRY_STEPS: u64 = 8;
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
    scan: Publisher<LaserScan>,
    odometry: Publisher<Odometry>,
    pose: Publisher<PoseWithCovarianceStamped>,
}

/// The base as the physics thread has it.
pub(in crate::sim) struct BaseRig {
    names: Navigation,
    map: OccupancyGrid,
    map_costs: Costmap,
    layer: ObstacleLayer,
    costmap: Arc<Costmap>,
    changed: bool,
    published: bool,
    laser: LaserSpec,
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

impl BaseRig {
    /// The base of a world with a room; `None` for a world without one.
    pub(in crate::sim) fn create(
        node: &Node,
        names: &Navigation,
        world: &World,
    ) -> Result<Option<(Self, watch::Receiver<BaseState>)>, String> {
        let (Some(survey), Some(believed)) = (world.survey(RESOLUTION), world.believed_pose()) else {
            return Ok(None);
        };
        let map = survey.map_err(|error| error.to_string())?;
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
        let publishers = Publishers::create(node, names).map_err(|error| error.to_string())?;
        let rig = Self {
            names: names.clone(),
            map,
            map_costs,
            layer,
            costmap,
            changed: false,
            published: false,
            laser: LaserSpec::default(),
            base_from_laser,
            drive: None,
            state,
            publishers,
        };
        Ok(Some((rig, reported)))
    }

    /// Starts following a route; a drive that is under way ends as stopped.
    pub(in crate::sim) fn start(&mut self, route: &Route, world: &World, ended: oneshot::Sender<DriveEnd>) {
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
    pub(in crate::sim) fn stop(&mut self) {
        if let Some(drive) = &mut self.drive {
            drive.stopping.get_or_insert(DriveEnd::Stopped);
        }
    }

    /// To be called after every step of the world.
    pub(in crate::sim) fn step(&mut self, world: &mut World, steps: u64) {
        if steps.is_multiple_of(SCAN_STEPS) {
            self.look(world);
        }
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
        if steps.is_multiple_of(ODOMETRY_STEPS)
            && let Some((pose, velocity)) = world.odometry()
        {
            sent(self.publishers.odometry.publish(&odometry_msg(&self.names, &pose, &velocity, time)));
        }
        if steps.is_multiple_of(SCAN_STEPS)
            && let Some(room) = &world.scene().scene.room
        {
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

    /// `map_from_odom` and `odom_from_base`.
    pub(in crate::sim) fn transforms(&self, world: &World) -> Vec<TransformStamped> {
        let (Some(believed), Some((odometry, _))) = (world.believed_pose(), world.odometry()) else {
            return Vec::new();
        };
        let map_from_odom = believed.compose(&odometry.inverse());
        let names = &self.names;
        vec![
            transform_msg(&names.frame, &names.odom, &map_from_odom, world.time()),
            transform_msg(&names.odom, &names.base, &odometry, world.time()),
        ]
    }

    fn look(&mut self, world: &World) {
        let (Some(ranges), Some(believed)) = (world.scan(&self.laser), world.believed_pose()) else {
            return;
        };
        let scan = Scan {
            sensor: believed.compose(&self.base_from_laser),
            angle_min: self.laser.angle_min,
            angle_increment: self.laser.angle_increment,
            ranges: &ranges,
        };
        if self.layer.take(&scan, &self.map_costs) {
            self.costmap = Arc::new(Costmap::new(&self.layer.over(&self.map), inflation(&self.names)));
            self.changed = true;
        }
        sent(self.publishers.scan.publish(&scan_msg(&self.names.laser, &self.laser, ranges, world.time())));
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
        if let Some(end) = drive.stopping
            && !world.is_driving()
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
            scan: node.create_publisher(&names.scan, QosProfile::default().depth(2))?,
            odometry: node.create_publisher(&names.odometry, QosProfile::default().depth(10))?,
            pose: node.create_publisher(&names.pose, latched)?,
        })
    }
}

pub(super) fn sent(result: Result<(), RosError>) {
    if let Err(error) = result {
        tracing::debug!("not sent: {error}");
    }
}
