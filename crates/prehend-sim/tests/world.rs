//! The world by itself: determinism, rest of every shape, the force guard, the trajectory controller and the gripper.

mod rig;

use nalgebra::Vector3;
use prehend_sim::World;
use prehend_sim::world::{JointPoint, MotionOutcome, STEP, TrajectoryError, WorldError};
use rig::{HOME, Rig, down, model, repository, scene, world};

/// A pick in a full scene, with the hash of the state after each motion.
fn picking(seed: u64) -> Vec<u64> {
    let file = repository().join("config/scenes/blocks.yaml");
    let placed = prehend_sim::Scene::load(&file).expect("scene").instantiate(seed).expect("placed");
    let mut rig = Rig { world: World::new(&placed, &model(), &HOME).expect("world") };
    let mut hashes = vec![rig.world.state_hash()];
    let target = rig.world.object_poses()[3].translation.vector;
    let at = |height: f64| down(target.x, target.y, target.z + height, 0.4);
    rig.move_to(&at(0.1));
    hashes.push(rig.world.state_hash());
    rig.move_straight(&at(0.0), 0.1);
    hashes.push(rig.world.state_hash());
    rig.grip(0.0, 30.0);
    hashes.push(rig.world.state_hash());
    rig.move_straight(&at(0.1), 0.1);
    hashes.push(rig.world.state_hash());
    hashes
}

/// Contract: a run is a function of scene, seed and commands, bit for bit.
#[test]
fn two_runs_are_the_same_bit_for_bit_and_seeds_differ() {
    assert_eq!(picking(5), picking(5));
    assert_ne!(picking(5), picking(6));
}

#[test]
fn every_shape_rests_without_jitter_or_sinking() {
    for (shape, height) in [
        ("box", 0.05),
        ("cylinder", 0.1),
        ("can", 0.1),
        ("sphere", 0.07),
        ("capsule, lying: true", 0.04),
        ("egg, lying: true", 0.044),
        ("mug", 0.095),
        ("bowl", 0.055),
        ("plate", 0.024),
        ("pan", 0.04),
        ("bottle", 0.18),
        ("tray", 0.05),
    ] {
        let (shape, lying) =
            shape.split_once(", lying: true").map_or((shape, false), |(shape, _)| (shape, true));
        let text = format!(
            "- {{name: a, class: a, shape: {shape}, color: red, pose: {{xy: [0.45, 0.1], yaw: 0.3, lying: {lying}}}}}"
        );
        let mut world = world(&text, 0);
        let start = world.object_poses()[0];
        assert!(
            (start.translation.z - height / 2.0 - 0.001).abs() < 0.002,
            "{shape} rests at {}",
            start.translation.z
        );
        let mut widest: f64 = 0.0;
        for _ in 0..480 {
            world.step();
            let now = world.object_poses()[0];
            let moved = (now.translation.vector - start.translation.vector).norm();
            widest = widest.max(moved).max((now.rotation.inverse() * start.rotation).angle() * 0.05);
        }
        assert!(widest < 0.001, "{shape} strays by {:.2} mm", widest * 1e3);
        assert_eq!(world.truth().objects[0].touches, ["table"]);
    }
}

#[test]
fn the_force_guard_stops_an_arm_that_presses_on_the_table() {
    let mut rig = Rig::new("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    assert_eq!(rig.move_to(&down(0.4, 0.0, 0.08, 0.0)), MotionOutcome::Succeeded);
    let outcome = rig.move_straight(&down(0.4, 0.0, -0.03, 0.0), 0.1);
    let MotionOutcome::ForceLimit(force) = outcome else { panic!("{outcome:?}") };
    assert!((80.0..400.0).contains(&force), "{force} N");
    let height = rig.tcp().translation.z;
    assert!(height > -0.02, "the tool went {height} m deep");
    let motions = rig.world.motions();
    let contact = motions.hard_contacts.first().expect("a hard contact");
    assert_eq!(contact.other, "table");
    assert!(contact.link.contains("finger"), "{contact:?}");
    // It may leave the contact, and then moves as before.
    assert_eq!(rig.move_straight(&down(0.4, 0.0, 0.08, 0.0), 0.1), MotionOutcome::Succeeded);
    assert_eq!(rig.move_to(&down(0.45, 0.1, 0.2, 0.0)), MotionOutcome::Succeeded);
}

#[test]
fn the_force_guard_stops_a_link_that_runs_into_the_table() {
    let mut rig = Rig::new("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    let mut low = HOME;
    low[1] = 1.2;
    let outcome = rig.move_joints(&low, 2.0);
    assert!(matches!(outcome, MotionOutcome::ForceLimit(_)), "{outcome:?}");
    assert!(rig.world.motions().hard_contacts.iter().any(|contact| contact.other == "table"));
}

#[test]
fn trajectories_are_checked_followed_and_stopped() {
    let mut rig = Rig::new("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    let at = |time: f64, positions: [f64; 6]| JointPoint {
        time,
        positions: positions.to_vec(),
        velocities: Some(vec![0.0; 6]),
    };
    let mut there = HOME;
    there[0] = 0.5;
    let mut beyond = HOME;
    beyond[2] = 0.5;
    let mut broken = HOME;
    broken[1] = f64::NAN;
    let refused = |rig: &mut Rig, points: &[JointPoint]| rig.world.execute(points).expect_err("refused");
    assert_eq!(refused(&mut rig, &[]), TrajectoryError::Empty);
    assert_eq!(refused(&mut rig, &[at(1.0, broken)]), TrajectoryError::NotFinite { point: 0 });
    assert_eq!(refused(&mut rig, &[at(f64::INFINITY, HOME)]), TrajectoryError::NotFinite { point: 0 });
    assert_eq!(refused(&mut rig, &[at(1.0, HOME), at(1.0, there)]), TrajectoryError::Time { point: 1 });
    assert_eq!(refused(&mut rig, &[at(-1.0, HOME)]), TrajectoryError::Time { point: 0 });
    assert!(matches!(refused(&mut rig, &[at(2.0, beyond)]), TrajectoryError::Limit { point: 0, .. }));
    assert!(matches!(refused(&mut rig, &[at(0.0, there), at(1.0, HOME)]), TrajectoryError::Start { .. }));
    assert!(matches!(refused(&mut rig, &[at(0.05, there)]), TrajectoryError::Speed { .. }));
    assert!(!rig.world.is_moving() && rig.world.motions().arm.is_empty());

    // Followed in time, without jumps in position.
    let id = rig.world.execute(&[at(1.0, there)]).expect("started");
    let mut last = rig.world.arm_joints()[0];
    let mut ends = Vec::new();
    // Rounding may make it one step more.
    for _ in 0..241 {
        rig.world.step();
        let now = rig.world.arm_joints()[0];
        assert!(now >= last && now - last < 0.8 * STEP, "{last} to {now}");
        last = now;
        ends.extend(rig.world.take_motion_ends());
    }
    assert_eq!(ends.len(), 1);
    assert_eq!((ends[0].id, ends[0].outcome), (id, MotionOutcome::Succeeded));
    assert!((last - 0.5).abs() < 1e-12);

    // Stopped: it slows down within its deceleration and stands.
    rig.world.execute(&[at(2.0, HOME)]).expect("started");
    for _ in 0..200 {
        rig.world.step();
    }
    let speed = rig.world.arm_velocities()[0].abs();
    rig.world.stop();
    let from = rig.world.arm_joints()[0];
    let mut previous = speed;
    while rig.world.is_moving() {
        rig.world.step();
        let now = rig.world.arm_velocities()[0].abs();
        assert!(now <= previous + 1e-9 && previous - now < 15.0 * STEP, "{previous} to {now} rad/s");
        previous = now;
    }
    assert_eq!(rig.world.take_motion_ends()[0].outcome, MotionOutcome::Stopped);
    let path = (rig.world.arm_joints()[0] - from).abs();
    assert!(path < speed * speed / 10.0 + 0.01, "{path} rad after the stop");
    let stands = rig.world.arm_joints().to_vec();
    rig.wait(0.2);
    assert_eq!(&stands, rig.world.arm_joints());
}

/// As ros2_control's joint_trajectory_controller does it.
#[test]
fn a_trajectory_takes_the_place_of_a_running_one_without_a_jerk_and_what_is_refused_disturbs_nothing() {
    let mut rig = Rig::new("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    let to = |seconds: f64, joint: usize, angle: f64| {
        let mut positions = HOME.to_vec();
        positions[joint] = angle;
        [JointPoint { time: seconds, positions, velocities: Some(vec![0.0; HOME.len()]) }]
    };
    let first = rig.world.execute(&to(1.0, 0, 0.5)).expect("started");
    (0..120).for_each(|_| rig.world.step());
    assert!(matches!(rig.world.execute(&to(0.01, 0, -0.5)), Err(TrajectoryError::Speed { .. })));
    assert!(rig.world.is_moving() && rig.world.take_motion_ends().is_empty(), "what was refused stopped it");
    let fast = rig.world.arm_velocities()[0];
    assert!(fast > 0.5, "{fast} rad/s");

    let second = rig.world.execute(&to(1.5, 0, HOME[0])).expect("taken while the arm moves");
    let told = |rig: &mut Rig| -> Vec<_> {
        rig.world.take_motion_ends().iter().map(|end| (end.id, end.outcome)).collect()
    };
    assert_eq!(told(&mut rig), [(first, MotionOutcome::Replaced)]);
    rig.world.step();
    let now = rig.world.arm_velocities()[0];
    assert!((fast - now).abs() < 15.0 * STEP, "{fast} to {now} rad/s");
    rig.wait(1.6);
    assert_eq!(told(&mut rig), [(second, MotionOutcome::Succeeded)]);
    assert!((rig.world.arm_joints()[0] - HOME[0]).abs() < 1e-9);
}

#[test]
fn the_gripper_reaches_stalls_and_gives_way_to_the_next_command() {
    let mut rig = Rig::new("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    assert!((rig.world.gripper_opening() - 0.085).abs() < 1e-3);
    for opening in [0.03, 0.06, 0.0, 0.085, 0.05] {
        let end = rig.grip(opening, 20.0);
        assert!(end.reached_goal && !end.stalled && !end.replaced, "{end:?}");
        assert!((end.opening - opening).abs() < 0.003, "{opening}: {end:?}");
        rig.wait(0.5);
        assert!((rig.world.gripper_opening() - opening).abs() < 0.003, "{opening} is not held");
    }
    let first = rig.world.command_gripper(0.0, 20.0);
    rig.wait(0.1);
    let second = rig.world.command_gripper(0.085, f64::NAN);
    rig.wait(2.0);
    let ends = rig.world.take_grip_ends();
    assert_eq!(
        ends.iter().map(|end| (end.id, end.replaced)).collect::<Vec<_>>(),
        [(first, true), (second, false)]
    );
    rig.world.command_gripper(0.0, 20.0);
    rig.wait(0.2);
    rig.world.hold_gripper();
    let opening = rig.world.gripper_opening();
    rig.wait(0.5);
    assert!((rig.world.gripper_opening() - opening).abs() < 0.006, "held at {opening}");
    assert_eq!(rig.world.motions().gripper.len(), 7);
}

#[test]
fn a_held_thing_drops_when_the_grip_opens_and_what_lies_in_a_bowl_is_in_it() {
    let mut rig = Rig::new(
        "- {name: bowl, class: bowl, shape: bowl, color: white, mass: 0.4, pose: {xy: [0.5, -0.1]}}\n\
         - {name: ball, class: ball, shape: sphere, size: {radius: 0.025}, color: red, pose: {xy: [0.4, 0.1]}}",
        0,
    );
    let names = |world: &World| {
        let truth = world.truth();
        (truth.objects[1].inside.clone(), truth.objects[1].on.clone(), truth.objects[1].held)
    };
    assert_eq!(names(&rig.world), (vec![], vec![], false));
    let ball = rig.world.object_poses()[1].translation.vector;
    rig.move_to(&down(ball.x, ball.y, ball.z + 0.1, 0.0));
    rig.move_straight(&down(ball.x, ball.y, ball.z, 0.0), 0.1);
    rig.grip(0.0, 30.0);
    rig.move_straight(&down(ball.x, ball.y, ball.z + 0.15, 0.0), 0.1);
    assert_eq!(names(&rig.world), (vec![], vec![], true));
    let bowl = rig.world.object_poses()[0].translation.vector;
    rig.move_to(&down(bowl.x, bowl.y, 0.12, 0.0));
    rig.grip(0.085, 30.0);
    rig.wait(1.5);
    assert_eq!(names(&rig.world), (vec!["bowl".to_owned()], vec!["bowl".to_owned()], false));
}

#[test]
fn faults_of_the_judge_move_and_push_objects() {
    let mut world = world("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}", 0);
    world.move_object("a", &Vector3::new(0.4, -0.2, 0.03)).expect("moved");
    assert!((world.object_poses()[0].translation.vector - Vector3::new(0.4, -0.2, 0.03)).norm() < 1e-6);
    world.push_object("a", &Vector3::new(0.0, 0.0, 1.0)).expect("pushed");
    for _ in 0..10 {
        world.step();
    }
    assert!(world.object_poses()[0].translation.z > 0.05);
    assert!(world.move_object("b", &Vector3::zeros()).is_err());
    assert!(world.push_object("a", &Vector3::new(f64::NAN, 0.0, 0.0)).is_err());
    world.move_object("a", &Vector3::new(1.5, 1.5, 0.0)).expect("moved off the table");
    for _ in 0..240 {
        world.step();
    }
    assert!(world.truth().objects[0].fallen);
}

#[test]
fn what_is_knocked_over_lies_there() {
    let bottle = "- {name: a, class: bottle, shape: cylinder, color: red, size: {radius: 0.02, height: 0.12}, pose: {xy: [0.5, 0.3]}}";
    let mut world = world(bottle, 0);
    world.knock_over("a", &Vector3::new(1.0, 0.0, 0.0)).expect("knocked over");
    let axis = world.object_poses()[0].rotation * Vector3::z();
    assert!((axis - Vector3::x()).norm() < 1e-5, "{axis}");
    for _ in 0..240 {
        world.step();
    }
    let lying = world.object_poses()[0];
    assert!((lying.rotation * Vector3::z()).z.abs() < 0.05 && lying.translation.z < 0.03, "{lying}");
    assert!(world.knock_over("a", &Vector3::z()).is_err() && world.knock_over("b", &Vector3::x()).is_err());
}

#[test]
fn a_home_outside_the_limits_is_refused() {
    let placed = scene("- {name: a, class: a, shape: box, color: red, pose: {xy: [0.5, 0.3]}}");
    let placed = placed.instantiate(0).expect("placed");
    for position in [9.0, f64::NAN] {
        let mut home = HOME;
        home[4] = position;
        let error = World::new(&placed, &model(), &home).err().expect("refused");
        assert!(matches!(error, WorldError::Home { ref joint, .. } if joint == "joint5"), "{error}");
    }
}
