//! The link critic: whether what was seen of each part lies on its link, and whether the link hangs together with the rest.

use super::{Candidate, JointVerdict};
use crate::model::{Link, Model};
use crate::observation::{LEAST, Observation};
use crate::propose::{Extent, nearest_side};
use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};

/// Distance from a surface within which a point lies on it, metres.
const ON: f64 = 0.012;
/// Share of a part's points that its link must explain.
const EXPLAINED: f64 = 0.75;
/// How far a link may be beside what was seen of it, metres.
const BESIDE: f64 = 0.016;
/// Gap from which a part floats, metres, beyond the gap that was seen.
const GAP: f64 = 0.025;
/// How much deeper in its whole than it was seen a link intersects it, metres, and share of its offset that is that way.
const DEPTH: f64 = 0.010;
const ACROSS: f64 = 0.8;
/// Most points that are compared.
const SAMPLE: usize = 400;
/// Ratings: of what must change, and of what is as it was seen.
const BAD: [f64; 2] = [1.0, 4.0];

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkFailure {
    /// What was seen has no link.
    Missing,
    /// It hangs in the air.
    Floating,
    /// It is in another link.
    Intersecting,
    /// It is on the other side of the middle.
    Symmetry,
    /// It is elsewhere, or of another size.
    Placement,
    /// Nothing.
    None,
}

impl LinkFailure {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Floating => "floating",
            Self::Intersecting => "intersecting",
            Self::Symmetry => "symmetry",
            Self::Placement => "placement",
            Self::None => "none",
        }
    }
}

/// The document's output, with what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkVerdict {
    /// Name of the link, or of the part that has none.
    pub link: String,
    /// What is wrong.
    pub failure: LinkFailure,
    /// 0 to 10.
    pub realism_rating: f64,
    /// Why.
    pub description: String,
}

/// Judges the root and the link of each part that was seen, at position 0.
pub fn judge_links(
    candidate: Candidate<'_>,
    observation: &Observation,
    joints: &[JointVerdict],
) -> Vec<LinkVerdict> {
    let mut verdicts = Vec::new();
    let Some(first) = observation.looks.first() else { return verdicts };
    let poses: Vec<Isometry3<f64>> =
        candidate.model.poses(&[]).iter().map(|pose| candidate.map_from_model * pose).collect();
    if let Some(root) = candidate.model.links.first() {
        let share = explained(&first.body, |point| {
            // What is seen of the whole may be its parts', past the edge of a mask.
            candidate.model.links.iter().zip(&poses).any(|(link, pose)| on(link, pose, point))
        });
        verdicts.push(rated(&root.name, share, Vector3::zeros(), LinkFailure::None));
    }
    for (index, part) in observation.parts.iter().enumerate() {
        let seen = observation.looks.iter().enumerate().find(|(_, look)| look.parts[index].len() >= LEAST);
        let Some((look, seen)) = seen else { continue };
        let Some(link) = candidate.links.get(index).copied().flatten() else {
            verdicts.push(LinkVerdict {
                link: part.name.clone(),
                failure: LinkFailure::Missing,
                realism_rating: 0.0,
                description: format!("{} was seen and the model has no link for it. Add it.", part.name),
            });
            continue;
        };
        // A part that was first seen elsewhere than at 0 is looked for there.
        let position = joints
            .iter()
            .find(|joint| joint.part == index)
            .and_then(|joint| joint.positions.get(look).copied().flatten());
        let pose = match candidate.model.joint_of(link) {
            Some(joint) => poses[joint.parent] * joint.at(position.unwrap_or(0.0)),
            None => poses[link],
        };
        verdicts.push(judge(candidate, &poses, (link, &pose), &seen.parts[index]));
    }
    verdicts
}

fn on(link: &Link, pose: &Isometry3<f64>, point: &Point3<f64>) -> bool {
    link.distance(&pose.inverse_transform_point(point)).abs() <= ON
}

/// Share of points that are explained.
fn explained(points: &[Point3<f64>], is: impl Fn(&Point3<f64>) -> bool) -> f64 {
    let step = points.len().div_ceil(SAMPLE).max(1);
    let sample = points.iter().step_by(step);
    let count = sample.len().max(1);
    sample.filter(|point| is(point)).count() as f64 / count as f64
}

fn judge(
    candidate: Candidate<'_>,
    poses: &[Isometry3<f64>],
    (index, pose): (usize, &Isometry3<f64>),
    points: &[Point3<f64>],
) -> LinkVerdict {
    let link = &candidate.model.links[index];
    let share = explained(points, |point| on(link, pose, point));
    let local: Vec<Point3<f64>> = points.iter().map(|point| pose.inverse_transform_point(point)).collect();
    let (Some(seen), Some((low, high))) = (Extent::of(&local), link.bounds()) else {
        return rated(&link.name, 0.0, Vector3::zeros(), LinkFailure::Placement);
    };
    let offset = beside(&seen, &Extent { low, high });
    if share >= EXPLAINED && offset.norm() <= BESIDE {
        return rated(&link.name, share, offset, LinkFailure::None);
    }
    // Where it would be if it were where it was seen.
    let there = *pose * nalgebra::Translation3::from(offset);
    let parent = candidate.model.joint_of(index).map_or(0, |joint| joint.parent);
    let gap = |pose: &Isometry3<f64>| gap_between(link, pose, &candidate.model.links[parent], &poses[parent]);
    // Across the side of the whole at which it was seen: into it, or away from it.
    let root = poses[0].inverse() * *pose;
    let outward = candidate
        .model
        .links
        .first()
        .and_then(|link| link.bounds())
        .map_or(Vector3::z(), |(low, high)| nearest_side(&(root * seen.middle()), &Extent { low, high }));
    let across = (root.rotation * offset).dot(&outward);
    let is_across = across.abs() > ACROSS * offset.norm();
    let failure = if is_mirrored(candidate.model, &root, outward.iamax(), &seen, &Extent { low, high }) {
        LinkFailure::Symmetry
    } else if is_across && across > DEPTH {
        LinkFailure::Intersecting
    } else if gap(pose) > gap(&there) + GAP {
        LinkFailure::Floating
    } else {
        LinkFailure::Placement
    };
    rated(&link.name, share, offset, failure)
}

/// How a link must move to lie on what was seen of it: along each axis by what its nearer side is off, since the far one may be hidden.
fn beside(seen: &Extent, link: &Extent) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| {
        let sides = [seen.low[axis] - link.low[axis], seen.high[axis] - link.high[axis]];
        // Both sides the same way: it is moved. What was seen within it: nothing is told.
        if sides[0].signum() == sides[1].signum() {
            if sides[0].abs() < sides[1].abs() { sides[0] } else { sides[1] }
        } else if sides[0] < 0.0 {
            // More was seen than there is.
            if -sides[0] > sides[1] { sides[0] } else { sides[1] }
        } else {
            0.0
        }
    })
}

/// Whether a link reflected in the middle of the root lies where it was seen. Front and back are no mirror images.
fn is_mirrored(
    model: &Model,
    root_from_link: &Isometry3<f64>,
    normal: usize,
    seen: &Extent,
    link: &Extent,
) -> bool {
    let Some(middle) = model.links.first().map(Link::middle) else { return false };
    let offset = beside(seen, link).norm();
    (0..2).filter(|axis| *axis != normal).any(|axis| {
        let corner = |point: Point3<f64>| {
            let mut local = root_from_link * point;
            local[axis] = 2.0 * middle[axis] - local[axis];
            root_from_link.inverse_transform_point(&local)
        };
        let (a, b) = (corner(link.low), corner(link.high));
        let mirrored = Extent { low: a.coords.inf(&b.coords).into(), high: a.coords.sup(&b.coords).into() };
        let moved = (mirrored.middle() - link.middle()).norm();
        moved > 2.0 * BESIDE && beside(seen, &mirrored).norm() < BESIDE.min(0.5 * offset)
    })
}

/// Least distance between two links, metres, by points over the one's solids.
fn gap_between(link: &Link, pose: &Isometry3<f64>, other: &Link, at: &Isometry3<f64>) -> f64 {
    let to = at.inverse() * pose;
    let places = link.solids.iter().flat_map(places);
    let away = |place: Point3<f64>| other.distance(&(to * place)).max(0.0);
    let there = places.map(away).fold(f64::INFINITY, f64::min);
    let back = to.inverse();
    let places = other.solids.iter().flat_map(self::places);
    places.map(|place| link.distance(&(back * place)).max(0.0)).fold(there, f64::min)
}

/// Places over a solid: its middle, corners, and those between.
fn places(solid: &crate::model::Solid) -> impl Iterator<Item = Point3<f64>> {
    let (half, pose) = (solid.half(), solid.pose);
    let steps = [-1.0, -0.5, 0.0, 0.5, 1.0];
    steps.into_iter().flat_map(move |x| {
        steps.into_iter().flat_map(move |y| {
            steps.into_iter().map(move |z| pose * Point3::new(x * half.x, y * half.y, z * half.z))
        })
    })
}

fn rated(name: &str, share: f64, offset: Vector3<f64>, failure: LinkFailure) -> LinkVerdict {
    let seen = format!("{:.0} % of what was seen of {name} lies on it", 1e2 * share);
    let off = 1e3 * offset.norm();
    let by = format!("({:.0}, {:.0}, {:.0}) mm", 1e3 * offset.x, 1e3 * offset.y, 1e3 * offset.z);
    let (failure, description) = match failure {
        LinkFailure::None if share < EXPLAINED => {
            (LinkFailure::Placement, format!("{seen}. Build it again from what was seen."))
        }
        LinkFailure::None => (failure, format!("{seen}; it is {off:.0} mm beside.")),
        LinkFailure::Missing => (failure, format!("{name} has no link.")),
        LinkFailure::Floating => (failure, format!("{seen}: it floats. Move it by {by} to attach it.")),
        LinkFailure::Intersecting => (failure, format!("{seen}: it is in another link. Move it by {by}.")),
        LinkFailure::Symmetry => {
            (failure, format!("{seen}: it is on the wrong side. Mirror it; that is {by}."))
        }
        LinkFailure::Placement => (failure, format!("{seen}. Move it by {by}, or build it again.")),
    };
    let realism_rating = match failure {
        LinkFailure::None => 8.0 + 2.0 * ((share - EXPLAINED) / (1.0 - EXPLAINED)).clamp(0.0, 1.0),
        LinkFailure::Missing => 0.0,
        // The document: below 5 for whatever must be placed anew.
        _ => BAD[0] + (BAD[1] - BAD[0]) * share,
    };
    LinkVerdict { link: name.to_owned(), failure, realism_rating, description }
}
