//! The base that errands are carried out with: Nav2, the skills, the object map and the verifier, each by its ROS interface.
//!
//! An errand runs on a thread of its own and waits here for what is asked over ROS. What ends the errand from outside ends each wait.

use super::Node;
use super::interrupt::NEEDED;
use crate::interrupt::Interrupt;
use crate::permit::{Permitted, RedeemedPermit};
use nalgebra::{Isometry3, Vector3};
use prehend_convert as convert;
use prehend_execution::Forbidden;
use prehend_execution::errand::{Base, Chassis, ErrandFault, Facing, GivenUp, Lens, Search};
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Prospect, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{GetObject, UpdateMap};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_navigation::{Costmap, Pose2};
use prehend_robots::RobotConfig;
use prehend_robots::robot::Navigation;
use prehend_ros::{ExecutingGoal, RosError};
use prehend_scene::{Object, ObjectKey, ObjectMap, Reason, Scope, Skill, SkillPlan};
use serde_json::json;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, interval, sleep};

/// Deadline of a question to another node.
const DEADLINE: Duration = Duration::from_secs(3);
/// Deadline of an action's acceptance, and silence after which its server is lost.
const ACCEPT: Duration = Duration::from_secs(3);
const SILENCE: Duration = Duration::from_secs(3);
/// Longest wait for the arm to come to a pose.
const LOOK: Duration = Duration::from_secs(90);
/// Longest wait to know that no other Prehend holds the base.
const SETTLED: Duration = Duration::from_secs(3);
/// Longest wait for the last word of a motion of the arm.
const REST: Duration = Duration::from_millis(1000);
/// Longest wait for the localisation to show the base at its goal, and how often it is looked.
const SETTLE: Duration = Duration::from_millis(1500);
const SETTLE_PERIOD: Duration = Duration::from_millis(50);
/// Longest wait for a keyframe's images, seconds.
const FRAME: f64 = 4.0;
/// Deadline of a keyframe.
const UPDATE: Duration = Duration::from_secs(12);

/// What errands need to know of a robot's build.
pub(super) fn chassis(robot: &RobotConfig, navigation: &Navigation) -> Chassis {
    Chassis {
        footprint: navigation.footprint.clone(),
        facing: navigation.facing,
        tolerance: [navigation.goal_tolerance_xy, navigation.goal_tolerance_yaw],
        looks: robot.looks.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// The base for one errand.
pub(super) struct Live<'a> {
    node: &'a Node,
    goal: &'a GoTo::Goal,
    handle: &'a ExecutingGoal<GoTo::Action>,
    interrupt: Interrupt<'a, GoTo::Action>,
    runtime: Handle,
    /// What the errand would do, where it is only planned.
    prospect: RefCell<Option<Prospect>>,
}

impl<'a> Live<'a> {
    /// For this goal.
    pub(super) fn new(node: &'a Node, handle: &'a ExecutingGoal<GoTo::Action>) -> Self {
        let (stop, peers, arming) = (node.stop.subscribe(), &node.shell.peers, node.arming.as_ref());
        let interrupt = Interrupt { goal: handle, stop, peers, arming, needed: &NEEDED };
        let (goal, runtime) = (handle.goal(), Handle::current());
        Self { node, goal, handle, interrupt, runtime, prospect: RefCell::default() }
    }

    /// What the errand would do, where it is only planned.
    pub(super) fn prospect(self) -> Option<Prospect> {
        self.prospect.into_inner()
    }

    /// Waits for something that drives nothing, until something ends the errand.
    fn wait<T, E: Into<ErrandFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ErrandFault> {
        self.runtime.block_on(self.interrupt.guard(work))
    }

    async fn found(&self, key: &ObjectKey) -> Result<(Object, u64), ErrandFault> {
        let request = GetObject::Request {
            key: key.0.clone(),
            with_crops: false,
            scope: Scope::Room.name().to_owned(),
        };
        let answer = self.node.objects.request(request, DEADLINE).await.map_err(lost("object_map"))?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(ErrandFault::UnknownObject(answer.error_message));
        }
        let object = convert::object_from_msg(&answer.object)
            .map_err(|error| ErrandFault::BadRequest(error.to_string()))?;
        Ok((object, answer.map_version))
    }

    async fn detected(&self, object: &ObjectKey, scope: Scope) -> Result<Option<Facing>, ErrandFault> {
        if self.goal.intent.kind.is_empty() {
            return Ok(None);
        }
        let goal = DetectAffordance::Goal {
            object_key: object.0.clone(),
            intent: self.goal.intent.clone(),
            goal_id: self.goal.goal_id.clone(),
            scope: scope.name().to_owned(),
        };
        let mut handle = self.node.affordance.send_goal(goal, ACCEPT).await.map_err(lost("affordance"))?;
        let (_, result) = handle.result(SILENCE).await.map_err(lost("affordance"))?;
        Ok(result.affordances.first().map(|best| Facing {
            part: best.part.clone(),
            normal: Vector3::new(best.normal.x, best.normal.y, best.normal.z),
            centroid: Vector3::new(best.centroid.x, best.centroid.y, best.centroid.z),
        }))
    }

    /// The skills node moves the arm, with a permit of its own.
    async fn looked(&self, pose: &str) -> Result<(), ErrandFault> {
        let goal = ExecuteSkill::Goal {
            skill: Skill::Look.name().to_owned(),
            part: pose.to_owned(),
            goal_id: self.goal.goal_id.clone(),
            ..Default::default()
        };
        let sent = async { self.node.skills.send_goal(goal, ACCEPT).await.map_err(lost("skills")) };
        let mut handle = self.interrupt.guard(sent).await?;
        let ended = tokio::select! {
            fault = self.interrupt.ended() => Err(fault),
            result = handle.result(SILENCE) => result.map_err(lost("skills")),
            () = sleep(LOOK) => Err(ErrandFault::Timeout { seconds: LOOK.as_secs_f64() }),
        };
        match ended {
            Ok((_, result)) if result.reason.is_empty() => Ok(()),
            Ok((_, result)) => Err(ErrandFault::Arm {
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

    async fn settled(&self, is_there: &dyn Fn(&Pose2) -> bool) -> Result<Pose2, ErrandFault> {
        let mut tick = interval(SETTLE_PERIOD);
        let end = Instant::now() + SETTLE;
        loop {
            tick.tick().await;
            let pose = self.node.navigation.base()?;
            if is_there(&pose) || Instant::now() >= end {
                return Ok(pose);
            }
        }
    }

    async fn updated(&self, view: &str, anew: bool) -> Result<u64, ErrandFault> {
        let request = UpdateMap::Request {
            reset: anew,
            view: view.to_owned(),
            timeout: FRAME,
            scope: Scope::Room.name().to_owned(),
            gripped: String::new(),
        };
        let answer = self.node.update.request(request, UPDATE).await.map_err(lost("object_map"))?;
        match answer.error_code {
            ErrorCode::SUCCESS => Ok(answer.version),
            _ => Err(ErrandFault::NothingSeen(answer.error_message)),
        }
    }

    fn feedback(&self, phase: &str, message: &str, distance_remaining: f64) {
        let feedback =
            GoTo::Feedback { phase: phase.to_owned(), message: message.to_owned(), distance_remaining };
        if let Err(error) = self.handle.publish_feedback(feedback) {
            tracing::debug!("feedback: {error}");
        }
    }
}

impl Base for Live<'_> {
    type Permitted = Permitted;
    type Redeemed = RedeemedPermit;

    fn chassis(&self) -> &Chassis {
        &self.node.chassis
    }

    fn search(&self) -> Search {
        self.node.search.now()
    }

    fn given_up(&self) -> &GivenUp {
        &self.node.given_up
    }

    fn prepare(&self) -> Result<(), ErrandFault> {
        self.runtime.block_on(async {
            self.interrupt.introduced().await;
            self.interrupt.check_all()?;
            let settled = self.node.shell.peers.settled(SETTLED).await;
            Ok(settled.map_err(Forbidden::from)?)
        })
    }

    fn pose(&self) -> Result<Pose2, ErrandFault> {
        self.node.navigation.base()
    }

    fn arm(&self) -> Result<Isometry3<f64>, ErrandFault> {
        self.node.navigation.arm()
    }

    fn lens(&self) -> Lens {
        let base_from_camera = self.node.navigation.in_base(&self.node.shell.robot.frames.camera);
        Lens {
            place: base_from_camera.map(|camera| [camera.translation.x, camera.translation.y]),
            field_of_view: self.node.camera.borrow().as_ref().and_then(field_of_view),
        }
    }

    fn costmap(&self) -> Result<Arc<Costmap>, ErrandFault> {
        self.node.navigation.costmap()
    }

    fn object(&self, key: &ObjectKey) -> Result<(Object, u64), ErrandFault> {
        self.wait(self.found(key))
    }

    fn local_map(&self) -> Option<Arc<ObjectMap>> {
        self.node.local.borrow().clone()
    }

    fn affordance(&self, object: &ObjectKey, scope: Scope) -> Result<Option<Facing>, ErrandFault> {
        self.wait(self.detected(object, scope))
    }

    fn look(&self, pose: &str) -> Result<(), ErrandFault> {
        self.runtime.block_on(self.looked(pose))
    }

    fn is_arm_at_rest(&self) -> bool {
        self.runtime.block_on(self.node.shell.peers.at_rest("skills", REST))
    }

    fn foresee(&self, plan: &SkillPlan) -> Result<(), ErrandFault> {
        let prospect = self.wait(self.node.gatekeeper.foresee(plan, ("", &self.goal.goal_id)))?;
        self.prospect.replace(Some(Prospect { candidates: 1, ..prospect }));
        Ok(())
    }

    fn gate(&self, plan: SkillPlan, waits: &dyn Fn(&str)) -> Result<Permitted, ErrandFault> {
        self.wait(async { self.node.arming.engage().await.map_err(Forbidden::from) })?;
        self.wait(self.node.gatekeeper.ask(plan, ("", &self.goal.goal_id), waits))
    }

    fn confirm(&self) -> Result<(), ErrandFault> {
        self.wait(self.node.frames.confirm())
    }

    fn redeem(&self, permitted: Permitted) -> Result<RedeemedPermit, ErrandFault> {
        self.wait(self.node.gatekeeper.redeem(permitted))
    }

    fn drive(&self, redeemed: RedeemedPermit) -> Result<(), ErrandFault> {
        let told = |distance: f64| self.feedback("drive", "driving", distance);
        let (shell, goal_id) = (&self.node.shell, &self.goal.goal_id);
        self.runtime.block_on(self.node.driver.drive(redeemed, shell, &self.interrupt, goal_id, told))
    }

    fn settle(&self, is_there: &dyn Fn(&Pose2) -> bool) -> Result<Pose2, ErrandFault> {
        self.wait(self.settled(is_there))
    }

    fn pause(&self, pause: Duration) -> Result<(), ErrandFault> {
        self.wait(async {
            tokio::time::sleep(pause).await;
            Ok::<(), ErrandFault>(())
        })
    }

    fn keyframe(&self, view: &str, anew: bool) -> Result<u64, ErrandFault> {
        self.wait(self.updated(view, anew))
    }

    fn tell(&self, phase: &str, status: &str, message: &str, places: &[Pose2]) {
        self.feedback(phase, message, 0.0);
        let goal = self.goal;
        let mut data = json!({ "kind": goal.kind, "object": goal.object_key });
        if !places.is_empty() {
            // For those who draw them.
            data["places"] = places.iter().map(|at| json!([at.x, at.y, at.yaw])).collect();
        }
        let name = format!("go_to/{phase}");
        self.node.shell.trace.event(&goal.goal_id, TraceEvent::KIND_MOTION, &name, status, message, data);
    }
}

/// The fault of a peer that does not answer.
fn lost(peer: &'static str) -> impl Fn(RosError) -> ErrandFault {
    move |error| ErrandFault::PeerLost(format!("{peer} ({error})"))
}

/// The horizontal field of view of a camera, radians; `None` when its matrix does not say.
fn field_of_view(info: &CameraInfo) -> Option<f64> {
    let focal = info.k[0];
    (focal.is_finite() && focal > 1.0).then(|| 2.0 * (f64::from(info.width) / (2.0 * focal)).atan())
}
