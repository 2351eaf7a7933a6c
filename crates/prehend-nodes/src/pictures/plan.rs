//! Plans as lines: the hand where it would be, and its way.

use super::Mark;
use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::prehend_interfaces::msg::SkillPlan;

/// How far back from the point between its pads a gripper is drawn, metres.
const PALM: f64 = 0.06;
/// Colours of what was chosen and of the others.
const CHOSEN: [u8; 3] = [255, 0, 220];
const OTHER: [u8; 3] = [150, 150, 150];

/// The hands of plans, with other poses that were found for them, as far as they are in `frame`: the chosen ones numbered, with their
/// ways, the others grey.
pub fn plan_marks<'a>(
    plans: impl IntoIterator<Item = (&'a SkillPlan, &'a [PoseStamped])>,
    frame: &str,
) -> Vec<Mark> {
    let (mut chosen, mut marks) = (Vec::new(), Vec::new());
    for (number, (plan, others)) in plans.into_iter().enumerate() {
        let opening = plan.gripper_opening;
        let here = |poses: &[PoseStamped]| -> Vec<Isometry3<f64>> {
            let here = poses.iter().filter(|pose| pose.header.frame_id == frame);
            here.filter_map(|pose| convert::pose_from_msg(&pose.pose).ok()).collect()
        };
        for other in here(others) {
            marks.push(Mark { color: OTHER, lines: hand(&other, opening), ..Mark::default() });
        }
        let goals = here(&plan.pose_goals);
        let Some(tool) = goals.get(1).or(goals.first()) else { continue };
        let mut lines = hand(tool, opening);
        let at = |pose: &Isometry3<f64>| Point3::from(pose.translation.vector);
        lines.extend(goals.windows(2).map(|pair| [at(&pair[0]), at(&pair[1])]));
        let label = format!("{} {}", number + 1, plan.skill.replace('_', " "));
        chosen.push(Mark { label, color: CHOSEN, lines, mask: None });
    }
    // What was chosen lies on top.
    marks.extend(chosen);
    marks
}

/// A gripper as lines: two fingers along z, the palm behind them, the pads `opening` apart along y.
fn hand(tool: &Isometry3<f64>, opening: f64) -> Vec<[Point3<f64>; 2]> {
    let at = |y: f64, z: f64| tool * Point3::new(0.0, y, z);
    let half = opening / 2.0;
    vec![
        [at(-half, 0.0), at(-half, -PALM / 2.0)],
        [at(half, 0.0), at(half, -PALM / 2.0)],
        [at(-half, -PALM / 2.0), at(half, -PALM / 2.0)],
        [at(0.0, -PALM / 2.0), at(0.0, -PALM)],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::std_msgs::msg::Header;

    #[test]
    fn the_pads_are_drawn_as_far_apart_as_they_are_and_other_frames_are_left_out() {
        let pose = |frame: &str, x: f64| {
            let header = Header { frame_id: frame.to_owned(), ..Default::default() };
            PoseStamped { header, pose: convert::pose_to_msg(&Isometry3::translation(x, 0.0, 0.1)) }
        };
        let plan = SkillPlan {
            skill: "grasp_part".to_owned(),
            gripper_opening: 0.06,
            pose_goals: vec![pose("base", 0.3), pose("base", 0.4), pose("map", 0.5)],
            ..Default::default()
        };
        let others = [pose("base", 0.6), pose("map", 0.7)];
        let marks = plan_marks([(&plan, others.as_slice())], "base");
        let labels: Vec<&str> = marks.iter().map(|mark| mark.label.as_str()).collect();
        assert_eq!(labels, ["", "1 grasp part"]);
        let chosen = &marks[1].lines;
        assert_eq!(chosen.len(), 4 + 1, "a hand and its way between two poses");
        let apart = (chosen[2][0] - chosen[2][1]).norm();
        assert!((apart - 0.06).abs() < 1e-9, "{apart}");
        assert!((chosen[0][0].x - 0.4).abs() < 1e-9, "the hand is at the second pose");
    }
}
