//! The robot of a stage, and what belongs to it.

use prehend_motion::{Fence, RobotModel};
use prehend_nodes::RobotConfig;
use prehend_nodes::joints::Joints;
use prehend_scene::SymbolicState;
use prehend_viewer::{Solid, Stage, Story, Thing, robot_solids};
use std::path::Path;
use std::sync::Arc;

/// The robot of a robot file.
pub(super) struct Robot {
    pub(super) config: RobotConfig,
    model: RobotModel,
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
        Ok(Self { config, model })
    }

    /// Its links where the joints are.
    pub(super) fn links(&self, joints: &Joints) -> Vec<Solid> {
        self.solids(&joints.arm, joints.drive, false)
    }

    /// The robot with its arm's joints at `arm` and the gripper's at `drive`; nothing when they are no joints of it.
    fn solids(&self, arm: &[f64], drive: f64, as_ghost: bool) -> Vec<Solid> {
        let of = |name: &String| {
            let index = self.config.arm.joints.iter().position(|joint| joint == name)?;
            arm.get(index).copied()
        };
        let positions: Option<Vec<f64>> = self.model.joint_names().iter().map(of).collect();
        let solids = positions.map(|positions| robot_solids(&self.model, &positions, drive, as_ghost));
        solids.and_then(Result::ok).unwrap_or_default()
    }

    /// All of it: `links` as [`Robot::links`] gives them, and the plan and the panel of a story.
    pub(super) fn stage(
        &self,
        things: &Arc<Vec<Thing>>,
        links: Vec<Solid>,
        state: Option<&SymbolicState>,
        story: &Story,
    ) -> Stage {
        let plan = story.plan().cloned().unwrap_or_default();
        let opening = plan.candidates.iter().find(|one| one.chosen).map_or(0.0, |one| one.opening);
        let drive = self.config.gripper.position(opening);
        let limits = &self.config.limits;
        Stage {
            robot: links,
            ghost: plan.joints.last().map_or_else(Vec::new, |end| self.solids(end, drive, true)),
            things: Arc::clone(things),
            candidates: plan.candidates,
            fence: Some(Fence::new(limits.workspace_low, limits.workspace_high)),
            panel: story.panel(state),
            ..Stage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;
    use prehend_viewer::{Event, Plan};

    #[test]
    fn a_plan_is_a_ghost_where_it_ends() {
        let robot = Robot::load(Path::new("config/robots/xarm6.yaml")).expect("a robot");
        let stage = |joints: Vec<Vec<f64>>| {
            let mut story = Story::default();
            let plan = Some(Plan { joints, ..Plan::default() });
            story.take(&Event { kind: "motion".to_owned(), plan, ..Event::default() });
            robot.stage(&Arc::default(), Vec::new(), None, &story)
        };
        let home = robot.config.home.clone();
        let ghost = stage(vec![vec![0.0; 6], home.clone()]).ghost;
        let expected = robot.solids(&home, robot.config.gripper.position(0.0), true);
        assert!(!ghost.is_empty() && ghost == expected);
        assert!(stage(vec![vec![0.0; 3]]).ghost.is_empty(), "three joints are no arm");
        let fence = stage(Vec::new()).fence.expect("the workspace");
        assert!(fence.contains(&Point3::new(0.4, 0.0, 0.2)) && !fence.contains(&Point3::new(2.0, 0.0, 0.2)));
    }
}
