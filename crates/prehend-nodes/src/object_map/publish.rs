//! The maps for the other nodes, and as markers and points for people.

use super::ObjectMapNode;
use prehend_convert as convert;
use prehend_geometry::PointCloud;
use prehend_msgs::Message;
use prehend_msgs::geometry_msgs::msg::{Point, Pose, Quaternion, Vector3};
use prehend_msgs::sensor_msgs::msg::PointCloud2;
use prehend_msgs::std_msgs::msg::ColorRGBA;
use prehend_msgs::visualization_msgs::msg::{Marker, MarkerArray};
use prehend_ros::{Publisher, RosError};
use prehend_scene::ObjectMap;

/// A latched topic for people. While nobody looks nothing is made: the middleware would keep every message of a latched topic without
/// readers. Who comes later is shown the newest map.
pub(super) struct Display<M: Message> {
    publisher: Publisher<M>,
    shown: Shown,
}

impl<M: Message> Display<M> {
    pub(super) fn new(publisher: Publisher<M>) -> Self {
        Self { publisher, shown: Shown::default() }
    }

    /// Shows the map to whoever looks and has not seen it.
    ///
    /// Errors: those of the publisher.
    fn show(&mut self, map: &ObjectMap, make: fn(&ObjectMap) -> M) -> Result<(), RosError> {
        if self.shown.is_due(map.version, self.publisher.subscriber_count()) {
            self.publisher.publish(&make(map))?;
        }
        Ok(())
    }
}

/// Which version of the map was shown, and how many looked last.
#[derive(Debug, Default)]
struct Shown {
    version: u64,
    watchers: usize,
}

impl Shown {
    /// Whether a version (0 before the first map) is to be shown now; then it counts as shown.
    fn is_due(&mut self, version: u64, watchers: usize) -> bool {
        let comes = watchers > std::mem::replace(&mut self.watchers, watchers);
        let due = watchers > 0 && version > 0 && (comes || version != self.version);
        if due {
            self.version = version;
        }
        due
    }
}

impl ObjectMapNode<'_> {
    /// Publishes the map of the room.
    pub(super) fn publish_room(&self) {
        if let Some(room) = &self.room
            && let Err(error) = room.map.publish(&convert::map_to_msg(room.builder.map()))
        {
            tracing::warn!("the map of the room was not published: {error}");
        }
    }

    /// Publishes the local map.
    pub(super) fn publish(&mut self) {
        if let Err(error) = self.map.publish(&convert::map_to_msg(self.builder.map())) {
            tracing::warn!("map not published: {error}");
        }
        self.show();
    }

    /// Shows people the map, as far as somebody looks.
    pub(super) fn show(&mut self) {
        let map = self.builder.map();
        let shown = [self.markers.show(map, markers), self.points.show(map, points)];
        for error in shown.into_iter().filter_map(Result::err) {
            tracing::warn!("map not shown: {error}");
        }
    }
}

/// Boxes and names of all objects, after a marker that takes away the old ones.
fn markers(map: &ObjectMap) -> MarkerArray {
    let header = convert::header(&map.frame, map.stamp);
    let clear = Marker { header: header.clone(), action: Marker::DELETEALL, ..Default::default() };
    let mut markers = vec![clear];
    for (number, object) in map.objects.iter().enumerate() {
        let [r, g, b] = object.color.map(|channel| f32::from(channel) / 255.0);
        let size = object.bounds.size;
        markers.push(Marker {
            header: header.clone(),
            ns: "objects".to_owned(),
            id: number as i32,
            type_: Marker::CUBE,
            action: Marker::ADD,
            pose: convert::pose_to_msg(&object.bounds.pose),
            scale: Vector3 { x: size.x.max(1e-3), y: size.y.max(1e-3), z: size.z.max(1e-3) },
            color: ColorRGBA { r, g, b, a: 0.5 },
            ..Default::default()
        });
        let center = object.bounds.pose.translation.vector;
        markers.push(Marker {
            header: header.clone(),
            ns: "names".to_owned(),
            id: number as i32,
            type_: Marker::TEXT_VIEW_FACING,
            action: Marker::ADD,
            pose: Pose {
                position: Point { x: center.x, y: center.y, z: object.bounds.top() + 0.03 },
                orientation: Quaternion { w: 1.0, ..Default::default() },
            },
            scale: Vector3 { x: 0.0, y: 0.0, z: 0.025 },
            color: ColorRGBA { r: 1.0, g: 1.0, b: 1.0, a: 1.0 },
            text: object.key.0.clone(),
            ..Default::default()
        });
    }
    MarkerArray { markers }
}

/// All points of all objects.
fn points(map: &ObjectMap) -> PointCloud2 {
    let mut all = PointCloud::default();
    for object in &map.objects {
        all.extend(&object.cloud);
    }
    convert::cloud_to_msg(&all, &map.frame, map.stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_shown_once_to_those_who_look_and_again_to_who_comes() {
        let mut shown = Shown::default();
        for (version, watchers, due) in [
            (0, 1, false), // no map yet
            (1, 0, false), // nobody looks
            (2, 1, true),
            (2, 1, false),
            (2, 2, true), // somebody comes
            (3, 1, true), // somebody went, and the map is new
            (3, 0, false),
            (4, 0, false),
            (4, 1, true),
        ] {
            assert_eq!(shown.is_due(version, watchers), due, "{version} to {watchers}");
        }
    }
}
