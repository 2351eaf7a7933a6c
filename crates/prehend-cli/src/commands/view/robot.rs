//! The robot of a stage.

use nalgebra::Isometry3;
use prehend_motion::RobotModel;
use prehend_robots::RobotConfig;
use prehend_viewer::{Solid, robot_solids};
use std::path::Path;
use std::sync::Arc;

/// The robot of a robot file.
pub(super) struct Robot {
    pub(super) config: RobotConfig,
    pub(super) model: Arc<RobotModel>,
}

impl Robot {
    /// Reads the robot file and its URDF.
    ///
    /// Errors: what is wrong with them, in words.
    pub(super) fn load(file: &Path) -> Result<Self, String> {
        let config = RobotConfig::load(file).map_err(|error| error.to_string())?;
        let urdf = std::fs::read_to_string(&config.urdf)
            .map_err(|error| format!("cannot read {}: {error}", config.urdf.display()))?;
        let model = RobotModel::from_urdf(&urdf, config.group())
            .map_err(|error| format!("{}: {error}", config.urdf.display()))?;
        Ok(Self { config, model: Arc::new(model) })
    }

    /// The robot with its arm's joints at `arm` and the gripper's at `drive`, in the frame of its arm; nothing when they are no joints of it.
    pub(super) fn solids(&self, arm: &[f64], drive: f64, as_ghost: bool) -> Vec<Solid> {
        let positions = self.positions(arm);
        let solids = positions.map(|positions| robot_solids(&self.model, &positions, drive, as_ghost));
        solids.and_then(Result::ok).unwrap_or_default()
    }

    /// Where a link is with the arm's joints at `arm` and the gripper's at `drive`, in the frame of the arm; `None` for an unknown link, or
    /// for what are no joints of it.
    pub(super) fn link_pose(&self, link: &str, arm: &[f64], drive: f64) -> Option<Isometry3<f64>> {
        let index = self.model.link_index(link)?;
        self.model.link_poses(&self.positions(arm)?, drive).ok()?.get(index).copied()
    }

    /// Where each joint of the model stands among those of the robot file.
    pub(super) fn order(&self) -> Vec<usize> {
        let of = |name: &String| self.config.arm.joints.iter().position(|joint| joint == name);
        self.model.joint_names().iter().filter_map(of).collect()
    }

    /// Positions in the order of the model; `None` when there are not as many as it has joints.
    pub(super) fn positions(&self, arm: &[f64]) -> Option<Vec<f64>> {
        let positions: Option<Vec<f64>> =
            self.order().into_iter().map(|index| arm.get(index).copied()).collect();
        positions.filter(|positions| positions.len() == self.model.joint_names().len())
    }
}
