//! The world that planning is measured in.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_motion::{CollisionWorld, Placed, RobotGroup, RobotModel, Shape};
use std::f64::consts::PI;
use std::sync::Arc;

/// Arm up, tool ahead, rad.
pub(crate) const READY: [f64; 6] = [0.0, -0.6, -0.8, 0.0, 1.4, 0.0];

/// The tool at a place, looking down, rotated about z; metres, radians.
pub(crate) fn down(x: f64, y: f64, z: f64, yaw: f64) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

fn block(x: f64, y: f64, z: f64, half: [f64; 3]) -> Placed {
    Placed { frame_from_shape: Isometry3::translation(x, y, z), shape: Shape::Box { half: half.into() } }
}

/// A table and six things on it, each seen as height-map columns of 6 mm: about 1500 boxes.
pub(crate) fn world() -> CollisionWorld {
    let text = include_str!("../../../../urdf/xarm6.urdf");
    let model = RobotModel::from_urdf(text, RobotGroup::xarm6()).expect("a good URDF");
    let mut world = CollisionWorld::new(Arc::new(model), 0.002);
    world.set_object("table", vec![block(0.4, 0.0, -0.025, [0.4, 0.6, 0.02])]).expect("good");
    for (index, (x, y)) in THINGS.iter().enumerate() {
        let mut columns = Vec::new();
        for i in 0..16 {
            for j in 0..16 {
                let (u, v) = (f64::from(i) - 7.5, f64::from(j) - 7.5);
                let height = 0.04 + 0.004 * f64::from((i + j) % 3);
                columns.push(block(x + 0.006 * u, y + 0.006 * v, height / 2.0, [0.003, 0.003, height / 2.0]));
            }
        }
        world.set_object(&format!("thing{index}"), columns).expect("good");
    }
    world
}

/// Where the things stand, metres.
pub(crate) const THINGS: [(f64, f64); 6] =
    [(0.35, 0.25), (0.45, 0.05), (0.55, -0.2), (0.35, -0.25), (0.55, 0.2), (0.33, 0.0)];
