//! Doors, knobs, levers, keys and what is held until somebody pulls, under the gripper.

mod rig;

use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_sim::World;
use prehend_sim::world::{JointTruth, MotionOutcome};
use rig::{FORWARD, Rig, down};

fn joint(world: &World, name: &str) -> JointTruth {
    let found = world.truth().mechanisms.into_iter().find(|joint| joint.joint == name);
    found.expect("joint")
}

#[track_caller]
fn done(outcome: MotionOutcome) {
    assert_eq!(outcome, MotionOutcome::Succeeded);
}

/// Tool that looks ahead and 0.3 rad down, turned by `yaw` about z, fingers opening sideways.
fn forward(at: Vector3<f64>, yaw: f64) -> Isometry3<f64> {
    let turn = Matrix3::from_columns(&[Vector3::z(), -Vector3::y(), Vector3::x()]);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    let pitch = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.3);
    let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
    Isometry3::from_parts(Translation3::from(at), yaw * pitch * turn)
}

#[test]
fn a_door_follows_the_hand_on_its_handle_along_the_arc() {
    let mut rig = Rig::new(
        "- {name: cabinet, model: door_cabinet, pose: {xy: [0.72, -0.02], yaw: 0.0}, \
         parameters: {width: 0.24, depth: 0.2, height: 0.3, bar: 0.1}}",
        1,
    );
    let hinge = Vector3::new(0.72 - 0.1 - 0.007, -0.02 + 0.12, 0.15);
    // Where the bar is when the door is open by an angle.
    let bar = |angle: f64| {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -angle);
        hinge + turn * Vector3::new(-0.042, 0.028 - 0.24, 0.0)
    };
    let mut level = FORWARD;
    level[5] = 0.0;
    done(rig.move_joints(&level, 3.0));
    done(rig.move_to(&forward(bar(0.0) + Vector3::new(-0.07, 0.0, 0.1), 0.0)));
    done(rig.move_straight(&forward(bar(0.0) + Vector3::new(-0.07, 0.0, 0.0), 0.0), 0.2));
    done(rig.move_straight(&forward(bar(0.0), 0.0), 0.05));
    let grip = rig.grip(0.0, 30.0);
    assert!(grip.stalled, "{grip:?}");
    assert_eq!(joint(&rig.world, "door").states, ["closed"]);
    for step in 1..=16 {
        let angle = 0.05 * f64::from(step);
        done(rig.move_straight(&forward(bar(angle), -angle), 0.05));
    }
    let open = joint(&rig.world, "door");
    assert!((open.position - 0.8).abs() < 0.06 && open.states == ["open"], "{open:?}");
    rig.grip(0.085, 30.0);
    rig.wait(0.5);
    assert!((joint(&rig.world, "door").position - open.position).abs() < 0.03, "the door stays where it is");
}

#[test]
fn a_knob_turns_with_the_wrist_and_a_lever_under_a_push() {
    let mut rig = Rig::new(
        "- {name: stove, model: flat_stove, pose: {xy: [0.45, 0.0], yaw: 0.0}, parameters: {width: 0.28, knob: 0.02}}\n\
         - {name: switch, model: switch, pose: {xy: [0.40, 0.3], yaw: 0.0}}\n\
         - {name: faucet, model: faucet, pose: {xy: [0.50, -0.3], yaw: 0.0}, parameters: {height: 0.16, lever: 0.09}}",
        1,
    );
    let state = |rig: &Rig, object: &str| {
        let truth = rig.world.truth();
        let found =
            truth.mechanisms.iter().find(|joint| joint.object == object).map(|joint| joint.states.clone());
        found.expect("joint")
    };
    assert_eq!(state(&rig, "stove"), ["off"]);
    let knob = Vector3::new(0.45 - 0.075, 0.04 - 0.14, 0.06);
    done(rig.move_to(&down(knob.x, knob.y, knob.z + 0.08, 0.0)));
    done(rig.move_straight(&down(knob.x, knob.y, knob.z, 0.0), 0.1));
    rig.grip(0.0, 20.0);
    let mut turned = rig.world.arm_joints().to_vec();
    turned[5] += 1.0;
    done(rig.move_joints(&turned, 1.5));
    let mut turned_more = joint(&rig.world, "knob").position;
    if turned_more < 0.6 {
        turned[5] -= 2.0;
        done(rig.move_joints(&turned, 2.0));
        turned_more = joint(&rig.world, "knob").position;
    }
    assert!(turned_more > 0.6, "turned by {turned_more}");
    assert_eq!(state(&rig, "stove"), ["on"]);
    rig.grip(0.085, 20.0);
    done(rig.move_straight(&down(knob.x, knob.y, knob.z + 0.12, 0.0), 0.1));

    assert_eq!(state(&rig, "switch"), ["off"]);
    rig.grip(0.0, 20.0);
    done(rig.move_to(&down(0.40 - 0.06, 0.3, 0.16, 0.0)));
    done(rig.move_straight(&down(0.40 - 0.06, 0.3, 0.075, 0.0), 0.1));
    done(rig.move_straight(&down(0.40 - 0.006, 0.3, 0.075, 0.0), 0.05));
    assert_eq!(state(&rig, "switch"), ["on"]);
    done(rig.move_straight(&down(0.40 - 0.06, 0.3, 0.16, 0.0), 0.1));

    assert_eq!(state(&rig, "faucet"), ["off"]);
    let lever = Vector3::new(0.50, -0.3 + 0.07, 0.16 + 0.012);
    done(rig.move_to(&down(lever.x + 0.04, lever.y, lever.z + 0.08, 0.0)));
    done(rig.move_straight(&down(lever.x + 0.04, lever.y, lever.z, 0.0), 0.1));
    done(rig.move_straight(&down(lever.x - 0.035, lever.y, lever.z, 0.0), 0.05));
    assert_eq!(state(&rig, "faucet"), ["on"]);
}

#[test]
fn one_key_goes_down_and_its_neighbours_stay() {
    let mut rig = Rig::new(
        "- {name: keyboard, model: keyboard, pose: {xy: [0.42, 0.0], yaw: 0.0}, parameters: {top: 0.02}}",
        1,
    );
    rig.grip(0.0, 10.0);
    for (key, x, y) in [("space bar", -0.036, 0.0), ("g key", 0.012, 0.004)] {
        done(rig.move_to(&down(0.42 + x, y, 0.10, 0.0)));
        for step in 0..14 {
            rig.move_straight(&down(0.42 + x, y, 0.045 - 0.0015 * f64::from(step), 0.0), 0.05);
            if joint(&rig.world, key).states == ["pressed"] {
                break;
            }
        }
        let pressed: Vec<String> = rig
            .world
            .truth()
            .mechanisms
            .into_iter()
            .filter(|joint| joint.states == ["pressed"])
            .map(|joint| joint.joint)
            .collect();
        assert_eq!(pressed, [key]);
        done(rig.move_straight(&down(0.42 + x, y, 0.10, 0.0), 0.1));
        rig.wait(0.2);
        assert!(joint(&rig.world, key).states.is_empty(), "{key} stays down");
    }
}

#[test]
fn a_plug_and_a_pin_come_off_when_pulled_and_not_before() {
    for (model, joint_name, offset, height) in [
        ("power_strip, parameters: {plug: 0.03}", "socket", [0.0, 0.07], 0.066),
        ("thumbtack_board, parameters: {height: 0.024}", "pin", [0.0, 0.0], 0.034),
    ] {
        let mut rig =
            Rig::new(&format!("- {{name: it, model: {model}, pose: {{xy: [0.42, 0.0], yaw: 0.0}}}}"), 1);
        let at = |z: f64| down(0.42 + offset[0], offset[1], z, 0.0);
        rig.wait(0.5);
        assert!(!joint(&rig.world, joint_name).broken, "{model} came off by itself");
        done(rig.move_to(&at(0.15)));
        done(rig.move_straight(&at(height), 0.1));
        rig.grip(0.0, 30.0);
        assert!(!joint(&rig.world, joint_name).broken, "{model} came off when gripped");
        done(rig.move_straight(&at(height + 0.08), 0.05));
        let now = joint(&rig.world, joint_name);
        assert!(now.broken, "{model}: {now:?}");
        let truth = rig.world.truth();
        let piece = truth.objects.iter().find(|object| object.name == now.entity).expect("entity");
        assert!(piece.held && piece.position[2] > height + 0.04, "{model}: {piece:?}");
    }
}

#[test]
fn a_lid_lies_on_its_pot_and_a_mug_in_a_microwave_is_inside_it() {
    let rig = Rig::new(
        "- {name: pot, model: pot, pose: {xy: [0.40, 0.3], yaw: 0.0}}\n- {name: lid, model: pot_lid, on: pot, offset: [0, 0], yaw: 0}\n\
         - {name: oven, model: microwave, pose: {xy: [0.70, 0.0], yaw: 0.0}, parameters: {width: 0.32, depth: 0.22, height: 0.2, bar: 0.1}}\n\
         - {name: in it, model: white_yellow_mug, pose: {xyz: [0.70, 0.03, 0.060], yaw: 0.0}}\n\
         - {name: on it, model: red_coffee_mug, pose: {xyz: [0.70, 0.03, 0.246], yaw: 0.0}}",
        1,
    );
    let truth = rig.world.truth();
    let find = |name: &str| truth.objects.iter().find(|object| object.name == name).expect("object");
    assert_eq!(find("lid").on, ["pot"]);
    assert_eq!(find("in it").inside, ["oven"]);
    assert!(find("on it").inside.is_empty(), "{:?}", find("on it").inside);
}

#[test]
fn joint_efforts_show_what_the_hand_pushes_against() {
    let mut rig = Rig::new("- {name: it, model: push_button, pose: {xy: [0.42, 0.0], yaw: 0.0}}", 3);
    rig.grip(0.0, 10.0);
    let free = rig.world.arm_efforts();
    assert!(free.iter().all(|effort| effort.abs() < 0.01), "{free:?}");
    done(rig.move_to(&down(0.42, 0.0, 0.12, 0.0)));
    // Down against the spring: 700 N/m times 2 mm of preload and about 5 mm of travel.
    for step in 0..40 {
        rig.move_straight(&down(0.42, 0.0, 0.08 - 0.001 * f64::from(step), 0.0), 0.05);
        if joint(&rig.world, "button").position > 0.005 {
            break;
        }
    }
    rig.wait(0.3);
    let position = joint(&rig.world, "button").position;
    let force = 700.0 * (position + 0.002);
    // The force pushes the hand up, 0.42 m before the first lifting joint's axis, which bears it with its motor.
    let shoulder = rig.world.arm_efforts()[1];
    assert!((shoulder.abs() / (force * 0.42) - 1.0).abs() < 0.25, "{shoulder} N m against {force} N");
    assert!(rig.world.arm_efforts()[0].abs() < 0.5 * shoulder.abs());
}

#[test]
fn joint_efforts_show_the_friction_of_a_drawer_that_is_pulled() {
    let mut rig = Rig::new("- {name: cabinet, model: drawer_cabinet, pose: {xy: [0.72, 0.0], yaw: 0.0}}", 1);
    let truth = rig.world.truth();
    let drawer = truth.objects.iter().find(|object| object.name == "cabinet/top drawer").expect("drawer");
    let at =
        Vector3::new(drawer.position[0] - drawer.half_extents[0] - 0.048, 0.0, drawer.position[2] + 0.006);
    let tool = |x: f64| {
        let mut pose = forward(Vector3::new(x, at.y, at.z), 0.0);
        pose.rotation *= UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -std::f64::consts::FRAC_PI_2);
        pose
    };
    done(rig.move_joints(&FORWARD, 3.0));
    done(rig.move_to(&tool(at.x - 0.06)));
    done(rig.move_straight(&tool(at.x), 0.05));
    rig.grip(0.0, 30.0);
    let points = rig.straight(&tool(at.x - 0.1), 0.05);
    rig.world.execute(&points).expect("trajectory");
    let mut work = 0.0;
    while rig.world.is_moving() {
        rig.world.step();
        let (efforts, speeds) = (rig.world.arm_efforts(), rig.world.arm_velocities());
        work += efforts.iter().zip(speeds).map(|(effort, speed)| effort * speed).sum::<f64>() / 240.0;
    }
    let way = joint(&rig.world, "top").position;
    // 2.5 N of dry friction, and 6 N s/m at 0.05 m/s.
    let force = work / way;
    assert!((2.0..4.0).contains(&force), "{force} N over {way} m");
}
