//! The commit gate for driving: may the base be driven to this pose?
//!
//! An own look at the costmap, so that a wrong search for poses cannot permit itself.

use crate::{Finding, GateContext, Verdict};
use nalgebra::{Isometry3, Vector3};
use prehend_scene::SkillPlan;

/// Cost from which the middle of the base must not be in a cell (inscribed in an obstacle's inflation).
const INSCRIBED: i8 = 99;
/// Greatest tilt of a base's goal, radians, and its greatest height over the ground, metres.
const LEVEL: [f64; 2] = [0.01, 0.05];

/// Judges a plan to drive: one level pose on free, known ground, made from the newest room map when it is about an object of it.
pub(crate) fn judge(plan: &SkillPlan, context: &GateContext<'_>) -> Verdict {
    let mut findings = Vec::new();
    match plan.pose_goals.as_slice() {
        [pose] => check_pose(pose, context, &mut findings),
        poses => findings.push(Finding::BasePoseCount { count: poses.len() }),
    }
    if plan.motion.is_some() {
        findings.push(Finding::PartMotion { skill: plan.skill, given: true });
    }
    if !plan.object.0.is_empty() {
        match context.room {
            None => findings.push(Finding::NoMap),
            Some(room) => {
                if room.version != plan.map_version {
                    findings.push(Finding::StaleMap { planned: plan.map_version, current: room.version });
                }
                if room.get(&plan.object).is_none() {
                    findings.push(Finding::UnknownObject { key: plan.object.clone() });
                }
            }
        }
    }
    Verdict { findings, diagnostics: None, name_share: None }
}

fn check_pose(pose: &Isometry3<f64>, context: &GateContext<'_>, findings: &mut Vec<Finding>) {
    let p = pose.translation.vector;
    let finite = p.iter().chain(pose.rotation.coords.iter()).all(|number| number.is_finite())
        && (pose.rotation.coords.norm() - 1.0).abs() < 1e-3;
    if !finite {
        findings.push(Finding::PoseNotFinite { index: 0 });
        return;
    }
    let tilt = (pose.rotation * Vector3::z()).angle(&Vector3::z());
    if tilt > LEVEL[0] || p.z.abs() > LEVEL[1] {
        findings.push(Finding::BaseNotLevel { tilt, height: p.z });
    }
    let Some(ground) = context.ground else {
        findings.push(Finding::NoGround);
        return;
    };
    let yaw = pose.rotation.euler_angles().2;
    match ground.cost_at(p.x, p.y) {
        None => findings.push(Finding::OffTheGround { x: p.x, y: p.y }),
        Some(cost) if cost >= INSCRIBED => findings.push(Finding::GroundTaken { x: p.x, y: p.y }),
        Some(_) => {
            if let Some([x, y]) = ground.blocked_at(p.x, p.y, yaw) {
                findings.push(Finding::GroundTaken { x, y });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::LETHAL;
    use crate::{Assessments, Ground, gate};
    use prehend_scene::{ObjectKey, ObjectMap, Skill};

    /// 4 m x 4 m of free ground around the origin with one obstacle at (1, 0).
    fn ground() -> Ground {
        let mut ground = Ground {
            resolution: 0.05,
            origin: [-2.0, -2.0],
            width: 80,
            height: 80,
            cost: vec![0; 80 * 80],
            footprint: vec![[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]],
        };
        ground.cost[40 * 80 + 60] = LETHAL;
        ground
    }

    fn plan(x: f64, y: f64, yaw: f64) -> SkillPlan {
        SkillPlan {
            skill: Skill::GoTo,
            object: ObjectKey::default(),
            targets: Vec::new(),
            relation: None,
            part: String::new(),
            motion: None,
            held_object: None,
            pose_goals: vec![Isometry3::new(Vector3::new(x, y, 0.0), Vector3::z() * yaw)],
            gripper_opening: 0.0,
            map_version: 3,
        }
    }

    fn check(plan: &SkillPlan, expected: &str) {
        let (settings, ground) = (gate::example_settings(), ground());
        let assessments = Assessments::new(1);
        let room = ObjectMap { version: 3, ..ObjectMap::default() };
        let known = gate::example_context(&settings, &assessments);
        let context = GateContext { room: Some(&room), ground: Some(&ground), ..known };
        let verdict = gate::judge(plan, "", &context);
        let found: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
        assert!(
            if expected.is_empty() { found.is_empty() } else { found.join("; ").contains(expected) },
            "{found:?} should say `{expected}`"
        );
    }

    #[test]
    fn a_free_pose_is_granted_and_each_fault_is_found() {
        check(&plan(0.0, 0.0, 0.0), "");
        // The long side reaches the obstacle only when the base looks at it.
        check(&plan(0.75, 0.0, 0.0), "taken");
        check(&plan(0.75, 0.0, std::f64::consts::FRAC_PI_2), "");
        check(&plan(5.0, 0.0, 0.0), "outside");
        check(&plan(1.9, 0.0, 0.0), "taken");
        check(&plan(f64::NAN, 0.0, 0.0), "not finite");
        let mut two = plan(0.0, 0.0, 0.0);
        two.pose_goals.push(two.pose_goals[0]);
        check(&two, "one pose");
        let mut tilted = plan(0.0, 0.0, 0.0);
        tilted.pose_goals[0] = Isometry3::new(Vector3::zeros(), Vector3::x() * 0.3);
        check(&tilted, "level");
        let mut unknown = plan(0.0, 0.0, 0.0);
        unknown.object = "room_cup_0".into();
        check(&unknown, "no object room_cup_0");
        unknown.map_version = 2;
        check(&unknown, "version 2");
    }

    #[test]
    fn without_a_costmap_nothing_is_driven() {
        let (settings, assessments) = (gate::example_settings(), Assessments::new(1));
        let context = gate::example_context(&settings, &assessments);
        let verdict = gate::judge(&plan(0.0, 0.0, 0.0), "", &context);
        assert_eq!(verdict.findings, vec![Finding::NoGround]);
    }
}
