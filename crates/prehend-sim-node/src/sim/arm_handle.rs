//! The arm and gripper as the controllers and MoveIt's face see them: commands to the physics thread, and its state.
//!
//! Nothing here tells more than a real robot does: joint positions, the gripper's opening, how a motion ended.

use super::base::drive::DriveEnd;
use super::base::wire::Nav2Fault;
use super::driver::Vendor;
use prehend_navigation::follow::Velocity;
use prehend_navigation::route::Route;
use prehend_robots::move_group::Misbehaviour;
use prehend_sim::world::{GripEnd, JointPoint, JointVector, MotionOutcome, TrajectoryError};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::{oneshot, watch};

/// What a robot reports of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotState {
    /// Simulated time, seconds.
    pub time: f64,
    /// Arm joints, rad.
    pub positions: JointVector,
    /// Arm joints, rad/s.
    pub velocities: JointVector,
    /// Opening between the pads, metres.
    pub opening: f64,
    /// Position of the gripper's drive joint, rad.
    pub drive: f64,
    /// A trajectory is running.
    pub moving: bool,
}

/// Why the arm does not do what is asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArmError {
    /// The trajectory cannot be executed; nothing moved.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// The vendor's driver does not let it move; nothing moved.
    #[error("the driver refuses to move: {0}")]
    NotReady(String),
    /// The simulation has ended.
    #[error("the robot is gone")]
    Gone,
}

/// A request to the physics thread.
#[derive(Debug)]
pub(super) enum Command {
    /// Start a trajectory; the answer comes at once, the end through the receiver in it.
    Execute {
        /// Points.
        points: Vec<JointPoint>,
        /// Answer.
        reply: oneshot::Sender<Result<oneshot::Receiver<MotionOutcome>, TrajectoryError>>,
    },
    /// Stop the arm.
    Stop,
    /// Move the fingers; the answer comes when they stand.
    Grip {
        /// Opening, metres.
        opening: f64,
        /// Force, newtons; 0 is the default.
        effort: f64,
        /// Answer.
        reply: oneshot::Sender<GripEnd>,
    },
    /// Stop the fingers where they are, unless they grip.
    HoldGrip,
    /// Follow a route with the base; the answer comes when the drive ends.
    Drive {
        /// Route.
        route: Route,
        /// Answer.
        reply: oneshot::Sender<DriveEnd>,
    },
    /// Drive like this, until the next of these or for a quarter of a second.
    Steer(Velocity),
    /// Brake the base.
    Brake,
    /// End the simulation.
    End,
    /// A question of the judge.
    Judge(super::judge::Request, oneshot::Sender<super::judge::Answer>),
}

/// The way to the robot; clones lead to the same one.
#[derive(Clone, Debug)]
pub struct ArmHandle {
    commands: mpsc::Sender<Command>,
    state: watch::Receiver<RobotState>,
    vendor: Arc<Vendor>,
    misbehaviour: Arc<Mutex<Misbehaviour>>,
    nav2: Arc<Mutex<Nav2Fault>>,
}

/// A motion that was started.
#[derive(Debug)]
pub struct Motion {
    ended: oneshot::Receiver<MotionOutcome>,
}

impl Motion {
    /// Completes when the arm stands again, with how it ended. May be dropped and awaited again in a `select!` by
    /// `&mut motion.ended()`; a motion that is dropped goes on.
    pub async fn ended(&mut self) -> Result<MotionOutcome, ArmError> {
        (&mut self.ended).await.map_err(|_| ArmError::Gone)
    }
}

impl ArmHandle {
    pub(super) fn new(
        commands: mpsc::Sender<Command>,
        state: watch::Receiver<RobotState>,
        vendor: Arc<Vendor>,
    ) -> Self {
        Self { commands, state, vendor, misbehaviour: Arc::default(), nav2: Arc::default() }
    }

    /// The vendor's driver in front of this robot.
    pub(super) fn vendor(&self) -> &Vendor {
        &self.vendor
    }

    /// What is wrong with MoveIt's answers.
    pub(super) fn misbehaviour(&self) -> Misbehaviour {
        self.misbehaviour.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is wrong with Nav2.
    pub(super) fn nav2_fault(&self) -> Nav2Fault {
        self.nav2.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes Nav2 wrong, or right again.
    pub(super) fn spoil_nav2(&self, how: Nav2Fault) {
        *self.nav2.lock().unwrap_or_else(PoisonError::into_inner) = how;
    }

    /// Makes MoveIt's answers wrong, or right again.
    pub(super) fn misbehave(&self, how: Misbehaviour) {
        *self.misbehaviour.lock().unwrap_or_else(PoisonError::into_inner) = how;
    }

    /// Stops whatever the vendor's driver does not let move any more.
    pub(super) fn heed(&self) {
        // An error means that the simulation has ended: nothing moves.
        if self.vendor.arm_may_move().is_err() {
            let _ = self.stop();
        }
        if self.vendor.base_may_move().is_err() {
            let _ = self.brake();
        }
    }

    /// What the robot reports of itself, as of the latest step.
    pub fn state(&self) -> RobotState {
        self.state.borrow().clone()
    }

    /// Arm joints, rad.
    pub fn joint_positions(&self) -> JointVector {
        self.state().positions
    }

    /// Opening between the pads, metres.
    pub fn opening(&self) -> f64 {
        self.state().opening
    }

    /// Starts a trajectory from where the arm is; it takes the place of one that is running.
    ///
    /// Errors: [`ArmError::Trajectory`] when it cannot be executed (limits, speeds, start, or the base is driving).
    pub async fn execute(&self, points: Vec<JointPoint>) -> Result<Motion, ArmError> {
        self.vendor.arm_may_move().map_err(ArmError::NotReady)?;
        let (reply, answer) = oneshot::channel();
        self.send(Command::Execute { points, reply })?;
        let ended = answer.await.map_err(|_| ArmError::Gone)??;
        Ok(Motion { ended })
    }

    /// Stops the arm along its path with bounded deceleration; its motion ends as stopped.
    pub fn stop(&self) -> Result<(), ArmError> {
        self.send(Command::Stop)
    }

    /// Moves the fingers to an opening, metres, with a force, newtons (0: the default), and waits until they stand.
    pub async fn grip(&self, opening: f64, effort: f64) -> Result<GripEnd, ArmError> {
        self.vendor.arm_may_move().map_err(ArmError::NotReady)?;
        let (reply, answer) = oneshot::channel();
        self.send(Command::Grip { opening, effort, reply })?;
        answer.await.map_err(|_| ArmError::Gone)
    }

    /// Stops the fingers where they are; fingers that grip something go on gripping.
    pub fn hold_grip(&self) -> Result<(), ArmError> {
        self.send(Command::HoldGrip)
    }

    /// Follows a route with the base and waits until the drive ends.
    pub(super) async fn drive(&self, route: Route) -> Result<DriveEnd, ArmError> {
        self.vendor.base_may_move().map_err(ArmError::NotReady)?;
        let (reply, answer) = oneshot::channel();
        self.send(Command::Drive { route, reply })?;
        answer.await.map_err(|_| ArmError::Gone)
    }

    /// Gives the base a velocity, if the driver lets it move.
    pub(super) fn steer(&self, velocity: Velocity) -> Result<(), ArmError> {
        match self.vendor.base_may_move() {
            Ok(()) => self.send(Command::Steer(velocity)),
            Err(reason) => {
                tracing::debug!("velocity ignored: {reason}");
                Ok(())
            }
        }
    }

    /// Brakes the base; its drive ends as stopped.
    pub(super) fn brake(&self) -> Result<(), ArmError> {
        self.send(Command::Brake)
    }

    pub(super) fn send(&self, command: Command) -> Result<(), ArmError> {
        self.commands.send(command).map_err(|_| ArmError::Gone)
    }

    /// Completes when the simulation has ended.
    pub(super) async fn gone(&self) {
        let mut state = self.state.clone();
        while state.changed().await.is_ok() {}
    }
}
