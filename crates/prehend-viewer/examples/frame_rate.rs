//! How many frames a second are drawn of a robot and many points, without a window.
//!
//! `cargo run --release -p prehend-viewer --features window --example frame_rate -- 300000 1280 800`

#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use nalgebra::{Isometry3, Point3, Rotation3, Vector3};
use pollster::block_on;
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_motion::{RobotGroup, RobotModel};
use prehend_scene::{Object, ObjectMap};
use prehend_viewer::draw::OffScreen;
use prehend_viewer::{Stage, Viewpoint, robot_solids, things};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Things among which the points are shared.
const THINGS: usize = 30;
/// Frames that are timed, after one that is not.
const FRAMES: u32 = 60;
/// Where the arm stands, rad.
const HOME: [f64; 6] = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: &str| words.next().unwrap_or_else(|| default.to_owned()).parse::<u32>();
    let (points, width, height) = (number("300000")?, number("1280")?, number("800")?);
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/xarm6.urdf");
    let model = RobotModel::from_urdf(&std::fs::read_to_string(urdf)?, RobotGroup::xarm6())?;
    let stage = Stage {
        robot: robot_solids(&model, &HOME, 0.0, false)?,
        things: Arc::new(things(&table(points as usize))),
        ..Stage::default()
    };
    let (count, robot) = (stage.point_count(), stage.robot.clone());
    let view = Viewpoint::framing(&stage, width, height);
    let mut off_screen = block_on(OffScreen::new(width, height))?;
    off_screen.show(stage.clone());
    block_on(off_screen.picture(&view));
    let started = Instant::now();
    for frame in 1..=FRAMES {
        // As in a window on a robot that moves: every frame has a robot of its own, and the eye goes around.
        off_screen.show(Stage { robot: robot.clone(), ..stage.clone() });
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.02 * f64::from(frame));
        let eye = view.target + turn * (view.eye - view.target);
        block_on(off_screen.draw(&Viewpoint { eye, ..view }));
    }
    // Reading the last one waits until it is drawn.
    block_on(off_screen.picture(&view));
    let seconds = started.elapsed().as_secs_f64() / f64::from(FRAMES + 1);
    println!(
        "{count} points, {width} x {height}: {:.1} ms a frame, {:.1} frames a second",
        seconds * 1e3,
        1.0 / seconds
    );
    Ok(())
}

/// Coloured balls of points on a table.
fn table(points: usize) -> ObjectMap {
    let each = points / THINGS;
    let objects = (0..THINGS).map(|number| {
        let at = Vector3::new(0.25 + 0.1 * (number % 6) as f64, -0.3 + 0.15 * (number / 6) as f64, 0.05);
        // A spiral from pole to pole covers a ball evenly.
        let place = |index: usize| {
            let z = 1.0 - 2.0 * (index as f64 + 0.5) / each as f64;
            let (angle, ring) = (2.4 * index as f64, (1.0 - z * z).sqrt());
            Point3::from(at + 0.04 * Vector3::new(ring * angle.cos(), ring * angle.sin(), z))
        };
        let color = [(40 + 7 * number) as u8, (230 - 6 * number) as u8, (number * 53 % 200) as u8];
        let cloud = PointCloud { points: (0..each).map(place).collect(), colors: vec![color; each] };
        let bounds = OrientedBox { pose: Isometry3::from(at), size: Vector3::repeat(0.08) };
        let key = format!("ball_{number}");
        Object {
            class_name: "ball".to_owned(),
            confidence: 0.9,
            ..Object::unnamed(key.as_str().into(), cloud, bounds)
        }
    });
    ObjectMap { objects: objects.collect(), ..ObjectMap::default() }
}
