//! Colour, distance and labels of pictures.

use super::*;

const CUBE: Shape = Shape::Box { size: [0.08, 0.06, 0.05] };

#[test]
fn depth_back_projected_lies_on_the_box() {
    let mut setting = Setting::table();
    setting.object(CUBE, [200, 30, 30], 0.45, 0.05, 0.05);
    for (eye, target) in [([0.45, 0.0, 0.6], [0.4501, 0.0, 0.0]), ([0.1, -0.3, 0.5], [0.45, 0.05, 0.0])] {
        setting.frame.base_from_camera = camera_looking(eye, target);
        let capture = setting.capture(clean(), 1, 0);
        let k = wrist_camera_intrinsics();
        let box_from_base = at(0.45, 0.05, 0.025).inverse();
        let mut count = 0;
        for (index, _) in capture.labels.labels.iter().enumerate().filter(|(_, label)| **label == 1) {
            let (u, v) = ((index % k.width) as f64, (index / k.width) as f64);
            let z = capture.depth.metres(index).unwrap();
            let p = box_from_base * setting.frame.base_from_camera * k.unproject(u, v, z);
            // Distance to the surface of the box, from outside or inside.
            let q = Vector3::new(p.x.abs() - 0.04, p.y.abs() - 0.03, p.z.abs() - 0.025);
            let distance = if q.max() > 0.0 { q.sup(&Vector3::zeros()).norm() } else { -q.max() };
            assert!(distance < 1e-3, "pixel ({u}, {v}) is {distance} m off");
            count += 1;
        }
        assert!(count > 3000, "{count} pixels of the box");
    }
}

#[test]
fn label_agrees_with_the_projection() {
    let mut setting = Setting::table();
    setting.object(Shape::Sphere { radius: 0.03 }, [30, 30, 200], 0.40, -0.06, 0.06);
    setting.frame.base_from_camera = camera_looking([0.2, -0.2, 0.4], [0.4, 0.0, 0.0]);
    let capture = setting.capture(clean(), 1, 0);
    let k = wrist_camera_intrinsics();
    let center = setting.frame.base_from_camera.inverse_transform_point(&Point3::new(0.40, -0.06, 0.03));
    let index = k.pixel_index(&center).unwrap();
    assert_eq!(capture.labels.labels[index], 1);
    let expected = center.z - 0.03 * center.z / center.coords.norm();
    assert!((f64::from(capture.true_depth[index]) - expected).abs() < 1e-3);
    // The outline of a sphere is that of its silhouette cone: compare the area.
    let distance = center.coords.norm();
    let solid_angle = std::f64::consts::TAU * (1.0 - (1.0 - (0.03 / distance).powi(2)).sqrt());
    let cosine = center.z / distance;
    let expected = solid_angle * k.fx * k.fy / cosine.powi(3);
    let area = capture.labels.labels.iter().filter(|label| **label == 1).count() as f64;
    assert!((area / expected - 1.0).abs() < 0.03, "{area} pixels, expected about {expected}");
}

#[test]
fn what_is_nearer_covers_what_is_behind() {
    let mut setting = Setting::table();
    let object = setting.object(CUBE, [200, 30, 30], 0.45, 0.0, 0.05);
    let seen = |setting: &Setting| {
        let capture = setting.capture(clean(), 1, 0);
        let count = |wanted: u16| capture.labels.labels.iter().filter(|label| **label == wanted).count();
        (count(object as u16 + 1), count(LabelImage::ROBOT))
    };
    let (before, none) = seen(&setting);
    assert!(before > 1000 && none == 0);
    let finger = PartShape::Box { half: Vector3::new(0.06, 0.06, 0.01) };
    setting.add(Owner::Robot(0), vec![part(finger, [60, 60, 60])], at(0.45, 0.0, 0.2));
    let (covered, robot) = seen(&setting);
    assert_eq!(covered, 0);
    assert!(robot > before);
}

#[test]
fn hollow_things_are_hollow() {
    let mut setting = Setting::table();
    let bowl = Shape::Bowl { radius: 0.07, foot: 0.04, height: 0.055, wall: 0.004 };
    setting.object(bowl, [240, 240, 240], 0.45, 0.0, 0.055);
    let capture = setting.capture(clean(), 1, 0);
    let k = wrist_camera_intrinsics();
    let z_at = |x: f64, y: f64| {
        let p = setting.frame.base_from_camera.inverse_transform_point(&Point3::new(x, y, 0.05));
        0.6 - f64::from(capture.true_depth[k.pixel_index(&p).unwrap()])
    };
    assert!(z_at(0.45, 0.0) < 0.01, "the bottom is at {}", z_at(0.45, 0.0));
    assert!(z_at(0.45, 0.068) > 0.045, "the rim is at {}", z_at(0.45, 0.068));
}

#[test]
fn colours_keep_their_hue_and_shadows_fall() {
    let mut setting = Setting::table();
    setting.object(CUBE, [200, 40, 30], 0.45, 0.0, 0.05);
    let capture = setting.capture(clean(), 1, 0);
    for (index, _) in capture.labels.labels.iter().enumerate().filter(|(_, label)| **label == 1) {
        let [r, g, b] = capture.color.pixels[index].map(f64::from);
        assert!((g / r - 0.2).abs() < 0.02 && (b / r - 0.15).abs() < 0.02, "{r} {g} {b}");
        assert!(r > 90.0);
    }
    // The lamp stands to the right (-y): the table left of the box is darker than right of it.
    let k = wrist_camera_intrinsics();
    let bright = |x: f64, y: f64| {
        let p = setting.frame.base_from_camera.inverse_transform_point(&Point3::new(x, y, 0.0));
        capture.color.pixels[k.pixel_index(&p).unwrap()].iter().map(|c| u32::from(*c)).sum::<u32>()
    };
    assert!(f64::from(bright(0.45, 0.042)) < 0.9 * f64::from(bright(0.45, -0.042)));
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let mut setting = Setting::table();
    setting.object(CUBE, [200, 40, 30], 0.45, 0.0, 0.05);
    assert_eq!(setting.capture(noisy(), 5, 9), setting.capture(noisy(), 5, 9));
    assert_ne!(setting.capture(noisy(), 5, 9).depth, setting.capture(noisy(), 6, 9).depth);
    assert_ne!(setting.capture(noisy(), 5, 9).color, setting.capture(noisy(), 5, 10).color);
}

#[test]
fn a_camera_inside_the_table_or_a_bad_pose_is_no_panic() {
    let setting = Setting::table();
    let mut renderer = Renderer::new();
    let drawables = setting.drawables();
    let k = wrist_camera_intrinsics();
    for z in [0.0, -0.02, 1e-9, -5.0, 1e12] {
        let view = View { world_from_camera: camera_above(0.45, 0.0, z), intrinsics: k };
        renderer.render(&view, &drawables).unwrap();
    }
    let view = View { world_from_camera: at(f64::NAN, 0.0, 0.0), intrinsics: k };
    assert_eq!(renderer.render(&view, &drawables), Err(RenderError::CameraPose));
    let view = View { world_from_camera: at(0.0, 0.0, 0.0), intrinsics: k };
    let mut broken = drawables.clone();
    broken[0].world_from_mesh = at(0.0, f64::INFINITY, 0.0);
    assert_eq!(renderer.render(&view, &broken), Err(RenderError::DrawablePose { index: 0 }));
    let view = View { intrinsics: Intrinsics { width: 0, ..k }, ..view };
    assert!(matches!(renderer.render(&view, &drawables), Err(RenderError::Intrinsics(_))));
}

#[test]
fn meshes_are_closed_and_face_outwards() {
    let meshes = [
        Mesh::cuboid([0.1, 0.2, 0.3]),
        Mesh::cylinder(0.1, 0.2),
        Mesh::sphere(0.1),
        Mesh::capsule(0.05, 0.1),
        Mesh::lathe(&[[0.0, 0.0], [0.1, 0.0], [0.02, 0.2], [0.0, 0.2]]),
    ];
    let volumes = [0.006, 0.1f64.powi(2) * 0.2 * 3.1365, 4.0 / 3.0 * 3.10 * 1e-3];
    for (i, mesh) in meshes.iter().enumerate() {
        // The signed volume of a closed, outward-facing surface is its volume; here from corners and their triangles.
        let volume: f64 = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| mesh.corners[i as usize].point.coords);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum();
        assert!(volume > 0.0, "mesh {i} is inside out");
        if let Some(expected) = volumes.get(i) {
            assert!((volume / expected - 1.0).abs() < 0.02, "mesh {i} has volume {volume}, not {expected}");
        }
        for corner in &mesh.corners {
            assert!((corner.normal.norm() - 1.0).abs() < 1e-5);
        }
        let sum: Vector3<f64> = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| mesh.corners[i as usize].point);
                (b - a).cross(&(c - a))
            })
            .sum();
        assert!(sum.norm() < 1e-9, "mesh {i} has a hole");
    }
    assert!(Mesh::from_triangles(&[Point3::origin()], &[[0, 0, 1]]).is_err());
    assert!(Mesh::from_triangles(&[Point3::new(0.0, f64::NAN, 0.0)], &[[0, 0, 0]]).is_err());
}

/// The camera draws again what moved, from where it was drawn and not from where it was last, and what it sees from elsewhere.
#[test]
fn what_stands_still_is_drawn_once() {
    let mut setting = Setting::table();
    let object = setting.object(CUBE, [200, 30, 30], 0.45, 0.0, 0.05);
    let stage = Stage::new(&setting.items).unwrap();
    let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), clean(), 1);
    let mut see = |setting: &Setting| {
        let drawables = stage.drawables(&setting.frame).unwrap();
        camera.capture(&setting.frame.base_from_camera, &drawables, 0).unwrap()
    };
    let first = see(&setting);
    let mut lift = |setting: &mut Setting, by: f64| {
        setting.frame.base_from_body[object + 1].translation.z += by;
        see(setting)
    };
    assert_eq!(lift(&mut setting, 6e-6), first, "less than can be seen");
    let moved = lift(&mut setting, 6e-6);
    assert_ne!(moved.true_depth, first.true_depth, "what creeps is drawn again in the end");
    assert_ne!(lift(&mut setting, 0.01).labels, moved.labels);
    setting.frame.base_from_body[object + 1].translation.z = f64::NAN;
    let drawables = stage.drawables(&setting.frame).unwrap();
    assert!(camera.capture(&setting.frame.base_from_camera, &drawables, 0).is_err());
    setting.frame.base_from_body[object + 1] = at(0.45, 0.0, 0.025);
    let again = camera.capture(&setting.frame.base_from_camera, &stage.drawables(&setting.frame).unwrap(), 0);
    assert_eq!(again.unwrap(), first);
    setting.frame.base_from_camera = camera_above(0.45, 0.0, 0.61);
    let drawables = stage.drawables(&setting.frame).unwrap();
    let from_above = camera.capture(&setting.frame.base_from_camera, &drawables, 0).unwrap();
    assert_eq!(from_above, setting.capture(clean(), 1, 0));
    // Another thing at the same place.
    setting.items.iter_mut().for_each(|item| item.part.color = Color([20, 200, 20]));
    let green = camera.capture(&setting.frame.base_from_camera, &setting.drawables(), 0).unwrap();
    assert_eq!(green, setting.capture(clean(), 1, 0));
}
