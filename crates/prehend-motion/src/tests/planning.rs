use super::{READY, block, down, table_world};
use crate::{
    CartesianError, CartesianOptions, CartesianStop, CollisionWorld, IkError, IkOptions, JointError,
    JointPath, PlanError, PlanOptions, simplify,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn joints_at(world: &CollisionWorld, x: f64, y: f64, z: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let goal = down(x, y, z, 0.0);
    world.model().inverse(&goal, &READY, &IkOptions::default(), &mut rng).expect("reachable").remove(0)
}

/// A wall between left and right.
fn wall_world() -> CollisionWorld {
    let mut world = table_world();
    world.set_object("wall", vec![block(0.42, 0.0, 0.12, [0.12, 0.01, 0.12])]).expect("good");
    world
}

fn assert_free(world: &CollisionWorld, path: &JointPath) {
    for ends in path.windows(2) {
        assert_eq!(world.check_motion(&ends[0], &ends[1], 0.012), Ok(None));
    }
}

#[test]
fn straight_where_nothing_is_in_the_way() {
    let world = table_world();
    let goal = joints_at(&world, 0.4, 0.25, 0.05);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let path = world.plan(&READY, std::slice::from_ref(&goal), &PlanOptions::default(), &mut rng);
    assert_eq!(path, Ok(vec![READY.to_vec(), goal]));
    let there = world.plan(&READY, &[READY.to_vec()], &PlanOptions::default(), &mut rng);
    assert_eq!(there, Ok(vec![READY.to_vec()]));
}

#[test]
fn around_obstacles_for_many_seeds() {
    let world = wall_world();
    let (from, to) = (joints_at(&world, 0.42, -0.2, 0.08), joints_at(&world, 0.42, 0.2, 0.08));
    assert_ne!(world.check_motion(&from, &to, 0.01), Ok(None));
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let path =
            world.plan(&from, std::slice::from_ref(&to), &PlanOptions::default(), &mut rng).expect("a path");
        assert_eq!((path.first(), path.last()), (Some(&from), Some(&to)));
        assert!(path.len() > 2);
        assert_free(&world, &path);
    }
}

#[test]
fn same_seed_same_path() {
    let world = wall_world();
    let (from, to) = (joints_at(&world, 0.42, -0.2, 0.08), joints_at(&world, 0.42, 0.2, 0.08));
    let run = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        world.plan(&from, std::slice::from_ref(&to), &PlanOptions::default(), &mut rng)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_free_goal_is_taken_before_a_blocked_one() {
    let mut world = table_world();
    let blocked = joints_at(&world, 0.4, 0.1, 0.1);
    let free = joints_at(&world, 0.4, -0.25, 0.1);
    world.set_object("box", vec![block(0.4, 0.1, 0.08, [0.03, 0.06, 0.08])]).expect("good");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let path = world.plan(&READY, &[blocked, free.clone()], &PlanOptions::default(), &mut rng);
    assert_eq!(path.map(|path| path.last().cloned()), Ok(Some(free)));
}

#[test]
fn errors_name_what_is_wrong() {
    let mut world = table_world();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (options, ik) = (PlanOptions::default(), IkOptions::default());
    let goal = joints_at(&world, 0.4, 0.1, 0.1);
    let ask = |world: &CollisionWorld, from: &[f64], to: &[Vec<f64>], rng: &mut ChaCha8Rng| {
        world.plan(from, to, &options, rng).expect_err("must fail")
    };
    assert_eq!(ask(&world, &READY, &[], &mut rng), PlanError::NoGoal);
    assert_eq!(
        ask(&world, &[0.0], std::slice::from_ref(&goal), &mut rng),
        PlanError::Start(JointError::Count { expected: 6, found: 1 })
    );
    assert!(matches!(
        ask(&world, &READY, &[vec![f64::NAN; 6]], &mut rng),
        PlanError::Goal(JointError::NotFinite { joint: 0 })
    ));
    let far = world.plan_to_pose(&READY, &down(1.5, 0.0, 0.1, 0.0), &ik, &options, &mut rng);
    assert!(matches!(far, Err(PlanError::NoIk(IkError::Unreachable { .. }))));
    let below = world.plan_to_pose(&READY, &down(0.4, 0.0, -0.02, 0.0), &ik, &options, &mut rng);
    assert!(matches!(below, Err(PlanError::GoalInCollision(contact)) if contact.object == "table"));

    world.set_object("box", vec![block(0.4, 0.1, 0.08, [0.03, 0.06, 0.08])]).expect("good");
    assert!(matches!(ask(&world, &READY, std::slice::from_ref(&goal), &mut rng),
        PlanError::GoalInCollision(contact) if contact.object == "box"));
    assert!(matches!(ask(&world, &goal, &[READY.to_vec()], &mut rng),
        PlanError::StartInCollision(contact) if contact.object == "box"));

    // A ceiling over a goal between two walls: too few samples find no way in.
    let mut world = wall_world();
    let far_side = joints_at(&world, 0.42, 0.2, 0.08);
    world.set_object("wall", vec![block(0.65, 0.0, 0.5, [0.35, 0.01, 0.5])]).expect("good");
    let none = PlanOptions { iterations: 3, ..options };
    let near_side = joints_at(&world, 0.42, -0.2, 0.08);
    assert_eq!(
        world.plan(&near_side, &[far_side], &none, &mut rng),
        Err(PlanError::NoPath { iterations: 3 })
    );
}

#[test]
fn lines_are_straight() {
    let world = table_world();
    let start = joints_at(&world, 0.4, 0.1, 0.15);
    let goal = down(0.4, 0.1, 0.02, 0.0);
    let path = world.cartesian_path(&start, &[goal], &CartesianOptions::default()).expect("good");
    assert_eq!((path.fraction, &path.stopped), (1.0, &None));
    for joints in &path.points {
        let tip = world.model().tip_pose(joints).expect("good");
        assert!((tip.translation.x - 0.4).abs() < 1e-4 && (tip.translation.y - 0.1).abs() < 1e-4);
        assert!(tip.rotation.angle_to(&goal.rotation) < 1e-3);
    }
    // Few points are enough, and they stay on the line to a fraction of a millimetre.
    let few = simplify(&path.points, 0.002);
    assert!(few.len() < path.points.len() / 2, "{} of {}", few.len(), path.points.len());
    for ends in few.windows(2) {
        let middle: Vec<f64> = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a + b) / 2.0).collect();
        let tip = world.model().tip_pose(&middle).expect("good").translation;
        assert!((tip.x - 0.4).hypot(tip.y - 0.1) < 2e-3, "{tip}");
    }
}

#[test]
fn lines_end_where_they_must() {
    let world = table_world();
    let start = joints_at(&world, 0.4, 0.0, 0.15);
    let options = CartesianOptions::default();
    // The tips reach the table's top at tcp z = 0.001: 0.149 of 0.2 m.
    let down_path = world.cartesian_path(&start, &[down(0.4, 0.0, -0.05, 0.0)], &options).expect("good");
    assert!((0.70..0.75).contains(&down_path.fraction), "{}", down_path.fraction);
    assert!(matches!(&down_path.stopped, Some(CartesianStop::Contact(contact)) if contact.object == "table"));
    let blind = CartesianOptions { avoid_collisions: false, ..options };
    assert_eq!(
        world.cartesian_path(&start, &[down(0.4, 0.0, -0.05, 0.0)], &blind).expect("good").fraction,
        1.0
    );
    let far = world.cartesian_path(&start, &[down(1.2, 0.0, 0.15, 0.0)], &options).expect("good");
    assert!(far.fraction > 0.2 && far.fraction < 0.7 && far.stopped.is_some(), "{far:?}");
}

/// A retreat may begin in touch, but not press deeper, nor touch something else.
#[test]
fn retreat_from_touch() {
    let mut world = table_world();
    let start = joints_at(&world, 0.4, 0.0, 0.15);
    let options = CartesianOptions::default();
    // The tips stand 6 mm deep in the mug's rim.
    world.set_object("mug", vec![block(0.4, 0.0, 0.14, [0.03, 0.09, 0.01])]).expect("good");
    let touching: Vec<String> =
        world.contacts(&start).expect("good").into_iter().map(|contact| contact.link).collect();
    assert_eq!(touching, ["left_finger", "right_finger"]);
    let to = |z: f64| [down(0.4, 0.0, z, 0.0)];
    let up = world.cartesian_path(&start, &to(0.25), &options).expect("good");
    assert_eq!((up.fraction, up.stopped), (1.0, None));
    let into = world.cartesian_path(&start, &to(0.10), &options).expect("good");
    assert!(into.fraction < 0.2 && matches!(into.stopped, Some(CartesianStop::Contact(_))), "{into:?}");
    world.set_object("shelf", vec![block(0.42, 0.0, 0.55, [0.06, 0.2, 0.01])]).expect("good");
    let blocked = world.cartesian_path(&start, &to(0.25), &options).expect("good");
    assert!(matches!(blocked.stopped, Some(CartesianStop::Contact(contact)) if contact.object == "shelf"));
}

#[test]
fn line_errors() {
    let world = table_world();
    let options = CartesianOptions::default();
    let bad = world.cartesian_path(&READY, &[down(0.4, 0.0, f64::NAN, 0.0)], &options);
    assert_eq!(bad, Err(CartesianError::BadWaypoint { index: 0 }));
    assert_eq!(world.cartesian_path(&READY, &[], &options), Err(CartesianError::BadWaypoint { index: 0 }));
    let still = CartesianOptions { max_step: 0.0, ..options };
    let goal = down(0.4, 0.0, 0.2, 0.0);
    assert_eq!(world.cartesian_path(&READY, &[goal], &still), Err(CartesianError::BadStep));
    assert!(matches!(world.cartesian_path(&[0.0; 7], &[goal], &options), Err(CartesianError::Start(_))));
}

/// An arm that was stopped in contact leaves it before it goes on, and never deeper into it.
#[test]
fn out_of_a_contact_first() {
    let mut world = table_world();
    let goal = joints_at(&world, 0.4, -0.25, 0.15);
    let start = joints_at(&world, 0.42, 0.15, 0.10);
    for seed in 0..10 {
        // A wall that the gripper stands up to 8 mm deep in, and one that surrounds it.
        let depth = 0.001 + 0.0007 * f64::from(seed);
        let bare = table_world();
        let gap = |y: f64| {
            let mut world = bare.clone();
            world.set_object("wall", vec![block(0.42, y, 0.12, [0.2, 0.01, 0.12])]).expect("good");
            world.check(&start).expect("good").is_some()
        };
        let touching =
            (0..200).map(|k| 0.35 - 0.001 * f64::from(k)).find(|y| gap(*y)).expect("a wall that touches");
        world.set_object("wall", vec![block(0.42, touching - depth, 0.12, [0.2, 0.01, 0.12])]).expect("good");
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let path = world
            .plan(&start, std::slice::from_ref(&goal), &PlanOptions::default(), &mut rng)
            .unwrap_or_else(|error| panic!("{depth} m deep: {error}"));
        assert_eq!((path.first(), path.last()), (Some(&start), Some(&goal)));
        assert_free(&world, &path[1..].to_vec());
    }
    world.set_object("wall", vec![block(0.42, 0.15, 0.2, [0.3, 0.3, 0.4])]).expect("good");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let stuck = world.plan(&start, &[goal], &PlanOptions::default(), &mut rng);
    assert!(matches!(stuck, Err(PlanError::StartInCollision(_))), "{stuck:?}");
}
