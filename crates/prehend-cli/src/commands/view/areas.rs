//! Areas of the building that the memory knows, read from its store.

use nalgebra::Point3;
use prehend_memory::StoreError;
use prehend_memory::record::{Area as Remembered, Thing, View};
use prehend_memory::store::{self, Store};
use prehend_viewer::Area;
use std::path::Path;

/// Level of the areas that are shown; those below it are parts of them, the one above is the building.
const SHOWN: u8 = 5;
/// Least width and depth of an area, metres: one whose only view shows nothing is a place.
const LEAST: f64 = 0.6;
/// Most letters of a name.
const LETTERS: usize = 28;

/// The areas of a building; without a name, of the only one there is.
///
/// Errors: why there are none, in words.
pub(super) fn read(address: &str, building: Option<&str>) -> Result<Vec<Area>, String> {
    if !address.starts_with("postgres") && !Path::new(address).exists() {
        return Err(format!("there is no memory {address}"));
    }
    let told = |error: StoreError| error.to_string();
    let mut store = store::open(address).map_err(told)?;
    let building = match building {
        Some(building) => building.to_owned(),
        None => {
            let all: Vec<String> =
                store.buildings().map_err(told)?.into_iter().map(|area| area.building).collect();
            match all.as_slice() {
                [] => return Ok(Vec::new()),
                [only] => only.clone(),
                several => {
                    return Err(format!("say which building is shown: --building {}", several.join(" | ")));
                }
            }
        }
    };
    areas(&mut *store, &building).map_err(told)
}

fn areas(store: &mut dyn Store, building: &str) -> Result<Vec<Area>, StoreError> {
    let (all, things) = (store.areas_of(building)?, store.things_of(building)?);
    let views = store.views_of(building)?;
    Ok(all
        .iter()
        .filter(|area| area.level == SHOWN)
        .filter_map(|area| shown(area, &all, &things, &views))
        .collect())
}

/// An area as the rectangle around what is in it and from where it was seen.
fn shown(area: &Remembered, all: &[Remembered], things: &[Thing], views: &[View]) -> Option<Area> {
    let is_in = |zone: Option<i64>| {
        let of = |known: &&Remembered| {
            Some(known.id) == zone && (known.id == area.id || known.parent == Some(area.id))
        };
        all.iter().any(|known| of(&known))
    };
    let seen = things.iter().filter(|thing| is_in(thing.area) && thing.place.is_finite()).flat_map(|thing| {
        let place = &thing.place;
        let (sin, cos) = place.yaw.sin_cos();
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(x, y)| {
            let (x, y) = (x * place.size[0] / 2.0, y * place.size[1] / 2.0);
            [place.center[0] + x * cos - y * sin, place.center[1] + x * sin + y * cos]
        })
    });
    let from = views.iter().filter(|view| is_in(view.area)).map(|view| [view.eye[0], view.eye[1]]);
    let places = seen.chain(from).filter(|place| place.iter().all(|number| number.is_finite()));
    let (low, high) = places.map(|place| (place, place)).reduce(|(low, high), (least, most)| {
        (
            [0, 1].map(|axis| f64::min(low[axis], least[axis])),
            [0, 1].map(|axis| f64::max(high[axis], most[axis])),
        )
    })?;
    let grown = |axis: usize| {
        let more = ((LEAST - (high[axis] - low[axis])) / 2.0).max(0.0);
        (low[axis] - more, high[axis] + more)
    };
    let ((x0, x1), (y0, y1)) = (grown(0), grown(1));
    let outline = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(|[x, y]| Point3::new(x, y, 0.0)).to_vec();
    Some(Area { name: name(area), outline })
}

/// The kind of room, or the beginning of what is there.
fn name(area: &Remembered) -> String {
    let words = area.room.clone().unwrap_or_else(|| area.summary.clone());
    if words.chars().count() <= LETTERS {
        return words;
    }
    let short: String = words.chars().take(LETTERS - 1).collect();
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_memory::record::Place;

    fn area(id: i64, level: u8, parent: Option<i64>, room: Option<&str>) -> Remembered {
        Remembered {
            id,
            building: "home".to_owned(),
            level,
            parent,
            room: room.map(str::to_owned),
            summary: "a sink, a stove, a fridge and many other things".to_owned(),
            rule: None,
            center: [0.0; 3],
            views: 1,
            features: Vec::new(),
        }
    }

    fn view(zone: i64, eye: [f64; 3]) -> View {
        View {
            id: 1,
            building: "home".to_owned(),
            robot: String::new(),
            taken: 0.0,
            eye,
            forward: [1.0, 0.0],
            half_field: 0.5,
            middle: eye,
            text: String::new(),
            area: Some(zone),
            text_features: Vec::new(),
            picture_features: Vec::new(),
        }
    }

    fn thing(zone: i64, center: [f64; 3], yaw: f64) -> Thing {
        Thing {
            id: 1,
            building: "home".to_owned(),
            votes: Vec::new(),
            colors: Vec::new(),
            description: String::new(),
            place: Place { center, size: [2.0, 1.0, 0.5], yaw },
            count: 1,
            first_seen: 0.0,
            last_seen: 0.0,
            missed: None,
            parts: Vec::new(),
            proposed: Default::default(),
            tried: Default::default(),
            keys: Default::default(),
            model: String::new(),
            area: Some(zone),
            best_view: (1, 0.5),
            features: Vec::new(),
        }
    }

    #[test]
    fn an_area_goes_around_what_is_in_its_zones_and_from_where_it_was_seen() {
        let all = [
            area(10, 5, Some(99), Some("kitchen")),
            area(11, 5, Some(99), None),
            area(1, 4, Some(10), None),
            area(2, 4, Some(11), None),
        ];
        let things = [
            thing(1, [3.0, 0.0, 0.4], std::f64::consts::FRAC_PI_2),
            thing(2, [9.0, 9.0, 0.4], 0.0),
            thing(1, [f64::NAN, 0.0, 0.4], 0.0),
        ];
        let views = [view(1, [1.0, 0.5, 1.0]), view(2, [9.0, 9.0, 1.0])];
        let kitchen = shown(&all[0], &all, &things, &views).expect("an area");
        assert_eq!(kitchen.name, "kitchen");
        let ends = |axis: usize| {
            let values = kitchen.outline.iter().map(|corner| corner[axis]);
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
        };
        assert!((ends(0).0 - 1.0).abs() < 1e-9 && (ends(0).1 - 3.5).abs() < 1e-9, "{:?}", ends(0));
        assert!((ends(1).0 + 1.0).abs() < 1e-9 && (ends(1).1 - 1.0).abs() < 1e-9, "{:?}", ends(1));
        let other = shown(&all[1], &all, &things, &views).expect("an area");
        assert_eq!(other.name, "a sink, a stove, a fridge a…");
        assert_eq!(shown(&all[0], &all, &[], &[]), None, "nothing is known of where it is");
    }

    #[test]
    fn a_memory_that_is_not_there_is_told() {
        assert_eq!(read("no/such.db", None), Err("there is no memory no/such.db".to_owned()));
    }
}
