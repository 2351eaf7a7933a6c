//! One skill being executed: what every skill shares.

use super::arm::{Arm, Motion};
use super::fault::SkillFault;
use super::hand::{Held, is_in_hand};
use super::interrupt::{Interrupt, StopLatch};
use super::planning::Planner;
use super::prospect::Assumed;
use super::scene::{SceneKeeper, World};
use crate::arming::Arming;
use crate::convert;
use crate::follow::KnownJoints;
use crate::joints::Joints;
use crate::live_frames::LiveFrames;
use crate::permit::Gatekeeper;
use crate::shell::Shell;
use nalgebra::{Isometry3, Point3};
use prehend_geometry::OrientedBox;
use prehend_motion::RobotModel;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::{HandWay, ObjectMap as ObjectMapMsg, Prospect, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{CheckOutcome, UpdateMap};
use prehend_ros::{Client, ExecutingGoal, Publisher};
use prehend_scene::{
    Area, Felt, ObjectKey, ObjectMap, PartEffect, Relation, Skill, SkillPlan, SymbolicState,
};
use prehend_skills::contract::{Contract, Request};
use prehend_skills::grasp::Reach;
use prehend_skills::plan::Standoff;
use prehend_skills::{GripperModel, solids};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Longest wait for a map that a request is ahead of.
const MAP_PATIENCE: Duration = Duration::from_millis(1500);

/// Longest wait to know that no other Prehend holds the robot.
const SETTLED: Duration = Duration::from_secs(3);

/// Longest wait for the last word of a drive.
const REST: Duration = Duration::from_millis(1000);

/// Id of what a part was moved to since the map was taken.
const DISPLACED: &str = "displaced_part";

/// What the node has; shared by the skills it executes, one at a time.
pub(super) struct Skills {
    pub(super) shell: Shell,
    pub(super) model: RobotModel,
    pub(super) planner: Planner,
    pub(super) scene: SceneKeeper,
    pub(super) gatekeeper: Gatekeeper,
    /// The tool in the frame of the base.
    pub(super) frames: LiveFrames,
    pub(super) arm: Arm,
    pub(super) arming: Arming,
    pub(super) map: watch::Receiver<Option<Arc<ObjectMap>>>,
    /// What is known of the joints of things in the map; `None` while nobody describes them.
    pub(super) joints: watch::Receiver<Option<Arc<KnownJoints>>>,
    pub(super) hand_ways: Publisher<HandWay>,
    pub(super) in_hand: Publisher<ObjectMapMsg>,
    pub(super) update: Client<UpdateMap::Service>,
    pub(super) check: Client<CheckOutcome::Service>,
    pub(super) stop: watch::Sender<StopLatch>,
    /// A latch that nobody engages: what moves nothing needs no stop.
    pub(super) unlatched: watch::Sender<StopLatch>,
    pub(super) last_look: Mutex<Option<String>>,
}

impl Skills {
    /// Tells the others what is in the gripper; what nobody knows is not told.
    pub(super) fn publish_in_hand(&self) {
        let opening = self.arm.joints().map_or(0.0, |joints| joints.opening);
        let held = self.arm.hand().held(opening).filter(|held| !held.unknown).cloned();
        let in_hand = ObjectMap {
            frame: self.shell.robot.frames.base.clone(),
            stamp: convert::seconds(&self.shell.node.now()),
            objects: held.map(|held| held.object).into_iter().collect(),
            ..ObjectMap::default()
        };
        if let Err(error) = self.in_hand.publish(&convert::map_to_msg(&in_hand)) {
            tracing::warn!("what is in the hand was not published: {error}");
        }
    }
}

/// A request, decoded.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) skill: Skill,
    pub(super) object: ObjectKey,
    pub(super) targets: Vec<ObjectKey>,
    pub(super) relation: Option<Relation>,
    pub(super) area: Option<Area>,
    pub(super) part: String,
    pub(super) effect: Option<PartEffect>,
    pub(super) map_version: u64,
}

/// One skill being executed.
pub(super) struct Job<'a> {
    pub(super) skills: &'a Skills,
    pub(super) goal: &'a ExecuteSkill::Goal,
    pub(super) handle: &'a ExecutingGoal<ExecuteSkill::Action>,
    pub(super) interrupt: Interrupt<'a>,
    /// Whether objects may be elsewhere than the newest map says.
    stale: AtomicBool,
    /// Version of the newest map that was taken for this skill; 0 when none was.
    taken: AtomicU64,
    /// Whether a motion was begun.
    moved: AtomicBool,
    /// What the hand felt of the part it touched last.
    pub(super) felt: Mutex<Option<Felt>>,
    /// Where the tool was while it moved a part, from where it took it.
    pub(super) way: Mutex<Vec<Isometry3<f64>>>,
    /// What a pull or a push left elsewhere than the map says: boxes in the map frame.
    pub(super) displaced: Mutex<Vec<OrientedBox>>,
    /// What is taken to have been done before, where the skill is only planned.
    pub(super) assumed: OnceLock<Assumed>,
    /// What the skill would do, where it is only planned.
    pub(super) prospect: Mutex<Option<Prospect>>,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        skills: &'a Skills,
        goal: &'a ExecuteSkill::Goal,
        handle: &'a ExecutingGoal<ExecuteSkill::Action>,
    ) -> Self {
        let latch = if goal.plan_only { &skills.unlatched } else { &skills.stop };
        let (stop, peers, arming) = (latch.subscribe(), &skills.shell.peers, &skills.arming);
        let interrupt = Interrupt { goal: handle, stop, peers, arming };
        Self {
            skills,
            goal,
            handle,
            interrupt,
            stale: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            moved: AtomicBool::new(false),
            felt: Mutex::new(None),
            way: Mutex::new(Vec::new()),
            displaced: Mutex::new(Vec::new()),
            assumed: OnceLock::new(),
            prospect: Mutex::new(None),
        }
    }

    /// Executes the skill and says how it ended; the held object is what the gripper's opening says.
    pub(super) async fn run(&self) -> ExecuteSkill::Result {
        let outcome = self.execute().await;
        if let Err(fault) = &outcome
            && self.moved.load(Ordering::Relaxed)
            && fault.cuts_short()
        {
            self.skills.arm.hand().settle(false);
        }
        self.skills.publish_in_hand();
        let held = match self.skills.arm.joints() {
            Ok(joints) => self.skills.arm.hand().key(joints.opening),
            Err(_) => None,
        };
        let mut result = ExecuteSkill::Result {
            held_object: held.map(|key| key.0).unwrap_or_default(),
            map_stale: self.stale.load(Ordering::Relaxed),
            map_version: self.taken.load(Ordering::Relaxed),
            prospects: self
                .prospect
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .into_iter()
                .collect(),
            ..Default::default()
        };
        match outcome {
            Ok(message) => self.tell("done", "done", &message),
            Err(fault) => {
                self.tell("done", fault.reason().code(), &fault.to_string());
                result.error_code = fault.code();
                result.error_message = fault.to_string();
                result.reason = fault.reason().code().to_owned();
            }
        }
        result
    }

    async fn execute(&self) -> Result<String, SkillFault> {
        if self.goal.plan_only {
            return self.plan_alone().await;
        }
        self.interrupt.introduced().await;
        self.interrupt.check()?;
        self.skills.shell.peers.settled(SETTLED).await?;
        let asked = self.decode()?;
        if !self.skills.shell.peers.at_rest("go_to", REST).await {
            return Err(SkillFault::Busy("the base is driven".to_owned()));
        }
        self.interrupt.guard(self.skills.arming.armed()).await?;
        self.skills.scene.forget().await;
        self.interrupt.guard(self.skills.arm.measured()).await?;
        self.recover().await?;
        match asked.skill {
            Skill::GoTo => {
                Err(SkillFault::BadRequest("the arm does not drive: ask the node go_to".to_owned()))
            }
            Skill::Look => self.look(&asked).await,
            Skill::Home => self.home().await.map(|()| "at home".to_owned()),
            Skill::Grasp | Skill::GraspPart => self.grasp(&asked).await,
            Skill::Place | Skill::Drop => self.place(&asked).await,
            Skill::TipPush | Skill::PinchPull | Skill::HookPull => self.act_on_part(&asked).await,
        }
    }

    /// Plans a skill from where the arm is, and makes no motion.
    async fn plan_alone(&self) -> Result<String, SkillFault> {
        self.interrupt.introduced().await;
        self.interrupt.check()?;
        let asked = self.decode()?;
        self.skills.scene.forget().await;
        self.interrupt.guard(self.skills.arm.measured()).await?;
        let map = self.map(asked.map_version).await?;
        if let Some(assumed) = self.assume(&asked, &map)? {
            // It is set here alone, once a job.
            let _ = self.assumed.set(assumed);
        }
        match asked.skill {
            Skill::Grasp | Skill::GraspPart => self.grasp(&asked).await,
            Skill::Place | Skill::Drop => self.place(&asked).await,
            Skill::TipPush | Skill::PinchPull | Skill::HookPull => self.act_on_part(&asked).await,
            Skill::Look | Skill::Home | Skill::GoTo => Err(SkillFault::BadRequest(format!(
                "{} touches nothing: there is nothing to plan alone",
                asked.skill.name()
            ))),
        }
    }

    fn decode(&self) -> Result<Asked, SkillFault> {
        let bad = |error: convert::ConvertError| SkillFault::BadRequest(error.to_string());
        let asked = Asked {
            skill: convert::skill(&self.goal.skill).map_err(bad)?,
            object: ObjectKey(self.goal.object_key.clone()),
            targets: self.goal.target_keys.iter().cloned().map(ObjectKey).collect(),
            relation: convert::relation(&self.goal.relation).map_err(bad)?,
            area: convert::area(&self.goal.area).map_err(bad)?,
            part: self.goal.part.clone(),
            effect: convert::effect(&self.goal.effect).map_err(bad)?,
            map_version: self.goal.map_version,
        };
        match (asked.area, asked.relation) {
            (Some(_), relation) if relation != Some(Relation::Table) => {
                Err(SkillFault::BadRequest("an area goes with the relation `table` alone".to_owned()))
            }
            _ => Ok(asked),
        }
    }

    /// Tells the client and the trace what is going on.
    pub(super) fn tell(&self, phase: &str, status: &str, message: &str) {
        self.tell_with(phase, status, message, json!({}));
    }

    /// As [`Job::tell`], with more data for the trace: the fields of a JSON object.
    pub(super) fn tell_with(&self, phase: &str, status: &str, message: &str, more: Value) {
        let feedback = ExecuteSkill::Feedback { phase: phase.to_owned(), message: message.to_owned() };
        if let Err(error) = self.handle.publish_feedback(feedback) {
            tracing::debug!("feedback: {error}");
        }
        let mut data = json!({ "skill": self.goal.skill, "object": self.goal.object_key });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        self.skills.shell.trace.event(
            &self.goal.goal_id,
            TraceEvent::KIND_MOTION,
            &format!("{}/{phase}", self.goal.skill),
            status,
            message,
            data,
        );
    }

    /// The map, when it is at least as new as the request's.
    pub(super) async fn map(&self, version: u64) -> Result<Arc<ObjectMap>, SkillFault> {
        let mut maps = self.skills.map.clone();
        let new_enough = |map: &Option<Arc<ObjectMap>>| map.as_ref().is_some_and(|m| m.version >= version);
        let waited = tokio::time::timeout(MAP_PATIENCE, maps.wait_for(new_enough)).await;
        let newest = match waited {
            Ok(Ok(map)) => map.clone(),
            Ok(Err(_)) | Err(_) => self.skills.map.borrow().clone(),
        };
        newest.ok_or(SkillFault::Sensor { what: "object map", detail: "none was published".to_owned() })
    }

    /// Checks the skill's contract against the map and the hand.
    pub(super) fn check_contract(&self, asked: &Asked, map: &ObjectMap) -> Result<(), SkillFault> {
        let state = SymbolicState {
            held_object: self.held()?.map(|held| held.object.key),
            map_version: map.version,
            ..SymbolicState::default()
        };
        let request = Request {
            skill: asked.skill,
            object: asked.object.clone(),
            targets: asked.targets.clone(),
            relation: asked.relation,
            effect: asked.effect,
            map_version: asked.map_version,
        };
        Ok(Contract::of(asked.skill).check(&request, &state, map)?)
    }

    /// Where the tool is now, `map_from_tool`.
    pub(super) fn tool_pose(&self) -> Result<Isometry3<f64>, SkillFault> {
        self.tool_at(&self.joints()?.arm)
    }

    /// Where the arm is, or is taken to be, and how far the pads are apart.
    pub(super) fn joints(&self) -> Result<Joints, SkillFault> {
        let measured = self.skills.arm.joints()?;
        Ok(match self.assumed.get() {
            Some(Assumed { arm, opening, .. }) => measured.moved(arm.clone(), *opening),
            None => measured,
        })
    }

    /// Where the tool is at these joints.
    pub(super) fn tool_at(&self, joints: &[f64]) -> Result<Isometry3<f64>, SkillFault> {
        self.skills
            .model
            .tip_pose(joints)
            .map_err(|error| SkillFault::Sensor { what: "joint states", detail: error.to_string() })
    }

    /// What is held now.
    pub(super) fn held(&self) -> Result<Option<Held>, SkillFault> {
        if let Some(assumed) = self.assumed.get() {
            return Ok(Some(assumed.held.clone()));
        }
        let opening = self.skills.arm.joints()?.opening;
        Ok(self.skills.arm.hand().held(opening).cloned())
    }

    /// The world of the map, without what is in the hand, which is attached instead.
    pub(super) fn world(&self, map: &ObjectMap) -> Result<World, SkillFault> {
        let held = self.held()?;
        let tool = self.tool_pose()?;
        let mut world = World::on_table(self.table_height(map), &self.skills.shell.robot, &self.skills.model);
        for object in &map.objects {
            if held.as_ref().is_some_and(|held| is_in_hand(object, held, &tool)) {
                continue;
            }
            let boxes = solids::collision_boxes(&object.cloud.points, support(map, &object.cloud.points));
            if !boxes.is_empty() {
                world.objects.insert(object.key.0.clone(), boxes);
            }
        }
        let displaced = self.displaced.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !displaced.is_empty() {
            world.objects.insert(DISPLACED.to_owned(), displaced);
        }
        Ok(match held {
            Some(held) => world.holding(&held.boxes),
            None => world,
        })
    }

    /// Height of the table in front of the robot.
    pub(super) fn table_height(&self, map: &ObjectMap) -> f64 {
        map.support_height(0.45, 0.0)
    }

    /// Whether the verifier's workspace holds a pose; asking the arm for others is in vain.
    pub(super) fn in_workspace(&self, pose: &Isometry3<f64>) -> bool {
        let limits = &self.skills.shell.robot.limits;
        let p = pose.translation.vector;
        (0..3).all(|i| p[i] >= limits.workspace_low[i] && p[i] <= limits.workspace_high[i])
    }

    /// Id of the evidence that a skill is carried out on; empty when it needs none.
    pub(super) fn assessment_of(&self, skill: Skill) -> &str {
        if skill.needs_evidence() { &self.goal.assessment_id } else { "" }
    }

    /// Asks the gate, redeems the permit and begins to move.
    pub(super) async fn commit(&self, plan: SkillPlan) -> Result<Motion<'_>, SkillFault> {
        let skills = self.skills;
        if self.goal.plan_only {
            return Err(SkillFault::BadRequest("this was to be planned alone".to_owned()));
        }
        let assessment = self.assessment_of(plan.skill);
        let moves_objects = Contract::of(plan.skill).moves_objects;
        self.interrupt.guard(skills.arming.engage()).await?;
        let about = (assessment, self.goal.goal_id.as_str());
        let waits = |why: &str| self.tell("approval", "waiting", why);
        let permitted = self.interrupt.guard(skills.gatekeeper.ask(plan, about, waits)).await?;
        // A person may have taken a minute: what is measured is that of now.
        self.interrupt.guard(skills.frames.confirm()).await?;
        self.interrupt.guard(skills.arm.measured()).await?;
        let redeemed = self.interrupt.guard(skills.gatekeeper.redeem(permitted)).await?;
        let motion = skills.arm.begin(redeemed, &skills.shell, &self.interrupt, &self.goal.goal_id)?;
        self.moved.store(true, Ordering::Relaxed);
        if moves_objects {
            self.stale.store(true, Ordering::Relaxed);
        }
        Ok(motion)
    }

    /// Notes that objects may be elsewhere than the newest map says.
    pub(super) fn map_is_stale(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    /// Notes that the map of this version was taken for this skill.
    pub(super) fn map_is_taken(&self, version: u64) {
        self.taken.store(version, Ordering::Relaxed);
    }

    /// Notes that the newest map was taken after the last motion.
    pub(super) fn map_is_fresh(&self) {
        self.displaced.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.stale.store(false, Ordering::Relaxed);
    }

    /// Sizes of the gripper.
    pub(super) fn gripper(&self) -> GripperModel {
        let max_opening = self.skills.shell.robot.gripper.max_opening;
        let model = GripperModel::default();
        GripperModel { max_opening, usable_width: model.usable_width.min(max_opening - 0.007), ..model }
    }

    /// Reach of the arm within the workspace.
    pub(super) fn reach(&self) -> Reach {
        let high = self.skills.shell.robot.limits.workspace_high[0];
        let reach = Reach::default();
        Reach { max: reach.max.min(high), ..reach }
    }

    /// Distances along a grasp or place.
    pub(super) fn standoff(&self) -> Standoff {
        Standoff::default()
    }
}

/// Height of the support under the middle of a cloud.
pub(super) fn support(map: &ObjectMap, points: &[Point3<f64>]) -> f64 {
    let n = points.len().max(1) as f64;
    let x = points.iter().map(|p| p.x).sum::<f64>() / n;
    let y = points.iter().map(|p| p.y).sum::<f64>() / n;
    map.support_height(x, y)
}
