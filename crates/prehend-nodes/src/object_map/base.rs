//! Where the base stands: the local map begins there, and ends when the base leaves.

use super::ObjectMapNode;
use nalgebra::Isometry3;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
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

    /// Where the base is in the frame of the odometry, on a robot that drives.
    pub(super) fn base_pose(&self) -> Option<Isometry3<f64>> {
        let navigation = self.shell.robot.navigation.as_ref()?;
        let found = self.tf.lookup(&navigation.odom, &navigation.base, &Default::default());
        found.ok().map(|transform| transform.isometry())
    }
}
