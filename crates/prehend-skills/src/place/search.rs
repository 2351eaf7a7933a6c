//! The search over spots and turns.

use super::held::Footprint;
use super::hollow::Hollow;
use super::relation::{Rect, fitness, on_table};
use super::{PlaceCandidate, PlaceError, PlaceRequest, Spread};
use crate::columns::{Columns, Fill};
use nalgebra::{Isometry3, Point3, Translation3};
use prehend_scene::Relation;
use std::f64::consts::{PI, TAU};

/// Side of a column, metres.
const CELL: f64 = 0.005;
/// Distance between spots, metres.
const STEP: f64 = 0.010;
/// Turns about the vertical that are tried, and in a compartment, which may be little wider than what goes into it.
const TURNS: usize = 24;
const FINE_TURNS: usize = 72;
/// Free room around the footprint, metres.
const MARGIN: f64 = 0.008;
/// How far a thin part at the side of the held object, such as a handle, hangs above its underside at least, metres.
const HANGS: f64 = 0.02;
/// Height that counts as the table itself, metres.
const FLAT: f64 = 0.006;
/// Distance above the surface at which the object is let go, metres.
const RELEASE: f64 = 0.005;
/// Heights that differ by less are level, metres: twice the camera's noise.
const LEVEL: f64 = 0.0035;
/// Share of what rests that must be over the room it is put in: what overlaps a wall by more is not in it.
const WITHIN: f64 = 0.6;
/// What it is worth that a thing will be in view from home, and that there is room for the pads around it: against 1 for the best fit.
const SEEN_AGAIN: f64 = 0.5;
const TAKEN_AGAIN: f64 = 0.3;
/// What it is worth that no drawer or door comes to where a thing is put: open, it would be over it or against it.
const OUT_OF_THE_WAY: f64 = 0.5;
/// What the edge of the area that was asked for is worth less than its middle, as a share.
const OFF_MIDDLE: f64 = 0.5;
/// What a place that was asked for is worth where the room around it is less than a free place has.
const TIGHT: f64 = 0.1;
/// Gap into which a finger fits with the opening that it needs, metres.
const PADS_FIT: f64 = 0.04;
/// Candidates nearer to each other than this are one, metres, when they are turned alike by less than so much, rad.
const NEAR: (f64, f64) = (0.015, 0.5);
/// The same, however they are turned, when they shall be all over the region: half a hand.
const WIDE: f64 = 0.08;
/// Spots whose columns are looked at, at most: bounds the time.
const CHECKED: usize = 4000;

/// A spot before its columns are looked at.
struct Spot {
    x: f64,
    y: f64,
    turn: usize,
    score: f64,
}

/// Why a spot is no place.
enum Bad {
    Taken,
    Unsteady,
    Narrow,
}

struct Search<'a> {
    request: &'a PlaceRequest<'a>,
    columns: Columns,
    target: Option<Target>,
    footprints: Vec<Footprint>,
}

/// What is known of the target that something is put on or in.
struct Target {
    rect: Rect,
    top: f64,
    /// The room inside, when it is hollow.
    hollow: Hollow,
    /// Centre of the rim and its least distance from there.
    rim: Option<(Point3<f64>, f64)>,
}

pub(super) fn search(request: &PlaceRequest<'_>) -> Result<Vec<PlaceCandidate>, PlaceError> {
    for (what, value) in [
        ("support height", request.support_height),
        ("region", request.region_low.iter().chain(&request.region_high).sum()),
        ("greatest drop", request.greatest_drop),
    ] {
        if !value.is_finite() {
            return Err(PlaceError::NotFinite { what });
        }
    }
    let relation = request.relation;
    let needed = match relation {
        Relation::Between => 2,
        Relation::Away | Relation::Table => 0,
        _ => 1,
    };
    let rects: Vec<Option<Rect>> = request.targets.iter().map(|points| rect_of(points)).collect();
    if let Some(index) = (0..needed.max(rects.len())).find(|i| rects.get(*i).is_none_or(Option::is_none)) {
        return Err(PlaceError::NoTarget { relation, index });
    }
    let targets: Vec<Rect> = rects.into_iter().flatten().collect();
    let others: Vec<Rect> = request.others.iter().filter_map(|points| rect_of(points)).collect();
    let fill = Fill::To(request.support_height);
    let columns = Columns::new(
        CELL,
        request.targets.iter().chain(request.others).enumerate().map(|(i, points)| (i, *points, fill)),
    );
    let target = match (on_table(relation), request.targets.first(), targets.first()) {
        (false, Some(points), Some(rect)) => Some(Target::new(points, *rect, &columns, request)?),
        _ => None,
    };
    let turns = if request.compartment.is_some() { FINE_TURNS } else { TURNS };
    let search = Search {
        request,
        columns,
        target,
        footprints: (0..turns).map(|i| request.held.turned(TAU * i as f64 / turns as f64)).collect(),
    };
    search.run(&targets, &others)
}

impl Target {
    /// `all` has the columns of everything: an open drawer is half in its cabinet, and what is let down into it needs the other half.
    fn new(
        points: &[Point3<f64>],
        rect: Rect,
        all: &Columns,
        request: &PlaceRequest<'_>,
    ) -> Result<Self, PlaceError> {
        let columns = Columns::new(CELL, [(0, points, Fill::To(request.support_height))]);
        let mut tops: Vec<f64> = columns.occupied().map(|c| c.3).collect();
        tops.sort_by(f64::total_cmp);
        let top = crate::grasp::quantile(&tops, 0.96);
        let is_open = |[x, y]: [f64; 2]| all.top(x, y).is_none_or(|height| height <= top);
        let hollow = Hollow::find(&columns, top, request.compartment, is_open);
        if hollow.is_covered && request.relation == Relation::In {
            return Err(PlaceError::NoSpace { relation: request.relation });
        }
        if let (Some(compartment), true) = (request.compartment, hollow.is_empty()) {
            return Err(PlaceError::NoCompartment { compartment });
        }
        // The rim is that of the whole.
        let rim = crate::grasp::rim_centre(points).filter(|_| request.compartment.is_none()).map(|centre| {
            let mut radii: Vec<f64> = points
                .iter()
                .filter(|p| p.z > top - 0.006)
                .map(|p| (p.x - centre.x).hypot(p.y - centre.y))
                .collect();
            radii.sort_by(f64::total_cmp);
            (centre, crate::grasp::quantile(&radii, 0.1))
        });
        Ok(Self { rect, top, hollow, rim })
    }

    /// Middle of the rim of something hollow, or of the whole.
    ///
    /// From the rim, because the camera does not see all of the inside.
    fn middle(&self, inside: bool) -> [f64; 2] {
        match self.rim {
            Some((centre, _)) if inside && self.hollow.holds(centre.x, centre.y) => [centre.x, centre.y],
            // No ring: a drawer's rim is its front.
            _ if inside && !self.hollow.is_empty() => self.hollow.middle(),
            _ => self.rect.centre(),
        }
    }

    /// Where its room is when something is put into it, else the whole.
    fn range(&self, inside: bool) -> Rect {
        if inside && !self.hollow.is_empty() {
            Rect { low: self.hollow.low, high: self.hollow.high }
        } else {
            self.rect
        }
    }

    /// Width of the hollow, metres.
    fn opening(&self) -> f64 {
        match self.rim {
            Some((centre, radius)) if self.hollow.holds(centre.x, centre.y) => 2.0 * radius,
            _ if !self.hollow.is_empty() => (0..2)
                .map(|axis| self.hollow.high[axis] - self.hollow.low[axis])
                .fold(f64::INFINITY, f64::min),
            _ => 0.0,
        }
    }
}

/// Whether nothing is within the margin of a spot.
fn is_apart(spot: &Rect, targets: &[Rect], others: &[Rect]) -> bool {
    targets.iter().chain(others).all(|other| other.gap(spot) > MARGIN)
}

fn rect_of(points: &[Point3<f64>]) -> Option<Rect> {
    let finite: Vec<_> = points.iter().filter(|p| p.coords.iter().all(|c| c.is_finite())).collect();
    let axis = |i: usize| {
        let mut values: Vec<f64> = finite.iter().map(|p| p[i]).collect();
        values.sort_by(f64::total_cmp);
        (crate::grasp::quantile(&values, 0.005), crate::grasp::quantile(&values, 0.995))
    };
    if finite.is_empty() {
        return None;
    }
    let (x, y) = (axis(0), axis(1));
    Some(Rect { low: [x.0, y.0], high: [x.1, y.1] })
}

impl Search<'_> {
    fn run(&self, targets: &[Rect], others: &[Rect]) -> Result<Vec<PlaceCandidate>, PlaceError> {
        let request = self.request;
        let relation = request.relation;
        let (mut spots, fitting) = self.spots(targets, others);
        if spots.is_empty() {
            return Err(if fitting {
                PlaceError::OutOfReach { relation }
            } else {
                PlaceError::NoSpace { relation }
            });
        }
        spots.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut found: Vec<PlaceCandidate> = Vec::new();
        let (mut unsteady, mut narrow, mut taken) = (0, 0, 0);
        let is_near = |c: &PlaceCandidate, spot: &Spot| {
            let apart = (c.spot[0] - spot.x).hypot(c.spot[1] - spot.y);
            let turned = c.map_from_tool.rotation.angle_to(&self.footprints[spot.turn].rotation);
            match request.spread {
                Spread::Best => apart < NEAR.0 && turned < NEAR.1,
                Spread::Wide => apart < WIDE,
            }
        };
        let mut checked = 0;
        for spot in &spots {
            if found.len() >= request.limit || checked >= CHECKED {
                break;
            }
            if found.iter().any(|candidate| is_near(candidate, spot)) {
                continue;
            }
            checked += 1;
            match self.land(spot) {
                Ok(candidate) => found.push(candidate),
                Err(Bad::Unsteady) => unsteady += 1,
                Err(Bad::Narrow) => narrow += 1,
                Err(Bad::Taken) => taken += 1,
            }
        }
        if found.is_empty() {
            return Err(if narrow > 0 && taken == 0 {
                PlaceError::TooSmall { opening: self.target.as_ref().map_or(0.0, Target::opening) }
            } else if unsteady > taken {
                PlaceError::Unsteady
            } else {
                PlaceError::NoSpace { relation }
            });
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(found)
    }

    /// Spots that fit the relation, within reach; and whether any fitted at all.
    fn spots(&self, targets: &[Rect], others: &[Rect]) -> (Vec<Spot>, bool) {
        let request = self.request;
        let inside = request.relation == Relation::In;
        let room = self.target.as_ref().map(|target| target.range(inside));
        let (low, high) = match &room {
            Some(room) => (room.low, room.high),
            None => (request.region_low, request.region_high),
        };
        let area = request.area.filter(|_| room.is_none());
        let (low, high) = match &area {
            Some(area) => (
                [0, 1].map(|axis| low[axis].max(area.low[axis])),
                [0, 1].map(|axis| high[axis].min(area.high[axis])),
            ),
            None => (low, high),
        };
        if (0..2).any(|axis| low[axis] > high[axis]) {
            return (Vec::new(), true);
        }
        let middle = self.target.as_ref().map(|t| t.middle(inside));
        let count = |axis: usize| (((high[axis] - low[axis]) / STEP).floor().max(0.0) as usize + 1).min(200);
        let (mut spots, mut fitting) = (Vec::new(), false);
        for ix in 0..count(0) {
            for iy in 0..count(1) {
                // The grid is centred, so that the exact middle of a target is one of its spots.
                let at = |axis: usize, i: usize, n: usize| {
                    let centre = middle.map_or((low[axis] + high[axis]) / 2.0, |m| m[axis]);
                    centre + (i as f64 - (n / 2) as f64) * STEP
                };
                let (x, y) = (at(0, ix, count(0)), at(1, iy, count(1)));
                for (turn, footprint) in self.footprints.iter().enumerate() {
                    let rect = Rect {
                        low: [x + footprint.low[0], y + footprint.low[1]],
                        high: [x + footprint.high[0], y + footprint.high[1]],
                    };
                    let fit = match (&room, middle) {
                        (Some(room), Some(middle)) => {
                            let half = |axis: usize| ((room.high[axis] - room.low[axis]) / 2.0).max(0.01);
                            let off = ((x - middle[0]) / half(0)).hypot((y - middle[1]) / half(1));
                            (off < 1.0).then_some(1.0 - 0.8 * off)
                        }
                        _ => {
                            let fit = fitness(request.relation, &rect, targets, others);
                            // Who names the place takes it as narrow as it is, if the hand gets in and out.
                            let tight = || area.filter(|_| is_apart(&rect, targets, others)).map(|_| TIGHT);
                            let off = area.map_or(0.0, |area| area.offset([x, y]));
                            fit.or_else(tight).map(|fit| fit * (1.0 - OFF_MIDDLE * off))
                        }
                    };
                    let Some(fit) = fit else { continue };
                    fitting = true;
                    let tool = [x + footprint.tool_from_middle[0], y + footprint.tool_from_middle[1]];
                    let reach = request.reach.comfort(tool[0], tool[1]);
                    let allowed = (0..2).all(|i| {
                        rect.low[i] >= request.region_low[i] && rect.high[i] <= request.region_high[i]
                    });
                    if reach <= 0.0 || !allowed {
                        continue;
                    }
                    // As the base turns towards the spot, so does the hand: that costs the wrist nothing.
                    let natural = y.atan2(x) - request.held.azimuth;
                    let twist = (footprint.yaw - natural + PI).rem_euclid(TAU) - PI;
                    let again = if room.is_none() { self.again(&rect, others) } else { 0.0 };
                    let score = fit + again + 0.25 * reach - 0.12 * twist.abs() / PI;
                    spots.push(Spot { x, y, turn, score });
                }
            }
        }
        (spots, fitting)
    }

    /// How well what is put on this part of the table can be found and taken again, and what stands beside it too.
    fn again(&self, rect: &Rect, others: &[Rect]) -> f64 {
        let room = others.iter().map(|other| other.gap(rect)).fold(f64::INFINITY, f64::min);
        let corners = [rect.low, rect.high, [rect.low[0], rect.high[1]], [rect.high[0], rect.low[1]]];
        let corners = corners.map(|[x, y]| Point3::new(x, y, self.request.support_height));
        let seen = self.request.sight.map_or(0.0, |sight| sight.of(corners));
        let is_swept = self.request.swept.iter().any(|sweep| sweep.meets(rect.low, rect.high));
        let out_of_the_way = if is_swept { 0.0 } else { OUT_OF_THE_WAY };
        SEEN_AGAIN * seen + TAKEN_AGAIN * (room / PADS_FIT).min(1.0) + out_of_the_way
    }

    /// Looks at the columns under the footprint and around the gripper.
    fn land(&self, spot: &Spot) -> Result<PlaceCandidate, Bad> {
        let request = self.request;
        let footprint = &self.footprints[spot.turn];
        let table = request.support_height;
        let margin = if self.target.is_some() { 0.0 } else { MARGIN };
        let hollow = self.target.as_ref().map(|target| &target.hollow);
        let hollow = hollow.filter(|hollow| request.relation == Relation::In && !hollow.is_empty());
        // In the shadow of a wall the floor was not seen.
        let ground = hollow.map_or(table, |hollow| hollow.floor.max(table));
        let heights: Vec<f64> = footprint
            .cells
            .iter()
            .zip(&footprint.bulk)
            .map(|([dx, dy], bulk)| {
                let top = self.columns.max_top(spot.x + dx, spot.y + dy, margin).unwrap_or(ground);
                let hangs = if *bulk || self.target.is_none() { 0.0 } else { HANGS };
                (top - hangs).max(table)
            })
            .collect();
        let surface = heights.iter().copied().fold(table, f64::max);
        let mut score = spot.score;
        match (&self.target, hollow) {
            (Some(target), Some(hollow)) => {
                let rests = || footprint.cells.iter().zip(&footprint.bulk).filter(|(_, bulk)| **bulk);
                let within = rests().filter(|([dx, dy], _)| hollow.holds(spot.x + dx, spot.y + dy)).count();
                if (within as f64) < WITHIN * rests().count() as f64 {
                    return Err(Bad::Narrow);
                }
                // What does not get below the rim lies on it, not in it.
                if surface > target.top - 0.004 {
                    return Err(Bad::Narrow);
                }
                score += 0.5 * ((target.top - surface) / 0.05).min(1.0);
            }
            (Some(_), None) => score += 0.5 * self.steadiness(footprint, &heights, surface)?,
            (None, _) if surface > table + FLAT => return Err(Bad::Taken),
            (None, _) => {}
        }
        let bottom = surface + RELEASE;
        let (map_from_tool, opening, drop) = self.free_height(spot, footprint, bottom).ok_or(Bad::Taken)?;
        Ok(PlaceCandidate {
            map_from_tool,
            opening,
            spot: [spot.x, spot.y],
            surface_height: surface,
            drop: drop + RELEASE,
            score: score - 2.0 * drop,
        })
    }

    /// How much of the footprint rests, [0, 1].
    ///
    /// The cells that rest must reach far enough out on all four sides of the middle: half as far as the footprint, or nearly
    /// as far as the thing below. On a ball they do neither; on a plate's rim and on a smaller box they do.
    fn steadiness(&self, footprint: &Footprint, heights: &[f64], surface: f64) -> Result<f64, Bad> {
        let resting: Vec<&[f64; 2]> = footprint
            .cells
            .iter()
            .zip(heights)
            .zip(&footprint.bulk)
            .filter(|((_, h), bulk)| **bulk && **h > surface - LEVEL)
            .map(|((c, _), _)| c)
            .collect();
        let bulk = footprint.bulk.iter().filter(|bulk| **bulk).count();
        let share = resting.len() as f64 / bulk.max(1) as f64;
        let steady = (0..2).all(|axis| {
            [-1.0, 1.0].into_iter().all(|sign| {
                let reach = resting.iter().map(|c| sign * c[axis]).fold(f64::NEG_INFINITY, f64::max);
                let own = if sign > 0.0 { footprint.high[axis] } else { -footprint.low[axis] };
                let below =
                    self.target.as_ref().map_or(own, |t| (t.rect.high[axis] - t.rect.low[axis]) / 2.0);
                reach >= (0.5 * own).min(0.7 * below).max(0.006)
            })
        });
        if steady { Ok(share) } else { Err(Bad::Unsteady) }
    }

    /// The lowest release at which the opening gripper touches nothing: pose, opening, extra height.
    fn free_height(
        &self,
        spot: &Spot,
        footprint: &Footprint,
        bottom: f64,
    ) -> Option<(Isometry3<f64>, f64, f64)> {
        let request = self.request;
        let z = bottom - request.held.bottom;
        let tool = [spot.x + footprint.tool_from_middle[0], spot.y + footprint.tool_from_middle[1]];
        let steps = (request.greatest_drop.max(0.0) / 0.005).floor() as usize;
        for step in 0..=steps {
            let extra = step as f64 * 0.005;
            let pose =
                Isometry3::from_parts(Translation3::new(tool[0], tool[1], z + extra), footprint.rotation);
            for more in [0.040, 0.022, 0.012] {
                let opening = (request.held.opening + more).min(request.gripper.max_opening);
                let boxes = request.gripper.boxes(opening);
                if self.columns.first_hit(&pose, &boxes, 0.002).is_none() {
                    return Some((pose, opening, extra));
                }
            }
        }
        None
    }
}
