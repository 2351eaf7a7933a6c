//! What a viewer shows of a plan before it moves, as data of the trace.

use super::fault::SkillFault;
use super::job::Job;
use super::misses::Misses;
use super::prospect::Chosen;
use nalgebra::Isometry3;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;
use serde_json::{Value, json};

/// Places along each trajectory that are told, its end among them.
const PLACES: usize = 4;

/// A pose of the tool in the map's frame, and the opening of the pads there, metres.
pub(super) type ToolPose = (Isometry3<f64>, f64);

impl Job<'_> {
    /// Tells what was chosen among the candidates, and how the arm will get there: the plan, before the verifier is asked.
    pub(super) fn tell_plan(&self, chosen: &Chosen<'_>) {
        let joints = &self.skills.shell.robot.arm.joints;
        let ways = chosen.motions.iter();
        let path: Vec<Vec<f64>> = ways.flat_map(|(_, way)| along(&way.trajectory, joints)).collect();
        let at = chosen.taken.0.translation.vector;
        self.tell_with(
            "plan",
            "planned",
            &format!("the tool to ({:.2}, {:.2}, {:.2}) m", at.x, at.y, at.z),
            json!({
                "candidates": tools(&chosen.candidates, &chosen.misses),
                "chosen": tool(&chosen.taken),
                "joints": path,
            }),
        );
    }

    /// Tells the candidates of which none can be reached, each with why not.
    pub(super) fn tell_no_plan(&self, fault: &SkillFault, candidates: &[ToolPose], misses: &Misses) {
        if matches!(fault, SkillFault::NoPlan { .. }) {
            let more = json!({ "candidates": tools(candidates, misses) });
            self.tell_with("plan", "none", &format!("no way to any of {}", candidates.len()), more);
        }
    }
}

/// Tool poses as [`tool`], each with why it was passed over, if it was.
fn tools(candidates: &[ToolPose], misses: &Misses) -> Vec<Value> {
    let told = candidates.iter().enumerate().map(|(index, candidate)| {
        let mut told = tool(candidate);
        if let Some(why) = misses.of(index) {
            told["missed"] = json!(why);
        }
        told
    });
    told.collect()
}

/// Position in metres, rotation as the quaternion x, y, z, w, and the opening.
fn tool((pose, opening): &ToolPose) -> Value {
    let at = pose.translation.vector;
    json!({
        "position": [at.x, at.y, at.z],
        "rotation": pose.rotation.coords.as_slice(),
        "opening": opening,
    })
}

/// Positions of `joints` at places along a trajectory; none when it does not name all of them.
fn along(trajectory: &RobotTrajectory, joints: &[String]) -> Vec<Vec<f64>> {
    let (names, points) = (&trajectory.joint_trajectory.joint_names, &trajectory.joint_trajectory.points);
    let order: Option<Vec<usize>> =
        joints.iter().map(|joint| names.iter().position(|name| name == joint)).collect();
    let (Some(order), Some(last)) = (order, points.len().checked_sub(1)) else { return Vec::new() };
    let places = (1..=PLACES).filter_map(|place| points.get(last * place / PLACES));
    places
        .filter_map(|point| order.iter().map(|index| point.positions.get(*index).copied()).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};

    fn trajectory(positions: &[[f64; 2]]) -> RobotTrajectory {
        let points = positions
            .iter()
            .map(|at| JointTrajectoryPoint { positions: at.to_vec(), ..Default::default() })
            .collect();
        let joint_names = vec!["b".to_owned(), "a".to_owned()];
        RobotTrajectory {
            joint_trajectory: JointTrajectory { joint_names, points, ..Default::default() },
            ..Default::default()
        }
    }

    #[test]
    fn a_trajectory_is_told_to_its_end_in_the_robots_order() {
        let joints = ["a", "b"].map(str::to_owned);
        let points: Vec<[f64; 2]> = (0..9).map(|step| [f64::from(step), -f64::from(step)]).collect();
        assert_eq!(
            along(&trajectory(&points), &joints),
            [[-2.0, 2.0], [-4.0, 4.0], [-6.0, 6.0], [-8.0, 8.0]]
        );
        assert_eq!(along(&trajectory(&points[..1]), &joints), vec![[0.0, 0.0]; PLACES]);
        assert!(along(&trajectory(&[]), &joints).is_empty());
        assert!(along(&trajectory(&points), &["c".to_owned()]).is_empty());
    }
}
