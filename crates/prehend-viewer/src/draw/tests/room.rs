//! Rooms, and what the planner knows.

use super::{BLUE, RED, ball, cube, is_like, off_screen, seen_at, stage, view};
use crate::{Area, Floor, Layer, Occupancy, Patch, Rgb, Solid, Stage, Stand, Standing};
use nalgebra::{Isometry3, Point3, Vector3};
use pollster::block_on;
use prehend_geometry::{ColorImage, OrientedBox};
use prehend_motion::Shape;
use std::sync::Arc;

fn patch(low: [f64; 2], high: [f64; 2], ground: Occupancy) -> Patch {
    Patch { low, high, ground }
}

/// Free on the left of the robot, blocked on its right.
fn floor() -> Option<Arc<Floor>> {
    let patches = vec![
        patch([0.2, 0.0], [0.6, 0.3], Occupancy::Free),
        patch([0.2, -0.3], [0.6, 0.0], Occupancy::Blocked),
        patch([f64::NAN, 0.0], [1.0, 1.0], Occupancy::Near),
    ];
    Some(Arc::new(Floor { patches }))
}

/// Whether a pixel within two of a place has about this colour.
fn is_near(picture: &ColorImage, place: [f64; 3], color: Rgb) -> bool {
    let pixel = view().pixel(&Point3::from(place)).expect("before the eye");
    let around = |at: f64| (at as usize - 2)..=(at as usize + 2);
    let mut all = around(pixel.y).flat_map(|y| around(pixel.x).map(move |x| (x, y)));
    all.any(|(x, y)| is_like(picture.pixels[y * picture.width + x], color))
}

#[test]
fn the_floor_is_where_its_patches_are_and_goes_when_it_is_left_out() {
    let Some(mut off_screen) = off_screen() else { return };
    let mut shown = Stage { floor: floor(), ..Stage::default() };
    off_screen.show(shown.clone());
    let picture = block_on(off_screen.picture(&view()));
    let (free, blocked) = (seen_at(&picture, [0.45, 0.12, 0.0]), seen_at(&picture, [0.45, -0.12, 0.0]));
    assert!(blocked[0] > free[0] + 20 && blocked[0] > blocked[2], "{free:?} {blocked:?}");
    shown.toggle(Layer::Floor);
    off_screen.show(shown);
    let picture = block_on(off_screen.picture(&view()));
    assert_eq!(seen_at(&picture, [0.45, -0.12, 0.0]), seen_at(&picture, [0.45, 0.12, 0.0]));
}

#[test]
fn the_base_its_way_and_areas_are_drawn_on_the_floor() {
    let Some(mut off_screen) = off_screen() else { return };
    let corners = [[0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.1, -0.1]];
    let stand = |x: f64, standing| Stand { stage_from_base: Isometry3::translation(x, 0.0, 0.0), standing };
    let area = Area {
        name: "kitchen".to_owned(),
        outline: [[0.2, 0.2], [0.6, 0.2], [0.6, 0.28], [0.2, 0.28]]
            .map(|[x, y]| Point3::new(x, y, 0.0))
            .to_vec(),
    };
    let broken = Area { name: "nowhere".to_owned(), outline: vec![Point3::new(f64::NAN, 0.0, 0.0)] };
    let mut shown = Stage {
        outline: corners.to_vec(),
        stands: vec![stand(0.4, Standing::Now), stand(f64::NAN, Standing::Goal)],
        route: vec![Point3::new(0.4, -0.15, 0.0), Point3::new(0.4, -0.3, 0.0)],
        areas: Arc::new(vec![area, broken, Area { name: String::new(), outline: Vec::new() }]),
        ..Stage::default()
    };
    off_screen.show(shown.clone());
    let picture = block_on(off_screen.picture(&view()));
    let (base, way, area) = ([90, 225, 225], [92, 160, 255], [150, 120, 220]);
    for (place, color) in [
        ([0.5, -0.05, 0.01], base),
        ([0.4, 0.1, 0.01], base),
        ([0.4, -0.22, 0.01], way),
        ([0.4, 0.2, 0.01], area),
    ] {
        assert!(is_near(&picture, place, color), "{color:?} at {place:?}");
    }
    assert!(!is_near(&picture, [0.2, -0.2, 0.0], base));
    shown.toggle(Layer::Areas);
    off_screen.show(shown);
    assert!(!is_near(&block_on(off_screen.picture(&view())), [0.4, 0.2, 0.01], area));
}

#[test]
fn shapes_of_the_planner_let_things_through_and_go_when_they_are_left_out() {
    let Some(mut off_screen) = off_screen() else { return };
    let at = [0.4, 0.0, 0.06];
    let around = Solid {
        stage_from_solid: Isometry3::from(Vector3::from(at)),
        shape: Shape::Box { half: Vector3::repeat(0.09) },
        color: BLUE,
        opacity: 0.3,
    };
    let no_shape = Solid { shape: Shape::Sphere { radius: f64::NAN }, ..around.clone() };
    let nowhere = Solid { stage_from_solid: Isometry3::translation(f64::NAN, 0.0, 0.0), ..around.clone() };
    let mut shown = Stage { shapes: vec![around, no_shape, nowhere], ..stage(vec![cube("cube_0", at, RED)]) };
    off_screen.show(shown.clone());
    let [red, _, blue] = seen_at(&block_on(off_screen.picture(&view())), at);
    shown.toggle(Layer::Shapes);
    off_screen.show(shown);
    let [alone, _, less] = seen_at(&block_on(off_screen.picture(&view())), at);
    assert!(red > 60 && blue > less + 10, "blue over red: {red} {blue}; red alone: {alone} {less}");
}

#[test]
fn what_is_held_is_drawn_and_the_box_of_the_tool_can_be_turned() {
    let Some(mut off_screen) = off_screen() else { return };
    let at = [0.4, 0.0, 0.1];
    let turned = Isometry3::new(Vector3::new(0.4, 0.0, 0.05), Vector3::z() * std::f64::consts::FRAC_PI_4);
    off_screen.show(Stage {
        held: vec![ball(at, RED, 1.0)],
        held_name: Some(("mug".to_owned(), Point3::from(at))),
        fence: Some(OrientedBox { pose: turned, size: Vector3::new(0.2, 0.2, 0.1) }),
        ..Stage::default()
    });
    let picture = block_on(off_screen.picture(&view()));
    let [red, green, blue] = seen_at(&picture, at);
    assert!(red > 60 && green < red / 2 && blue < red / 2, "{:?}", [red, green, blue]);
    let fence = [196, 110, 52];
    let corner = 0.1 * 2.0_f64.sqrt();
    assert!(is_near(&picture, [0.4 + corner, 0.0, 0.03], fence), "an edge of the turned box");
    assert!(!is_near(&picture, [0.5, 0.1, 0.03], fence), "where it would be unturned");
}
