//! Where things stand: drawn one after the other, the largest first, without overlap.

use super::{HEIGHT, PITCH, Settings, TABLE, things};
use crate::scenario::catalogue::Item;
use nalgebra::{Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3};
use prehend_geometry::OrientedBox;
use prehend_geometry::upright::convex_hull;
use prehend_sim::body::{ConvexPart, object_parts};
use prehend_sim::scene::{Color, named_color};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{FRAC_PI_2, PI};

/// Least gap of two things that do not stand against each other, metres.
const GAP: f64 = 0.008;
/// Gap of two things that stand against each other, metres.
const CONTACT: f64 = 0.001;
/// Share of things that are put against another one where that is possible.
const TOUCHING: f64 = 0.3;
/// Least distance of a thing from the edge of its table, metres.
const MARGIN: f64 = 0.02;
/// Places tried for a thing, and layouts for a table.
const DRAWS: usize = 300;
const LAYOUTS: u64 = 20;

/// A thing that stands on a table.
#[derive(Clone, Debug)]
pub struct Thing {
    /// Unique name, class and number.
    pub name: String,
    /// What it is.
    pub class: String,
    /// Index of its table.
    pub table: usize,
    /// `map_from_thing`.
    pub pose: Isometry3<f64>,
    /// Its surface, in its own frame.
    pub parts: Vec<ConvexPart>,
    /// Upright box of least footprint around it, map frame.
    pub bounds: OrientedBox,
}

/// Everything that stands there.
#[derive(Clone, Debug)]
pub struct Clutter {
    /// Middles of the table tops, map frame.
    pub tables: Vec<Point3<f64>>,
    /// Things; those of one table follow each other.
    pub things: Vec<Thing>,
}

/// A table on which the things do not find room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{objects} things do not find room on one table with seed {seed}; ask for fewer to a table, or another seed"
)]
pub struct NoRoom {
    /// Things for the table.
    pub objects: usize,
    /// The seed.
    pub seed: u64,
}

impl Clutter {
    /// Draws tables and things.
    ///
    /// Errors: [`NoRoom`] when none of 20 layouts of a table succeeds.
    pub fn new(settings: &Settings) -> Result<Self, NoRoom> {
        let per_table = settings.per_table.max(1);
        let count = settings.objects.div_ceil(per_table);
        let across = (count as f64).sqrt().ceil().max(1.0) as usize;
        let mut clutter = Self { tables: Vec::new(), things: Vec::new() };
        for table in 0..count {
            let middle =
                Point3::new((table % across) as f64 * PITCH, (table / across) as f64 * PITCH, HEIGHT);
            let objects = per_table.min(settings.objects - table * per_table);
            let seed = settings.seed;
            let placed = (0..LAYOUTS)
                .find_map(|layout| {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    rng.set_stream(table as u64 * LAYOUTS + layout);
                    lay_out(&mut rng, objects)
                })
                .ok_or(NoRoom { objects, seed })?;
            clutter.tables.push(middle);
            for place in placed {
                let number = clutter.things.len();
                clutter.things.push(place.thing(number, table, &middle));
            }
        }
        Ok(clutter)
    }
}

/// A thing on a table top whose middle is the origin.
struct Place {
    item: Item,
    pose: Isometry3<f64>,
    parts: Vec<ConvexPart>,
    /// Hull of what it covers.
    outline: Vec<Point2<f64>>,
}

impl Place {
    /// The thing at the origin, turned by `yaw`, resting on z = 0.
    fn new(item: Item, yaw: f64) -> Self {
        let color = named_color(item.color).unwrap_or(Color([128; 3]));
        let parts = object_parts(&item.shape, color, None);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
        let tip = if item.class.lying { FRAC_PI_2 } else { 0.0 };
        let turn = turn * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tip);
        let mut pose = Isometry3::from_parts(Translation3::identity(), turn);
        let points = surface(&parts, &pose);
        pose.translation.z = -points.iter().map(|point| point.z).fold(f64::INFINITY, f64::min);
        let outline = convex_hull(&points.iter().map(|point| point.xy()).collect::<Vec<_>>());
        Self { item, pose, parts, outline }
    }

    fn moved(&self, to: Vector2<f64>) -> Vec<Point2<f64>> {
        self.outline.iter().map(|point| point + to).collect()
    }

    fn area(&self) -> f64 {
        let corners = || self.outline.iter().zip(self.outline.iter().cycle().skip(1));
        corners().map(|(a, b)| a.coords.perp(&b.coords)).sum::<f64>() / 2.0
    }

    fn thing(self, number: usize, table: usize, middle: &Point3<f64>) -> Thing {
        let class = self.item.class.noun.to_owned();
        let mut pose = self.pose;
        pose.translation.vector += middle.coords;
        let points = surface(&self.parts, &pose);
        // Every shape has a surface of finite points.
        let bounds =
            OrientedBox::upright_around(&points).unwrap_or(OrientedBox { pose, size: Vector3::zeros() });
        Thing { name: format!("{class} {number}"), class, table, pose, parts: self.parts, bounds }
    }
}

/// Corners of all parts.
pub(crate) fn surface(parts: &[ConvexPart], pose: &Isometry3<f64>) -> Vec<Point3<f64>> {
    let corners = |part: &ConvexPart| {
        let place = pose * part.body_from_part;
        part.shape.mesh().vertices.into_iter().map(move |vertex| place * vertex).collect::<Vec<_>>()
    };
    parts.iter().filter(|part| !part.only_seen).flat_map(corners).collect()
}

/// Things on one table; `None` when one finds no room.
fn lay_out(rng: &mut ChaCha8Rng, objects: usize) -> Option<Vec<Place>> {
    let mut waiting: Vec<Place> = (0..objects)
        .map(|_| {
            let item = things::any(rng);
            Place::new(item, rng.random_range(-PI..PI))
        })
        .collect();
    waiting.sort_by(|a, b| b.area().total_cmp(&a.area()));
    let mut placed: Vec<Place> = Vec::new();
    for mut place in waiting {
        let to = (0..DRAWS).find_map(|draw| {
            let against = !placed.is_empty() && draw * 2 < DRAWS && rng.random_bool(TOUCHING);
            let (to, neighbour) = if against {
                let number = rng.random_range(0..placed.len());
                (beside(&place, &placed[number], rng.random_range(-PI..PI)), Some(number))
            } else {
                let half = TABLE.map(|side| side / 2.0);
                let to =
                    Vector2::new(rng.random_range(-half[0]..half[0]), rng.random_range(-half[1]..half[1]));
                (to, None)
            };
            let outline = place.moved(to);
            let is_free = |(number, other): (usize, &Place)| {
                let least = if neighbour == Some(number) { CONTACT / 2.0 } else { GAP };
                gap(&outline, &other.outline) >= least
            };
            (is_on_table(&outline) && placed.iter().enumerate().all(is_free)).then_some(to)
        })?;
        place.outline = place.moved(to);
        place.pose.translation.vector += Vector3::new(to.x, to.y, 0.0);
        placed.push(place);
    }
    Some(placed)
}

/// How far to move a thing so that it stands against another one, on the side of this direction.
fn beside(place: &Place, other: &Place, direction: f64) -> Vector2<f64> {
    let middle = other.pose.translation.vector.xy();
    let ahead = Vector2::new(direction.cos(), direction.sin());
    let (mut near, mut far) = (0.0, TABLE[0]);
    for _ in 0..24 {
        let half = (near + far) / 2.0;
        let apart = gap(&place.moved(middle + ahead * half), &other.outline);
        *(if apart < CONTACT { &mut near } else { &mut far }) = half;
    }
    middle + ahead * far
}

fn is_on_table(outline: &[Point2<f64>]) -> bool {
    let fits = |place: f64, side: f64| place.abs() <= side / 2.0 - MARGIN;
    outline.iter().all(|point| fits(point.x, TABLE[0]) && fits(point.y, TABLE[1]))
}

/// Greatest distance of two convex outlines across a side of one of them, metres; negative when they overlap. Their true distance is
/// no less.
pub(super) fn gap(a: &[Point2<f64>], b: &[Point2<f64>]) -> f64 {
    let across = |a: &[Point2<f64>], b: &[Point2<f64>]| {
        let sides = a.iter().zip(a.iter().cycle().skip(1));
        sides
            .filter_map(|(from, to)| {
                let out = Vector2::new(to.y - from.y, from.x - to.x).try_normalize(1e-9)?;
                Some(b.iter().map(|point| out.dot(&(point - from))).fold(f64::INFINITY, f64::min))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    };
    across(a, b).max(across(b, a))
}
