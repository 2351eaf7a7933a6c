//! What is remembered, level by level (Affordance RAG IV-A).
//!
//! Level 1 is what can be done with a thing in a view, level 2 the thing in the view ([`Seen`]), level 3 the view ([`Look`] as it
//! comes in, [`View`] as it is kept), levels 4 and 5 zones and areas ([`Area`]), level 6 the building. Beside the paper's levels
//! stands the [`Thing`]: what sightings of one object in many views come to, with what outcomes taught about it.

use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of a view, a sighting, a thing or an area in its store.
pub type Id = i64;

/// What a robot can do with a thing; the paper has the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Take it.
    Pick,
    /// Put something on or in it.
    Place,
    /// Open it.
    Open,
    /// Close it.
    Close,
    /// Press it or one of its buttons.
    Press,
}

/// A name that is no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no action; {} are", Action::ALL.map(|(_, name)| name).join(", "))]
pub struct UnknownAction {
    /// The name.
    pub name: String,
}

impl Action {
    /// Every action with its name on the wire.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Pick, "pick"),
        (Self::Place, "place"),
        (Self::Open, "open"),
        (Self::Close, "close"),
        (Self::Press, "press"),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    /// The action of a name on the wire.
    ///
    /// Errors: [`UnknownAction`], which lists the names.
    pub fn parse(name: &str) -> Result<Self, UnknownAction> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(action, _)| *action).ok_or_else(|| UnknownAction { name: name.to_owned() })
    }
}

/// Farthest from which a view shows what it faces, metres, and the share of the field of view in which that is sure.
const FARTHEST: f64 = 4.0;
const INSIDE: f64 = 0.85;
/// Least share of votes with which a name counts.
const NAMED: f64 = 0.2;

/// An upright box in the frame of the building.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Its middle.
    pub center: [f64; 3],
    /// Full lengths along its own x, y and z.
    pub size: [f64; 3],
    /// Turn about z.
    pub yaw: f64,
}

impl Place {
    /// Height of its top.
    pub fn top(&self) -> f64 {
        self.center[2] + self.size[2] / 2.0
    }

    /// Height of its underside.
    pub fn bottom(&self) -> f64 {
        self.center[2] - self.size[2] / 2.0
    }

    /// Longest side.
    pub fn longest(&self) -> f64 {
        self.size.iter().copied().fold(0.0, f64::max)
    }

    /// How far a place on the floor is outside its outline; 0 above or below it.
    pub fn beside(&self, x: f64, y: f64) -> f64 {
        let (dx, dy) = (x - self.center[0], y - self.center[1]);
        let (sin, cos) = self.yaw.sin_cos();
        let along = (dx * cos + dy * sin).abs() - self.size[0] / 2.0;
        let across = (dy * cos - dx * sin).abs() - self.size[1] / 2.0;
        along.max(0.0).hypot(across.max(0.0))
    }

    /// Distance of its middle from another one's.
    pub fn distance(&self, other: &Self) -> f64 {
        (0..3).map(|axis| (self.center[axis] - other.center[axis]).powi(2)).sum::<f64>().sqrt()
    }

    /// About how far it is from another one, outline to outline; 0 when they overlap.
    pub fn gap(&self, other: &Self) -> f64 {
        let flat = self
            .beside(other.center[0], other.center[1])
            .min(other.beside(self.center[0], self.center[1]))
            .min((self.distance(other) - (self.flat_radius() + other.flat_radius())).max(0.0));
        let over = (self.bottom() - other.top()).max(other.bottom() - self.top()).max(0.0);
        flat.hypot(over)
    }

    fn flat_radius(&self) -> f64 {
        self.size[0].min(self.size[1]) / 2.0
    }

    /// The box around this one and another one, along the axes of this one.
    pub fn with(&self, other: &Self) -> Self {
        let (sin, cos) = self.yaw.sin_cos();
        let inner = |point: [f64; 2]| {
            let (dx, dy) = (point[0] - self.center[0], point[1] - self.center[1]);
            [dx * cos + dy * sin, dy * cos - dx * sin]
        };
        let (other_sin, other_cos) = other.yaw.sin_cos();
        let (mut low, mut high) = ([0, 1].map(|i| -self.size[i] / 2.0), [0, 1].map(|i| self.size[i] / 2.0));
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let (x, y) = (x * other.size[0] / 2.0, y * other.size[1] / 2.0);
            let corner = [
                other.center[0] + x * other_cos - y * other_sin,
                other.center[1] + x * other_sin + y * other_cos,
            ];
            let corner = inner(corner);
            for axis in 0..2 {
                low[axis] = f64::min(low[axis], corner[axis]);
                high[axis] = f64::max(high[axis], corner[axis]);
            }
        }
        let (bottom, top) = (self.bottom().min(other.bottom()), self.top().max(other.top()));
        let middle = [0, 1].map(|axis| (low[axis] + high[axis]) / 2.0);
        Self {
            center: [
                self.center[0] + middle[0] * cos - middle[1] * sin,
                self.center[1] + middle[0] * sin + middle[1] * cos,
                (bottom + top) / 2.0,
            ],
            size: [high[0] - low[0], high[1] - low[1], top - bottom],
            yaw: self.yaw,
        }
    }

    /// Whether every number is one, and no length negative.
    pub fn is_finite(&self) -> bool {
        self.center.iter().chain(&self.size).chain([&self.yaw]).all(|value| value.is_finite())
            && self.size.iter().all(|length| *length >= 0.0)
    }
}

/// One thing as a view shows it (level 2), with what can be done with it (level 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// What the detector called it; may be empty.
    pub name: String,
    /// How sure it was, [0, 1].
    pub score: f64,
    /// Basic colours with their share of its pixels, most first.
    pub colors: Vec<(String, f64)>,
    /// Where it is; what is hidden is not in the box.
    pub place: Place,
    /// Share of the picture that it fills, [0, 1].
    pub share: f64,
    /// Parts that were seen on it.
    pub parts: Vec<String>,
    /// What can be done with it, and how well, [0, 1]: the triplets of the Affordance Proposer.
    pub actions: Vec<(Action, f64)>,
    /// Its key in the robot's map; sightings with one key are of one thing.
    pub key: Option<String>,
    /// A description by a vision-language model; empty without one.
    pub description: String,
}

/// One view as it comes in (level 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The building, whose frame all places are in.
    pub building: String,
    /// Who looked.
    pub robot: String,
    /// When.
    pub taken: f64,
    /// Where the camera was; optical frame.
    pub building_from_camera: Isometry3<f64>,
    /// Half of the camera's field of view across, radians.
    pub half_field: f64,
    /// The picture as PNG or JPEG; may be left out.
    pub picture: Option<Vec<u8>>,
    /// A caption by a model; empty without one.
    pub caption: String,
    /// What is seen.
    pub seen: Vec<Seen>,
    /// Keys of everything in the robot's map now, in view or not: a thing that has one of them is no other thing. A key of an earlier map
    /// says nothing.
    pub present: BTreeSet<String>,
}

/// A view as it is kept (level 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its number.
    pub id: Id,
    /// The building.
    pub building: String,
    /// Who looked.
    pub robot: String,
    /// When.
    pub taken: f64,
    /// Where the camera was: x, y, z.
    pub eye: [f64; 3],
    /// Where it looks, along the floor: x, y; length 1, or 0 straight down.
    pub forward: [f64; 2],
    /// Half of the camera's field of view across, radians.
    pub half_field: f64,
    /// The middle of what is seen; the camera's place when nothing is.
    pub middle: [f64; 3],
    /// What it shows in words.
    pub text: String,
    /// The zone that it belongs to, once there is one.
    pub area: Option<Id>,
    /// `l_s` of the paper: the features of the text, unit length.
    #[serde(skip)]
    pub text_features: Vec<f32>,
    /// `v` of the paper: the features of the picture, unit length.
    #[serde(skip)]
    pub picture_features: Vec<f32>,
}

impl View {
    /// Whether it looks towards a place, from where one sees what is there.
    pub fn faces(&self, place: &Place) -> bool {
        let way = [place.center[0] - self.eye[0], place.center[1] - self.eye[1]];
        let away = way[0].hypot(way[1]);
        let along = way[0] * self.forward[0] + way[1] * self.forward[1];
        away < FARTHEST && along > away * (self.half_field * INSIDE).cos()
    }
}

/// One sighting as it is kept (level 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Its number.
    pub id: Id,
    /// The view.
    pub view: Id,
    /// The thing.
    pub thing: Id,
    /// What was seen.
    pub seen: Seen,
}

/// What became of an action on a thing, by one robot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Times it went well.
    pub done: u32,
    /// Times it failed.
    pub failed: u32,
}

/// A thing of the building: what its sightings come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    /// Its number.
    pub id: Id,
    /// The building.
    pub building: String,
    /// Names with what speaks for each, most first.
    pub votes: Vec<(String, f64)>,
    /// Mean shares of colours, most first.
    pub colors: Vec<(String, f64)>,
    /// A description by a vision-language model; empty without one.
    pub description: String,
    /// Where it was seen last.
    pub place: Place,
    /// Sightings.
    pub count: u32,
    /// When it was seen first.
    pub first_seen: f64,
    /// When it was seen last.
    pub last_seen: f64,
    /// When a look that should have shown it did not; `None` when it was seen since.
    pub missed: Option<f64>,
    /// Parts.
    pub parts: Vec<String>,
    /// What can be done with it, as proposed: mean over sightings.
    pub proposed: BTreeMap<Action, f64>,
    /// What became of it, by action and robot.
    pub tried: BTreeMap<Action, BTreeMap<String, Tally>>,
    /// Keys in the maps of robots, by robot.
    pub keys: BTreeMap<String, String>,
    /// How its parts move, as URDF; empty when nobody has described it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The zone that it belongs to, once there is one.
    pub area: Option<Id>,
    /// The view that shows it best, and the share of the picture that it fills there.
    pub best_view: (Id, f64),
    /// Features of its description, unit length.
    #[serde(skip)]
    pub features: Vec<f32>,
}

impl Thing {
    /// The name that most speaks for; empty when no view named it.
    pub fn name(&self) -> &str {
        self.votes.first().map_or("", |(name, _)| name)
    }

    /// Its names that count, with their share of the votes.
    pub fn names(&self) -> impl Iterator<Item = (&str, f64)> {
        let all: f64 = self.votes.iter().map(|(_, votes)| votes).sum::<f64>().max(1e-9);
        self.votes
            .iter()
            .map(move |(name, votes)| (name.as_str(), votes / all))
            .filter(|(_, share)| *share >= NAMED)
    }

    /// Its name with its first colour, as one says it: `red mug`.
    pub fn words(&self) -> String {
        describe(self.name(), &self.colors, &self.description)
    }
}

/// A thing in words: its colour and name, or what a model called it.
pub fn describe(name: &str, colors: &[(String, f64)], description: &str) -> String {
    if !description.is_empty() {
        return description.to_owned();
    }
    let name = if name.is_empty() { "thing" } else { name };
    match colors.first() {
        Some((color, _)) => format!("{color} {name}"),
        None => name.to_owned(),
    }
}

/// A zone (level 4), an area (level 5) or a whole building (level 6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Its number.
    pub id: Id,
    /// The building.
    pub building: String,
    /// 4, 5 or 6.
    pub level: u8,
    /// The one that holds it; `None` for a building.
    pub parent: Option<Id>,
    /// The kind of room it is, when its furniture tells: `kitchen`.
    pub room: Option<String>,
    /// What is there in words: a model's sentence if there is one, else the rule's list.
    pub summary: String,
    /// The rule's list where a model's sentence stands: the sentence holds as long as this does.
    #[serde(default)]
    pub rule: Option<String>,
    /// Its middle.
    pub center: [f64; 3],
    /// Views in it.
    pub views: u32,
    /// Features of the summary, unit length.
    #[serde(skip)]
    pub features: Vec<f32>,
}

/// Something that was done, or tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The building.
    pub building: String,
    /// Who.
    pub robot: String,
    /// When it ended.
    pub at: f64,
    /// The sentence it belongs to; may be empty.
    pub goal: String,
    /// What was done.
    pub action: Action,
    /// The thing in words, such as `red mug`.
    pub object: String,
    /// Its key in the robot's map; may be empty.
    pub key: String,
    /// Where it was put or what it was done to, in words; may be empty.
    pub target: String,
    /// Whether the verifier saw that it went well.
    pub done: bool,
    /// Why not; empty when it went well.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn place(center: [f64; 3], size: [f64; 3], yaw: f64) -> Place {
        Place { center, size, yaw }
    }

    #[test]
    fn gaps_are_from_outline_to_outline_however_a_box_is_turned() {
        let desk = place([0.0, 0.0, 0.4], [0.6, 1.4, 0.8], 0.0);
        let mug = |x: f64, y: f64, z: f64| place([x, y, z], [0.08, 0.08, 0.1], 0.3);
        assert!(desk.gap(&mug(0.1, 0.5, 0.85)) < 1e-9, "on it");
        assert!((desk.gap(&mug(0.8, 0.0, 0.4)) - 0.46).abs() < 0.05, "beside it");
        let turned = place([0.0, 0.0, 0.4], [0.6, 1.4, 0.8], FRAC_PI_2);
        assert!(turned.beside(0.65, 0.0) < 1e-9 && turned.beside(0.0, 0.65) > 0.3);
        assert!((desk.gap(&mug(0.0, 0.0, 1.85)) - 1.0).abs() < 1e-6, "above it");
    }

    #[test]
    fn a_box_around_two_holds_both() {
        for yaw in [0.0, 0.4, FRAC_PI_2] {
            let one = place([1.0, 2.0, 0.4], [0.6, 1.0, 0.8], yaw);
            let other = place([1.7, 2.3, 0.6], [0.3, 0.3, 0.4], 0.2);
            let both = one.with(&other);
            for inside in [one, other] {
                assert!(both.beside(inside.center[0], inside.center[1]) < 1e-9, "{yaw}");
            }
            assert!((both.top() - 0.8).abs() < 1e-9 && both.bottom().abs() < 1e-9);
            let again = both.with(&other);
            assert!(again.distance(&both) < 1e-9 && (again.longest() - both.longest()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_view_faces_what_is_ahead_and_near() {
        let view = View {
            id: 1,
            building: String::new(),
            robot: String::new(),
            taken: 0.0,
            eye: [0.0, 0.0, 1.2],
            forward: [1.0, 0.0],
            half_field: 0.6,
            middle: [0.0; 3],
            text: String::new(),
            area: None,
            text_features: Vec::new(),
            picture_features: Vec::new(),
        };
        let at = |x: f64, y: f64| place([x, y, 0.8], [0.1; 3], 0.0);
        assert!(view.faces(&at(2.0, 0.5)));
        assert!(!view.faces(&at(-2.0, 0.0)) && !view.faces(&at(1.0, 1.5)) && !view.faces(&at(9.0, 0.0)));
    }
}
