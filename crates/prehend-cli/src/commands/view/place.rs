//! Where the robot is in what is shown: the stage of a robot that drives is in the frame of the map of the building, that of another one in
//! the frame of its arm.

use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_msgs::nav_msgs::msg::{OccupancyGrid as GridMsg, Path as PathMsg};
use prehend_navigation::OccupancyGrid;
use prehend_navigation::grid::Layout;
use prehend_robots::RobotConfig;
use prehend_viewer::Floor;

/// Most places of a route.
const MOST_PLACES: usize = 20_000;

/// Where the arm and the base are in the stage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Of the base of the arm.
    pub(super) stage_from_arm: Isometry3<f64>,
    /// Of the base that drives; `None` for a robot that does not, or of which nobody knows where it is.
    pub(super) stage_from_base: Option<Isometry3<f64>>,
}

impl Default for Place {
    fn default() -> Self {
        Self { stage_from_arm: Isometry3::identity(), stage_from_base: None }
    }
}

impl Place {
    /// Where a robot that drives is, by `lookup` of `target_from_source`; `None` for another one, and when its frames are not known.
    pub(super) fn find(
        robot: &RobotConfig,
        lookup: impl Fn(&str, &str) -> Option<Isometry3<f64>>,
    ) -> Option<Self> {
        let navigation = robot.navigation.as_ref()?;
        let stage_from_arm = lookup(&navigation.frame, &robot.frames.base)?;
        let stage_from_base = lookup(&navigation.frame, &navigation.base)?;
        let is_finite = |pose: &Isometry3<f64>| {
            pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|n| n.is_finite())
        };
        (is_finite(&stage_from_arm) && is_finite(&stage_from_base))
            .then_some(Self { stage_from_arm, stage_from_base: Some(stage_from_base) })
    }

    /// The pose in the stage of the frame that a map is in: that of the building, or that of the arm.
    pub(super) fn stage_from(&self, frame: &str, robot: &RobotConfig) -> Isometry3<f64> {
        let is_building =
            robot.navigation.as_ref().is_some_and(|navigation| is_frame(frame, &navigation.frame));
        if is_building { Isometry3::identity() } else { self.stage_from_arm }
    }
}

/// Whether a message's frame is that one; some programs write a slash before it.
fn is_frame(found: &str, frame: &str) -> bool {
    found.trim_start_matches('/') == frame.trim_start_matches('/')
}

/// The floor of a costmap in the frame `frame`.
///
/// Errors: why it cannot be shown, in words.
pub(super) fn floor_of(message: &GridMsg, frame: &str) -> Result<Floor, String> {
    let found = &message.header.frame_id;
    if !is_frame(found, frame) {
        return Err(format!("it is in `{found}`, not in `{frame}`"));
    }
    let (info, origin) = (&message.info, &message.info.origin);
    // Also refuses what is no number.
    let is_upright = origin.orientation.z.abs() < 1e-3;
    if !is_upright {
        return Err("its origin is turned against the map".to_owned());
    }
    let layout = Layout {
        width: info.width as usize,
        height: info.height as usize,
        resolution: f64::from(info.resolution),
        origin: [origin.position.x, origin.position.y],
    };
    let grid = OccupancyGrid::new(layout, message.data.clone()).map_err(|error| error.to_string())?;
    Ok(Floor::of(&grid))
}

/// The places of a route in the frame `frame`, on the floor; what is no place is left out.
///
/// Errors: why it cannot be shown, in words.
pub(super) fn route_of(message: &PathMsg, frame: &str) -> Result<Vec<Point3<f64>>, String> {
    let found = &message.header.frame_id;
    if !message.poses.is_empty() && !is_frame(found, frame) {
        return Err(format!("it is in `{found}`, not in `{frame}`"));
    }
    let places = message.poses.iter().take(MOST_PLACES).map(|stamped| {
        let at = &stamped.pose.position;
        Point3::new(at.x, at.y, 0.0)
    });
    Ok(places.filter(|place| place.iter().all(|number| number.is_finite())).collect())
}

/// A pose of the base on the floor: x, y, heading. `None` when it is no number.
pub(super) fn on_the_floor([x, y, yaw]: [f64; 3]) -> Option<Isometry3<f64>> {
    let is_finite = [x, y, yaw].iter().all(|number| number.is_finite());
    is_finite.then(|| Isometry3::new([x, y, 0.0].into(), nalgebra::Vector3::z() * yaw))
}

/// A message's map of the object map, if it can be read.
pub(super) fn read_map(
    message: &prehend_msgs::prehend_interfaces::msg::ObjectMap,
) -> Option<prehend_scene::ObjectMap> {
    match convert::map_from_msg(message) {
        Ok(map) => Some(map),
        Err(error) => {
            tracing::warn!("an object map that cannot be read: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::geometry_msgs::msg::PoseStamped;
    use prehend_viewer::Occupancy;
    use std::path::Path;

    fn grid(width: u32, height: u32, cells: Vec<i8>) -> GridMsg {
        let mut message = GridMsg { data: cells, ..Default::default() };
        message.header.frame_id = "map".to_owned();
        (message.info.width, message.info.height, message.info.resolution) = (width, height, 0.5);
        message
    }

    type Spoil = fn(&mut GridMsg);

    #[test]
    fn a_grid_is_shown_and_one_that_is_none_is_told_and_not_shown() {
        let floor = floor_of(&grid(2, 1, vec![0, 100]), "map").expect("a floor");
        assert_eq!(floor.patches.last().map(|patch| patch.ground), Some(Occupancy::Blocked));
        let broken: [(&str, Spoil); 7] = [
            ("empty", |message| message.data.clear()),
            ("no cells", |message| {
                (message.info.width, message.info.height, message.data) = (0, 0, Vec::new())
            }),
            ("huge", |message| (message.info.width, message.info.height) = (u32::MAX, u32::MAX)),
            ("resolution", |message| message.info.resolution = f32::NAN),
            ("origin", |message| message.info.origin.position.x = f64::NAN),
            ("turned", |message| message.info.origin.orientation.z = f64::NAN),
            ("frame", |message| message.header.frame_id = "odom".to_owned()),
        ];
        for (what, spoil) in broken {
            let mut message = grid(2, 1, vec![0, 100]);
            spoil(&mut message);
            assert!(floor_of(&message, "map").is_err(), "{what}");
        }
    }

    #[test]
    fn a_route_is_what_of_it_is_a_place() {
        let mut message = PathMsg::default();
        message.header.frame_id = "/map".to_owned();
        for x in [0.0, f64::NAN, 2.0] {
            let mut stamped = PoseStamped::default();
            stamped.pose.position.x = x;
            message.poses.push(stamped);
        }
        let route = route_of(&message, "map").expect("a route");
        assert_eq!(route, [Point3::origin(), Point3::new(2.0, 0.0, 0.0)]);
        assert!(route_of(&message, "odom").is_err());
        assert_eq!(route_of(&PathMsg::default(), "map"), Ok(Vec::new()), "a route that has ended");
    }

    #[test]
    fn a_robot_is_in_the_building_when_its_frames_are_known() {
        let load = |name: &str| RobotConfig::load(Path::new(name)).expect("a robot");
        let (drives, stands) = (load("config/robots/ranger_xarm6.yaml"), load("config/robots/xarm6.yaml"));
        let known = |_: &str, source: &str| {
            let height = if source == drives.frames.base { 0.5 } else { 0.0 };
            Some(Isometry3::translation(2.0, 1.0, height))
        };
        let place = Place::find(&drives, known).expect("a place");
        assert_eq!(place.stage_from(&drives.frames.base, &drives).translation.z, 0.5);
        assert_eq!(place.stage_from("map", &drives), Isometry3::identity());
        assert_eq!(Place::find(&stands, known), None);
        assert_eq!(Place::find(&drives, |_, _| None), None);
        assert_eq!(Place::find(&drives, |_, _| Some(Isometry3::translation(f64::NAN, 0.0, 0.0))), None);
        assert_eq!(on_the_floor([0.0, f64::NAN, 0.0]), None);
    }
}
