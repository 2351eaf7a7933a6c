//! From contacts to poses: tilts, collisions, ranks, and the distinct best.

use super::{
    CELL, Contact, GraspCandidate, GraspError, GraspKind, GraspRequest, SUPPORT_CLEARANCE, Shape, WALL,
};
use crate::columns::{Columns, Fill};
use crate::gripper::ToolBox;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// Contacts that are kept for tilting, at most.
const KEPT: usize = 160;
/// Poses whose collisions are checked, at most: bounds the time.
const CHECKED: usize = 900;
/// Tilts of the approach about the closing line, radians; steep ones only for tall things.
const TILTS: [f64; 7] = [0.0, 0.26, -0.26, 0.52, -0.52, 0.78, -0.78];
const STEEP_TILTS: [f64; 2] = [1.1, -1.1];
/// Height from which things are also approached from the side, metres.
const TALL: f64 = 0.09;
/// Opening beyond the part's width at which closing pads must be free of the rest of the object, metres.
const CLOSING: f64 = 0.004;
/// Points this near to the part are of it, metres.
const OF_PART: f64 = 0.005;
/// Least distance to other objects, metres.
const BERTH: f64 = 0.003;
/// Distance to other objects that counts as full clearance, metres.
const WIDE_BERTH: f64 = 0.010;

pub(crate) fn rank(
    request: &GraspRequest<'_>,
    shape: &Shape,
    own: &Columns,
    contacts: &[Contact],
) -> Result<Vec<GraspCandidate>, GraspError> {
    let neighbours = Columns::new(
        CELL,
        request.neighbours.iter().enumerate().map(|(i, p)| (i, *p, Fill::To(request.support_height))),
    );
    let hollow = Columns::new(CELL, [(0, shape.all.as_slice(), Fill::Shell(WALL))]);
    let beside = beside_part(shape);
    let beside = Columns::new(CELL, [(0, beside.as_slice(), Fill::To(request.support_height))]);
    let mut posed = pose_contacts(request, shape, contacts);
    posed.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
    let mut best: Vec<GraspCandidate> = Vec::new();
    let mut blocked: Vec<(Isometry3<f64>, f64)> = Vec::new();
    let (mut checked, mut low) = (0, false);
    for (candidate, shell) in posed {
        if best.len() >= request.limit.saturating_mul(2) || checked >= CHECKED {
            break;
        }
        if best.iter().any(|kept| alike(kept, &candidate)) {
            continue;
        }
        checked += 1;
        // Pads that close on a handle must not meet what it is on.
        let closed = request.gripper.boxes((candidate.width + CLOSING).min(request.gripper.max_opening));
        if shape.part && !shell && beside.first_hit(&candidate.map_from_tool, &closed, 0.0).is_some() {
            continue;
        }
        let body = if shell { &hollow } else { own };
        match open_freely(request, (&candidate, shell), body, &neighbours) {
            Ok((opening, clearance)) => {
                best.push(GraspCandidate { opening, score: candidate.score + 0.12 * clearance, ..candidate });
            }
            Err(Blocked::Neighbours(opening)) => blocked.push((candidate.map_from_tool, opening)),
            Err(Blocked::Support) => low = true,
            Err(Blocked::Itself) => {}
        }
    }
    if best.is_empty() {
        let in_the_way = blocked.iter().map(|(map_from_tool, opening)| {
            neighbours.hits(map_from_tool, &request.gripper.boxes(*opening), BERTH)
        });
        // They come best first: of those that ask for as few things the best is taken.
        return Err(if let Some(by) = in_the_way.min_by_key(Vec::len) {
            GraspError::Surrounded { by }
        } else if low {
            let top = shape.touch.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
            GraspError::TooFlat { height: top - shape.support }
        } else {
            GraspError::NoContact
        });
    }
    best.sort_by(|a, b| b.score.total_cmp(&a.score));
    best.truncate(request.limit);
    Ok(best)
}

/// Points of the object that are none of the part it is held by; empty when it is held anywhere.
fn beside_part(shape: &Shape) -> Vec<Point3<f64>> {
    let of_part = |p: &&Point3<f64>| shape.touch.iter().any(|q| (*p - q).norm_squared() < OF_PART * OF_PART);
    if shape.part { shape.all.iter().filter(|p| !of_part(p)).copied().collect() } else { Vec::new() }
}

/// What the open gripper would touch.
enum Blocked {
    Support,
    Itself,
    /// At this opening, metres, the narrowest that was tried.
    Neighbours(f64),
}

/// The widest opening at which the gripper is free, and how free, [0, 1].
fn open_freely(
    request: &GraspRequest<'_>,
    (candidate, shell): (&GraspCandidate, bool),
    own: &Columns,
    neighbours: &Columns,
) -> Result<(f64, f64), Blocked> {
    let max = request.gripper.max_opening;
    let wide = if shell { candidate.width + 0.045 } else { max };
    let mut blocked = Blocked::Itself;
    for opening in [wide, candidate.width + 0.030, candidate.width + 0.016] {
        let opening = opening.min(max);
        let boxes = request.gripper.boxes(opening);
        if lowest(&candidate.map_from_tool, &boxes) < request.support_height + SUPPORT_CLEARANCE - 1e-6 {
            blocked = Blocked::Support;
            continue;
        }
        if own.first_hit(&candidate.map_from_tool, &boxes, 0.0).is_some() {
            blocked = Blocked::Itself;
            continue;
        }
        if neighbours.first_hit(&candidate.map_from_tool, &boxes, BERTH).is_some() {
            blocked = Blocked::Neighbours(opening);
            continue;
        }
        let free = neighbours.first_hit(&candidate.map_from_tool, &boxes, WIDE_BERTH).is_none();
        let room = ((opening - candidate.width) / 0.03).clamp(0.0, 1.0);
        return Ok((opening, room * if free { 1.0 } else { 0.4 }));
    }
    Err(blocked)
}

/// Height of the lowest corner of the boxes.
fn lowest(map_from_tool: &Isometry3<f64>, boxes: &[ToolBox]) -> f64 {
    let up = map_from_tool.rotation.inverse() * Vector3::z();
    boxes
        .iter()
        .map(|b| (0..3).map(|i| (up[i] * b.low[i]).min(up[i] * b.high[i])).sum::<f64>())
        .fold(f64::INFINITY, f64::min)
        + map_from_tool.translation.z
}

fn alike(a: &GraspCandidate, b: &GraspCandidate) -> bool {
    let apart = (a.map_from_tool.translation.vector - b.map_from_tool.translation.vector).norm();
    let turned = |b: &GraspCandidate| a.map_from_tool.rotation.angle_to(&b.map_from_tool.rotation);
    apart < 0.008 && turned(b).min(turned(&b.flipped())) < 0.2
}

fn pose_contacts(
    request: &GraspRequest<'_>,
    shape: &Shape,
    contacts: &[Contact],
) -> Vec<(GraspCandidate, bool)> {
    let mut scored: Vec<(f64, &Contact)> = contacts.iter().map(|c| (contact_score(shape, c), c)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(KEPT);
    let top = shape.all.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    let steep = if top - shape.support > TALL { &STEEP_TILTS[..] } else { &[] };
    let mut posed = Vec::new();
    for (score, contact) in scored {
        let tilts = TILTS.iter().chain(steep);
        for tilt in tilts {
            let turn = Rotation3::from_axis_angle(&nalgebra::Unit::new_normalize(contact.closing), *tilt);
            let approach = turn * contact.approach;
            let mut tool = contact.centre + approach * (contact.depth - request.gripper.tip_beyond_tool);
            // A tilted pad's lower corner dips below its tip line: raise it, if the hold allows.
            let boxes = request.gripper.boxes(request.gripper.max_opening);
            let rotation = frame(&approach, &contact.closing);
            let pose = |tool: &Point3<f64>| Isometry3::from_parts(Translation3::from(tool.coords), rotation);
            let missing = shape.support + SUPPORT_CLEARANCE - lowest(&pose(&tool), &boxes);
            if missing > 0.0 {
                if missing > contact.contact_height * 0.6 {
                    continue;
                }
                tool.z += missing + 1e-6;
            }
            let reach = request.reach.comfort(tool.x, tool.y);
            if reach <= 0.0 {
                continue;
            }
            let out = Vector3::new(tool.x, tool.y, 0.0).normalize();
            let upright = 1.0 - (-approach.z).clamp(-1.0, 1.0).acos() / 1.3;
            // A palm that leans towards the base is easier to reach than one that leans away.
            let outward = (approach.dot(&out)).clamp(-0.5, 0.5);
            let candidate = GraspCandidate {
                kind: contact.kind,
                map_from_tool: pose(&tool),
                opening: request.gripper.max_opening,
                width: contact.width,
                contact_height: contact.contact_height,
                score: score + 0.16 * upright + 0.06 * reach + 0.04 * outward,
            };
            posed.push((nearer_to_neutral(candidate, &out), contact.shell));
        }
    }
    posed
}

/// Of the two ways to hold with the pads exchanged, the one whose x axis points away from the base.
fn nearer_to_neutral(candidate: GraspCandidate, out: &Vector3<f64>) -> GraspCandidate {
    let x = candidate.map_from_tool.rotation * Vector3::x();
    if x.dot(out) < -1e-9 { candidate.flipped() } else { candidate }
}

fn frame(approach: &Vector3<f64>, closing: &Vector3<f64>) -> UnitQuaternion<f64> {
    let z = approach.normalize();
    let y = (closing - z * closing.dot(&z)).normalize();
    let matrix = Matrix3::from_columns(&[y.cross(&z), y, z]);
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix))
}

/// Quality of the contact itself, [0, 0.62].
fn contact_score(shape: &Shape, contact: &Contact) -> f64 {
    let area = (contact.contact_height / 0.022).min(1.0) * (contact.contact_width / 0.018).clamp(0.2, 1.0);
    let antipodal = (1.0 - contact.angle / 0.5).max(0.0);
    let off = (contact.centre.x - shape.centre[0]).hypot(contact.centre.y - shape.centre[1]);
    // A rim is off the centre by its nature; what counts is not to hold a long thing by its end.
    let central = match contact.kind {
        GraspKind::Rim => 0.35,
        GraspKind::Across | GraspKind::Part => (1.0 - off / 0.06).max(0.0),
    };
    // Room for the camera's error on both sides.
    let room = ((0.082 - contact.width) / 0.02).clamp(0.0, 1.0);
    0.20 * area + 0.20 * antipodal + 0.17 * central + 0.05 * room
}
