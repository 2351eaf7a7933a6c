//! A writer that is killed: what it was told is kept, is there, and nothing is half there.

use super::records::{Chance, LENGTH, look, memory, seen, thing};
use super::{Kept, open};
use prehend_memory::record::Id;
use prehend_memory::{MemoryError, StoreError};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Tells the writer where to write.
const WHERE: &str = "PREHEND_TEST_WRITES_TO";
/// How often it is killed when `PREHEND_KILLS` does not say.
const TIMES: u64 = 10;
const PICTURE: usize = 5000;
/// Things that are written before they are indexed, and after how many there may be an index.
const BATCH: u64 = 300;
const INDEXED: u64 = 2_400;

fn times() -> u64 {
    std::env::var("PREHEND_KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(TIMES)
}

/// Starts a test of this program as the writer.
fn start(writer: &str, kept: &Kept) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", writer, "--nocapture"])
        .env(WHERE, kept.address())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn kill(mut writer: Child, chance: &mut Chance) {
    std::thread::sleep(Duration::from_micros(chance.below(30_000)));
    writer.kill().unwrap();
    writer.wait().unwrap();
}

fn said(line: &str) -> Option<Id> {
    line.strip_prefix("wrote ").map(|id| id.parse().unwrap())
}

/// The writer, in a process of its own: looks at things for ever, and says which views were taken.
pub(crate) fn write_for_ever() {
    let Ok(address) = std::env::var(WHERE) else { return };
    let mut memory = memory(open(&address).unwrap());
    let mut chance = Chance::new(u64::from(std::process::id()));
    let mut out = std::io::stdout();
    for number in 0_u64.. {
        let count = chance.below(5);
        let things = (0..count).map(|_| {
            let [x, y] = [chance.below(4), chance.below(4)].map(|value| value as f64);
            seen("mug", [x, y, 0.8])
        });
        let mut look = look("home", "r1", number as f64, things.collect());
        look.caption = count.to_string();
        look.picture = Some(vec![count as u8; PICTURE]);
        match memory.observe(&look) {
            Ok(noted) => writeln!(out, "\nwrote {}", noted.view).unwrap(),
            // The server may not have seen yet that the writer before this one is dead.
            Err(MemoryError::Store(StoreError::Busy { .. })) => {}
            Err(error) => panic!("{error}"),
        }
        if number % 4 == 3 {
            memory.summarise("home").unwrap();
        }
    }
}

/// Kills a writer again and again at a moment of chance.
pub(crate) fn nothing_is_lost(kept: &Kept) {
    let mut chance = Chance::new(u64::from(std::process::id()));
    let mut told = BTreeSet::new();
    let times = times();
    for round in 0..times {
        let (writer, mut lines) = start("writes_until_it_is_killed", kept);
        let enough = told.len() + 1 + chance.below(8) as usize;
        while told.len() < enough {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("the writer of round {round} ended by itself"))
                .unwrap();
            told.extend(said(&line));
        }
        kill(writer, &mut chance);
        told.extend(lines.map_while(Result::ok).filter_map(|line| said(&line)));
        check(kept, &told);
    }
    assert!(told.len() >= times as usize);
}

/// A writer that writes things and takes them into the index for ever, and says up to which.
pub(crate) fn index_for_ever() {
    let Ok(address) = std::env::var(WHERE) else { return };
    let mut store = open(&address).unwrap();
    store.set_space("s", LENGTH).unwrap();
    let mut out = std::io::stdout();
    loop {
        let first = store.counts().unwrap().things + 1;
        store.begin("home").unwrap();
        for id in first..first + BATCH {
            store.put_thing(&indexed(id)).unwrap();
        }
        store.commit().unwrap();
        store.index(BATCH as usize).unwrap();
        writeln!(out, "\nwrote {}", first + BATCH - 1).unwrap();
    }
}

/// A thing with a direction of its own.
fn indexed(id: u64) -> prehend_memory::Thing {
    let mut thing = thing(id as Id, "home", [0.0; 3]);
    thing.features = Chance::new(id).unit();
    thing
}

/// Kills a writer again and again; what it wrote is found by likeness, whatever became of the index.
pub(crate) fn the_index_is_whole(kept: &Kept) {
    let mut chance = Chance::new(u64::from(std::process::id()));
    for round in 0..times() {
        let (writer, mut lines) = start("indexes_until_it_is_killed", kept);
        let least = if round == 0 { INDEXED } else { 1 };
        let mut last = 0;
        while last < least {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("the writer of round {round} ended by itself"))
                .unwrap();
            last = said(&line).map_or(last, |id| id as u64);
        }
        kill(writer, &mut chance);
        let mut store = kept.open();
        let things = store.counts().unwrap().things;
        assert!(things >= last && things.is_multiple_of(BATCH), "{things} of {last}");
        for id in [1, things / 2, things - chance.below(BATCH), things] {
            let wanted = indexed(id).features;
            let found = store.nearest(&wanted, 1, None).unwrap();
            assert_eq!(found[0].0, id as Id, "round {round}: {found:?}");
        }
    }
}

/// What was told is there, and each view is whole.
fn check(kept: &Kept, told: &BTreeSet<Id>) {
    let mut store = kept.open();
    // Whoever still writes is waited for.
    while let Err(error) = store.begin("home") {
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    }
    let views = store.views_of("home").unwrap();
    let ids: BTreeSet<Id> = views.iter().map(|view| view.id).collect();
    let lost: Vec<_> = told.difference(&ids).collect();
    assert!(lost.is_empty(), "{lost:?} of {} views were told and are not there", told.len());
    let areas: BTreeSet<Id> = store.areas_of("home").unwrap().iter().map(|area| area.id).collect();
    let mut sightings = 0;
    for view in &views {
        let count: usize = view.text.parse().unwrap();
        let showing = store.shown_in(&[view.id]).unwrap();
        assert_eq!(showing.len(), count, "view {}", view.id);
        let things: BTreeSet<Id> = showing.iter().map(|showing| showing.thing).collect();
        assert_eq!(store.things(&things.iter().copied().collect::<Vec<_>>()).unwrap().len(), things.len());
        assert_eq!(store.picture(view.id).unwrap(), Some(vec![count as u8; PICTURE]));
        assert!(view.area.is_none_or(|area| areas.contains(&area)), "the zone of view {}", view.id);
        sightings += count as u64;
    }
    assert_eq!(store.counts().unwrap().sightings, sightings);
    let counted: u64 = store.things_of("home").unwrap().iter().map(|thing| u64::from(thing.count)).sum();
    assert_eq!(counted, sightings, "what things say of themselves");
    store.abandon();
}
