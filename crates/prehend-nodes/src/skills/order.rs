//! What a goal of `execute_skill` asks for.

use nalgebra::Vector3;
use prehend_convert as convert;
use prehend_execution::{Before, Order, SkillFault};
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::Prospect;
use prehend_msgs::trajectory_msgs::msg::JointTrajectory;
use prehend_scene::ObjectKey;

/// A goal as an order for the arm with these joints.
///
/// Errors: [`SkillFault::BadRequest`].
pub(super) fn read(goal: &ExecuteSkill::Goal, joints: &[String]) -> Result<Order, SkillFault> {
    let bad = |error: convert::ConvertError| SkillFault::BadRequest(error.to_string());
    let affordances = goal.affordances.iter().map(convert::affordance_from_msg);
    let d = &goal.direction;
    let direction = Vector3::new(d.x, d.y, d.z);
    Ok(Order {
        skill: convert::skill(&goal.skill).map_err(bad)?,
        object: ObjectKey(goal.object_key.clone()),
        targets: goal.target_keys.iter().cloned().map(ObjectKey).collect(),
        relation: convert::relation(&goal.relation).map_err(bad)?,
        area: convert::area(&goal.area).map_err(bad)?,
        part: goal.part.clone(),
        effect: convert::effect(&goal.effect).map_err(bad)?,
        map_version: goal.map_version,
        affordances: affordances.collect::<Result<_, _>>().map_err(bad)?,
        // Zero is "not said"; what is no number is refused by whoever looks for ways.
        direction: (direction != Vector3::zeros()).then_some(direction),
        extent: (goal.extent != 0.0).then_some(goal.extent),
        assessment: goal.assessment_id.clone(),
        plan_only: goal.plan_only,
        before: before(goal, joints)?,
    })
}

/// What the goal takes to have been done before.
fn before(goal: &ExecuteSkill::Goal, joints: &[String]) -> Result<Option<Before>, SkillFault> {
    let bad = |why: &str| SkillFault::BadRequest(format!("what is assumed to have been done: {why}"));
    let prospect: &Prospect = match goal.assumed.as_slice() {
        [] => return Ok(None),
        [_] if !goal.plan_only => return Err(bad("only a plan can assume something")),
        [prospect] => prospect,
        _ => return Err(bad("there is more than one")),
    };
    let (plan, _) = convert::plan_from_msg(&prospect.plan).map_err(|error| bad(&error.to_string()))?;
    let arm = prospect.motions.last().and_then(|motion| end_of(motion, joints));
    Ok(Some(Before { plan, grip_width: prospect.grip_width, arm }))
}

/// Where a trajectory ends, in the order of `joints`; `None` when it does not say so of each.
fn end_of(trajectory: &JointTrajectory, joints: &[String]) -> Option<Vec<f64>> {
    let last = trajectory.points.last()?;
    let place = |joint| trajectory.joint_names.iter().position(|name| name == joint);
    let value = |joint| last.positions.get(place(joint)?).copied().filter(|p| p.is_finite());
    joints.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_trajectory_ends_where_its_last_point_has_each_joint() {
        let point =
            |positions: &[f64]| JointTrajectoryPoint { positions: positions.to_vec(), ..Default::default() };
        let trajectory = JointTrajectory {
            joint_names: names(&["b", "a"]),
            points: vec![point(&[0.0, 0.0]), point(&[2.0, 1.0])],
            ..Default::default()
        };
        assert_eq!(end_of(&trajectory, &names(&["a", "b"])), Some(vec![1.0, 2.0]));
        assert_eq!(end_of(&trajectory, &names(&["a", "c"])), None);
        assert_eq!(end_of(&JointTrajectory { points: Vec::new(), ..trajectory }, &names(&["a"])), None);
    }

    #[test]
    fn what_is_no_order_is_refused_in_words() {
        let joints = names(&["a"]);
        let look = || ExecuteSkill::Goal { skill: "look".to_owned(), ..Default::default() };
        let order = read(&look(), &joints).expect("a look");
        assert!(order.direction.is_none() && order.extent.is_none() && order.before.is_none());
        let check = |goal: ExecuteSkill::Goal, expected: &str| {
            let fault = read(&goal, &joints).expect_err("no order");
            assert!(fault.to_string().contains(expected), "{fault}");
        };
        check(ExecuteSkill::Goal { skill: "juggle".to_owned(), ..Default::default() }, "juggle");
        let assumed = vec![Prospect::default()];
        check(ExecuteSkill::Goal { assumed: assumed.clone(), ..look() }, "only a plan can assume");
        let twice = vec![Prospect::default(), Prospect::default()];
        check(ExecuteSkill::Goal { assumed: twice, plan_only: true, ..look() }, "more than one");
        check(ExecuteSkill::Goal { assumed, plan_only: true, ..look() }, "assumed to have been done");
    }
}
