//! A hand for tests: moves the tool by inverse kinematics of its own and closes the gripper.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod eyes;

use nalgebra::{Isometry3, Matrix6, Translation3, UnitQuaternion, Vector3, Vector6};
use prehend_sim::world::{ArmModel, GripEnd, JointPoint, JointVector, MotionOutcome};
use prehend_sim::{Scene, World};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

pub(crate) const HOME: [f64; 6] = [0.0, -0.5984, -1.4209, 0.0, 1.7226, 0.0];

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn model() -> ArmModel {
    let urdf = std::fs::read_to_string(repository().join("urdf/xarm6.urdf")).expect("urdf");
    ArmModel::from_urdf(&urdf).expect("model")
}

/// A scene of these objects (YAML list items) on the default table.
pub(crate) fn scene(objects: &str) -> Scene {
    let text = format!("name: test\nobjects:\n{objects}");
    Scene::parse("test.yaml", &text).unwrap_or_else(|findings| panic!("{findings}\n{text}"))
}

pub(crate) fn world(objects: &str, seed: u64) -> World {
    let placed = scene(objects).instantiate(seed).expect("placed");
    World::new(&placed, &model(), &HOME).expect("world")
}

/// Tool straight down at a place, fingers opening along the direction `yaw` (0: along y).
pub(crate) fn down(x: f64, y: f64, z: f64, yaw: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    Isometry3::from_parts(Translation3::new(x, y, z), turn)
}

fn error(target: &Isometry3<f64>, now: &Isometry3<f64>) -> Vector6<f64> {
    let position = target.translation.vector - now.translation.vector;
    let turn = (target.rotation * now.rotation.inverse()).scaled_axis();
    Vector6::new(position.x, position.y, position.z, turn.x, turn.y, turn.z)
}

/// Damped least squares from `seed`.
pub(crate) fn inverse_kinematics(model: &ArmModel, seed: &[f64], target: &Isometry3<f64>) -> JointVector {
    let mut joints = seed.to_vec();
    for _ in 0..300 {
        let now = model.tcp_pose(&joints);
        let wanted = error(target, &now);
        if wanted.norm() < 1e-6 {
            break;
        }
        let mut jacobian = Matrix6::zeros();
        for joint in 0..6 {
            let mut moved = joints.clone();
            moved[joint] += 1e-6;
            jacobian.set_column(joint, &(error(&model.tcp_pose(&moved), &now) / 1e-6));
        }
        let damped = jacobian * jacobian.transpose() + Matrix6::identity() * 1e-5;
        let step = jacobian.transpose() * damped.try_inverse().expect("damped") * wanted;
        for joint in 0..6 {
            joints[joint] += step[joint].clamp(-0.2, 0.2);
        }
    }
    let left = error(target, &model.tcp_pose(&joints)).norm();
    assert!(left < 1e-4, "no inverse kinematics for {target}: off by {left}");
    joints
}

/// An elbow-up pose whose tool looks ahead and a little down, fingers opening along z: where work on vertical faces begins.
pub(crate) const FORWARD: [f64; 6] = [0.0, -0.1, -0.5, 0.0, -0.67, -PI / 2.0];

pub(crate) struct Rig {
    pub(crate) world: World,
}

impl Rig {
    pub(crate) fn new(objects: &str, seed: u64) -> Self {
        Self { world: world(objects, seed) }
    }

    pub(crate) fn tcp(&self) -> Isometry3<f64> {
        self.world.model().tcp_pose(self.world.arm_joints())
    }

    pub(crate) fn run(&mut self, points: &[JointPoint]) -> MotionOutcome {
        self.world.execute(points).expect("trajectory");
        for _ in 0..240 * 60 {
            self.world.step();
            if let Some(end) = self.world.take_motion_ends().pop() {
                return end.outcome;
            }
        }
        panic!("the motion never ended");
    }

    /// Joint motion with a smooth start and end.
    pub(crate) fn move_joints(&mut self, target: &[f64], seconds: f64) -> MotionOutcome {
        self.run(&[JointPoint {
            time: seconds,
            positions: target.to_vec(),
            velocities: Some(vec![0.0; target.len()]),
        }])
    }

    pub(crate) fn move_to(&mut self, target: &Isometry3<f64>) -> MotionOutcome {
        let joints = inverse_kinematics(self.world.model(), self.world.arm_joints(), target);
        let far = joints.iter().zip(self.world.arm_joints()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // The top speed of the cubic is 1.5 times the mean.
        self.move_joints(&joints, (1.5 * far / 1.5).max(0.2))
    }

    /// Straight line of the tool at a speed, m/s, with smooth start and end.
    pub(crate) fn move_straight(&mut self, target: &Isometry3<f64>, speed: f64) -> MotionOutcome {
        let points = self.straight(target, speed);
        self.run(&points)
    }

    /// The points of [`Rig::move_straight`].
    pub(crate) fn straight(&self, target: &Isometry3<f64>, speed: f64) -> Vec<JointPoint> {
        let start = self.tcp();
        let distance = (target.translation.vector - start.translation.vector).norm();
        let steps = (distance / 0.004).ceil().max(2.0) as usize;
        let seconds = 1.5 * distance / speed;
        let mut joints = self.world.arm_joints().to_vec();
        (1..=steps)
            .map(|step| {
                let s = step as f64 / steps as f64;
                let eased = s * s * (3.0 - 2.0 * s);
                joints = inverse_kinematics(self.world.model(), &joints, &start.lerp_slerp(target, eased));
                JointPoint { time: seconds * s, positions: joints.clone(), velocities: None }
            })
            .collect()
    }

    pub(crate) fn grip(&mut self, opening: f64, effort: f64) -> GripEnd {
        let id = self.world.command_gripper(opening, effort);
        for _ in 0..240 * 10 {
            self.world.step();
            if let Some(end) = self.world.take_grip_ends().into_iter().find(|end| end.id == id) {
                return end;
            }
        }
        panic!("the gripper never stood still");
    }

    pub(crate) fn wait(&mut self, seconds: f64) {
        for _ in 0..(seconds * 240.0) as usize {
            self.world.step();
        }
    }

    /// `tcp_from_object` of an object.
    pub(crate) fn in_hand(&self, object: usize) -> Isometry3<f64> {
        self.tcp().inverse() * self.world.object_poses()[object]
    }
}
