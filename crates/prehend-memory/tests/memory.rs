//! What a memory makes of looks, questions and outcomes.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_agent::language::Lexicon as Language;
use prehend_memory::areas::Told;
use prehend_memory::ask::Asker;
use prehend_memory::learn::{belief, score};
use prehend_memory::memory::Proposed;
use prehend_memory::propose::{Body, Proposer};
use prehend_memory::record::{Episode, Place, Seen};
use prehend_memory::store::{EpisodeFilter, Forget, Sqlite};
use prehend_memory::{
    Action, Answer, Described, Look, Memory, MemoryError, Outcome, Request, Settings, WordEncoder,
};
use prehend_perception::{AreaQuestion, Lexicon, Summary};
use prehend_scene::ActionTable;
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

const DAY: f64 = 86_400.0;

fn names() -> Lexicon {
    let text = include_str!("../../../config/language/synonyms.yaml");
    Lexicon::parse("synonyms.yaml", text).unwrap_or_else(|findings| panic!("{findings}"))
}

fn language() -> Language {
    let mut language = Language::built_in();
    language.tables_are_things = true;
    language
}

fn memory() -> Memory {
    let store = Box::new(Sqlite::in_memory().expect("a store"));
    let encoder = Box::new(WordEncoder::new(names()));
    Memory::new(store, encoder, names(), language().rooms).expect("a memory")
}

fn seen(name: &str, color: &str, center: [f64; 3], size: [f64; 3]) -> Seen {
    Seen {
        name: name.to_owned(),
        score: 0.9,
        colors: vec![(color.to_owned(), 0.9)],
        place: Place { center, size, yaw: 0.0 },
        share: 0.02,
        parts: Vec::new(),
        actions: Vec::new(),
        key: None,
        description: String::new(),
    }
}

fn mug(color: &str, x: f64, y: f64) -> Seen {
    seen("mug", color, [x, y, 0.77], [0.08, 0.08, 0.1])
}

/// A look from 1.5 m before a place, along +x.
fn look(at: [f64; 2], taken: f64, shown: Vec<Seen>, memory: &Memory) -> Look {
    let optical = UnitQuaternion::from_euler_angles(-FRAC_PI_2, 0.0, -FRAC_PI_2);
    let mut look = Look {
        building: "home".to_owned(),
        robot: "one".to_owned(),
        taken,
        building_from_camera: Isometry3::from_parts(Translation3::new(at[0] - 1.5, at[1], 1.0), optical),
        half_field: 0.6,
        picture: None,
        caption: String::new(),
        present: Default::default(),
        seen: shown,
    };
    Proposer::new(Body::default(), ActionTable::built_in()).propose(&mut look.seen, memory.nouns());
    look
}

/// A kitchen at the origin with a red and a blue mug, an office 8 m away with a red one.
fn furnished() -> Memory {
    let mut memory = memory();
    let counter = || seen("counter", "white", [0.2, 0.0, 0.36], [0.6, 1.6, 0.72]);
    let sink = || seen("sink", "white", [0.2, 1.5, 0.36], [0.6, 0.6, 0.72]);
    let desk = || seen("desk", "brown", [8.2, 0.0, 0.36], [0.7, 1.4, 0.72]);
    let chair = || seen("office chair", "blue", [8.2, 1.4, 0.4], [0.5, 0.5, 0.8]);
    for view in 0..3 {
        let time = f64::from(view);
        let shown = vec![counter(), sink(), mug("red", 0.2, 0.5), mug("blue", 0.2, -0.4)];
        let kitchen = look([0.2, 0.1 * time], time, shown, &memory);
        memory.observe(&kitchen).expect("kept");
        let shown = vec![desk(), chair(), mug("red", 8.2, 0.3)];
        let office = look([8.2, 0.1 * time], time, shown, &memory);
        memory.observe(&office).expect("kept");
    }
    memory
}

fn ask(memory: &mut Memory, text: &str, now: f64) -> Vec<Answer> {
    let asker = Asker { building: None, robot: "one".to_owned(), now, action: None, k: 3 };
    let asked = memory.ask(text, &language(), &asker, &Settings::default()).expect("an answer");
    asked.into_iter().map(|asked| asked.answer).collect()
}

/// Where the best thing of the first answer is.
fn first(memory: &mut Memory, text: &str) -> [f64; 3] {
    ask(memory, text, 10.0)[0].things.first().unwrap_or_else(|| panic!("{text}")).thing.place.center
}

/// A red mug is taken; `key` is of it, or of what the base stands at.
fn picked_red_mug(key: &str) -> Episode {
    Episode {
        building: "home".to_owned(),
        robot: "one".to_owned(),
        at: 5.0,
        goal: String::new(),
        action: Action::Pick,
        object: "red mug".to_owned(),
        key: key.to_owned(),
        target: String::new(),
        done: true,
        reason: String::new(),
    }
}

#[test]
fn a_thing_is_the_same_in_the_next_session_and_after_its_map_began_anew() {
    let mut memory = memory();
    let keyed = |key: &str, seen: Seen| Seen { key: Some(key.to_owned()), ..seen };
    let present = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let mut first = look([2.0, 1.0], 10.0, vec![keyed("1/mug_0", mug("red", 2.0, 1.0))], &memory);
    first.present = present(&["1/mug_0"]);
    let red = memory.observe(&first).expect("kept").new[0];
    // Two keys of one map are two things, however near they are.
    let mut beside = look([2.0, 1.0], 20.0, vec![keyed("1/mug_1", mug("red", 2.02, 1.07))], &memory);
    beside.present = present(&["1/mug_0", "1/mug_1"]);
    let other = memory.observe(&beside).expect("kept").new[0];
    // The next session has keys of its own, and so has a map that began anew.
    for (taken, key) in [(500.0, "2/mug_0"), (600.0, "2/mug_7")] {
        let shown = vec![keyed(key, mug("red", 2.0, 0.98))];
        let later = Look { present: present(&[key]), ..look([2.0, 1.0], taken, shown, &memory) };
        let noted = memory.observe(&later).expect("kept");
        assert_eq!((noted.known, noted.new), (vec![red], vec![]), "{key}, not {other}");
    }
}

#[test]
fn views_of_one_thing_are_one_thing_and_rooms_tell_what_is_meant() {
    let mut memory = furnished();
    let counts = memory.counts().expect("counts");
    assert_eq!((counts.views, counts.things, counts.sightings), (6, 7, 21));
    assert_eq!(first(&mut memory, "the red mug in the kitchen"), [0.2, 0.5, 0.77]);
    assert_eq!(first(&mut memory, "the red mug in the office"), [8.2, 0.3, 0.77]);
    assert_eq!(first(&mut memory, "the blue cup"), [0.2, -0.4, 0.77], "a cup is a mug");
    assert_eq!(first(&mut memory, "the mug near the sink"), [0.2, 0.5, 0.77]);
    assert_eq!(first(&mut memory, "the mug on the desk"), [8.2, 0.3, 0.77]);
    let answers = ask(&mut memory, "bring the mug on the desk to the counter", 10.0);
    let found: Vec<&str> = answers.iter().map(|answer| answer.things[0].thing.name()).collect();
    assert_eq!(found, ["mug", "counter"]);
    let best = &answers[0].things[0];
    assert_eq!((best.views.len(), best.room.as_deref()), (3, Some("office")));
    assert!(best.why.contains("on the brown desk"), "{}", best.why);
    assert_eq!(answers[0].views.iter().take(3).filter(|(view, _)| best.views.contains(view)).count(), 3);
}

#[test]
fn what_failed_here_is_taken_last_and_by_whom_it_failed_counts() {
    let mut memory = furnished();
    let before = ask(&mut memory, "pick up the red mug", 10.0).remove(0);
    let thing = before.things[0].thing.clone();
    let other = before.things[1].thing.clone();
    let episode = |robot: &str, done: bool| Episode {
        building: "home".to_owned(),
        robot: robot.to_owned(),
        at: 20.0,
        goal: String::new(),
        action: Action::Pick,
        object: "red mug".to_owned(),
        key: String::new(),
        target: String::new(),
        done,
        reason: String::new(),
    };
    for _ in 0..3 {
        let outcome = Outcome {
            episode: episode("one", false),
            thing: None,
            place: Some(thing.place.center),
            onto: None,
        };
        assert_eq!(memory.learn(&outcome).expect("learned"), Some(thing.id), "by name and place");
    }
    let after = ask(&mut memory, "pick up the red mug", 30.0).remove(0);
    assert_eq!(after.things[0].thing.id, other.id);
    let failed = memory.store().things(&[thing.id]).expect("there").remove(0);
    assert!(score(&failed, Action::Pick, "one") < score(&failed, Action::Pick, "two"));
    assert!(score(&failed, Action::Pick, "two") < score(&thing, Action::Pick, "two"));
    let episodes =
        memory.episodes(&EpisodeFilter { most: 10, ..EpisodeFilter::default() }).expect("episodes");
    assert_eq!(episodes.len(), 3);
    memory.forget(&Forget::Robot("one".to_owned())).expect("forgotten");
    assert_eq!(memory.counts().expect("counts").things, 0, "what only this robot saw");
}

#[test]
fn what_was_carried_is_remembered_where_it_was_put() {
    let mut memory = memory();
    let with_key = |mut seen: Seen, key: &str| {
        seen.key = Some(key.to_owned());
        seen
    };
    let counter = with_key(seen("counter", "white", [0.2, 0.0, 0.36], [0.6, 1.6, 0.72]), "1/counter");
    let cup = with_key(mug("red", 0.2, 0.5), "1/mug");
    let desk = with_key(seen("desk", "brown", [8.2, 0.0, 0.36], [0.7, 1.4, 0.72]), "1/desk");
    let kitchen = look([0.2, 0.0], 0.0, vec![counter, cup], &memory);
    let office = look([8.2, 0.0], 1.0, vec![desk], &memory);
    let thing = memory.observe(&kitchen).expect("kept").new[1];
    memory.observe(&office).expect("kept");
    let mut episode = picked_red_mug("1/mug");
    let picked = Outcome { episode: episode.clone(), thing: None, place: None, onto: None };
    assert_eq!(memory.learn(&picked).expect("learned"), Some(thing));
    assert!(memory.store().things(&[thing]).expect("there")[0].missed.is_some(), "it is in the hand");
    (episode.action, episode.at) = (Action::Place, 9.0);
    let put = Outcome { episode, thing: None, place: None, onto: Some("1/desk".to_owned()) };
    assert_eq!(memory.learn(&put).expect("learned"), Some(thing));
    let found = ask(&mut memory, "the red mug", 10.0).remove(0).things.remove(0);
    assert_eq!((found.thing.id, found.on.as_deref()), (thing, Some("brown desk")));
    assert!(found.thing.missed.is_none() && (found.thing.last_seen - 9.0).abs() < 1e-9);
    let episodes = memory.episodes(&EpisodeFilter { most: 1, ..EpisodeFilter::default() }).expect("episodes");
    assert_eq!((episodes[0].action, episodes[0].target.as_str()), (Action::Place, "brown desk"));
}

#[test]
fn of_several_readings_that_one_counts_whose_things_are_remembered() {
    let mut memory = furnished();
    let mut ask = |text: &str| -> Vec<String> {
        let asker = Asker { now: 10.0, k: 3, ..Asker::default() };
        let asked = memory.ask(text, &language(), &asker, &Settings::default()).expect("an answer");
        asked.into_iter().map(|asked| asked.what.words).collect()
    };
    // The mug by the sink goes to the desk; and there is no sink on a counter, so it is the counter that it is put on.
    assert_eq!(
        ask("put the mug near the sink on the counter on the desk in the office"),
        ["the mug near the sink on the counter", "the desk in the office"]
    );
    assert_eq!(
        ask("put the mug on the desk near the office chair on the counter in the kitchen"),
        ["the mug on the desk near the office chair", "the counter in the kitchen"]
    );
}

#[test]
fn how_the_parts_of_a_thing_move_is_kept_with_it() {
    let mut memory = memory();
    let mut desk = seen("desk", "brown", [8.2, 0.0, 0.36], [0.7, 1.4, 0.72]);
    desk.key = Some("1/desk".to_owned());
    let office = look([8.2, 0.0], 1.0, vec![desk], &memory);
    let id = memory.observe(&office).expect("kept").new[0];
    let mut keep = |key: &str, name: &str, urdf: &str| {
        memory.keep_model(("home", "one"), (key, name), urdf).expect("an answer")
    };
    // Another key, another name: another thing.
    assert_eq!(keep("1/chair", "desk", "<robot/>"), None);
    assert_eq!(keep("1/desk", "mug", "<robot/>"), None);
    assert_eq!(keep("1/desk", "desk", "<robot/>"), Some(id));
    assert_eq!(keep("1/desk", "brown desk", "<robot name='2'/>"), Some(id));
    let thing = memory.store().things(&[id]).expect("there").remove(0);
    assert_eq!(thing.model, "<robot name='2'/>");
    assert!(memory.keep_model(("", "one"), ("1/desk", "desk"), "<robot/>").is_err());
}

#[test]
fn who_drives_to_a_table_and_takes_a_mug_has_not_taken_the_table() {
    let mut memory = memory();
    let mut desk = seen("desk", "brown", [8.2, 0.0, 0.36], [0.7, 1.4, 0.72]);
    desk.key = Some("1/desk".to_owned());
    let office = look([8.2, 0.0], 1.0, vec![desk], &memory);
    let desk = memory.observe(&office).expect("kept").new[0];
    let episode = picked_red_mug("1/desk");
    let outcome = Outcome { episode, thing: None, place: None, onto: None };
    assert_eq!(memory.learn(&outcome).expect("kept as an episode"), None);
    let desk = memory.store().things(&[desk]).expect("there").remove(0);
    assert!(desk.tried.is_empty() && desk.missed.is_none());
    assert_eq!(memory.counts().expect("counts").episodes, 1);
}

#[test]
fn time_and_looks_that_miss_a_thing_lower_the_belief_in_it() {
    let mut memory = furnished();
    let thing = ask(&mut memory, "the blue mug", 10.0)[0].things[0].thing.clone();
    assert!(belief(&thing, 10.0) > 0.99 && belief(&thing, 3.0 * DAY) < 0.51);
    let counter = seen("counter", "white", [0.2, 0.0, 0.36], [0.6, 1.6, 0.72]);
    let later = look([0.2, 0.0], DAY, vec![counter, mug("red", 0.2, 0.5)], &memory);
    let noted = memory.observe(&later).expect("kept");
    assert_eq!(noted.missed, [thing.id]);
    let missed = memory.store().things(&[thing.id]).expect("there").remove(0);
    assert!(belief(&missed, DAY) < 0.2);
    // It is seen again.
    let again = look([0.2, 0.0], 2.0 * DAY, vec![mug("blue", 0.2, -0.4)], &memory);
    assert_eq!(memory.observe(&again).expect("kept").known, [thing.id]);
    let found = memory.store().things(&[thing.id]).expect("there").remove(0);
    assert!(belief(&found, 2.0 * DAY) > 0.99);
}

#[test]
fn what_is_no_look_is_refused_and_nothing_of_it_is_kept() {
    let mut memory = furnished();
    let before = memory.counts().expect("counts");
    let good = look([0.2, 0.0], 5.0, vec![mug("green", 0.4, 0.0)], &memory);
    let broken: [fn(&mut Look); 7] = [
        |look| look.taken = f64::NAN,
        |look| look.building.clear(),
        |look| look.seen[0].place.center[1] = f64::INFINITY,
        |look| look.seen[0].place.size[0] = -1.0,
        |look| look.seen[0].colors[0].1 = 2.0,
        |look| look.half_field = f64::NAN,
        |look| look.building_from_camera.translation.vector = Vector3::new(0.0, f64::NAN, 0.0),
    ];
    for (case, spoil) in broken.iter().enumerate() {
        let mut look = good.clone();
        spoil(&mut look);
        assert!(matches!(memory.observe(&look), Err(MemoryError::Bad { .. })), "case {case}");
    }
    assert_eq!(memory.counts().expect("counts"), before);
    let asker = Asker { k: 3, ..Asker::default() };
    assert!(matches!(
        memory.ask("  ", &language(), &asker, &Settings::default()),
        Err(MemoryError::Bad { .. })
    ));
}

#[test]
fn an_empty_memory_and_strange_words_find_nothing_and_break_nothing() {
    let mut empty = memory();
    assert!(ask(&mut empty, "the red mug", 0.0)[0].things.is_empty());
    let mut memory = furnished();
    for text in ["???", "the the the", "xyzzy", "bring me", "\u{1F600} mug", "a".repeat(400).as_str()] {
        for answer in ask(&mut memory, text, 1.0) {
            assert!(answer.things.iter().all(|found| found.fits.is_finite()), "{text}");
        }
    }
}

#[test]
fn a_look_without_things_and_a_building_of_one_view_are_summarised() {
    let mut memory = memory();
    let empty = look([0.0, 0.0], 0.0, Vec::new(), &memory);
    memory.observe(&empty).expect("kept");
    memory.summarise("home").expect("summarised");
    memory.summarise("nowhere").expect("an empty building");
    assert_eq!(memory.counts().expect("counts").views, 1);
    assert!(ask(&mut memory, "the mug", 1.0)[0].things.is_empty());
}

/// Asks about every area until a model has said or passed everything. The lists that were asked about, in their order.
fn tell(
    memory: &mut Memory,
    says: impl Fn(&AreaQuestion) -> Option<(&'static str, &'static str)>,
) -> Vec<String> {
    let (mut asked, mut passed) = (Vec::new(), BTreeSet::new());
    loop {
        let questions = memory.untold("home", &passed, 2).expect("questions");
        if questions.is_empty() {
            return asked;
        }
        let mut told = Told::new();
        for question in questions {
            asked.push(format!("{} {}", question.kind.name(), question.things));
            assert!(asked.len() < 50, "what was told is asked again: {asked:?}");
            match says(&question) {
                Some((text, room)) => {
                    let room = (!room.is_empty()).then(|| room.to_owned());
                    told.insert(question.things, Summary { text: text.to_owned(), room });
                }
                None => drop(passed.insert(question.things)),
            }
        }
        memory.tell("home", told).expect("told");
    }
}

/// Views that are found by words alone, down one branch of the levels.
fn traversed(memory: &mut Memory, words: &str) -> BTreeSet<i64> {
    let what = Described { words: words.to_owned(), ..Described::default() };
    let settings = Settings { beams: 1, reranks: false, ..Settings::default() };
    let answer = memory.recall(&Request { what, k: 3, ..Request::default() }, &settings).expect("an answer");
    answer.views.into_iter().map(|(view, _)| view).collect()
}

#[test]
fn what_a_model_proposes_changes_which_of_two_things_is_taken() {
    let mut memory = furnished();
    let before = ask(&mut memory, "pick up the red mug", 10.0).remove(0);
    let (best, other) = (before.things[0].clone(), before.things[1].clone());
    let propose = |memory: &mut Memory, action: Action, score: f64| -> usize {
        let said =
            [Proposed { thing: best.thing.id, action, score }, Proposed { thing: 99_999, action, score }];
        best.views.iter().map(|view| memory.propose("home", *view, &said).expect("combined")).sum()
    };
    // What the rule does not propose, the model cannot add; what shows no view, and what is not there, stays.
    assert_eq!(propose(&mut memory, Action::Open, 1.0), 0);
    assert_eq!(
        memory
            .propose(
                "home",
                other.views[0],
                &[Proposed { thing: best.thing.id, action: Action::Pick, score: 0.1 }]
            )
            .expect("nothing"),
        0
    );
    assert_eq!(ask(&mut memory, "pick up the red mug", 10.0)[0].things[0].thing, best.thing);
    // It stands full to the rim in every view.
    assert_eq!(propose(&mut memory, Action::Pick, 0.02), 3, "one for each of its views");
    let after = ask(&mut memory, "pick up the red mug", 10.0).remove(0);
    assert_eq!(after.things[0].thing.id, other.thing.id);
    let changed = memory.store().things(&[best.thing.id]).expect("there").remove(0);
    let expected = (0.02 * best.thing.proposed[&Action::Pick]).sqrt();
    assert!((changed.proposed[&Action::Pick] - expected).abs() < 1e-6, "{:?}", changed.proposed);
    let sightings = memory.store().sightings_of(best.thing.id).expect("there");
    assert_eq!(sightings.len(), 3, "they are changed, not added");
    // Another sighting goes into the mean with them.
    let again = look(
        [best.thing.place.center[0], 0.3],
        20.0,
        vec![mug("red", best.thing.place.center[0], best.thing.place.center[1])],
        &memory,
    );
    assert_eq!(memory.observe(&again).expect("kept").things, [best.thing.id]);
    let seen = memory.store().things(&[best.thing.id]).expect("there").remove(0);
    assert!(seen.proposed[&Action::Pick] > expected + 0.05 && seen.count == 4);
}

#[test]
fn what_the_rule_says_cannot_be_stays_so_whatever_a_model_says() {
    let mut memory = memory();
    let high = seen("mug", "red", [0.2, 0.0, 1.9], [0.08, 0.08, 0.1]);
    let shelf = look([0.2, 0.0], 0.0, vec![high], &memory);
    let noted = memory.observe(&shelf).expect("kept");
    let said = [Proposed { thing: noted.things[0], action: Action::Pick, score: 1.0 }];
    assert_eq!(memory.propose("home", noted.view, &said).expect("combined"), 1);
    let thing = memory.store().things(&noted.things).expect("there").remove(0);
    assert_eq!(thing.proposed[&Action::Pick].to_bits(), 0.0_f64.to_bits());
}

#[test]
fn the_sentences_of_a_model_are_what_is_found_and_the_rule_stands_in_for_them() {
    let guests = "Where guests wait for an espresso.";
    let mut found = Vec::new();
    for told in ["sink", "desk"] {
        let mut memory = furnished();
        memory.summarise("home").expect("summarised");
        let levels = memory.store().areas_of("home").expect("areas").len();
        let asked = tell(&mut memory, |question| question.things.contains(told).then_some((guests, "")));
        assert!(
            asked[0].starts_with("zone ") && asked.iter().any(|asked| asked.starts_with("building ")),
            "{asked:?}"
        );
        let areas = memory.store().areas_of("home").expect("areas");
        assert_eq!(areas.len(), levels, "the levels are the same");
        for area in &areas {
            let rule = area.rule.as_deref().unwrap_or(&area.summary);
            assert_eq!(area.summary == guests, rule.contains(told), "{area:?}");
        }
        let views = traversed(&mut memory, "guests waiting for espresso");
        assert_eq!(views.len(), 3, "those of one room");
        found.push(views);
        assert_eq!(
            first(&mut memory, "the red mug in the office"),
            [8.2, 0.3, 0.77],
            "the rule's kind of room"
        );
    }
    assert!(found[0].is_disjoint(&found[1]), "{found:?}");
    // A kind of room that no furniture tells is the model's.
    let mut memory = furnished();
    memory.summarise("home").expect("summarised");
    tell(&mut memory, |question| question.things.contains("desk").then_some(("A den.", "bedroom")));
    assert_eq!(first(&mut memory, "the red mug in the bedroom"), [8.2, 0.3, 0.77]);
}

#[test]
fn only_what_changed_is_asked_again() {
    let says = |question: &AreaQuestion| {
        assert!(!question.texts.is_empty() && question.rooms.iter().any(|room| room == "kitchen"));
        Some(("A place.", ""))
    };
    let mut memory = furnished();
    memory.summarise("home").expect("summarised");
    let all = tell(&mut memory, says);
    assert!(all.len() >= 3, "{all:?}");
    memory.summarise("home").expect("summarised");
    assert_eq!(tell(&mut memory, says), [""; 0], "nothing changed");
    // The same again: more views, and nothing else.
    let shown = vec![seen("desk", "brown", [8.2, 0.0, 0.36], [0.7, 1.4, 0.72])];
    let again = look([8.2, 0.0], 5.0, shown, &memory);
    memory.observe(&again).expect("kept");
    memory.summarise("home").expect("summarised");
    assert_eq!(tell(&mut memory, says), [""; 0], "nothing new is there");
    // A printer comes into the office: the kitchen is as it was.
    let shown = vec![seen("printer", "black", [8.2, -0.5, 0.9], [0.4, 0.4, 0.3])];
    let new = look([8.2, -0.2], 6.0, shown, &memory);
    memory.observe(&new).expect("kept");
    memory.summarise("home").expect("summarised");
    let asked = tell(&mut memory, says);
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.contains("printer")), "{asked:?}");
    // What is forgotten may stand in any sentence.
    let printer = ask(&mut memory, "the printer", 10.0)[0].things[0].thing.id;
    memory.forget(&Forget::Thing(printer)).expect("forgotten");
    let areas = memory.store().areas_of("home").expect("areas");
    assert!(areas.iter().all(|area| area.rule.is_none() && area.summary != "A place."), "{areas:?}");
    assert!(tell(&mut memory, says).len() >= all.len());
}
