//! One errand: to an object, to a pose, round the room, or to look at some places of it.

use super::Node;
use super::fault::GoToFault;
use super::interrupt::Interrupt;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_convert as convert;
use prehend_execution::DRIVE;
use prehend_msgs::geometry_msgs::msg::Pose2D;
use prehend_msgs::prehend_interfaces::action::{ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Prospect, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_navigation::Pose2;
use prehend_navigation::pose::turn;
use prehend_navigation::viewpose::{ViewPoseError, ViewPoseParams, search};
use prehend_ros::{ExecutingGoal, RosError};
use prehend_scene::{ObjectKey, Reason, Scope, Skill, SkillPlan, spatial};
use serde_json::json;
use std::time::Duration;

/// Deadline of a question to another node.
const DEADLINE: Duration = Duration::from_secs(3);
/// Deadline of an action's acceptance, and silence after which its server is lost.
pub(super) const ACCEPT: Duration = Duration::from_secs(3);
pub(super) const SILENCE: Duration = Duration::from_secs(3);
/// Longest wait for the arm to fold.
const FOLD: Duration = Duration::from_secs(90);
/// Within these an object is at hand, frame of the arm: x and y from and to, metres.
const AT_HAND: [[f64; 2]; 2] = [[0.36, 0.66], [-0.22, 0.22]];
/// Greatest angle between where a part faces and where the base stands at which it need not be driven, radians.
const FACING: f64 = 0.7;
/// How far off its goal the base may be, beside the tolerance of the navigation: metres and radians.
const OFF: [f64; 2] = [0.12, 0.15];
/// Longest wait to know that no other Prehend holds the base.
const SETTLED: Duration = Duration::from_secs(3);
/// Longest wait for the last word of a motion of the arm.
const REST: Duration = Duration::from_millis(1000);
/// Longest wait for the localisation to show the base at its goal.
const SETTLE: Duration = Duration::from_millis(1500);

/// One errand.
pub(super) struct Job<'a> {
    pub(super) node: &'a Node,
    pub(super) goal: &'a GoTo::Goal,
    pub(super) handle: &'a ExecutingGoal<GoTo::Action>,
    pub(super) interrupt: Interrupt<'a>,
}

/// What an errand brought.
#[derive(Default)]
pub(super) struct Done {
    pub(super) moved: bool,
    pub(super) keyframes: u32,
    /// Stops of a tour or visit that brought none.
    pub(super) missed: u32,
    pub(super) map_version: u64,
    /// What it would do, where it is only planned.
    pub(super) prospects: Vec<Prospect>,
}

/// An object of the room, as far as driving to it goes.
pub(super) struct Remote {
    pub(super) key: ObjectKey,
    /// What it is called.
    pub(super) class: String,
    pub(super) centre: Point3<f64>,
    map_version: u64,
}

impl Job<'_> {
    /// Runs the errand and says how it ended and where the base is.
    pub(super) async fn run(&self) -> GoTo::Result {
        let done = self.execute().await;
        let mut result = GoTo::Result::default();
        if let (Ok(base), Ok(arm)) = (self.node.ground.base(), self.node.ground.arm()) {
            result.pose = Pose2D { x: base.x, y: base.y, theta: base.yaw };
            result.map_from_arm = convert::pose_to_msg(&arm);
        }
        match done {
            Ok(done) => {
                (result.moved, result.keyframes, result.missed) = (done.moved, done.keyframes, done.missed);
                result.map_version = done.map_version;
                result.prospects = done.prospects;
                let there = if self.goal.plan_only { "planned; nothing was driven" } else { "there" };
                self.tell("done", "done", there);
            }
            Err(fault) => {
                self.tell("done", fault.reason().code(), &fault.to_string());
                result.error_code = fault.code();
                result.error_message = fault.to_string();
                result.reason = fault.reason().code().to_owned();
            }
        }
        result
    }

    async fn execute(&self) -> Result<Done, GoToFault> {
        self.interrupt.introduced().await;
        self.interrupt.check()?;
        self.node.shell.peers.settled(SETTLED).await?;
        if self.goal.plan_only && self.goal.kind != "object" {
            return Err(GoToFault::BadRequest("only a drive to an object can be planned alone".to_owned()));
        }
        match self.goal.kind.as_str() {
            "object" => self.to_object().await,
            "pose" => {
                let Pose2D { x, y, theta } = self.goal.pose;
                let pose = Pose2::new(x, y, theta);
                if !pose.is_finite() {
                    return Err(GoToFault::BadRequest("the pose is not finite".to_owned()));
                }
                self.fold().await?;
                self.drive(&pose, &ObjectKey::default(), 0).await?;
                Ok(Done { moved: true, ..Done::default() })
            }
            "tour" => self.tour().await,
            "visit" => self.visit().await,
            other => {
                let kind = other.chars().take(40).collect::<String>();
                Err(GoToFault::BadRequest(format!("kind `{kind}` is none of object, pose, tour, visit")))
            }
        }
    }

    /// Tells the client and the trace what is going on.
    pub(super) fn tell(&self, phase: &str, status: &str, message: &str) {
        self.tell_places(phase, status, message, &[]);
    }

    /// The same, with the poses of the base that it is about: map frame, metres and radians, for those who draw it.
    pub(super) fn tell_places(&self, phase: &str, status: &str, message: &str, places: &[Pose2]) {
        self.feedback(phase, message, 0.0);
        let mut data = json!({ "kind": self.goal.kind, "object": self.goal.object_key });
        if !places.is_empty() {
            data["places"] = places.iter().map(|at| json!([at.x, at.y, at.yaw])).collect();
        }
        let name = format!("go_to/{phase}");
        self.node.shell.trace.event(
            &self.goal.goal_id,
            TraceEvent::KIND_MOTION,
            &name,
            status,
            message,
            data,
        );
    }

    fn feedback(&self, phase: &str, message: &str, distance_remaining: f64) {
        let feedback =
            GoTo::Feedback { phase: phase.to_owned(), message: message.to_owned(), distance_remaining };
        if let Err(error) = self.handle.publish_feedback(feedback) {
            tracing::debug!("feedback: {error}");
        }
    }

    /// Drives to where an object can be acted on, unless the base stands well already.
    async fn to_object(&self) -> Result<Done, GoToFault> {
        let object = self.interrupt.guard(self.remote()).await?;
        let preferred = match self.node.search.by_affordance.get() {
            true => self.interrupt.guard(self.preferred(&object)).await?,
            false => None,
        };
        if self.stands_well(&object, preferred)? {
            self.tell("stay", "done", &format!("{} is at hand", object.key));
            return Ok(Done { map_version: object.map_version, ..Done::default() });
        }
        let pose = self.view_pose(&object, preferred)?;
        if self.goal.plan_only {
            let plan = drive_plan(&pose, &object.key, object.map_version);
            let asked = self.node.gatekeeper.foresee(&plan, ("", &self.goal.goal_id));
            let prospect = self.interrupt.guard(asked).await?;
            let prospects = vec![Prospect { candidates: 1, ..prospect }];
            return Ok(Done { map_version: object.map_version, prospects, ..Done::default() });
        }
        self.fold().await?;
        self.drive(&pose, &object.key, object.map_version).await?;
        Ok(Done { moved: true, map_version: object.map_version, ..Done::default() })
    }

    /// The object in the map of the room.
    async fn remote(&self) -> Result<Remote, GoToFault> {
        let request = GetObject::Request {
            key: self.goal.object_key.clone(),
            with_crops: false,
            scope: Scope::Room.name().to_owned(),
        };
        let answer = self
            .node
            .objects
            .request(request, DEADLINE)
            .await
            .map_err(|error| GoToFault::PeerLost(format!("object_map ({error})")))?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(GoToFault::UnknownObject(answer.error_message));
        }
        let object = convert::object_from_msg(&answer.object)
            .map_err(|error| GoToFault::BadRequest(error.to_string()))?;
        Ok(Remote {
            key: object.key.clone(),
            class: object.class_name.clone(),
            centre: spatial::centre(&object),
            map_version: answer.map_version,
        })
    }

    /// Whether the object is at hand from where the base stands, on the side it should be acted on from.
    fn stands_well(&self, object: &Remote, preferred: Option<[f64; 2]>) -> Result<bool, GoToFault> {
        let map_from_arm = self.node.ground.arm()?;
        let at_hand = is_at_hand(&(map_from_arm.inverse() * object.centre));
        let faces = preferred.is_none_or(|[x, y]| {
            let out = map_from_arm.translation.vector - object.centre.coords;
            turn(out.y.atan2(out.x), y.atan2(x)).abs() <= FACING
        });
        Ok(at_hand && faces)
    }

    fn view_pose(&self, object: &Remote, preferred: Option<[f64; 2]>) -> Result<Pose2, GoToFault> {
        let base = self.node.ground.base()?;
        let map = self.node.ground.costmap()?;
        let footprint = &self.node.ground.navigation().footprint;
        let params = ViewPoseParams { from: Some(base.xy()), ..self.node.search.now() };
        let target = [object.centre.x, object.centre.y];
        let found = search(&map, footprint, target, preferred, &params).map_err(|error| match error {
            ViewPoseError::OutsideMap { x, y } => GoToFault::OutsideMap { x, y },
            other => GoToFault::NoPose { object: object.key.0.clone(), cause: other.to_string() },
        })?;
        let Pose2 { x, y, yaw } = found.pose;
        self.tell_places(
            "pose",
            "done",
            &format!(
                "stand at ({x:.2}, {y:.2}) m, {:.0} degrees, {:.2} m from {} (footprint cost {:.2}, {:.2} m off the preferred place)",
                yaw.to_degrees(),
                found.radius,
                object.key,
                found.footprint_cost,
                found.off_preferred
            ),
            &[found.pose],
        );
        Ok(found.pose)
    }

    /// Brings the arm to its pose for driving.
    pub(super) async fn fold(&self) -> Result<(), GoToFault> {
        self.look(DRIVE).await
    }

    /// Brings the arm to a named pose; the skills node moves it, with a permit of its own.
    pub(super) async fn look(&self, pose: &str) -> Result<(), GoToFault> {
        let goal = ExecuteSkill::Goal {
            skill: Skill::Look.name().to_owned(),
            part: pose.to_owned(),
            goal_id: self.goal.goal_id.clone(),
            ..Default::default()
        };
        let lost = |error: RosError| GoToFault::PeerLost(format!("skills ({error})"));
        let mut handle = self
            .interrupt
            .guard(async { self.node.skills.send_goal(goal, ACCEPT).await.map_err(lost) })
            .await?;
        let ended = tokio::select! {
            fault = self.interrupt.raised() => Err(fault),
            result = handle.result(SILENCE) => result.map_err(lost),
            () = tokio::time::sleep(FOLD) => Err(GoToFault::Timeout { seconds: FOLD.as_secs_f64() }),
        };
        match ended {
            Ok((_, result)) if result.reason.is_empty() => Ok(()),
            Ok((_, result)) => Err(GoToFault::Arm {
                reason: Reason::parse(&result.reason).unwrap_or(Reason::Internal),
                message: result.error_message,
            }),
            Err(fault) => {
                if let Err(error) = handle.cancel(ACCEPT).await {
                    tracing::warn!("the folding of the arm was not cancelled: {error}");
                }
                Err(fault)
            }
        }
    }

    /// Asks the gate, drives, and looks whether the base is where it was sent.
    pub(super) async fn drive(
        &self,
        pose: &Pose2,
        object: &ObjectKey,
        map_version: u64,
    ) -> Result<(), GoToFault> {
        let map = self.node.ground.costmap()?;
        if map.layout().cell(pose.xy()).is_none() {
            return Err(GoToFault::OutsideMap { x: pose.x, y: pose.y });
        }
        if !self.node.shell.peers.at_rest("skills", REST).await {
            return Err(GoToFault::Busy("the arm moves".to_owned()));
        }
        let plan = drive_plan(pose, object, map_version);
        self.interrupt.guard(self.node.arming.engage()).await?;
        let gatekeeper = &self.node.gatekeeper;
        let waits = |why: &str| self.tell("approval", "waiting", why);
        let permitted = self.interrupt.guard(gatekeeper.ask(plan, ("", &self.goal.goal_id), waits)).await?;
        // A person may have taken a minute: where the base is is that of now.
        self.interrupt.guard(self.node.frames.confirm()).await?;
        let redeemed = self.interrupt.guard(gatekeeper.redeem(permitted)).await?;
        let told = |distance: f64| self.feedback("drive", "driving", distance);
        let (shell, goal_id) = (&self.node.shell, &self.goal.goal_id);
        self.node.driver.drive(redeemed, shell, &self.interrupt, goal_id, told).await?;
        self.interrupt.guard(self.arrived(pose)).await
    }

    /// Waits until the localisation shows the base at its goal.
    async fn arrived(&self, goal: &Pose2) -> Result<(), GoToFault> {
        let navigation = self.node.ground.navigation();
        let limit = [navigation.goal_tolerance_xy + OFF[0], navigation.goal_tolerance_yaw + OFF[1]];
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        let end = tokio::time::Instant::now() + SETTLE;
        loop {
            tick.tick().await;
            let base = self.node.ground.base()?;
            let (distance, angle) = (base.distance(goal), turn(base.yaw, goal.yaw).abs());
            if distance <= limit[0] && angle <= limit[1] {
                return Ok(());
            }
            if tokio::time::Instant::now() >= end {
                return Err(GoToFault::NotThere { distance, angle });
            }
        }
    }
}

/// The plan of a drive.
fn drive_plan(pose: &Pose2, object: &ObjectKey, map_version: u64) -> SkillPlan {
    SkillPlan {
        skill: Skill::GoTo,
        object: object.clone(),
        targets: Vec::new(),
        relation: None,
        part: String::new(),
        motion: None,
        held_object: None,
        pose_goals: vec![Isometry3::new(Vector3::new(pose.x, pose.y, 0.0), Vector3::z() * pose.yaw)],
        gripper_opening: 0.0,
        map_version,
    }
}

/// Whether something is in reach without driving, frame of the arm.
pub(super) fn is_at_hand(here: &Point3<f64>) -> bool {
    let [x, y] = AT_HAND;
    (x[0]..=x[1]).contains(&here.x) && (y[0]..=y[1]).contains(&here.y)
}
