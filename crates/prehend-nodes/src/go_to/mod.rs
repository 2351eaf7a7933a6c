//! The go_to node: drives the base to where an object can be acted on, or round the room (ASP III-D, IV-C).
//!
//! One errand at a time. The base is driven with a redeemed permit only, with the arm folded, and stands when the errand ends.
//! It runs on robots with a `navigation` section.

mod drive;
mod fault;
mod ground;
mod interrupt;
mod job;
mod side;
mod tour;

pub use fault::GoToFault;

use crate::follow::follow_map;
use crate::permit::Gatekeeper;
use crate::running::{Over, Running, end};
use drive::Driver;
use futures::StreamExt;
use ground::Ground;
use interrupt::Interrupt;
use job::Job;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::StopState;
use prehend_msgs::prehend_interfaces::srv::{GetObject, UpdateMap};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_robots::arming::{Arming, Use};
use prehend_robots::live_frames::LiveFrames;
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{ActionClient, Client, GoalRequest, Live, QosProfile, RosError};
use prehend_scene::ObjectMap;
use std::sync::{Arc, Weak};
use tokio::sync::watch;

enum Event {
    Goal(Box<GoalRequest<GoTo::Action>>),
    Shutdown,
}

/// What the node has; shared by the errands it runs, one at a time.
struct Node {
    shell: Shell,
    ground: Ground,
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
    /// Why the stop is latched, when it is; also when the process ends.
    stop: watch::Sender<Option<String>>,
    arming: Arc<Arming>,
    search: Search,
}

/// How a place to stand is searched; parameters may change it between two errands.
struct Search {
    /// Whether the affordance decides from which side to come; without it, an ablation of the paper.
    by_affordance: Live<bool>,
    lambda_aff: Live<f64>,
    radius: Live<f64>,
    relax_max: Live<f64>,
    fixed: ViewPoseParams,
}

impl Search {
    fn now(&self) -> ViewPoseParams {
        let radius = self.radius.get();
        ViewPoseParams {
            lambda_aff: if self.by_affordance.get() { self.lambda_aff.get() } else { 0.0 },
            radius,
            relax_max: self.relax_max.get().max(radius),
            ..self.fixed.clone()
        }
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
                Some(errand) => refuse(*request, &GoToFault::Busy(errand.name.clone())),
                None => {
                    let name = format!("{} {}", request.goal.kind, request.goal.object_key);
                    running = Some(Running::start(name, |over| execute(Arc::clone(&node), *request, over)));
                }
            },
            Event::Shutdown => {
                node.stop.send_replace(Some("the go_to node is ending".to_owned()));
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
    parameters.finish()?;
    let facing = navigation.facing;
    let search =
        Search { by_affordance, lambda_aff, radius, relax_max, fixed: ViewPoseParams { facing, ..base } };
    let services = QosProfile::services();
    let mut infos = node.subscribe::<CameraInfo>(&robot.camera.info, QosProfile::sensor_data())?;
    let (sender, camera) = watch::channel(None);
    tokio::spawn(async move {
        while let Some(info) = infos.next().await {
            sender.send_replace(Some(info));
        }
    });
    Ok(Node {
        ground: Ground::new(node, navigation, &robot.frames.base)?,
        driver: Driver::new(node, navigation)?,
        gatekeeper: Gatekeeper::new(node, &navigation.frame)?,
        frames: LiveFrames::new(node, &navigation.odom, &navigation.base)?,
        skills: node.create_action_client(names::EXECUTE_SKILL)?,
        affordance: node.create_action_client(names::DETECT_AFFORDANCE)?,
        objects: node.create_client(names::OBJECT_MAP_GET_OBJECT, services)?,
        local: follow_map(node, names::OBJECT_MAP)?,
        update: node.create_client(names::OBJECT_MAP_UPDATE, services)?,
        camera,
        stop: follow_stop(node, Arc::downgrade(&arming))?,
        search,
        arming,
        shell,
    })
}

/// Keeps why the stop is latched, when it is.
fn follow_stop(
    node: &prehend_ros::Node,
    arming: Weak<Arming>,
) -> Result<watch::Sender<Option<String>>, RosError> {
    let mut states = node.subscribe::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let sender = watch::Sender::new(None);
    let heard = sender.clone();
    tokio::spawn(async move {
        while let Some(state) = states.next().await {
            if let (false, Some(arming)) = (state.engaged, arming.upgrade()) {
                arming.ask_again();
            }
            heard.send_replace(state.engaged.then_some(state.reason));
        }
    });
    Ok(sender)
}

async fn execute(node: Arc<Node>, request: GoalRequest<GoTo::Action>, over: Over) {
    let _work = node.shell.work();
    let goal = request.goal.clone();
    let handle = request.accept();
    let (stop, peers, arming) = (node.stop.subscribe(), &node.shell.peers, &node.arming);
    let interrupt = Interrupt { goal: &handle, stop, peers, arming };
    let result = Job { node: &node, goal: &goal, handle: &handle, interrupt }.run().await;
    over.say();
    let is_done = result.reason.is_empty();
    end(handle, result, is_done);
}

/// Answers a goal that is not taken up, with its typed reason.
fn refuse(request: GoalRequest<GoTo::Action>, fault: &GoToFault) {
    request.accept().abort(GoTo::Result {
        error_code: fault.code(),
        error_message: fault.to_string(),
        reason: fault.reason().code().to_owned(),
        ..Default::default()
    });
}
