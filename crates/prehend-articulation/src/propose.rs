//! Models from clouds: links by their boards, joints by how parts moved or, before they did, by what they are and where they are held.

use crate::fitted::Fitted;
use crate::model::{Joint, JointKind, Link, Model, Shape, Solid, Uncertainty};
use crate::motions::Motions;
use crate::observation::Observation;
use crate::screw::Screw;
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::furniture::Usual;

/// Thickness of a board that is seen from one side only, metres.
const BOARD: f64 = 0.012;
/// Half thickness of the layer of a face, metres.
const LAYER: f64 = 0.008;
/// Share of points that may lie outside of a box on each side: flying pixels, edges of masks.
const STRAY: f64 = 0.01;
/// Share of a face that a handle on it covers at most.
const HANDLE: f64 = 0.35;
/// Fewest points that are a piece of their own.
const PIECE: usize = 12;
/// Of a drawer that was not pulled to its end: its way as a share of the depth of its whole; and the turn of a door, radians.
const USUAL: (f64, f64) = (0.75, 1.7);
/// How far a limit may be off that nobody felt, as a share.
const UNFELT: f64 = 0.4;
/// How far off a limit is that was felt, metres or radians.
const FELT: f64 = 0.01;

/// A proposal and where it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    pub(crate) model: Model,
    pub(crate) map_from_model: Isometry3<f64>,
    /// Link of each part; `None` for parts that were not seen.
    pub(crate) links: Vec<Option<usize>>,
}

/// Lowest and highest corner along the axes of a frame, without strays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) low: Point3<f64>,
    pub(crate) high: Point3<f64>,
}

impl Extent {
    /// Of at least one point.
    pub(crate) fn of(points: &[Point3<f64>]) -> Option<Self> {
        let (mut low, mut high) = (Point3::origin(), Point3::origin());
        for axis in 0..3 {
            let mut values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
            values.sort_by(f64::total_cmp);
            let out = (STRAY * values.len() as f64) as usize;
            low[axis] = *values.get(out)?;
            high[axis] = *values.get(values.len() - 1 - out)?;
        }
        Some(Self { low, high })
    }

    pub(crate) fn size(&self) -> Vector3<f64> {
        self.high - self.low
    }

    pub(crate) fn middle(&self) -> Point3<f64> {
        nalgebra::center(&self.low, &self.high)
    }

    /// As a box of at least a board's thickness. `away` is where the unseen side of a thin face is.
    fn solid(&self, away: Vector3<f64>) -> Solid {
        let (mut middle, mut size) = (self.middle(), self.size());
        for axis in 0..3 {
            if size[axis] < BOARD {
                let missing = BOARD - size[axis];
                middle[axis] += 0.5 * missing * away[axis].signum() * f64::from(u8::from(away[axis] != 0.0));
                size[axis] = BOARD;
            }
        }
        Solid { pose: Translation3::from(middle.coords).into(), shape: Shape::Box(size) }
    }
}

/// Boards around a room, without the one on the side that is open.
fn boards(extent: &Extent, open: Vector3<f64>) -> Vec<Solid> {
    let size = extent.size();
    let thick = BOARD.min(0.3 * size.min());
    let mut boards = Vec::new();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            if open[axis] * side > 0.5 {
                continue;
            }
            let mut board = size;
            board[axis] = thick;
            let mut middle = extent.middle();
            middle[axis] += side * (size[axis] - thick) / 2.0;
            boards.push(Solid { pose: Translation3::from(middle.coords).into(), shape: Shape::Box(board) });
        }
    }
    boards
}

/// The axis of a frame that is nearest to a direction, with its sign.
fn snapped(direction: &Vector3<f64>) -> Vector3<f64> {
    let axis = direction.iamax();
    let mut snapped = Vector3::zeros();
    snapped[axis] = if direction[axis] < 0.0 { -1.0 } else { 1.0 };
    snapped
}

/// A part in the model's frame at position 0: its face, what stands out of it, and what is behind it.
struct Faced {
    /// Outward unit normal, along an axis of the frame.
    outward: Vector3<f64>,
    face: Extent,
    handle: Option<Extent>,
    behind: Option<Extent>,
    all: Extent,
}

impl Faced {
    /// Of all that was seen of it, and of what was seen of it first, from where.
    fn of(points: &[Point3<f64>], first: &[Point3<f64>], eye: &Point3<f64>) -> Option<Self> {
        let all = Extent::of(points)?;
        // A face is thin; the room behind one shows when it is open.
        let thin = Extent::of(first)?.size().imin();
        // It is where most of the points lie in one layer.
        let layered = |axis: usize| {
            let mut values: Vec<f64> = first.iter().map(|point| point[axis]).collect();
            values.sort_by(f64::total_cmp);
            let (mut best, mut low) = ((0, 0.0), 0);
            for (high, value) in values.iter().enumerate() {
                while value - values[low] > 2.0 * LAYER {
                    low += 1;
                }
                if high - low + 1 > best.0 {
                    best = (high - low + 1, (value + values[low]) / 2.0);
                }
            }
            best.1
        };
        let (normal, level) = (thin, layered(thin));
        // A face is seen from outside.
        let sign = if eye[normal] < level { -1.0 } else { 1.0 };
        let mut outward = Vector3::zeros();
        outward[normal] = sign;
        let off = |point: &&Point3<f64>| sign * (point[normal] - level);
        let kept = |wanted: &dyn Fn(f64) -> bool| -> Vec<Point3<f64>> {
            points.iter().filter(|point| wanted(off(point))).copied().collect()
        };
        let piece = |points: Vec<Point3<f64>>| (points.len() >= PIECE).then(|| Extent::of(&points)).flatten();
        let face = Extent::of(&kept(&|off| off.abs() <= LAYER))?;
        // What is nearly as large as the face is another face.
        let area = |extent: &Extent| {
            let size = extent.size();
            size.product() / size[normal].max(1e-6)
        };
        let handle = piece(kept(&|off| off > 1.5 * LAYER));
        let handle = handle.filter(|handle| area(handle) < HANDLE * area(&face));
        let behind = piece(kept(&|off| off < -1.5 * LAYER));
        Some(Self { outward, face, handle, behind, all })
    }
}

/// Proposes from all looks. `fits` are the motions of the parts that were seen to move.
pub(crate) fn propose(
    observation: &Observation,
    fits: &[Option<Fitted>],
    motions: &Motions,
) -> Option<Proposal> {
    let body: Vec<Point3<f64>> = observation.looks.iter().flat_map(|look| &look.body).copied().collect();
    let bounds = OrientedBox::upright_around(&observation.looks.first()?.body)?;
    let map_from_model = Isometry3::from_parts(
        Translation3::new(
            bounds.pose.translation.x,
            bounds.pose.translation.y,
            bounds.pose.translation.z - bounds.size.z / 2.0,
        ),
        bounds.pose.rotation,
    );
    let local = |points: &[Point3<f64>]| -> Vec<Point3<f64>> {
        points.iter().map(|point| map_from_model.inverse_transform_point(point)).collect()
    };
    let body = Extent::of(&local(&body))?;
    let eye = map_from_model.inverse_transform_point(&observation.eye);
    let closed: Vec<Vec<Point3<f64>>> = (0..observation.parts.len())
        .map(|part| local(&at_zero(motions.clouds(part), fits.get(part).and_then(Option::as_ref))))
        .collect();
    let first: Vec<Vec<Point3<f64>>> =
        (0..observation.parts.len()).map(|part| local(&at_zero(motions.clouds(part), None))).collect();
    let faced: Vec<Option<Faced>> = closed
        .iter()
        .zip(&first)
        .map(|(points, first)| if first.len() < PIECE { None } else { Faced::of(points, first, &eye) })
        .collect();
    let mut links = vec![Link {
        name: observation.name.clone(),
        class: observation.class.clone(),
        solids: body_solids(&body, observation, &faced),
    }];
    let mut joints = Vec::new();
    let mut of_part = vec![None; observation.parts.len()];
    for (index, part) in observation.parts.iter().enumerate() {
        let Some(faced) = &faced[index] else { continue };
        let fit = fits.get(index).and_then(Option::as_ref);
        let usual = Usual::of(&part.class);
        let joint = match fit {
            Some(fit) => fitted_joint(fit, &motions.left_at(index), faced, &body, &map_from_model),
            None => usual_joint(usual, faced, &body, &eye),
        };
        let solids = part_solids(faced, &body, joint.kind == JointKind::Prismatic && usual != Usual::Sliding);
        let moved = solids
            .into_iter()
            .map(|solid| Solid { pose: Translation3::from(-joint.origin.coords) * solid.pose, ..solid })
            .collect();
        of_part[index] = Some(links.len());
        let child = links.len();
        joints.push(Joint { name: format!("{} joint", part.name), parent: 0, child, ..joint });
        links.push(Link { name: part.name.clone(), class: part.class.clone(), solids: moved });
    }
    let model = Model { name: observation.name.clone(), links, joints };
    Some(Proposal { model, map_from_model, links: of_part })
}

/// What was seen of a part, its cloud of each look moved back to where the part was first.
fn at_zero(clouds: &[Vec<Point3<f64>>], fit: Option<&Fitted>) -> Vec<Point3<f64>> {
    let Some(fit) = fit else {
        return clouds.iter().find(|cloud| !cloud.is_empty()).cloned().unwrap_or_default();
    };
    let mut points = Vec::new();
    for (cloud, position) in clouds.iter().zip(&fit.positions) {
        let Some(position) = position else { continue };
        let back = fit.screw.at(*position).inverse();
        points.extend(cloud.iter().map(|point| back * point));
    }
    points
}

/// A whole with parts that stand in it is a room between boards; else it is solid.
fn body_solids(body: &Extent, observation: &Observation, faced: &[Option<Faced>]) -> Vec<Solid> {
    let into = observation.parts.iter().zip(faced).find_map(|(part, faced)| {
        let faced = faced.as_ref()?;
        let usual = Usual::of(&part.class);
        let holds =
            matches!(usual, Usual::Drawer | Usual::Door | Usual::Lid | Usual::Sliding | Usual::Unknown);
        let size = body.size();
        let wide =
            (0..3).all(|axis| faced.outward[axis] != 0.0 || faced.face.size()[axis] > 0.25 * size[axis]);
        let deep = size.min() > 4.0 * BOARD;
        (holds && wide && deep).then_some(faced.outward)
    });
    match into {
        Some(open) => boards(body, open),
        None => vec![body.solid(Vector3::zeros())],
    }
}

/// A face, its handle, and of a drawer the room behind it.
fn part_solids(faced: &Faced, body: &Extent, is_drawer: bool) -> Vec<Solid> {
    let mut solids = vec![faced.face.solid(-faced.outward)];
    if let Some(handle) = &faced.handle {
        solids.push(handle.solid(Vector3::zeros()));
    }
    let normal = faced.outward.iamax();
    if is_drawer {
        let mut room = faced.face;
        let seen = faced.behind.as_ref();
        let (near, far) = if faced.outward[normal] > 0.0 {
            let seen = seen.map_or(f64::INFINITY, |behind| behind.low[normal]);
            (faced.face.low[normal], seen.min(body.low[normal] + BOARD))
        } else {
            let seen = seen.map_or(f64::NEG_INFINITY, |behind| behind.high[normal]);
            (faced.face.high[normal], seen.max(body.high[normal] - BOARD))
        };
        room.low[normal] = near.min(far);
        room.high[normal] = near.max(far);
        for axis in (0..3).filter(|axis| *axis != normal) {
            room.low[axis] += BOARD;
            room.high[axis] -= BOARD;
        }
        if room.size().min() > 3.0 * BOARD {
            // Open above; the face closes it in front.
            let up = Vector3::z();
            let closes = |solid: &Solid| {
                let off = solid.pose.translation.vector - room.middle().coords;
                off[normal] * faced.outward[normal] <= 0.1 * room.size()[normal]
            };
            solids.extend(boards(&room, up).into_iter().filter(closes));
        }
    } else if let Some(behind) = &faced.behind {
        solids.push(behind.solid(Vector3::zeros()));
    }
    solids
}

/// The joint of a part that was seen to move.
fn fitted_joint(
    fit: &Fitted,
    left: &[(f64, bool)],
    faced: &Faced,
    body: &Extent,
    map_from_model: &Isometry3<f64>,
) -> Joint {
    let turn: UnitQuaternion<f64> = map_from_model.rotation.inverse();
    let axis = turn * fit.screw.axis();
    let middle = faced.all.middle();
    let (kind, origin) = match fit.screw {
        Screw::Slide { .. } => (JointKind::Prismatic, middle),
        Screw::Turn { origin, .. } => {
            let origin = map_from_model.inverse_transform_point(&origin);
            // The point of the axis that is nearest to the part.
            (JointKind::Revolute, origin + axis.into_inner() * axis.dot(&(middle - origin)))
        }
    };
    let been = fit.positions.iter().flatten().chain(left.iter().map(|(position, _)| position)).copied();
    let low = been.clone().fold(0.0, f64::min);
    let reached = been.fold(0.0, f64::max);
    let stop = left.iter().filter(|(position, stopped)| *stopped && *position > 0.0).map(|(at, _)| *at);
    let stop = stop.reduce(f64::max);
    let usual = match kind {
        JointKind::Prismatic => {
            let along = axis.into_inner().iamax();
            USUAL.0 * body.size()[along]
        }
        _ => USUAL.1,
    };
    let high = stop.unwrap_or_else(|| reached.max(usual));
    let upper = if stop.is_some() { FELT } else { (high - reached).max(UNFELT * high) };
    let [axis_off, origin_off] = fit.uncertainty;
    let uncertainty = Some(Uncertainty { axis: axis_off, origin: origin_off, limits: [FELT, upper] });
    Joint { name: String::new(), kind, parent: 0, child: 0, origin, axis, limits: [low, high], uncertainty }
}

/// The joint of a part that nobody has moved yet.
fn usual_joint(usual: Usual, faced: &Faced, body: &Extent, eye: &Point3<f64>) -> Joint {
    let normal = faced.outward.iamax();
    let middle = faced.all.middle();
    let joint = |kind, origin, axis: Vector3<f64>, limits: [f64; 2]| Joint {
        name: String::new(),
        kind,
        parent: 0,
        child: 0,
        origin,
        axis: Unit::try_new(axis, 1e-9).unwrap_or_else(Vector3::x_axis),
        limits,
        uncertainty: None,
    };
    // What is held at one end turns about the other; without a handle, about what is far from who looks.
    let held = |axis: usize| match &faced.handle {
        Some(handle)
            if (handle.middle()[axis] - faced.face.middle()[axis]).abs() > 0.1 * faced.face.size()[axis] =>
        {
            handle.middle()[axis] - faced.face.middle()[axis]
        }
        _ => eye[axis] - faced.face.middle()[axis],
    };
    let hinged = |across: usize, along: usize| {
        let free = if held(across) >= 0.0 { 1.0 } else { -1.0 };
        let mut origin = faced.face.middle();
        origin[across] -= free * faced.face.size()[across] / 2.0;
        let mut towards = Vector3::zeros();
        towards[across] = free;
        let mut axis = Vector3::zeros();
        axis[along] = 1.0;
        // It opens outwards.
        if axis.cross(&towards).dot(&faced.outward) < 0.0 {
            axis = -axis;
        }
        joint(JointKind::Revolute, origin, axis, [0.0, USUAL.1])
    };
    let level: Vec<usize> = (0..2).filter(|axis| *axis != normal).collect();
    match usual {
        Usual::Drawer => {
            let way = USUAL.0 * body.size()[normal];
            joint(JointKind::Prismatic, middle, faced.outward, [0.0, way.max(BOARD)])
        }
        Usual::Door if normal != 2 => hinged(level[0], 2),
        Usual::Door | Usual::Lid if normal == 2 => {
            // About its longer side.
            let size = faced.face.size();
            let along = if size.x >= size.y { 0 } else { 1 };
            hinged(1 - along, along)
        }
        // Upright: an oven is held at the top, a cat's flap at the bottom.
        Usual::Lid => hinged(2, level[0]),
        Usual::Sliding => {
            let across = level[0];
            let way = (body.size()[across] - faced.face.size()[across]).max(BOARD);
            let mut axis = Vector3::zeros();
            axis[across] = (body.middle()[across] - middle[across]).signum();
            joint(JointKind::Prismatic, middle, axis, [0.0, way])
        }
        Usual::Knob => {
            let out = snapped(&nearest_side(&middle, body));
            joint(JointKind::Revolute, middle, out, [0.0, USUAL.1])
        }
        Usual::Lever => {
            let out = nearest_side(&middle, body);
            let long = faced.all.size().iamax();
            // Fixed where it is nearest to the middle of its whole.
            let mut origin = middle;
            let side = (body.middle()[long] - middle[long]).signum();
            origin[long] += side * (faced.all.size()[long] / 2.0 - faced.all.size().min() / 2.0);
            let mut axis = snapped(&out);
            if axis.iamax() == long {
                axis = Vector3::z();
            }
            joint(JointKind::Revolute, origin, axis, [0.0, USUAL.1])
        }
        Usual::Door | Usual::Unknown => joint(JointKind::Fixed, middle, Vector3::x(), [0.0, 0.0]),
    }
}

/// Outward direction of the side of a body that a place is nearest to.
pub(crate) fn nearest_side(at: &Point3<f64>, body: &Extent) -> Vector3<f64> {
    let mut best = (f64::INFINITY, Vector3::z());
    for axis in 0..3 {
        for (sign, side) in [(-1.0, body.low[axis]), (1.0, body.high[axis])] {
            let gap = (side - at[axis]).abs();
            if gap < best.0 {
                let mut out = Vector3::zeros();
                out[axis] = sign;
                best = (gap, out);
            }
        }
    }
    best.1
}
