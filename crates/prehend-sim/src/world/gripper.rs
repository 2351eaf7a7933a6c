//! The gripper: two dynamic fingers that close with a saturated force and hold by friction.
//!
//! The fingers are coupled through their force limits as a linkage couples them: the finger that is more open pushes
//! harder, by `F + 2000 e + 40 de`, e being its travel minus the mean, within 0 to 2 F.

use super::settings::STEP;
use rapier3d::prelude::{GenericJoint, JointAxis, MotorModel};

/// Grip force when none is asked for, newtons.
pub const DEFAULT_GRIP_FORCE: f64 = 30.0;
/// Weakest and strongest grip, newtons.
const GRIP_FORCE: [f64; 2] = [5.0, 38.0];
/// Speed of a finger, m/s.
const FINGER_SPEED: f64 = 0.10;
/// Travel error at which a position counts as reached, metres.
const REACHED: f64 = 0.001;
/// Speed below which a finger stands, m/s.
const STANDING: f64 = 0.002;
/// Seconds of standing after which a gripper that is not at its goal is stalled.
const STALL_TIME: f64 = 0.25;
/// Seconds after which a gripper that neither is at its goal nor stands still gives up, as drivers do.
const LONGEST: f64 = 4.0;
/// Stiffness and damping of the position motor, N/m and N s/m.
const POSITION_MOTOR: [f32; 2] = [8000.0, 120.0];

/// A number of one gripper command; later commands have larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GripId(pub u64);

/// How a gripper command ended, in the words of `control_msgs/action/GripperCommand`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GripEnd {
    /// Which command.
    pub id: GripId,
    /// The fingers stand before the goal, because something is between them.
    pub stalled: bool,
    /// The goal was reached.
    pub reached_goal: bool,
    /// A later command took its place.
    pub replaced: bool,
    /// Opening at the end, metres.
    pub opening: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Closing or gripping with a force.
    Force,
    /// Moving to or holding a position.
    Position,
}

#[derive(Clone, Debug)]
pub(super) struct Gripper {
    mode: Mode,
    /// Half the opening asked for.
    target: f64,
    /// Where the position motor wants the fingers now.
    setpoint: f64,
    force: f64,
    /// Travel of both fingers and its rate.
    travel: [f64; 2],
    rate: [f64; 2],
    running: Option<(GripId, f64, f64)>,
    next_id: u64,
}

impl Gripper {
    pub(super) fn new(travel: f64) -> Self {
        Self {
            mode: Mode::Position,
            target: travel,
            setpoint: travel,
            force: DEFAULT_GRIP_FORCE,
            travel: [travel; 2],
            rate: [0.0; 2],
            running: None,
            next_id: 1,
        }
    }

    pub(super) fn opening(&self) -> f64 {
        self.travel[0] + self.travel[1]
    }

    pub(super) fn is_moving(&self) -> bool {
        self.running.is_some()
    }

    /// Goes to an opening, metres; effort in newtons, 0 or less for the default.
    pub(super) fn command(&mut self, opening: f64, effort: f64, travel: f64) -> (GripId, Option<GripEnd>) {
        let replaced = self.running.take().map(|(id, _, _)| GripEnd {
            id,
            stalled: false,
            reached_goal: false,
            replaced: true,
            opening: self.opening(),
        });
        let force = if effort > 0.0 { effort } else { DEFAULT_GRIP_FORCE };
        self.force = force.clamp(GRIP_FORCE[0], GRIP_FORCE[1]);
        self.target = (opening / 2.0).clamp(0.0, travel);
        let mean = self.opening() / 2.0;
        self.mode = if self.target < mean - REACHED { Mode::Force } else { Mode::Position };
        self.setpoint = mean;
        let id = GripId(self.next_id);
        self.next_id += 1;
        self.running = Some((id, 0.0, 0.0));
        (id, replaced)
    }

    /// Ends the running command and keeps the fingers where they are; what presses on something goes on pressing.
    pub(super) fn hold(&mut self) -> Option<GripEnd> {
        let (id, _, standing) = self.running.take()?;
        let gripping = self.mode == Mode::Force && standing > 4.0 * STEP;
        if !gripping {
            self.mode = Mode::Position;
            self.target = self.opening() / 2.0;
            self.setpoint = self.target;
        }
        Some(GripEnd { id, stalled: gripping, reached_goal: false, replaced: false, opening: self.opening() })
    }

    /// Notes where the fingers are after a step; gives the command that ended.
    pub(super) fn observe(&mut self, travel: [f64; 2]) -> Option<GripEnd> {
        for (rate, (now, before)) in self.rate.iter_mut().zip(travel.iter().zip(self.travel)) {
            *rate = (now - before) / STEP;
        }
        self.travel = travel;
        let mean = self.opening() / 2.0;
        let speed = (self.rate[0] + self.rate[1]).abs() / 2.0;
        let reached = match self.mode {
            Mode::Force => mean <= self.target + REACHED,
            Mode::Position => (mean - self.target).abs() <= REACHED,
        };
        if reached && self.mode == Mode::Force && self.target > 0.0 {
            self.mode = Mode::Position;
            self.setpoint = self.target;
        }
        let (id, mut age, mut standing) = self.running?;
        age += STEP;
        standing = if speed < STANDING { standing + STEP } else { 0.0 };
        let stalled = !reached && (standing >= STALL_TIME || age >= LONGEST);
        // A goal counts as reached when the fingers are there and stand.
        let done = (reached && (standing >= 4.0 * STEP || age >= LONGEST)) || stalled;
        self.running = (!done).then_some((id, age, standing));
        done.then_some(GripEnd { id, stalled, reached_goal: reached, replaced: false, opening: 2.0 * mean })
    }

    /// Sets a finger's motor for the next step.
    pub(super) fn drive(&mut self, finger: usize, joint: &mut GenericJoint) {
        let axis = JointAxis::LinX;
        joint.set_motor_model(axis, MotorModel::ForceBased);
        match self.mode {
            Mode::Force => {
                let mean = self.opening() / 2.0;
                let error = self.travel[finger] - mean;
                let rate = self.rate[finger] - (self.rate[0] + self.rate[1]) / 2.0;
                let force = (self.force + 2000.0 * error + 40.0 * rate).clamp(0.0, 2.0 * self.force);
                joint.set_motor(axis, 0.0, -FINGER_SPEED as f32, 0.0, 2e4);
                joint.set_motor_max_force(axis, force as f32);
            }
            Mode::Position => {
                if finger == 0 {
                    let step = FINGER_SPEED * STEP;
                    self.setpoint += (self.target - self.setpoint).clamp(-step, step);
                }
                joint.set_motor_position(axis, self.setpoint as f32, POSITION_MOTOR[0], POSITION_MOTOR[1]);
                joint.set_motor_max_force(axis, 2.0 * self.force as f32);
            }
        }
    }

    /// What its future depends on, for the state hash.
    pub(super) fn state(&self) -> [f64; 8] {
        [
            f64::from(u8::from(self.mode == Mode::Force)),
            self.target,
            self.setpoint,
            self.force,
            self.travel[0],
            self.travel[1],
            self.rate[0],
            self.rate[1],
        ]
    }
}
