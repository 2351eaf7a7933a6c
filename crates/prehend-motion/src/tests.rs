//! Value and property tests over the repository's own URDF.

mod collision;
mod fence;
mod ik;
mod kinematics;
mod planning;
mod stretch;
mod timing;

use crate::{CollisionWorld, Placed, RobotGroup, RobotModel, Shape};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use std::sync::Arc;

pub(crate) const URDF: &str = include_str!("../../../urdf/xarm6.urdf");

pub(crate) fn xarm6() -> RobotModel {
    RobotModel::from_urdf(URDF, RobotGroup::xarm6()).expect("the repository's URDF is valid")
}

/// A tool pose that looks down, its fingers opening at `yaw`.
pub(crate) fn down(x: f64, y: f64, z: f64, yaw: f64) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

pub(crate) fn block(x: f64, y: f64, z: f64, half: [f64; 3]) -> Placed {
    Placed { frame_from_shape: Isometry3::translation(x, y, z), shape: Shape::Box { half: half.into() } }
}

/// A joint vector with the hand above the table in front, looking down.
pub(crate) const READY: [f64; 6] = [0.0, -0.6, -0.8, 0.0, 1.4, 0.0];

/// The arm over a table whose top is at z = 0.
pub(crate) fn table_world() -> CollisionWorld {
    let mut world = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    world.set_object("table", vec![block(0.4, 0.0, -0.025, [0.4, 0.6, 0.02])]).expect("a good box");
    world
}
