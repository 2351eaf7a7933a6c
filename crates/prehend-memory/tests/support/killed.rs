//! A writer that is killed: what it was told is kept, is there, and nothing is half there.

use super::records::{Chance, look, memory, seen};
use super::{Kept, open};
use prehend_memory::record::Id;
use prehend_memory::{MemoryError, StoreError};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells the writer where to write.
const WHERE: &str = "PREHEND_TEST_WRITES_TO";
/// How often it is killed.
const TIMES: u64 = 10;
const PICTURE: usize = 5000;

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
    for round in 0..TIMES {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_it_is_killed", "--nocapture"])
            .env(WHERE, kept.address())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let said = |line: &str| line.strip_prefix("wrote ").map(|id| id.parse::<Id>().unwrap());
        let enough = told.len() + 1 + chance.below(8) as usize;
        while told.len() < enough {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("the writer of round {round} ended by itself"))
                .unwrap();
            told.extend(said(&line));
        }
        std::thread::sleep(Duration::from_micros(chance.below(30_000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        told.extend(lines.map_while(Result::ok).filter_map(|line| said(&line)));
        check(kept, &told);
    }
    assert!(told.len() >= TIMES as usize);
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
