//! The state as physics has it, for the judge alone: no node may ever see it.

use super::base::Bump;
use super::contacts::HardContact;
use super::handling::Handling;
use super::mechanism::Mechanism;
use super::{Entity, World};
use crate::body::Owner;
use crate::scene::{JointKind, Shape};
use nalgebra::{Isometry3, Vector3};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything the judge may want to know of one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Simulated time, seconds.
    pub time: f64,
    /// Joint positions, rad.
    pub joints: Vec<f64>,
    /// Opening between the pads, metres.
    pub opening: f64,
    /// Low-passed force on the pads, newtons.
    pub pad_force: f64,
    /// The arm moves.
    pub moving: bool,
    /// Height of the table's top, metres.
    pub table_height: f64,
    /// Every object, in the scene's order; then the links with a class of their own, such as drawers, called
    /// `object/link`.
    pub objects: Vec<ObjectTruth>,
    /// Every joint of articulated objects.
    #[serde(default)]
    pub mechanisms: Vec<JointTruth>,
    /// Where the base is, when it drives: everything is in `map` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseTruth>,
}

/// The base as physics has it, in `map`: metres, radians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaseTruth {
    /// x, y and yaw of `base_link`.
    pub pose: [f64; 3],
    /// The same as the localisation believes.
    pub believed: [f64; 3],
    /// It moves.
    pub moving: bool,
    /// How often it was stopped because it touched something hard.
    pub bumps: usize,
}

/// One joint of an articulated object as physics has it. Metres or radians by its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointTruth {
    /// Object, by its unique name.
    pub object: String,
    /// What it moves, as [`Truth::objects`] has it: the link with a class, or the object.
    pub entity: String,
    /// Name of the joint in the model.
    pub joint: String,
    /// `prismatic` or `revolute`.
    pub kind: String,
    /// Position.
    pub position: f64,
    /// Speed, m/s or rad/s.
    pub velocity: f64,
    /// Lowest and highest position it can have.
    pub limits: [f64; 2],
    /// Lowest and highest position since the start.
    pub reached: [f64; 2],
    /// It cannot move.
    pub locked: bool,
    /// It came off.
    pub broken: bool,
    /// States that hold now: open, closed, on, off, pressed.
    pub states: Vec<String>,
    /// States that held at some time since the start.
    pub held_states: Vec<String>,
}

/// One object as physics has it, in `link_base`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectTruth {
    /// Unique name of the scene file.
    pub name: String,
    /// Class.
    pub class: String,
    /// Shape with sizes.
    pub shape: Shape,
    /// Colour, 8-bit sRGB.
    pub color: [u8; 3],
    /// Colour word of the scene file, if one was used.
    pub color_name: Option<String>,
    /// Does not move.
    pub fixed: bool,
    /// Position of its centre, metres.
    pub position: [f64; 3],
    /// Orientation as x, y, z, w.
    pub orientation: [f64; 4],
    /// Half the lengths along its own axes, metres.
    pub half_extents: [f64; 3],
    /// Speed, m/s.
    pub speed: f64,
    /// Names of what it touches: objects, furniture, `table`, `floor`, links of the robot.
    pub touches: Vec<String>,
    /// Containers it is in.
    pub inside: Vec<String>,
    /// Objects it stands on.
    pub on: Vec<String>,
    /// Both fingers press on it.
    pub held: bool,
    /// It is below the table's top; in a room: it lies on the floor.
    pub fallen: bool,
}

/// What the robot did over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motions {
    /// Intervals of simulated time, seconds, in which an arm joint moved.
    pub arm: Vec<[f64; 2]>,
    /// Intervals in which a gripper command ran.
    pub gripper: Vec<[f64; 2]>,
    /// Largest low-passed pad force so far, newtons.
    pub max_pad_force: f64,
    /// Contacts of the robot above the logged force.
    pub hard_contacts: Vec<HardContact>,
    /// What the gripper did with each object, by its name.
    #[serde(default)]
    pub handling: BTreeMap<String, Handling>,
    /// Intervals in which the base moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base: Vec<[f64; 2]>,
    /// Every time the base was stopped because it touched something hard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bumps: Vec<Bump>,
}

impl World {
    /// The state as physics has it.
    pub fn truth(&self) -> Truth {
        let entities = self.entities();
        let poses: Vec<Isometry3<f64>> = entities.iter().map(|entity| self.entity_pose(entity)).collect();
        let objects = entities
            .iter()
            .enumerate()
            .map(|(index, entity)| {
                let pose = &poses[index];
                let spec = &self.objects()[entity.object].spec;
                let touched = self.touched_by(index);
                let others = |test: &dyn Fn(usize) -> bool| -> Vec<String> {
                    (0..entities.len())
                        .filter(|other| entities[*other].object != entity.object && test(*other))
                        .map(|other| entities[other].name.clone())
                        .collect()
                };
                ObjectTruth {
                    name: entity.name.clone(),
                    class: entity.class.clone(),
                    shape: entity.shape,
                    color: spec.color.0,
                    color_name: spec.color_name.clone(),
                    fixed: spec.fixed && entity.link.is_none(),
                    position: pose.translation.vector.into(),
                    orientation: pose.rotation.coords.into(),
                    half_extents: entity.shape.half_extents().into(),
                    speed: self.body_speed(entity.body),
                    inside: others(&|other| is_inside(entity, pose, &entities[other], &poses[other])),
                    on: others(&|other| {
                        touched.contains(&Owner::Object(other))
                            && is_above(pose, &entities[other], &poses[other])
                    }),
                    touches: touched.iter().map(|owner| self.name_of(*owner)).collect(),
                    held: self.is_held(index),
                    fallen: match self.base_pose() {
                        None => pose.translation.z < self.table_height() - 0.02,
                        Some(_) => !spec.fixed && touched.contains(&Owner::Floor),
                    },
                }
            })
            .collect();
        Truth {
            time: self.time(),
            joints: self.arm_joints().to_vec(),
            opening: self.gripper_opening(),
            pad_force: self.pad_force(),
            moving: self.is_moving(),
            table_height: self.table_height(),
            objects,
            base: self.base_pose().zip(self.believed_pose()).map(|(pose, believed)| BaseTruth {
                pose: [pose.x, pose.y, pose.yaw],
                believed: [believed.x, believed.y, believed.yaw],
                moving: self.is_driving(),
                bumps: self.bumps().len(),
            }),
            mechanisms: self.mechanisms.iter().filter_map(|mechanism| self.joint_truth(mechanism)).collect(),
        }
    }

    fn joint_truth(&self, mechanism: &Mechanism) -> Option<JointTruth> {
        let object = &self.objects()[mechanism.object].spec;
        let model = object.model.as_ref()?;
        let joint = model.joints.get(mechanism.joint)?;
        let link = model.classed(joint.child);
        let owner =
            self.entities().iter().find(|entity| entity.object == mechanism.object && entity.link == link)?;
        let rules = || model.states.iter().filter(|rule| rule.joint == mechanism.joint);
        let states = rules().filter(|rule| rule.holds(mechanism.position));
        let [low, high] = mechanism.reached;
        let held = rules().filter(|rule| {
            rule.above.is_none_or(|least| high >= least) && rule.below.is_none_or(|most| low <= most)
        });
        Some(JointTruth {
            object: object.name.clone(),
            entity: owner.name.clone(),
            joint: joint.name.clone(),
            kind: match joint.kind {
                JointKind::Prismatic => "prismatic",
                JointKind::Revolute => "revolute",
            }
            .to_owned(),
            position: mechanism.position,
            velocity: mechanism.velocity,
            limits: joint.limits,
            reached: mechanism.reached,
            locked: joint.locked,
            broken: mechanism.is_broken(),
            states: states.map(|rule| rule.state.clone()).collect(),
            held_states: held.map(|rule| rule.state.clone()).collect(),
        })
    }
}

/// Whether the centre of `a` is within the hollow of `b`, not higher than it would lie there on its side or upright.
fn is_inside(a: &Entity, pose_a: &Isometry3<f64>, b: &Entity, pose_b: &Isometry3<f64>) -> bool {
    let Some(hollow) = b.shape.hollow() else {
        return false;
    };
    let upright = (pose_b.rotation * Vector3::z()).z > 0.8;
    let center = pose_b.inverse_transform_point(&pose_a.translation.vector.into());
    let within = if b.shape.is_round() || matches!(b.shape, Shape::Mug { .. } | Shape::Pan { .. }) {
        center.x.hypot(center.y) < hollow.half[0]
    } else {
        center.x.abs() < hollow.half[0] && center.y.abs() < hollow.half[1]
    };
    let rim = b.shape.half_extents().z;
    // What looks out of an open thing is still in it; nothing looks out of a roof.
    let tallest = if b.is_enclosed { 0.0 } else { a.shape.half_extents().max() };
    upright && within && center.z > hollow.floor - 0.005 && center.z < rim + tallest
}

/// Whether the centre of something at `pose_a` is above `b`, over the ground that `b` covers.
fn is_above(pose_a: &Isometry3<f64>, b: &Entity, pose_b: &Isometry3<f64>) -> bool {
    let center = pose_b.inverse_transform_point(&pose_a.translation.vector.into());
    let half = b.shape.half_extents();
    let higher = pose_a.translation.z > pose_b.translation.z;
    // A thing on its side covers other ground; touching and being higher is what is left to tell.
    let upright = (pose_b.rotation * Vector3::z()).z.abs() > 0.8;
    higher && (!upright || (center.x.abs() <= half.x && center.y.abs() <= half.y))
}
