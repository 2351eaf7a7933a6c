use super::*;
use crate::goal::Expected;
use crate::scenario::catalogue::class;
use std::collections::HashSet;

#[test]
fn every_task_has_tables_for_twenty_seeds() {
    for (task, code) in TabletopTask::ALL.into_iter().chain(TabletopTask::FURTHER) {
        for seed in 0..20 {
            let scenario = tabletop(task, seed, Conditions::Imperfect)
                .unwrap_or_else(|error| panic!("{code} {seed}: {error}"));
            assert_eq!(scenario.group, code);
            assert!(matches!(scenario.spec.expected, Expected::World(_)));
            let subject = scenario.subject.as_ref().unwrap();
            let placed = scenario.placed().unwrap();
            for name in &subject.objects {
                let object = name.split('/').next().unwrap();
                assert!(
                    placed.objects.iter().any(|thing| thing.spec.name == object),
                    "{code} {seed}: {name}"
                );
            }
        }
    }
}

#[test]
fn a_seed_gives_one_table_and_seeds_give_many() {
    let again = |seed| tabletop(TabletopTask::Stack, seed, Conditions::Imperfect).unwrap();
    assert_eq!(again(3), again(3));
    let tables: HashSet<String> = (0..10).map(|seed| again(seed).scene_yaml).collect();
    assert_eq!(tables.len(), 10);
    let sentences: HashSet<String> = (0..20).map(|seed| again(seed).sentence).collect();
    assert!(sentences.len() > 8, "{sentences:?}");
}

#[test]
fn the_left_toy_is_the_left_one() {
    for seed in 0..20 {
        let scenario = tabletop(TabletopTask::PickSide, seed, Conditions::Imperfect).unwrap();
        let placed = scenario.placed().unwrap();
        let y =
            |name: &str| placed.objects.iter().find(|o| o.spec.name == name).map(|o| o.pose.translation.y);
        let own = y("toy 0").unwrap();
        let others: Vec<f64> = ["toy 1", "toy 2"].into_iter().filter_map(y).collect();
        let left = scenario.sentence.contains("left");
        assert!(!others.is_empty());
        assert!(
            others.iter().all(|other| if left { own > *other } else { own < *other }),
            "{}",
            scenario.sentence
        );
    }
}

#[test]
fn the_toys_are_in_the_catalogue() {
    for noun in ["ball", "block", "mug", "pan"] {
        assert!(class(noun).is_some(), "{noun}");
    }
}
