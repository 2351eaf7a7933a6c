//! MoveIt 2's face by its real names and types, so that MoveIt can stand in its place, and it in MoveIt's.
//!
//! For: `/move_action`, `/execute_trajectory`, `/compute_cartesian_path`, `/compute_ik`, `/apply_planning_scene`, `/get_planning_scene` and
//! `/monitored_planning_scene`, over the planner of `prehend-motion` and an `Arm`: that of the embedded robot, or, in the node
//! `move_group`, one that its own controller moves, for robots whose vendor has no MoveIt configuration.
//! Not for: knowing what is on the table: the scene holds what clients applied and nothing else.
//! Read [`run`] and `start` first. Planning runs on threads for blocking work; one motion runs at a time, a second one is refused by the
//! arm.

mod arm;
mod controlled;
mod controller;
mod error;
mod fence;
mod goal;
mod heard;
mod misbehaviour;
mod planning;
mod scene;
mod state;
#[cfg(test)]
mod tests;
mod told;
mod trajectory;

pub use arm::Arm;
pub use controller::Controller;
pub use error::MoveGroupError;
pub use fence::to_msg as fence_msg;
pub use heard::{HeardScene, HeardSceneError};
pub use misbehaviour::Misbehaviour;
pub use state::ArmState;
#[cfg(test)]
pub(crate) use trajectory::to_msg as timed_msg;

use crate::moveit_layout::{ActionLayout, Humble, Jazzy, Layout, ServiceLayout};
use crate::robot::{Distribution, MoveItNames};
use crate::{NodeError, NodeOptions, RobotConfig, Shell};
use controlled::Controlled;
use error::success;
use futures::StreamExt;
use planning::{Planned, Planner};
use prehend_motion::{MotionLimits, RobotModel};
use prehend_msgs::moveit_msgs::action::{ExecuteTrajectory, MoveGroup};
use prehend_msgs::moveit_msgs::msg::{MoveItErrorCodes, RobotTrajectory};
use prehend_msgs::moveit_msgs::srv::{ApplyPlanningScene, GetCartesianPath, GetPlanningScene, GetPositionIK};
use prehend_ros::{ExecutingGoal, Node, QosProfile};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use scene::Scene;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// By how much links are grown against the scene, m.
const PADDING: f64 = 0.002;
/// Pause after the scene was told on its topic: a search for a grasp changes it many times a second, and must not wait for who looks on.
const TOLD_PERIOD: Duration = Duration::from_millis(250);

/// What all servers share.
struct Face<A> {
    scene: Mutex<Scene>,
    model: Arc<RobotModel>,
    limits: MotionLimits,
    arm: Arc<A>,
    seed: u64,
    requests: AtomicU64,
}

/// Runs the node until it is told to stop: plans for the arm of the robot file, which its own controller moves. The seed of `options`
/// makes the plans repeatable.
///
/// Errors: [`NodeError`].
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    let seed = options.seed;
    Shell::start("move_group", &options).await?.live(|shell| over_the_controller(shell, seed)).await
}

/// Takes in the configuration and serves until it is to be given back; the arm stands then.
async fn over_the_controller(shell: Shell, seed: u64) -> Result<(), NodeError> {
    shell.node.parameters().finish()?;
    let arm = Arc::new(Controlled::create(&shell)?);
    let mut servers = start(&shell.node, &shell.robot, Arc::clone(&arm), seed)?;
    shell.configured();
    shell.shutdown().await;
    arm.end().await;
    servers.shutdown().await;
    Ok(())
}

/// Creates the servers and serves them until the returned set is dropped. `seed` makes the plans repeatable.
///
/// Errors: [`NodeError::Start`] when the robot description or its limits file (`<urdf>_joint_limits.yaml` beside it) cannot be used,
/// [`NodeError::Config`] when the limits file is wrong, [`NodeError::Ros`].
pub fn start<A: Arm>(
    node: &Node,
    robot: &RobotConfig,
    arm: Arc<A>,
    seed: u64,
) -> Result<JoinSet<()>, NodeError> {
    let face = Arc::new(Face::new(robot, arm, seed)?);
    match robot.moveit.distribution {
        Distribution::Jazzy => serve::<Jazzy, A>(node, &robot.moveit, &face),
        Distribution::Humble => serve::<Humble, A>(node, &robot.moveit, &face),
    }
}

/// The servers in the layouts `L`.
fn serve<L: Layout, A: Arm>(
    node: &Node,
    names: &MoveItNames,
    face: &Arc<Face<A>>,
) -> Result<JoinSet<()>, NodeError> {
    let face = face.clone();
    let services = QosProfile::services();
    let mut goals = node.create_action_server::<L::Group>(&names.move_action)?;
    let mut executions = node.create_action_server::<L::Execute>(&names.execute_trajectory)?;
    let mut lines = node.create_service::<L::Line>(&names.cartesian_path, services)?;
    let mut inverses = node.create_service::<L::Inverse>(&names.inverse_kinematics, services)?;
    let mut scenes =
        node.create_service::<ApplyPlanningScene::Service>(&names.apply_planning_scene, services)?;
    let mut questions =
        node.create_service::<GetPlanningScene::Service>(&names.planning_scene(), services)?;
    let changes = node.create_publisher(&names.changed_scene(), QosProfile::transient_local().depth(1))?;

    let mut tasks = JoinSet::new();
    let shared = face.clone();
    tasks.spawn(async move {
        while let Some(request) = goals.next().await {
            let face = shared.clone();
            tokio::spawn(async move { face.move_group(request.accept()).await });
        }
    });
    let shared = face.clone();
    tasks.spawn(async move {
        while let Some(request) = executions.next().await {
            let face = shared.clone();
            if face.arm.has_moveits_manners() {
                let _occupied = request.occupy();
                face.execute_trajectory(request.accept()).await;
            } else {
                tokio::spawn(async move { face.execute_trajectory(request.accept()).await });
            }
        }
    });
    let shared = face.clone();
    tasks.spawn(async move {
        while let Some(request) = lines.next().await {
            let face = shared.clone();
            let (message, answer) = request.into_parts();
            let mut message = L::Line::request_into(message);
            if face.arm.has_moveits_manners() {
                message.max_cartesian_speed = 0.0;
            }
            tokio::spawn(async move {
                let response = face.blocking(move |planner| planner.line(&message)).await;
                let response = response.unwrap_or_else(|error| GetCartesianPath::Response {
                    error_code: error.to_msg(),
                    ..Default::default()
                });
                let response = face.arm.misbehaviour().line(response);
                log(answer.respond(L::Line::response_from(response)));
            });
        }
    });
    let shared = face.clone();
    tasks.spawn(async move {
        while let Some(request) = inverses.next().await {
            let face = shared.clone();
            let (message, answer) = request.into_parts();
            let message = L::Inverse::request_into(message);
            tokio::spawn(async move {
                let response = match face.blocking(move |planner| planner.inverse(&message)).await {
                    Ok(solution) => GetPositionIK::Response { solution, error_code: success("") },
                    Err(error) => {
                        GetPositionIK::Response { error_code: error.to_msg(), ..Default::default() }
                    }
                };
                log(answer.respond(L::Inverse::response_from(response)));
            });
        }
    });
    let shared = face.clone();
    tasks.spawn(async move {
        while let Some(request) = questions.next().await {
            log(request.respond(GetPlanningScene::Response { scene: shared.scene().to_msg() }));
        }
    });
    let (shared, news) = (face.clone(), Arc::new(Notify::new()));
    let heard = Arc::clone(&news);
    tasks.spawn(async move {
        loop {
            heard.notified().await;
            let scene = shared.scene().clone();
            log(changes.publish(&scene.to_msg()));
            tokio::time::sleep(TOLD_PERIOD).await;
        }
    });
    tasks.spawn(async move {
        // In order: a scene is the sum of its diffs.
        while let Some(request) = scenes.next().await {
            let (message, answer) = request.into_parts();
            let success = match face.apply_scene(&message.scene) {
                Ok(()) => {
                    news.notify_one();
                    !face.arm.misbehaviour().refuses_scene()
                }
                Err(error) => {
                    tracing::warn!("planning scene not changed: {error}");
                    false
                }
            };
            log(answer.respond(ApplyPlanningScene::Response { success }));
        }
    });
    Ok(tasks)
}

fn log(sent: Result<(), prehend_ros::RosError>) {
    if let Err(error) = sent {
        tracing::warn!("answer not sent: {error}");
    }
}

impl<A: Arm> Face<A> {
    fn new(robot: &RobotConfig, arm: Arc<A>, seed: u64) -> Result<Self, NodeError> {
        let failed = |reason: String| NodeError::Start { node: "move_group", reason };
        let text = std::fs::read_to_string(&robot.urdf)
            .map_err(|error| failed(format!("cannot read {}: {error}", robot.urdf.display())))?;
        let model = RobotModel::from_urdf(&text, robot.group())
            .map_err(|error| failed(format!("{}: {error}", robot.urdf.display())))?;
        if model.joint_names() != robot.arm.joints {
            let (found, file) = (model.joint_names(), &robot.arm.joints);
            let urdf = robot.urdf.display();
            return Err(failed(format!(
                "`arm.joints` is {file:?}; in {urdf} the arm's joints are {found:?}"
            )));
        }
        let stem = robot.urdf.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let path = robot.urdf.with_file_name(format!("{stem}_joint_limits.yaml"));
        let text = std::fs::read_to_string(&path)
            .map_err(|error| failed(format!("cannot read {}: {error}", path.display())))?;
        let limits = MotionLimits::from_yaml(&path.display().to_string(), &text, model.joint_names())?;
        let model = Arc::new(model);
        Ok(Self {
            scene: Mutex::new(Scene::new(Arc::clone(&model), PADDING)),
            model,
            limits,
            arm,
            seed,
            requests: AtomicU64::new(0),
        })
    }

    fn apply_scene(
        &self,
        message: &prehend_msgs::moveit_msgs::msg::PlanningScene,
    ) -> Result<(), MoveGroupError> {
        let arm = self.arm.state()?;
        let mut scene = self.scene();
        let mut changed = scene.clone();
        changed.apply(message, &arm)?;
        *scene = changed;
        Ok(())
    }

    /// The scene, also after a panic of whoever held it: it changes as a whole or not at all.
    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn planner(&self) -> Result<Planner, MoveGroupError> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        Ok(Planner {
            scene: self.scene().clone(),
            arm: self.arm.state()?,
            limits: self.limits.clone(),
            rng: ChaCha8Rng::seed_from_u64(
                self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(request),
            ),
        })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Planner) -> Result<T, MoveGroupError> + Send + 'static,
    ) -> Result<T, MoveGroupError> {
        let planner = self.planner()?;
        tokio::task::spawn_blocking(move || work(planner)).await.unwrap_or(Err(MoveGroupError::Crash))
    }

    /// `/move_action`: plan, and execute unless told otherwise.
    async fn move_group<L: ActionLayout<MoveGroup::Action>>(&self, executing: ExecutingGoal<L>) {
        let say = |state: &str| {
            let feedback = MoveGroup::Feedback { state: state.to_owned() };
            log(executing.publish_feedback(L::feedback_from(feedback)))
        };
        let MoveGroup::Goal { request, planning_options } = L::goal_into(executing.goal().clone());
        let mut result = MoveGroup::Result::default();
        say("PLANNING");
        let begun = Instant::now();
        let planning = self.blocking(move |mut planner| {
            let mut diff = planning_options.planning_scene_diff;
            // A scene given with a goal is a diff for this goal only.
            diff.is_diff = true;
            let arm = planner.arm.with(planner.scene.world.model(), &diff.robot_state)?;
            planner.scene.apply(&diff, &arm)?;
            planner.plan(&request)
        });
        let planned = tokio::select! {
            planned = planning => planned,
            () = executing.cancelled() => Err(MoveGroupError::Stopped),
        };
        result.planning_time = begun.elapsed().as_secs_f64();
        let outcome = match planned {
            Err(error) => Err(error),
            Ok(Planned { start, trajectory }) => {
                result.trajectory_start = start;
                result.planned_trajectory = trajectory;
                if planning_options.plan_only {
                    Ok(())
                } else {
                    say("MONITOR");
                    let moved = self.follow(&result.planned_trajectory, executing.cancelled()).await;
                    if moved.is_ok() {
                        result.executed_trajectory = result.planned_trajectory.clone();
                    }
                    moved
                }
            }
        };
        say("IDLE");
        result.error_code = code(&outcome);
        let misbehaviour = self.arm.misbehaviour();
        misbehaviour.spoil(&mut result.planned_trajectory);
        if let Some(code) = misbehaviour.planning() {
            result.error_code = code;
            executing.abort(L::result_from(result));
            return;
        }
        let result = L::result_from(result);
        let cancelled = executing.is_cancel_requested();
        match outcome {
            Ok(()) => executing.succeed(result),
            Err(MoveGroupError::Stopped) if cancelled => executing.canceled(result),
            Err(_) => executing.abort(result),
        }
    }

    /// `/execute_trajectory`.
    async fn execute_trajectory<L: ActionLayout<ExecuteTrajectory::Action>>(
        &self,
        executing: ExecutingGoal<L>,
    ) {
        let say = |state: &str| {
            let feedback = ExecuteTrajectory::Feedback { state: state.to_owned() };
            log(executing.publish_feedback(L::feedback_from(feedback)))
        };
        if let Some(error_code) = self.arm.misbehaviour().execution() {
            executing.abort(L::result_from(ExecuteTrajectory::Result { error_code }));
            return;
        }
        say("MONITOR");
        let goal = L::goal_into(executing.goal().clone());
        let outcome = self.follow(&goal.trajectory, executing.cancelled()).await;
        say("IDLE");
        let result = L::result_from(ExecuteTrajectory::Result { error_code: code(&outcome) });
        let cancelled = executing.is_cancel_requested();
        match outcome {
            Ok(()) => executing.succeed(result),
            Err(MoveGroupError::Stopped) if cancelled => executing.canceled(result),
            Err(_) => executing.abort(result),
        }
    }

    /// Moves the arm along a trajectory until it stands again.
    async fn follow(
        &self,
        trajectory: &RobotTrajectory,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<(), MoveGroupError> {
        if !trajectory.multi_dof_joint_trajectory.points.is_empty() {
            return Err(MoveGroupError::Unsupported { what: "a multi-dof trajectory" });
        }
        if let Some(bounds) = self.arm.bounds() {
            bounds.check(trajectory, &self.model)?;
        }
        self.arm.follow(trajectory, cancelled).await
    }
}

fn code(outcome: &Result<(), MoveGroupError>) -> MoveItErrorCodes {
    match outcome {
        Ok(()) => success(""),
        Err(error) => error.to_msg(),
    }
}
