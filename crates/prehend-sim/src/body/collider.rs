//! Parts as collision shapes, and poses between f64 nalgebra and the physics' f32 glam.

use super::{ConvexPart, PartShape};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use rapier3d::math::{Pose, Rotation, Vector};
use rapier3d::prelude::SharedShape;

/// An f64 vector in physics' f32.
pub(crate) fn to_vector(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

/// Physics' f32 vector in f64.
pub(crate) fn from_vector(v: Vector) -> Vector3<f64> {
    Vector3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
}

/// An f64 pose in physics' f32.
pub(crate) fn to_pose(pose: &Isometry3<f64>) -> Pose {
    let q = pose.rotation.quaternion();
    let rotation = Rotation::from_xyzw(q.i as f32, q.j as f32, q.k as f32, q.w as f32).normalize();
    Pose::from_parts(to_vector(&pose.translation.vector), rotation)
}

/// Physics' f32 pose in f64.
pub(crate) fn from_pose(pose: &Pose) -> Isometry3<f64> {
    let r = pose.rotation;
    let quaternion = Quaternion::new(f64::from(r.w), f64::from(r.x), f64::from(r.y), f64::from(r.z));
    Isometry3::from_parts(
        Translation3::from(from_vector(pose.translation)),
        UnitQuaternion::from_quaternion(quaternion),
    )
}

/// Collision shapes of the parts that are felt, each with its `body_from_shape`.
///
/// A hull of points that span no volume is left out: scene files cannot make one.
pub(crate) fn shapes(parts: &[ConvexPart]) -> Vec<(Pose, SharedShape)> {
    parts
        .iter()
        .filter(|part| !part.only_seen)
        .filter_map(|part| {
            // Physics has its cylinders and capsules along y.
            let z_from_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
            let turned = part.body_from_part * z_from_y;
            match &part.shape {
                PartShape::Box { half } => {
                    let shape = SharedShape::cuboid(half.x as f32, half.y as f32, half.z as f32);
                    Some((to_pose(&part.body_from_part), shape))
                }
                PartShape::Sphere { radius } => {
                    Some((to_pose(&part.body_from_part), SharedShape::ball(*radius as f32)))
                }
                PartShape::Cylinder { radius, half_height } => {
                    Some((to_pose(&turned), SharedShape::cylinder(*half_height as f32, *radius as f32)))
                }
                PartShape::Capsule { radius, half_height } => {
                    Some((to_pose(&turned), SharedShape::capsule_y(*half_height as f32, *radius as f32)))
                }
                PartShape::Hull(mesh) => {
                    let points: Vec<Vector> =
                        mesh.vertices.iter().map(|vertex| to_vector(&vertex.coords)).collect();
                    Some((to_pose(&part.body_from_part), SharedShape::convex_hull(&points)?))
                }
            }
        })
        .collect()
}
