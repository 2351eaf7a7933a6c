//! Where the base is, and where it may stand: the localisation and the costmap.

use crate::follow::follow;
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_execution::errand::ErrandFault;
use prehend_msgs::nav_msgs::msg::OccupancyGrid as GridMsg;
use prehend_navigation::Pose2;
use prehend_navigation::grid::{Costmap, Inflation, Layout, OccupancyGrid};
use prehend_robots::robot::Navigation;
use prehend_ros::{Node, QosProfile, RosError, TfBuffer};
use std::sync::Arc;
use tokio::sync::watch;

/// How far beyond its inscribed circle obstacles cost, metres, and how fast the cost falls, per metre.
const INFLATION: [f64; 2] = [0.45, 4.0];
/// Cost of a costmap's cell from which it is an obstacle itself and not its inflation.
const LETHAL: i8 = 100;

/// Where the base is and what the costmap says, kept new.
#[derive(Clone)]
pub(super) struct NavigationState {
    navigation: Navigation,
    /// Frame of the arm's base.
    arm: String,
    costmap: watch::Receiver<Option<Arc<Costmap>>>,
    tf: TfBuffer,
}

impl NavigationState {
    pub(super) fn new(node: &Node, navigation: &Navigation, arm: &str) -> Result<Self, RosError> {
        let inscribed_radius = navigation.footprint.inscribed_radius();
        let inflation = Inflation {
            inscribed_radius,
            inflation_radius: inscribed_radius + INFLATION[0],
            cost_scaling_factor: INFLATION[1],
        };
        let read = move |message: GridMsg| read(&message, inflation).map(Arc::new);
        let topic = (navigation.costmap.as_str(), QosProfile::transient_local());
        let costmap = follow(node, topic, "a costmap was refused", read)?;
        Ok(Self { navigation: navigation.clone(), arm: arm.to_owned(), costmap, tf: node.tf()? })
    }

    /// The newest costmap.
    ///
    /// Errors: [`ErrandFault::NoMap`].
    pub(super) fn costmap(&self) -> Result<Arc<Costmap>, ErrandFault> {
        let map = self.costmap.borrow().clone();
        map.ok_or_else(|| ErrandFault::NoMap { topic: self.navigation.costmap.clone() })
    }

    /// Where the base is, map frame.
    ///
    /// Errors: [`ErrandFault::NotLocalized`].
    pub(super) fn base(&self) -> Result<Pose2, ErrandFault> {
        self.in_map(&self.navigation.base).map(|pose| convert::plane_pose(&pose))
    }

    /// Where the arm's base is, `map_from_arm`.
    ///
    /// Errors: [`ErrandFault::NotLocalized`].
    pub(super) fn arm(&self) -> Result<Isometry3<f64>, ErrandFault> {
        self.in_map(&self.arm)
    }

    fn in_map(&self, frame: &str) -> Result<Isometry3<f64>, ErrandFault> {
        let lost = |why: String| ErrandFault::NotLocalized(why);
        let found = self
            .tf
            .lookup(&self.navigation.frame, frame, &Default::default())
            .map_err(|error| lost(error.to_string()))?;
        convert::isometry(found.translation, found.rotation).map_err(|error| lost(error.to_string()))
    }

    /// `base_from_frame` for a frame of the robot, when it is known.
    pub(super) fn in_base(&self, frame: &str) -> Option<Isometry3<f64>> {
        let found = self.tf.lookup(&self.navigation.base, frame, &Default::default()).ok()?;
        Some(found.isometry())
    }
}

/// A costmap message as obstacles with an inflation of our own: costs of others are scaled as they like.
fn read(message: &GridMsg, inflation: Inflation) -> Result<Costmap, String> {
    let info = &message.info;
    let turned = info.origin.orientation.z.abs() > 1e-3;
    if turned {
        return Err("its origin is turned against the map".to_owned());
    }
    let layout = Layout {
        width: info.width as usize,
        height: info.height as usize,
        resolution: f64::from(info.resolution),
        origin: [info.origin.position.x, info.origin.position.y],
    };
    let cell = |cost: &i8| match *cost {
        cost if cost >= LETHAL => 100,
        cost if cost < 0 => -1,
        _ => 0,
    };
    let cells = message.data.iter().map(cell).collect();
    let grid = OccupancyGrid::new(layout, cells).map_err(|error| error.to_string())?;
    Ok(Costmap::new(&grid, inflation))
}
