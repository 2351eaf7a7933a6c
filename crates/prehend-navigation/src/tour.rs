//! Poses from which a camera sees all furniture of a room, or some places in it: a greedy cover, in a short order.
//!
//! A face is a side of an occupied cell at free floor that can be reached. Walls (thin, and long or with nothing known behind them) are
//! left out: nothing stands on them.

use crate::footprint::Footprint;
use crate::grid::{Costmap, INSCRIBED, LETHAL, neighbours};
use crate::pose::{Pose2, turn};

/// A place counts as seen within this share of the field of view to either side: what stands at the edge is cut off.
const WELL_WITHIN: f64 = 0.35;
/// Furniture is no deeper than twice this, metres.
const DEEP: f64 = 0.9;
/// Faces are about as near as others within this, metres.
const ABOUT: f64 = 0.15;

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

/// The faces that are about as near to a place as the nearest one, when that is not farther away than furniture is deep.
fn faces_before(faces: &[Face], [x, y]: [f64; 2]) -> Vec<u32> {
    let away = |face: &Face| (face.at[0] - x).hypot(face.at[1] - y);
    let nearest = faces.iter().map(away).fold(f64::INFINITY, f64::min);
    if nearest > DEEP {
        return Vec::new();
    }
    let near = |(index, face): (usize, &Face)| (away(face) <= nearest + ABOUT).then_some(index as u32);
    faces.iter().enumerate().filter_map(near).collect()
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

/// A side of an occupied cell.
struct Face {
    at: [f64; 2],
    normal: [f64; 2],
}

/// Sides of occupied cells at floor from which the base can look at them, but those of walls.
fn faces(map: &Costmap, reachable: &[bool], footprint: &Footprint, params: &TourParams) -> Vec<Face> {
    let layout = map.layout();
    let costs = map.costs();
    // Floor at a face is too near to stand on: it counts when the base can stand a footprint away from it.
    let near_reach = near(map, reachable, footprint.circumscribed_radius() + 2.0 * layout.resolution);
    let mut faces = Vec::new();
    for index in 0..costs.len() {
        if costs[index] != LETHAL {
            continue;
        }
        let (column, row) = layout.at(index);
        let centre = layout.centre((column, row));
        for (x, y) in neighbours(layout, column, row) {
            let other = y * layout.width + x;
            if costs[other] == LETHAL || !map.is_known(other) || !near_reach[other] {
                continue;
            }
            let normal = [x as f64 - column as f64, y as f64 - row as f64];
            if is_wall(map, (column, row), normal, params) {
                continue;
            }
            let half = layout.resolution / 2.0;
            faces.push(Face { at: [centre[0] + half * normal[0], centre[1] + half * normal[1]], normal });
        }
    }
    faces
}

/// Cells within a distance of cells that are set.
fn near(map: &Costmap, set: &[bool], distance: f64) -> Vec<bool> {
    let cells = distance / map.layout().resolution;
    crate::distance::distances(set, map.layout().width).into_iter().map(|away| away <= cells).collect()
}

/// Whether a face is one of a wall: going into its cell against its normal, the occupied strip ends soon, and either nothing is known
/// behind it (an outer wall) or it is long (a wall within the room; a leg is short).
fn is_wall(map: &Costmap, cell: (usize, usize), normal: [f64; 2], params: &TourParams) -> bool {
    let resolution = map.layout().resolution;
    let inwards = [-normal[0] as isize, -normal[1] as isize];
    let most = (params.wall / resolution).round() as usize;
    let (thickness, behind) = strip(map, cell, inwards, most + 1);
    if thickness > most {
        return false;
    }
    if behind.is_none_or(|index| !map.is_known(index)) {
        return true;
    }
    let long = (params.long_wall / resolution).round() as usize;
    let along = [inwards[1], inwards[0]];
    let (ahead, _) = strip(map, cell, along, long);
    let (back, _) = strip(map, cell, [-along[0], -along[1]], long);
    ahead + back > long
}

/// How many cells in a direction are occupied, this one among them, `most` at most; and what comes then, if it is in the grid.
fn strip(
    map: &Costmap,
    (column, row): (usize, usize),
    [dx, dy]: [isize; 2],
    most: usize,
) -> (usize, Option<usize>) {
    let layout = map.layout();
    for depth in 1..=most {
        let step = depth as isize;
        let (Some(x), Some(y)) = (column.checked_add_signed(dx * step), row.checked_add_signed(dy * step))
        else {
            return (depth, None);
        };
        if x >= layout.width || y >= layout.height {
            return (depth, None);
        }
        let index = y * layout.width + x;
        if map.costs()[index] != LETHAL {
            return (depth, Some(index));
        }
    }
    (most, None)
}

struct View {
    pose: Pose2,
    sees: Vec<u32>,
    /// The base can turn there as it likes: such a pose is come to and left without touching anything.
    roomy: bool,
}

/// The view with the greatest gain, one with room around it if any has a gain; of equal ones the first: the same on every run.
fn best_view<T: PartialOrd>(views: &[View], gain: impl Fn(&View) -> Option<T>) -> Option<(T, &View)> {
    let best = |roomy: bool| {
        let views = views.iter().filter(|view| view.roomy == roomy);
        let gains = views.filter_map(|view| gain(view).map(|gain| (gain, view)));
        gains.reduce(|a, b| if b.0 > a.0 { b } else { a })
    };
    best(true).or_else(|| best(false))
}

/// Every considered pose that sees something.
fn views(
    map: &Costmap,
    footprint: &Footprint,
    reachable: &[bool],
    faces: &[Face],
    params: &TourParams,
) -> Vec<View> {
    let layout = map.layout();
    let outline = footprint.grown(params.margin);
    let stride = ((params.spacing / layout.resolution).round() as usize).max(1);
    let mut views = Vec::new();
    for row in (stride / 2..layout.height).step_by(stride) {
        for column in (stride / 2..layout.width).step_by(stride) {
            let index = row * layout.width + column;
            if !reachable[index] || map.costs()[index] >= INSCRIBED {
                continue;
            }
            let [x, y] = layout.centre((column, row));
            let roomy = map.room([x, y]) > outline.circumscribed_radius();
            for heading in 0..params.headings {
                let yaw = std::f64::consts::TAU * heading as f64 / params.headings as f64;
                let pose = Pose2::new(x, y, crate::pose::normalised(yaw));
                if outline.collides(map, &pose) {
                    continue;
                }
                let sees = seen(map, &pose, faces, params);
                if !sees.is_empty() {
                    views.push(View { pose, sees, roomy });
                }
            }
        }
    }
    views
}

fn seen(map: &Costmap, pose: &Pose2, faces: &[Face], params: &TourParams) -> Vec<u32> {
    let camera = pose.transform(params.camera);
    let looks = pose.yaw + params.camera_yaw;
    let upright = params.incidence.cos();
    let mut sees = Vec::new();
    for (index, face) in faces.iter().enumerate() {
        let (dx, dy) = (face.at[0] - camera[0], face.at[1] - camera[1]);
        let distance = dx.hypot(dy);
        if distance < params.range[0] || distance > params.range[1] {
            continue;
        }
        if -(dx * face.normal[0] + dy * face.normal[1]) < upright * distance {
            continue;
        }
        if turn(looks, dy.atan2(dx)).abs() > params.field_of_view / 2.0 {
            continue;
        }
        if in_sight(map, camera, face) {
            sees.push(index as u32);
        }
    }
    sees
}

/// Whether nothing occupied is between the camera and a face.
fn in_sight(map: &Costmap, camera: [f64; 2], face: &Face) -> bool {
    let resolution = map.layout().resolution;
    let target =
        [face.at[0] + 0.6 * resolution * face.normal[0], face.at[1] + 0.6 * resolution * face.normal[1]];
    let (dx, dy) = (target[0] - camera[0], target[1] - camera[1]);
    let steps = (dx.hypot(dy) / (0.8 * resolution)).ceil().max(1.0) as usize;
    (0..=steps).all(|step| {
        let share = step as f64 / steps as f64;
        map.cost([camera[0] + share * dx, camera[1] + share * dy]) != LETHAL
    })
}

/// A short order from the start: nearest next, then exchanges of stretches (2-opt).
fn ordered(start: &Pose2, mut poses: Vec<Pose2>) -> Vec<Pose2> {
    // A turn of one radian is worth half a metre.
    let way = |a: &Pose2, b: &Pose2| a.distance(b) + 0.5 * turn(a.yaw, b.yaw).abs();
    let mut order: Vec<Pose2> = Vec::with_capacity(poses.len());
    let mut at = *start;
    while !poses.is_empty() {
        let nearest = poses.iter().enumerate().min_by(|a, b| way(&at, a.1).total_cmp(&way(&at, b.1)));
        let Some(index) = nearest.map(|(index, _)| index) else {
            break;
        };
        at = poses.remove(index);
        order.push(at);
    }
    let length = |order: &[Pose2]| {
        let mut at = start;
        let mut sum = 0.0;
        for pose in order {
            sum += way(at, pose);
            at = pose;
        }
        sum
    };
    let mut best = length(&order);
    let mut better = true;
    while better {
        better = false;
        for first in 0..order.len() {
            for last in first + 1..order.len() {
                order[first..=last].reverse();
                let now = length(&order);
                if now < best - 1e-9 {
                    (best, better) = (now, true);
                } else {
                    order[first..=last].reverse();
                }
            }
        }
    }
    order
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
