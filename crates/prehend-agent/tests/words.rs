//! Words that nobody knows: looked up, judged, kept when the goal was done, unlearned when it failed; taught by a person.

mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::words::Origin;
use prehend_agent::{Agent, Outcome, Report, Settings};
use prehend_scene::Reason;
use scripted::{Scripted, ScriptedWords, thing};

fn table() -> Scripted {
    let mut world = Scripted::new(vec![
        thing("bottle_0", "wine bottle", "white", 0.45, 0.30, [0.07, 0.07, 0.12]),
        thing("plate_0", "plate", "white", 0.45, -0.10, [0.2, 0.2, 0.02]),
        thing("knife_0", "knife", "grey", 0.35, 0.10, [0.2, 0.02, 0.01]),
        thing("block_0", "block", "red", 0.30, -0.30, [0.04, 0.04, 0.04]),
    ]);
    world.words = Some(Box::default());
    world
}

fn words(world: &mut Scripted) -> &mut ScriptedWords {
    world.words.as_mut().expect("words")
}

fn run(text: &str, world: &mut Scripted) -> Report {
    let agent = Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().expect("the built-in policy is valid"),
        settings: Settings::default(),
    };
    let readings = agent.understand(text).expect("a reading");
    let held = world.held.clone();
    world.skills.clear();
    agent.run(&readings, world, held)
}

const GOAL: &str = "put the moutai on the plate";
const TWO: [(&str, &str); 2] = [("wikipedia.org", "bottle"), ("example.org", "wine bottle")];

#[test]
fn a_word_is_learned_used_kept_and_known_afterwards() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    let report = run(GOAL, &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["grasp bottle_0", "place bottle_0 on plate_0"]);
    assert!(
        report.message.contains("I took \"moutai\" for \"wine bottle\" (wikipedia.org and example.org)"),
        "{}",
        report.message
    );
    assert_eq!(words(&mut world).asked, [("moutai".to_owned(), 4)]);
    assert_eq!(words(&mut world).kept["moutai"].confirmed, 1);
    // Another day, without a network.
    let mut later = table();
    words(&mut later).kept = std::mem::take(&mut words(&mut world).kept);
    assert_eq!(run(GOAL, &mut later).outcome, Outcome::Done);
    assert!(words(&mut later).asked.is_empty());
    assert_eq!(words(&mut later).kept["moutai"].confirmed, 2);
}

#[test]
fn a_question_is_answered_and_confirms_nothing() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    let report = run("where is the white moutai?", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert!(world.skills.is_empty() && words(&mut world).kept.is_empty());
}

#[test]
fn a_liar_costs_a_refusal_and_no_motion() {
    for says in [
        vec![("liar.org", "knife")],
        vec![("liar.org", "knife"), ("example.org", "bottle")],
        vec![("liar.org", "knife"), ("liar.org", "knife"), ("example.org", "bottle")],
        vec![("liar.org", "knife"), ("wikipedia.org", "bottle"), ("example.org", "bottle")],
        vec![("wikipedia.org", "tray"), ("example.org", "tray")],
        Vec::new(),
    ] {
        let mut world = table();
        words(&mut world).says = says;
        let report = run(GOAL, &mut world);
        assert_eq!(
            (report.outcome, report.reason),
            (Outcome::Refused, Some(Reason::NotFound)),
            "{}",
            report.message
        );
        assert!(report.message.contains("I do not know the word \"moutai\""), "{}", report.message);
        assert!(world.skills.is_empty() && words(&mut world).kept.is_empty());
    }
}

#[test]
fn a_wrong_lesson_is_unlearned_after_its_first_failure() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    assert_eq!(run(GOAL, &mut world).outcome, Outcome::Done);
    // From now on nothing that is done with it succeeds.
    world.script = vec![Some((Reason::Slipped, false)); 20].into();
    let report = run("put the moutai next to the block", &mut world);
    assert_eq!(report.outcome, Outcome::Failed, "{}", report.message);
    assert!(report.message.contains("I unlearn that"), "{}", report.message);
    assert!(words(&mut world).kept.is_empty());
}

#[test]
fn what_the_robot_lacked_speaks_against_no_word() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    assert_eq!(run(GOAL, &mut world).outcome, Outcome::Done);
    world.script = vec![Some((Reason::ControlFailed, false)); 20].into();
    assert_eq!(run("put the moutai next to the block", &mut world).outcome, Outcome::Failed);
    assert_eq!(words(&mut world).kept.len(), 1);
}

/// A word that no table lists, of another colour than the thing that is called so.
#[test]
fn a_word_by_which_something_seen_is_called_is_known() {
    let mut world = table();
    world.map.objects.push(thing("gizmo_0", "push gizmo", "grey", 0.5, 0.1, [0.05, 0.05, 0.05]));
    words(&mut world).says = TWO.to_vec();
    let report = run("put the block next to the green gizmo", &mut world);
    assert_eq!(report.reason, Some(Reason::NotFound), "{}", report.message);
    assert!(!report.message.contains("I do not know the word"), "{}", report.message);
    assert!(report.message.contains("it is grey, not green"), "{}", report.message);
    assert!(words(&mut world).asked.is_empty());
}

#[test]
fn known_words_and_things_that_are_seen_are_not_looked_up() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    let report = run("put the banana on the plate", &mut world);
    assert_eq!(report.reason, Some(Reason::NotFound));
    assert_eq!(run("put the block on the plate", &mut world).outcome, Outcome::Done);
    assert!(words(&mut world).asked.is_empty());
}

#[test]
fn a_person_teaches_a_word() {
    for text in [
        "moutai means the white bottle",
        "by moutai I mean the bottle",
        "a moutai is a kind of bottle",
        "when I say moutai, I mean the bottle",
    ] {
        let mut world = table();
        let report = run(text, &mut world);
        assert_eq!(report.outcome, Outcome::Done, "{text}: {}", report.message);
        assert_eq!(words(&mut world).kept["moutai"].origin, Origin::Taught);
        assert!(world.skills.is_empty());
        let report = run(GOAL, &mut world);
        assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
        assert_eq!(world.skills, ["grasp bottle_0", "place bottle_0 on plate_0"]);
        // What a person taught stays, whatever fails.
        world.script = vec![Some((Reason::Slipped, false)); 20].into();
        assert_eq!(run("put the moutai next to the block", &mut world).outcome, Outcome::Failed);
        assert_eq!(words(&mut world).kept.len(), 1);
    }
}

#[test]
fn what_cannot_be_taught_is_refused() {
    for (text, says) in
        [("banana means the bottle", "I know \"banana\" already"), ("moutai means gizmo", "neither")]
    {
        let mut world = table();
        let report = run(text, &mut world);
        assert_eq!(report.reason, Some(Reason::Infeasible));
        assert!(report.message.contains(says), "{}", report.message);
        assert!(words(&mut world).kept.is_empty());
    }
    let mut world = table();
    words(&mut world).disk_full = true;
    let report = run("moutai means the bottle", &mut world);
    assert!(
        report.reason == Some(Reason::Infeasible) && report.message.contains("no space left"),
        "{}",
        report.message
    );
    words(&mut world).says = TWO.to_vec();
    let report = run(GOAL, &mut world);
    assert!(
        report.outcome == Outcome::Done && report.message.contains("cannot be kept"),
        "{}",
        report.message
    );
}

#[test]
fn what_one_frame_did_not_name_is_looked_at_again_before_its_word_is_taken_for_something_else() {
    let mut world = table();
    words(&mut world).says = TWO.to_vec();
    // The knife is a moutai, as a second look shows.
    world.disputed = Some(("knife_0".into(), 2, "moutai"));
    let report = run(GOAL, &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["grasp knife_0", "place knife_0 on plate_0"]);
    assert!(words(&mut world).asked.is_empty());
}
