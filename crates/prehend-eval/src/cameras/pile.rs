//! Things that are let down one after the other where they come to rest: on the table, against one another, in, on and partly over one
//! another.

use crate::clutter::{Thing, any_item, surface};
use crate::scenario::catalogue::Item;
use nalgebra::{Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3};
use prehend_geometry::OrientedBox;
use prehend_geometry::upright::{convex_hull, is_inside};
use prehend_sim::body::{ConvexPart, object_parts};
use prehend_sim::scene::{Color, named_color};
use rand::{Rng, RngExt};
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI};

/// Side of the cells in which heights are kept, metres.
const CELL: f64 = 0.003;
/// How far above what it rests on a point of a thing still carries it, metres.
const CONTACT: f64 = 0.002;
/// Fewest and most things.
const COUNT: std::ops::Range<usize> = 5..16;
/// Places tried for a thing.
const DRAWS: usize = 60;
/// Share of things that are let down over another one.
const OVER: f64 = 0.35;
/// Share of the others that are pushed against one.
const AGAINST: f64 = 0.4;
/// Shares of things that have the colour of another one, and that are the same as another one.
const SAME_COLOR: f64 = 0.2;
const SAME: f64 = 0.2;
/// Share of things that lie on a side.
const TIPPED: f64 = 0.3;

type Cell = [i32; 2];

/// A thing at its place; the table's top is z = 0.
struct Laid {
    item: Item,
    pose: Isometry3<f64>,
    parts: Vec<ConvexPart>,
}

/// Things on a table.
pub struct Pile {
    laid: Vec<Laid>,
}

impl Pile {
    /// Draws things within a distance of the middle, metres; those that find no place are left out.
    pub fn draw(rng: &mut impl Rng, spread: f64) -> Self {
        let mut tops: HashMap<Cell, f64> = HashMap::new();
        let mut laid: Vec<Laid> = Vec::new();
        for _ in 0..rng.random_range(COUNT) {
            let mut item = any_item(rng);
            if !laid.is_empty() {
                let other = &laid[rng.random_range(0..laid.len())].item;
                if rng.random_bool(SAME) {
                    item = Item { color: item.color, ..other.clone() };
                }
                if rng.random_bool(SAME_COLOR) {
                    item.color = other.color;
                }
            }
            let color = named_color(item.color).unwrap_or(Color([128; 3]));
            let parts = object_parts(&item.shape, color, None);
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), rng.random_range(-PI..PI));
            let is_tipped = item.class.lying || rng.random_bool(TIPPED);
            let tip = if is_tipped { FRAC_PI_2 } else { 0.0 };
            let turn = turn * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tip);
            let is_over = !laid.is_empty() && rng.random_bool(OVER);
            let is_against = !is_over && !laid.is_empty() && rng.random_bool(AGAINST);
            let own = span(&parts, &Isometry3::from_parts(Translation3::identity(), turn));
            // Places are whole cells, so that what it covers is the same everywhere.
            let at = |to: Vector2<f64>| {
                let by = to.map(|part| (part / CELL).round() as i32);
                let height = rest(&own, by, &tops, is_over)?;
                let place = by.map(|cells| f64::from(cells) * CELL);
                Some((Isometry3::from_parts(Translation3::new(place.x, place.y, height), turn), by, height))
            };
            let place = (0..DRAWS).find_map(|_| {
                let mut beside = |reach: f64| {
                    Vector2::new(rng.random_range(-reach..reach), rng.random_range(-reach..reach))
                };
                if !is_over && !is_against {
                    return at(beside(spread));
                }
                let (away, turn) = (beside(0.04), beside(PI).x);
                let other = laid[rng.random_range(0..laid.len())].pose.translation.vector.xy();
                if is_over {
                    return at(other + away);
                }
                // Outwards until there is room.
                let ahead = Vector2::new(turn.cos(), turn.sin());
                (2..60).find_map(|step| at(other + ahead * (f64::from(step) * CELL)))
            });
            let Some((pose, by, height)) = place else { continue };
            for (cell, (_, top)) in own {
                let known = tops.entry([cell[0] + by.x, cell[1] + by.y]).or_insert(0.0);
                *known = known.max(top + height);
            }
            laid.push(Laid { item, pose, parts });
        }
        Self { laid }
    }

    /// The things on a table whose top has its middle here.
    pub fn things(self, middle: &Point3<f64>) -> Vec<Thing> {
        let thing = |(number, laid): (usize, Laid)| {
            let mut pose = laid.pose;
            pose.translation.vector += middle.coords;
            let class = laid.item.class.noun.to_owned();
            let points = surface(&laid.parts, &pose);
            let bounds =
                OrientedBox::upright_around(&points).unwrap_or(OrientedBox { pose, size: Vector3::zeros() });
            Thing { name: format!("{class} {number}"), class, table: 0, pose, parts: laid.parts, bounds }
        };
        self.laid.into_iter().enumerate().map(thing).collect()
    }
}

/// The lowest and highest point of a thing in each cell that it covers.
fn span(parts: &[ConvexPart], pose: &Isometry3<f64>) -> HashMap<Cell, (f64, f64)> {
    let mut span: HashMap<Cell, (f64, f64)> = HashMap::new();
    for part in parts.iter().filter(|part| !part.only_seen) {
        let place = pose * part.body_from_part;
        let mesh = part.shape.mesh();
        let corners: Vec<Point3<f64>> = mesh.vertices.iter().map(|vertex| place * vertex).collect();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
            let long = (b - a).norm().max((c - a).norm());
            // Points all over the triangle, closer than the cells.
            let steps = (long / (0.7 * CELL)).ceil().max(1.0) as usize;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let point = a + (b - a) * (i as f64 / steps as f64) + (c - a) * (j as f64 / steps as f64);
                    let cell = [(point.x / CELL).floor() as i32, (point.y / CELL).floor() as i32];
                    let known = span.entry(cell).or_insert((point.z, point.z));
                    *known = (known.0.min(point.z), known.1.max(point.z));
                }
            }
        }
    }
    span
}

/// How high a thing must be lifted to rest where it is moved to by some cells, metres; `None` where it would not rest: on the table when it is
/// to lie on something or the other way round, or where what carries it is all on one side.
fn rest(
    span: &HashMap<Cell, (f64, f64)>,
    by: Vector2<i32>,
    tops: &HashMap<Cell, f64>,
    is_over: bool,
) -> Option<f64> {
    let under = |cell: &Cell| tops.get(&[cell[0] + by.x, cell[1] + by.y]).copied().unwrap_or(0.0);
    let height = span.iter().map(|(cell, (low, _))| under(cell) - low).fold(f64::NEG_INFINITY, f64::max);
    let carried: Vec<&Cell> = span
        .iter()
        .filter(|(cell, (low, _))| low + height - under(cell) < CONTACT)
        .map(|(cell, _)| cell)
        .collect();
    let on_thing = carried.iter().any(|cell| under(cell) > 0.0);
    let point = |cell: &&Cell| Point2::new(f64::from(cell[0]) + 0.5, f64::from(cell[1]) + 0.5);
    let hull = convex_hull(&carried.iter().map(point).collect::<Vec<_>>());
    let rests = !on_thing || hull.len() >= 3 && is_inside(&hull, &Point2::origin());
    (height.is_finite() && on_thing == is_over && rests).then_some(height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn things_rest_on_the_table_or_on_one_another() {
        let (mut all, mut above) = (0, 0);
        for seed in 0..6 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            for thing in Pile::draw(&mut rng, 0.2).things(&Point3::origin()) {
                let low = surface(&thing.parts, &thing.pose)
                    .iter()
                    .map(|point| point.z)
                    .fold(f64::INFINITY, f64::min);
                assert!(low > -1e-3, "{} is {low} m below the table", thing.name);
                all += 1;
                above += usize::from(low > 0.004);
            }
        }
        assert!(all > 20 && above > 3, "{above} of {all} lie on something");
    }
}
