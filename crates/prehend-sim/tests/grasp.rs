//! Grasp, lift, swing, hold and place by friction alone, with the tool moved directly.

mod rig;

use nalgebra::Vector3;
use prehend_sim::world::MotionOutcome;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rig::{Rig, down};

/// Where a test grasps: offset of the tool from the object's centre in the object's frame, and the fingers' direction
/// against the object's own yaw.
struct Case {
    name: &'static str,
    shape: &'static str,
    /// Largest height of the object's centre above the table.
    center: f64,
    offset: Vector3<f64>,
    yaw: f64,
    lying: bool,
}

fn cases() -> Vec<Case> {
    let case = |name, shape, center, offset: [f64; 3], yaw, lying| Case {
        name,
        shape,
        center,
        offset: Vector3::from(offset),
        yaw,
        lying,
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    vec![
        case("box", "box, size: [0.05, 0.05, 0.09]", 0.045, [0.0, 0.0, 0.02], 0.0, false),
        case("flat box", "box, size: [0.07, 0.045, 0.03]", 0.015, [0.0, 0.0, 0.0], 0.0, false),
        case("cylinder", "cylinder, size: {radius: 0.03, height: 0.1}", 0.05, [0.0, 0.0, 0.02], 0.0, false),
        case(
            "lying cylinder",
            "cylinder, size: {radius: 0.025, height: 0.12}",
            0.025,
            [0.0, 0.0, 0.0],
            quarter,
            true,
        ),
        case("sphere", "sphere, size: {radius: 0.034}", 0.034, [0.0, 0.0, 0.0], 0.0, false),
        case("can", "can", 0.05, [0.0, 0.0, 0.02], 0.0, false),
        case("egg", "egg", 0.029, [0.0, 0.0, -0.004], 0.0, false),
        case("mug by its rim", "mug", 0.0475, [0.0, 0.038, 0.030], 0.0, false),
        case("bowl by its rim", "bowl", 0.0275, [0.0, 0.070, 0.010], 0.0, false),
        case("plate by its rim", "plate", 0.012, [0.0, 0.086, 0.004], 0.0, false),
        case(
            "tray by its wall",
            "tray, size: {x: 0.16, y: 0.12, z: 0.05}",
            0.025,
            [0.0, 0.0575, 0.008],
            0.0,
            false,
        ),
    ]
}

/// What went wrong, if anything.
fn run(case: &Case, seed: u64) -> Result<f64, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let friction: f64 = rng.random_range(0.5..1.0);
    let mass: f64 = rng.random_range(0.05..0.35);
    let yaw: f64 = rng.random_range(-0.6..0.6);
    let (x, y) = (rng.random_range(0.36..0.46), rng.random_range(-0.15..0.15));
    let text = format!(
        "- {{name: thing, class: thing, shape: {}, color: red, mass: {mass:.3}, friction: {friction:.3}, \
         pose: {{xy: [{x:.4}, {y:.4}], yaw: {yaw:.4}, lying: {}}}}}",
        case.shape, case.lying
    );
    let mut rig = Rig::new(&text, seed);
    let object = rig.world.object_poses()[0];
    if (object.translation.z - case.center).abs() > 0.003 {
        return Err(format!("rests at {:.4} instead of {:.4}", object.translation.z, case.center));
    }
    let turn = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
    let place = object.translation.vector + turn * case.offset;
    let above = down(place.x, place.y, place.z + 0.14, yaw + case.yaw);
    let at = down(place.x, place.y, place.z, yaw + case.yaw);
    let check = |outcome, what: &str| match outcome {
        MotionOutcome::Succeeded => Ok(()),
        other => Err(format!("{what}: {other:?}")),
    };
    check(rig.move_to(&above), "approach")?;
    check(rig.move_straight(&at, 0.1), "descent")?;
    let grip = rig.grip(0.0, 30.0);
    if !grip.stalled || grip.reached_goal {
        return Err(format!("closed on nothing: {grip:?}"));
    }
    let force = rig.world.pad_force();
    if !(20.0..62.0).contains(&force) {
        return Err(format!("grips with {force:.1} N"));
    }
    if !rig.world.is_held(0) {
        return Err("not held after closing".to_owned());
    }
    let held = rig.in_hand(0);
    check(rig.move_straight(&above, 0.15), "lift")?;
    let mut swung = rig.world.arm_joints().to_vec();
    swung[0] += 0.7;
    check(rig.move_joints(&swung, 1.0), "swing")?;
    swung[0] -= 0.7;
    check(rig.move_joints(&swung, 1.0), "swing back")?;
    rig.wait(2.0);
    let slip = (rig.in_hand(0).translation.vector - held.translation.vector).norm();
    if !rig.world.is_held(0) || rig.world.object_poses()[0].translation.z < case.center + 0.08 {
        return Err(format!("lost after a slip of {:.1} mm", slip * 1e3));
    }
    let mut low = at;
    low.translation.z += 0.003;
    check(rig.move_straight(&low, 0.1), "lower")?;
    rig.grip(0.085, 30.0);
    check(rig.move_straight(&above, 0.1), "retreat")?;
    rig.wait(1.0);
    let end = rig.world.object_poses()[0].translation.vector;
    let off = (end - object.translation.vector).norm();
    if off > 0.05 {
        return Err(format!("placed {:.1} mm off, slip {:.1} mm", off * 1e3, slip * 1e3));
    }
    Ok(slip)
}

#[test]
fn things_are_grasped_lifted_swung_held_and_placed_by_friction_alone() {
    let seeds: u64 = std::env::var("GRASP_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut failures = Vec::new();
    for case in cases() {
        let mut slips = Vec::new();
        for seed in 0..seeds {
            match run(&case, seed) {
                Ok(slip) => slips.push(slip),
                Err(error) => failures.push(format!("{} seed {seed}: {error}", case.name)),
            }
        }
        slips.sort_by(f64::total_cmp);
        eprintln!(
            "{}: {} of {seeds}, slip median {:.2} mm",
            case.name,
            slips.len(),
            slips.get(slips.len() / 2).copied().unwrap_or(f64::NAN) * 1e3
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn small_balls_that_name_no_mass_are_lifted() {
    for radius in [0.015, 0.018, 0.020, 0.022, 0.025, 0.030] {
        let text = format!(
            "- {{name: ball, class: ball, shape: ball, size: {{radius: {radius}}}, color: red, pose: {{xy: [0.4, 0.1]}}}}"
        );
        let mut rig = Rig::new(&text, 0);
        let ball = rig.world.object_poses()[0].translation.vector;
        rig.move_to(&down(ball.x, ball.y, ball.z + 0.14, 0.3));
        rig.move_straight(&down(ball.x, ball.y, ball.z, 0.3), 0.1);
        let grip = rig.grip(0.0, 30.0);
        assert!(grip.stalled && grip.opening > radius, "radius {radius}: {grip:?}");
        rig.move_straight(&down(ball.x, ball.y, ball.z + 0.14, 0.3), 0.1);
        rig.wait(1.0);
        assert!(rig.world.is_held(0), "radius {radius}: lost");
    }
}
