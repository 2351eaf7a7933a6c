//! Things with moving parts, and the ways of hands that moved them.

use super::error::{ConvertError, Result, finite};
use super::{header, pose_from_msg, pose_to_msg, vector_to_msg};
use nalgebra::{Isometry3, Point3, Unit, Vector3};
use prehend_articulation::{HandWay, JointKind, Known, Mechanism, Placed, to_urdf};
use prehend_msgs::geometry_msgs::msg as geometry;
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_scene::{ObjectKey, ObjectMap};
use prehend_skills::part::KnownJoint;
use std::collections::BTreeMap;

/// Poses of a way that are taken; a motion of the arm has a few dozen.
const MOST_POSES: usize = 10_000;

/// Way of a hand from its message.
pub fn hand_way_from_msg(msg: &ours::HandWay) -> Result<HandWay> {
    let (expected, found) = (MOST_POSES, msg.poses.len());
    if found > expected {
        return Err(ConvertError::Length { what: "the way of a hand", expected, found });
    }
    let poses = msg.poses.iter().map(pose_from_msg).collect::<Result<Vec<Isometry3<f64>>>>()?;
    Ok(HandWay { object: ObjectKey(msg.object_key.clone()), poses, stopped: msg.stopped })
}

/// A described thing to message; `placed` says where the map shows it.
pub fn articulated_to_msg(thing: &Known, placed: Option<&Placed>) -> ours::ArticulatedThing {
    let Some(described) = &thing.described else { return ours::ArticulatedThing::default() };
    let best = described.best();
    let pose = placed.map_or(best.map_from_model, |placed| placed.map_from_model);
    ours::ArticulatedThing {
        key: placed.map(|placed| placed.thing.0.clone()).unwrap_or_default(),
        class_name: thing.observation.class.clone(),
        pose: pose_to_msg(&pose),
        urdf: to_urdf(&best.model),
        rating: best.rating.overall as f32,
        looks: u32::try_from(thing.observation.looks.len()).unwrap_or(u32::MAX),
        parts: placed
            .iter()
            .flat_map(|placed| thing.mechanisms(placed))
            .map(|part| part_to_msg(&part))
            .collect(),
    }
}

/// Those that a map shows.
pub fn articulated_list(things: &[(&Known, &Placed)], map: &ObjectMap) -> ours::ArticulatedThings {
    ours::ArticulatedThings {
        header: header(&map.frame, map.stamp),
        map_version: map.version,
        things: things.iter().map(|(thing, placed)| articulated_to_msg(thing, Some(placed))).collect(),
    }
}

fn part_to_msg(part: &Mechanism) -> ours::ArticulatedPart {
    let o = part.origin;
    ours::ArticulatedPart {
        key: part.key.0.clone(),
        class_name: part.class.clone(),
        joint_type: part.kind.name().to_owned(),
        axis: vector_to_msg(&part.axis),
        origin: geometry::Point { x: o.x, y: o.y, z: o.z },
        lower: part.limits[0],
        upper: part.limits[1],
        position: part.position,
        outcome: part.outcome.code().to_owned(),
        message: part.outcome.say(),
        usable: part.outcome.is_usable(),
    }
}

/// The measured joints of a list by the keys of their parts; what is assumed or refused is none.
pub fn known_joints(list: &ours::ArticulatedThings) -> Result<BTreeMap<ObjectKey, KnownJoint>> {
    let mut joints = BTreeMap::new();
    for part in list.things.iter().flat_map(|thing| &thing.parts).filter(|part| part.usable) {
        let turns = match JointKind::parse(&part.joint_type) {
            Some(JointKind::Prismatic) => false,
            Some(JointKind::Revolute | JointKind::Continuous) => true,
            Some(JointKind::Fixed) => continue,
            None => {
                return Err(ConvertError::UnknownWord { what: "joint type", word: part.joint_type.clone() });
            }
        };
        let (a, o) = (&part.axis, &part.origin);
        finite("a joint", &[a.x, a.y, a.z, o.x, o.y, o.z, part.position, part.upper])?;
        let Some(axis) = Unit::try_new(Vector3::new(a.x, a.y, a.z), 0.5) else {
            return Err(ConvertError::Unsupported {
                what: "the axis of a joint",
                found: format!("{:?}", [a.x, a.y, a.z]),
                expected: "a unit vector",
            });
        };
        let origin = Point3::new(o.x, o.y, o.z);
        joints.insert(
            ObjectKey(part.key.clone()),
            KnownJoint { turns, axis, origin, position: part.position, upper: part.upper },
        );
    }
    Ok(joints)
}
