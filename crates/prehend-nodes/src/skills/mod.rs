//! The skills node: executes skills, owns the arm and the stop.
//!
//! The course of each skill is in `prehend-execution`; here is the robot that it works on (`live`).
//! One skill at a time; a second one is answered `busy`. Nothing moves without a redeemed permit: the type that moves
//! the robot, `arm::Motion`, is made from one only.

mod arm;
mod fault;
mod interrupt;
mod live;
mod moveit;
mod order;
mod pads;
mod planning;
mod scene;
mod speed;
mod validity;

use crate::follow::{KnownJoints, follow_joints, follow_map};
use crate::interrupt::StopLatch;
use crate::permit::Gatekeeper;
use crate::running::{Over, Running, carry_out};
use crate::waiting::respond;
use arm::Arm;
use futures::StreamExt;
use live::{Live, body};
use moveit::MoveIt;
use planning::Planner;
use prehend_convert as convert;
use prehend_execution::{Body, Memory, SkillFault};
use prehend_motion::RobotModel;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::{HandWay, ObjectMap as ObjectMapMsg, StopState, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{CheckOutcome, Stop, UpdateMap};
use prehend_robots::arming::{Arming, Use};
use prehend_robots::live_frames::LiveFrames;
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{Client, ExecutingGoal, GoalRequest, Publisher, QosProfile, ServiceRequest};
use prehend_scene::{Object, ObjectMap};
use scene::SceneKeeper;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// What the node has; shared by the skills it executes, one at a time.
struct Skills {
    shell: Shell,
    body: Body,
    planner: Planner,
    scene: SceneKeeper,
    gatekeeper: Gatekeeper,
    /// The tool in the frame of the base.
    frames: LiveFrames,
    arm: Arm,
    arming: Arming,
    map: watch::Receiver<Option<Arc<ObjectMap>>>,
    /// What is known of the joints of things in the map; `None` while nobody describes them.
    joints: watch::Receiver<Option<Arc<KnownJoints>>>,
    hand_ways: Publisher<HandWay>,
    in_hand: Publisher<ObjectMapMsg>,
    update: Client<UpdateMap::Service>,
    check: Client<CheckOutcome::Service>,
    stop: watch::Sender<StopLatch>,
    /// A latch that nobody engages: what moves nothing needs no stop.
    unlatched: watch::Sender<StopLatch>,
    /// What lasts from one skill to the next.
    memory: Mutex<Memory>,
}

impl Skills {
    /// Tells the others what is in the gripper.
    fn publish_in_hand(&self, held: Option<&Object>) {
        let in_hand = ObjectMap {
            frame: self.shell.robot.frames.base.clone(),
            stamp: convert::seconds(&self.shell.node.now()),
            objects: held.cloned().into_iter().collect(),
            ..ObjectMap::default()
        };
        if let Err(error) = self.in_hand.publish(&convert::map_to_msg(&in_hand)) {
            tracing::warn!("what is in the hand was not published: {error}");
        }
    }
}

enum Event {
    Goal(Box<GoalRequest<ExecuteSkill::Action>>),
    Stop(ServiceRequest<Stop::Service>),
    Shutdown,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    // A stop outlives what is configured anew.
    let latch = Arc::new(Mutex::new(StopLatch::default()));
    Shell::start("skills", &options).await?.live(|shell| serve(shell, Arc::clone(&latch))).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell, latch: Arc<Mutex<StopLatch>>) -> Result<(), NodeError> {
    let mut goals = shell.node.create_action_server::<ExecuteSkill::Action>(names::EXECUTE_SKILL)?;
    let mut stops = shell.node.create_service::<Stop::Service>(names::STOP, QosProfile::services())?;
    let stop_state =
        shell.node.create_publisher::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let skills = Arc::new(start(shell)?);
    skills.stop.send_replace(latch.lock().unwrap_or_else(PoisonError::into_inner).clone());
    publish_stop(&skills, &stop_state);
    skills.publish_in_hand(None);
    skills.shell.configured();
    let shutdown = skills.shell.shutdown();
    tokio::pin!(shutdown);
    let mut running: Option<Running> = None;
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = stops.next() => Event::Stop(request),
            Some(request) = goals.next() => Event::Goal(Box::new(request)),
        };
        running = Running::still(running).await;
        match event {
            Event::Goal(request) => match &running {
                Some(skill) => refuse(*request, &SkillFault::Busy(skill.name.clone())),
                None => {
                    let name = format!("{} {}", request.goal.skill, request.goal.object_key);
                    running = Some(Running::start(name, |over| execute(Arc::clone(&skills), *request, over)));
                }
            },
            Event::Stop(request) => {
                take_stop(&skills, &stop_state, request);
                *latch.lock().unwrap_or_else(PoisonError::into_inner) = skills.stop.borrow().clone();
            }
            Event::Shutdown => {
                let reason = "the skills node is ending".to_owned();
                skills.stop.send_replace(StopLatch { engaged: true, reason });
                Running::finish(running).await;
                skills.arming.disarm().await;
                return Ok(());
            }
        }
    }
}

fn start(shell: Shell) -> Result<Skills, NodeError> {
    let unusable = |reason: String| NodeError::Start { node: "skills", reason };
    let (node, robot) = (&shell.node, &shell.robot);
    let text = std::fs::read_to_string(&robot.urdf)
        .map_err(|error| unusable(format!("cannot read {}: {error}", robot.urdf.display())))?;
    let model = RobotModel::from_urdf(&text, robot.group()).map_err(|error| unusable(error.to_string()))?;
    if model.joint_names() != robot.arm.joints {
        let reason = format!("`arm.joints` of {} must be in the order {:?}", robot.name, model.joint_names());
        return Err(unusable(reason));
    }
    shell.claim(&robot.arm.controller)?;
    let joints = prehend_robots::joints::follow_joints(node, robot)?;
    let parameters = node.parameters();
    let notice_stuck = parameters.bool_or("notice_stuck", true)?;
    let text = "Whether an arm that does not come forward is noticed by its own pace; without, for an ablation, after 90 s.";
    parameters.describe_fixed("notice_stuck", text, "nobody switches it off while the robot may move");
    let services = QosProfile::services();
    let arming = Arming::start("skills", &shell, Use::Arm)?;
    let moveit = Arc::new(MoveIt::new(node, robot)?);
    Ok(Skills {
        arming,
        planner: Planner::new(node, robot, &model, Arc::clone(&moveit))?,
        scene: SceneKeeper::new(node, robot, &model, Arc::clone(&moveit))?,
        gatekeeper: Gatekeeper::new(node, &robot.frames.base)?,
        frames: LiveFrames::new(node, &robot.frames.base, &robot.frames.tool)?,
        arm: Arm::new(node, robot, moveit, joints, notice_stuck)?,
        map: follow_map(&shell.node, names::OBJECT_MAP)?,
        joints: follow_joints(&shell.node)?,
        memory: Mutex::default(),
        body: body(robot, &model),
        hand_ways: node.create_publisher(names::HAND_WAY, QosProfile::default())?,
        in_hand: node.create_publisher(names::IN_HAND, QosProfile::transient_local())?,
        update: node.create_client(names::OBJECT_MAP_UPDATE, services)?,
        check: node.create_client(names::VERIFIER_CHECK_OUTCOME, services)?,
        stop: watch::Sender::new(StopLatch::default()),
        unlatched: watch::Sender::new(StopLatch::default()),
        shell,
    })
}

async fn execute(skills: Arc<Skills>, request: GoalRequest<ExecuteSkill::Action>, over: Over) {
    let _work = skills.shell.work();
    let node = Arc::clone(&skills);
    if !carry_out(request, over, move |handle| course(&node, handle)).await {
        tracing::error!("the skill broke off");
        skills.arm.halt().await;
        skills.memory.lock().unwrap_or_else(PoisonError::into_inner).doubt();
    }
}

/// Executes a goal, and says how it ended.
fn course(skills: &Skills, handle: &ExecutingGoal<ExecuteSkill::Action>) -> (ExecuteSkill::Result, bool) {
    let goal = handle.goal();
    let robot = Live::new(skills, goal, handle);
    let mut memory = skills.memory.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = match order::read(goal, &skills.shell.robot.arm.joints) {
        Ok(order) => prehend_execution::execute(&robot, &mut memory, &order),
        Err(fault) => prehend_execution::refuse(&robot, &mut memory, fault),
    };
    let is_done = ended.outcome.is_ok();
    let result = ExecuteSkill::Result {
        held_object: ended.held.map(|key| key.0).unwrap_or_default(),
        map_stale: ended.map_is_stale,
        map_version: ended.map_version,
        prospects: robot.prospect().into_iter().collect(),
        ..ended.outcome.err().map(|fault| failed(&fault)).unwrap_or_default()
    };
    (result, is_done)
}

/// The result of a skill that was not done.
fn failed(fault: &SkillFault) -> ExecuteSkill::Result {
    ExecuteSkill::Result {
        error_code: fault::code(fault),
        error_message: fault.to_string(),
        reason: fault.reason().code().to_owned(),
        in_the_way: fault.in_the_way().iter().map(|key| key.0.clone()).collect(),
        ..Default::default()
    }
}

/// Answers a goal that is not taken up, with its typed reason.
fn refuse(request: GoalRequest<ExecuteSkill::Action>, fault: &SkillFault) {
    request.accept().abort(failed(fault));
}

/// Engages or clears the stop latch. Engaging also cancels at the robot whatever this node did not send.
fn take_stop(skills: &Arc<Skills>, state: &Publisher<StopState>, request: ServiceRequest<Stop::Service>) {
    let asked = &request.message;
    let reason = if asked.reason.is_empty() { "asked to stop".to_owned() } else { asked.reason.clone() };
    let message = if asked.engage { format!("stopped: {reason}") } else { "stop cleared".to_owned() };
    skills.stop.send_replace(StopLatch { engaged: asked.engage, reason });
    publish_stop(skills, state);
    if asked.engage {
        let skills = Arc::clone(skills);
        tokio::spawn(async move { skills.arm.halt().await });
    } else {
        skills.arming.ask_again();
    }
    let status = if asked.engage { "engaged" } else { "cleared" };
    skills.shell.trace.event("", TraceEvent::KIND_MOTION, "stop", status, message.clone(), json!({}));
    respond(request, Stop::Response { success: true, message });
}

fn publish_stop(skills: &Skills, publisher: &Publisher<StopState>) {
    let latch = skills.stop.borrow().clone();
    let state = StopState { stamp: skills.shell.node.now(), engaged: latch.engaged, reason: latch.reason };
    if let Err(error) = publisher.publish(&state) {
        tracing::warn!("stop state not published: {error}");
    }
}
