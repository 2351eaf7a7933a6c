//! A base that drives: where it truly is, where it believes it is, and how it moves.
//!
//! The base is kinematic and moves along exact arcs; it has wheels for looks only. What it reports of itself is wrong by as much as
//! the scene says: the odometry misjudges ways, the localisation is off by an error that wanders while the base moves.

use super::settings::STEP;
use crate::scene::LocalisationSpec;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_navigation::Pose2;
use prehend_navigation::follow::{Velocity, driven};
use prehend_navigation::pose::normalised;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Greatest acceleration of the drives, m/s² and rad/s²: what a command changes faster is smoothed.
const ACCELERATION: [f64; 2] = [1.5, 4.0];
/// Seconds after which a command that was not renewed ends.
const COMMAND_TIME: f64 = 0.25;
/// Way over which the error of the localisation becomes another one, metres (a radian counts as 0.3 m).
const WANDER: f64 = 0.7;
/// Seconds in which a jump of the localisation fades to a third.
const JUMP_TIME: f64 = 4.0;

/// The base touched something hard and was stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bump {
    /// Simulated time, seconds.
    pub time: f64,
    /// Link of the robot that touched.
    pub link: String,
    /// What it touched.
    pub other: String,
    /// Low-passed force, newtons.
    pub force: f64,
}

/// Why the base does not drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// The robot has no base that drives.
    #[error("the robot has no base that drives")]
    NoBase,
    /// The arm moves: the interlock lets only one of them move.
    #[error("the arm is moving")]
    ArmMoves,
    /// A velocity is not a finite number.
    #[error("the velocity is not a finite number")]
    NotFinite,
}

/// A pose on the floor as one in space.
pub fn in_space(pose: &Pose2) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::new(pose.x, pose.y, 0.0),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), pose.yaw),
    )
}

/// The base.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// `map_from_base`, truly.
    pose: Pose2,
    velocity: Velocity,
    command: Velocity,
    command_left: f64,
    odometry: Pose2,
    misjudges: [f64; 2],
    error: Pose2,
    jump: Pose2,
    spec: LocalisationSpec,
    rng: ChaCha8Rng,
}

impl Base {
    pub(super) fn new(start: [f64; 3], spec: LocalisationSpec, seed: u64) -> Self {
        // Another sequence than that of the layout.
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6261_7365);
        let mut share = || spec.drift * (2.0 * rng.random::<f64>() - 1.0);
        let misjudges = [share(), share()];
        let [x, y, yaw] = start;
        let mut base = Self {
            pose: Pose2::new(x, y, yaw),
            velocity: Velocity::default(),
            command: Velocity::default(),
            command_left: 0.0,
            odometry: Pose2::default(),
            misjudges,
            error: Pose2::default(),
            jump: Pose2::default(),
            spec,
            rng,
        };
        base.wander(100.0);
        base
    }

    /// Two normal numbers (Box and Muller).
    fn normal(&mut self) -> [f64; 2] {
        let (u, v) = (self.rng.random::<f64>().max(1e-12), self.rng.random::<f64>());
        let (sin, cos) = (std::f64::consts::TAU * v).sin_cos();
        let radius = (-2.0 * u.ln()).sqrt();
        [radius * cos, radius * sin]
    }

    /// The error of the localisation after a way.
    fn wander(&mut self, way: f64) {
        let keep = (-way / WANDER).exp();
        let fresh = (1.0 - keep * keep).sqrt();
        let ([a, b], [c, _]) = (self.normal(), self.normal());
        let LocalisationSpec { sigma_xy, sigma_yaw, .. } = self.spec;
        let next = |old: f64, sigma: f64, number: f64| keep * old + fresh * sigma * number;
        self.error = Pose2::new(
            next(self.error.x, sigma_xy, a),
            next(self.error.y, sigma_xy, b),
            next(self.error.yaw, sigma_yaw, c),
        );
    }

    /// Takes a command; it holds for a quarter of a second.
    pub(super) fn command(&mut self, velocity: Velocity) {
        (self.command, self.command_left) = (velocity, COMMAND_TIME);
    }

    /// Stands at once.
    pub(super) fn halt(&mut self) {
        (self.velocity, self.command, self.command_left) = (Velocity::default(), Velocity::default(), 0.0);
    }

    /// Advances by a step.
    pub(super) fn step(&mut self) {
        self.command_left -= STEP;
        if self.command_left <= 0.0 {
            self.command = Velocity::default();
        }
        let near = |from: f64, to: f64, most: f64| from + (to - from).clamp(-most * STEP, most * STEP);
        self.velocity = Velocity {
            linear: near(self.velocity.linear, self.command.linear, ACCELERATION[0]),
            angular: near(self.velocity.angular, self.command.angular, ACCELERATION[1]),
        };
        let fade = (-STEP / JUMP_TIME).exp();
        self.jump = Pose2::new(self.jump.x * fade, self.jump.y * fade, self.jump.yaw * fade);
        if !self.is_moving() {
            return;
        }
        self.pose = driven(&self.pose, &self.velocity, STEP);
        let measured = Velocity {
            linear: self.velocity.linear * (1.0 + self.misjudges[0]),
            angular: self.velocity.angular * (1.0 + self.misjudges[1]),
        };
        self.odometry = driven(&self.odometry, &measured, STEP);
        self.wander((self.velocity.linear.abs() + 0.3 * self.velocity.angular.abs()) * STEP);
    }

    pub(super) fn is_moving(&self) -> bool {
        self.velocity.linear != 0.0 || self.velocity.angular != 0.0
    }

    /// Whether it moves or is about to.
    pub(super) fn is_driving(&self) -> bool {
        self.is_moving() || self.command.linear != 0.0 || self.command.angular != 0.0
    }

    pub(super) fn pose(&self) -> &Pose2 {
        &self.pose
    }

    pub(super) fn velocity(&self) -> &Velocity {
        &self.velocity
    }

    pub(super) fn odometry(&self) -> &Pose2 {
        &self.odometry
    }

    /// `map_from_base` as the localisation has it.
    pub(super) fn believed(&self) -> Pose2 {
        let off = |error: &Pose2, pose: Pose2| {
            Pose2::new(pose.x + error.x, pose.y + error.y, normalised(pose.yaw + error.yaw))
        };
        off(&self.jump, off(&self.error, self.pose))
    }

    /// Makes the localisation jump; it finds back within some seconds.
    pub(super) fn jump(&mut self, by: Pose2) {
        self.jump = by;
    }

    /// `map_from_base` in space.
    pub(super) fn map_from_base(&self) -> Isometry3<f64> {
        in_space(&self.pose)
    }

    /// The numbers that the future depends on.
    pub(super) fn state(&self) -> [f64; 8] {
        [
            self.pose.x,
            self.pose.y,
            self.pose.yaw,
            self.velocity.linear,
            self.velocity.angular,
            self.error.x,
            self.error.y,
            self.error.yaw,
        ]
    }
}
