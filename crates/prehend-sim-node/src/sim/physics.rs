//! The physics thread: steps the world at the wanted speed, carries out commands, publishes what a robot publishes.

use super::arm_handle::{ArmHandle, Command, RobotState};
use super::base::drive::DriveEnd;
use super::base::rig::BaseRig;
use super::camera::{FrameSlot, FrameToDraw};
use super::judge::{Answer, Faults, JointsFault, Request, TfFault};
use prehend_convert::{header, stamp, transform_to_msg};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::rosgraph_msgs::msg::Clock;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_navigation::Pose2;
use prehend_robots::RobotConfig;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use prehend_sim::World;
use prehend_sim::world::{DriveError, GripEnd, GripId, LinkJoint, MotionId, MotionOutcome, STEP};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// Steps between two `/clock` messages: 120 Hz of simulated time.
const CLOCK_STEPS: u64 = 2;
/// Steps between two joint states and transforms: 60 Hz of simulated time.
const STATE_STEPS: u64 = 4;
/// How late late transforms are, seconds.
const LATE: f64 = 3.0;
/// How far simulated time may lag behind before the lag is forgotten.
const FORGIVEN_LAG: Duration = Duration::from_millis(200);
/// Simulated seconds per wall second where as many are wanted as the machine can. What a robot thinks takes wall time and what it knows grows
/// old in simulated time: without a bound, a machine that steps a world at rest 150 times as fast lets permits expire while a grasp is planned.
const FASTEST: f64 = 10.0;

/// What the thread needs besides the world.
pub(super) struct Publishers {
    clock: Publisher<Clock>,
    joint_states: Publisher<JointState>,
    tf: Publisher<TFMessage>,
    /// Kept so that late joiners get the fixed transforms.
    tf_static: Publisher<TFMessage>,
}

impl Publishers {
    pub(super) fn create(node: &Node, robot: &RobotConfig) -> Result<Self, RosError> {
        Ok(Self {
            clock: node.create_publisher("/clock", QosProfile::sensor_data().depth(1))?,
            joint_states: node.create_publisher(&robot.joint_states, QosProfile::default().depth(10))?,
            tf: node.create_publisher("/tf", QosProfile::default().depth(100))?,
            tf_static: node.create_publisher("/tf_static", QosProfile::transient_local().depth(1))?,
        })
    }
}

pub(super) struct Physics {
    pub(super) world: World,
    pub(super) robot: RobotConfig,
    pub(super) publishers: Publishers,
    pub(super) commands: Receiver<Command>,
    pub(super) state: watch::Sender<RobotState>,
    pub(super) frames: FrameSlot,
    pub(super) speed: f64,
    /// The base, when it drives.
    pub(super) base: Option<BaseRig>,
}

/// Answers that wait for something to end.
#[derive(Default)]
struct Waiting {
    motions: HashMap<MotionId, oneshot::Sender<MotionOutcome>>,
    grips: HashMap<GripId, oneshot::Sender<GripEnd>>,
}

/// What a robot reports of itself in this state of the world.
pub(super) fn robot_state(world: &World) -> RobotState {
    RobotState {
        time: world.time(),
        positions: world.arm_joints().to_vec(),
        velocities: world.arm_velocities().to_vec(),
        opening: world.gripper_opening(),
        drive: world.drive_position(),
        moving: world.is_moving(),
    }
}

impl Physics {
    /// Runs until it is told to end, or every sender of commands is gone.
    pub(super) fn run(mut self) {
        let mut faults = Faults::default();
        let mut waiting = Waiting::default();
        let camera_steps = (1.0 / (self.world.scene().scene.camera.rate_hz * STEP)).round().max(1.0) as u64;
        let mut steps: u64 = 0;
        let mut rate = RealTimeRate::new(self.speed);
        self.publish_fixed();
        loop {
            loop {
                match self.commands.try_recv() {
                    Ok(Command::End) => return,
                    Ok(command) => self.obey(command, &mut waiting, &mut faults),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            self.world.step();
            steps += 1;
            if let Some(base) = &mut self.base {
                base.step(&mut self.world, steps);
            }
            self.tell_ends(&mut waiting);
            let picture = steps.is_multiple_of(camera_steps);
            if steps.is_multiple_of(CLOCK_STEPS) {
                sent(self.publishers.clock.publish(&Clock { clock: stamp(self.world.time()) }));
                self.state.send_replace(robot_state(&self.world));
            }
            if steps.is_multiple_of(STATE_STEPS) || picture {
                self.publish_state(faults);
            }
            if picture {
                self.frames.put(FrameToDraw {
                    frame: self.world.frame(),
                    number: steps / camera_steps,
                    faults,
                });
            }
            rate.wait();
        }
    }

    fn obey(&mut self, command: Command, waiting: &mut Waiting, faults: &mut Faults) {
        match command {
            Command::Execute { points, reply } => {
                let answer = self.world.execute(&points).map(|id| {
                    let (ended, receiver) = oneshot::channel();
                    waiting.motions.insert(id, ended);
                    receiver
                });
                // Who asked may have gone; the motion then goes on as it would on a real controller.
                let _ = reply.send(answer);
            }
            Command::Drive { route, reply } => match &mut self.base {
                Some(base) => base.start(&route, &self.world, reply),
                None => {
                    // Who asked may have gone.
                    let _ = reply.send(DriveEnd::Refused(DriveError::NoBase));
                }
            },
            Command::Steer(velocity) => {
                if let Some(base) = &mut self.base {
                    base.obey(&mut self.world, velocity);
                }
            }
            Command::Brake => {
                if let Some(base) = &mut self.base {
                    base.stop(&mut self.world);
                }
            }
            // Taken out by the loop above.
            Command::End => {}
            Command::Stop => self.world.stop(),
            Command::Grip { opening, effort, reply } => {
                let id = self.world.command_gripper(opening, effort);
                waiting.grips.insert(id, reply);
            }
            Command::HoldGrip => self.world.hold_gripper(),
            Command::Judge(request, reply) => {
                let _ = reply.send(self.answer(request, faults));
            }
        }
    }

    fn tell_ends(&mut self, waiting: &mut Waiting) {
        for end in self.world.take_motion_ends() {
            self.state.send_replace(robot_state(&self.world));
            if let MotionOutcome::ForceLimit(force) = end.outcome {
                let contact = self.world.hardest_contact();
                let (link, other) = contact.unwrap_or_default();
                tracing::warn!(%link, %other, force, "the force guard stopped the arm");
            }
            if let Some(reply) = waiting.motions.remove(&end.id) {
                let _ = reply.send(end.outcome);
            }
        }
        for end in self.world.take_grip_ends() {
            self.state.send_replace(robot_state(&self.world));
            if let Some(reply) = waiting.grips.remove(&end.id) {
                let _ = reply.send(end);
            }
        }
    }

    fn answer(&mut self, request: Request, faults: &mut Faults) -> Answer {
        let json = |value: serde_json::Result<serde_json::Value>| match value {
            Ok(value) => Answer::Json(value),
            Err(error) => Answer::Error(error.to_string()),
        };
        let done = |result: Result<(), prehend_sim::world::NudgeError>| match result {
            Ok(()) => Answer::Json(serde_json::json!({ "done": true })),
            Err(error) => Answer::Error(error.to_string()),
        };
        let told = |done: bool| match done {
            true => Answer::Json(serde_json::json!({ "done": true })),
            false => Answer::Error("no base that drives, or not a number".to_owned()),
        };
        match request {
            Request::Snapshot => json(serde_json::to_value(self.world.truth())),
            Request::Scene => json(serde_json::to_value(self.world.scene())),
            Request::Motions => json(serde_json::to_value(self.world.motions())),
            Request::Overview { .. } => Answer::Draw(Box::new(self.world.frame())),
            Request::MoveObject { object, position } => {
                done(self.world.move_object(&object, &position.into()))
            }
            Request::PushObject { object, velocity } => {
                done(self.world.push_object(&object, &velocity.into()))
            }
            Request::KnockOver { object, toward: [x, y] } => {
                done(self.world.knock_over(&object, &[x, y, 0.0].into()))
            }
            Request::JumpLocalisation { by: [x, y, yaw] } => {
                let own = self.base.as_ref().is_some_and(BaseRig::localises);
                told(own && self.world.jump_localisation(Pose2::new(x, y, yaw)))
            }
            Request::PutObstacle { position } => told(self.world.put_obstacle(position)),
            Request::Bump => told(self.world.bump()),
            Request::Jam => {
                self.world.jam();
                told(true)
            }
            // Answered where they are read: drivers, MoveIt and Nav2 are no part of physics.
            Request::Vendor(_) | Request::Moveit(_) | Request::Nav2(_) => {
                Answer::Error("not of physics".to_owned())
            }
            Request::Fault(change) => {
                faults.apply(change);
                Answer::Json(serde_json::json!({ "done": true }))
            }
        }
    }

    /// Transforms that never change.
    fn publish_fixed(&self) {
        let transforms = self.transforms(|joint| matches!(joint, LinkJoint::Fixed));
        sent(self.publishers.tf_static.publish(&TFMessage { transforms }));
    }

    fn publish_state(&self, faults: Faults) {
        let world = &self.world;
        let arm = world.model().joints().iter().map(|joint| joint.name.clone());
        let gripper = std::iter::once(self.robot.gripper.joint.clone());
        let positions = world.arm_joints().iter().copied().chain(std::iter::once(world.drive_position()));
        let velocities = world.arm_velocities().iter().copied().chain(std::iter::once(0.0));
        let efforts = world.arm_efforts().into_iter().chain(std::iter::once(world.drive_effort()));
        let mut states = JointState {
            header: header("", world.time()),
            name: arm.chain(gripper).collect(),
            position: positions.collect(),
            velocity: velocities.collect(),
            effort: efforts.collect(),
        };
        if faults.joints == JointsFault::Nan {
            states.position.fill(f64::NAN);
        }
        if faults.joints == JointsFault::Names {
            states.name.iter_mut().for_each(|name| name.insert_str(0, "other_"));
        }
        if faults.joints != JointsFault::Silent {
            sent(self.publishers.joint_states.publish(&states));
        }
        if faults.tf != TfFault::Frozen {
            let mut transforms = self.transforms(|joint| !matches!(joint, LinkJoint::Fixed));
            if faults.tf != TfFault::Odometry {
                transforms.extend(self.base.iter().flat_map(|base| base.transforms(&self.world)));
            }
            if faults.tf == TfFault::Late {
                let then = stamp((world.time() - LATE).max(0.0));
                transforms.iter_mut().for_each(|transform| transform.header.stamp = then.clone());
            }
            sent(self.publishers.tf.publish(&TFMessage { transforms }));
        }
    }

    fn transforms(&self, wanted: impl Fn(&LinkJoint) -> bool) -> Vec<TransformStamped> {
        let (world, model) = (&self.world, self.world.model());
        let stamp: Time = stamp(world.time());
        let links = model.links();
        links
            .iter()
            .filter(|link| wanted(&link.joint))
            .filter_map(|link| {
                let parent = links.get(link.parent?)?;
                let pose = model.parent_from_link(link, world.arm_joints(), world.gripper_opening());
                let mut header = header(&parent.name, 0.0);
                header.stamp = stamp.clone();
                Some(TransformStamped {
                    header,
                    child_frame_id: link.name.clone(),
                    transform: transform_to_msg(&pose),
                })
            })
            .collect()
    }
}

/// Ends the physics thread.
pub(super) fn end(arm: &ArmHandle) {
    // An error means that it has ended already.
    let _ = arm.send(Command::End);
}

fn sent(result: Result<(), RosError>) {
    if let Err(error) = result {
        tracing::debug!("not sent: {error}");
    }
}

/// Keeps simulated time to wall time times a speed.
struct RealTimeRate {
    step: Duration,
    next: Instant,
}

impl RealTimeRate {
    fn new(speed: f64) -> Self {
        let speed = if speed > 0.0 && speed.is_finite() { speed } else { FASTEST };
        Self { step: Duration::from_secs_f64(STEP / speed), next: Instant::now() }
    }

    fn wait(&mut self) {
        self.next += self.step;
        let now = Instant::now();
        if self.next > now {
            std::thread::sleep(self.next - now);
        } else if now - self.next > FORGIVEN_LAG {
            self.next = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_fast_as_the_machine_can_has_a_bound_and_a_number_is_taken_as_it_is() {
        let times = |speed: f64| STEP / RealTimeRate::new(speed).step.as_secs_f64();
        for (wanted, expected) in [(0.0, FASTEST), (f64::NAN, FASTEST), (1.0, 1.0), (3.0, 3.0), (40.0, 40.0)]
        {
            assert!((times(wanted) / expected - 1.0).abs() < 1e-3, "{wanted}: {}", times(wanted));
        }
    }
}
