//! What is held.

use crate::world::support;
use nalgebra::Isometry3;
use prehend_geometry::OrientedBox;
use prehend_scene::{Object, ObjectKey, ObjectMap};
use prehend_skills::{HeldShape, solids};

/// Height above the support at which the held object's boxes begin, metres.
const HELD_CLEARANCE: f64 = 0.004;
/// Pads closer than this hold nothing, metres.
pub(crate) const EMPTY_OPENING: f64 = 0.003;

/// A held object: as it was seen before it was grasped, and how it lies in the hand.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The object as it was mapped before the grasp.
    pub(crate) object: Object,
    /// Its shape around the tool.
    pub(crate) shape: HeldShape,
    /// Its boxes in the tool frame.
    pub(crate) boxes: Vec<OrientedBox>,
    /// Whether what is held is not known, only that something is.
    pub(crate) unknown: bool,
}

/// The gripper's memory; whether something is held is decided by the measured opening.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    held: Option<Held>,
    /// What the pads are closing on: it is held when they are found to hold something.
    expected: Option<Held>,
    /// Opening commanded last, metres; `None` before the first command of this process.
    command: Option<f64>,
    /// Whether arm, hand and map are as the last skill left them; `None` before the first one of this process.
    settled: Option<bool>,
}

impl Hand {
    /// What is held, given the measured opening: pads that meet hold nothing.
    pub(crate) fn held(&mut self, opening: f64) -> Option<&Held> {
        if opening < EMPTY_OPENING {
            self.held = None;
        }
        self.held.as_ref()
    }

    /// Key of what is held when the map has it: not of something that was only felt.
    pub(crate) fn known(&mut self, opening: f64) -> Option<ObjectKey> {
        self.held(opening).filter(|held| !held.unknown).map(|held| held.object.key.clone())
    }

    /// Notes what the pads are about to close on.
    pub(crate) fn expect(&mut self, object: Option<Held>) {
        self.expected = object;
    }

    /// Notes what was grasped.
    pub(crate) fn take(&mut self, held: Held) {
        self.held = Some(held);
        self.expected = None;
    }

    /// Notes that something was felt between the pads: what was held before, else what they were closing on.
    pub(crate) fn felt(&mut self) {
        self.held = self.held.take().or(self.expected.take());
    }

    /// Notes that the gripper was opened, or found empty.
    pub(crate) fn release(&mut self) {
        self.held = None;
        self.expected = None;
    }

    /// Notes whether arm, hand and map are as a skill left them.
    pub(crate) fn settle(&mut self, settled: bool) {
        self.settled = Some(settled);
    }

    /// Whether they are; `None` when no skill has ended yet.
    pub(crate) fn settled(&self) -> Option<bool> {
        self.settled
    }

    /// Whether the pads are about to close, or have closed, on something.
    pub(crate) fn is_engaged(&self) -> bool {
        self.held.is_some() || self.expected.is_some()
    }

    /// Notes a command.
    pub(crate) fn commanded(&mut self, opening: f64) {
        self.command = Some(opening);
    }

    /// The opening commanded last; the measured one before the first command.
    pub(crate) fn command(&self, measured: f64) -> f64 {
        self.command.unwrap_or(measured)
    }
}

/// Whether an object of the map is what is in the hand, seen by the camera: most of its points are at the held boxes.
pub(crate) fn is_in_hand(object: &Object, held: &Held, map_from_tool: &Isometry3<f64>) -> bool {
    if object.key == held.object.key {
        return true;
    }
    let points = &object.cloud.points;
    let inside = points
        .iter()
        .filter(|p| {
            let local = map_from_tool.inverse_transform_point(p);
            held.boxes.iter().any(|b| b.contains(&local, 0.015))
        })
        .count();
    inside * 2 > points.len()
}

/// The object as it is held after a grasp with the tool at `tool`, when its shape is known.
pub(crate) fn held_after(
    object: &Object,
    map: &ObjectMap,
    tool: &Isometry3<f64>,
    opening: f64,
) -> Option<Held> {
    let (points, stands_on) = (&object.cloud.points, stood_on(object, map));
    let shape = HeldShape::new(points, tool, stands_on, opening)?;
    let boxes = solids::attached_boxes(points, tool, stands_on, HELD_CLEARANCE);
    Some(Held { object: object.clone(), shape, boxes, unknown: false })
}

/// Height of what an object stands on: the table, or the top of another object right under its middle.
fn stood_on(object: &Object, map: &ObjectMap) -> f64 {
    let middle = object.bounds.pose.translation.vector;
    let table = support(map, &object.cloud.points);
    let lowest = object.cloud.points.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    map.objects
        .iter()
        .filter(|other| other.key != object.key)
        .flat_map(|other| &other.cloud.points)
        .filter(|p| (p.x - middle.x).hypot(p.y - middle.y) < 0.012 && p.z < lowest + 0.01)
        .map(|p| p.z)
        .fold(table, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(key: &str) -> Held {
        let cube = OrientedBox { pose: Isometry3::identity(), size: nalgebra::Vector3::repeat(0.04) };
        let points = vec![nalgebra::Point3::origin(), nalgebra::Point3::new(0.01, 0.0, 0.0)];
        let shape = HeldShape::new(&points, &Isometry3::identity(), -0.02, 0.04).expect("a shape");
        let object = Object::unnamed(key.into(), prehend_geometry::PointCloud::from_points(points), cube);
        Held { object, shape, boxes: vec![cube], unknown: false }
    }

    fn key(hand: &mut Hand, opening: f64) -> Option<ObjectKey> {
        hand.held(opening).map(|held| held.object.key.clone())
    }

    #[test]
    fn what_the_pads_closed_on_is_held_once_something_is_felt() {
        let mut hand = Hand::default();
        hand.expect(Some(held("cup")));
        assert_eq!(key(&mut hand, 0.04), None, "closing is not holding");
        hand.felt();
        assert_eq!(key(&mut hand, 0.04), Some("cup".into()));
        // What is held stays what it is, and pads that meet hold nothing.
        hand.expect(Some(held("bowl")));
        hand.felt();
        assert_eq!(key(&mut hand, 0.04), Some("cup".into()));
        assert_eq!(key(&mut hand, 0.0), None);
        hand.expect(Some(held("bowl")));
        hand.release();
        hand.felt();
        assert_eq!(key(&mut hand, 0.04), None);
    }
}
