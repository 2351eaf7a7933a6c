//! The go_to node: drives the base to where an object can be acted on, or round the room (ASP III-D, IV-C).
//!
//! The course of an errand is in `prehend-execution` ([`prehend_execution::errand`]); here is the base that it is carried out with (`live`).
//! One errand at a time. The base is driven with a redeemed permit only, with the arm folded, and stands when the errand ends: what
//! drives, `drive::Driver`, takes one by value. It runs on robots with a `navigation` section.

mod drive;
mod fault;
mod interrupt;
mod live;
mod navigation_state;
mod order;

use crate::follow::{follow, follow_map};
use crate::interrupt::StopLatch;
use crate::permit::Gatekeeper;
use crate::running::{Over, Running, carry_out};
use drive::Driver;
use futures::StreamExt;
use navigation_state::NavigationState;
use prehend_convert as convert;
use prehend_execution::errand::{self, Chassis, ErrandFault, GivenUp};
use prehend_msgs::geometry_msgs::msg::Pose2D;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::StopState;
use prehend_msgs::prehend_interfaces::srv::{GetObject, UpdateMap};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_robots::arming::{Arming, Use};
use prehend_robots::live_frames::LiveFrames;
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{ActionClient, Client, ExecutingGoal, GoalRequest, Live, QosProfile, RosError};
use prehend_scene::ObjectMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// How long a way that was free and is blocked now is waited for, seconds: a person who stands in a doorway goes on within it.
const WAIT_FOR_WAY: f64 = 20.0;

enum Event {
    Goal(Box<GoalRequest<GoTo::Action>>),
    Shutdown,
}

/// What the node has; shared by the errands it runs, one at a time.
struct Node {
    shell: Shell,
    chassis: Chassis,
    navigation: NavigationState,
    driver: Driver,
    gatekeeper: Gatekeeper,
    /// The base in the frame of the odometry.
    frames: LiveFrames,
    skills: ActionClient<ExecuteSkill::Action>,
    affordance: ActionClient<DetectAffordance::Action>,
    objects: Client<GetObject::Service>,
    /// What is seen from where the base stands, frame of the arm.
    local: watch::Receiver<Option<Arc<ObjectMap>>>,
    update: Client<UpdateMap::Service>,
    camera: watch::Receiver<Option<CameraInfo>>,
    /// Engaged also when the process ends.
    stop: watch::Sender<StopLatch>,
    arming: Arc<Arming>,
    search: Search,
    given_up: GivenUp,
}

/// How a place to stand is searched; parameters may change it between two errands.
struct Search {
    /// Whether the affordance decides from which side to come; without it, an ablation of the paper.
    by_affordance: Live<bool>,
    lambda_aff: Live<f64>,
    radius: Live<f64>,
    relax_max: Live<f64>,
    wait_for_way: Live<f64>,
    fixed: ViewPoseParams,
}

impl Search {
    fn now(&self) -> errand::Search {
        let (by_affordance, radius) = (self.by_affordance.get(), self.radius.get());
        let params = ViewPoseParams {
            lambda_aff: if by_affordance { self.lambda_aff.get() } else { 0.0 },
            radius,
            relax_max: self.relax_max.get().max(radius),
            ..self.fixed.clone()
        };
        errand::Search { by_affordance, params, patience: Duration::from_secs_f64(self.wait_for_way.get()) }
    }
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("go_to", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let mut goals = shell.node.create_action_server::<GoTo::Action>(names::GO_TO)?;
    let node = Arc::new(start(shell)?);
    node.shell.configured();
    let shutdown = node.shell.shutdown();
    tokio::pin!(shutdown);
    let mut running: Option<Running> = None;
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = goals.next() => Event::Goal(Box::new(request)),
        };
        running = Running::still(running).await;
        match event {
            Event::Goal(request) => match &running {
                Some(errand) => refuse(*request, &ErrandFault::Busy(errand.name.clone())),
                None => {
                    let name = format!("{} {}", request.goal.kind, request.goal.object_key);
                    running = Some(Running::start(name, |over| execute(Arc::clone(&node), *request, over)));
                }
            },
            Event::Shutdown => {
                let reason = "the go_to node is ending".to_owned();
                node.stop.send_replace(StopLatch { engaged: true, reason });
                Running::finish(running).await;
                node.arming.disarm().await;
                return Ok(());
            }
        }
    }
}

fn start(shell: Shell) -> Result<Node, NodeError> {
    let (node, robot) = (&shell.node, &shell.robot);
    let Some(navigation) = &robot.navigation else {
        let reason =
            format!("{} has no section `navigation` in its robot file: it does not drive", robot.name);
        return Err(NodeError::Start { node: "go_to", reason });
    };
    shell.claim(&navigation.action)?;
    let parameters = node.parameters();
    let base = ViewPoseParams::default();
    let arming = Arc::new(Arming::start("go_to", &shell, Use::Base)?);
    let by_affordance = parameters.live_bool(
        "affordance",
        true,
        "Whether a part decides from which side to come (ASP III-D).",
    )?;
    let text = "Weight of the side that a part asks for (ASP III-D).";
    let lambda_aff = parameters.live_f64("lambda_aff", base.lambda_aff, 0.0..=1000.0, text)?;
    let text = "Distance at which the base stands best, metres.";
    let radius = parameters.live_f64("radius", navigation.reach[0], 0.05..=3.0, text)?;
    let text = "Greatest distance at which the base stands, metres.";
    let relax_max = parameters.live_f64("relax_max", navigation.reach[1], 0.05..=3.0, text)?;
    let text = "How long a way that was free and is blocked now is waited for, seconds; 0: not at all.";
    let wait_for_way = parameters.live_f64("wait_for_way", WAIT_FOR_WAY, 0.0..=600.0, text)?;
    parameters.finish()?;
    let fixed = ViewPoseParams { facing: navigation.facing, ..base };
    let search = Search { by_affordance, lambda_aff, radius, relax_max, wait_for_way, fixed };
    let services = QosProfile::services();
    let infos = (robot.camera.info.as_str(), QosProfile::sensor_data());
    let frames = LiveFrames::new(node, &navigation.odom, &navigation.base)?;
    Ok(Node {
        chassis: live::chassis(robot, navigation),
        navigation: NavigationState::new(node, navigation, &robot.frames.base)?,
        driver: Driver::new(node, navigation, frames.clone())?,
        gatekeeper: Gatekeeper::new(node, &navigation.frame)?,
        frames,
        skills: node.create_action_client(names::EXECUTE_SKILL)?,
        affordance: node.create_action_client(names::DETECT_AFFORDANCE)?,
        objects: node.create_client(names::OBJECT_MAP_GET_OBJECT, services)?,
        local: follow_map(node, names::OBJECT_MAP)?,
        update: node.create_client(names::OBJECT_MAP_UPDATE, services)?,
        camera: follow(node, infos, "camera info refused", Ok::<CameraInfo, std::convert::Infallible>)?,
        stop: follow_stop(node, Arc::downgrade(&arming))?,
        search,
        given_up: GivenUp::default(),
        arming,
        shell,
    })
}

/// Keeps the stop latch, which is the skills node's.
fn follow_stop(node: &prehend_ros::Node, arming: Weak<Arming>) -> Result<watch::Sender<StopLatch>, RosError> {
    let mut states = node.subscribe::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let sender = watch::Sender::new(StopLatch::default());
    let heard = sender.clone();
    tokio::spawn(async move {
        while let Some(StopState { engaged, reason, .. }) = states.next().await {
            if let (false, Some(arming)) = (engaged, arming.upgrade()) {
                arming.ask_again();
            }
            heard.send_replace(StopLatch { engaged, reason });
        }
    });
    Ok(sender)
}

async fn execute(node: Arc<Node>, request: GoalRequest<GoTo::Action>, over: Over) {
    let _work = node.shell.work();
    let base = Arc::clone(&node);
    if !carry_out(request, over, move |handle| course(&base, handle)).await {
        tracing::error!("the errand broke off");
        node.driver.halt().await;
    }
}

/// Carries out a goal, and says how it ended and where the base is.
fn course(node: &Node, handle: &ExecutingGoal<GoTo::Action>) -> (GoTo::Result, bool) {
    let base = live::Live::new(node, handle);
    let ended = match order::read(handle.goal()) {
        Ok(errand) => errand::execute(&base, &errand),
        Err(fault) => errand::refuse(&base, fault),
    };
    let is_done = ended.outcome.is_ok();
    let mut result = match ended.outcome {
        Ok(done) => GoTo::Result {
            moved: done.moved,
            keyframes: done.keyframes,
            missed: done.missed,
            map_version: done.map_version,
            prospects: base.prospect().into_iter().collect(),
            ..Default::default()
        },
        Err(fault) => failed(&fault),
    };
    if let Some((pose, map_from_arm)) = ended.place {
        result.pose = Pose2D { x: pose.x, y: pose.y, theta: pose.yaw };
        result.map_from_arm = convert::pose_to_msg(&map_from_arm);
    }
    (result, is_done)
}

/// The result of an errand that was not done.
fn failed(fault: &ErrandFault) -> GoTo::Result {
    GoTo::Result {
        error_code: fault::code(fault),
        error_message: fault.to_string(),
        reason: fault.reason().code().to_owned(),
        ..Default::default()
    }
}

/// Answers a goal that is not taken up, with its typed reason.
fn refuse(request: GoalRequest<GoTo::Action>, fault: &ErrandFault) {
    request.accept().abort(failed(fault));
}
