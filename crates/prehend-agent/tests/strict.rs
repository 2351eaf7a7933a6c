//! A model that writes lists of subtasks (VLA2 III-A): extracted, asked again, parsed by the grammar after all; carried out one by one.

mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::talk::{End, Message, Model, ModelFault, Replay, Tool, Turn, Usage};
use prehend_agent::{Agent, Outcome, Planner, Report, Settings};
use prehend_scene::Reason;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use scripted::{Scripted, thing};
use std::collections::VecDeque;

/// Writes these texts, one a turn; the last one stays.
struct Writer {
    texts: VecDeque<String>,
    heard: Vec<Vec<Message>>,
}

impl Writer {
    fn new(texts: &[&str]) -> Self {
        Self { texts: texts.iter().map(|text| (*text).to_owned()).collect(), heard: Vec::new() }
    }

    /// What it was told last.
    fn told(&self) -> String {
        match self.heard.last().and_then(|messages| messages.last()) {
            Some(Message::User { text }) => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

fn turn(text: &str) -> Turn {
    let usage = Usage { tokens_in: 500, tokens_out: 40, seconds: 0.1 };
    Turn { text: text.to_owned(), calls: Vec::new(), end: End::Complete, usage }
}

impl Model for Writer {
    fn turn(&mut self, messages: &[Message], tools: &[Tool]) -> Result<Turn, ModelFault> {
        assert!(tools.is_empty());
        self.heard.push(messages.to_vec());
        let text = if self.texts.len() > 1 { self.texts.pop_front() } else { self.texts.front().cloned() };
        Ok(turn(&text.unwrap_or_default()))
    }

    fn writes_lists(&self) -> bool {
        true
    }
}

fn agent() -> Agent {
    Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().expect("the built-in policy is valid"),
        settings: Settings::default(),
    }
}

fn table() -> Scripted {
    Scripted::new(vec![
        thing("mug_0", "mug", "red", 0.45, 0.30, [0.08, 0.08, 0.09]),
        thing("bowl_0", "bowl", "white", 0.55, 0.0, [0.16, 0.16, 0.06]),
        thing("plate_0", "plate", "white", 0.30, 0.0, [0.2, 0.2, 0.02]),
        thing("apple_0", "apple", "red", 0.60, 0.20, [0.07, 0.07, 0.07]),
        thing("pear_0", "pear", "green", 0.35, 0.18, [0.06, 0.06, 0.09]),
    ])
}

fn run(text: &str, model: &mut dyn Model, world: &mut Scripted) -> Report {
    let agent = agent();
    let order = agent.order(text, Planner::Model, None).expect("an order");
    agent.carry(&order, Planner::Model, Some(model), world, None)
}

const BOTH: &str = "1. pick up the apple /(apple)/\n2. place the apple in the bowl /(apple, bowl)/\n\
3. pick up the pear /(pear)/\n4. place the pear on the plate /(pear, plate)/";
/// Not a sentence to the grammar.
const ODD: &str = "the apple belongs with the bowl and the pear with the plate, of course";
const SKILLS: [&str; 4] =
    ["grasp apple_0", "place apple_0 in bowl_0", "grasp pear_0", "place pear_0 on plate_0"];

#[test]
fn a_list_is_carried_out_one_by_one() {
    for sentence in [ODD, "put the apple in the bowl and the pear on the plate"] {
        let mut world = table();
        let mut model = Writer::new(&[BOTH]);
        let report = run(sentence, &mut model, &mut world);
        assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
        assert_eq!(world.skills, SKILLS);
        let talk = report.talk.expect("a conversation");
        assert_eq!((talk.turns.len(), talk.usage.tokens_in, &talk.warning), (1, 500, &None));
        // The same conversation, recorded, does the same.
        let mut again = table();
        let report = run(sentence, &mut Replay::new(talk.turns), &mut again);
        assert_eq!((report.outcome, again.skills), (Outcome::Done, world.skills));
    }
}

#[test]
fn a_text_that_cannot_be_used_is_asked_for_again_with_what_is_wrong() {
    let mut world = table();
    let mut model = Writer::new(&["I would put the apple away.", "1. pick up the apple", BOTH]);
    let report = run(ODD, &mut model, &mut world);
    assert_eq!((report.outcome, model.heard.len()), (Outcome::Done, 3), "{}", report.message);
    assert!(model.told().contains("no objects were found in /(here)/"), "{}", model.told());
}

#[test]
fn after_the_tolerance_the_grammar_parses_or_nothing_moves() {
    let mut world = table();
    let mut model = Writer::new(&["gibberish"]);
    let report = run("put the apple in the bowl and the pear on the plate", &mut model, &mut world);
    assert_eq!((report.outcome, model.heard.len()), (Outcome::Done, 3), "{}", report.message);
    assert_eq!(world.skills, SKILLS);

    let mut world = table();
    let report = run(ODD, &mut Writer::new(&["gibberish"]), &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Failed, Some(Reason::PeerLost)),
        "{}",
        report.message
    );
    assert!(world.skills.is_empty());
}

#[test]
fn a_list_that_does_otherwise_than_the_sentence_moves_nothing() {
    let wrong = "1. pick up the mug /(mug)/\n2. place the mug on the plate /(mug, plate)/";
    let mut world = table();
    let mut model = Writer::new(&[wrong]);
    let report = run("put the apple in the bowl", &mut model, &mut world);
    // The grammar understands: what it says is done.
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["grasp apple_0", "place apple_0 in bowl_0"]);
    assert!(model.told().contains("PAY MORE ATTENTION TO THE TASK"), "{}", model.told());
    let talk = report.talk.expect("a conversation");
    assert!(talk.messages.len() >= 6 && talk.warning.is_some(), "the grammar has decided");
}

#[test]
fn progress_survives_a_subtask_that_is_not_done() {
    let mut world = table();
    // The second grasp fails until its remedies are spent.
    world.script = VecDeque::from(vec![None, None]);
    world.script.extend(vec![Some((Reason::Slipped, false)); 4]);
    let rest = "1. pick up the mug /(mug)/\n2. place the mug on the plate /(mug, plate)/";
    let mut model = Writer::new(&[BOTH, rest]);
    let report = run(ODD, &mut model, &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}\n{:?}", report.message, world.skills);
    assert!(
        model.told().contains("\"not_done\":\"pick up the pear\"") && model.told().contains("slipped"),
        "{}",
        model.told()
    );
    assert!(model.told().contains("pick up the apple; place the apple in the bowl"), "{}", model.told());
    assert_eq!(world.skills.iter().filter(|skill| *skill == "place apple_0 in bowl_0").count(), 1);
    assert_eq!(world.skills.last().map(String::as_str), Some("place mug_0 on plate_0"));

    // A rest that never succeeds ends, and says what was done.
    let mut world = table();
    world.script = VecDeque::from(vec![None, None]);
    world.script.extend(vec![Some((Reason::Slipped, false)); 60]);
    let report = run(ODD, &mut Writer::new(&[BOTH, rest, rest]), &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::Slipped)));
    assert!(report.message.contains("the red apple is in the white bowl. Then:"), "{}", report.message);
}

#[test]
fn the_rest_of_a_list_is_held_against_the_sentence_too() {
    let sentence = "put the apple in the bowl and the pear on the plate";
    let failing = || {
        let mut world = table();
        world.script = VecDeque::from(vec![None, None]);
        world.script.extend(vec![Some((Reason::Slipped, false)); 4]);
        world
    };
    // The grammar knows that the pear is left.
    let mut world = failing();
    let other = "1. pick up the mug /(mug)/\n2. place the mug on the plate /(mug, plate)/";
    let mut model = Writer::new(&[BOTH, other]);
    let report = run(sentence, &mut model, &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Failed, Some(Reason::Slipped)),
        "{}",
        report.message
    );
    assert!(!world.skills.iter().any(|skill| skill.contains("mug")), "{:?}", world.skills);
    assert!(model.told().contains("PAY MORE ATTENTION TO THE TASK"), "{}", model.told());

    let mut world = failing();
    let rest = "1. pick up the pear /(pear)/\n2. place the pear on the plate /(pear, plate)/";
    let report = run(sentence, &mut Writer::new(&[BOTH, rest]), &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}\n{:?}", report.message, world.skills);
    assert_eq!(world.skills.last().map(String::as_str), Some("place pear_0 on plate_0"));
}

#[test]
fn it_may_ask_and_refuse_and_nothing_unsafe_is_done() {
    let report = run(ODD, &mut Writer::new(&["ASK: which apple?"]), &mut table());
    assert_eq!((report.reason, report.message.as_str()), (Some(Reason::Ambiguous), "which apple?"));
    assert_eq!(report.talk.and_then(|talk| talk.question).as_deref(), Some("which apple?"));
    let agent = agent();
    let mut model = Writer::new(&["ASK: which fruit?", BOTH]);
    let order = agent.order("put whichever thou lovest", Planner::Model, None).expect("an order");
    let mut world = table();
    let asked = agent.carry(&order, Planner::Model, Some(&mut model), &mut world, None);
    let answer = agent.order("both of them, prithee", Planner::Model, asked.talk).expect("the answer");
    let report = agent.carry(&answer, Planner::Model, Some(&mut model), &mut world, None);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert!(model.told().contains("both of them, prithee"), "{}", model.told());
    let report = run(ODD, &mut Writer::new(&["REFUSE: it is hot"]), &mut table());
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Infeasible)));
    let mut world = table();
    let report = run(ODD, &mut Writer::new(&["1. throw the mug at the person /(mug, person)/"]), &mut world);
    assert!(report.outcome != Outcome::Done && world.skills.is_empty(), "{}", report.message);
}

#[test]
fn mutated_lists_end_typed_and_claim_nothing_wrong() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut done, rounds) = (0, 400);
    for _ in 0..rounds {
        let mut text: Vec<char> = BOTH.chars().collect();
        for _ in 0..rng.random_range(0..6) {
            let at = rng.random_range(0..text.len());
            match rng.random_range(0..4) {
                0 => drop(text.remove(at)),
                1 => text
                    .insert(at, ['/', ')', '(', '1', '\n', 'x', '\u{0}', '\u{4e00}'][rng.random_range(0..8)]),
                2 => text.truncate(at + 1),
                _ => {
                    let tail = text.split_off(at);
                    text.splice(0..0, tail);
                }
            }
        }
        let text: String = text.into_iter().collect();
        let mut world = table();
        let report = run(
            "put the apple in the bowl and the pear on the plate",
            &mut Writer::new(&[&text]),
            &mut world,
        );
        if report.outcome == Outcome::Done {
            done += 1;
            let mut skills = world.skills.clone();
            skills.sort();
            let mut wanted = SKILLS.map(str::to_owned).to_vec();
            wanted.sort();
            assert_eq!(skills, wanted, "{text}");
        } else {
            assert!(report.reason.is_some() && !report.message.is_empty());
        }
    }
    assert_eq!(done, rounds, "the grammar understands the sentence whatever the model writes");
}
