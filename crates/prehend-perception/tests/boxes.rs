//! Boxes of things on the map of a noisy camera: as long as the things are, and down to what they stand on.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "support/render.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with other tests, which use more of it")]
mod render;

use prehend_geometry::OrientedBox;
use prehend_perception::{MapBuilder, MapSettings};
use render::{Form, Thing, VGA, looking, render, thing};

/// Standard deviation of depth at 1 m, metres: 3 mm where the things are.
const SIGMA: f64 = 0.002;

/// The box of one thing after looks at it from four sides, from 1.2 m away.
fn boxed(what: &Thing, settings: MapSettings) -> OrientedBox {
    let mut builder = MapBuilder::new("map", settings);
    for (seed, (x, y)) in [(-0.85, 0.0), (0.0, -0.85), (0.85, 0.0), (0.0, 0.85)].into_iter().enumerate() {
        let pose = looking([x, y, 0.85], [0.0, 0.0, 0.0]);
        let mut frame = render(std::slice::from_ref(what), &VGA, &pose, SIGMA, seed as u64);
        frame.view = format!("view_{seed}");
        frame.stamp = seed as f64;
        builder.update(&frame, None, false, 1).unwrap();
    }
    let objects = &builder.map().objects;
    assert_eq!(objects.len(), 1, "{:?}", objects.iter().map(|o| &o.key).collect::<Vec<_>>());
    objects[0].bounds
}

/// How much longer a box is than the thing on each axis, metres.
fn excess(found: &OrientedBox, size: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| found.size[axis] - size[axis])
}

#[test]
fn a_flat_thing_is_flat_and_none_is_much_longer_than_it_is() {
    let check = |size: [f64; 3]| {
        let what = thing("thing", Form::Block(size), 0.0, 0.0, [200, 30, 30]);
        let smooth = excess(&boxed(&what, MapSettings::recorded()), size);
        let raw = excess(&boxed(&what, MapSettings { still: None, ..MapSettings::recorded() }), size);
        for axis in 0..3 {
            assert!(smooth[axis].abs() < 0.006, "{size:?}: {smooth:?}, as measured {raw:?}");
            assert!(smooth[axis] < raw[axis], "{size:?}: {smooth:?}, as measured {raw:?}");
        }
    };
    check([0.14, 0.07, 0.008]);
    check([0.12, 0.03, 0.02]);
    check([0.10, 0.06, 0.12]);
}

#[test]
fn a_box_goes_down_to_the_table_and_not_below() {
    for height in [0.03, 0.1] {
        let what = thing("thing", Form::Block([0.08, 0.06, height]), 0.0, 0.0, [30, 60, 200]);
        let found = boxed(&what, MapSettings::recorded());
        let bottom = found.top() - found.size.z;
        assert!(bottom.abs() < 0.004, "{bottom}");
    }
}
