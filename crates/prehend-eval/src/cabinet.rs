//! What the object map makes of a cabinet whose drawers are opened and closed again and again, while the wrist camera looks from the
//! robot's poses and the imperfect detector names what it sees.
//!
//! Each move changes one joint, or moves something that stands before the cabinet; looks follow. Asked for are the drawers of which
//! the looks of that move show at least [`SEEN`] pixels, or [`SEEN_AT_FIRST`]. Nothing but the map is judged: no motion, no sentence.

use crate::watch::{POSES, Watch};
use prehend_perception::MapSettings;
use prehend_scene::{Object, ObjectKey, ObjectMap, furniture, spatial};
use prehend_sim::world::{ArmModel, JointTruth, ObjectTruth};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Pixels of a drawer in one frame from which it is asked for.
pub const SEEN: usize = 800;
/// The same where a map begins anew: an eighth of a closed front from where the robot looks first. Of what shows less, one look tells little.
pub const SEEN_AT_FIRST: usize = 5000;
/// How far a drawer is pulled out, metres: least that is open, and most that is shut.
const STATES: (f64, f64) = (0.05, 0.012);
/// Share of a drawer's height by which the middle of what is in its row may be off.
const IN_ROW: f64 = 0.5;
/// Which cabinet, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A model of `config/objects` with drawers.
    pub model: String,
    /// Changes of the scene.
    pub moves: usize,
    /// Each change begins a new map, and the cabinet stands elsewhere: what a robot makes of it that has just driven there.
    pub fresh: bool,
    /// Seed of everything.
    pub seed: u64,
}

/// How often it was right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Moves.
    pub moves: usize,
    /// Moves after which every drawer that was seen was one object in its row, and no other drawer was on the map.
    pub whole: usize,
    /// Drawers asked for, over all moves.
    pub drawers: usize,
    /// Of them those that are one object of the map.
    pub single: usize,
    /// Drawers that are one object and were one before.
    pub met_again: usize,
    /// Of them those that have the key they had.
    pub same_key: usize,
    /// Drawers that are one object and stand plainly open or shut.
    pub states: usize,
    /// Of them those that the map shows so.
    pub states_right: usize,
    /// Drawers of the map that are none.
    pub extra: usize,
}

impl Figures {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            moves: self.moves + other.moves,
            whole: self.whole + other.whole,
            drawers: self.drawers + other.drawers,
            single: self.single + other.single,
            met_again: self.met_again + other.met_again,
            same_key: self.same_key + other.same_key,
            states: self.states + other.states,
            states_right: self.states_right + other.states_right,
            extra: self.extra + other.extra,
        }
    }
}

/// What stands there now.
struct State {
    joints: BTreeMap<String, f64>,
    things: [[f64; 2]; 3],
    /// Place of the cabinet, metres, and its turn, radians.
    cabinet: [f64; 3],
}

impl State {
    /// Opens, closes or leaves ajar one drawer, or moves one of the things before the cabinet.
    fn change(&mut self, joints: &[JointTruth], rng: &mut ChaCha8Rng) {
        if rng.random_bool(0.7) {
            let joint = &joints[rng.random_range(0..joints.len())];
            let was_open = self.joints.get(&joint.joint).is_some_and(|at| *at > STATES.0);
            let at = match (was_open, rng.random_bool(0.15)) {
                (_, true) => rng.random_range(0.03..0.05),
                (true, _) => rng.random_range(0.0..0.008),
                (false, _) => rng.random_range(0.6..1.0) * joint.limits[1],
            };
            self.joints.insert(joint.joint.clone(), at);
        } else {
            let thing = rng.random_range(0..self.things.len());
            let free = |at: [f64; 2], others: &[[f64; 2]; 3]| {
                let apart = |(number, other): (usize, &[f64; 2])| {
                    number == thing || (other[0] - at[0]).hypot(other[1] - at[1]) > 0.12
                };
                others.iter().enumerate().all(apart)
            };
            for _ in 0..20 {
                let at = [rng.random_range(0.28..0.42), rng.random_range(-0.34..0.34)];
                if free(at, &self.things) {
                    self.things[thing] = at;
                    break;
                }
            }
        }
    }

    fn text(&self, model: &str) -> String {
        let joints: Vec<String> = self.joints.iter().map(|(joint, at)| format!("{joint}: {at:.3}")).collect();
        let [bell, apple, block] = self.things;
        let [x, y, yaw] = self.cabinet;
        let at = |[x, y]: [f64; 2]| format!("pose: {{xy: [{x:.3}, {y:.3}], yaw: 0.0}}");
        format!(
            "name: cabinet
table: {{size: [0.9, 1.2], center: [0.5, 0.0], color: light grey}}
detector: {{preset: imperfect, confusions: {{bell: [bowl], drawer: [box]}}}}
objects:
- {{name: cabinet, model: {model}, joints: {{{}}}, pose: {{xy: [{x:.3}, {y:.3}], yaw: {yaw:.3}}}}}
- {{name: bell, model: desk_bell, {}}}
- {{name: apple, class: apple, shape: sphere, color: [186, 34, 30], size: {{radius: 0.027}}, mass: 0.12, {}}}
- {{name: block, class: block, shape: box, color: blue, size: [0.04, 0.04, 0.04], {}}}
",
            joints.join(", "),
            at(bell),
            at(apple),
            at(block)
        )
    }
}

/// Runs the moves of one seed and judges the map after each. `scenes` is the folder of scene files, beside that of the models.
///
/// Errors: in words, when the model is none of those, has no drawers, or the scene cannot be made.
pub fn measure(
    arm: &ArmModel,
    scenes: &Path,
    map: MapSettings,
    settings: &Settings,
) -> Result<Figures, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let path = scenes.join("cabinet.yaml");
    let mut state = State {
        joints: BTreeMap::new(),
        things: [[0.36, 0.30], [0.33, 0.14], [0.33, -0.14]],
        cabinet: [0.74, 0.0, 0.0],
    };
    let mut watch = Watch::new(arm, &path, settings.seed, map);
    let (_, world) = watch.world(&state.text(&settings.model), &POSES[0].1)?;
    let truth = world.truth();
    let moves_drawer = |joint: &&JointTruth| {
        let moved = truth.objects.iter().find(|object| object.name == joint.entity);
        moved.is_some_and(|object| furniture::is_panel(&object.class))
    };
    let joints: Vec<JointTruth> = truth.mechanisms.iter().filter(moves_drawer).cloned().collect();
    if joints.is_empty() {
        return Err(format!("the model `{}` has no drawers", settings.model));
    }
    let mut figures = Figures { moves: settings.moves, ..Figures::default() };
    let mut keys: BTreeMap<String, ObjectKey> = BTreeMap::new();
    for _ in 0..settings.moves {
        state.change(&joints, &mut rng);
        if settings.fresh {
            watch.forget();
            keys.clear();
            state.cabinet =
                [rng.random_range(0.7..0.8), rng.random_range(-0.1..0.1), rng.random_range(-0.3..0.3)];
        }
        let text = state.text(&settings.model);
        // Who has driven there looks at the fronts first.
        let (first, second) = if settings.fresh { (1, 0) } else { (0, 1) };
        let mut views = vec![first];
        if rng.random_bool(0.5) {
            views.push(second);
        }
        if rng.random_bool(0.25) {
            views.push(rng.random_range(2..POSES.len()));
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut truth = Vec::new();
        for view in views {
            let (name, pose) = &POSES[view];
            let (placed, world) = watch.world(&text, pose)?;
            let drawn = watch.look(&placed, &world, name)?.drawn;
            let panels =
                (1_u16..).zip(world.entities()).filter(|(_, entity)| furniture::is_panel(&entity.class));
            for (label, entity) in panels {
                let pixels = drawn.labels.labels.iter().filter(|other| **other == label).count();
                let most = seen.entry(entity.name.clone()).or_default();
                *most = pixels.max(*most);
            }
            truth = world.truth().objects;
        }
        let least = if settings.fresh { SEEN_AT_FIRST } else { SEEN };
        seen.retain(|_, pixels| *pixels >= least);
        truth.retain(|object| furniture::is_panel(&object.class));
        let out = |drawer: &str| {
            let joint = joints.iter().find(|joint| joint.entity == drawer);
            joint.and_then(|joint| state.joints.get(&joint.joint)).copied().unwrap_or(0.0)
        };
        judge(watch.map(), &truth, &seen, out, &mut keys, &mut figures);
    }
    Ok(figures)
}

/// Holds the map against the drawers that were seen.
fn judge(
    map: &ObjectMap,
    truth: &[ObjectTruth],
    seen: &BTreeMap<String, usize>,
    out: impl Fn(&str) -> f64,
    keys: &mut BTreeMap<String, ObjectKey>,
    figures: &mut Figures,
) {
    let panels = map.objects.iter().filter(|object| furniture::is_panel(&object.class_name));
    // The planner leaves them out too.
    let drawers = furniture::without_pieces(panels.collect());
    let is_in_row = |object: &Object, drawer: &ObjectTruth| {
        let off = (spatial::centre(object).z - drawer.position[2]).abs();
        off < IN_ROW * 2.0 * drawer.half_extents[2]
    };
    let extra = drawers.iter().filter(|object| !truth.iter().any(|drawer| is_in_row(object, drawer))).count();
    figures.extra += extra;
    let mut whole = extra == 0;
    for drawer in truth.iter().filter(|drawer| seen.contains_key(&drawer.name)) {
        figures.drawers += 1;
        let found: Vec<&Object> =
            drawers.iter().copied().filter(|object| is_in_row(object, drawer)).collect();
        let [object] = found.as_slice() else {
            whole = false;
            continue;
        };
        figures.single += 1;
        if let Some(was) = keys.insert(drawer.name.clone(), object.key.clone()) {
            figures.met_again += 1;
            figures.same_key += usize::from(was == object.key);
        }
        let at = out(&drawer.name);
        if at > STATES.0 || at < STATES.1 {
            figures.states += 1;
            let shown = furniture::opening(object, map).map(|opening| opening.is_open());
            figures.states_right += usize::from(shown == Some(at > STATES.0));
        }
    }
    figures.whole += usize::from(whole);
}
