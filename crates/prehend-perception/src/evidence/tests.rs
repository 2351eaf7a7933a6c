use super::*;
use crate::render::{Form, Thing, VGA, home, relabel, render, thing};
use crate::{Keyframe, MapBuilder, MapSettings};
use nalgebra::{Unit, Vector3};

fn things() -> Vec<Thing> {
    vec![
        thing("mug", Form::Cup(0.04, 0.09, 0.005), 0.38, 0.09, [196, 30, 36]),
        thing("block", Form::Block([0.05, 0.05, 0.05]), 0.38, -0.03, [34, 74, 188]),
    ]
}

fn mapped(change: impl FnOnce(&mut Keyframe)) -> (Object, Option<Plane>) {
    let mut frame = render(&things(), &VGA, &home(), 0.0015, 1);
    change(&mut frame);
    let mut builder = MapBuilder::new("map", MapSettings::default());
    builder.update(&frame, None, false, 0).unwrap();
    let map = builder.map();
    let plane = map
        .support_plane
        .map(|[a, b, c, d]| Plane { normal: Unit::new_normalize(Vector3::new(a, b, c)), offset: d });
    let mug = map.objects.iter().find(|o| o.bounds.pose.translation.y > 0.05).unwrap();
    (mug.clone(), plane)
}

fn all(object: &Object, plane: Option<Plane>) -> Vec<Evidence> {
    let crop = &object.crops[0];
    let settings = SegmentSettings::default();
    let mut found = detector(crop);
    for look in [Look::First, Look::Zoomed] {
        found.extend(geometry(object, crop, plane, &settings, look));
        found.extend(color(object, crop, look));
    }
    found
}

fn iou(evidence: &[Evidence], a: (&str, f64), b: (&str, f64)) -> f64 {
    let find = |(producer, scale): (&str, f64)| {
        evidence
            .iter()
            .find(|e| e.producer == producer && e.scale == scale && matches!(e.region, Region::Mask(_)))
            .unwrap_or_else(|| panic!("{producer} {scale}"))
    };
    find(a).region.mask().iou(find(b).region.mask())
}

#[test]
fn a_clean_view_agrees_over_tools_and_scales() {
    let (mug, plane) = mapped(|_| {});
    let found = all(&mug, plane);
    assert_eq!(found.len(), 6);
    for (a, b) in [
        (("detector", 1.0), ("geometry", 1.0)),
        (("detector", 1.0), ("color", 1.0)),
        (("geometry", 1.0), ("geometry", 2.0)),
        (("color", 1.0), ("color", 2.0)),
    ] {
        assert!(iou(&found, a, b) > 0.75, "{a:?} {b:?}: {}", iou(&found, a, b));
    }
    assert!(
        found.iter().all(|e| e.confidence > 0.5 && e.confidence <= 1.0),
        "{:?}",
        found.iter().map(|e| (&e.id, e.confidence)).collect::<Vec<_>>()
    );
    assert!(found.iter().filter(|e| e.producer == "detector").all(|e| e.label == "mug"));
}

#[test]
fn a_wrong_mask_disagrees_with_the_tools_that_look_for_themselves() {
    let check = |change: fn(&mut Keyframe)| {
        let (mug, plane) = mapped(change);
        let found = all(&mug, plane);
        let apart = iou(&found, ("detector", 1.0), ("geometry", 1.0));
        assert!(apart < 0.72, "{apart}");
        assert!(iou(&found, ("color", 1.0), ("geometry", 1.0)) > 0.7);
    };
    // Merged with the block.
    check(|f| relabel(f, |_, _, _| 1));
    // Only its left part.
    check(|f| {
        let columns: Vec<usize> =
            (0..f.labels.labels.len()).filter(|i| f.labels.labels[*i] == 1).map(|i| i % 640).collect();
        let middle = columns.iter().sum::<usize>() / columns.len();
        relabel(f, |l, u, _| if l == 1 && u > middle { 0 } else { l });
    });
}

#[test]
fn a_missed_object_has_no_detector_record() {
    let (mug, plane) = mapped(|f| relabel(f, |l, _, _| if l == 1 { 0 } else { l }));
    let found = all(&mug, plane);
    assert!(found.iter().all(|e| e.producer != "detector"));
    assert!(iou(&found, ("color", 1.0), ("geometry", 1.0)) > 0.7);
}

#[test]
fn knowledge_doubts_a_name_that_does_not_fit() {
    let lexicon =
        crate::Lexicon::parse("s", include_str!("../../../../config/language/synonyms.yaml")).unwrap();
    let text = include_str!("../../../../config/language/knowledge.yaml");
    let known = Knowledge::parse("k", text, lexicon).unwrap_or_else(|e| panic!("{e}"));
    let (mut mug, _) = mapped(|_| {});
    let says = |object: &Object| known.agreement(object, 0.0);
    assert!(says(&mug).unwrap() > 0.9, "{:?}", says(&mug));
    mug.class_name = "red coffee cup".to_owned();
    assert!(says(&mug).unwrap() > 0.9);
    for wrong in ["can", "banana", "plate", "lemon"] {
        mug.class_name = wrong.to_owned();
        assert!(says(&mug).unwrap() < 0.6, "{wrong}: {:?}", says(&mug));
    }
    for unknown in ["", "frobnicator"] {
        mug.class_name = unknown.to_owned();
        assert_eq!(says(&mug), None);
    }
}

#[test]
fn broken_crops_give_no_evidence_and_no_panic() {
    let (mug, plane) = mapped(|_| {});
    let break_crop = |change: fn(&mut Crop)| {
        let mut crop = mug.crops[0].clone();
        change(&mut crop);
        let settings = SegmentSettings::default();
        for look in [Look::First, Look::Zoomed] {
            let _ = geometry(&mug, &crop, plane, &settings, look);
            let _ = color(&mug, &crop, look);
        }
        let _ = detector(&crop);
    };
    break_crop(|c| c.depth.millimetres.fill(0));
    break_crop(|c| c.depth.millimetres.clear());
    break_crop(|c| c.color.pixels.truncate(7));
    break_crop(|c| c.mask = Mask::default());
    break_crop(|c| c.map_from_camera.translation.x = f64::NAN);
    break_crop(|c| (c.x, c.y) = (100_000, 100_000));
    break_crop(|c| c.depth.width = 1);
}

#[test]
fn what_the_detector_says_of_a_door_is_about_its_leaf() {
    let (mug, _) = mapped(|_| {});
    let check = |class: &str, kind: &str, expected: usize| {
        let object = Object { class_name: class.to_owned(), ..mug.clone() };
        let part = crate::parts::WorkingPart {
            kind: kind.to_owned(),
            name: kind.to_owned(),
            cloud: object.cloud.clone(),
            centroid: nalgebra::Point3::origin(),
            normal: Vector3::x(),
            is_level: false,
            score: 0.6,
            observed: None,
            by_geometry: true,
        };
        let found = part::detected(&part, &object, &object.crops[0]);
        assert_eq!(found.len(), expected, "{class} {kind}");
        assert!(found.iter().all(|evidence| evidence.label == kind), "{class} {kind}");
    };
    check("microwave door", "front", 2);
    check("microwave door", "handle", 0);
    check("drawer", "front", 0);
}

/// A view has the name of a pose; images of one name at two times are two images.
#[test]
fn what_the_part_detector_drew_in_an_earlier_image_is_no_evidence_of_this_one() {
    let (mut mug, _) = mapped(|_| {});
    let crop = mug.crops[0].clone();
    let detected = |mug: &mut Object, stamp: f64| {
        mug.parts = vec![prehend_scene::ObservedPart {
            class_name: "handle".to_owned(),
            score: 0.9,
            class_votes: vec![("handle".to_owned(), 0.9)],
            cloud: mug.cloud.clone(),
            views: vec![prehend_scene::PartView {
                view: crop.view.clone(),
                mask: crop.mask.clone(),
                label: "handle".to_owned(),
                score: 0.9,
                stamp,
            }],
        }];
        let part = crate::parts::WorkingPart {
            kind: "handle".to_owned(),
            name: "handle".to_owned(),
            cloud: mug.cloud.clone(),
            centroid: nalgebra::Point3::origin(),
            normal: Vector3::x(),
            is_level: false,
            score: 0.6,
            observed: Some(0),
            by_geometry: false,
        };
        part::detected(&part, mug, &crop)
    };
    let found = detected(&mut mug, crop.stamp);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|record| (record.stamp - crop.stamp).abs() < 1e-12));
    assert!(detected(&mut mug, crop.stamp - 0.1).is_empty());
}
