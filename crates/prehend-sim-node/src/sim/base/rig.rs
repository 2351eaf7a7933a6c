//! The base in the physics thread: its laser, its odometry, and who steers it.

use super::commanded::Commanded;
use super::drive::{BaseState, DriveEnd, Navigator};
use super::messages::{odometry_msg, scan_msg, sent, transform_msg};
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::nav_msgs::msg::Odometry;
use prehend_msgs::sensor_msgs::msg::LaserScan;
use prehend_navigation::follow::Velocity;
use prehend_navigation::route::Route;
use prehend_robots::robot::Navigation;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use prehend_sim::World;
use prehend_sim::world::{DriveError, LaserSpec};
use tokio::sync::{oneshot, watch};

/// Side of a cell of the map, metres.
const RESOLUTION: f64 = 0.05;
/// Steps between two scans and odometry messages: 10 and 30 Hz of simulated time.
const SCAN_STEPS: u64 = 24;
const ODOMETRY_STEPS: u64 = 8;

/// Whose Nav2 drives the base, and who knows where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Nav2 {
    /// The robot's own: action, localisation, costmap and map.
    Robot,
    /// Another's, which has from the robot the map and where it starts, as from whoever set it down.
    Map,
    /// Another's, with a map of its own.
    Off,
}

impl Nav2 {
    /// The value of the parameter `nav2`.
    pub(in crate::sim) fn read(text: &str) -> Result<Self, String> {
        match text {
            "robot" => Ok(Self::Robot),
            "map" => Ok(Self::Map),
            "off" => Ok(Self::Off),
            other => Err(format!("parameter `nav2` is `{other}`; robot, map or off")),
        }
    }
}

enum Steering {
    /// Routes, which the robot's own Nav2 plans.
    Own(Box<Navigator>),
    /// Velocities, which another's commands.
    Commanded(Commanded),
}

/// The base as the physics thread has it.
pub(in crate::sim) struct BaseRig {
    names: Navigation,
    laser: LaserSpec,
    steering: Steering,
    scan: Publisher<LaserScan>,
    odometry: Publisher<Odometry>,
}

/// A base, and what its own Nav2 knows, if it has one.
type Created = (BaseRig, Option<watch::Receiver<BaseState>>);

impl BaseRig {
    /// The base of a world with a room; `None` for a world without one.
    pub(in crate::sim) fn create(
        node: &Node,
        names: &Navigation,
        world: &World,
        nav2: Nav2,
    ) -> Result<Option<Created>, String> {
        let (Some(survey), Some(start)) = (world.survey(RESOLUTION), world.believed_pose()) else {
            return Ok(None);
        };
        let map = survey.map_err(|error| error.to_string())?;
        let words = |error: RosError| error.to_string();
        let (steering, state) = match nav2 {
            Nav2::Robot => {
                let (navigator, state) = Navigator::create(node, names, world, map, start).map_err(words)?;
                (Steering::Own(Box::new(navigator)), Some(state))
            }
            Nav2::Map | Nav2::Off => {
                let map = (nav2 == Nav2::Map).then_some(map);
                (Steering::Commanded(Commanded::create(node, names, map).map_err(words)?), None)
            }
        };
        let publish = || -> Result<_, RosError> {
            let scan = node.create_publisher(&names.scan, QosProfile::default().depth(2))?;
            Ok((scan, node.create_publisher(&names.odometry, QosProfile::default().depth(10))?))
        };
        let (scan, odometry) = publish().map_err(words)?;
        let rig = Self { names: names.clone(), laser: LaserSpec::default(), steering, scan, odometry };
        Ok(Some((rig, state)))
    }

    /// Starts following a route; a drive that is under way ends as stopped.
    pub(in crate::sim) fn start(&mut self, route: &Route, world: &World, ended: oneshot::Sender<DriveEnd>) {
        match &mut self.steering {
            Steering::Own(navigator) => navigator.start(route, world, ended),
            Steering::Commanded(_) => {
                // Who asked may have gone.
                let _ = ended.send(DriveEnd::Refused(DriveError::NoBase));
            }
        }
    }

    /// Brakes; a drive ends when the base stands.
    pub(in crate::sim) fn stop(&mut self, world: &mut World) {
        match &mut self.steering {
            Steering::Own(navigator) => navigator.stop(),
            Steering::Commanded(commanded) => commanded.obey(world, Velocity::default()),
        }
    }

    /// Takes a velocity from another's Nav2.
    pub(in crate::sim) fn obey(&mut self, world: &mut World, velocity: Velocity) {
        match &mut self.steering {
            Steering::Own(_) => {}
            Steering::Commanded(commanded) => commanded.obey(world, velocity),
        }
    }

    /// To be called after every step of the world.
    pub(in crate::sim) fn step(&mut self, world: &mut World, steps: u64) {
        let time = world.time();
        if steps.is_multiple_of(SCAN_STEPS)
            && let Some(ranges) = world.scan(&self.laser)
        {
            if let Steering::Own(navigator) = &mut self.steering {
                navigator.see(world, &self.laser, &ranges);
            }
            sent(self.scan.publish(&scan_msg(&self.names.laser, &self.laser, ranges, time)));
        }
        match &mut self.steering {
            Steering::Own(navigator) => navigator.step(world, steps, steps.is_multiple_of(SCAN_STEPS)),
            Steering::Commanded(commanded) => commanded.step(time),
        }
        if steps.is_multiple_of(ODOMETRY_STEPS)
            && let Some((pose, velocity)) = world.odometry()
        {
            sent(self.odometry.publish(&odometry_msg(&self.names, &pose, &velocity, time)));
        }
    }

    /// `odom_from_base`, and `map_from_odom` where the robot localises itself.
    pub(in crate::sim) fn transforms(&self, world: &World) -> Vec<TransformStamped> {
        let (Some(believed), Some((odometry, _))) = (world.believed_pose(), world.odometry()) else {
            return Vec::new();
        };
        let names = &self.names;
        let mut all = vec![transform_msg(&names.odom, &names.base, &odometry, world.time())];
        if matches!(self.steering, Steering::Own(_)) {
            let map_from_odom = believed.compose(&odometry.inverse());
            all.push(transform_msg(&names.frame, &names.odom, &map_from_odom, world.time()));
        }
        all
    }

    /// Whether the localisation is the robot's own.
    pub(in crate::sim) fn localises(&self) -> bool {
        matches!(self.steering, Steering::Own(_))
    }
}
