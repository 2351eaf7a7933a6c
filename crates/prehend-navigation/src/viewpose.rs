//! Where to stand to work on an object: the pose search of `go_to` (ASP §IV-C).
//!
//! The preferred position is at distance r from the object's centroid, where its affordance's normal points. Candidates lie at
//! discrete intervals on the circle of radius r around the centroid, face the object, and are ranked by
//! `F(p, θ) + lambda_aff |p - p_aff|`, F being the average footprint cost. Candidates that collide are discarded. r starts
//! small and is relaxed step by step until a candidate is left.

use crate::footprint::Footprint;
use crate::grid::{Costmap, INSCRIBED};
use crate::pose::{Pose2, normalised};
use std::f64::consts::TAU;

/// What the search is told besides the map.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewPoseParams {
    /// r to begin with, metres; 0.85 in the paper.
    pub radius: f64,
    /// How much r grows when no candidate is left, metres.
    pub relax_step: f64,
    /// Greatest r, metres.
    pub relax_max: f64,
    /// Penalty per metre of distance to the preferred position (F is from 0 to 1). 0 is the ablation of the paper.
    pub lambda_aff: f64,
    /// Candidates on a circle.
    pub candidates: usize,
    /// Direction in the base's frame that is to point at the object, radians: 0 for an arm that reaches forward.
    pub facing: f64,
    /// Greatest mean footprint cost that is accepted, (0, 1].
    pub max_mean_cost: f64,
    /// Free room that the outline must have all around, metres: a base never stands exactly where it was sent.
    pub margin: f64,
    /// Where the base is, metres: poses that cannot be reached from there are discarded. `None` asks for no way.
    pub from: Option<[f64; 2]>,
    /// Penalty per metre of distance from where the base is; small, it breaks ties between equal sides.
    pub lambda_way: f64,
    /// Places that are no candidates, nor is what is nearer to one than the inscribed radius of the footprint; metres, map frame.
    pub avoided: Vec<[f64; 2]>,
}

impl Default for ViewPoseParams {
    fn default() -> Self {
        Self {
            radius: 0.85,
            relax_step: 0.05,
            relax_max: 1.3,
            lambda_aff: 0.5,
            candidates: 72,
            facing: 0.0,
            max_mean_cost: 0.9,
            margin: 0.05,
            from: None,
            lambda_way: 0.005,
            avoided: Vec::new(),
        }
    }
}

/// A pose from which to work on an object, and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewPose {
    /// Pose of the base in the map's frame.
    pub pose: Pose2,
    /// r at which it was found, metres.
    pub radius: f64,
    /// F, the mean footprint cost, from 0 to 1.
    pub footprint_cost: f64,
    /// Distance to the preferred position, metres; 0 without one.
    pub off_preferred: f64,
    /// What was minimised.
    pub score: f64,
}

/// Why there is no view pose.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViewPoseError {
    /// The object is outside the map.
    #[error("the object at [{x:.2}, {y:.2}] m is outside the map")]
    OutsideMap {
        /// Metres in the map's frame.
        x: f64,
        /// Metres in the map's frame.
        y: f64,
    },
    /// A parameter is not usable.
    #[error("{what} is not usable")]
    Parameter {
        /// Which.
        what: &'static str,
    },
    /// Every candidate up to the greatest radius collides.
    #[error("no free place to stand within {radius:.2} m of the object ({tried} candidates collide)")]
    NoFreePose {
        /// Greatest r tried, metres.
        radius: f64,
        /// Candidates tried.
        tried: usize,
    },
    /// Candidates are free, but there is no way to any of them.
    #[error("{free} free places within {radius:.2} m of the object, and no way to any of them")]
    Unreachable {
        /// Greatest r tried, metres.
        radius: f64,
        /// Candidates that are free.
        free: usize,
    },
}

/// The best pose to work on an object at `target`, in the map's frame. `preferred` is the direction from the object in which
/// its affordance faces (its normal on the plane, of any length; shorter than 1e-6 counts as none).
///
/// Errors: [`ViewPoseError`].
pub fn search(
    map: &Costmap,
    footprint: &Footprint,
    target: [f64; 2],
    preferred: Option<[f64; 2]>,
    params: &ViewPoseParams,
) -> Result<ViewPose, ViewPoseError> {
    ranked(map, footprint, target, preferred, params).map(|all| all[0])
}

/// Every valid pose on the first circle that has one, best first; never empty.
///
/// Errors: as [`search`].
pub fn ranked(
    map: &Costmap,
    footprint: &Footprint,
    target: [f64; 2],
    preferred: Option<[f64; 2]>,
    params: &ViewPoseParams,
) -> Result<Vec<ViewPose>, ViewPoseError> {
    check(params)?;
    if map.layout().cell(target).is_none() {
        return Err(ViewPoseError::OutsideMap { x: target[0], y: target[1] });
    }
    let outline = footprint.grown(params.margin);
    let apart = footprint.inscribed_radius();
    let reachable = params.from.map(|from| map.reachable(from));
    let preferred = preferred.and_then(|[x, y]| {
        let length = x.hypot(y);
        (length.is_finite() && length > 1e-6).then(|| [x / length, y / length])
    });
    let (mut tried, mut free) = (0, 0);
    let steps = ((params.relax_max - params.radius) / params.relax_step + 1e-9).floor().max(0.0) as usize;
    for step in 0..=steps {
        let radius = params.radius + step as f64 * params.relax_step;
        let mut found = Vec::new();
        for index in 0..params.candidates {
            // Begin at the preferred direction, so that it is a candidate itself.
            let first = preferred.map_or(0.0, |[x, y]| y.atan2(x));
            let angle = first + TAU * index as f64 / params.candidates as f64;
            let at = [target[0] + radius * angle.cos(), target[1] + radius * angle.sin()];
            let to_object = (target[1] - at[1]).atan2(target[0] - at[0]);
            let pose = Pose2::new(at[0], at[1], normalised(to_object - params.facing));
            tried += 1;
            if params.avoided.iter().any(|[x, y]| (at[0] - x).hypot(at[1] - y) < apart) {
                continue;
            }
            let Some(footprint_cost) = standing(map, footprint, &outline, &pose, params) else {
                continue;
            };
            free += 1;
            let way_there = reachable
                .as_ref()
                .is_none_or(|cells| map.layout().index(at).is_some_and(|index| cells[index]));
            if !way_there {
                continue;
            }
            let off_preferred = preferred
                .map_or(0.0, |[x, y]| (at[0] - target[0] - radius * x).hypot(at[1] - target[1] - radius * y));
            let way = params.from.map_or(0.0, |[x, y]| (at[0] - x).hypot(at[1] - y));
            let score = footprint_cost + params.lambda_aff * off_preferred + params.lambda_way * way;
            found.push(ViewPose { pose, radius, footprint_cost, off_preferred, score });
        }
        if !found.is_empty() {
            found.sort_by(|a, b| a.score.total_cmp(&b.score));
            return Ok(found);
        }
    }
    let radius = params.radius + steps as f64 * params.relax_step;
    match free {
        0 => Err(ViewPoseError::NoFreePose { radius, tried }),
        free => Err(ViewPoseError::Unreachable { radius, free }),
    }
}

/// Mean footprint cost of standing at a pose; `None` where the base collides, or has not the margin around it.
fn standing(
    map: &Costmap,
    footprint: &Footprint,
    outline: &Footprint,
    pose: &Pose2,
    params: &ViewPoseParams,
) -> Option<f64> {
    if map.cost(pose.xy()) >= INSCRIBED || outline.collides(map, pose) {
        return None;
    }
    let cost = footprint.cost(map, pose);
    (!cost.collides() && cost.mean <= params.max_mean_cost).then_some(cost.mean)
}

fn check(params: &ViewPoseParams) -> Result<(), ViewPoseError> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let not_negative = |value: f64| value.is_finite() && value >= 0.0;
    let checks = [
        (positive(params.radius), "radius"),
        (positive(params.relax_step), "relax_step"),
        (positive(params.relax_max) && params.relax_max < 100.0, "relax_max"),
        (params.relax_max / params.relax_step < 10_000.0, "relax_step"),
        (not_negative(params.lambda_aff), "lambda_aff"),
        (not_negative(params.lambda_way), "lambda_way"),
        (not_negative(params.margin), "margin"),
        (params.facing.is_finite(), "facing"),
        (positive(params.max_mean_cost), "max_mean_cost"),
        ((1..=3600).contains(&params.candidates), "candidates"),
    ];
    match checks.into_iter().find(|(good, _)| !good) {
        Some((_, what)) => Err(ViewPoseError::Parameter { what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms;

    fn one(
        target: [f64; 2],
        preferred: Option<[f64; 2]>,
        params: &ViewPoseParams,
    ) -> Result<ViewPose, ViewPoseError> {
        search(&rooms::costmap(&rooms::furnished()), &rooms::footprint(), target, preferred, params)
    }

    fn faces(found: &ViewPose, target: [f64; 2], facing: f64) {
        let [x, y] = found.pose.inverse_transform(target);
        assert!((y.atan2(x) - facing).abs() < 1e-6, "{found:?}");
        assert!((x.hypot(y) - found.radius).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn the_preferred_side_is_taken_where_it_is_free() {
        let target = rooms::TABLE;
        for direction in [[0.0f64, -1.0], [0.0, 1.0], [1.0, 0.0], [-2.0, 0.0]] {
            // An object 0.25 m from the table's edge on that side.
            let params = ViewPoseParams::default();
            let half = if direction[0] == 0.0 { 0.3 } else { 0.5 };
            let length = direction[0].hypot(direction[1]);
            let at = [
                target[0] + direction[0] / length * (half - 0.2),
                target[1] + direction[1] / length * (half - 0.2),
            ];
            let found = one(at, Some(direction), &params).expect("a pose");
            faces(&found, at, 0.0);
            assert_eq!(found.radius, 0.85);
            assert!(found.off_preferred < 0.3, "{direction:?}: {found:?}");
        }
    }

    #[test]
    fn where_the_preferred_side_is_a_wall_another_is_found() {
        // A shelf along the wall at the top: its normal is wrong and points into the wall.
        let params = ViewPoseParams::default();
        let at = [rooms::SHELF[0], rooms::SHELF[1] - 0.1];
        let found = one(at, Some([0.0, 1.0]), &params).expect("a pose");
        faces(&found, at, 0.0);
        assert!(found.pose.y < at[1] && found.off_preferred > 0.85, "{found:?}");
    }

    #[test]
    fn the_radius_is_relaxed_step_by_step() {
        let params = ViewPoseParams { radius: 0.4, ..ViewPoseParams::default() };
        let found = one(rooms::TABLE, None, &params).expect("a pose");
        // Half the table's depth (0.3), the base's front (0.37) and the margin.
        assert!(found.radius > 0.7 && found.radius < 0.85, "{found:?}");
        let stuck = ViewPoseParams { radius: 0.1, relax_max: 0.4, ..ViewPoseParams::default() };
        assert!(
            matches!(one(rooms::TABLE, None, &stuck), Err(ViewPoseError::NoFreePose { tried, .. }) if tried == 72 * 7)
        );
    }

    #[test]
    fn an_arm_that_reaches_sideways_stands_sideways() {
        let facing = -std::f64::consts::FRAC_PI_2;
        let params = ViewPoseParams { facing, ..ViewPoseParams::default() };
        let found = one(rooms::TABLE, Some([0.0, -1.0]), &params).expect("a pose");
        faces(&found, rooms::TABLE, facing);
    }

    #[test]
    fn without_the_affordance_term_the_side_does_not_matter() {
        // Something stands beside the place in front of the affordance.
        let mut grid = rooms::furnished();
        rooms::fill(&mut grid, [3.35, 3.5, 3.3, 3.6], 100);
        let map = rooms::costmap(&grid);
        let at = [rooms::TABLE[0], rooms::TABLE[1] + 0.1];
        let find = |lambda_aff: f64| {
            let params = ViewPoseParams { lambda_aff, ..ViewPoseParams::default() };
            search(&map, &rooms::footprint(), at, Some([0.0, 1.0]), &params).expect("a pose")
        };
        let (with, without) = (find(0.5), find(0.0));
        assert!(without.footprint_cost <= with.footprint_cost);
        assert!(with.off_preferred < without.off_preferred, "{with:?} {without:?}");
    }

    #[test]
    fn a_place_that_is_avoided_and_its_surroundings_are_no_places() {
        let apart = rooms::footprint().inscribed_radius();
        let mut params = ViewPoseParams::default();
        for number in 0..4 {
            let found = one(rooms::TABLE, Some([0.0, -1.0]), &params).expect("a pose");
            let near = |[x, y]: &[f64; 2]| (found.pose.x - x).hypot(found.pose.y - y);
            let nearest = params.avoided.iter().map(near).fold(f64::INFINITY, f64::min);
            assert!(nearest >= apart, "{number}: {nearest}");
            params.avoided.push(found.pose.xy());
        }
        // Where nothing else is left there is no pose.
        let corner = ViewPoseParams { relax_max: 0.85, avoided: vec![], ..ViewPoseParams::default() };
        let all =
            ranked(&rooms::costmap(&rooms::furnished()), &rooms::footprint(), rooms::TABLE, None, &corner);
        let avoided = all.expect("poses").iter().map(|found| found.pose.xy()).collect();
        let none = one(rooms::TABLE, None, &ViewPoseParams { avoided, ..corner });
        assert!(matches!(none, Err(ViewPoseError::NoFreePose { .. })), "{none:?}");
    }

    #[test]
    fn poses_behind_a_wall_are_no_poses() {
        let map = rooms::costmap(&rooms::two_rooms_without_door());
        let from = Some([1.0, 1.5]);
        let params = ViewPoseParams { from, ..ViewPoseParams::default() };
        let found = search(&map, &rooms::footprint(), [4.5, 1.5], None, &params);
        assert!(matches!(found, Err(ViewPoseError::Unreachable { free, .. }) if free > 0), "{found:?}");
        let here = search(&map, &rooms::footprint(), [1.5, 1.5], None, &params).expect("a pose");
        assert!(here.pose.x < 3.0);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let good = ViewPoseParams::default();
        assert!(matches!(one([99.0, 0.0], None, &good), Err(ViewPoseError::OutsideMap { .. })));
        assert!(matches!(one([f64::NAN, 0.0], None, &good), Err(ViewPoseError::OutsideMap { .. })));
        for (params, name) in [
            (ViewPoseParams { radius: -1.0, ..good.clone() }, "radius"),
            (ViewPoseParams { relax_step: 0.0, ..good.clone() }, "relax_step"),
            (ViewPoseParams { lambda_aff: f64::NAN, ..good.clone() }, "lambda_aff"),
            (ViewPoseParams { candidates: 0, ..good.clone() }, "candidates"),
        ] {
            assert_eq!(one(rooms::TABLE, None, &params), Err(ViewPoseError::Parameter { what: name }));
        }
        assert!(one(rooms::TABLE, Some([f64::NAN, 0.0]), &good).is_ok(), "no direction is no preference");
    }
}
