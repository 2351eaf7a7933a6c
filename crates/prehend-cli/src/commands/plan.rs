//! `prehend goal --plan-only`: what a goal would come to, for a person, as JSON and as a picture.

use crate::outcome::{GoalReport, exit};
use crate::screen::{Paint, Screen, print_json};
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, Prospect};
use prehend_msgs::trajectory_msgs::msg::JointTrajectory;
use serde_json::{Value, json};
use std::path::Path;

/// Shows a plan, or why there is none; the exit code where showing it failed.
pub(super) fn show(
    json: bool,
    out: Option<&Path>,
    (report, plan): (&GoalReport, Option<&GoalPlan>),
    screen: &Screen,
) -> Option<u8> {
    let mut picture = None;
    if let (Some(out), Some(plan)) = (out, plan) {
        if plan.picture.is_empty() {
            eprintln!("there is no picture of this plan: the camera was silent");
        } else if let Err(error) = std::fs::write(out, &plan.picture) {
            eprintln!("cannot write {}: {error}", out.display());
            return Some(exit::BAD_INPUT);
        } else {
            picture = Some(out);
        }
    }
    if json {
        let mut value = match plan {
            Some(plan) => to_json(plan),
            None => {
                json!({ "text": report.goal, "readings": [], "outcome": report.outcome.name(), "reason": report.reason,
                "message": report.message, "steps": [], "map_version": null, "seconds": null })
            }
        };
        value["picture"] = json!(picture);
        print_json(&value);
        return None;
    }
    if let Some(plan) = plan {
        for line in to_lines(plan, screen) {
            screen.line(line);
        }
    }
    let reason = report.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    screen.line(format!("{}{reason}: {}", report.outcome.name(), report.message));
    match (picture, plan) {
        (Some(out), _) => screen.line(format!("picture: {}", out.display())),
        (None, Some(_)) if out.is_none() => {
            screen.line(screen.paint(Paint::Dim, "--out FILE.png draws it over what the camera sees"));
        }
        _ => {}
    }
    None
}

pub(super) fn to_lines(plan: &GoalPlan, screen: &Screen) -> Vec<String> {
    let mut lines = vec![format!("\"{}\" is read as {}", plan.text, plan.readings.join(", or "))];
    for (number, step) in plan.steps.iter().enumerate() {
        let paint = match step.status.as_str() {
            "planned" => Paint::Green,
            "refused" => Paint::Red,
            _ => Paint::Dim,
        };
        let words = format!("{}. {}", number + 1, step.words);
        lines.push(screen.paint(paint, &words));
        for prospect in &step.prospects {
            lines.push(format!("   {}", skill_words(prospect)));
            lines.push(format!("     {}", way_words(prospect)));
            lines.push(format!("     {}", verdict_words(prospect)));
        }
        if !step.detail.is_empty() {
            lines.push(format!("   {}", step.detail));
        }
    }
    lines.push(screen.paint(
        Paint::Dim,
        &format!("planned in {:.1} s; nothing moved, no permit was issued", plan.seconds),
    ));
    lines
}

fn skill_words(prospect: &Prospect) -> String {
    let plan = &prospect.plan;
    let mut words = format!("{} {}", plan.skill.replace('_', " "), plan.object_key);
    if !plan.relation.is_empty() {
        let targets =
            if plan.target_keys.is_empty() { "table".to_owned() } else { plan.target_keys.join(", ") };
        words.push_str(&format!(" {} {targets}", plan.relation.replace('_', " ")));
    }
    if !plan.part.is_empty() {
        words.push_str(&format!(", by its {}", plan.part));
    }
    if !plan.effect.is_empty() && plan.effect != "hold" {
        words.push_str(&format!(": {} it by {:.0} mm", plan.effect.replace('_', " "), plan.extent * 1e3));
    }
    words
}

fn way_words(prospect: &Prospect) -> String {
    let plan = &prospect.plan;
    let ways = match prospect.candidates {
        1 => "1 way found".to_owned(),
        several => format!("the best reachable of {several} ways"),
    };
    // The pose at the object: before it, at it, after it; a drive has one.
    let at = plan.pose_goals.get(1).or(plan.pose_goals.first()).map(|goal| {
        let p = &goal.pose.position;
        format!(" at ({:.2}, {:.2}, {:.2}) m in {}", p.x, p.y, p.z, goal.header.frame_id)
    });
    let mut words = format!("{ways}{}", at.unwrap_or_default());
    if prospect.grip_width > 0.0 {
        words.push_str(&format!(", pads {:.0} mm apart when they hold", prospect.grip_width * 1e3));
    }
    let motions: Vec<String> = prospect
        .phases
        .iter()
        .zip(&prospect.motions)
        .map(|(phase, motion)| format!("{phase} {:.1} s", seconds(motion)))
        .collect();
    if !motions.is_empty() {
        words.push_str(&format!("; {}", motions.join(", ")));
    }
    words
}

fn verdict_words(prospect: &Prospect) -> String {
    let d = &prospect.diagnostics;
    let evidence = match d.score > 0.0 {
        true => {
            format!("evidence v {:.2} (omega {:.2}, zeta {:.2}, mu {:.2}); ", d.score, d.omega, d.zeta, d.mu)
        }
        false => String::new(),
    };
    let verdict = match (prospect.granted, prospect.asks) {
        (true, false) => "the verifier would permit it".to_owned(),
        (true, true) => "the verifier would ask a person".to_owned(),
        (false, _) => format!("the verifier would refuse it: {}", prospect.reason),
    };
    format!("{evidence}{verdict}")
}

/// How long a trajectory takes, seconds.
fn seconds(motion: &JointTrajectory) -> f64 {
    motion.points.last().map_or(0.0, |point| {
        f64::from(point.time_from_start.sec) + f64::from(point.time_from_start.nanosec) * 1e-9
    })
}

pub(super) fn to_json(plan: &GoalPlan) -> Value {
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| {
            let skills: Vec<Value> = step.prospects.iter().map(prospect_json).collect();
            json!({ "words": step.words, "status": step.status, "reason": or_null(&step.reason), "detail": step.detail,
                "skills": skills })
        })
        .collect();
    json!({ "goal_id": plan.goal_id, "text": plan.text, "readings": plan.readings, "outcome": plan.outcome,
        "reason": or_null(&plan.reason), "message": plan.message, "steps": steps, "map_version": plan.map_version,
        "seconds": plan.seconds })
}

fn or_null(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn prospect_json(prospect: &Prospect) -> Value {
    let plan = &prospect.plan;
    let d = &prospect.diagnostics;
    let poses: Vec<Value> = plan
        .pose_goals
        .iter()
        .map(|goal| {
            let (p, q) = (&goal.pose.position, &goal.pose.orientation);
            json!({ "frame": goal.header.frame_id, "position": [p.x, p.y, p.z], "orientation": [q.x, q.y, q.z, q.w] })
        })
        .collect();
    let motions: Vec<Value> = prospect
        .phases
        .iter()
        .zip(&prospect.motions)
        .map(|(phase, motion)| json!({ "phase": phase, "seconds": seconds(motion), "points": motion.points.len() }))
        .collect();
    json!({ "skill": plan.skill, "object": plan.object_key, "targets": plan.target_keys, "relation": or_null(&plan.relation),
        "part": or_null(&plan.part), "effect": or_null(&plan.effect), "plan_hash": plan.plan_hash, "poses": poses,
        "gripper_opening": plan.gripper_opening, "grip_width": prospect.grip_width, "candidates": prospect.candidates,
        "motions": motions, "granted": prospect.granted, "reason": or_null(&prospect.reason), "asks": prospect.asks,
        "evidence": { "v": d.score, "omega": d.omega, "zeta": d.zeta, "mu": d.mu, "committed": d.committed } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::prehend_interfaces::msg::{Diagnostics, PlannedStep, SkillPlan};

    #[test]
    fn a_plan_is_told_with_its_skills_their_evidence_and_what_comes_later() {
        let grasp = Prospect {
            plan: SkillPlan { skill: "grasp".into(), object_key: "egg_1".into(), ..Default::default() },
            candidates: 9,
            grip_width: 0.043,
            phases: vec!["lift".into()],
            motions: vec![JointTrajectory::default()],
            granted: true,
            asks: true,
            diagnostics: Diagnostics { score: 0.93, omega: 1.0, zeta: 0.9, mu: 0.8, ..Default::default() },
            ..Default::default()
        };
        let step = |words: &str, status: &str, detail: &str, prospects: Vec<Prospect>| PlannedStep {
            words: words.into(),
            status: status.into(),
            detail: detail.into(),
            prospects,
            ..Default::default()
        };
        let plan = GoalPlan {
            text: "egg in the pan".into(),
            readings: vec!["put egg in pan".into()],
            steps: vec![
                step("pick up the egg", "planned", "", vec![grasp]),
                step("put the egg in the pan", "later", "planned later", Vec::new()),
            ],
            ..Default::default()
        };
        let lines = to_lines(&plan, &Screen::new(true));
        let expected = [
            "\"egg in the pan\" is read as put egg in pan",
            "1. pick up the egg",
            "   grasp egg_1",
            "     the best reachable of 9 ways, pads 43 mm apart when they hold; lift 0.0 s",
            "     evidence v 0.93 (omega 1.00, zeta 0.90, mu 0.80); the verifier would ask a person",
            "2. put the egg in the pan",
            "   planned later",
            "planned in 0.0 s; nothing moved, no permit was issued",
        ];
        assert_eq!(lines, expected);
        let value = to_json(&plan);
        assert_eq!(value["steps"][0]["skills"][0]["evidence"]["v"], 0.93);
        assert_eq!(value["reason"], Value::Null);
    }
}
