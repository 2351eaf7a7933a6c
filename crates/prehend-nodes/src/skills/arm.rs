//! The only place that moves the robot: everything here needs a redeemed permit.

use super::moveit::{MoveIt, SILENCE};
use crate::interrupt::Interrupt;
use crate::moving::{self, HALT, NotBegun};
use crate::permit::RedeemedPermit;
use nalgebra::Point3;
use prehend_execution::{Forbidden, Grip, Joints, Planned as _, Progress, SkillFault, keeps_to};
use prehend_msgs::Action;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_msgs::moveit_msgs::action::ExecuteTrajectory;
use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_robots::RobotConfig;
use prehend_robots::joints::{self, Joints as Heard};
use prehend_robots::motion_bounds::Checked;
use prehend_robots::moveit::{self, Verdict};
use prehend_robots::moveit_layout::Executions;
use prehend_robots::of_robot;
use prehend_robots::shell::Shell;
use prehend_ros::{ActionClient, GoalStatus, Node, Pulse, RosError};
use prehend_scene::SkillPlan;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Longest wait for MoveIt's answer to a cancel.
const TOLD: Duration = Duration::from_millis(300);
/// Longest time for one motion, wall clock: a slow machine simulates slower than real time.
const LONGEST: Duration = Duration::from_secs(90);
/// How often it is looked whether joint states still come while something moves.
const MEASURED_PERIOD: Duration = Duration::from_millis(50);
/// Longest wait for the joint states that a motion begins with: nothing moves meanwhile, and what starts on a busy machine is late.
const FIRST: Duration = Duration::from_secs(5);
/// Longest wait for joint states to settle.
pub(super) const SETTLE: Duration = Duration::from_millis(1500);
/// How near to the end of its trajectory a joint has arrived, radians or metres, and the longest wait for joint states that say so.
const ARRIVED: f64 = 0.01;
const ARRIVAL: Duration = Duration::from_millis(400);

/// The robot's actuators.
#[derive(Debug)]
pub(super) struct Arm {
    trajectory: Executions,
    controller: ActionClient<FollowJointTrajectory::Action>,
    pub(super) gripper: ActionClient<GripperCommand::Action>,
    moveit: Arc<MoveIt>,
    pub(super) joints: watch::Receiver<Option<Heard>>,
    notice_stuck: bool,
}

impl Arm {
    pub(super) fn new(
        node: &Node,
        robot: &RobotConfig,
        moveit: Arc<MoveIt>,
        joints: watch::Receiver<Option<Heard>>,
        notice_stuck: bool,
    ) -> Result<Self, RosError> {
        Ok(Self {
            trajectory: robot.moveit.executions(node)?,
            controller: node.create_action_client(&robot.arm.controller)?,
            gripper: node.create_action_client(&robot.gripper.action)?,
            moveit,
            joints,
            notice_stuck,
        })
    }

    /// The newest joint state, when it is fresh.
    pub(super) fn joints(&self) -> Result<Joints, SkillFault> {
        Ok(joints::fresh(&self.joints)?.measured)
    }

    /// Waits for joint states that come from now on: the last of a robot that has fallen silent are no measurement, and those of
    /// one that was silent may be on their way.
    pub(super) async fn measured(&self) -> Result<(), SkillFault> {
        let mut joints = self.joints.clone();
        joints.mark_unchanged();
        let fresh = async { while joints.changed().await.is_ok() && self.joints().is_err() {} };
        // What came in time, or did not, is told below.
        let _ = tokio::time::timeout(FIRST, fresh).await;
        self.joints().map(drop)
    }

    /// Completes when joint states are not fresh any more: nobody knows where the arm is then.
    async fn unmeasured(&self) -> SkillFault {
        let mut interval = tokio::time::interval(MEASURED_PERIOD);
        loop {
            interval.tick().await;
            if let Err(fault) = self.joints() {
                return fault;
            }
        }
    }

    /// Completes when the server of an action that moves the robot has died before it took a goal.
    async fn lost(&self, server: Server) -> RosError {
        match server {
            Server::Driver => std::future::pending().await,
            Server::MoveIt => self.moveit.lost().await,
        }
    }

    /// Hears, for as long as a motion goes on, whether its server lives that does not say so itself.
    async fn attend(&self, server: Server, pulse: &Pulse) -> Infallible {
        match server {
            Server::Driver => std::future::pending().await,
            Server::MoveIt => self.moveit.attend(pulse).await,
        }
    }

    /// Stops whatever moves, whoever asked for it. Needs no permit: standing still is always permitted.
    ///
    /// MoveIt is told, and hardly waited for: it may be gone, and it takes no cancel before the controller has ended its motion.
    pub(super) async fn halt(&self) {
        let (a, b, c) = tokio::join!(
            self.trajectory.cancel_all(TOLD),
            self.controller.halt_all(HALT),
            self.gripper.halt_all(HALT)
        );
        for result in [a, b, c] {
            if let Err(error) = result {
                tracing::warn!("cancel: {error}");
            }
        }
    }

    /// Begins a motion sequence; the permit is used up.
    pub(super) fn begin<'a>(
        &'a self,
        permit: RedeemedPermit,
        shell: &'a Shell,
        interrupt: &'a Interrupt<'a, ExecuteSkill::Action>,
        (goal_id, runtime): (&'a str, &'a Handle),
    ) -> Result<Motion<'a>, SkillFault> {
        interrupt.check()?;
        interrupt.check_peers("start of the motion")?;
        interrupt.arming.check().map_err(Forbidden::from)?;
        self.joints()?;
        shell.set_motion_active(true);
        Ok(Motion { arm: self, shell, interrupt, goal_id, permit, runtime })
    }
}

/// Who serves an action that moves the robot.
#[derive(Clone, Copy, Debug)]
enum Server {
    /// Asked something else while it executes.
    MoveIt,
    /// Answers while it moves.
    Driver,
}

/// A permitted motion sequence under way; dropping it ends the permission.
pub(super) struct Motion<'a> {
    pub(super) arm: &'a Arm,
    pub(super) shell: &'a Shell,
    interrupt: &'a Interrupt<'a, ExecuteSkill::Action>,
    goal_id: &'a str,
    permit: RedeemedPermit,
    runtime: &'a Handle,
}

impl Drop for Motion<'_> {
    fn drop(&mut self) {
        self.shell.set_motion_active(false);
    }
}

impl Motion<'_> {
    /// The plan being executed.
    pub(super) fn plan(&self) -> &SkillPlan {
        self.permit.plan()
    }

    pub(super) fn tell(&self, phase: &'static str, status: &str, message: String) {
        let data = json!({ "permit": self.permit.id(), "skill": self.plan().skill.name() });
        self.shell.trace.event(self.goal_id, TraceEvent::KIND_MOTION, phase, status, message, data);
    }

    async fn follow(
        &self,
        phase: &'static str,
        trajectory: Checked,
        enough: impl Future<Output = ()>,
    ) -> Result<bool, SkillFault> {
        let points = &trajectory.joint_trajectory.points;
        let seconds = points
            .last()
            .map_or(0.0, |p| f64::from(p.time_from_start.sec) + f64::from(p.time_from_start.nanosec) * 1e-9);
        self.tell(phase, "started", format!("{phase}: {} points, {seconds:.1} s", points.len()));
        let started = Instant::now();
        let end = trajectory.positions().last().cloned();
        let mut stuck = None;
        let progress = Progress::new(trajectory.timed()).filter(|_| self.arm.notice_stuck);
        let enough = async {
            tokio::select! {
                () = enough => {}
                share = self.stuck(progress) => stuck = Some(share),
            }
        };
        let ended = self.follow_until(phase, trajectory, enough).await;
        let result = match (ended, stuck) {
            (Ok(None), Some(share)) => Err(SkillFault::Stuck { phase, share }),
            (Ok(None), None) => Ok(true),
            (Ok(Some((status, result))), _) => executed(phase, status, &result.error_code).map(|()| false),
            (Err(fault), _) => Err(fault),
        };
        if let (Ok(false), Some(end)) = (&result, end) {
            self.arrived(&end).await;
        }
        self.tell_end(phase, started, &result);
        result
    }

    /// Waits until the joint states are of now: the end of a motion may be heard before they are, and the next motion begins where
    /// they say that the arm is. An arm that ended somewhere else is where it is measured.
    async fn arrived(&self, end: &[f64]) {
        let mut joints = self.arm.joints.clone();
        let is_there = |j: &Option<Heard>| {
            j.as_ref().is_some_and(|j| {
                j.measured.arm.iter().zip(end).all(|(is, wanted)| (is - wanted).abs() < ARRIVED)
            })
        };
        let _ = tokio::time::timeout(ARRIVAL, joints.wait_for(is_there)).await;
    }

    /// Follows a trajectory in contact; a guard on the robot's side that stops it has felt resistance, too.
    async fn press(
        &self,
        phase: &'static str,
        trajectory: Checked,
        (start, path): (&Point3<f64>, &[Point3<f64>]),
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault> {
        if !keeps_to(self.plan(), (start, path)) {
            return Err(SkillFault::Corridor { phase });
        }
        let way: f64 = path.windows(2).map(|step| (step[1] - step[0]).norm()).sum();
        self.tell(phase, "started", format!("{phase}: {:.0} mm in contact", way * 1e3));
        let started = Instant::now();
        let ended = self.follow_until(phase, trajectory, self.felt(stop)).await;
        let result = match ended {
            Ok(None) => Ok(true),
            // The guard on the robot's side stopped it: that is resistance as well.
            Ok(Some((_, result))) if result.error_code.val == MoveItErrorCodes::CONTROL_FAILED => Ok(true),
            Ok(Some((status, result))) => executed(phase, status, &result.error_code).map(|()| false),
            Err(fault) => Err(fault),
        };
        self.tell_end(phase, started, &result);
        result
    }

    /// Completes when the arm does not come forward, with how much of the motion is behind, [0, 1].
    async fn stuck(&self, progress: Option<Progress>) -> f64 {
        let Some(mut progress) = progress else { return std::future::pending().await };
        self.felt(&mut |joints| progress.is_stuck(joints)).await;
        progress.share()
    }

    /// Completes when a joint state makes `stop` say so.
    async fn felt(&self, stop: &mut dyn FnMut(&Joints) -> bool) {
        let mut joints = self.arm.joints.clone();
        loop {
            if joints.changed().await.is_err() {
                // No joint state will come; what watches the peers ends the motion.
                std::future::pending::<()>().await;
            }
            if joints.borrow_and_update().as_ref().is_some_and(|heard| stop(&heard.measured)) {
                return;
            }
        }
    }

    pub(super) fn tell_end<T>(&self, phase: &'static str, started: Instant, result: &Result<T, SkillFault>) {
        let seconds = started.elapsed().as_secs_f64();
        match result {
            Ok(_) => self.tell(phase, "done", format!("{phase}: done in {seconds:.1} s")),
            Err(fault) => self.tell(phase, fault.reason().code(), format!("{phase}: {fault}")),
        }
    }

    /// Sends one goal and waits for its end; anything that interrupts stops the arm first.
    pub(super) async fn run<A: Action>(
        &self,
        phase: &'static str,
        client: &ActionClient<A>,
        goal: A::Goal,
    ) -> Result<A::Result, SkillFault> {
        match self.run_until(phase, (Server::Driver, client), goal, std::future::pending()).await? {
            Some((_, result)) => Ok(result),
            None => Err(SkillFault::ControlFailed { phase, detail: "stopped by nobody".to_owned() }),
        }
    }

    /// Sends a trajectory, in the robot's layout; ends as [`run_until`](Self::run_until) does.
    async fn follow_until(
        &self,
        phase: &'static str,
        trajectory: Checked,
        enough: impl Future<Output = ()>,
    ) -> Result<Option<(GoalStatus, ExecuteTrajectory::Result)>, SkillFault> {
        let goal = ExecuteTrajectory::Goal { trajectory: trajectory.into(), ..Default::default() };
        match &self.arm.trajectory {
            Executions::Jazzy(client) => self.run_until(phase, (Server::MoveIt, client), goal, enough).await,
            Executions::Humble(client) => {
                let goal = Executions::humble_goal(goal);
                let ended = self.run_until(phase, (Server::MoveIt, client), goal, enough).await?;
                Ok(ended.map(|(status, result)| (status, Executions::jazzy_result(result))))
            }
        }
    }

    /// As [`run`](Self::run), but ends early, the robot standing, when `enough` completes: then `None`.
    async fn run_until<A: Action>(
        &self,
        phase: &'static str,
        (server, client): (Server, &ActionClient<A>),
        goal: A::Goal,
        enough: impl Future<Output = ()>,
    ) -> Result<Option<(GoalStatus, A::Result)>, SkillFault> {
        self.interrupt.check()?;
        let raised = async {
            tokio::select! {
                fault = self.interrupt.raised_in_motion(phase) => fault,
                error = self.arm.lost(server) => of_robot(phase, &error),
            }
        };
        let sent = Instant::now();
        let begun = moving::begin(client, goal, raised, || self.arm.halt()).await;
        let mut handle = begun.map_err(|error| match error {
            NotBegun::Raised(fault) => fault,
            NotBegun::NotTaken(error) => of_robot(phase, &error),
        })?;
        let pulse = handle.pulse();
        let ended = tokio::select! {
            fault = self.interrupt.raised_in_motion(phase) => Err(fault),
            fault = self.arm.unmeasured() => Err(fault),
            never = self.arm.attend(server, &pulse) => match never {},
            result = handle.result(SILENCE) => Ok(Some(result)),
            () = enough => Ok(None),
            () = tokio::time::sleep(LONGEST) =>
                Err(SkillFault::ControlFailed { phase, detail: format!("not done after {LONGEST:?}") }),
        };
        match ended {
            Ok(Some(Ok((GoalStatus::Succeeded, result)))) => Ok(Some((GoalStatus::Succeeded, result))),
            Ok(Some(Ok(ended))) => {
                let arming = self.interrupt.arming;
                let overruled = match server {
                    Server::MoveIt => moving::overruled(arming, &self.arm.controller, sent).await,
                    Server::Driver => moving::overruled(arming, client, sent).await,
                };
                overruled.map_or(Ok(Some(ended)), |forbidden| Err(forbidden.into()))
            }
            Ok(None) => {
                moving::stop(&mut handle, SILENCE, || self.arm.halt()).await;
                Ok(None)
            }
            Ok(Some(Err(error))) => {
                self.arm.halt().await;
                Err(of_robot(phase, &error))
            }
            Err(fault) => {
                moving::stop(&mut handle, SILENCE, || self.arm.halt()).await;
                Err(fault)
            }
        }
    }
}

impl prehend_execution::Motion for Motion<'_> {
    type Planned = Checked;

    fn execute(&self, phase: &'static str, trajectory: Checked) -> Result<(), SkillFault> {
        self.runtime.block_on(self.follow(phase, trajectory, std::future::pending())).map(drop)
    }

    fn execute_until(
        &self,
        phase: &'static str,
        trajectory: Checked,
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault> {
        self.runtime.block_on(self.follow(phase, trajectory, self.felt(stop)))
    }

    fn press_on(
        &self,
        phase: &'static str,
        trajectory: Checked,
        contact: (&Point3<f64>, &[Point3<f64>]),
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault> {
        self.runtime.block_on(self.press(phase, trajectory, contact, stop))
    }

    fn grip(&self, phase: &'static str, grip: Grip) -> Result<f64, SkillFault> {
        self.runtime.block_on(self.close_to(phase, grip))
    }
}

/// What the end of an execution means.
fn executed(phase: &'static str, status: GoalStatus, code: &MoveItErrorCodes) -> Result<(), SkillFault> {
    let (words, verdict) = moveit::meaning(code.val);
    match verdict {
        Verdict::Done if status == GoalStatus::Succeeded => Ok(()),
        Verdict::Stopped => Err(Forbidden::Stopped(format!("{phase}: {words}")).into()),
        Verdict::Broken(reason) => Err(SkillFault::Planner { phase, code: code.val, advice: words, reason }),
        Verdict::Done | Verdict::Miss | Verdict::Failed => {
            let detail = format!("{words} (MoveIt code {}, {status:?}) {}", code.val, code.message);
            Err(SkillFault::ControlFailed { phase, detail: detail.trim_end().to_owned() })
        }
    }
}
