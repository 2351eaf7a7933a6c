//! Rooms of a scene file: `room` and, in a scene with one, `robot` as the place where it starts.

use super::{angle, length, probability, read_color};
use crate::scene::{Color, LocalisationSpec, RoomSpec, WallSpec};
use prehend_config::{Map, Value};

/// Longest side of a room, metres.
const LONGEST: f64 = 40.0;

/// The room of a scene: `Some(None)` when it has none, `None` when something is wrong with it.
pub(super) fn read_room_of(map: &mut Map<'_>) -> Option<Option<RoomSpec>> {
    let Some(value) = map.opt("room") else {
        return Some(None);
    };
    let start = map.req("robot").and_then(|value| value.map(read_start));
    let localisation = map.or("localisation", LocalisationSpec::default(), |value| {
        if value.is_map() {
            return value.map(read_localisation);
        }
        let perfect = LocalisationSpec { sigma_xy: 0.0, sigma_yaw: 0.0, drift: 0.0 };
        value.choice(&[("perfect", perfect), ("imperfect", LocalisationSpec::default())])
    });
    let room = value.map(read_room);
    let (room, start) = (room?, start?);
    let [x, y, _] = start;
    if !(0.0..=room.size[0]).contains(&x) || !(0.0..=room.size[1]).contains(&y) {
        value.report(format!("the robot at [{x}, {y}] is not in the room"));
        return None;
    }
    Some(Some(RoomSpec { start, localisation: localisation?, ..room }))
}

/// `{xy: [x, y], yaw}`.
fn read_start(map: &mut Map<'_>) -> Option<[f64; 3]> {
    let xy = map.req("xy").and_then(|value| value.numbers::<2>());
    let yaw = map.or("yaw", 0.0, angle);
    let [x, y] = xy?;
    Some([x, y, yaw?])
}

fn read_localisation(map: &mut Map<'_>) -> Option<LocalisationSpec> {
    let default = LocalisationSpec::default();
    let sigma_xy = map.or("sigma_xy", default.sigma_xy, |value| value.f64_in(0.0, 0.3));
    let sigma_yaw = map.or("sigma_yaw", default.sigma_yaw, |value| value.f64_in(0.0, 0.3));
    let drift = map.or("drift", default.drift, probability);
    Some(LocalisationSpec { sigma_xy: sigma_xy?, sigma_yaw: sigma_yaw?, drift: drift? })
}

fn read_room(map: &mut Map<'_>) -> Option<RoomSpec> {
    let size = map.req("size").and_then(|value| super::lengths::<2>(&value, LONGEST));
    let walls = map.or("walls", Vec::new(), |value| value.list(|item| read_wall(&item)));
    let wall_height = map.or("wall_height", 1.4, |value| length(value, 4.0));
    let wall_thickness = map.or("wall_thickness", 0.1, |value| length(value, 0.5));
    let wall_color = map.or("wall_color", (Color([226, 222, 212]), None), |value| read_color(&value));
    let floor_color = map.or("floor_color", (Color([150, 150, 146]), None), |value| read_color(&value));
    Some(RoomSpec {
        size: size?,
        walls: walls?,
        wall_height: wall_height?,
        wall_thickness: wall_thickness?,
        wall_color: wall_color?.0,
        floor_color: floor_color?.0,
        start: [0.0; 3],
        localisation: LocalisationSpec::default(),
    })
}

fn read_wall(value: &Value<'_>) -> Option<WallSpec> {
    let wall = value.map(|map| {
        let from = map.req("from").and_then(|value| value.numbers::<2>());
        let to = map.req("to").and_then(|value| value.numbers::<2>());
        Some(WallSpec { from: from?, to: to? })
    })?;
    let numbers = wall.from.iter().chain(&wall.to);
    let length = (wall.to[0] - wall.from[0]).hypot(wall.to[1] - wall.from[1]);
    if numbers.clone().any(|number| number.abs() > LONGEST) || length < 0.05 {
        value.report("a wall goes from one place of the room to another");
        return None;
    }
    Some(wall)
}
