//! What was found, as messages.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_convert as convert;
use prehend_memory::{Asked, Found};
use prehend_msgs::geometry_msgs::msg::Vector3 as Vector3Msg;
use prehend_msgs::prehend_interfaces::msg::MemoryThing;

/// The things of all answers, at most `k` of each.
pub(super) fn things(answers: &[Asked], robot: &str, session: &str, k: usize) -> Vec<MemoryThing> {
    let of = |asked: &Asked| {
        let role = if asked.is_receptacle { "receptacle" } else { "target" };
        let fitting = asked.answer.things.iter().filter(|found| found.is_answer()).take(k);
        fitting.map(|found| thing(found, role, robot, session)).collect::<Vec<_>>()
    };
    answers.iter().flat_map(of).collect()
}

fn thing(found: &Found, role: &str, robot: &str, session: &str) -> MemoryThing {
    let Found { thing, fits, can, still_there, room, on, views, why } = found;
    let place = &thing.place;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), place.yaw);
    let pose = Isometry3::from_parts(Translation3::from(Vector3::from(place.center)), turn);
    let [x, y, z] = place.size;
    MemoryThing {
        role: role.to_owned(),
        id: thing.id,
        building: thing.building.clone(),
        words: thing.words(),
        room: room.clone().unwrap_or_default(),
        on: on.clone().unwrap_or_default(),
        pose: convert::pose_to_msg(&pose),
        size: Vector3Msg { x, y, z },
        fits: *fits,
        can: *can,
        still_there: *still_there,
        last_seen: convert::stamp(thing.last_seen),
        key: thing.keys.get(robot).and_then(|key| key.strip_prefix(session)).unwrap_or_default().to_owned(),
        why: why.clone(),
        views: views.clone(),
    }
}
