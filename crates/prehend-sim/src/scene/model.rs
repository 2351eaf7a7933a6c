//! Articulated objects: links, the joints between them, named regions of links, and states by joint position.

use super::Shape;
use crate::body::ConvexPart;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Serialize;

/// An object of several links. Link 0 is the root; every other link is moved by exactly one joint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// Links; a parent stands before its children.
    pub links: Vec<Link>,
    /// Joints, in file order: `links.len() - 1` of them.
    pub joints: Vec<Joint>,
    /// Which states hold at which joint positions.
    pub states: Vec<StateRule>,
}

/// A rigid piece of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Unique name within the model.
    pub name: String,
    /// A class of its own ("drawer", "door"): the detector then sees the link as an instance of its own.
    pub class: Option<String>,
    /// Its parts, in the link's frame.
    #[serde(skip)]
    pub parts: Vec<ConvexPart>,
    /// The shape that stands for it: its hollow piece, its only one, or the box around all that is no named region.
    pub shape: Shape,
    /// `link_from_shape`: where that shape is.
    pub link_from_shape: Isometry3<f64>,
    /// That shape is the room in it, which has a roof.
    pub is_enclosed: bool,
    /// Mass, kg.
    pub mass: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
}

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Along its axis, metres.
    Prismatic,
    /// About its axis, radians.
    Revolute,
}

/// What moves a link against its parent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Joint {
    /// Unique name within the model.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// Index of the parent link.
    pub parent: usize,
    /// Index of the link it moves.
    pub child: usize,
    /// `parent_from_child` at position 0.
    pub parent_from_joint: Isometry3<f64>,
    /// Axis, in the child's frame.
    pub axis: Unit<Vector3<f64>>,
    /// Lowest and highest position, metres or radians.
    pub limits: [f64; 2],
    /// Position at the start.
    pub position: f64,
    /// Dry friction, newtons or newton metres.
    pub friction: f64,
    /// Viscous damping, N s/m or N m s/rad.
    pub damping: f64,
    /// What drives it back.
    pub spring: Option<Spring>,
    /// Extra friction at one end, as of a magnet or a catch.
    pub latch: Option<Latch>,
    /// Does not move.
    pub locked: bool,
    /// Force, N, at which it comes off for good: a pin in a board, a plug in a socket.
    pub breaks_at: Option<f64>,
}

/// A linear spring with its damper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spring {
    /// N/m or N m/rad.
    pub stiffness: f64,
    /// Position without force; outside the limits it presses against the stop.
    pub rest: f64,
}

/// Extra dry friction around a position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latch {
    /// Position at which it catches.
    pub at: f64,
    /// How far from it it still catches, metres or radians.
    pub range: f64,
    /// Extra friction there, newtons or newton metres.
    pub force: f64,
}

/// A state that holds while a joint is above or below a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateRule {
    /// Word of the state: open, closed, on, off, pressed.
    pub state: String,
    /// Index of the joint.
    pub joint: usize,
    /// Holds at positions of at least this.
    pub above: Option<f64>,
    /// Holds at positions of at most this.
    pub below: Option<f64>,
}

impl StateRule {
    /// Whether it holds at a joint position.
    pub fn holds(&self, position: f64) -> bool {
        self.above.is_none_or(|least| position >= least) && self.below.is_none_or(|most| position <= most)
    }
}

impl Joint {
    /// `parent_from_child` at a position.
    pub fn parent_from_child(&self, position: f64) -> Isometry3<f64> {
        let moved = match self.kind {
            JointKind::Prismatic => Translation3::from(self.axis.into_inner() * position).into(),
            JointKind::Revolute => Isometry3::from_parts(
                Translation3::identity(),
                UnitQuaternion::from_axis_angle(&self.axis, position),
            ),
        };
        self.parent_from_joint * moved
    }

    /// The position at which the child is `parent_from_child`, as far as the joint can tell; within a half turn.
    pub fn position_of(&self, parent_from_child: &Isometry3<f64>) -> f64 {
        let moved = self.parent_from_joint.inverse() * parent_from_child;
        match self.kind {
            JointKind::Prismatic => moved.translation.vector.dot(&self.axis),
            JointKind::Revolute => {
                let q = moved.rotation;
                let angle = 2.0 * q.imag().dot(&self.axis).atan2(q.w);
                // From -2 pi..2 pi to -pi..pi.
                angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
            }
        }
    }
}

impl Model {
    /// `root_from_link` of every link with the joints where they start.
    pub fn start_poses(&self) -> Vec<Isometry3<f64>> {
        let mut poses = vec![Isometry3::identity(); self.links.len()];
        for link in 1..self.links.len() {
            if let Some(joint) = self.joint_of(link) {
                poses[link] = poses[joint.parent] * joint.parent_from_child(joint.position);
            }
        }
        poses
    }

    /// The joint that moves a link; the root has none.
    pub fn joint_of(&self, link: usize) -> Option<&Joint> {
        self.joints.iter().find(|joint| joint.child == link)
    }

    /// Every part in the root's frame with the joints where they start.
    pub fn parts(&self) -> Vec<ConvexPart> {
        let poses = self.start_poses();
        let links = self.links.iter().zip(poses);
        links
            .flat_map(|(link, pose)| {
                link.parts.iter().map(move |part| ConvexPart {
                    body_from_part: pose * part.body_from_part,
                    ..part.clone()
                })
            })
            .collect()
    }

    /// The nearest link up from this one, itself included, that has a class of its own; `None` is the object.
    pub fn classed(&self, link: usize) -> Option<usize> {
        let mut at = link;
        while at > 0 {
            if self.links[at].class.is_some() {
                return Some(at);
            }
            at = self.joint_of(at)?.parent;
        }
        None
    }
}
