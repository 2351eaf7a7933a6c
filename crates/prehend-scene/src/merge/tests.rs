use super::*;
use crate::ObjectKey;
use nalgebra::Point3;
use prehend_geometry::PointCloud;

fn block(x: f64, class: &str, features: Vec<f32>) -> Object {
    let points: Vec<Point3<f64>> = (0..1000)
        .map(|i| {
            Point3::new(
                x + f64::from(i % 10) * 0.005,
                f64::from(i / 10 % 10) * 0.005,
                f64::from(i / 100) * 0.005,
            )
        })
        .collect();
    let bounds = OrientedBox::upright_around(&points).unwrap();
    let mut object = Object {
        class_votes: vec![(class.to_owned(), 0.8), (String::new(), 0.2)],
        color: [200, 0, 0],
        color_fractions: vec![("red".to_owned(), 1.0)],
        features,
        view_count: 1,
        touches_border: true,
        last_seen: 1.0,
        ..Object::unnamed(ObjectKey(format!("{class}_0")), PointCloud::from_points(points), bounds)
    };
    settle_class(&mut object);
    object
}

#[test]
fn the_same_place_merges_whatever_the_names_and_neighbours_stay_apart() {
    let rule = MergeRule::default();
    let check = |x: f64, features: Vec<f32>, expected: bool| {
        let found = similarity(&block(0.0, "mug", vec![1.0, 0.0]), &block(x, "mug", features), &rule);
        assert_eq!(found.is_some(), expected, "{x}: {found:?}");
    };
    check(0.002, vec![1.0, 0.0], true);
    check(0.002, vec![0.0, 1.0], true);
    check(0.002, Vec::new(), true);
    check(0.050, vec![1.0, 0.0], false);
    check(0.020, vec![1.0, 0.0], true);
    check(0.2, vec![1.0, 0.0], false);
}

#[test]
fn merging_averages_and_sums() {
    let mut known = block(0.0, "mug", vec![1.0, 0.0]);
    let mut seen = block(0.002, "cup", vec![0.0, 1.0]);
    seen.class_votes[0].1 = 2.0;
    seen.color = [100, 0, 0];
    seen.color_fractions = vec![("blue".to_owned(), 0.5), ("red".to_owned(), 0.5)];
    seen.touches_border = false;
    seen.last_seen = 5.0;
    (known.probability, seen.probability) = (0.6, 0.8);
    let points = known.cloud.len() + seen.cloud.len();
    merge_into(&mut known, seen, &MergeRule::default());
    assert_eq!((known.key.0.as_str(), known.class_name.as_str()), ("mug_0", "cup"));
    assert!((known.confidence - 2.0 / 3.2).abs() < 1e-9);
    assert_eq!(known.color, [150, 0, 0]);
    assert_eq!(known.color_fractions, [("red".to_owned(), 0.75), ("blue".to_owned(), 0.25)]);
    assert_eq!((known.view_count, known.touches_border, known.last_seen), (2, false, 5.0));
    assert_eq!(known.probability, 0.8, "that of the best view");
    assert!((known.features[0] - 0.5_f32.sqrt()).abs() < 1e-6);
    assert!(known.cloud.len() < points, "accumulated and down-sampled");
    assert!((known.bounds.size.x - 0.047).abs() < 1e-9);
}

#[test]
fn doubt_never_names_an_object() {
    let mut object = block(0.0, "mug", Vec::new());
    object.class_votes = vec![(String::new(), 3.0), ("can".to_owned(), 1.0)];
    settle_class(&mut object);
    assert_eq!((object.class_name.as_str(), object.confidence), ("can", 0.25));
    object.class_votes = vec![(String::new(), 3.0)];
    settle_class(&mut object);
    assert_eq!((object.class_name.as_str(), object.confidence), ("", 0.0));
}
