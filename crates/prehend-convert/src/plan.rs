//! Plans, permits, observations and symbolic state.

use super::error::{ConvertError, Result, finite};
use super::{
    effect, header, object_to_msg, objects_from_msg, pose_from_msg, pose_to_msg, relation, seconds, skill,
    stamp, vector_to_msg,
};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use prehend_msgs::geometry_msgs::msg as geometry;
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_scene::{
    Area, Felt, ObjectKey, Observation, PartMotion, Permit, PlanHash, Relation, SkillPlan, SymbolicState,
};

/// Area of its corners: least x, least y, greatest x, greatest y; nothing is none.
pub fn area(corners: &[f64]) -> Result<Option<Area>> {
    finite("area", corners)?;
    match *corners {
        [] => Ok(None),
        [low_x, low_y, high_x, high_y] => Area::from_corners([low_x, low_y, high_x, high_y])
            .map(Some)
            .ok_or_else(|| ConvertError::Unsupported {
                what: "area",
                found: format!("{corners:?}"),
                expected: "least x, least y, greatest x, greatest y",
            }),
        _ => Err(ConvertError::Length { what: "area", expected: 4, found: corners.len() }),
    }
}

fn key_or_none(key: &str) -> Option<ObjectKey> {
    (!key.is_empty()).then(|| ObjectKey(key.to_owned()))
}

/// Plan to message, with its hash; poses in `frame`.
pub fn plan_to_msg(plan: &SkillPlan, frame: &str) -> ours::SkillPlan {
    let motion = plan.motion.as_ref();
    let number = |of: fn(&PartMotion) -> f64| motion.map_or(0.0, of);
    ours::SkillPlan {
        effect: motion.map_or("", |m| m.effect.name()).to_owned(),
        anchor: motion.map_or_else(Default::default, |m| geometry::Point {
            x: m.anchor.x,
            y: m.anchor.y,
            z: m.anchor.z,
        }),
        direction: motion.map_or_else(Default::default, |m| vector_to_msg(&m.direction)),
        extent: number(|m| m.extent),
        least: number(|m| m.least),
        corridor: number(|m| m.corridor),
        skill: plan.skill.name().to_owned(),
        object_key: plan.object.0.clone(),
        target_keys: plan.targets.iter().map(|key| key.0.clone()).collect(),
        relation: plan.relation.map_or("", Relation::name).to_owned(),
        part: plan.part.clone(),
        held_object: plan.held_object.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
        pose_goals: plan
            .pose_goals
            .iter()
            .map(|pose| geometry::PoseStamped { header: header(frame, 0.0), pose: pose_to_msg(pose) })
            .collect(),
        gripper_opening: plan.gripper_opening,
        map_version: plan.map_version,
        plan_hash: plan.hash().0,
    }
}

/// Message to plan and the hash it claims; poses are not checked for being finite (the gate does, as a finding).
pub fn plan_from_msg(msg: &ours::SkillPlan) -> Result<(SkillPlan, PlanHash)> {
    let pose = |stamped: &geometry::PoseStamped| {
        let (p, q) = (&stamped.pose.position, &stamped.pose.orientation);
        Isometry3::from_parts(
            Translation3::new(p.x, p.y, p.z),
            UnitQuaternion::new_unchecked(Quaternion::new(q.w, q.x, q.y, q.z)),
        )
    };
    let (anchor, direction) = (&msg.anchor, &msg.direction);
    let motion = effect(&msg.effect)?.map(|effect| PartMotion {
        effect,
        anchor: Point3::new(anchor.x, anchor.y, anchor.z),
        direction: Vector3::new(direction.x, direction.y, direction.z),
        extent: msg.extent,
        least: msg.least,
        corridor: msg.corridor,
    });
    let plan = SkillPlan {
        skill: skill(&msg.skill)?,
        object: ObjectKey(msg.object_key.clone()),
        targets: msg.target_keys.iter().map(|key| ObjectKey(key.clone())).collect(),
        relation: relation(&msg.relation)?,
        part: msg.part.clone(),
        motion,
        held_object: key_or_none(&msg.held_object),
        pose_goals: msg.pose_goals.iter().map(pose).collect(),
        gripper_opening: msg.gripper_opening,
        map_version: msg.map_version,
    };
    Ok((plan, PlanHash(msg.plan_hash.clone())))
}

/// Permit to message.
pub fn permit_to_msg(permit: &Permit) -> ours::Permit {
    ours::Permit {
        id: permit.id.clone(),
        plan_hash: permit.plan_hash.0.clone(),
        map_version: permit.map_version,
        expires: stamp(permit.expires),
    }
}

/// Message to permit.
pub fn permit_from_msg(msg: &ours::Permit) -> Permit {
    Permit {
        id: msg.id.clone(),
        plan_hash: PlanHash(msg.plan_hash.clone()),
        map_version: msg.map_version,
        expires: seconds(&msg.expires),
    }
}

/// Observation to message.
pub fn observation_to_msg(observation: &Observation, frame: &str) -> ours::Observation {
    ours::Observation {
        stamp: stamp(observation.stamp),
        gripper_opening: observation.gripper_opening,
        gripper_command: observation.gripper_command,
        gripper_effort: observation.gripper_effort,
        objects_observed: observation.objects.is_some(),
        objects: observation.objects.iter().flatten().map(|object| object_to_msg(object, frame)).collect(),
        map_version: observation.map_version,
        tool_pose: pose_to_msg(&observation.tool_pose),
        felt: observation.felt.iter().map(felt_to_msg).collect(),
    }
}

fn felt_to_msg(felt: &Felt) -> ours::Felt {
    ours::Felt {
        travel: felt.travel,
        returned: felt.returned,
        displacement: vector_to_msg(&felt.displacement),
        force: felt.force,
        stopped: felt.stopped,
    }
}

fn felt_from_msg(msg: &ours::Felt) -> Result<Felt> {
    let d = &msg.displacement;
    finite("felt", &[msg.travel, msg.returned, msg.force, d.x, d.y, d.z])?;
    Ok(Felt {
        travel: msg.travel,
        returned: msg.returned,
        displacement: Vector3::new(d.x, d.y, d.z),
        force: msg.force,
        stopped: msg.stopped,
    })
}

/// Message to observation; the gripper's numbers may be NaN (the check calls that not observed).
pub fn observation_from_msg(msg: &ours::Observation) -> Result<Observation> {
    Ok(Observation {
        stamp: seconds(&msg.stamp),
        gripper_opening: msg.gripper_opening,
        gripper_command: msg.gripper_command,
        gripper_effort: msg.gripper_effort,
        tool_pose: pose_from_msg(&msg.tool_pose)?,
        objects: msg.objects_observed.then(|| objects_from_msg(&msg.objects)).transpose()?,
        map_version: msg.map_version,
        felt: msg.felt.first().map(felt_from_msg).transpose()?,
    })
}

/// State to message.
pub fn state_to_msg(state: &SymbolicState, frame: &str, at: f64) -> ours::SymbolicState {
    ours::SymbolicState {
        header: header(frame, at),
        held_object: state.held_object.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
        inventory: state.inventory.iter().map(|key| key.0.clone()).collect(),
        map_version: state.map_version,
        at_object: state.at_object.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
        base_pose: state.base_pose.iter().flatten().copied().collect(),
        ..Default::default()
    }
}

/// Message to state.
pub fn state_from_msg(msg: &ours::SymbolicState) -> SymbolicState {
    SymbolicState {
        held_object: key_or_none(&msg.held_object),
        inventory: msg.inventory.iter().map(|key| ObjectKey(key.clone())).collect(),
        map_version: msg.map_version,
        at_object: key_or_none(&msg.at_object),
        base_pose: <[f64; 3]>::try_from(msg.base_pose.as_slice()).ok(),
    }
}
