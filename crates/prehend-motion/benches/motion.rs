//! Speed of IK, collision checking, planning and timing: `cargo bench -p prehend-motion --bench motion`.

mod common;

use common::{READY, THINGS, down, world};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Isometry3;
use prehend_motion::{
    CartesianOptions, IkOptions, MotionLimits, PlanOptions, ToolSymmetry, Trajectory, simplify,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::hint::black_box;

fn poses() -> Vec<Isometry3<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut one = || {
        let (radius, angle) = (0.3 + 0.3 * rng.random::<f64>(), 1.6 * (rng.random::<f64>() - 0.5));
        down(radius * angle.cos(), radius * angle.sin(), 0.05, PI * rng.random::<f64>())
    };
    (0..50).map(|_| one()).collect()
}

fn bench(criterion: &mut Criterion) {
    let world = world();
    let model = world.model().clone();
    let poses = poses();
    let mut next = 0;
    let mut pose = move || {
        next = (next + 1) % 50;
        poses[next]
    };

    criterion.bench_function("ik, all solutions of a pose", |bencher| {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let options = IkOptions { symmetry: ToolSymmetry::HalfTurn, ..IkOptions::default() };
        bencher.iter(|| model.inverse(&pose(), &READY, &options, &mut rng));
    });

    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let over: Vec<Vec<f64>> = THINGS
        .iter()
        .flat_map(|(x, y)| {
            let ik = IkOptions::default();
            model
                .inverse(&down(*x, *y, 0.06, 0.3), &READY, &ik, &mut rng)
                .expect("reachable")
                .into_iter()
                .take(1)
        })
        .collect();
    assert!(over.iter().all(|joints| world.is_free(joints)));
    let mut at = 0;
    criterion.bench_function("collision check, fingers just over 1500 columns", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % over.len();
            black_box(world.is_free(&over[at]))
        });
    });

    let limits = MotionLimits::uniform(6, 1.5, 4.0, 40.0);
    let mut seed = 0;
    criterion.bench_function("pick: ik, plan, approach, lift, timing", |bencher| {
        bencher.iter(|| {
            seed += 1;
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let target = (seed as usize) % THINGS.len();
            let mut world = world.clone();
            for link in ["left_finger", "right_finger", "xarm_gripper_base_link"] {
                world.allow(link, &format!("thing{target}"), true);
            }
            let (x, y) = THINGS[target];
            let (over, grasp) = (down(x, y, 0.14, 0.3), down(x, y, 0.03, 0.3));
            let mut start = READY;
            start[0] = 0.8 * (rng.random::<f64>() - 0.5);
            let ik = IkOptions { symmetry: ToolSymmetry::HalfTurn, ..IkOptions::default() };
            let path = world.plan_to_pose(&start, &over, &ik, &PlanOptions::default(), &mut rng);
            let path = path.expect("a path over the thing");
            let last = path[path.len() - 1].clone();
            let line = CartesianOptions::default();
            let approach = world.cartesian_path(&last, &[grasp], &line).expect("good");
            let below = approach.points[approach.points.len() - 1].clone();
            let lift = world.cartesian_path(&below, &[over], &line).expect("good");
            let timed = Trajectory::collision_free(&path, &limits, 0.1, &world, 0.01).expect("good");
            let lines = [approach, lift].map(|line| {
                Trajectory::new(&simplify(&line.points, 0.002), &limits, 0.01).expect("good").duration()
            });
            black_box((timed.duration(), lines))
        });
    });
}

criterion_group!(benches, bench);
criterion_main!(benches);
