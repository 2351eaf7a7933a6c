//! The tip stays in the fence: on every path, every line, and whatever timing makes of them.

use super::{READY, block, down, stretch, xarm6};
use crate::{
    CartesianOptions, CartesianStop, CollisionWorld, Fence, IkOptions, MotionLimits, PlanError, PlanOptions,
    RobotModel, Trajectory, simplify,
};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Random scenes for each robot.
const SCENES: u64 = 1000;
/// What is between two samples may be beyond by half their distance, m.
const BETWEEN_SAMPLES: f64 = 0.006;
/// How finely a motion is looked at here, m, s.
const FINE: (f64, f64) = (0.003, 0.01);

#[test]
fn a_box_holds_what_is_in_it_and_nothing_that_is_no_number() {
    let fence = Fence::new([0.0, -1.0, 0.0], [1.0, 1.0, 2.0]);
    let check = |fence: &Fence, place: [f64; 3], inside: bool| {
        assert_eq!(fence.contains(&Point3::from(place)), inside, "{place:?} in {fence:?}");
    };
    check(&fence, [0.0, 1.0, 2.0], true);
    check(&fence, [0.0, 1.001, 2.0], false);
    check(&fence, [f64::NAN, 0.0, 1.0], false);
    check(&fence.grown(0.01), [-0.01, 1.0, 2.0], true);
    for nothing in [f64::NAN, f64::INFINITY, -0.5] {
        assert_eq!(fence.grown(nothing), fence);
    }
    let outside = Point3::new(1.3, 0.0, -0.2);
    check(&fence.holding(&outside), [1.3, 1.0, -0.2], true);
    check(&fence.holding(&outside), [1.31, 0.0, 0.0], false);
    assert_eq!(fence.holding(&Point3::new(f64::INFINITY, 0.0, 0.0)), fence);
    let other = Fence::new([0.5, -2.0, 0.1], [3.0, 0.0, 0.2]);
    assert_eq!(fence.and(&other), Fence::new([0.5, -1.0, 0.1], [1.0, 0.0, 0.2]));
    let middle = [0.5, 0.0, 1.0];
    check(&fence, middle, true);
    for empty in [
        fence.and(&Fence::new([0.6; 3], [3.0; 3])).and(&Fence::new([-1.0; 3], [0.4; 3])),
        Fence::new([0.0, 2.0, 0.0], [1.0; 3]),
        Fence::new([0.0, f64::NAN, 0.0], [1.0; 3]),
    ] {
        check(&empty, middle, false);
    }
}

#[test]
fn ends_beyond_the_fence_are_told_apart() {
    let mut world = super::table_world();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let ready = world.model().tip_pose(&READY).expect("joints").translation.vector;
    let side = Vector3::repeat(0.1);
    world.set_fence(Some(Fence::new((ready - side).into(), (ready + side).into())));
    let joints = |pose: &Isometry3<f64>, rng: &mut ChaCha8Rng| {
        world.model().inverse(pose, &READY, &IkOptions::default(), rng).expect("reachable")
    };
    let inside = joints(&down(ready.x, 0.05, ready.z, 0.0), &mut rng);
    let outside = joints(&down(ready.x, 0.12, ready.z, 0.0), &mut rng);
    let plan = |from: &[f64], to: &[Vec<f64>], rng: &mut ChaCha8Rng| {
        world.plan(from, to, &PlanOptions::default(), rng)
    };
    assert!(plan(&READY, &inside, &mut rng).is_ok());
    assert!(
        matches!(plan(&READY, &outside, &mut rng), Err(PlanError::GoalBeyondFence { place }) if place.y > 0.11)
    );
    let back = [READY.to_vec()];
    assert!(matches!(plan(&outside[0], &back, &mut rng), Err(PlanError::StartBeyondFence { .. })));
    assert!(!world.is_free(&outside[0]) && world.is_free(&inside[0]));

    // A line ends where it would leave.
    let goal = [down(ready.x, 0.2, ready.z, 0.0)];
    let line = world.cartesian_path(&inside[0], &goal, &CartesianOptions::default()).expect("a start");
    assert!(
        matches!(line.stopped, Some(CartesianStop::Fence { place }) if place.y > 0.1),
        "{:?}",
        line.stopped
    );
    assert!((0.25..0.4).contains(&line.fraction), "5 of 15 cm: {}", line.fraction);

    // An arm that stands outside comes back in a fence that holds it.
    let place = Point3::from(world.model().tip_pose(&outside[0]).expect("joints").translation.vector);
    let mut wider = world.clone();
    wider.set_fence(world.fence().map(|fence| fence.holding(&place)));
    assert!(wider.plan(&outside[0], &back, &PlanOptions::default(), &mut rng).is_ok());
}

/// A robot with the box it works in, metres.
struct Arm {
    model: Arc<RobotModel>,
    fence: Fence,
    /// Joints that inverse kinematics begins from.
    seed: Vec<f64>,
    limits: MotionLimits,
}

/// How a run over random scenes went.
#[derive(Debug, Default)]
struct Tally {
    plans: usize,
    plans_that_left: usize,
    lines: usize,
    lines_that_left: usize,
    lines_cut_by_the_fence: usize,
}

impl Arm {
    /// A tool pose anywhere in the box, tilted from straight down by up to a right angle.
    fn pose(&self, rng: &mut ChaCha8Rng) -> Isometry3<f64> {
        let (low, high) = (self.fence.low(), self.fence.high());
        let place = Vector3::from_fn(|i, _| low[i] + (high[i] - low[i]) * rng.random::<f64>());
        let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -rng.random_range(0.0..1.6));
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), rng.random_range(-1.2..1.2));
        let down = down(0.0, 0.0, 0.0, rng.random_range(-1.6..1.6)).rotation;
        Isometry3::from_parts(Translation3::from(place), turn * tilt * down)
    }

    /// A table with up to five blocks on and over it.
    fn scene(&self, rng: &mut ChaCha8Rng) -> CollisionWorld {
        let mut world = CollisionWorld::new(Arc::clone(&self.model), 0.002);
        world.set_object("table", vec![block(0.62, 0.0, -0.1, [0.4, 0.6, 0.02])]).expect("a good box");
        for index in 0..rng.random_range(0..6) {
            let half = [(); 3].map(|()| rng.random_range(0.02..0.10));
            let place = self.pose(rng).translation.vector;
            let shape = vec![block(place.x, place.y, place.z, half)];
            world.set_object(&format!("block_{index}"), shape).expect("a good box");
        }
        world
    }

    /// Joints with the tip in the fence and touching nothing; `None` when none was found.
    fn joints(&self, world: &CollisionWorld, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        (0..10).find_map(|_| {
            let pose = self.pose(rng);
            let ik = IkOptions { attempts: 6, ..IkOptions::default() };
            let found = self.model.inverse(&pose, &self.seed, &ik, rng).ok()?;
            found.into_iter().find(|joints| world.is_free(joints))
        })
    }

    /// Whether a timed path leaves the fence anywhere.
    fn leaves(&self, trajectory: &Trajectory) -> bool {
        let fence = self.fence.grown(BETWEEN_SAMPLES);
        let points = trajectory.points(FINE.1);
        points.windows(2).any(|ends| {
            let (from, to) = (&ends[0].positions, &ends[1].positions);
            self.model.first_beyond(&fence, from, to, FINE.0).expect("good joints").is_some()
        })
    }

    /// Plans, and a line from the end of each, over all scenes; `kept`: whether the planner knows the fence.
    fn run(&self, kept: bool) -> Tally {
        let mut tally = Tally::default();
        for seed in 0..SCENES {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut world = self.scene(&mut rng);
            world.set_fence(Some(self.fence));
            let (Some(from), Some(to)) = (self.joints(&world, &mut rng), self.joints(&world, &mut rng))
            else {
                continue;
            };
            // Often out of the box.
            let beside = self.model.tip_pose(&to).expect("good joints").translation.vector
                + Vector3::from_fn(|_, _| rng.random_range(-0.3..0.3));
            let rotation = self.model.tip_pose(&to).expect("good joints").rotation;
            if !kept {
                world.set_fence(None);
            }
            let options = PlanOptions { iterations: 600, ..PlanOptions::default() };
            if let Ok(path) = world.plan(&from, std::slice::from_ref(&to), &options, &mut rng) {
                let timed = Trajectory::collision_free(&path, &self.limits, 0.15, &world, options.step);
                tally.plans += 1;
                tally.plans_that_left += usize::from(self.leaves(&timed.expect("a path")));
            }
            let line = [Isometry3::from_parts(beside.into(), rotation)];
            let line = world.cartesian_path(&to, &line, &CartesianOptions::default()).expect("a start");
            if line.points.len() > 1 {
                let corners = simplify(&line.points, 0.001);
                let timed = Trajectory::new(&corners, &self.limits, 0.002).expect("a path");
                tally.lines += 1;
                tally.lines_that_left += usize::from(self.leaves(&timed));
            }
            tally.lines_cut_by_the_fence +=
                usize::from(matches!(line.stopped, Some(CartesianStop::Fence { .. })));
        }
        tally
    }

    /// No motion leaves; without the fence at least so many plans and lines do, and hardly a plan more is found.
    fn check(&self, [plans, lines]: [usize; 2]) {
        let (free, kept) = (self.run(false), self.run(true));
        let told = format!("with the fence {kept:?}, without {free:?}");
        assert_eq!((kept.plans_that_left, kept.lines_that_left), (0, 0), "{told}");
        assert!(
            free.plans_that_left >= plans && free.lines_that_left >= lines,
            "the scenes ask for nothing: {told}"
        );
        assert!(kept.lines_cut_by_the_fence >= lines && free.lines_cut_by_the_fence == 0, "{told}");
        assert!(kept.plans > 300 && kept.plans * 100 >= free.plans * 95, "it costs plans: {told}");
    }
}

#[test]
fn no_motion_of_an_xarm_leaves_the_fence_over_a_thousand_scenes() {
    let model = xarm6();
    let limits = MotionLimits::uniform(model.dof(), 1.3, 6.0, 60.0);
    let fence = Fence::new([0.055, -0.575, -0.075], [0.805, 0.575, 0.825]);
    Arm { model: Arc::new(model), fence, seed: READY.to_vec(), limits }.check([50, 80]);
}

#[test]
fn no_motion_of_a_stretch_leaves_the_fence_over_a_thousand_scenes() {
    let model = stretch::stretch();
    let limits = MotionLimits::uniform(model.dof(), 0.3, 0.6, 6.0);
    let fence = Fence::new([-0.22, -0.37, -0.42], [0.92, 0.37, 0.57]);
    let seed = vec![0.0; model.dof()];
    // Its slides go straight: only its wrist takes the tool out.
    Arm { model: Arc::new(model), fence, seed, limits }.check([1, 15]);
}
