use super::*;
use nalgebra::{Isometry3, Point3};
use prehend_geometry::{DepthImage, Intrinsics, Mask, OrientedBox, PointCloud};
use prehend_scene::Crop;

fn view(color: ColorImage) -> Crop {
    let intrinsics = Intrinsics { fx: 500.0, fy: 500.0, cx: 32.0, cy: 24.0, width: 64, height: 48 };
    Crop {
        view: "wrist".to_owned(),
        color,
        depth: DepthImage::default(),
        mask: Mask::from_indices(64, 48, &[0]),
        x: 0,
        y: 0,
        intrinsics,
        map_from_camera: Isometry3::identity(),
        producer: "test".to_owned(),
        label: String::new(),
        score: 1.0,
        stamp: 0.0,
        rank: 1.0,
    }
}

/// An object with these views.
fn object(key: &str, views: Vec<ColorImage>) -> Object {
    let cloud = PointCloud::from_points(vec![Point3::origin()]);
    let bounds = OrientedBox { pose: Isometry3::identity(), size: [0.1, 0.2, 0.3].into() };
    Object { crops: views.into_iter().map(view).collect(), ..Object::unnamed(key.into(), cloud, bounds) }
}

fn picture() -> ColorImage {
    ColorImage::filled(4, 3, [200, 30, 30])
}

/// `a` and `b` matched, `c` and `d` rejected, `d` nearer than `b`.
fn found() -> Retrieval {
    let rejected =
        |key: &str, similarity| Rejected { key: key.into(), similarity, reason: "it is blue".to_owned() };
    Retrieval {
        matches: vec![Match { key: "a".into(), similarity: 0.9 }, Match { key: "b".into(), similarity: 0.6 }],
        rejected: vec![rejected("d", 0.7), rejected("c", 0.3)],
        doubtful: vec!["b".into(), "c".into()],
    }
}

fn says(key: &str, is_meant: bool, reason: &str) -> Judgement {
    Judgement { key: key.into(), is_meant, reason: reason.to_owned() }
}

fn keys(found: &Retrieval) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    (
        found.matches.iter().map(|m| m.key.0.as_str()).collect(),
        found.rejected.iter().map(|r| r.key.0.as_str()).collect(),
        found.doubtful.iter().map(|key| key.0.as_str()).collect(),
    )
}

#[test]
fn the_most_similar_with_a_whole_picture_are_shown() {
    let torn = ColorImage { width: 9, ..picture() };
    let objects = vec![
        object("a", vec![picture()]),
        object("b", vec![ColorImage::default(), torn, picture()]),
        object("c", vec![picture()]),
        object("d", vec![]),
    ];
    let map = ObjectMap { objects, ..ObjectMap::default() };
    let question = Question::about(&map, "the mug", &found(), 2).unwrap();
    let shown: Vec<&str> = question.candidates.iter().map(|c| c.key.0.as_str()).collect();
    assert_eq!(shown, ["a", "b"], "`d` is more similar than `b` but was never seen");
    assert_eq!(question.candidates[1].picture, picture());
    assert_eq!(question.candidates[0].size, [0.1, 0.2, 0.3]);
    assert!(Question::about(&ObjectMap::default(), "the mug", &found(), 2).is_none());
}

#[test]
fn a_yes_takes_in_a_no_leaves_out_and_the_number_varies() {
    let all = found().judged(&["a", "b", "c", "d"].map(|key| says(key, true, "")));
    assert_eq!(keys(&all), (vec!["a", "d", "b", "c"], vec![], vec![]));
    let none = found().judged(&["a", "b", "c", "d"].map(|key| says(key, false, "a plate")));
    assert_eq!(keys(&none), (vec![], vec!["a", "d", "b", "c"], vec![]));
    let same = |r: &Rejected| r.reason == "the model that looked at it says no: a plate";
    assert!(none.rejected.iter().all(same), "{none:?}");
    let one = found().judged(&[says("a", false, ""), says("d", true, "")]);
    assert_eq!(keys(&one), (vec!["d", "b"], vec!["a", "c"], vec!["b", "c"]));
}

#[test]
fn what_was_not_judged_or_is_no_candidate_changes_nothing() {
    assert_eq!(found().judged(&[]), found());
    assert_eq!(found().judged(&[says("elsewhere", true, "")]), found());
}

#[test]
fn a_question_is_printed_without_what_the_person_said() {
    let map = ObjectMap { objects: vec![object("a", vec![picture()])], ..ObjectMap::default() };
    let question = Question::about(&map, "my secret mug", &found(), 2).unwrap();
    let printed = format!("{question:?}");
    assert!(printed.contains("a (4x3 pixels)") && !printed.contains("secret"), "{printed}");
}
