//! Pictures compared by what they show: a thing is where it should be, in its colour.

mod room;

use super::{BACKGROUND, DrawError, OffScreen};
use crate::{PanelLine, Rgb, Solid, Stage, Thing, Tone, Viewpoint, things};
use nalgebra::{Isometry3, Point3, Vector3};
use pollster::block_on;
use prehend_geometry::{ColorImage, OrientedBox, PointCloud};
use prehend_motion::Shape;
use prehend_scene::{Object, ObjectMap};
use prehend_testing::{Needs, skipped};
use std::sync::Arc;

const WIDTH: u32 = 320;
const HEIGHT: u32 = 240;
const RED: Rgb = [220, 30, 40];
const BLUE: Rgb = [30, 60, 210];

/// Draws, or says that nothing here can.
fn off_screen() -> Option<OffScreen> {
    match block_on(OffScreen::new(WIDTH, HEIGHT)) {
        Ok(off_screen) => Some(off_screen),
        Err(error @ DrawError::NoAdapter { .. }) => {
            skipped(Needs::Vulkan, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// From before the robot and above, the same for every picture.
fn view() -> Viewpoint {
    Viewpoint {
        eye: Point3::new(1.3, -0.5, 0.7),
        target: Point3::new(0.4, 0.0, 0.05),
        field_of_view: 0.7,
        width: WIDTH,
        height: HEIGHT,
    }
}

/// A cube of points of one colour, 12 cm wide.
fn cube(key: &str, middle: [f64; 3], color: Rgb) -> Thing {
    let steps = || (-15..=15).map(|step| f64::from(step) * 0.004);
    let middle = Vector3::from(middle);
    let mut points = Vec::new();
    for a in steps() {
        for b in steps() {
            for face in [-0.06, 0.06] {
                points.extend(
                    [[a, b, face], [a, face, b], [face, a, b]]
                        .map(|p| Point3::from(middle + Vector3::from(p))),
                );
            }
        }
    }
    let colors = vec![color; points.len()];
    let bounds = OrientedBox { pose: Isometry3::from(middle), size: Vector3::repeat(0.12) };
    let object = Object {
        class_name: "cube".to_owned(),
        ..Object::unnamed(key.into(), PointCloud { points, colors }, bounds)
    };
    let map = ObjectMap { objects: vec![object], ..Default::default() };
    things(&map).remove(0)
}

fn stage(things: Vec<Thing>) -> Stage {
    Stage { things: Arc::new(things), ..Default::default() }
}

/// The colour of the picture where a place of the stage is.
fn seen_at(picture: &ColorImage, place: [f64; 3]) -> Rgb {
    let pixel = view().pixel(&Point3::from(place)).expect("before the eye");
    picture.pixels[pixel.y as usize * picture.width + pixel.x as usize]
}

fn is_like(found: Rgb, expected: Rgb) -> bool {
    found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 12)
}

fn assert_like(found: Rgb, expected: Rgb, what: &str) {
    assert!(is_like(found, expected), "{what}: {found:?} instead of {expected:?}");
}

#[test]
fn a_thing_is_where_it_is_in_its_colours_and_moves_with_it() {
    let Some(mut off_screen) = off_screen() else { return };
    let (here, there) = ([0.4, 0.15, 0.06], [0.4, -0.15, 0.06]);
    for (at, free) in [(here, there), (there, here)] {
        off_screen.show(stage(vec![cube("cube_0", at, RED)]));
        let picture = block_on(off_screen.picture(&view()));
        assert_like(seen_at(&picture, at), RED, "where it is");
        assert!(!is_like(seen_at(&picture, free), RED), "where it is not");
    }
    off_screen.show(stage(Vec::new()));
    let picture = block_on(off_screen.picture(&view()));
    assert_like(seen_at(&picture, [0.42, 0.17, 0.03]), BACKGROUND, "where nothing is");
}

#[test]
fn the_nearer_thing_hides_the_one_behind_it() {
    let Some(mut off_screen) = off_screen() else { return };
    let far = [0.4, 0.0, 0.06];
    let towards = (view().eye - Point3::from(far)) * 0.4;
    let near = [far[0] + towards.x, far[1] + towards.y, far[2] + towards.z];
    for things in [
        vec![cube("far_0", far, RED), cube("near_0", near, BLUE)],
        vec![cube("near_0", near, BLUE), cube("far_0", far, RED)],
    ] {
        off_screen.show(stage(things));
        assert_like(seen_at(&block_on(off_screen.picture(&view())), far), BLUE, "the nearer one");
    }
}

fn ball(middle: [f64; 3], color: Rgb, opacity: f64) -> Solid {
    Solid {
        stage_from_solid: Isometry3::from(Vector3::from(middle)),
        shape: Shape::Sphere { radius: 0.05 },
        color,
        opacity,
    }
}

#[test]
fn every_shape_of_a_robot_is_where_its_pose_says() {
    let Some(mut off_screen) = off_screen() else { return };
    let lying = Isometry3::new(Vector3::new(0.4, 0.0, 0.1), Vector3::x() * std::f64::consts::FRAC_PI_2);
    let slim = Vector3::new(0.02, 0.02, 0.15);
    let tetrahedron = Shape::Mesh {
        vertices: [
            [0.0, -0.02, 0.02],
            [0.0, 0.15, 0.0],
            [0.0, -0.02, -0.02],
            [-0.02, 0.0, 0.0],
            [0.0, -0.15, 0.0],
        ]
        .map(Point3::from)
        .to_vec(),
        triangles: vec![[0, 2, 1], [0, 1, 3], [2, 3, 1], [0, 4, 2], [0, 3, 4], [2, 4, 3]],
    };
    let along_y = Isometry3::translation(0.4, 0.0, 0.1);
    for (shape, pose) in [
        (Shape::Box { half: slim }, lying),
        (Shape::Cylinder { radius: 0.02, half_length: 0.15 }, lying),
        (tetrahedron, along_y),
    ] {
        let solid = Solid { stage_from_solid: pose, shape, color: RED, opacity: 1.0 };
        off_screen.show(Stage { robot: vec![solid.clone()], ..Default::default() });
        let picture = block_on(off_screen.picture(&view()));
        for (place, is_there) in [
            ([0.4, 0.0, 0.1], true),
            ([0.4, -0.08, 0.1], true),
            ([0.4, 0.08, 0.1], true),
            ([0.4, 0.0, 0.2], false),
        ] {
            // Light makes it brighter or darker, not another colour.
            let [red, green, blue] = seen_at(&picture, place);
            let is_red = red > 60 && green < red / 2 && blue < red / 2;
            assert_eq!(is_red, is_there, "{:?} at {place:?}: {:?}", solid.shape, [red, green, blue]);
        }
    }
}

#[test]
fn a_ghost_lets_through_what_is_behind_it() {
    let Some(mut off_screen) = off_screen() else { return };
    let far = [0.4, 0.0, 0.06];
    let towards = (view().eye - Point3::from(far)) * 0.4;
    let near = [far[0] + towards.x, far[1] + towards.y, far[2] + towards.z];
    let ghost =
        |opacity| Stage { ghost: vec![ball(near, BLUE, opacity)], ..stage(vec![cube("far_0", far, RED)]) };
    off_screen.show(ghost(0.35));
    let [red, _, blue] = seen_at(&block_on(off_screen.picture(&view())), far);
    assert!(red > 100 && blue > 50, "red through blue: {red}, {blue}");
    off_screen.show(ghost(1.0));
    let [red, _, blue] = seen_at(&block_on(off_screen.picture(&view())), far);
    assert!(red < 60 && blue > 50, "blue alone: {red}, {blue}");
}

/// Bright pixels in a part of the picture: those of words.
fn bright(picture: &ColorImage, x: std::ops::Range<usize>, y: std::ops::Range<usize>) -> usize {
    let rows = y.flat_map(|row| x.clone().map(move |column| (row, column)));
    rows.filter(|(row, column)| picture.pixels[row * picture.width + column].iter().all(|c| *c > 170)).count()
}

#[test]
fn words_are_where_they_belong() {
    let Some(mut off_screen) = off_screen() else { return };
    let at = [0.4, 0.0, 0.06];
    off_screen.show(stage(vec![cube("cube_0", at, RED)]));
    let picture = block_on(off_screen.picture(&view()));
    let top = view().pixel(&Point3::new(0.4, 0.0, 0.12)).expect("before the eye");
    let (x, y) = (top.x as usize, top.y as usize);
    assert!(bright(&picture, x - 25..x + 40, y - 25..y) > 10, "the name is above the thing");
    assert_eq!(bright(&picture, 0..100, 0..40), 0, "there is no panel");
    off_screen.show(Stage {
        panel: vec![PanelLine::new(Tone::Plain, "put the red cube into the bowl")],
        ..Default::default()
    });
    let picture = block_on(off_screen.picture(&view()));
    assert!(bright(&picture, 0..100, 0..40) > 30, "the panel is at the left top");
    assert_eq!(bright(&picture, 0..320, 120..240), 0, "and nothing below it");
}

#[test]
fn a_picture_without_pixels_is_refused() {
    for (width, height) in [(0, 10), (10, 0), (100_000, 10)] {
        let refused = block_on(OffScreen::new(width, height));
        assert!(matches!(refused, Err(DrawError::Size { .. })), "{width} x {height}");
    }
}
