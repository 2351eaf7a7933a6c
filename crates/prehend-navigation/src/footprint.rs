//! The outline of a base and what it costs to stand somewhere with it.

use crate::grid::{Costmap, LETHAL, UNKNOWN, for_cells_of, for_cells_touched};
use crate::pose::Pose2;

/// Why an outline is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FootprintError {
    /// Fewer than three corners, a corner that is not finite, or no area.
    #[error("a footprint needs at least three corners around an area")]
    Degenerate,
    /// The origin of the base is not inside.
    #[error("the origin of the base is outside its footprint")]
    OriginOutside,
    /// A corner that points inwards; costs are those of convex outlines.
    #[error("corner {corner} of the footprint points inwards")]
    NotConvex {
        /// Index of the corner.
        corner: usize,
    },
}

/// The convex outline of a base, in its own frame, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    corners: Vec<[f64; 2]>,
    inscribed: f64,
    circumscribed: f64,
}

/// What standing at a pose costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootprintCost {
    /// F of ASP §IV-C: mean cost of the cells under the footprint, from 0 (free) to 1 (lethal).
    pub mean: f64,
    /// Greatest cost of a known cell that the footprint overlaps.
    pub worst: u8,
    /// Whether a cell that the footprint overlaps is unknown or outside the grid.
    pub unknown: bool,
}

impl FootprintCost {
    /// Whether the base touches something there, or may.
    pub fn collides(&self) -> bool {
        self.worst >= LETHAL || self.unknown
    }
}

impl Footprint {
    /// An outline from its corners in the base's frame, metres, in either sense.
    ///
    /// Errors: [`FootprintError`] for outlines without area, not convex, or around something else than the origin.
    pub fn polygon(corners: &[[f64; 2]]) -> Result<Self, FootprintError> {
        let mut corners = corners.to_vec();
        let count = corners.len();
        if count < 3 || corners.iter().flatten().any(|value| !value.is_finite()) {
            return Err(FootprintError::Degenerate);
        }
        let area: f64 =
            (0..count).map(|index| cross(corners[index], corners[(index + 1) % count])).sum::<f64>() / 2.0;
        if area.abs() < 1e-6 {
            return Err(FootprintError::Degenerate);
        }
        if area < 0.0 {
            corners.reverse();
        }
        let mut inscribed = f64::INFINITY;
        for index in 0..count {
            let (a, b, c) = (corners[index], corners[(index + 1) % count], corners[(index + 2) % count]);
            let (along, next) = ([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
            let length = along[0].hypot(along[1]);
            if length < 1e-9 {
                return Err(FootprintError::Degenerate);
            }
            if cross(along, next) < -1e-9 {
                return Err(FootprintError::NotConvex { corner: (index + 1) % count });
            }
            inscribed = inscribed.min(cross(a, b) / length);
        }
        if inscribed <= 0.0 {
            return Err(FootprintError::OriginOutside);
        }
        let circumscribed = corners.iter().map(|[x, y]| x.hypot(*y)).fold(0.0, f64::max);
        Ok(Self { corners, inscribed, circumscribed })
    }

    /// A round base, as a polygon of 16 corners around the circle.
    ///
    /// Errors: [`FootprintError::Degenerate`] for a radius that is not positive.
    pub fn circle(radius: f64) -> Result<Self, FootprintError> {
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(FootprintError::Degenerate);
        }
        let step = std::f64::consts::TAU / 16.0;
        let outer = radius / (step / 2.0).cos();
        let corners: Vec<[f64; 2]> = (0..16)
            .map(|index| (f64::from(index) * step).sin_cos())
            .map(|(sin, cos)| [outer * cos, outer * sin])
            .collect();
        Self::polygon(&corners)
    }

    /// The outline with every side moved outwards by a margin, metres (negative margins are taken as 0).
    pub fn grown(&self, margin: f64) -> Self {
        let (count, margin) = (self.corners.len(), margin.max(0.0));
        let normal = |index: usize| {
            let (a, b) = (self.corners[index], self.corners[(index + 1) % count]);
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length = dx.hypot(dy).max(1e-12);
            [dy / length, -dx / length]
        };
        let corner = |index: usize| {
            let (m, n) = (normal((index + count - 1) % count), normal(index));
            let scale = margin / (1.0 + m[0] * n[0] + m[1] * n[1]).max(0.1);
            let [x, y] = self.corners[index];
            [x + scale * (m[0] + n[0]), y + scale * (m[1] + n[1])]
        };
        let corners: Vec<[f64; 2]> = (0..count).map(corner).collect();
        Self::polygon(&corners).unwrap_or_else(|_| self.clone())
    }

    /// Corners in the base's frame, counter-clockwise.
    pub fn corners(&self) -> &[[f64; 2]] {
        &self.corners
    }

    /// Radius of the greatest circle around the origin inside the outline, metres.
    pub fn inscribed_radius(&self) -> f64 {
        self.inscribed
    }

    /// Radius of the smallest circle around the origin around the outline, metres.
    pub fn circumscribed_radius(&self) -> f64 {
        self.circumscribed
    }

    /// Corners with the base at a pose.
    pub fn at(&self, pose: &Pose2) -> Vec<[f64; 2]> {
        self.corners.iter().map(|corner| pose.transform(*corner)).collect()
    }

    /// Cost of standing at a pose of the map's frame: the mean of the cells whose middle is under the outline, the worst of those that it
    /// overlaps.
    pub fn cost(&self, map: &Costmap, pose: &Pose2) -> FootprintCost {
        let corners = self.at(pose);
        let (mut sum, mut count, mut worst) = (0.0, 0usize, 0u8);
        let mut unknown = corners.iter().any(|corner| map.layout().index(*corner).is_none());
        for_cells_of(map.layout(), &corners, |index| {
            count += 1;
            sum += f64::from(map.costs()[index].min(LETHAL));
        });
        for_cells_touched(map.layout(), &corners, |index| {
            let cost = map.costs()[index];
            if cost == UNKNOWN {
                unknown = true;
            } else {
                worst = worst.max(cost);
            }
        });
        let mean = if count == 0 { 1.0 } else { sum / (count as f64 * f64::from(LETHAL)) };
        FootprintCost { mean, worst, unknown: unknown || count == 0 }
    }

    /// How deep the outline at a pose is in what it touches, metres: how far within its sides the middle of a lethal or unknown cell
    /// lies, at most. Not above 0 where it only grazes a cell; `None` where it touches none. What is outside the map does not count.
    pub fn depth(&self, map: &Costmap, pose: &Pose2) -> Option<f64> {
        if !pose.is_finite() || map.room(pose.xy()) > self.circumscribed {
            return None;
        }
        let corners = self.at(pose);
        let inside = |point: [f64; 2]| {
            let sides = corners.iter().zip(corners.iter().cycle().skip(1));
            let within = sides.map(|(from, to)| {
                let along = [to[0] - from[0], to[1] - from[1]];
                cross(along, [point[0] - from[0], point[1] - from[1]]) / along[0].hypot(along[1])
            });
            within.fold(f64::INFINITY, f64::min)
        };
        let layout = map.layout();
        let mut deepest: Option<f64> = None;
        for_cells_touched(layout, &corners, |index| {
            if map.costs()[index] >= LETHAL {
                let depth = inside(layout.centre(layout.at(index)));
                deepest = Some(deepest.map_or(depth, |most| most.max(depth)));
            }
        });
        deepest
    }

    /// Whether the base at a pose touches something, or may: its outline overlaps a lethal or unknown cell. Quick where nothing is near.
    pub fn collides(&self, map: &Costmap, pose: &Pose2) -> bool {
        if !pose.is_finite() {
            return true;
        }
        if map.room(pose.xy()) > self.circumscribed {
            return false;
        }
        let corners = self.at(pose);
        let mut bad = corners.iter().any(|corner| map.layout().index(*corner).is_none());
        if bad {
            return true;
        }
        for_cells_touched(map.layout(), &corners, |index| bad |= map.costs()[index] >= LETHAL);
        bad
    }
}

/// What the outline touches on a way, pose by pose: nothing new. What it touches where the way begins it may leave, and never go
/// deeper into; once free it stays free.
#[derive(Clone, Debug)]
pub struct Contact<'a> {
    footprint: &'a Footprint,
    map: &'a Costmap,
    /// The least depth so far; `None` once it was free.
    depth: Option<f64>,
    /// How much deeper counts as the same, metres: depths are those of cells.
    slack: f64,
    /// How deep one may come who touched nothing, metres.
    grazes: f64,
}

impl<'a> Contact<'a> {
    /// A way that begins at a pose.
    pub fn from(map: &'a Costmap, footprint: &'a Footprint, start: &Pose2) -> Self {
        let (depth, slack) = (footprint.depth(map, start), map.layout().resolution / 4.0);
        Self { footprint, map, depth, slack, grazes: f64::NEG_INFINITY }
    }

    /// The rest of a way that began at one pose and has come to another, for one who is not exactly on it: no deeper than where it began,
    /// or, if that was free and the localisation puts it into something now, no deeper than now. It may graze cells: what is in one may be
    /// behind its middle.
    pub fn resumed(map: &'a Costmap, footprint: &'a Footprint, start: &Pose2, now: &Pose2) -> Self {
        let contact = Self::from(map, footprint, start);
        let depth = footprint.depth(map, now).map(|now| contact.depth.unwrap_or(now));
        Self { depth, slack: 2.0 * contact.slack, grazes: 0.0, ..contact }
    }

    /// Whether the next pose of the way touches what the one before it did not, or goes deeper.
    pub fn worsens(&mut self, pose: &Pose2) -> bool {
        if !self.footprint.collides(self.map, pose) {
            self.depth = None;
            return false;
        }
        match (self.depth, self.footprint.depth(self.map, pose)) {
            (Some(before), Some(now)) => {
                self.depth = Some(before.min(now));
                // Half a cell is not known: who only grazes one may turn there.
                now > before.max(0.0) + self.slack
            }
            (None, Some(now)) => now > self.grazes,
            (_, None) => true,
        }
    }
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms;

    const RECTANGLE: [[f64; 2]; 4] = [[0.4, 0.25], [-0.3, 0.25], [-0.3, -0.25], [0.4, -0.25]];

    #[test]
    fn radii_are_those_of_the_outline() {
        let footprint = Footprint::polygon(&RECTANGLE).expect("a footprint");
        assert!((footprint.inscribed_radius() - 0.25).abs() < 1e-9);
        assert!((footprint.circumscribed_radius() - 0.4f64.hypot(0.25)).abs() < 1e-9);
        let mut other_way = RECTANGLE;
        other_way.reverse();
        assert_eq!(
            Footprint::polygon(&other_way).expect("a footprint").inscribed_radius(),
            footprint.inscribed_radius()
        );
        let round = Footprint::circle(0.22).expect("a footprint");
        assert!((round.inscribed_radius() - 0.22).abs() < 1e-9);
        let grown = footprint.grown(0.05);
        assert!((grown.inscribed_radius() - 0.3).abs() < 1e-9);
        assert!((grown.circumscribed_radius() - 0.45f64.hypot(0.3)).abs() < 1e-9);
    }

    #[test]
    fn outlines_that_are_none_are_refused() {
        use FootprintError::{Degenerate, NotConvex, OriginOutside};
        assert_eq!(Footprint::polygon(&RECTANGLE[..2]), Err(Degenerate));
        assert_eq!(Footprint::polygon(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), Err(Degenerate));
        assert_eq!(Footprint::polygon(&[[f64::NAN, 0.0], [1.0, 0.0], [0.0, 1.0]]), Err(Degenerate));
        assert_eq!(Footprint::polygon(&[[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]), Err(OriginOutside));
        let arrow = [[1.0, 0.0], [-1.0, 1.0], [-0.2, 0.0], [-1.0, -1.0]];
        assert!(matches!(Footprint::polygon(&arrow), Err(NotConvex { .. })));
        assert_eq!(Footprint::circle(-0.1), Err(Degenerate));
    }

    #[test]
    fn heading_decides_in_a_narrow_place() {
        // A corridor 0.7 m wide along x: along it the base fits, across it does not.
        let map = rooms::costmap(&rooms::corridor(0.7));
        let footprint = Footprint::polygon(&RECTANGLE).expect("a footprint");
        let (along, across) = (Pose2::new(2.0, 1.0, 0.0), Pose2::new(2.0, 1.0, 1.57));
        assert!(!footprint.cost(&map, &along).collides() && !footprint.collides(&map, &along));
        assert!(footprint.cost(&map, &across).collides() && footprint.collides(&map, &across));
        let wide = rooms::costmap(&rooms::corridor(1.8));
        assert!(footprint.cost(&wide, &along).mean < footprint.cost(&map, &along).mean);
        assert!(footprint.cost(&wide, &Pose2::new(-3.0, 0.0, 0.0)).collides(), "outside nothing is known");
        assert!(footprint.collides(&wide, &Pose2::new(f64::NAN, 0.0, 0.0)));
    }
}
