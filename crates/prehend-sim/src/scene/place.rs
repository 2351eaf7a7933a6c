//! Everything random of a scene, drawn from a seed: where each object stands.

mod solid;

pub(super) use solid::Solid;
use solid::lying_rotation;

use super::shape::Hollow;
use super::{ObjectSpec, Placement, Scene, Support};
use crate::body::ConvexPart;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use solid::Footprint;
use std::f64::consts::PI;

/// Gap between a thing and what carries it, metres: two contact skins.
pub(super) const REST_GAP: f64 = 0.001;
/// Nearest and farthest horizontal distance from `link_base` at which random objects are placed, metres.
const REACH: [f64; 2] = [0.30, 0.62];
/// Gap between randomly placed objects: aimed at first, and accepted at last, metres.
const GAP: [f64; 2] = [0.040, 0.012];
/// Draws for one object.
const DRAWS: usize = 300;
/// Whole layouts tried before a scene is called full.
const LAYOUTS: usize = 40;

/// A scene in which every object has a pose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacedScene {
    /// The scene it came from.
    pub scene: Scene,
    /// Seed it was drawn with.
    pub seed: u64,
    /// Objects in the order of the scene.
    pub objects: Vec<PlacedObject>,
}

/// An object and where it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacedObject {
    /// What it is.
    pub spec: ObjectSpec,
    /// `base_from_object`.
    pub pose: Isometry3<f64>,
}

impl PlacedObject {
    /// Its parts, in its own frame.
    pub fn parts(&self) -> Vec<ConvexPart> {
        self.spec.parts()
    }
}

/// A scene that cannot be laid out with this seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// No free place was found in an object's region.
    #[error("no room for `{object}` in its region: make the region larger or the scene emptier")]
    NoRoom {
        /// The object.
        object: String,
    },
    /// Two objects with given places touch.
    #[error("`{object}` overlaps `{other}`")]
    Overlap {
        /// The later object.
        object: String,
        /// The earlier one.
        other: String,
    },
    /// An object is said to be carried by one that is not there, directly or in a circle.
    #[error("`{object}` is carried by `{by}`, which stands nowhere")]
    NoSupport {
        /// The object.
        object: String,
        /// What should carry it.
        by: String,
    },
    /// The sizes drawn for a model do not go together.
    #[error("`{object}` cannot be made with the sizes drawn for it: {findings}")]
    Model {
        /// The object.
        object: String,
        /// What is wrong.
        findings: String,
    },
}

impl Scene {
    /// Places every object: given poses first, then regions in file order, then what stands on or in others.
    ///
    /// The same scene and seed give the same poses. Errors: [`PlaceError`] when 40 layouts were tried in vain.
    pub fn instantiate(&self, seed: u64) -> Result<PlacedScene, PlaceError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut last = None;
        for _ in 0..LAYOUTS {
            let drawn = self.drawn(&mut rng)?;
            match drawn.layout(&mut rng) {
                Ok(solids) => {
                    let objects = drawn
                        .objects
                        .iter()
                        .zip(solids)
                        .map(|(spec, solid)| PlacedObject { spec: spec.clone(), pose: solid.pose })
                        .collect();
                    return Ok(PlacedScene { scene: self.clone(), seed, objects });
                }
                Err(error) => last = Some(error),
            }
        }
        // LAYOUTS is positive, so there is a last error unless every layout succeeded.
        Err(last.unwrap_or(PlaceError::NoRoom { object: self.name.clone() }))
    }

    /// The scene with the random sizes of its models drawn.
    fn drawn(&self, rng: &mut ChaCha8Rng) -> Result<Self, PlaceError> {
        let mut scene = self.clone();
        for object in &mut scene.objects {
            if let Some(template) = object.template.clone() {
                *object = template.draw(rng).map_err(|findings| PlaceError::Model {
                    object: object.name.clone(),
                    findings: findings.to_string(),
                })?;
            }
        }
        Ok(scene)
    }

    fn layout(&self, rng: &mut ChaCha8Rng) -> Result<Vec<Solid>, PlaceError> {
        let mut placed: Vec<Option<Solid>> = vec![None; self.objects.len()];
        for (index, object) in self.objects.iter().enumerate() {
            if let Placement::Pose(_) | Placement::Standing { .. } = object.placement {
                placed[index] = Some(self.place_given(object, &placed, rng)?);
            }
        }
        for (index, object) in self.objects.iter().enumerate() {
            if let Placement::Region { x, y, yaw, lying } = &object.placement {
                placed[index] = Some(self.place_in_region(object, (*x, *y), *yaw, *lying, &placed, rng)?);
            }
        }
        // Each round places what stands on something already placed; a round without progress is a circle.
        loop {
            let mut progress = false;
            let mut waiting = None;
            for (index, object) in self.objects.iter().enumerate() {
                let (Placement::Supported { by, .. } | Placement::Surface { by, .. }) = &object.placement
                else {
                    continue;
                };
                if placed[index].is_some() {
                    continue;
                }
                let carrier = self.carrier(by);
                let carrier =
                    carrier.and_then(|(at, link)| Some((&self.objects[at], placed[at].clone()?, link)));
                let Some((carrier, solid, link)) = carrier else {
                    waiting = Some(PlaceError::NoSupport { object: object.name.clone(), by: by.clone() });
                    continue;
                };
                placed[index] = Some(match &object.placement {
                    Placement::Supported { support, offset, yaw, lying, .. } => {
                        let yaw = yaw.unwrap_or_else(|| rng.random_range(-PI..PI));
                        let turn = orientation(yaw, *lying);
                        if *support == Support::In && carrier.is_roofed(link) {
                            let inside =
                                carrier.hollow(link).map(|(pose, hollow)| (solid.pose * pose, hollow));
                            inside
                                .and_then(|inside| lay(object, inside, *offset, turn, &placed))
                                .ok_or_else(|| PlaceError::NoRoom { object: object.name.clone() })?
                        } else {
                            stack(object, (carrier, &solid), *support, *offset, turn, &placed)
                        }
                    }
                    _ => self.place_on_surface(object, &solid, &placed, rng)?,
                });
                progress = true;
            }
            match (waiting, progress) {
                (None, _) => break,
                (Some(error), false) => return Err(error),
                (Some(_), true) => {}
            }
        }
        Ok(placed.into_iter().flatten().collect())
    }

    fn place_given(
        &self,
        object: &ObjectSpec,
        placed: &[Option<Solid>],
        rng: &mut ChaCha8Rng,
    ) -> Result<Solid, PlaceError> {
        let mut overlap = None;
        for _ in 0..60 {
            let (solid, drawn) = match &object.placement {
                Placement::Standing { x, y, yaw, lying } => {
                    let drawn = yaw.is_none();
                    let yaw = yaw.unwrap_or_else(|| rng.random_range(-PI..PI));
                    (Solid::standing(object, *x, *y, self.table.height, orientation(yaw, *lying)), drawn)
                }
                Placement::Pose(pose) => (Solid::new(object, *pose), false),
                Placement::Region { .. } | Placement::Surface { .. } | Placement::Supported { .. } => {
                    continue;
                }
            };
            match self.objects.iter().zip(placed).find(|(_, other)| touches(&solid, other)) {
                None => return Ok(solid),
                Some((other, _)) => {
                    overlap = Some(other.name.clone());
                    if !drawn {
                        break;
                    }
                }
            }
        }
        let other = overlap.unwrap_or_default();
        Err(PlaceError::Overlap { object: object.name.clone(), other })
    }

    fn place_in_region(
        &self,
        object: &ObjectSpec,
        (x, y): ([f64; 2], [f64; 2]),
        yaw: Option<f64>,
        lying: bool,
        placed: &[Option<Solid>],
        rng: &mut ChaCha8Rng,
    ) -> Result<Solid, PlaceError> {
        let furniture: Vec<Solid> = self.furniture.iter().map(Solid::furniture).collect();
        for draw in 0..DRAWS {
            let px = rng.random_range(x[0]..=x[1]);
            let py = rng.random_range(y[0]..=y[1]);
            let yaw = yaw.unwrap_or_else(|| rng.random_range(-PI..PI));
            let reach = px.hypot(py);
            if self.room.is_none() && !(REACH[0]..=REACH[1]).contains(&reach) {
                continue;
            }
            let gap = GAP[0] + (GAP[1] - GAP[0]) * draw as f64 / DRAWS as f64;
            let solid = Solid::standing(object, px, py, self.table.height, orientation(yaw, lying));
            let footprint = Footprint::of(&solid);
            let on_table = footprint.corners().iter().all(|[cx, cy]| self.table.holds(*cx, *cy, 0.005));
            let free = placed
                .iter()
                .flatten()
                .chain(&furniture)
                .all(|other| Footprint::of(other).gap(&footprint) >= gap || solid.above(other));
            if on_table && free {
                return Ok(solid);
            }
        }
        Err(PlaceError::NoRoom { object: object.name.clone() })
    }
}

impl Scene {
    /// Somewhere in a rectangle of what carries it, lowered until it touches, clear of everything else there.
    fn place_on_surface(
        &self,
        object: &ObjectSpec,
        carrier: &Solid,
        placed: &[Option<Solid>],
        rng: &mut ChaCha8Rng,
    ) -> Result<Solid, PlaceError> {
        let Placement::Surface { x, y, z, yaw, lying, .. } = &object.placement else {
            return Err(PlaceError::NoRoom { object: object.name.clone() });
        };
        for draw in 0..DRAWS {
            let local = nalgebra::Point3::new(
                rng.random_range(x[0]..=x[1]),
                rng.random_range(y[0]..=y[1]),
                z.unwrap_or(0.0),
            );
            let yaw = yaw.unwrap_or_else(|| rng.random_range(-PI..PI));
            let at = carrier.pose * local;
            let height = if z.is_some() { at.z } else { carrier.top() };
            let start = Solid::standing(object, at.x, at.y, height + REST_GAP, orientation(yaw, *lying));
            if placed.iter().any(|other| touches(&start, other)) {
                continue;
            }
            let solid = lower(start, placed);
            let mut below = solid.clone();
            below.pose.translation.z -= 0.001;
            if !below.intersects(carrier) {
                continue;
            }
            let gap = GAP[0] + (GAP[1] - GAP[0]) * draw as f64 / DRAWS as f64;
            let footprint = Footprint::of(&solid);
            let is_carrier = |other: &Solid| other.pose == carrier.pose;
            let free = placed
                .iter()
                .flatten()
                .filter(|other| !is_carrier(other))
                .all(|other| solid.above(other) || Footprint::of(other).gap(&footprint) >= gap);
            if free {
                return Ok(solid);
            }
        }
        Err(PlaceError::NoRoom { object: object.name.clone() })
    }
}

fn touches(solid: &Solid, other: &Option<Solid>) -> bool {
    other.as_ref().is_some_and(|other| other.intersects(solid))
}

/// Upright or on its side, then turned about z.
pub(super) fn orientation(yaw: f64, lying: bool) -> UnitQuaternion<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
    if lying { turn * lying_rotation() } else { turn }
}

/// Lowers the object onto its carrier at the given offset, or where it comes to lie lowest.
fn stack(
    object: &ObjectSpec,
    (carrier, solid): (&ObjectSpec, &Solid),
    support: Support,
    offset: Option<[f64; 2]>,
    turn: UnitQuaternion<f64>,
    placed: &[Option<Solid>],
) -> Solid {
    let spread = match support {
        Support::In => carrier.shape.hollow().map_or([0.0; 2], |hollow| hollow.half),
        Support::On => {
            let half = carrier.shape.half_extents();
            [half.x, half.y]
        }
    };
    let tried: Vec<[f64; 2]> = match offset {
        Some(offset) => vec![offset],
        None => offsets(spread, object),
    };
    let center = solid.pose.translation.vector;
    let candidates = tried.into_iter().map(|[dx, dy]| {
        let start = solid.top() + REST_GAP;
        lower(Solid::standing(object, center.x + dx, center.y + dy, start, turn), placed)
    });
    let mut best: Option<Solid> = None;
    for candidate in candidates {
        let lower_than_best =
            best.as_ref().is_none_or(|best| candidate.pose.translation.z < best.pose.translation.z - 0.004);
        if lower_than_best {
            best = Some(candidate);
        }
    }
    best.unwrap_or_else(|| Solid::standing(object, center.x, center.y, solid.top(), turn))
}

/// On the floor of a hollow (`base_from_hollow`), which may have a roof; `None` when everywhere something is in the way.
fn lay(
    object: &ObjectSpec,
    (inside, hollow): (Isometry3<f64>, Hollow),
    offset: Option<[f64; 2]>,
    turn: UnitQuaternion<f64>,
    placed: &[Option<Solid>],
) -> Option<Solid> {
    let floor = (inside * Point3::new(0.0, 0.0, hollow.floor)).z;
    let tried = match offset {
        Some(offset) => vec![offset],
        None => offsets(hollow.half, object),
    };
    tried.into_iter().find_map(|[dx, dy]| {
        let center = inside.translation.vector;
        let solid = Solid::standing(object, center.x + dx, center.y + dy, floor, turn);
        placed.iter().all(|other| !touches(&solid, other)).then_some(solid)
    })
}

/// The middle and eight places around it, metres, at which an object is tried on or in something of half lengths `half`.
fn offsets(half: [f64; 2], object: &ObjectSpec) -> Vec<[f64; 2]> {
    let own = object.shape.half_extents();
    let room = [(half[0] - own.x).max(0.0) * 0.7, (half[1] - own.y).max(0.0) * 0.7];
    let around = (0..8).map(|k| {
        let angle = std::f64::consts::TAU * f64::from(k) / 8.0;
        [room[0] * angle.cos(), room[1] * angle.sin()]
    });
    std::iter::once([0.0, 0.0]).chain(around).collect()
}

/// Lowers a solid in steps of a millimetre until the next would touch, at most 0.3 m.
fn lower(mut solid: Solid, placed: &[Option<Solid>]) -> Solid {
    for _ in 0..300 {
        let mut next = solid.clone();
        next.pose.translation.z -= 0.001;
        if placed.iter().any(|other| touches(&next, other)) {
            break;
        }
        solid = next;
    }
    solid
}
