//! What a viewer shows of a plan before it moves, as data of the trace.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::misses::Misses;
use crate::prospect::{Chosen, ToolPose};
use crate::robot::{Planned as _, Robot};
use serde_json::{Value, json};

/// Places along each trajectory that are told, its end among them.
const PLACES: usize = 4;

impl<R: Robot> Course<'_, R> {
    /// Tells what was chosen among the candidates, and how the arm will get there: the plan, before the verifier is order.
    pub(crate) fn tell_plan(&self, chosen: &Chosen<'_, R::Planned>) {
        let path: Vec<Vec<f64>> = chosen.motions.iter().flat_map(|(_, way)| along(way.positions())).collect();
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
    pub(crate) fn tell_no_plan(&self, fault: &SkillFault, candidates: &[ToolPose], misses: &Misses) {
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

/// Joints at places along a trajectory, its end among them.
fn along(positions: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let Some(last) = positions.len().checked_sub(1) else { return Vec::new() };
    (1..=PLACES).filter_map(|place| positions.get(last * place / PLACES).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_is_told_to_its_end() {
        let points: Vec<Vec<f64>> = (0..9).map(|step| vec![-f64::from(step), f64::from(step)]).collect();
        assert_eq!(along(&points), [[-2.0, 2.0], [-4.0, 4.0], [-6.0, 6.0], [-8.0, 8.0]]);
        assert_eq!(along(&points[..1]), vec![[0.0, 0.0]; PLACES]);
        assert!(along(&[]).is_empty());
    }
}
