use super::layout::{gap, surface};
use super::*;
use crate::boxes::upright_iou;
use prehend_geometry::upright::convex_hull;
use std::collections::BTreeSet;

fn settings(objects: usize, views: usize, masks: Masks) -> Settings {
    Settings { objects, views, masks, ..Settings::default() }
}

#[test]
fn thirty_things_stand_on_the_table_apart_from_each_other_and_differ_by_seed() {
    let outline = |thing: &Thing| {
        let points = surface(&thing.parts, &thing.pose);
        convex_hull(&points.iter().map(|point| point.xy()).collect::<Vec<_>>())
    };
    let mut touching = 0;
    for seed in 1..=5 {
        let clutter = Clutter::new(&Settings { seed, ..Settings::default() }).unwrap();
        assert_eq!((clutter.tables.len(), clutter.things.len()), (1, 30));
        for (number, thing) in clutter.things.iter().enumerate() {
            let bottom = thing.bounds.pose.translation.z - thing.bounds.size.z / 2.0;
            assert!((bottom - HEIGHT).abs() < 1e-9, "{} stands at {bottom}", thing.name);
            for other in &clutter.things[..number] {
                let apart = gap(&outline(thing), &outline(other));
                assert!(apart > 0.0004, "{} and {}: {apart}", thing.name, other.name);
                touching += usize::from(apart < 0.002);
            }
        }
        let classes: BTreeSet<&str> = clutter.things.iter().map(|thing| thing.class.as_str()).collect();
        assert!(classes.len() > 8, "{classes:?}");
    }
    assert!(touching >= 10, "{touching} pairs of five tables stand against each other");
    let name = |seed| Clutter::new(&Settings { seed, ..Settings::default() }).unwrap().things[0].name.clone();
    assert_eq!(name(3), name(3));
    assert!((1..9).map(name).collect::<BTreeSet<_>>().len() > 1);
}

#[test]
fn a_hall_has_as_many_tables_as_it_takes() {
    let clutter = Clutter::new(&settings(70, 3, Masks::Truth)).unwrap();
    let of = |table: usize| clutter.things.iter().filter(|thing| thing.table == table).count();
    assert_eq!((clutter.tables.len(), of(0), of(1), of(2)), (3, 30, 30, 10));
    let full = Clutter::new(&Settings { objects: 400, per_table: 400, ..Settings::default() });
    assert_eq!(full.unwrap_err(), NoRoom { objects: 400, seed: 1 });
}

#[test]
fn frames_show_the_things_where_they_are_and_masks_are_those_of_the_things() {
    let settings = Settings { features: 16, ..settings(12, 2, Masks::Truth) };
    let clutter = Clutter::new(&settings).unwrap();
    let taken: Vec<Shot> = shots(&clutter, &settings).unwrap().map(Result::unwrap).collect();
    let truth = Truth::of(1, &clutter, &taken);
    assert_eq!(taken.len(), 2);
    for shot in &taken {
        let frame = &shot.frame;
        let (instances, pose) = (frame.instances.as_ref().unwrap(), frame.map_from_camera.unwrap());
        assert!(instances.detections.len() >= 8, "{}", instances.detections.len());
        assert_eq!((instances.features.len(), instances.features[0].len()), (instances.detections.len(), 16));
        let (mut inside, mut measured) = (0, 0);
        for (index, label) in shot.labels.labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            let Some(depth) = frame.depth.metres(index) else { continue };
            let (u, v) = (index % frame.depth.width, index / frame.depth.width);
            let point = pose * frame.intrinsics.unproject(u as f64, v as f64, depth);
            measured += 1;
            inside += usize::from(clutter.things[usize::from(*label) - 1].bounds.contains(&point, 0.02));
            let mask = instances.labels.labels[index];
            let class = instances.detections.iter().find(|d| d.label == mask).map(|d| d.class_name.as_str());
            assert!(class.is_none_or(|class| class == clutter.things[usize::from(*label) - 1].class));
        }
        assert!(inside * 100 > measured * 97, "{inside} of {measured}");
    }
    let seen = truth.visible().count();
    assert!(seen >= 10 && truth.things.len() == 12, "{seen}");
    // Another look at the same seed is the same look, and the truth survives its file.
    let again: Vec<Shot> = shots(&clutter, &settings).unwrap().map(Result::unwrap).collect();
    assert_eq!(again[1].frame, taken[1].frame);
    let folder = tempfile::tempdir().unwrap();
    assert!(Truth::read(folder.path()).unwrap().is_none());
    truth.write(folder.path()).unwrap();
    let read = Truth::read(folder.path()).unwrap().unwrap();
    assert_eq!(read.things.len(), truth.things.len());
    for (found, expected) in read.things.iter().zip(&truth.things) {
        assert_eq!((&found.name, &found.pixels), (&expected.name, &expected.pixels));
        assert!(upright_iou(&found.bounds(), &expected.bounds()) > 0.999_999);
    }
}
