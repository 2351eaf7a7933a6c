//! Prints scenarios and, given a folder, draws each table as a bystander and the wrist camera see it.
//!
//! `cargo run -p prehend-eval --example scenarios [-- FIRST COUNT [FOLDER]]`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use prehend_eval::{Scenario, tabletop};
use prehend_sim::World;
use prehend_sim::sensors::overlay::{Annotation, PALETTE, annotate, png};
use prehend_sim::sensors::{Detector, RgbdCamera, Stage, overview_png, wrist_camera_intrinsics};
use prehend_sim::world::ArmModel;
use std::error::Error;
use std::path::Path;

/// The home pose of `config/robots/xarm6.yaml`.
const HOME: [f64; 6] = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (first, count) = (number(0, 0)?, number(1, 20)?);
    for seed in first..first + count {
        let scenario = tabletop(seed)?;
        println!("{seed:>8}  {:<10}  {}", scenario.kind.code(), scenario.sentence);
        println!("{:>21} {}", "", serde_json::to_string(&scenario.spec.expected)?);
        if let Some(folder) = arguments.get(2) {
            draw(&scenario, Path::new(folder))?;
        }
    }
    Ok(())
}

fn draw(scenario: &Scenario, folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let name = |what: &str| folder.join(format!("{}_{what}", scenario.seed));
    std::fs::write(name("scene.yaml"), &scenario.scene_yaml)?;
    let placed = scenario.placed()?;
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/xarm6.urdf");
    let model = ArmModel::from_urdf(&std::fs::read_to_string(urdf)?)?;
    let mut world = World::new(&placed, &model, &HOME)?;
    for _ in 0..240 {
        world.step();
    }
    let stage = Stage::new(&world.render_items())?;
    let frame = world.frame();
    let drawables = stage.drawables(&frame)?;
    std::fs::write(name("overview.png"), overview_png(&drawables)?)?;
    let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), placed.scene.camera.clone(), scenario.seed);
    let mut capture = camera.capture(&frame.base_from_camera, &drawables, 0)?;
    let classes = placed.objects.iter().map(|object| object.spec.class.clone()).collect();
    let detector = Detector::new(placed.scene.detector.clone(), classes, scenario.seed);
    let detections = detector.detect(&capture, &frame.base_from_camera, 0);
    let annotations: Vec<Annotation> = detections
        .items
        .iter()
        .enumerate()
        .map(|(i, detection)| {
            let [u, v, width, height] = detection.bbox.map(|x| x as f64);
            let corners = [[u, v], [u + width, v], [u + width, v + height], [u, v + height], [u, v]];
            Annotation {
                label: format!("{} {:.2}", detection.class_name, detection.score),
                color: PALETTE[i % PALETTE.len()],
                lines: vec![corners.to_vec()],
                ..Annotation::default()
            }
        })
        .collect();
    annotate(&mut capture.color, &annotations);
    std::fs::write(name("camera.png"), png(&capture.color)?)?;
    Ok(())
}
