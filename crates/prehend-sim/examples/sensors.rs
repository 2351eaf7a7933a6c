//! Draws a table scene as the wrist camera and a bystander see it, and prints how long one frame takes.
//!
//! `cargo run -p prehend-sim --example sensors [-- FOLDER]` writes the pictures into FOLDER.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_drawing::overlay::{Annotation, PALETTE, annotate, png};
use prehend_geometry::{ColorImage, Mask};
use prehend_sim::body::{ConvexPart, Frame, Owner, PartShape, RenderItem, object_parts};
use prehend_sim::scene::{CameraSpec, Color, DepthNoise, DetectorSpec, Shape};
use prehend_sim::sensors::overview::{look_at, overview_png};
use prehend_sim::sensors::{Detector, RgbdCamera, Stage, wrist_camera_intrinsics};
use std::{error::Error, path::Path, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let (items, mut frame) = scene();
    let stage = Stage::new(&items)?;
    let drawables = stage.drawables(&frame)?;
    let spec = CameraSpec { rate_hz: 15.0, depth_noise: Some(DepthNoise::default()), color_noise: 2.0 };
    let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), spec, 7);
    let imperfect = DetectorSpec { miss: 0.05, erode_px: 1, score_noise: 0.05, ..DetectorSpec::default() };
    let classes = CLASSES.map(str::to_owned).to_vec();
    let detector = Detector::new(imperfect, classes, 7);

    frame.base_from_camera =
        look_at(Point3::new(0.22, 0.0, 0.55), Point3::new(0.45, 0.0, 0.0)).world_from_camera;
    let n = 50;
    let start = Instant::now();
    for number in 0..n {
        // Farther than what counts as standing still, so that it is drawn.
        frame.base_from_camera.translation.vector.z += 1e-4;
        camera.capture(&frame.base_from_camera, &drawables, number)?;
    }
    let each = |start: Instant| start.elapsed().as_secs_f64() * 1e3 / n as f64;
    println!("colour, depth and labels: {:.2} ms a frame of a camera that moves", each(start));
    let mut capture = camera.capture(&frame.base_from_camera, &drawables, 0)?;
    let start = Instant::now();
    for number in 0..n {
        capture = camera.capture(&frame.base_from_camera, &drawables, number)?;
    }
    println!("the same: {:.2} ms a frame where nothing moves", each(start));
    let start = Instant::now();
    let mut detections = detector.detect(&capture, &frame.base_from_camera, 0);
    for number in 1..n {
        detections = detector.detect(&capture, &frame.base_from_camera, number);
    }
    println!("detector: {:.2} ms a frame", each(start));
    let start = Instant::now();
    let overview = overview_png(&drawables)?;
    println!("overview: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);

    let Some(folder) = std::env::args().nth(1) else { return Ok(()) };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("overview.png"), overview)?;
    std::fs::write(folder.join("color.png"), png(&capture.color)?)?;
    let mut depth = ColorImage::filled(640, 480, [0; 3]);
    for (pixel, mm) in depth.pixels.iter_mut().zip(&capture.depth.millimetres) {
        *pixel = [(*mm / 4).min(255) as u8; 3];
    }
    std::fs::write(folder.join("depth.png"), png(&depth)?)?;
    let annotations: Vec<Annotation> = detections
        .items
        .iter()
        .enumerate()
        .map(|(i, detection)| {
            let pixels: Vec<usize> = (0..detections.labels.labels.len())
                .filter(|p| usize::from(detections.labels.labels[*p]) == i + 1)
                .collect();
            Annotation {
                label: format!("{} {:.2}", detection.class_name, detection.score),
                color: PALETTE[i % PALETTE.len()],
                mask: Some(Mask::from_indices(640, 480, &pixels)),
                ..Annotation::default()
            }
        })
        .collect();
    annotate(&mut capture.color, &annotations);
    std::fs::write(folder.join("detections.png"), png(&capture.color)?)?;
    Ok(())
}

const CLASSES: [&str; 10] = ["mug", "bowl", "plate", "bottle", "can", "apple", "box", "tray", "egg", "cup"];

fn scene() -> (Vec<RenderItem>, Frame) {
    let mut items = Vec::new();
    let mut poses = Vec::new();
    let mut add = |owner: Owner, parts: Vec<ConvexPart>, x: f64, y: f64, z: f64, yaw: f64| {
        let body = poses.len();
        poses.push(Isometry3::new(Vector3::new(x, y, z), Vector3::z() * yaw));
        items.extend(parts.into_iter().map(|part| RenderItem { owner, body, part }));
    };
    let solid = |half: [f64; 3], color: [u8; 3]| {
        vec![ConvexPart {
            shape: PartShape::Box { half: half.into() },
            body_from_part: Isometry3::identity(),
            color: Color(color),
            only_seen: false,
            region: None,
        }]
    };
    add(Owner::Floor, solid([4.0, 4.0, 0.01], [150, 150, 155]), 0.0, 0.0, -0.76, 0.0);
    add(Owner::Table, solid([0.45, 0.6, 0.02], [186, 148, 106]), 0.40, 0.0, -0.02, 0.0);
    add(Owner::Robot(0), solid([0.06, 0.06, 0.13], [235, 235, 238]), 0.0, 0.0, 0.13, 0.0);
    let shapes = [
        (Shape::Mug { radius: 0.038, height: 0.09, wall: 0.004, handle: 0.03 }, [200, 35, 35], None),
        (Shape::Bowl { radius: 0.075, foot: 0.04, height: 0.055, wall: 0.004 }, [60, 110, 200], None),
        (Shape::Plate { radius: 0.09, foot: 0.06, height: 0.02, wall: 0.004 }, [240, 240, 240], None),
        (
            Shape::Bottle { radius: 0.03, height: 0.2, neck_radius: 0.012, neck_height: 0.05 },
            [40, 140, 70],
            None,
        ),
        (Shape::Can { radius: 0.033, height: 0.11 }, [230, 180, 30], Some([190, 190, 195])),
        (Shape::Sphere { radius: 0.033 }, [190, 30, 40], None),
        (Shape::Box { size: [0.06, 0.04, 0.08] }, [120, 60, 160], None),
        (Shape::Tray { size: [0.18, 0.13, 0.05], wall: 0.004 }, [150, 100, 60], None),
        (Shape::Egg { radius: 0.022, height: 0.058 }, [240, 225, 200], None),
        (Shape::Mug { radius: 0.035, height: 0.08, wall: 0.004, handle: 0.0 }, [40, 40, 45], None),
    ];
    for (i, (shape, color, second)) in shapes.into_iter().enumerate() {
        let (x, y) = (0.34 + 0.17 * (i % 2) as f64, -0.36 + 0.09 * i as f64);
        let parts = object_parts(&shape, Color(color), second.map(Color));
        let height = match shape {
            Shape::Box { size } | Shape::Tray { size, .. } => size[2],
            Shape::Sphere { radius } => 2.0 * radius,
            Shape::Cylinder { height, .. }
            | Shape::Can { height, .. }
            | Shape::Capsule { height, .. }
            | Shape::Egg { height, .. }
            | Shape::Mug { height, .. }
            | Shape::Bowl { height, .. }
            | Shape::Plate { height, .. }
            | Shape::Pan { height, .. }
            | Shape::Bottle { height, .. } => height,
        };
        add(Owner::Object(i), parts, x, y, height / 2.0 + 0.001, 0.4 * i as f64);
    }
    let frame = Frame { time: 0.0, base_from_body: poses, base_from_camera: Isometry3::identity() };
    (items, frame)
}
