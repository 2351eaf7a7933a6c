//! The maps that plans are judged by: of what is near, of the room, and of the ground.

use super::Verifier;
use prehend_convert as convert;
use prehend_msgs::nav_msgs::msg::OccupancyGrid;
use prehend_msgs::prehend_interfaces::msg::ObjectMap as ObjectMapMsg;
use prehend_verify::Ground;

impl Verifier<'_> {
    /// Keeps the map, and from where its objects were seen.
    pub(super) fn take_map(&mut self, msg: &ObjectMapMsg) {
        let read = convert::map_from_msg(msg).and_then(|map| Ok((map, convert::sightings_from_msg(msg)?)));
        match read {
            Ok((map, sightings)) => {
                self.map = Some(map);
                self.sightings = sightings;
            }
            Err(error) => {
                tracing::warn!("object map refused: {error}");
                return;
            }
        }
        self.take_waiting();
    }

    /// Keeps the map of the room: plans to drive to one of its objects must be made from the newest.
    pub(super) fn take_room(&mut self, msg: &ObjectMapMsg) {
        match convert::map_from_msg(msg) {
            Ok(room) => self.room = Some(room),
            Err(error) => tracing::warn!("map of the room refused: {error}"),
        }
        self.take_waiting();
    }

    /// Keeps the costmap, with the outline of the base.
    pub(super) fn take_costmap(&mut self, msg: OccupancyGrid) {
        let Some(navigation) = &self.shell.robot.navigation else { return };
        let info = &msg.info;
        let (width, height) = (info.width as usize, info.height as usize);
        let resolution = f64::from(info.resolution);
        let origin = [info.origin.position.x, info.origin.position.y];
        let sound = resolution > 1e-3
            && origin.iter().all(|number| number.is_finite())
            && width.checked_mul(height) == Some(msg.data.len())
            && info.origin.orientation.z.abs() < 1e-3;
        if !sound {
            tracing::warn!("costmap refused: its sizes do not agree, or it is turned");
            return;
        }
        let footprint = navigation.footprint.corners().to_vec();
        self.ground = Some(Ground { resolution, origin, width, height, cost: msg.data, footprint });
    }
}
