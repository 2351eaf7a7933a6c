//! Speed of IK, collision checking, planning and timing: `cargo bench -p prehend-motion --bench motion`.

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_motion::{
    CartesianOptions, CollisionWorld, IkOptions, MotionLimits, Placed, PlanOptions, RobotGroup, RobotModel,
    Shape, ToolSymmetry, Trajectory, simplify,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::hint::black_box;
use std::sync::Arc;

const READY: [f64; 6] = [0.0, -0.6, -0.8, 0.0, 1.4, 0.0];

fn down(x: f64, y: f64, z: f64, yaw: f64) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

fn block(x: f64, y: f64, z: f64, half: [f64; 3]) -> Placed {
    Placed { frame_from_shape: Isometry3::translation(x, y, z), shape: Shape::Box { half: half.into() } }
}

/// A table and six things on it, each seen as height-map columns of 6 mm: about 1500 boxes.
fn world() -> CollisionWorld {
    let text = include_str!("../../../urdf/xarm6.urdf");
    let model = RobotModel::from_urdf(text, RobotGroup::xarm6()).expect("a good URDF");
    let mut world = CollisionWorld::new(Arc::new(model), 0.002);
    world.set_object("table", vec![block(0.4, 0.0, -0.025, [0.4, 0.6, 0.02])]).expect("good");
    for (index, (x, y)) in THINGS.iter().enumerate() {
        let mut columns = Vec::new();
        for i in 0..16 {
            for j in 0..16 {
                let (u, v) = (f64::from(i) - 7.5, f64::from(j) - 7.5);
                let height = 0.04 + 0.004 * f64::from((i + j) % 3);
                columns.push(block(x + 0.006 * u, y + 0.006 * v, height / 2.0, [0.003, 0.003, height / 2.0]));
            }
        }
        world.set_object(&format!("thing{index}"), columns).expect("good");
    }
    world
}

const THINGS: [(f64, f64); 6] =
    [(0.35, 0.25), (0.45, 0.05), (0.55, -0.2), (0.35, -0.25), (0.55, 0.2), (0.33, 0.0)];

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
