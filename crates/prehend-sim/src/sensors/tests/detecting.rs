//! Rates and consistency of the simulated detector.

use super::*;
use crate::scene::DetectorSpec;
use prehend_geometry::Intrinsics;

/// A small image of the same field of view, so that thousands of frames take seconds.
const SMALL: Intrinsics = Intrinsics { fx: 154.0, fy: 154.0, cx: 80.0, cy: 60.0, width: 160, height: 120 };

/// Two boxes side by side and one apart.
fn setting() -> Setting {
    let mut setting = Setting::table();
    let shape = Shape::Box { size: [0.06, 0.05, 0.05] };
    setting.object(shape, [200, 30, 30], 0.45, 0.0, 0.05);
    setting.object(shape, [30, 30, 200], 0.45, 0.051, 0.05);
    setting.object(shape, [30, 200, 30], 0.40, -0.15, 0.05);
    setting
}

fn detector(spec: DetectorSpec, seed: u64) -> Detector {
    Detector::new(spec, ["mug", "can", "apple"].map(str::to_owned).to_vec(), seed)
}

/// Number of seeds out of `n` for which `event` is true of the detections.
fn count(spec: &DetectorSpec, n: u64, event: impl Fn(&Detections) -> bool) -> u64 {
    let setting = setting();
    let capture = setting.capture_with(SMALL, clean(), 1, 0);
    let pose = setting.frame.base_from_camera;
    (0..n).filter(|seed| event(&detector(spec.clone(), *seed).detect(&capture, &pose, 0))).count() as u64
}

/// Whether `hits` of `n` is within four standard deviations of the rate.
fn check_rate(hits: u64, n: u64, rate: f64) {
    let (n, hits) = (n as f64, hits as f64);
    let limit = 4.0 * (n * rate * (1.0 - rate)).sqrt();
    assert!((hits - n * rate).abs() <= limit, "{hits} of {n} at a rate of {rate}");
}

fn names(detections: &Detections) -> Vec<&str> {
    let mut names: Vec<&str> = detections.items.iter().map(|d| d.class_name.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_perfect_detector_shows_each_object_once() {
    let setting = setting();
    let capture = setting.capture_with(SMALL, clean(), 1, 0);
    let detections =
        detector(DetectorSpec::default(), 1).detect(&capture, &setting.frame.base_from_camera, 0);
    assert_eq!(names(&detections), ["apple", "can", "mug"]);
    assert_eq!(detections.labels.labels.len(), 160 * 120);
    for (i, detection) in detections.items.iter().enumerate() {
        let pixels: Vec<usize> =
            (0..160 * 120).filter(|p| detections.labels.labels[*p] == i as u16 + 1).collect();
        let [u, v, width, height] = detection.bbox;
        let inside = |p: &usize| (u..u + width).contains(&(p % 160)) && (v..v + height).contains(&(p / 160));
        assert!(pixels.iter().all(inside));
        let object = capture.labels.labels[pixels[0]];
        assert!(pixels.iter().all(|p| capture.labels.labels[*p] == object));
        let whole = capture.labels.labels.iter().filter(|label| **label == object).count();
        assert_eq!(pixels.len(), whole);
        assert_eq!(detection.class_name, ["mug", "can", "apple"][usize::from(object) - 1]);
        assert_eq!(detection.score, 0.9);
    }
}

#[test]
fn misses_wrong_classes_splits_and_merges_come_at_their_rates() {
    let n = 600;
    let perfect = DetectorSpec::default();
    let spec = DetectorSpec { miss: 0.3, ..perfect.clone() };
    check_rate(count(&spec, n, |d| !names(d).contains(&"mug")), n, 0.3);
    let spec = DetectorSpec { wrong_class: 0.2, ..perfect.clone() };
    // The apple is called otherwise, and nothing else is called apple in its place: look at its pixels.
    check_rate(
        count(&spec, n, |d| {
            let label = d.labels.labels[pixel_of(0.40, -0.15)];
            d.items[usize::from(label) - 1].class_name != "apple"
        }),
        n,
        0.2,
    );
    let spec = DetectorSpec { split: 0.25, ..perfect.clone() };
    check_rate(count(&spec, n, |d| names(d).iter().filter(|name| **name == "apple").count() == 2), n, 0.25);
    // Only the two boxes that touch can merge.
    let spec = DetectorSpec { merge: 0.4, ..perfect.clone() };
    check_rate(count(&spec, n, |d| d.items.len() == 2), n, 0.4);
    assert_eq!(count(&spec, n, |d| d.items.len() < 2), 0);
}

fn pixel_of(x: f64, y: f64) -> usize {
    let p = camera_above(0.45, 0.0, 0.6).inverse_transform_point(&Point3::new(x, y, 0.05));
    SMALL.pixel_index(&p).unwrap()
}

#[test]
fn confusions_say_what_a_class_is_taken_for() {
    let spec = DetectorSpec {
        wrong_class: 1.0,
        confusions: vec![("apple".into(), vec!["tomato".into(), "ball".into()])],
        ..DetectorSpec::default()
    };
    let n = 400;
    let called = |name: &'static str| {
        count(&spec, n, move |d| {
            d.items[usize::from(d.labels.labels[pixel_of(0.40, -0.15)]) - 1].class_name == name
        })
    };
    let (tomato, ball) = (called("tomato"), called("ball"));
    assert_eq!(tomato + ball, n);
    check_rate(tomato, n, 0.5);
}

#[test]
fn errors_persist_while_the_camera_stands_still() {
    let setting = setting();
    let capture = setting.capture_with(SMALL, clean(), 1, 0);
    let pose = setting.frame.base_from_camera;
    let spec = |persistence| DetectorSpec { miss: 0.5, persistence, ..DetectorSpec::default() };
    // Share of pairs of frames in which the mug is seen or missed alike.
    let alike = |persistence: f64, second: Isometry3<f64>| {
        let n = 500;
        (0..n)
            .filter(|seed| {
                let detector = detector(spec(persistence), *seed);
                let first = detector.detect(&capture, &pose, 1);
                let second = detector.detect(&capture, &second, 2);
                names(&first).contains(&"mug") == names(&second).contains(&"mug")
            })
            .count() as f64
            / n as f64
    };
    assert_eq!(alike(1.0, pose), 1.0);
    let moved = Translation3::new(0.1, 0.0, 0.0) * pose;
    assert!((alike(1.0, moved) - 0.5).abs() < 0.1);
    assert!((alike(0.0, pose) - 0.5).abs() < 0.1);
    // Both frames take the lasting draw with probability p squared; otherwise they agree half the time.
    assert!((alike(0.8, pose) - (0.64 + 0.36 * 0.5)).abs() < 0.08);
    // A tremble of the camera is no new view.
    let trembling = Translation3::new(1e-6, -1e-6, 1e-6) * pose;
    assert_eq!(alike(1.0, trembling), 1.0);
}

#[test]
fn erosion_small_and_far_things_and_scores() {
    let setting = setting();
    let capture = setting.capture_with(SMALL, clean(), 1, 0);
    let pose = setting.frame.base_from_camera;
    let detect = |spec: DetectorSpec| detector(spec, 4).detect(&capture, &pose, 0);
    let area = |d: &Detections| d.labels.labels.iter().filter(|label| **label > 0).count() as f64;
    let perfect = DetectorSpec::default();
    let (full, eroded) =
        (area(&detect(perfect.clone())), area(&detect(DetectorSpec { erode_px: 1, ..perfect.clone() })));
    assert!(eroded < 0.95 * full && eroded > 0.6 * full, "{eroded} of {full}");
    assert!(detect(DetectorSpec { min_px: 100_000, ..perfect.clone() }).items.is_empty());
    assert!(detect(DetectorSpec { range: [0.7, 3.0], ..perfect.clone() }).items.is_empty());
    let noisy = detect(DetectorSpec { score_noise: 0.3, ..perfect.clone() });
    assert!(noisy.items.iter().all(|d| (0.0..=1.0).contains(&d.score)));
    assert!(noisy.items.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(noisy, detect(DetectorSpec { score_noise: 0.3, ..perfect }));
}

#[test]
fn the_robot_is_never_an_object() {
    let mut setting = setting();
    let hand = PartShape::Box { half: Vector3::new(0.2, 0.2, 0.02) };
    setting.add(Owner::Robot(0), vec![part(hand, [230, 230, 230])], at(0.45, 0.1, 0.2));
    let capture = setting.capture_with(SMALL, clean(), 1, 0);
    let detections =
        detector(DetectorSpec::default(), 1).detect(&capture, &setting.frame.base_from_camera, 0);
    assert_eq!(names(&detections), ["apple"]);
    assert!(
        detector(DetectorSpec::default(), 1)
            .detect(&Capture { labels: LabelImage::default(), ..capture }, &at(0.0, 0.0, 0.0), 0)
            .items
            .is_empty()
    );
}
