//! Stretch: its base is the first joint of its arm, its camera is on a head, its fingers slide by an aperture.

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_navigation::follow::Velocity;
use prehend_sim::world::{ArmModel, JointPoint, LinkJoint, LinkNames, ModelError, MotionOutcome, WorldError};
use prehend_sim::{Scene, World};
use std::f64::consts::FRAC_PI_2;
use std::path::PathBuf;

/// Arm over the base, head at what is to the right.
const HOME: [f64; 8] = [0.0, 0.85, 0.0, 2.6, -0.2, 0.0, -FRAC_PI_2, -0.7];

fn read(path: &str) -> String {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(repository.join(path)).expect("a file of the repository")
}

fn names() -> LinkNames {
    LinkNames { base: "link_arm_base".to_owned(), laser: "laser".to_owned(), ..LinkNames::default() }
}

fn model() -> ArmModel {
    ArmModel::from_urdf_with(&read("urdf/stretch.urdf"), &names()).expect("a model")
}

fn world(objects: &str) -> World {
    world_at(FRAC_PI_2, objects)
}

fn world_at(yaw: f64, objects: &str) -> World {
    let text = format!(
        "name: test\nrobot: {{xy: [2.0, 2.0], yaw: {yaw}}}\nroom: {{size: [4.0, 4.0]}}\nobjects:\n{objects}"
    );
    let scene = Scene::parse("test.yaml", &text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    World::new(&scene.instantiate(3).expect("placed"), &model(), &HOME).expect("a world")
}

fn run(world: &mut World, target: [f64; 8], seconds: f64) -> MotionOutcome {
    let point = JointPoint { time: seconds, positions: target.to_vec(), velocities: Some(vec![0.0; 8]) };
    world.execute(&[point]).expect("started");
    for _ in 0..240 * 60 {
        world.step();
        if let Some(end) = world.take_motion_ends().pop() {
            return end.outcome;
        }
    }
    panic!("the motion never ended");
}

fn link(world: &World, name: &str) -> Isometry3<f64> {
    let index = world.model().links().iter().position(|link| link.name == name).expect("a link");
    world.link_poses()[index]
}

fn grip(world: &mut World, opening: f64) -> f64 {
    world.command_gripper(opening, 30.0);
    while world.take_grip_ends().is_empty() {
        world.step();
    }
    world.gripper_opening()
}

#[test]
fn joints_are_those_that_reach_then_those_of_the_head() {
    let model = model();
    let joints: Vec<&str> = model.joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(joints[..3], ["joint_mobile_base_translation", "joint_lift", "wrist_extension"]);
    assert_eq!(joints[3..6], ["joint_wrist_yaw", "joint_wrist_pitch", "joint_wrist_roll"]);
    assert_eq!(joints[6..], ["joint_head_pan", "joint_head_tilt"]);
    assert!(model.is_mobile());
    assert_eq!((model.drive_from_opening(0.04), model.max_opening()), (0.04, 0.085));
    let followers = model.links().iter().filter(|link| matches!(link.joint, LinkJoint::Follower(2, ..)));
    assert_eq!(followers.count(), 3, "segments of the telescope");
}

#[test]
fn what_is_wrong_with_a_description_is_told() {
    let text = read("urdf/stretch.urdf");
    let error = |from: &str, to: &str, names: &LinkNames| {
        assert!(text.contains(from), "{from}");
        ArmModel::from_urdf_with(&text.replace(from, to), names).expect_err(from)
    };
    assert_eq!(
        error("stretch", "stretch", &LinkNames::default()),
        ModelError::NoLink("link_base".to_owned())
    );
    let follows = r#"<mimic joint="gripper_aperture" multiplier="0.5" offset="0"/>"#;
    assert_eq!(error(follows, "", &names()), ModelError::Fingers(0));
    let yaw = r#"name="joint_wrist_yaw" type="revolute""#;
    let floating = r#"name="joint_wrist_yaw" type="floating""#;
    assert_eq!(error(yaw, floating, &names()), ModelError::Joint("joint_wrist_yaw".to_owned()));
    let placed = Scene::parse("t.yaml", "name: t\nobjects: []\n").map(|scene| scene.instantiate(1));
    let placed = placed.expect("a scene").expect("placed");
    let error = World::new(&placed, &model(), &HOME[..6]).err().expect("refused");
    assert_eq!(error, WorldError::Joints { expected: 8, found: 6 });
}

/// The base stands at yaw 90 degrees: its x is the map's y. Rolling moves chassis, mast, arm and head alike.
#[test]
fn the_first_joint_rolls_the_whole_robot() {
    let mut world = world(" []\n");
    let before: Vec<Isometry3<f64>> = world.link_poses();
    let mut rolled = HOME;
    rolled[0] = 0.2;
    assert_eq!(run(&mut world, rolled, 2.0), MotionOutcome::Succeeded);
    for (link, (then, now)) in world.model().links().iter().zip(before.iter().zip(world.link_poses())) {
        let way = now.translation.vector - then.translation.vector;
        let expected = if ["base_origin", "link_arm_base"].contains(&link.name.as_str()) { 0.0 } else { 0.2 };
        assert!((way - Vector3::new(0.0, expected, 0.0)).norm() < 2e-3, "{}: {way}", link.name);
    }
    assert!(world.motions().arm.len() == 1 && world.motions().hard_contacts.is_empty());
}

/// A box beside a wheel: rolling into it is felt, and stops the robot.
#[test]
fn rolling_into_something_hard_stops_it() {
    let mut world = world(
        "- {name: box, class: box, shape: box, fixed: true, color: red, size: [0.2, 0.1, 0.3], pose: {xy: [2.0, 2.16], yaw: 0.0}}\n",
    );
    let mut rolled = HOME;
    rolled[0] = 0.24;
    assert!(matches!(run(&mut world, rolled, 3.0), MotionOutcome::ForceLimit(_)));
    assert!(world.arm_joints()[0] < 0.12, "{:?}", world.arm_joints());
}

#[test]
fn the_head_looks_where_it_is_turned() {
    let mut world = world(" []\n");
    let camera = link(&world, "camera_color_optical_frame");
    let (ahead, down) = (camera.rotation * Vector3::z(), camera.rotation * Vector3::y());
    // To the robot's right, which is the map's +x, and 40 degrees down; the picture is upright.
    assert!((ahead - Vector3::new(0.7_f64.cos(), 0.0, -0.7_f64.sin())).norm() < 1e-3, "{ahead}");
    assert!(down.z < -0.7 && down.y.abs() < 1e-3, "{down}");
    assert!((camera.translation.z - 1.3).abs() < 0.05, "{camera}");
    let mut level = HOME;
    level[7] = 0.0;
    run(&mut world, level, 1.0);
    let camera = link(&world, "camera_color_optical_frame");
    assert!((camera.rotation * Vector3::z() - Vector3::x()).norm() < 1e-3, "{camera}");
}

/// A world with a thing of these keys on a stand at the robot's right, its place, and the thing's number.
fn beside_a_stand(keys: &str) -> (World, usize, Vector3<f64>) {
    let world = world(&format!(
        "- {{name: stand, class: box, shape: box, fixed: true, color: white, size: [0.3, 0.3, 0.6], pose: {{xy: [2.55, 2.0], yaw: 0.0}}}}\n\
         - {{name: thing, {keys}, on: stand, region: {{x: [-0.01, 0.01], y: [-0.01, 0.01], yaw: 0.0}}}}\n",
    ));
    let thing = world.objects().iter().position(|object| object.spec.name == "thing").expect("a thing");
    let at = world.object_poses()[thing].translation.vector;
    (world, thing, at)
}

/// Joints with which the hand, straight down, is this much above a place: in closed form the slides make up for where the wrist is.
fn above(world: &World, at: &Vector3<f64>, height: f64) -> [f64; 8] {
    let base = world.base_transform().expect("a base");
    let mut joints = HOME;
    joints[1..6].copy_from_slice(&[0.5, 0.1, 0.0, -FRAC_PI_2, 0.0]);
    let tool = base * world.model().tcp_pose(&joints);
    let off = base.rotation.inverse() * (at + Vector3::z() * height - tool.translation.vector);
    joints[0] += off.x;
    joints[1] += off.z;
    joints[2] -= off.y;
    joints
}

/// Takes what is at a place from above and lifts it by 15 cm; the joints then, and the opening.
fn lift(world: &mut World, at: &Vector3<f64>) -> ([f64; 8], f64) {
    let (over_it, around, up) = (above(world, at, 0.12), above(world, at, 0.0), above(world, at, 0.15));
    let mut over = HOME;
    over[1] = over_it[1];
    assert_eq!(run(world, over, 2.0), MotionOutcome::Succeeded);
    assert_eq!(run(world, over_it, 4.0), MotionOutcome::Succeeded);
    assert!((grip(world, 0.085) - 0.085).abs() < 0.002);
    assert_eq!(run(world, around, 3.0), MotionOutcome::Succeeded);
    let closed = grip(world, 0.0);
    assert_eq!(run(world, up, 3.0), MotionOutcome::Succeeded);
    (up, closed)
}

/// Held by friction alone.
#[test]
fn it_picks_up_a_block_by_friction() {
    let keys = "class: block, shape: box, color: blue, size: [0.04, 0.04, 0.06], mass: 0.15";
    let (mut world, block, at) = beside_a_stand(keys);
    let (_, closed) = lift(&mut world, &at);
    assert!((closed - 0.04).abs() < 0.004, "{closed}");
    assert!((world.drive_position() - world.gripper_opening()).abs() < 1e-9 && world.drive_effort() > 1.0);
    assert!(world.arm_efforts().iter().all(|effort| effort.is_finite()));
    let lifted = world.object_poses()[block].translation.vector - at;
    assert!(world.is_held(block) && (lifted - Vector3::z() * 0.15).norm() < 0.01, "{lifted}");
    let base = world.base_transform().expect("a base");
    let tool = Point3::from((base * world.model().tcp_pose(world.arm_joints())).translation.vector);
    assert!((tool - Point3::from(at + Vector3::z() * 0.15)).norm() < 0.005, "{tool}");
}

/// To the pose for driving and back the hand turns by a quarter and swings over the base: what it holds keeps its place in it.
#[test]
fn what_is_carried_does_not_creep_out_of_a_turning_hand() {
    for keys in [
        "class: block, shape: box, color: blue, size: [0.05, 0.05, 0.05], mass: 0.1",
        "class: egg, shape: egg, color: cream, mass: 0.06",
    ] {
        let (mut world, thing, at) = beside_a_stand(keys);
        let (up, _) = lift(&mut world, &at);
        let in_hand = |world: &World| {
            let base = world.base_transform().expect("a base");
            (base * world.model().tcp_pose(world.arm_joints())).inverse() * world.object_poses()[thing]
        };
        let before = in_hand(&world).translation.vector;
        let mut level = up;
        level[4] = 0.0;
        let mut folded = level;
        folded[3] = 2.7;
        for (joints, seconds) in [(level, 2.0), (folded, 3.0), (level, 3.0), (up, 2.0)] {
            assert_eq!(run(&mut world, joints, seconds), MotionOutcome::Succeeded);
            let crept = (in_hand(&world).translation.vector - before).norm();
            assert!(world.is_held(thing) && crept < 0.005, "{keys}: {crept} m");
        }
    }
}

/// A heading beyond 180 degrees is the same as one below -180: the hand turns on, and its fingers with it.
#[test]
fn turning_past_half_a_turn_is_smooth() {
    let mut world = world_at(3.0, " []\n");
    let in_hand = |world: &World| {
        let (hand, finger) = (link(world, "link_gripper_s3_body"), link(world, "link_gripper_finger_left"));
        (hand.inverse() * finger).translation.vector
    };
    let before = in_hand(&world);
    let mut passed = false;
    for _ in 0..240 {
        world.drive(Velocity { linear: 0.0, angular: 0.8 }).expect("drives");
        world.step();
        passed |= world.base_pose().expect("a base").yaw < 0.0;
        let off = (in_hand(&world) - before).norm();
        assert!(off < 0.003, "the finger is {off} m from its place");
    }
    assert!(passed && world.bumps().is_empty());
}
