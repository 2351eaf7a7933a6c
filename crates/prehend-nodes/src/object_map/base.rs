//! Where the base stands: the local map begins there, and ends when the base leaves.

use super::ObjectMapNode;
use nalgebra::Isometry3;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_scene::ObjectKey;
use serde_json::json;

/// How far the base may have moved and still stand where it stood: metres and radians.
const MOVED: [f64; 2] = [0.02, 0.02];

impl ObjectMapNode<'_> {
    /// Forgets the local map when the base has moved since it was begun: its frame moved along (ASP III-D ii).
    pub(super) fn leave_place(&mut self) {
        let Some(stood) = self.stood else { return };
        let Some(now) = self.base_pose() else { return };
        let way = stood.inverse() * now;
        if way.translation.vector.norm() < MOVED[0] && way.rotation.angle() < MOVED[1] {
            return;
        }
        self.stood = None;
        self.recall.forget();
        if self.builder.map().objects.is_empty() {
            return;
        }
        self.builder.forget();
        let version = self.builder.map().version;
        self.shell.trace.event(
            "",
            TraceEvent::KIND_PERCEPTION,
            "forget",
            "done",
            format!("map {version}: the base has moved, what was seen from where it stood is forgotten"),
            json!({ "version": version, "distance": way.translation.vector.norm() }),
        );
        self.publish();
    }

    /// Gives the names that the room's map knows to what is seen from here; which ones: the key near by, and in the room.
    pub(super) fn recall_names(&mut self) -> Vec<(ObjectKey, ObjectKey)> {
        let frames = &self.shell.robot.frames;
        let (Some(room), Some(navigation)) = (&self.room, &self.shell.robot.navigation) else {
            return Vec::new();
        };
        let Ok(room_from_near) = self.tf.lookup(&navigation.frame, &frames.base, &Default::default()) else {
            return Vec::new();
        };
        self.recall.tell(&mut self.builder, &room.builder, &room_from_near.isometry())
    }

    /// Where the base is in the frame of the odometry, on a robot that drives.
    pub(super) fn base_pose(&self) -> Option<Isometry3<f64>> {
        let navigation = self.shell.robot.navigation.as_ref()?;
        let found = self.tf.lookup(&navigation.odom, &navigation.base, &Default::default());
        found.ok().map(|transform| transform.isometry())
    }
}
