use super::*;
use crate::record::{Place, Thing};
use crate::store::Forget;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

const LENGTH: usize = 16;
const MANY: i64 = 4_000;

/// A direction of its own for each number, around one of fifty.
fn direction(number: i64) -> Vec<f32> {
    let value = |seed: i64| {
        let mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    let length = LENGTH as i64;
    let features: Vec<f32> = (0..length)
        .map(|axis| value(number % 50 * length + axis) + 0.5 * value(1_000_003 * number + axis))
        .collect();
    let norm = features.iter().map(|value| value * value).sum::<f32>().sqrt();
    features.iter().map(|value| value / norm).collect()
}

fn thing(id: Id, building: &str, features: Vec<f32>) -> Thing {
    Thing {
        id,
        building: building.to_owned(),
        votes: vec![("mug".to_owned(), 1.0)],
        colors: Vec::new(),
        description: String::new(),
        place: Place { center: [0.0; 3], size: [0.1; 3], yaw: 0.0 },
        count: 1,
        first_seen: 0.0,
        last_seen: 0.0,
        missed: None,
        parts: Vec::new(),
        proposed: BTreeMap::new(),
        tried: BTreeMap::new(),
        keys: BTreeMap::new(),
        area: None,
        model: String::new(),
        best_view: (0, 0.0),
        features,
    }
}

fn open(folder: &TempDir) -> Sqlite {
    Sqlite::open(&file(folder)).unwrap()
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("memory.db")
}

fn put(store: &mut Sqlite, ids: std::ops::RangeInclusive<Id>) {
    store.begin("").unwrap();
    for id in ids {
        store.put_thing(&thing(id, if id % 400 == 0 { "hut" } else { "home" }, direction(id))).unwrap();
    }
    store.commit().unwrap();
}

/// A store of many things with its index.
fn indexed(folder: &TempDir) -> Sqlite {
    let mut store = open(folder);
    store.set_space("s", LENGTH).unwrap();
    put(&mut store, 1..=MANY);
    assert_eq!(store.index(3_000).unwrap(), 1_000);
    assert_eq!(store.index(3_000).unwrap(), 0);
    store
}

fn is_indexed(store: &Sqlite) -> Option<usize> {
    match &store.likeness {
        Likeness::Indexed(index, _) => Some(index.len()),
        Likeness::Unread | Likeness::Broken => None,
    }
}

/// Share of what is most alike that is found, of ten for each question.
fn recall(store: &mut Sqlite, building: Option<&str>) -> f64 {
    let mut right = 0;
    for question in 0..50 {
        let wanted = direction(10_007 + 31 * question);
        let found = store.nearest(&wanted, 10, building).unwrap();
        let all = store.compared(&wanted, building).unwrap();
        let best = store.things_of_vectors(all, 10, building).unwrap();
        assert_eq!(found.len(), best.len());
        right += found.iter().filter(|(id, _)| best.iter().any(|(other, _)| other == id)).count();
    }
    right as f64 / 500.0
}

#[test]
fn the_index_finds_what_comparing_with_each_finds() {
    let folder = TempDir::new().unwrap();
    let mut store = indexed(&folder);
    assert!(recall(&mut store, None) > 0.97);
    assert_eq!(recall(&mut store, Some("hut")), 1.0, "few are compared");
    assert_eq!(store.nearest(&direction(7), 1, None).unwrap()[0].0, 7);
    assert_eq!(store.nearest(&direction(7), 5_000, None).unwrap().len(), MANY as usize, "all of them");
    // What came since is found without the index, and with it.
    put(&mut store, MANY + 1..=MANY + 1);
    assert_eq!(store.nearest(&direction(MANY + 1), 1, None).unwrap()[0].0, MANY + 1);
    assert_eq!(store.index(10).unwrap(), 0);
    assert_eq!(store.nearest(&direction(MANY + 1), 1, None).unwrap()[0].0, MANY + 1);
    // What is written is no vector for good before it is committed.
    store.begin("home").unwrap();
    store.put_thing(&thing(MANY + 2, "home", direction(MANY + 2))).unwrap();
    assert_eq!(store.index(10).unwrap(), 0);
    store.abandon();
    put(&mut store, MANY + 3..=MANY + 3);
    store.index(10).unwrap();
    assert_eq!(store.nearest(&direction(MANY + 3), 1, None).unwrap()[0].0, MANY + 3);
}

/// An index that was offered all and holds every second one gives these alone: what it does not hold is looked for nowhere else.
#[test]
fn it_is_the_index_that_is_asked() {
    let folder = TempDir::new().unwrap();
    let mut store = indexed(&folder);
    let mut half = Index::new(LENGTH).unwrap();
    half.take(&(1..=MANY / 2).map(|number| (2 * number, direction(2 * number))).collect::<Vec<_>>()).unwrap();
    store.likeness = Likeness::Indexed(Box::new(half), 0);
    let nearest = |store: &mut Sqlite, id| store.nearest(&direction(id), 1, None).unwrap()[0].0;
    assert_eq!(nearest(&mut store, 8), 8);
    assert_ne!(nearest(&mut store, 7), 7);
    // A question about a few compares each of them.
    assert_eq!(store.nearest(&direction(1_200), 1, Some("hut")).unwrap()[0].0, 1_200);
}

#[test]
fn few_need_no_index() {
    let folder = TempDir::new().unwrap();
    let mut store = open(&folder);
    store.set_space("s", LENGTH).unwrap();
    put(&mut store, 1..=500);
    assert_eq!(store.index(100).unwrap(), 0);
    assert_eq!(recall(&mut store, None), 1.0);
    assert!(is_indexed(&store).is_none() && !store.index_file().unwrap().exists());
}

#[test]
fn a_new_process_reads_the_index_and_makes_a_broken_one_anew() {
    let folder = TempDir::new().unwrap();
    let index = indexed(&folder).index_file().unwrap();
    let begun = || {
        let mut store = open(&folder);
        assert!(recall(&mut store, None) > 0.97);
        is_indexed(&store)
    };
    assert_eq!(begun(), Some(MANY as usize));
    let whole = std::fs::read(&index).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut other = whole.clone();
    other[9] ^= 1;
    for broken in [&whole[..whole.len() - 1], &whole[..20], &[], &flipped, &other, &vec![7; 5_000]] {
        std::fs::write(&index, broken).unwrap();
        assert_eq!(begun(), Some(0), "{} bytes", broken.len());
    }
    let mut store = open(&folder);
    while store.index(2_000).unwrap() > 0 {}
    drop(store);
    assert_eq!(begun(), Some(MANY as usize));
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(begun(), Some(0), "what cannot be written costs the index");
    let mut store = open(&folder);
    assert_eq!(store.index(5_000).unwrap(), 0);
    assert!(recall(&mut store, None) > 0.97);
}

/// A copy from before a part was written, in place of the store: numbers of vectors are given again.
#[test]
fn an_index_of_another_state_is_not_believed() {
    let folder = TempDir::new().unwrap();
    let mut store = indexed(&folder);
    let copy = folder.path().join("copy.db");
    store.run("VACUUM INTO ?", &[&copy.display().to_string()]).unwrap();
    put(&mut store, MANY + 1..=MANY + 3_000);
    store.index(5_000).unwrap();
    drop(store);
    std::fs::remove_file(file(&folder)).unwrap();
    std::fs::rename(copy, file(&folder)).unwrap();
    let mut store = open(&folder);
    put(&mut store, MANY + 5_001..=MANY + 9_000);
    while store.index(5_000).unwrap() > 0 {}
    assert_eq!(is_indexed(&store), Some(2 * MANY as usize));
    assert!(recall(&mut store, None) > 0.97);
}

#[test]
fn what_is_forgotten_is_in_no_index() {
    let folder = TempDir::new().unwrap();
    let mut store = indexed(&folder);
    let mut other = open(&folder);
    assert!(store.index_file().unwrap().exists() && recall(&mut other, None) > 0.97);
    store.begin("hut").unwrap();
    store.forget(&Forget::Building("hut".to_owned())).unwrap();
    store.commit().unwrap();
    assert!(!store.index_file().unwrap().exists());
    let found = store.nearest(&direction(400), 1, None).unwrap();
    assert!(found.iter().all(|(id, _)| *id != 400), "{found:?}");
    // Another process that had it in its index has it no more.
    put(&mut other, MANY + 1..=MANY + 2_000);
    while other.index(1_000).unwrap() > 0 {}
    assert_eq!(is_indexed(&other), Some(2_000), "what no view shows was forgotten with it");
}

#[test]
fn things_that_are_alike_share_a_vector() {
    let folder = TempDir::new().unwrap();
    let mut store = open(&folder);
    store.set_space("s", LENGTH).unwrap();
    let vectors = |store: &Sqlite| store.number("SELECT count(*) FROM vectors", []).unwrap();
    store.begin("home").unwrap();
    for id in 1..=9 {
        store.put_thing(&thing(id, "home", direction(id % 3))).unwrap();
    }
    store.commit().unwrap();
    assert_eq!(vectors(&store), 3);
    let found = store.nearest(&direction(1), 4, None).unwrap();
    assert_eq!(found.iter().take(3).map(|(id, _)| *id).collect::<Vec<_>>(), [1, 4, 7]);
    store.begin("home").unwrap();
    for id in [1, 4, 7] {
        store.put_thing(&thing(id, "home", direction(2))).unwrap();
    }
    store.commit().unwrap();
    assert_eq!(vectors(&store), 2, "nothing needs the third one");
}

#[test]
fn tables_of_the_first_version_are_brought_up_to_date() {
    let folder = TempDir::new().unwrap();
    let old = rusqlite::Connection::open(file(&folder)).unwrap();
    super::super::tables::first_version(&old).unwrap();
    let (one, two) = (thing(3, "home", direction(3)), thing(4, "home", direction(4)));
    for thing in [&one, &two] {
        let values = rusqlite::params![
            thing.id,
            thing.building,
            serde_json::to_string(thing).unwrap(),
            super::super::bytes(&thing.features)
        ];
        old.execute("INSERT INTO things VALUES (?, ?, 0, 0, ?, ?)", values).unwrap();
    }
    drop(old);
    for _ in 0..2 {
        let mut store = open(&folder);
        assert_eq!(store.things_of("home").unwrap(), [one.clone(), two.clone()]);
        assert_eq!(store.nearest(&direction(4), 1, Some("home")).unwrap()[0].0, 4);
    }
    let version = |path: &Path| {
        let database = rusqlite::Connection::open(path).unwrap();
        database.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(version(&file(&folder)), crate::store::FILE_SCHEMA);
}
