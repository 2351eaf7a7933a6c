//! The state as physics has it, for the judge alone: no node may ever see it.

use super::World;
use super::contacts::HardContact;
use crate::body::Owner;
use crate::scene::{ObjectSpec, Shape};
use nalgebra::{Isometry3, Vector3};
use serde::{Deserialize, Serialize};

/// Everything the judge may want to know of one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Simulated time, seconds.
    pub time: f64,
    /// Joint positions, rad.
    pub joints: [f64; 6],
    /// Opening between the pads, metres.
    pub opening: f64,
    /// Low-passed force on the pads, newtons.
    pub pad_force: f64,
    /// The arm moves.
    pub moving: bool,
    /// Height of the table's top, metres.
    pub table_height: f64,
    /// Every object, in the scene's order.
    pub objects: Vec<ObjectTruth>,
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
    /// It is below the table's top.
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
}

impl World {
    /// The state as physics has it.
    pub fn truth(&self) -> Truth {
        let poses = self.object_poses();
        let specs: Vec<&ObjectSpec> = self.objects().iter().map(|object| &object.spec).collect();
        let objects = specs
            .iter()
            .enumerate()
            .map(|(index, spec)| {
                let pose = &poses[index];
                let touched = self.touched_by_object(index);
                let others = |test: &dyn Fn(usize) -> bool| -> Vec<String> {
                    (0..specs.len())
                        .filter(|other| *other != index && test(*other))
                        .map(|other| specs[other].name.clone())
                        .collect()
                };
                ObjectTruth {
                    name: spec.name.clone(),
                    class: spec.class.clone(),
                    shape: spec.shape,
                    color: spec.color.0,
                    color_name: spec.color_name.clone(),
                    fixed: spec.fixed,
                    position: pose.translation.vector.into(),
                    orientation: pose.rotation.coords.into(),
                    half_extents: spec.shape.half_extents().into(),
                    speed: self.object_speed(index),
                    inside: others(&|other| is_inside(spec, pose, specs[other], &poses[other])),
                    on: others(&|other| {
                        touched.contains(&Owner::Object(other)) && is_above(pose, specs[other], &poses[other])
                    }),
                    touches: touched.iter().map(|owner| self.name_of(*owner)).collect(),
                    held: self.is_held(index),
                    fallen: pose.translation.z < self.table_height() - 0.02,
                }
            })
            .collect();
        Truth {
            time: self.time(),
            joints: *self.arm_joints(),
            opening: self.gripper_opening(),
            pad_force: self.pad_force(),
            moving: self.is_moving(),
            table_height: self.table_height(),
            objects,
        }
    }
}

/// Whether the centre of `a` is within the hollow of `b`, not higher than it would lie there on its side or upright.
fn is_inside(a: &ObjectSpec, pose_a: &Isometry3<f64>, b: &ObjectSpec, pose_b: &Isometry3<f64>) -> bool {
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
    let tallest = a.shape.half_extents().max();
    upright && within && center.z > hollow.floor - 0.005 && center.z < rim + tallest
}

/// Whether the centre of something at `pose_a` is above `b`, over the ground that `b` covers.
fn is_above(pose_a: &Isometry3<f64>, b: &ObjectSpec, pose_b: &Isometry3<f64>) -> bool {
    let center = pose_b.inverse_transform_point(&pose_a.translation.vector.into());
    let half = b.shape.half_extents();
    let higher = pose_a.translation.z > pose_b.translation.z;
    // A thing on its side covers other ground; touching and being higher is what is left to tell.
    let upright = (pose_b.rotation * Vector3::z()).z.abs() > 0.8;
    higher && (!upright || (center.x.abs() <= half.x && center.y.abs() <= half.y))
}
