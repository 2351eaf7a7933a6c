use super::{READY, block, table_world};
use crate::{LimitsError, MotionLimits, TimingError, Trajectory, simplify};
use proptest::prelude::*;

fn limits() -> MotionLimits {
    MotionLimits {
        velocity: vec![1.5, 1.0, 1.0, 2.0, 2.0, 2.0],
        acceleration: vec![4.0, 3.0, 3.0, 6.0, 6.0, 6.0],
        jerk: vec![40.0, 30.0, 30.0, 60.0, 60.0, 60.0],
    }
}

/// Samples densely: starts and ends at rest in the right places, keeps every limit, and is continuous.
fn check(path: &[Vec<f64>], limits: &MotionLimits, rounding: f64) -> Result<(), TestCaseError> {
    let trajectory = Trajectory::new(path, limits, rounding).expect("a good path");
    let step = 1e-3;
    let count = (trajectory.duration() / step).ceil() as usize;
    let samples: Vec<_> = (0..=count).map(|index| trajectory.sample(index as f64 * step)).collect();
    for (joint, begin) in path[0].iter().enumerate() {
        let (first, last) = (&samples[0], &samples[count]);
        prop_assert!((first.positions[joint] - begin).abs() < 1e-9);
        prop_assert!((last.positions[joint] - path[path.len() - 1][joint]).abs() < 1e-6);
        prop_assert!(first.velocities[joint].abs() < 1e-6 && last.velocities[joint].abs() < 1e-4);
        let (v, a, j) = (limits.velocity[joint], limits.acceleration[joint], limits.jerk[joint]);
        for pair in samples.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let dt = after.time - before.time;
            if dt < 1e-6 {
                continue;
            }
            prop_assert!(after.velocities[joint].abs() <= v * 1.0001, "velocity");
            prop_assert!(after.accelerations[joint].abs() <= a * 1.0001, "acceleration");
            let jerk = (after.accelerations[joint] - before.accelerations[joint]) / dt;
            prop_assert!(jerk.abs() <= j * 1.001, "jerk {jerk} at {}", after.time);
            // The parts fit each other: position is the integral of speed, speed of acceleration.
            let moved = after.positions[joint] - before.positions[joint];
            let mean = (after.velocities[joint] + before.velocities[joint]) / 2.0;
            prop_assert!((moved - mean * dt).abs() < 1e-7 + j * dt * dt * dt, "position at {}", after.time);
            let gained = after.velocities[joint] - before.velocities[joint];
            let mean = (after.accelerations[joint] + before.accelerations[joint]) / 2.0;
            prop_assert!((gained - mean * dt).abs() < 1e-6 + j * dt * dt, "speed at {}", after.time);
        }
    }
    Ok(())
}

fn paths() -> impl Strategy<Value = Vec<Vec<f64>>> {
    proptest::collection::vec(proptest::collection::vec(-1.5..1.5f64, 6), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn limits_hold(path in paths(), rounding in 0.0..0.3f64) {
        check(&path, &limits(), rounding)?;
    }

    /// Dense paths with small turns, as lines of the tip give.
    #[test]
    fn limits_hold_on_dense_paths(bend in 0.1..3.0f64, count in 3..60usize) {
        let path: Vec<Vec<f64>> = (0..count)
            .map(|index| {
                let at = index as f64 / count as f64 * 0.5;
                vec![at, (bend * at).sin() * 0.3, at * at, -at, 0.0, (2.0 * at).cos()]
            })
            .collect();
        check(&path, &limits(), 0.01)?;
        check(&simplify(&path, 0.002), &limits(), 0.01)?;
    }
}

/// One joint, one metre of textbook: 1 rad at 1 rad/s, 2 rad/s², 8 rad/s³ takes d/v + v/a + a/j.
#[test]
fn straight_time_by_hand() {
    let trajectory = Trajectory::new(&[vec![0.0], vec![1.0]], &MotionLimits::uniform(1, 1.0, 2.0, 8.0), 0.0)
        .expect("good");
    assert!((trajectory.duration() - 1.75).abs() < 1e-9, "{}", trajectory.duration());
    let middle = trajectory.sample(trajectory.duration() / 2.0);
    assert!((middle.positions[0] - 0.5).abs() < 1e-9 && (middle.velocities[0] - 1.0).abs() < 1e-9);
    // Too short to reach the speed or the acceleration: four equal jerk parts, d = 2 j t³.
    let short = Trajectory::new(&[vec![0.0], vec![0.016]], &MotionLimits::uniform(1, 1.0, 2.0, 8.0), 0.0)
        .expect("good");
    assert!((short.duration() - 0.4).abs() < 1e-6, "{}", short.duration());
}

#[test]
fn rounding_saves_time_and_stays_near() {
    let path = [vec![0.0, 0.0], vec![1.0, 0.0], vec![1.0, 1.0]];
    let limits = MotionLimits::uniform(2, 1.0, 4.0, 40.0);
    let stop = Trajectory::new(&path, &limits, 0.0).expect("good");
    let round = Trajectory::new(&path, &limits, 0.05).expect("good");
    assert!(round.duration() < stop.duration() - 0.2, "{} {}", round.duration(), stop.duration());
    let nearest = round
        .points(0.005)
        .iter()
        .map(|point| (point.positions[0] - 1.0).hypot(point.positions[1]))
        .fold(f64::INFINITY, f64::min);
    assert!((0.03..=0.0501).contains(&nearest), "{nearest}");
}

/// A corner that passes close to an obstacle is rounded less, so that the timed way stays free.
#[test]
fn rounding_avoids_obstacles() {
    let world = {
        let mut world = table_world();
        world.set_object("post", vec![block(0.42, 0.0, 0.2, [0.03, 0.03, 0.2])]).expect("good");
        world
    };
    let (mut left, mut high, mut right) = (READY, READY, READY);
    left[0] = 0.5;
    high[1] -= 0.65;
    right[0] = -0.5;
    let path = [left.to_vec(), high.to_vec(), right.to_vec()];
    let limits = MotionLimits::uniform(6, 1.0, 4.0, 40.0);
    let wide = Trajectory::new(&path, &limits, 0.4).expect("good");
    let safe = Trajectory::collision_free(&path, &limits, 0.4, &world, 0.005).expect("good");
    let hits = |trajectory: &Trajectory| {
        trajectory.points(0.01).iter().filter(|point| !world.is_free(&point.positions)).count()
    };
    let corner_free = world.is_free(&high);
    assert!(corner_free);
    assert!(hits(&safe) <= hits(&wide));
    assert!(safe.duration() >= wide.duration());
}

#[test]
fn points_end_at_rest() {
    let limits = MotionLimits::uniform(6, 1.0, 4.0, 40.0);
    let mut goal = READY;
    goal[0] = 0.7;
    let trajectory = Trajectory::new(&[READY.to_vec(), goal.to_vec()], &limits, 0.05).expect("good");
    let points = trajectory.points(0.02);
    assert!(points.is_sorted_by(|a, b| a.time < b.time));
    let last = points.last().expect("points");
    assert!((last.time - trajectory.duration()).abs() < 1e-9 && last.velocities.iter().all(|v| *v == 0.0));
    let still = Trajectory::new(&[READY.to_vec()], &limits, 0.05).expect("good");
    assert_eq!((still.duration(), still.points(0.02).len()), (0.0, 1));
    assert_eq!(still.sample(f64::NAN).positions, READY.to_vec());
}

#[test]
fn errors() {
    let limits = MotionLimits::uniform(2, 1.0, 4.0, 40.0);
    assert_eq!(Trajectory::new(&[], &limits, 0.0), Err(TimingError::Empty));
    let ragged = [vec![0.0, 0.0], vec![0.0]];
    assert_eq!(Trajectory::new(&ragged, &limits, 0.0), Err(TimingError::BadPoint { index: 1 }));
    let nan = [vec![f64::NAN, 0.0]];
    assert_eq!(Trajectory::new(&nan, &limits, 0.0), Err(TimingError::BadPoint { index: 0 }));
    let three = [vec![0.0; 3]];
    assert!(matches!(
        Trajectory::new(&three, &limits, 0.0),
        Err(TimingError::Limits(LimitsError::Count { what: "velocity", expected: 3, found: 2 }))
    ));
    let zero = MotionLimits { jerk: vec![1.0, 0.0], ..limits.clone() };
    assert!(matches!(
        Trajectory::new(&[vec![0.0; 2]], &zero, 0.0),
        Err(TimingError::Limits(LimitsError::NotPositive { what: "jerk", joint: 1, .. }))
    ));
    assert_eq!(limits.scaled(0.5, 0.0).velocity, [0.5, 0.5]);
    assert_eq!(limits.scaled(0.5, 0.0).acceleration, limits.acceleration);
}

#[test]
fn the_limits_file_of_the_repository_is_valid() {
    let text = include_str!("../../../../urdf/xarm6_joint_limits.yaml");
    let model = super::xarm6();
    let limits = MotionLimits::from_yaml("limits", text, model.joint_names()).expect("valid");
    assert_eq!(limits.validate(6), Ok(()));
    for (joint, limit) in model.limits().iter().enumerate() {
        assert!(limits.velocity[joint] <= limit.velocity);
    }
    let wrong = text.replace("joint3", "joint33").replace("max_jerk: 80.0", "max_jrek: 80.0");
    let findings =
        MotionLimits::from_yaml("limits", &wrong, model.joint_names()).expect_err("wrong").to_string();
    for expected in ["joint33", "no limits for joint `joint3`", "max_jrek"] {
        assert!(findings.contains(expected), "{findings}");
    }
}
