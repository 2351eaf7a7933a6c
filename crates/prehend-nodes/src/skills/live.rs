//! The robot that skills are executed on: MoveIt, the controllers, the object map and the verifier, each by its ROS interface.
//!
//! A skill runs on a thread of its own and waits here for what is asked over ROS. What ends the skill from outside ends each wait.

use super::Skills;
use super::arm::Motion;
use super::interrupt::NEEDED;
use super::scene::chassis_edge;
use crate::follow::KnownJoints;
use crate::interrupt::Interrupt;
use crate::permit::{Permitted, RedeemedPermit};
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_execution::{
    Body, Forbidden, Foreseen, Found, HandWay, Joints, Prospect, Robot, SkillFault, SpeedLimits, World,
};
use prehend_motion::RobotModel;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::{
    ErrorCode, HandWay as HandWayMsg, Prospect as ProspectMsg, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::{CheckOutcome, UpdateMap};
use prehend_robots::RobotConfig;
use prehend_robots::motion_bounds::Checked;
use prehend_ros::{ExecutingGoal, RosError};
use prehend_scene::{Object, ObjectKey, ObjectMap, Observation, SkillPlan};
use prehend_skills::part::KnownJoint;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Longest wait for a map that a request is ahead of.
const MAP_PATIENCE: Duration = Duration::from_millis(1500);
/// Longest wait to know that no other Prehend holds the robot.
const SETTLED: Duration = Duration::from_secs(3);
/// Longest wait for the last word of a drive.
const REST: Duration = Duration::from_millis(1000);
/// Longest wait for what is known of the joints in the newest map: a describer may be busy with it.
const DESCRIBED: Duration = Duration::from_millis(2000);
/// Longest wait of the map for a new frame, seconds.
const FRAME_PATIENCE: f64 = 3.0;
/// Deadline of a map update, the frame included.
const UPDATE_DEADLINE: Duration = Duration::from_secs(6);
/// Deadline of an outcome check.
const CHECK_DEADLINE: Duration = Duration::from_secs(3);

/// What skills need to know of a robot's build.
pub(super) fn body(robot: &RobotConfig, model: &RobotModel) -> Body {
    Body {
        model: model.clone(),
        home: robot.home.clone(),
        looks: robot.looks.clone(),
        drive_pose: robot.navigation.as_ref().map(|navigation| navigation.drive_pose.clone()),
        camera: robot.frames.camera.clone(),
        max_opening: robot.gripper.max_opening,
        workspace_low: robot.limits.workspace_low,
        workspace_high: robot.limits.workspace_high,
        chassis_edge: chassis_edge(robot, model),
        velocity_scaling: robot.arm.velocity_scaling,
        contact_velocity_scaling: robot.arm.contact_velocity_scaling,
    }
}

/// The robot for one skill.
pub(super) struct Live<'a> {
    skills: &'a Skills,
    goal: &'a ExecuteSkill::Goal,
    handle: &'a ExecutingGoal<ExecuteSkill::Action>,
    interrupt: Interrupt<'a, ExecuteSkill::Action>,
    runtime: Handle,
    /// What the skill would do, where it is only planned.
    prospect: RefCell<Option<ProspectMsg>>,
}

impl<'a> Live<'a> {
    /// For this goal.
    pub(super) fn new(
        skills: &'a Skills,
        goal: &'a ExecuteSkill::Goal,
        handle: &'a ExecutingGoal<ExecuteSkill::Action>,
    ) -> Self {
        let latch = if goal.plan_only { &skills.unlatched } else { &skills.stop };
        let (stop, peers, arming) = (latch.subscribe(), &skills.shell.peers, &skills.arming);
        let interrupt = Interrupt { goal: handle, stop, peers, arming, needed: &NEEDED };
        Self { skills, goal, handle, interrupt, runtime: Handle::current(), prospect: RefCell::new(None) }
    }

    /// What the skill would do, where it is only planned.
    pub(super) fn prospect(self) -> Option<ProspectMsg> {
        self.prospect.into_inner()
    }

    /// Waits for something that moves nothing, until the skill is stopped or cancelled.
    fn wait<T, E: Into<SkillFault>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, SkillFault> {
        self.runtime.block_on(self.interrupt.guard(work))
    }

    /// Waits for everybody without whom nothing is begun.
    async fn free_robot(&self) -> Result<(), SkillFault> {
        let skills = self.skills;
        skills.shell.peers.settled(SETTLED).await.map_err(Forbidden::from)?;
        if !skills.shell.peers.at_rest("go_to", REST).await {
            return Err(SkillFault::Busy("the base is driven".to_owned()));
        }
        Ok(skills.arming.armed().await.map_err(Forbidden::from)?)
    }

    async fn updated(&self, request: UpdateMap::Request) -> Result<Arc<ObjectMap>, SkillFault> {
        let answer = self.skills.update.request(request, UPDATE_DEADLINE).await;
        let answer = answer.map_err(|error| match error {
            RosError::PeerLost { .. } | RosError::Unavailable { .. } => {
                SkillFault::PeerLost { peer: "object_map".to_owned(), phase: "map update" }
            }
            slow => SkillFault::Sensor { what: "object map", detail: slow.to_string() },
        })?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(SkillFault::Sensor { what: "camera frame", detail: answer.error_message });
        }
        let map = self.newest_from(answer.version).await?;
        if map.version < answer.version {
            let detail = format!("version {} was announced but did not arrive", answer.version);
            return Err(SkillFault::Sensor { what: "object map", detail });
        }
        Ok(map)
    }

    /// A map at least as new as this version; the newest when it does not come in time.
    async fn newest_from(&self, version: u64) -> Result<Arc<ObjectMap>, SkillFault> {
        let mut maps = self.skills.map.clone();
        let new_enough = |map: &Option<Arc<ObjectMap>>| map.as_ref().is_some_and(|m| m.version >= version);
        let newest = match tokio::time::timeout(MAP_PATIENCE, maps.wait_for(new_enough)).await {
            Ok(Ok(map)) => map.clone(),
            Ok(Err(_)) | Err(_) => self.newest_map(),
        };
        newest.ok_or(SkillFault::Sensor { what: "object map", detail: "none was published".to_owned() })
    }

    /// Joints that were measured, in a map of at least this version.
    async fn described(&self, map_version: u64) -> Option<Arc<KnownJoints>> {
        let mut joints = self.skills.joints.clone();
        // Nobody describes things.
        joints.borrow().as_ref()?;
        let is_of_map =
            |known: &Option<Arc<KnownJoints>>| known.as_ref().is_some_and(|k| k.map_version >= map_version);
        tokio::time::timeout(DESCRIBED, joints.wait_for(is_of_map)).await.ok()?.ok()?.clone()
    }
}

impl Robot for Live<'_> {
    type Planned = Checked;
    type Permitted = Permitted;
    type Redeemed = RedeemedPermit;
    type Motion<'a>
        = Motion<'a>
    where
        Self: 'a;

    fn body(&self) -> &Body {
        &self.skills.body
    }

    fn prepare(&self, moves: bool) -> Result<(), SkillFault> {
        self.runtime.block_on(self.interrupt.introduced());
        if moves {
            self.wait(self.free_robot())?;
        }
        // The robot side may be another by now.
        self.runtime.block_on(self.skills.scene.forget());
        self.wait(self.skills.arm.measured())
    }

    fn joints(&self) -> Result<Joints, SkillFault> {
        self.skills.arm.joints()
    }

    fn newest_map(&self) -> Option<Arc<ObjectMap>> {
        self.skills.map.borrow().clone()
    }

    fn map(&self, version: u64) -> Result<Arc<ObjectMap>, SkillFault> {
        self.wait(self.newest_from(version))
    }

    fn update_map(
        &self,
        view: &str,
        reset: bool,
        gripped: Option<&ObjectKey>,
    ) -> Result<Arc<ObjectMap>, SkillFault> {
        self.wait(self.updated(UpdateMap::Request {
            reset,
            view: view.to_owned(),
            timeout: FRAME_PATIENCE,
            gripped: gripped.map(|key| key.0.clone()).unwrap_or_default(),
            ..Default::default()
        }))
    }

    fn known_joint(&self, part: &ObjectKey, map_version: u64) -> Result<Option<KnownJoint>, SkillFault> {
        let known = self.wait(async { Ok::<_, SkillFault>(self.described(map_version).await) })?;
        Ok(known.and_then(|known| known.joints.get(part).copied()))
    }

    fn ik(&self, base_from_tool: &Isometry3<f64>, seed: &[f64], opening: f64) -> Found<Vec<f64>> {
        self.wait(self.skills.planner.ik(base_from_tool, seed, opening))
    }

    fn plan(&self, start: &[f64], end: &[f64], opening: f64, speed: f64) -> Found<Checked> {
        self.wait(self.skills.planner.plan(start, end, opening, speed))
    }

    fn line(
        &self,
        start: &[f64],
        poses: &[Isometry3<f64>],
        opening: f64,
        speed: SpeedLimits,
    ) -> Found<Checked> {
        self.wait(self.skills.planner.line(start, poses, opening, speed))
    }

    fn apply_scene(&self, world: &World) -> Result<(), SkillFault> {
        self.wait(self.skills.scene.apply(world))
    }

    fn foresee(&self, found: &Prospect<'_, Checked>, assessment: &str) -> Result<Foreseen, SkillFault> {
        let about = (assessment, self.goal.goal_id.as_str());
        let judged = self.wait(self.skills.gatekeeper.foresee(found.plan, about))?;
        let stamped = |pose: &Isometry3<f64>| PoseStamped {
            header: convert::header(&self.skills.shell.robot.frames.base, 0.0),
            pose: convert::pose_to_msg(pose),
        };
        let foreseen = Foreseen { granted: judged.granted, asks: judged.asks, reason: judged.reason.clone() };
        self.prospect.replace(Some(ProspectMsg {
            candidates: u32::try_from(found.candidates).unwrap_or(u32::MAX),
            others: found.others.iter().map(stamped).collect(),
            grip_width: found.grip_width,
            phases: found.motions.iter().map(|(phase, _)| (*phase).to_owned()).collect(),
            motions: found.motions.iter().map(|(_, way)| way.joint_trajectory.clone()).collect(),
            ..judged
        }));
        Ok(foreseen)
    }

    fn gate(&self, plan: SkillPlan, assessment: &str, waits: &dyn Fn(&str)) -> Result<Permitted, SkillFault> {
        self.wait(async { self.skills.arming.engage().await.map_err(Forbidden::from) })?;
        self.wait(self.skills.scene.confirm())?;
        let about = (assessment, self.goal.goal_id.as_str());
        self.wait(self.skills.gatekeeper.ask(plan, about, waits))
    }

    fn confirm(&self) -> Result<(), SkillFault> {
        self.wait(self.skills.frames.confirm())?;
        self.wait(self.skills.arm.measured())
    }

    fn redeem(&self, permitted: Permitted) -> Result<RedeemedPermit, SkillFault> {
        self.wait(self.skills.gatekeeper.redeem(permitted))
    }

    fn begin(&self, redeemed: RedeemedPermit) -> Result<Motion<'_>, SkillFault> {
        let skills = self.skills;
        skills.arm.begin(redeemed, &skills.shell, &self.interrupt, (&self.goal.goal_id, &self.runtime))
    }

    fn check_outcome(
        &self,
        plan: &SkillPlan,
        before: &Observation,
        after: &Observation,
        assessment: &str,
    ) -> Result<Result<String, String>, SkillFault> {
        let frame = &self.skills.shell.robot.frames.base;
        let request = CheckOutcome::Request {
            plan: convert::plan_to_msg(plan, frame),
            before: convert::observation_to_msg(before, frame),
            after: convert::observation_to_msg(after, frame),
            assessment_id: assessment.to_owned(),
        };
        let checked = async { self.skills.check.request(request, CHECK_DEADLINE).await.map_err(silent) };
        let answer = self.wait(checked)?;
        Ok(if answer.succeeded {
            Ok(answer.reason)
        } else if answer.reason.is_empty() {
            Err(answer.error_message)
        } else {
            Err(answer.reason)
        })
    }

    fn tell(&self, phase: &str, status: &str, message: &str, more: Value) {
        let feedback = ExecuteSkill::Feedback { phase: phase.to_owned(), message: message.to_owned() };
        if let Err(error) = self.handle.publish_feedback(feedback) {
            tracing::debug!("feedback: {error}");
        }
        let goal = self.goal;
        let mut data = json!({ "skill": goal.skill, "object": goal.object_key });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        let name = format!("{}/{phase}", goal.skill);
        self.skills.shell.trace.event(&goal.goal_id, TraceEvent::KIND_MOTION, &name, status, message, data);
    }

    fn tell_way(&self, way: &HandWay<'_>) {
        let goal = self.goal;
        let message = HandWayMsg {
            header: convert::header(&way.map.frame, convert::seconds(&self.skills.shell.node.now())),
            goal_id: goal.goal_id.clone(),
            skill: goal.skill.clone(),
            object_key: goal.object_key.clone(),
            part: goal.part.clone(),
            effect: way.effect.name().to_owned(),
            map_version: way.map.version,
            poses: way.poses.iter().map(convert::pose_to_msg).collect(),
            stopped: way.stopped,
        };
        if let Err(error) = self.skills.hand_ways.publish(&message) {
            tracing::warn!("the way of the hand was not published: {error}");
        }
    }

    fn tell_in_hand(&self, held: Option<&Object>) {
        self.skills.publish_in_hand(held);
    }
}

fn silent(error: RosError) -> SkillFault {
    Forbidden::VerifierLost(error.to_string()).into()
}
