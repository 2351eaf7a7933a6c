//! Articulated things under the gripper: by friction and contact alone.

mod rig;

use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_sim::World;
use prehend_sim::world::{JointTruth, MotionOutcome};
use rig::{FORWARD, Rig, down};

const CABINET: &str = "- {name: cabinet, model: drawer_cabinet, pose: {xy: [0.74, 0.0], yaw: 0.0}";

/// Tool that looks forward (+x of `link_base`) and a little down, with the fingers opening upwards: the wrist reaches
/// lower and nearer this way than level.
fn forward(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    // Columns: tool x across, y up, z the approach.
    let turn = Matrix3::from_columns(&[Vector3::y(), Vector3::z(), Vector3::x()]);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    let pitch = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.3);
    Isometry3::from_parts(Translation3::new(x, y, z), pitch * turn)
}

fn joint(world: &World, object: &str, name: &str) -> JointTruth {
    let truth = world.truth();
    let found = truth.mechanisms.into_iter().find(|joint| joint.object == object && joint.joint == name);
    found.expect("joint")
}

/// Where the bar of a drawer is, by the box around its handle.
fn bar(world: &World, drawer: &str) -> Vector3<f64> {
    let truth = world.truth();
    let drawer = truth.objects.iter().find(|object| object.name == drawer).expect("drawer");
    let [x, y, z] = drawer.position;
    // The front of the tray, the panel, and the bar before it; the bar is at the middle of the panel's height.
    Vector3::new(x - drawer.half_extents[0] - 0.012 - 0.036, y, z + 0.006)
}

/// Ready before a bar of the cabinet: the wrist in a branch from which the tool can come back by 0.15 m.
fn ready(rig: &mut Rig, bar: &Vector3<f64>) {
    assert_eq!(rig.move_joints(&FORWARD, 3.0), MotionOutcome::Succeeded);
    assert_eq!(rig.move_to(&forward(bar.x - 0.06, bar.y, 0.26)), MotionOutcome::Succeeded);
    assert_eq!(rig.move_straight(&forward(bar.x - 0.06, bar.y, bar.z), 0.2), MotionOutcome::Succeeded);
}

#[test]
fn a_drawer_is_pulled_open_by_its_bar_by_friction_and_pushed_shut() {
    for (drawer, seed) in [("top", 1), ("middle", 2)] {
        let mut rig = Rig::new(&format!("{CABINET}}}"), seed);
        assert_eq!(joint(&rig.world, "cabinet", drawer).states, ["closed"]);
        let at = bar(&rig.world, &format!("cabinet/{drawer} drawer"));
        ready(&mut rig, &at);
        assert_eq!(rig.move_straight(&forward(at.x, at.y, at.z), 0.05), MotionOutcome::Succeeded);
        let grip = rig.grip(0.0, 30.0);
        assert!(grip.stalled && (0.008..0.018).contains(&grip.opening), "{grip:?}");
        let pulled = rig.move_straight(&forward(at.x - 0.12, at.y, at.z), 0.05);
        assert_eq!(pulled, MotionOutcome::Succeeded);
        let open = joint(&rig.world, "cabinet", drawer);
        assert!((open.position - 0.12).abs() < 0.006, "{drawer}: {open:?}");
        assert_eq!(open.states, ["open"]);
        rig.grip(0.085, 30.0);
        rig.wait(0.5);
        let stays = joint(&rig.world, "cabinet", drawer);
        assert!((stays.position - open.position).abs() < 0.003, "{drawer} rolls by itself: {stays:?}");
        // The fingers, closed, push the bar from before.
        rig.move_straight(&forward(at.x - 0.148, at.y, at.z), 0.1);
        rig.grip(0.0, 10.0);
        let shut = rig.move_straight(&forward(at.x - 0.012, at.y, at.z), 0.05);
        let now = joint(&rig.world, "cabinet", drawer);
        assert!(now.position < 0.01, "{drawer} is not shut: {now:?}, {shut:?}");
        assert_eq!(now.states, ["closed"]);
        assert!(now.reached[1] > 0.11 && now.held_states == ["open", "closed"]);
    }
}

#[test]
fn a_locked_drawer_does_not_open_and_the_guard_stops_the_arm() {
    let near = CABINET.replace("0.74", "0.69");
    let mut rig = Rig::new(&format!("{near}, joints: {{top: {{locked: true}}}}}}"), 1);
    let at = bar(&rig.world, "cabinet/top drawer");
    // Hooked: the open fingers stand behind the bar, one above and one below, turned to close onto nothing.
    let hook = |x: f64| {
        let mut pose = down(x, at.y, at.z, 0.0);
        pose.translation.z = at.z + 0.004;
        pose
    };
    rig.grip(0.0, 10.0);
    assert_eq!(rig.move_to(&hook(at.x + 0.022).clone_above(0.10)), MotionOutcome::Succeeded);
    assert_eq!(rig.move_straight(&hook(at.x + 0.020), 0.05), MotionOutcome::Succeeded);
    let outcome = rig.move_straight(&hook(at.x - 0.10), 0.05);
    assert!(matches!(outcome, MotionOutcome::ForceLimit(_)), "{outcome:?}");
    let stuck = joint(&rig.world, "cabinet", "top");
    assert!(stuck.locked && stuck.position.abs() < 0.002 && stuck.states == ["closed"], "{stuck:?}");
}

/// A stiff arm stands where a force stopped it, anywhere about the guard's limit, and friction is added on the way along the face.
#[test]
fn an_arm_that_presses_on_a_shut_drawer_may_leave_it() {
    for pressed in [-0.0125, -0.012, -0.011, -0.010, -0.008, -0.002, 0.018] {
        for wait in [0.0, 0.05, 0.5] {
            let mut rig = Rig::new(&format!("{CABINET}}}"), 1);
            let at = bar(&rig.world, "cabinet/top drawer");
            let before = |x: f64| down(at.x + x, at.y, at.z, 0.0);
            rig.grip(0.0, 10.0);
            assert_eq!(rig.move_to(&before(-0.05).clone_above(0.10)), MotionOutcome::Succeeded);
            assert_eq!(rig.move_straight(&before(-0.05), 0.1), MotionOutcome::Succeeded);
            let ended = rig.move_straight(&before(pressed), 0.05);
            rig.wait(wait);
            let up = rig.tcp().clone_above(0.1);
            let away = rig.move_straight(&up, 0.1);
            assert_eq!(away, MotionOutcome::Succeeded, "{pressed} m, {wait} s: {ended:?}");
            // Free again, it is guarded as before.
            assert_eq!(rig.move_to(&before(-0.05).clone_above(0.10)), MotionOutcome::Succeeded);
            assert_eq!(rig.move_straight(&before(-0.05), 0.1), MotionOutcome::Succeeded);
            let again = rig.move_straight(&before(0.05), 0.05);
            assert!(matches!(again, MotionOutcome::ForceLimit(force) if force < 120.0), "{again:?}");
        }
    }
}

trait Above {
    fn clone_above(&self, by: f64) -> Self;
}

impl Above for Isometry3<f64> {
    fn clone_above(&self, by: f64) -> Self {
        let mut pose = *self;
        pose.translation.z += by;
        pose
    }
}

#[test]
fn a_button_goes_down_under_the_finger_and_comes_back() {
    for model in ["push_button", "desk_bell"] {
        let mut rig =
            Rig::new(&format!("- {{name: it, model: {model}, pose: {{xy: [0.42, 0.1], yaw: 0.0}}}}"), 3);
        rig.grip(0.0, 10.0);
        let top = rig.world.object_poses()[0].translation.vector;
        let at = |z: f64| down(top.x, top.y, top.z + z, 0.0);
        assert_eq!(rig.move_to(&at(0.12)), MotionOutcome::Succeeded);
        let before = joint(&rig.world, "it", "button");
        assert!(before.position.abs() < 0.001 && before.held_states.is_empty(), "{model}: {before:?}");
        let mut pressed = None;
        // Down in steps of 2 mm, as long as it gives way.
        for step in 0..60 {
            let outcome = rig.move_straight(&at(0.10 - 0.002 * f64::from(step)), 0.05);
            let now = joint(&rig.world, "it", "button");
            if now.states == ["pressed"] {
                pressed = Some(now);
                break;
            }
            assert_eq!(outcome, MotionOutcome::Succeeded, "{model}: {now:?}");
        }
        assert!(pressed.is_some(), "{model} was never pressed");
        assert_eq!(rig.move_straight(&at(0.12), 0.1), MotionOutcome::Succeeded);
        rig.wait(0.3);
        let after = joint(&rig.world, "it", "button");
        assert!(after.position.abs() < 0.001 && after.states.is_empty(), "{model}: {after:?}");
        assert_eq!(after.held_states, ["pressed"]);
    }
}

#[test]
fn what_lies_in_a_drawer_is_inside_it_also_when_it_is_shut() {
    let mut rig = Rig::new(
        &format!(
            "{CABINET}, joints: {{top: 0.13}}}}\n- {{name: ball, class: ball, shape: sphere, size: {{radius: 0.02}}, \
             color: red, pose: {{xyz: [0.56, 0.02, 0.40]}}}}"
        ),
        4,
    );
    rig.wait(1.0);
    let inside = |world: &World| {
        let truth = world.truth();
        truth
            .objects
            .iter()
            .find(|object| object.name == "ball")
            .map(|ball| ball.inside.clone())
            .expect("ball")
    };
    assert_eq!(inside(&rig.world), ["cabinet/top drawer"]);
    assert_eq!(joint(&rig.world, "cabinet", "top").states, ["open"]);
    let at = bar(&rig.world, "cabinet/top drawer");
    rig.grip(0.0, 10.0);
    // From above, the closed fingers push the bar with their side, 11 mm before the tool's axis.
    rig.move_to(&down(at.x - 0.06, at.y, at.z + 0.08, 0.0));
    rig.move_straight(&down(at.x - 0.06, at.y, at.z, 0.0), 0.1);
    rig.move_straight(&down(at.x + 0.13 - 0.021, at.y, at.z, 0.0), 0.05);
    rig.wait(0.5);
    assert_eq!(joint(&rig.world, "cabinet", "top").states, ["closed"]);
    assert_eq!(inside(&rig.world), ["cabinet/top drawer"]);
}

#[test]
fn what_a_scene_puts_into_a_drawer_or_a_room_with_a_roof_lies_there() {
    for (joints, seed) in [("", 1), (", joints: {top: 0.13}", 2)] {
        let rig = Rig::new(
            &format!(
                "{CABINET}{joints}}}\n- {{name: ball, class: ball, shape: sphere, size: {{radius: 0.02}}, color: red, \
                 in: cabinet/top drawer}}\n- {{name: box, class: box, shape: box, size: [0.03, 0.04, 0.03], color: blue, \
                 in: cabinet/bottom drawer, offset: [0.01, 0.03]}}\n\
                 - {{name: oven, model: microwave, pose: {{xy: [0.60, 0.42], yaw: 0.0}}}}\n\
                 - {{name: mug, model: red_coffee_mug, in: oven}}"
            ),
            seed,
        );
        let truth = rig.world.truth();
        let inside =
            |name: &str| &truth.objects.iter().find(|object| object.name == name).expect("object").inside;
        assert_eq!(inside("ball"), &["cabinet/top drawer"], "{joints}");
        assert_eq!(inside("box"), &["cabinet/bottom drawer"], "{joints}");
        assert_eq!(inside("mug"), &["oven"], "{joints}");
    }
    let text = format!(
        "name: s\nobjects:\n{CABINET}}}\n- {{name: a, class: a, shape: box, color: red, in: cabinet/tap drawer}}\n"
    );
    let findings = prehend_sim::Scene::parse("s.yaml", &text).expect_err("no such drawer").to_string();
    assert!(findings.contains("cabinet/tap drawer") && findings.contains("did you mean"), "{findings}");
}
