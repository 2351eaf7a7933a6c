use super::{READY, down, xarm6};
use crate::{IkError, IkOptions, JointError, RobotModel, ToolSymmetry};
use nalgebra::Isometry3;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

fn assert_reaches(model: &RobotModel, goal: &Isometry3<f64>, joints: &[f64]) {
    assert_eq!(model.check_joints(joints), Ok(()));
    let tip = model.tip_pose(joints).expect("good joints");
    let away = (tip.translation.vector - goal.translation.vector).norm();
    assert!(away < 1e-5 && tip.rotation.angle_to(&goal.rotation) < 1e-4, "{away} at {joints:?}");
}

/// Poses with the tool down between 0.25 and 0.65 m from the base, at any direction in front and any yaw.
#[test]
fn tool_down_over_the_workspace() {
    let model = xarm6();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let runs = 500;
    let mut found = 0;
    for _ in 0..runs {
        let radius = 0.25 + 0.40 * rng.random::<f64>();
        let angle = PI * (rng.random::<f64>() - 0.5);
        let (z, yaw) = (0.02 + 0.25 * rng.random::<f64>(), 2.0 * PI * (rng.random::<f64>() - 0.5));
        let goal = down(radius * angle.cos(), radius * angle.sin(), z, yaw);
        if let Ok(solutions) = model.inverse(&goal, &READY, &IkOptions::default(), &mut rng) {
            found += 1;
            for joints in &solutions {
                assert_reaches(&model, &goal, joints);
            }
        }
    }
    assert!(found * 100 >= runs * 99, "{found} of {runs}");
}

#[test]
fn solutions_are_distinct_and_nearest_first() {
    let model = xarm6();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let options = IkOptions { solutions: 8, attempts: 60, ..IkOptions::default() };
    let goal = down(0.4, 0.1, 0.1, 0.3);
    let solutions = model.inverse(&goal, &READY, &options, &mut rng).expect("reachable");
    assert!(solutions.len() >= 3, "{}", solutions.len());
    let travel = |joints: &Vec<f64>| joints.iter().zip(READY).map(|(a, b)| (a - b).abs()).sum::<f64>();
    assert!(solutions.is_sorted_by(|a, b| travel(a) <= travel(b)));
    for (index, a) in solutions.iter().enumerate() {
        for b in &solutions[..index] {
            assert!(a.iter().zip(b).any(|(a, b)| (a - b).abs() > 0.01));
        }
    }
}

/// Half a turn of the hand swaps the fingers: with the symmetry, joint 6 never needs more than a quarter turn.
#[test]
fn half_turn_saves_travel() {
    let model = xarm6();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for yaw in [0.0, 1.2, 2.0, 3.1, -2.5] {
        let goal = down(0.4, 0.0, 0.1, yaw);
        let options = IkOptions { symmetry: ToolSymmetry::HalfTurn, ..IkOptions::default() };
        let solutions = model.inverse(&goal, &READY, &options, &mut rng).expect("reachable");
        assert!((solutions[0][5] - READY[5]).abs() < PI / 2.0 + 0.01, "{yaw}: {:?}", solutions[0]);
    }
}

/// Joints with two turns of range are taken at the turn nearest to the seed.
#[test]
fn turns_stay_near_the_seed() {
    let model = xarm6();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut seed = READY;
    seed[5] = 5.5;
    let goal = model.tip_pose(&[0.1, -0.6, -0.8, 0.0, 1.4, 5.9]).expect("good joints");
    let solutions = model.inverse(&goal, &seed, &IkOptions::default(), &mut rng).expect("reachable");
    assert!((solutions[0][5] - 5.9).abs() < 1e-3, "{:?}", solutions[0]);
}

#[test]
fn same_seed_same_answer() {
    let model = xarm6();
    let run = || {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        model.inverse(&down(0.3, -0.3, 0.2, 1.0), &READY, &IkOptions::default(), &mut rng)
    };
    assert_eq!(run(), run());
}

#[test]
fn errors() {
    let model = xarm6();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut ask =
        |goal: Isometry3<f64>, seed: &[f64]| model.inverse(&goal, seed, &IkOptions::default(), &mut rng);
    assert!(matches!(ask(down(2.0, 0.0, 0.1, 0.0), &READY), Err(IkError::Unreachable { .. })));
    assert_eq!(ask(down(f64::NAN, 0.0, 0.1, 0.0), &READY), Err(IkError::BadGoal));
    assert_eq!(
        ask(down(0.4, 0.0, 0.1, 0.0), &[0.0; 3]),
        Err(IkError::Seed(JointError::Count { expected: 6, found: 3 }))
    );
}

proptest! {
    /// Whatever pose a free joint vector gives, IK finds joints for it again.
    #[test]
    fn inverse_of_forward(q1 in -1.5..1.5f64, q2 in -1.2..0.8f64, q3 in -2.4..-0.3f64, q4 in -1.0..1.0f64,
                          q5 in -1.0..2.4f64, q6 in -3.0..3.0f64, seed in 0..1000u64) {
        let model = xarm6();
        let goal = model.tip_pose(&[q1, q2, q3, q4, q5, q6]).expect("good joints");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Starts are random: the usual number of them misses one pose in some thousands.
        let options = IkOptions { attempts: 4 * IkOptions::default().attempts, ..IkOptions::default() };
        let solutions = model.inverse(&goal, &READY, &options, &mut rng).expect("reachable");
        for joints in &solutions {
            assert_reaches(&model, &goal, joints);
        }
    }

    #[test]
    fn near_seed_stays_on_its_branch(delta in proptest::array::uniform6(-0.05..0.05f64)) {
        let model = xarm6();
        let joints: Vec<f64> = READY.iter().zip(delta).map(|(a, b)| a + b).collect();
        let goal = model.tip_pose(&joints).expect("good joints");
        let found = model.inverse_near(&goal, &READY, &IkOptions::default()).expect("near");
        prop_assert!(found.iter().zip(&joints).all(|(a, b)| (a - b).abs() < 1e-2), "{found:?} {joints:?}");
    }
}
