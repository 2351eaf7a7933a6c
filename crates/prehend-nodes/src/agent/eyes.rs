//! What a language model that sees, or a person, is shown: the camera's picture, with the things of the map and their keys.

use crate::pictures::{Mark, next_view, over_view, png, top_view};
use futures::StreamExt;
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_geometry::{ColorImage, Intrinsics};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_robots::RobotConfig;
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
        let seen = self.see().await;
        picture(seen, map, &[])
    }

    /// What the camera sees from now on, and from where.
    ///
    /// Errors: why there is no picture, for a person.
    pub(super) async fn see(&self) -> Result<Seen, String> {
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
        Ok(Seen { image: view.image().clone(), intrinsics, pose })
    }
}

/// What the camera saw.
#[derive(Debug)]
pub(super) struct Seen {
    image: ColorImage,
    intrinsics: Intrinsics,
    /// base_from_camera.
    pose: Isometry3<f64>,
}

/// The bytes of a PNG: the map and some marks over what was seen; the map from above when nothing was. `None` when it cannot be encoded.
pub(super) fn picture(seen: Result<Seen, String>, map: &ObjectMap, marks: &[Mark]) -> Option<Vec<u8>> {
    let image = match seen {
        Ok(Seen { image, intrinsics, pose }) => over_view(image, map, (&intrinsics, &pose), &|_| None, marks),
        Err(why) => {
            tracing::warn!("the picture is the map from above: {why}");
            top_view(map, &[])
        }
    };
    png(&image).inspect_err(|error| tracing::warn!("there is no picture: {error}")).ok()
}
