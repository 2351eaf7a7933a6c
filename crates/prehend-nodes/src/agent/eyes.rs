//! What a language model that sees is shown: the camera's picture, with the things of the map and their keys.

use crate::pictures::{next_view, over_view, png, top_view};
use crate::{RobotConfig, convert};
use futures::StreamExt;
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_ros::{Node, QosProfile, RosError, TfBuffer};
use prehend_scene::ObjectMap;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for the camera's parameters.
const PARAMETERS: Duration = Duration::from_secs(2);

/// The camera, seen from the agent.
#[derive(Clone)]
pub(super) struct Eyes {
    node: Node,
    robot: Arc<RobotConfig>,
    tf: TfBuffer,
}

impl Eyes {
    pub(super) fn new(node: &Node, robot: &RobotConfig) -> Result<Self, RosError> {
        Ok(Self { node: node.clone(), robot: Arc::new(robot.clone()), tf: node.tf()? })
    }

    /// The bytes of a PNG: what the camera sees from now on with the map drawn over it, or the map from above when the camera is silent.
    pub(super) async fn look(&self, map: &ObjectMap) -> Option<Vec<u8>> {
        let picture = match self.over_camera(map).await {
            Ok(picture) => picture,
            Err(why) => {
                tracing::warn!("the model is shown the map from above: {why}");
                top_view(map, &[])
            }
        };
        png(&picture).inspect_err(|error| tracing::warn!("the model is shown nothing: {error}")).ok()
    }

    async fn over_camera(&self, map: &ObjectMap) -> Result<prehend_geometry::ColorImage, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let profile = QosProfile::sensor_data().depth(1);
        let mut infos = self
            .node
            .subscribe::<CameraInfo>(&self.robot.camera.info, profile)
            .map_err(|error| told(&error))?;
        let view = next_view(&self.node, &self.robot, &self.tf).await.map_err(|error| told(&error))?;
        let info = tokio::time::timeout(PARAMETERS, infos.next()).await.ok().flatten();
        let info = info.ok_or("the camera's parameters were not heard")?;
        let intrinsics = convert::intrinsics_from_msg(&info).map_err(|error| told(&error))?;
        let pose = view.base_from_camera().map_err(|error| told(&error))?;
        Ok(over_view(view.image().clone(), map, &intrinsics, &pose, &|_| None))
    }
}
