//! What is set down on something else comes to rest there, also when it was set down badly.

mod rig;

use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rig::Rig;

/// Fastest that the upper thing is in the last of six seconds [m/s], and its height above the table at the end [m], after
/// it was let go `height` above the table and `offset` beside the centre of the lower one [m]. Where the two overlap at
/// first it is as if a gripper had pressed one into the other.
fn after_letting_go(upper: &str, lower: &str, height: f64, offset: [f64; 2]) -> (f64, f64) {
    let text = format!(
        "- {{name: lower, class: thing, shape: {lower}, color: red, pose: {{xy: [0.45, 0.0]}}}}\n\
         - {{name: upper, class: thing, shape: {upper}, color: red, pose: {{xy: [0.45, 0.25]}}}}"
    );
    let mut rig = Rig::new(&text, 1);
    let resting = rig.world.object_poses()[1].translation.z;
    rig.world
        .move_object("upper", &Vector3::new(0.45 + offset[0], offset[1], resting + height))
        .expect("it is no part of the room");
    let mut fastest: f64 = 0.0;
    for step in 0..6 * 240 {
        rig.world.step();
        if step >= 5 * 240 {
            fastest = fastest.max(rig.world.truth().objects[1].speed);
        }
    }
    (fastest, rig.world.truth().objects[1].position[2])
}

#[test]
fn a_bowl_on_a_plate_comes_to_rest_wherever_it_was_let_go() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let small = "bowl, size: {radius: 0.0573, height: 0.05, foot: 0.0315}";
    let dish = "plate, size: {radius: 0.0918, height: 0.024, foot: 0.0597}";
    let mut wrong = Vec::new();
    for case in 0..12 {
        let (bowl, plate) = if case % 2 == 0 { (small, dish) } else { ("bowl", "plate") };
        let direction = rng.random_range(0.0..std::f64::consts::TAU);
        let beside = rng.random_range(0.0..0.035);
        let offset = [beside * direction.cos(), beside * direction.sin()];
        let height = rng.random_range(0.010..0.022);
        let (fastest, z) = after_letting_go(bowl, plate, height, offset);
        if fastest > 0.01 || !(0.028..0.075).contains(&z) {
            wrong.push(format!("{offset:?} at {height:.3}: {fastest:.3} m/s, {z:.4} m high"));
        }
    }
    assert!(wrong.is_empty(), "{} of 12 do not rest on the plate:\n{}", wrong.len(), wrong.join("\n"));
}
