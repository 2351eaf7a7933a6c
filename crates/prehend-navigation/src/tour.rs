//! Poses from which a camera sees all furniture of a room, or some places in it: a greedy cover, in a short order.
//!
//! A face is a side of an occupied cell at free floor that can be reached. Walls (thin, and long or with nothing known behind them) are
//! left out: nothing stands on them.

mod faces;
mod order;
mod views;

use crate::footprint::Footprint;
use crate::grid::Costmap;
use crate::pose::{Pose2, turn};
use faces::{faces, faces_before};
use order::ordered;
use views::{View, best_view, views};

/// A place counts as seen within this share of the field of view to either side: what stands at the edge is cut off.
const WELL_WITHIN: f64 = 0.35;
/// What the camera sees, and how thorough a tour is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TourParams {
    /// Where the camera is in the base's frame, metres.
    pub camera: [f64; 2],
    /// Where it looks in the base's frame, radians.
    pub camera_yaw: f64,
    /// Horizontal field of view, radians.
    pub field_of_view: f64,
    /// Nearest and farthest distance from which a face is seen well, metres.
    pub range: [f64; 2],
    /// Greatest angle between a face's normal and the way to the camera, radians.
    pub incidence: f64,
    /// Occupied strips up to this thickness are walls when nothing is known behind them or when they are long, metres.
    pub wall: f64,
    /// Strips from this length are long, metres.
    pub long_wall: f64,
    /// Distance between the places that are considered, metres.
    pub spacing: f64,
    /// Headings that are considered at each place.
    pub headings: usize,
    /// Room around the outline of the base, metres.
    pub margin: f64,
    /// Least length of faces that is worth another pose, metres.
    pub least_gain: f64,
    /// Most poses.
    pub most: usize,
}

impl Default for TourParams {
    fn default() -> Self {
        Self {
            camera: [0.0, 0.0],
            camera_yaw: 0.0,
            field_of_view: 1.2,
            range: [0.5, 1.8],
            incidence: 1.1,
            wall: 0.2,
            long_wall: 0.6,
            spacing: 0.25,
            headings: 16,
            margin: 0.05,
            least_gain: 0.2,
            most: 60,
        }
    }
}

/// Why there is no tour.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TourError {
    /// The start is outside the map.
    #[error("the base at [{x:.2}, {y:.2}] m is outside the map")]
    StartOutside {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// A parameter is not usable.
    #[error("{what} is not usable")]
    Parameter {
        /// Which.
        what: &'static str,
    },
    /// No place of those that were asked for is seen from floor that can be reached.
    #[error("none of {places} places is seen from floor that can be reached from [{x:.2}, {y:.2}] m")]
    OutOfSight {
        /// How many places.
        places: usize,
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
    /// Nothing that could be furniture stands at floor that can be reached.
    #[error("no furniture at floor that can be reached from [{x:.2}, {y:.2}] m")]
    NothingToSee {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    },
}

/// View poses in the order in which to take them, from `start`.
///
/// Errors: as [`plan_with_coverage`].
pub fn plan(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    params: &TourParams,
) -> Result<Vec<Pose2>, TourError> {
    plan_with_coverage(map, footprint, start, params).map(|tour| tour.poses)
}

/// A tour and what it sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Tour {
    /// Poses of the base in the map's frame, in order.
    pub poses: Vec<Pose2>,
    /// Share of the faces of furniture that are seen, [0, 1].
    pub coverage: f64,
    /// Faces that no considered pose sees (middle of the face, metres).
    pub unseen: Vec<[f64; 2]>,
}

/// As [`plan`], with what it sees.
///
/// Errors: [`TourError`].
pub fn plan_with_coverage(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    params: &TourParams,
) -> Result<Tour, TourError> {
    check(params)?;
    if !start.is_finite() || map.layout().cell(start.xy()).is_none() {
        return Err(TourError::StartOutside { x: start.x, y: start.y });
    }
    let reachable = map.reachable(start.xy());
    let faces = faces(map, &reachable, footprint, params);
    if faces.is_empty() {
        return Err(TourError::NothingToSee { x: start.x, y: start.y });
    }
    let views = views(map, footprint, &reachable, &faces, params);
    let mut covered = vec![false; faces.len()];
    let mut chosen: Vec<Pose2> = Vec::new();
    let resolution = map.layout().resolution;
    let least = (params.least_gain / resolution).max(1.0) as usize;
    while chosen.len() < params.most {
        let gain = |view: &View| {
            let count = view.sees.iter().filter(|face| !covered[**face as usize]).count();
            (count >= least).then_some(count)
        };
        let Some((_, view)) = best_view(&views, gain) else { break };
        view.sees.iter().for_each(|face| covered[*face as usize] = true);
        chosen.push(view.pose);
    }
    let unseen: Vec<[f64; 2]> =
        faces.iter().zip(&covered).filter(|(_, seen)| !**seen).map(|(face, _)| face.at).collect();
    let coverage = 1.0 - unseen.len() as f64 / faces.len() as f64;
    Ok(Tour { poses: ordered(start, chosen), coverage, unseen })
}

/// View poses from which each of some places is seen at least once, in the order in which to take them. A place is a thing on furniture
/// or on the floor: it is seen when it is within range and view and so is the furniture's face before it.
///
/// Errors: [`TourError`]; [`TourError::OutOfSight`] only when no place can be seen.
pub fn visit(
    map: &Costmap,
    footprint: &Footprint,
    start: &Pose2,
    params: &TourParams,
    places: &[[f64; 2]],
) -> Result<Vec<Pose2>, TourError> {
    check(params)?;
    if !start.is_finite() || map.layout().cell(start.xy()).is_none() {
        return Err(TourError::StartOutside { x: start.x, y: start.y });
    }
    let reachable = map.reachable(start.xy());
    let faces = faces(map, &reachable, footprint, params);
    let before: Vec<Vec<u32>> = places.iter().map(|place| faces_before(&faces, *place)).collect();
    let views = views(map, footprint, &reachable, &faces, params);
    // How well a pose shows a place: the share of the faces before it, or nothing.
    let shows = |view: &View, place: usize| {
        let camera = view.pose.transform(params.camera);
        let (dx, dy) = (places[place][0] - camera[0], places[place][1] - camera[1]);
        let off = turn(view.pose.yaw + params.camera_yaw, dy.atan2(dx)).abs();
        if dx.hypot(dy) > params.range[1] || off > params.field_of_view * WELL_WITHIN {
            return 0.0;
        }
        let near = &before[place];
        near.iter().filter(|face| view.sees.contains(face)).count() as f64 / near.len().max(1) as f64
    };
    let mut left: Vec<usize> = (0..places.len()).collect();
    let mut chosen: Vec<Pose2> = Vec::new();
    while !left.is_empty() && chosen.len() < params.most {
        let gain = |view: &View| {
            let shown: Vec<f64> = left.iter().map(|place| shows(view, *place)).collect();
            let count = shown.iter().filter(|share| **share > 0.0).count();
            // More places first, then better views of them, then a shorter way.
            let better = shown.iter().sum::<f64>() / (places.len() + 1) as f64;
            (count > 0).then(|| count as f64 + better - 1e-3 * view.pose.distance(start))
        };
        let Some((_, view)) = best_view(&views, gain) else { break };
        left.retain(|place| shows(view, *place) <= 0.0);
        chosen.push(view.pose);
    }
    match chosen.is_empty() {
        true => Err(TourError::OutOfSight { places: places.len(), x: start.x, y: start.y }),
        false => Ok(ordered(start, chosen)),
    }
}

fn check(params: &TourParams) -> Result<(), TourError> {
    let [near, far] = params.range;
    let finite = params.camera.iter().all(|value| value.is_finite()) && params.camera_yaw.is_finite();
    let checks = [
        (finite, "camera"),
        (params.field_of_view > 0.0 && params.field_of_view <= std::f64::consts::TAU, "field_of_view"),
        (near >= 0.0 && far > near && far < 100.0, "range"),
        (params.incidence > 0.0 && params.incidence < 1.58, "incidence"),
        (params.wall >= 0.0, "wall"),
        (params.long_wall > 0.0, "long_wall"),
        (params.spacing >= 0.02, "spacing"),
        ((1..=360).contains(&params.headings), "headings"),
        (params.margin >= 0.0, "margin"),
        (params.least_gain >= 0.0, "least_gain"),
    ];
    match checks.into_iter().find(|(good, _)| !good) {
        Some((_, what)) => Err(TourError::Parameter { what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms;

    fn tour(map: &Costmap, params: &TourParams) -> Result<Tour, TourError> {
        plan_with_coverage(map, &rooms::footprint(), &Pose2::new(1.0, 1.0, 0.0), params)
    }

    #[test]
    fn all_furniture_is_seen_and_no_outer_wall_is_looked_at() {
        let map = rooms::costmap(&rooms::furnished());
        let tour = tour(&map, &TourParams::default()).expect("a tour");
        assert!(tour.coverage > 0.95, "{tour:?}");
        assert!((4..14).contains(&tour.poses.len()), "{:?}", tour.poses);
        for pose in &tour.poses {
            assert!(!rooms::footprint().collides(&map, pose));
            // Something of the table or the shelf is ahead.
            let near = |[x, y]: [f64; 2]| {
                let [u, v] = pose.inverse_transform([x, y]);
                u > 0.0 && u.hypot(v) < 3.0
            };
            assert!(near(rooms::TABLE) || near(rooms::SHELF), "{pose:?}");
        }
        let empty = rooms::costmap(&rooms::room([0.0, 6.0, 0.0, 5.0]));
        assert!(matches!(self::tour(&empty, &TourParams::default()), Err(TourError::NothingToSee { .. })));
    }

    #[test]
    fn places_are_seen_from_as_few_poses_as_will_do() {
        let map = rooms::costmap(&rooms::furnished());
        let (footprint, start, params) =
            (rooms::footprint(), Pose2::new(1.0, 1.0, 0.0), TourParams::default());
        let to = |places: &[[f64; 2]]| visit(&map, &footprint, &start, &params, places);
        let ahead = |pose: &Pose2, place: [f64; 2]| {
            let [u, v] = pose.inverse_transform(place);
            u > 0.0 && u.hypot(v) <= params.range[1] && v.atan2(u).abs() <= params.field_of_view / 2.0
        };
        let one = to(&[rooms::TABLE]).expect("a pose");
        assert!(one.len() == 1 && ahead(&one[0], rooms::TABLE), "{one:?}");
        assert!(!footprint.collides(&map, &one[0]));
        // Two things side by side need one pose, two pieces of furniture need two.
        let beside = [rooms::TABLE, [rooms::TABLE[0] + 0.1, rooms::TABLE[1]]];
        assert_eq!(to(&beside).expect("a pose").len(), 1);
        let both = to(&[rooms::TABLE, rooms::SHELF]).expect("poses");
        assert_eq!(both.len(), 2);
        for place in [rooms::TABLE, rooms::SHELF] {
            assert!(both.iter().any(|pose| ahead(pose, place)), "{both:?}");
        }
        // What nobody can see costs nothing but itself.
        assert_eq!(to(&[rooms::TABLE, [40.0, 2.0]]).expect("a pose").len(), 1);
        for places in [vec![], vec![[40.0, 2.0]], vec![[f64::NAN, 1.0]]] {
            assert!(matches!(to(&places), Err(TourError::OutOfSight { .. })), "{places:?}");
        }
    }

    #[test]
    fn walls_within_the_room_are_not_looked_at() {
        let parted = rooms::costmap(&rooms::two_rooms_without_door());
        let found = tour(&parted, &TourParams::default());
        assert!(matches!(found, Err(TourError::NothingToSee { .. })), "{found:?}");
        // What is as thin but short is no wall: the legs of a table as a scanner sees them.
        let mut grid = rooms::room([0.0, 6.0, 0.0, 5.0]);
        for x in [2.5, 3.5] {
            rooms::fill(&mut grid, [x, x + 0.1, 2.2, 2.5], 100);
        }
        let legs = tour(&rooms::costmap(&grid), &TourParams::default()).expect("a tour");
        assert!(!legs.poses.is_empty(), "{legs:?}");
    }

    #[test]
    fn a_better_camera_sees_more_from_each_pose() {
        let map = rooms::costmap(&rooms::furnished());
        let of_each = |field_of_view| {
            let params = TourParams { field_of_view, ..TourParams::default() };
            let tour = tour(&map, &params).expect("a tour");
            tour.coverage / tour.poses.len() as f64
        };
        let (narrow, wide) = (of_each(0.3), of_each(2.4));
        assert!(wide > 1.3 * narrow, "{wide} {narrow}");
    }

    #[test]
    fn a_stop_is_where_the_base_can_turn_if_it_sees_as_much_from_there() {
        let map = rooms::costmap(&rooms::furnished());
        let tour = tour(&map, &TourParams::default()).expect("a tour");
        let turns = |pose: &Pose2| {
            (0..16).all(|step| {
                let yaw = pose.yaw + std::f64::consts::TAU * f64::from(step) / 16.0;
                !rooms::footprint().collides(&map, &Pose2 { yaw, ..*pose })
            })
        };
        // The side of the shelf is seen from between it and the wall only.
        let tight: Vec<&Pose2> = tour.poses.iter().filter(|pose| !turns(pose)).collect();
        assert!(matches!(tight.as_slice(), [pose] if pose.x > rooms::SHELF[0] + 0.6), "{tight:?}");
        assert!(tour.coverage > 0.9, "{}", tour.coverage);
    }

    #[test]
    fn what_cannot_be_reached_is_no_place_of_the_tour() {
        let mut grid = rooms::two_rooms_without_door();
        rooms::fill(&mut grid, [1.0, 1.6, 2.4, 3.0], 100);
        rooms::fill(&mut grid, [4.4, 5.0, 2.4, 3.0], 100);
        let tour = tour(&rooms::costmap(&grid), &TourParams::default()).expect("a tour");
        assert!(!tour.poses.is_empty() && tour.poses.iter().all(|pose| pose.x < 3.0), "{:?}", tour.poses);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let map = rooms::costmap(&rooms::furnished());
        let good = TourParams::default();
        for (params, name) in [
            (TourParams { field_of_view: 0.0, ..good }, "field_of_view"),
            (TourParams { range: [2.0, 1.0], ..good }, "range"),
            (TourParams { spacing: f64::NAN, ..good }, "spacing"),
            (TourParams { headings: 0, ..good }, "headings"),
        ] {
            assert_eq!(tour(&map, &params), Err(TourError::Parameter { what: name }));
        }
        let outside = Pose2::new(-30.0, 1.0, 0.0);
        assert!(matches!(
            plan(&map, &rooms::footprint(), &outside, &good),
            Err(TourError::StartOutside { .. })
        ));
    }
}
