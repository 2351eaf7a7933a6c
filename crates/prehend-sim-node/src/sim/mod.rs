//! The embedded robot as a process: the `sim` crate behind the topics, services and actions of a real robot.
//!
//! Thread 1 steps physics at the wanted speed and publishes `/clock`, joint states and transforms; thread 2 draws the
//! camera's frames; the controllers' and MoveIt's servers run in the runtime. What physics knows beyond its sensors
//! leaves only through `judge`, the process's own stdin and stdout.
//!
//! When the robot file has a section `arming`, the vendor's driver stands between the controllers and the robot, see `vendor`.
//!
//! Parameters: `detector` (`scene` or `perfect`), `depth_noise` (`scene` or `off`), `arming` (`robot` or `off`: no driver),
//! `vendor_without` (a service of the driver that is not offered), `moveit` (`robot`, or `off`: no interfaces of MoveIt, so that the node
//! `move_group` or a real MoveIt can offer them), `nav2` (`robot`; `off`: no interfaces of Nav2 and no localisation, the base takes the
//! velocities of a real Nav2; `map`: the same, and it publishes the map and where it starts).

pub mod arm_handle;
mod base;
mod camera;
mod controllers;
mod driver;
mod judge;
mod judge_channel;
mod physics;
mod planned;
pub mod still;
mod vendor;

pub use arm_handle::{ArmError, ArmHandle, Motion, RobotState};
pub use controllers::{TrajectoryMessageError, trajectory_from_msg};

use base::rig::{BaseRig, Nav2};
use camera::{Camera, Detectors, FrameSlot};
use physics::{Physics, Publishers, robot_state};
use planned::Planned;
use prehend_msgs::control_msgs::action::{FollowJointTrajectory, GripperCommand};
use prehend_robots::{NodeError, NodeOptions, Shell, move_group};
use prehend_sim::scene::{DetectorSpec, PlacedScene};
use prehend_sim::sensors::{Detector, RgbdCamera, Stage, overview_view_of, wrist_camera_intrinsics};
use prehend_sim::world::ArmModel;
use prehend_sim::{Scene, World};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use tokio::sync::watch;

/// Scene when none is named.
const DEFAULT_SCENE: &str = "config/scenes/tabletop.yaml";

fn start_error(reason: impl ToString) -> NodeError {
    NodeError::Start { node: "sim", reason: reason.to_string() }
}

/// Runs the embedded robot until a signal, or until stdin ends when it is watched.
///
/// Errors: [`NodeError::Config`] for a scene file with findings; [`NodeError::Start`] for a scene without room, or a
/// robot description this simulator cannot run.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    let scene_file = options.scene.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_SCENE));
    let scene = Scene::load(&prehend_config::share::resolve(&scene_file))?;
    let watch_stdin = options.watch_stdin;
    // This process makes the time of the others, and reads its stdin itself.
    let own = NodeOptions { use_sim_time: false, watch_stdin: false, ..options.clone() };
    let shell = Shell::start("sim", &own).await?;
    let parameters = shell.node.parameters();
    let mut placed = scene.instantiate(options.seed).map_err(start_error)?;
    adjust(
        &mut placed,
        &parameters.string_or("detector", "scene")?,
        &parameters.string_or("depth_noise", "scene")?,
    )?;

    parameters.describe("detector", "`scene`: errs as the scene says; `perfect`: does not.");
    parameters.describe("depth_noise", "`scene`: as the scene says; `off`.");

    let urdf = std::fs::read_to_string(&shell.robot.urdf)
        .map_err(|error| start_error(format!("{}: {error}", shell.robot.urdf.display())))?;
    let model = ArmModel::from_urdf_with(&urdf, &crate::link_names(&shell.robot)).map_err(start_error)?;
    let world = World::new(&placed, &model, &shell.robot.home).map_err(start_error)?;
    let model = Arc::new(model);

    let stage = Arc::new(Stage::new(&world.render_items()).map_err(start_error)?);
    let spec = &placed.scene;
    let classes = world.entities().iter().map(|entity| entity.class.clone()).collect();
    let camera = RgbdCamera::new(wrist_camera_intrinsics(), spec.camera.clone(), options.seed);
    let detector = Detector::new(spec.detector.clone(), classes, options.seed);
    // Another seed: what is wrong about a thing says nothing about its parts.
    let part_detector =
        Detector::new(spec.part_detector.clone(), stage.region_classes(), options.seed.wrapping_add(0x9e37));
    let detectors = Detectors { objects: detector, parts: part_detector };
    let camera = Camera::create(&shell.node, &shell.robot, camera, detectors, Arc::clone(&stage))?;

    let (commands, received) = mpsc::channel();
    let (state, reported) = watch::channel(robot_state(&world));
    let (arming, missing) =
        (parameters.string_or("arming", "robot")?, parameters.string_or("vendor_without", "")?);
    parameters.describe("arming", "robot: the driver's safety services are there; off: they are not.");
    parameters.describe("vendor_without", "A service that the driver does not have.");
    let vendor = match arming.as_str() {
        "robot" => driver::Vendor::new(shell.robot.arming.as_ref(), &missing),
        "off" => driver::Vendor::new(None, ""),
        other => return Err(start_error(format!("parameter `arming` is `{other}`; robot or off"))),
    };
    let has_moveit = match parameters.string_or("moveit", "robot")?.as_str() {
        "robot" => true,
        "off" => false,
        other => return Err(start_error(format!("parameter `moveit` is `{other}`; robot or off"))),
    };
    parameters.describe("moveit", "robot: it has MoveIt's interfaces; off: it has not.");
    let arm = ArmHandle::new(commands, reported, Arc::new(vendor));
    let frames = FrameSlot::default();
    let nav2 = Nav2::read(&parameters.string_or("nav2", "robot")?).map_err(start_error)?;
    parameters
        .describe("nav2", "robot: it has Nav2's interfaces; map: only the map; off: it takes velocities.");
    let start = world.believed_pose().filter(|_| nav2 == Nav2::Map);
    let base = match &shell.robot.navigation {
        Some(names) => BaseRig::create(&shell.node, names, &world, nav2).map_err(start_error)?,
        None => None,
    };
    let (base, base_state) = base.unzip();
    let physics = Physics {
        base,
        world,
        robot: shell.robot.clone(),
        publishers: Publishers::create(&shell.node, &shell.robot)?,
        commands: received,
        state,
        frames: frames.clone(),
        speed: options.speed,
    };
    let controller =
        shell.node.create_action_server::<FollowJointTrajectory::Action>(&shell.robot.arm.controller)?;
    let gripper = shell.node.create_action_server::<GripperCommand::Action>(&shell.robot.gripper.action)?;

    let camera_thread = spawn("camera", {
        let frames = frames.clone();
        move || camera.run(&frames)
    })?;
    // Not before it is known that no other robot plays in this graph: two clocks would be none.
    shell.activate();
    shell.alone().await?;
    let physics_thread = spawn("physics", move || physics.run())?;
    let judge = judge_channel::open(arm.clone(), stage, overview_view_of(&placed.scene), watch_stdin)?;
    let servers = [
        tokio::spawn(controllers::serve_arm(controller, arm.clone(), Arc::clone(&model))),
        tokio::spawn(controllers::serve_gripper(gripper, arm.clone(), Arc::clone(&model))),
    ];
    let seed = options.seed;
    let _move_group = if has_moveit {
        let planned = Arc::new(Planned::create(&shell.node, &shell.robot, arm.clone())?);
        Some(move_group::start(&shell.node, &shell.robot, planned, seed)?)
    } else {
        None
    };
    let _driver = vendor::start(&shell.node, &shell.robot, arm.clone())?;
    let _navigator = match (&shell.robot.navigation, base_state) {
        (Some(names), Some(Some(state))) => Some(base::start(&shell.node, names, arm.clone(), state)?),
        (Some(names), Some(None)) => Some(base::commanded::serve(&shell.node, names, arm.clone(), start)?),
        _ => None,
    };
    tracing::info!(scene = %scene_file.display(), seed = options.seed, "the embedded robot runs");

    let outcome = tokio::select! {
        () = shell.shutdown() => Ok(()),
        () = judge.closed() => Ok(()),
        () = arm.gone() => Err(start_error("the physics thread ended")),
    };
    for server in &servers {
        server.abort();
    }
    for server in servers {
        // Aborted on purpose.
        let _ = server.await;
    }
    frames.close();
    physics::end(&arm);
    for thread in [camera_thread, physics_thread] {
        if thread.join().is_err() {
            tracing::error!("a thread of the simulator panicked");
        }
    }
    outcome
}

fn spawn(
    name: &'static str,
    body: impl FnOnce() + Send + 'static,
) -> Result<std::thread::JoinHandle<()>, NodeError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map_err(start_error)
}

/// Applies the parameters that override the scene's imperfections.
fn adjust(placed: &mut PlacedScene, detector: &str, depth_noise: &str) -> Result<(), NodeError> {
    match detector {
        "scene" => {}
        "perfect" => {
            placed.scene.detector = DetectorSpec::default();
            placed.scene.part_detector = DetectorSpec::default();
        }
        other => return Err(start_error(format!("parameter `detector` is `{other}`; scene or perfect"))),
    }
    match depth_noise {
        "scene" => {}
        "off" => placed.scene.camera.depth_noise = None,
        other => return Err(start_error(format!("parameter `depth_noise` is `{other}`; scene or off"))),
    }
    Ok(())
}
