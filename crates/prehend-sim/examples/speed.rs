//! Speed of physics: simulated seconds per wall second of a scene file with everything awake.
//!
//! `cargo run --release -p prehend-sim --example speed -- config/scenes/tabletop.yaml`

use prehend_sim::world::{ArmModel, JointPoint};
use prehend_sim::{Scene, World};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = std::env::args().nth(1).map_or(repository.join("config/scenes/tabletop.yaml"), PathBuf::from);
    let home = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];
    let model = ArmModel::from_urdf(&std::fs::read_to_string(repository.join("urdf/xarm6.urdf"))?)?;
    let placed = Scene::load(&file)?.instantiate(0)?;
    let mut out = std::io::stdout();
    let mut world = World::new(&placed, &model, &home)?;
    let mut there = home;
    let started = Instant::now();
    let mut steps = 0_u32;
    for round in 0..10 {
        there[0] = if round % 2 == 0 { 0.8 } else { -0.8 };
        world.execute(&[JointPoint {
            time: 2.0,
            positions: there.to_vec(),
            velocities: Some(vec![0.0; 6]),
        }])?;
        while world.is_moving() {
            // What sleeps costs nothing: keep everything awake.
            if steps.is_multiple_of(60) {
                for object in placed.objects.iter().filter(|object| !object.spec.fixed) {
                    world.push_object(&object.spec.name, &nalgebra::Vector3::new(0.0, 0.0, 0.01))?;
                }
            }
            world.step();
            steps += 1;
        }
    }
    let wall = started.elapsed().as_secs_f64();
    writeln!(
        out,
        "{}: {} objects, {steps} steps in {wall:.2} s: {:.1} x real time, {:.0} us a step",
        placed.scene.name,
        placed.objects.len(),
        world.time() / wall,
        wall * 1e6 / f64::from(steps)
    )?;
    Ok(())
}
