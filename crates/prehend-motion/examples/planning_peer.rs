//! A collision world and our planner behind C functions, so that another planner can be measured on the same world:
//! `tests/peers/ompl_rrt_connect.py` builds and loads it.

#![expect(unsafe_code, reason = "functions of a C library take pointers")]

#[path = "../benches/common/mod.rs"]
mod common;

use common::{READY, THINGS, down, world};
use nalgebra::Isometry3;
use prehend_motion::{CollisionWorld, IkOptions, Placed, PlanOptions, Shape, ToolSymmetry};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::sync::OnceLock;

const JOINTS: usize = 6;

/// The world of the benchmarks with two walls between the things, 0.3 m high, which the arm must get over or around.
fn shared() -> &'static CollisionWorld {
    static WORLD: OnceLock<CollisionWorld> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut world = world();
        let wall = |y: f64| Placed {
            frame_from_shape: Isometry3::translation(0.5, y, 0.15),
            shape: Shape::Box { half: [0.2, 0.01, 0.15].into() },
        };
        world.set_object("walls", vec![wall(0.12), wall(-0.10)]).expect("good");
        world
    })
}

/// Joint positions over a random place of the table, free of collisions.
fn over(rng: &mut ChaCha8Rng) -> [f64; JOINTS] {
    let ik = IkOptions { symmetry: ToolSymmetry::HalfTurn, ..IkOptions::default() };
    loop {
        let (x, y) = THINGS[rng.random_range(0..THINGS.len())];
        let pose = down(x, y, 0.08 + 0.1 * rng.random::<f64>(), PI * rng.random::<f64>());
        let solutions = shared().model().inverse(&pose, &READY, &ik, rng).unwrap_or_default();
        if let Some(free) = solutions.iter().find(|joints| shared().is_free(joints)) {
            let mut joints = [0.0; JOINTS];
            joints.copy_from_slice(free);
            return joints;
        }
    }
}

/// Writes a start and a goal, six joint positions each, rad.
///
/// # Safety
///
/// Both pointers are of six writable numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_problem(seed: u64, start: *mut f64, goal: *mut f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for pointer in [start, goal] {
        let joints = over(&mut rng);
        // SAFETY: six writable numbers, by contract.
        unsafe { std::slice::from_raw_parts_mut(pointer, JOINTS) }.copy_from_slice(&joints);
    }
}

/// Writes the lower and upper limits, rad.
///
/// # Safety
///
/// Both pointers are of six writable numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_limits(lower: *mut f64, upper: *mut f64) {
    for (index, joint) in shared().model().limits().iter().take(JOINTS).enumerate() {
        // SAFETY: six writable numbers, by contract.
        unsafe {
            *lower.add(index) = joint.lower;
            *upper.add(index) = joint.upper;
        }
    }
}

/// Whether the arm touches nothing: 1 or 0.
///
/// # Safety
///
/// The pointer is of six numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_is_free(joints: *const f64) -> i32 {
    // SAFETY: six numbers, by contract.
    i32::from(shared().is_free(unsafe { std::slice::from_raw_parts(joints, JOINTS) }))
}

/// Plans with our planner; the length of the path, rad, or -1 when there is none.
///
/// # Safety
///
/// Both pointers are of six numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_plan(seed: u64, start: *const f64, goal: *const f64) -> f64 {
    // SAFETY: six numbers, by contract.
    let [start, goal] = [start, goal].map(|joints| unsafe { std::slice::from_raw_parts(joints, JOINTS) });
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let path = shared().plan(start, &[goal.to_vec()], &PlanOptions::default(), &mut rng);
    path.map_or(-1.0, |path| {
        path.windows(2)
            .map(|leg| leg[0].iter().zip(&leg[1]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt())
            .sum()
    })
}
