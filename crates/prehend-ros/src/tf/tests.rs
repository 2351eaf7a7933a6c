//! Chains, interpolation and every error of the transform tree.

use super::*;
use crate::time_from_nanoseconds;
use approx::assert_relative_eq;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use std::f64::consts::FRAC_PI_2;

fn message(parent: &str, child: &str, time: f64, translation: [f64; 3], yaw: f64) -> TransformStamped {
    let mut message = TransformStamped { child_frame_id: child.to_owned(), ..Default::default() };
    message.header.frame_id = parent.to_owned();
    message.header.stamp = time_from_nanoseconds((time * 1e9) as i64);
    let transform = &mut message.transform;
    [transform.translation.x, transform.translation.y, transform.translation.z] = translation;
    transform.rotation.z = (yaw / 2.0).sin();
    transform.rotation.w = (yaw / 2.0).cos();
    message
}

fn at(time: f64) -> Time {
    time_from_nanoseconds((time * 1e9) as i64)
}

/// base -> arm (moving, 1 m/s along x and a quarter turn a second, from 1 s to 2 s) -> camera (fixed); and another root.
fn tree() -> TfTree {
    let mut tree = TfTree::default();
    for (message, fixed) in [
        (message("base", "arm", 1.0, [1.0, 0.0, 0.0], 0.0), false),
        (message("base", "arm", 2.0, [2.0, 0.0, 0.0], FRAC_PI_2), false),
        (message("arm", "camera", 0.0, [0.0, 0.0, 0.5], 0.0), true),
        (message("/base", "/tag", 0.0, [0.0, 3.0, 0.0], FRAC_PI_2), true),
        (message("island", "palm", 0.0, [0.0, 0.0, 0.0], 0.0), true),
    ] {
        tree.insert_after(&message, fixed, 0).expect("valid");
    }
    tree
}

#[test]
fn chain_and_interpolation() {
    let tree = tree();
    let half = tree.lookup("base", "camera", &at(1.5)).expect("connected");
    assert_relative_eq!(half.translation.as_slice(), [1.5, 0.0, 0.5].as_slice(), epsilon = 1e-9);
    let eighth = FRAC_PI_2 / 4.0;
    assert_relative_eq!(
        half.rotation.as_slice(),
        [0.0, 0.0, eighth.sin(), eighth.cos()].as_slice(),
        epsilon = 1e-9
    );
    assert_eq!(half.stamp, at(1.5));
    let back = tree.lookup("camera", "base", &at(1.5)).expect("connected");
    assert_relative_eq!(
        (half.isometry() * back.isometry()).to_homogeneous(),
        Isometry3::identity().to_homogeneous(),
        epsilon = 1e-9
    );
    // Down one branch and up another: the tag, seen from the arm at 2 s (arm at x = 2, turned to +y).
    let across = tree.lookup("arm", "tag", &at(2.0)).expect("connected");
    assert_relative_eq!(across.translation.as_slice(), [3.0, 2.0, 0.0].as_slice(), epsilon = 1e-9);
}

#[test]
fn newest_and_fixed() {
    let tree = tree();
    let newest = tree.lookup("base", "camera", &Time::default()).expect("connected");
    assert_eq!((newest.stamp, newest.translation[0]), (at(2.0), 2.0));
    let fixed = tree.lookup("/base", "tag", &at(99.0)).expect("fixed frames know no time");
    assert_eq!(fixed.stamp, Time::default());
    assert_eq!(tree.lookup("arm", "arm", &at(99.0)).expect("itself").translation, [0.0; 3]);
}

#[test]
fn every_lookup_error() {
    let tree = tree();
    let frame = || "arm".to_owned();
    for (target, source, time, expected) in [
        ("base", "nowhere", 1.5, TfError::UnknownFrame { frame: "nowhere".to_owned() }),
        ("", "base", 1.5, TfError::UnknownFrame { frame: String::new() }),
        ("base", "palm", 1.5, TfError::NotConnected { target: "base".to_owned(), frame: "palm".to_owned() }),
        ("base", "arm", 2.5, TfError::TooNew { frame: frame(), seconds: 0.5 }),
        ("base", "camera", 0.5, TfError::TooOld { frame: frame(), seconds: 0.5 }),
    ] {
        assert_eq!(tree.lookup(target, source, &at(time)), Err(expected));
    }
}

#[test]
fn invalid_transforms_are_refused() {
    let good = message("a", "b", 1.0, [0.0; 3], 0.0);
    let mut cases = vec![message("a", "a", 1.0, [0.0; 3], 0.0), message("", "b", 1.0, [0.0; 3], 0.0)];
    let mut nan = good.clone();
    nan.transform.translation.y = f64::NAN;
    cases.push(nan);
    let mut no_rotation = good.clone();
    no_rotation.transform.rotation.w = 0.0;
    cases.push(no_rotation);
    let mut infinite = good;
    infinite.transform.rotation.x = f64::INFINITY;
    cases.push(infinite);
    for case in cases {
        let mut tree = TfTree::default();
        assert!(matches!(tree.insert_after(&case, false, 0), Err(TfError::Invalid { .. })), "{case:?}");
        assert!(tree.links.is_empty());
    }
}

#[test]
fn loops_end() {
    let mut tree = TfTree::default();
    for (parent, child) in [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y")] {
        tree.insert_after(&message(parent, child, 1.0, [1.0, 0.0, 0.0], 0.0), true, 0).expect("valid");
    }
    assert!(matches!(tree.lookup("a", "y", &at(1.0)), Err(TfError::NotConnected { .. })));
}

#[test]
fn memory_is_bounded_and_forgets_the_future_when_time_goes_back() {
    let mut tree = TfTree::default();
    for second in 0..100 {
        tree.insert_after(
            &message("a", "b", f64::from(second), [f64::from(second), 0.0, 0.0], 0.0),
            false,
            0,
        )
        .expect("valid");
    }
    assert!(matches!(tree.lookup("a", "b", &at(50.0)), Err(TfError::TooOld { .. })));
    tree.insert_after(&message("a", "b", 1.0, [7.0, 0.0, 0.0], 0.0), false, 1).expect("valid");
    let now = tree.lookup("a", "b", &Time::default()).expect("known");
    assert_eq!((now.stamp, now.translation[0]), (at(1.0), 7.0));
}

#[test]
fn an_unbounded_tree_remembers_and_tells_its_frames() {
    let mut tree = TfTree::unbounded();
    for second in [1.0, 3600.0] {
        tree.insert(&message("map", "/base", second, [second, 0.0, 0.0], 0.0), false).expect("valid");
    }
    tree.insert(&message("base", "camera", 0.0, [0.0; 3], 0.0), true).expect("valid");
    assert_eq!(tree.lookup("map", "camera", &at(1.0)).expect("remembered").translation[0], 1.0);
    assert_eq!(tree.frames(), ["base", "camera", "map"]);
    assert_eq!(tree.line("/camera"), ["camera", "base", "map"]);
    assert_eq!(["camera", "base", "map"].map(|frame| tree.is_moving(frame)), [false, true, false]);
}
