//! The go_to node: drives the base to where an object can be acted on, or round the room (ASP III-D, IV-C).
//!
//! One errand at a time. The base is driven with a redeemed permit only, with the arm folded, and stands when the errand ends.
//! It runs on robots with a `navigation` section.

mod drive;
mod fault;
mod ground;
mod interrupt;
mod job;
mod nav2;
mod side;
mod tour;

pub use fault::GoToFault;

use crate::arming::{Arming, Use};
use crate::follow::follow_map;
use crate::live_frames::LiveFrames;
use crate::permit::Gatekeeper;
use crate::shell::{NodeError, NodeOptions, Shell};
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
use prehend_ros::{ActionClient, Client, GoalRequest, QosProfile, RosError};
use prehend_scene::ObjectMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Longest wait for the running errand to stop the base when the process ends.
const LAST_STOP: Duration = Duration::from_secs(4);

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
    search: ViewPoseParams,
    arming: Arc<Arming>,
    /// Whether the affordance decides from which side to come; without it, an ablation of the paper.
    by_affordance: bool,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    let shell = Shell::start("go_to", &options).await?;
    let mut goals = shell.node.create_action_server::<GoTo::Action>(names::GO_TO)?;
    let node = Arc::new(start(shell)?);
    let shutdown = node.shell.shutdown();
    tokio::pin!(shutdown);
    let mut running: Option<(String, JoinHandle<()>)> = None;
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = goals.next() => Event::Goal(Box::new(request)),
        };
        running.take_if(|(_, task)| task.is_finished());
        match event {
            Event::Goal(request) => match &running {
                Some((name, _)) => refuse(*request, &GoToFault::Busy(name.clone())),
                None => {
                    let name = format!("{} {}", request.goal.kind, request.goal.object_key);
                    running = Some((name, tokio::spawn(execute(Arc::clone(&node), *request))));
                }
            },
            Event::Shutdown => {
                node.stop.send_replace(Some("the go_to node is ending".to_owned()));
                if let Some((_, task)) = running
                    && tokio::time::timeout(LAST_STOP, task).await.is_err()
                {
                    tracing::warn!("the running errand did not end in time");
                }
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
    let parameters = node.parameters();
    let base = ViewPoseParams::default();
    let by_affordance = parameters.bool_or("affordance", true)?;
    let lambda_aff = parameters.f64_or("lambda_aff", base.lambda_aff)?;
    let radius = parameters.f64_or("radius", navigation.reach[0])?;
    let relax_max = parameters.f64_or("relax_max", navigation.reach[1])?;
    let arming = Arc::new(Arming::start("go_to", &shell, Use::Base)?);
    parameters.finish()?;
    let search = ViewPoseParams {
        lambda_aff: if by_affordance { lambda_aff } else { 0.0 },
        radius,
        relax_max,
        facing: navigation.facing,
        ..base
    };
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
        stop: follow_stop(node, Arc::clone(&arming))?,
        search,
        arming,
        by_affordance,
        shell,
    })
}

/// Keeps why the stop is latched, when it is.
fn follow_stop(
    node: &prehend_ros::Node,
    arming: Arc<Arming>,
) -> Result<watch::Sender<Option<String>>, RosError> {
    let mut states = node.subscribe::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let sender = watch::Sender::new(None);
    let heard = sender.clone();
    tokio::spawn(async move {
        while let Some(state) = states.next().await {
            if !state.engaged {
                arming.ask_again();
            }
            heard.send_replace(state.engaged.then_some(state.reason));
        }
    });
    Ok(sender)
}

async fn execute(node: Arc<Node>, request: GoalRequest<GoTo::Action>) {
    let goal = request.goal.clone();
    let handle = request.accept();
    let (stop, peers, arming) = (node.stop.subscribe(), &node.shell.peers, &node.arming);
    let interrupt = Interrupt { goal: &handle, stop, peers, arming };
    let result = Job { node: &node, goal: &goal, handle: &handle, interrupt }.run().await;
    if result.reason.is_empty() {
        handle.succeed(result);
    } else if handle.is_cancel_requested() {
        handle.canceled(result);
    } else {
        handle.abort(result);
    }
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
