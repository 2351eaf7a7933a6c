//! Handles, knobs, fronts, buttons and levers by geometry alone.
//!
//! Contract: what stands before an upright face is found with its kind, place and outward normal, however the face is turned; what
//! rises from a top is a button or a lever; plain things have neither.

use nalgebra::{Point3, Rotation3, Vector3};
use prehend_perception::parts::mechanism::{Mechanism, find};

/// Points of a box's sides, 3 mm apart.
fn block(centre: [f64; 3], size: [f64; 3]) -> Vec<Point3<f64>> {
    let n = |axis: usize| (size[axis] / 0.003).round().max(1.0) as usize;
    let mut out = Vec::new();
    for i in 0..=n(0) {
        for j in 0..=n(1) {
            for k in 0..=n(2) {
                let edge = [(i, n(0)), (j, n(1)), (k, n(2))].iter().any(|(a, b)| *a == 0 || a == b);
                if edge {
                    let at = |axis: usize, index: usize| {
                        centre[axis] + size[axis] * (index as f64 / n(axis) as f64 - 0.5)
                    };
                    out.push(Point3::new(at(0, i), at(1, j), at(2, k)));
                }
            }
        }
    }
    out
}

/// What a camera at `viewer` sees of the front of a drawer at x 0.6 (the side toward -x), with what stands before it.
fn drawer(before: Vec<Point3<f64>>, turned: f64) -> Vec<Point3<f64>> {
    let mut points: Vec<Point3<f64>> =
        block([0.6, 0.0, 0.2], [0.012, 0.28, 0.085]).into_iter().filter(|p| p.x < 0.6).collect();
    points.extend(before);
    let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), turned);
    let pivot = Vector3::new(0.6, 0.0, 0.0);
    points.into_iter().map(|p| turn * (p - pivot) + pivot).collect()
}

const VIEWER: Point3<f64> = Point3::new(0.2, 0.0, 0.4);

fn kinds(points: &[Point3<f64>]) -> Vec<&'static str> {
    find(points, &VIEWER, 0.0).iter().map(|m| m.kind).collect()
}

#[test]
fn bars_and_knobs_before_a_front() {
    for turned in [0.0, 0.4, -0.3] {
        let outward = Rotation3::from_axis_angle(&Vector3::z_axis(), turned) * -Vector3::x();
        let bar = drawer(block([0.555, 0.0, 0.2], [0.012, 0.11, 0.012]), turned);
        let found = find(&bar, &VIEWER, 0.0);
        assert_eq!(found[0].kind, "handle", "{turned}: {:?}", kinds(&bar));
        assert!(found[0].is_level && found[0].normal.dot(&outward) > 0.995, "{:?}", found[0].normal);
        assert!(
            (found[0].centroid - Point3::from(Vector3::new(0.6, 0.0, 0.2) + outward * 0.045)).norm() < 0.008
        );
        let upright = drawer(block([0.555, 0.1, 0.2], [0.012, 0.012, 0.06]), turned);
        let found = find(&upright, &VIEWER, 0.0);
        assert!(found[0].kind == "handle" && !found[0].is_level, "{turned}");
        let knob = drawer(block([0.57, 0.0, 0.2], [0.025, 0.025, 0.025]), turned);
        assert_eq!(find(&knob, &VIEWER, 0.0)[0].kind, "knob", "{turned}");
        let bare = drawer(Vec::new(), turned);
        assert_eq!(kinds(&bare)[..2], ["front", "edge"], "{turned}");
    }
}

#[test]
fn an_open_drawer_still_has_its_handle() {
    // The floor of the tray behind the front, and its sides.
    let mut inside = block([0.68, 0.0, 0.17], [0.15, 0.26, 0.003]);
    inside.extend(block([0.68, 0.13, 0.19], [0.15, 0.006, 0.05]));
    inside.extend(block([0.555, 0.0, 0.2], [0.012, 0.11, 0.012]));
    let found = find(&drawer(inside, 0.1), &VIEWER, 0.0);
    let handle = found.iter().find(|m| m.kind == "handle").expect("a handle");
    assert!((handle.centroid.x - 0.555).abs() < 0.01 && handle.normal.x < -0.98, "{handle:?}");
}

#[test]
fn buttons_and_levers_on_a_top() {
    let on_base = |size: [f64; 3]| {
        let mut points = block([0.4, 0.1, 0.018], [0.08, 0.08, 0.035]);
        points.extend(block([0.4, 0.1, 0.035 + size[2] / 2.0], size));
        points
    };
    let check = |points: &[Point3<f64>], kind: Option<&str>| {
        let found: Option<Mechanism> =
            find(points, &VIEWER, 0.0).into_iter().find(|m| ["button", "lever"].contains(&m.kind));
        assert_eq!(found.as_ref().map(|m| m.kind), kind, "{found:?}");
        if let Some(found) = found {
            assert!((found.centroid.x - 0.4).abs() < 0.004 && found.normal.z > 0.99, "{found:?}");
        }
    };
    check(&on_base([0.04, 0.04, 0.018]), Some("button"));
    check(&on_base([0.02, 0.02, 0.012]), Some("button"));
    check(&on_base([0.012, 0.012, 0.06]), Some("lever"));
    // A plain box, and a box with a wide lid, have none.
    check(&block([0.4, 0.1, 0.03], [0.08, 0.06, 0.06]), None);
    check(&on_base([0.078, 0.078, 0.01]), None);
}

#[test]
fn few_and_broken_points_have_none() {
    assert!(find(&[], &VIEWER, 0.0).is_empty());
    assert!(find(&[Point3::new(f64::NAN, 0.0, 0.0); 100], &VIEWER, 0.0).is_empty());
    assert!(find(&[Point3::origin(); 100], &VIEWER, 0.0).is_empty());
}
