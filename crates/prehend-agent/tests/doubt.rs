//! Doubt that a look could settle: what the agent looks at before it asks, refuses or answers.
//!
//! Contract: what only memory shows is looked at before a person is asked which one is meant, and before a question is answered from
//! it; so is what views name differently, and what shows too little of its front. What was seen is not looked at again, a look that
//! fails changes nothing, and what no look settles is asked.

mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::{Agent, Outcome, Report, Settings};
use prehend_scene::{Object, Reason};
use scripted::{Scripted, thing};

const BALL: [f64; 3] = [0.05, 0.05, 0.05];
const PLATE: [f64; 3] = [0.2, 0.2, 0.02];

fn run(text: &str, world: &mut Scripted) -> Report {
    let agent = Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().expect("the built-in policy is valid"),
        settings: Settings::default(),
    };
    let readings = agent.understand(text).expect("understood");
    agent.run(&readings, world, None)
}

/// A green ball that was put aside while nobody looked: the map has it twice.
fn moved_ball() -> Scripted {
    let mut world = Scripted::new(vec![
        thing("ball_0", "ball", "green", 0.35, 0.50, BALL),
        thing("ball_1", "ball", "green", 0.45, -0.10, BALL),
        thing("plate_0", "plate", "white", 0.40, 0.15, PLATE),
    ]);
    world.out_of_view = vec!["ball_0".into()];
    world
}

fn without(world: &Scripted, key: &str) -> Vec<Object> {
    world.map.objects.iter().filter(|object| object.key.0 != key).cloned().collect()
}

#[test]
fn a_remembered_twin_that_is_gone_is_not_asked_about() {
    let mut world = moved_ball();
    world.shown_by_look = vec![("ball_0".into(), without(&world, "ball_0"))];
    let report = run("put the green ball on the plate", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["look ball_0", "grasp ball_1", "place ball_1 on plate_0"]);
}

#[test]
fn a_remembered_twin_that_is_there_is_asked_about_after_one_look_each_time() {
    let mut world = moved_ball();
    for time in 1..=2 {
        let report = run("put the green ball on the plate", &mut world);
        assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Ambiguous)));
        assert!(report.message.contains("2 green balls"), "{}", report.message);
        // The same question is not asked twice without a look between.
        let looks = world.skills.iter().filter(|skill| *skill == "look ball_0").count();
        assert_eq!(looks, time, "{:?}", world.skills);
        assert_eq!(world.skills.len(), 2 * time, "and home again: {:?}", world.skills);
    }
}

#[test]
fn what_was_seen_is_asked_about_without_a_look() {
    let mut world = moved_ball();
    world.out_of_view.clear();
    let report = run("put the green ball on the plate", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Ambiguous)));
    assert!(world.skills.is_empty(), "{:?}", world.skills);
}

#[test]
fn what_is_no_candidate_is_not_looked_at() {
    let mut world = moved_ball();
    world.out_of_view = vec!["plate_0".into()];
    let report = run("put the green ball on the plate", &mut world);
    assert_eq!(report.reason, Some(Reason::Ambiguous));
    assert!(world.skills.is_empty(), "{:?}", world.skills);
}

#[test]
fn a_plan_of_actions_needs_no_look_before() {
    let mut world = moved_ball();
    world.map.objects = without(&world, "ball_1");
    let report = run("put the green ball on the plate", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["grasp ball_0", "place ball_0 on plate_0"]);
}

#[test]
fn an_answer_rests_on_no_memory_that_a_look_could_refute() {
    let mut world = moved_ball();
    world.shown_by_look = vec![("ball_0".into(), without(&world, "ball_0"))];
    let report = run("how many green balls are there?", &mut world);
    assert!(report.message.contains("There is 1 green ball"), "{}", report.message);
    assert_eq!(world.skills, ["look ball_0", "home"]);
    // Nothing is in doubt any more.
    let report = run("where is the green ball?", &mut world);
    assert_eq!(report.outcome, Outcome::Done);
    assert_eq!(world.skills.len(), 2, "{:?}", world.skills);
}

#[test]
fn a_look_that_fails_leaves_the_question_as_it_was() {
    let mut world = moved_ball();
    world.script = [Some((Reason::NoPlan, false))].into();
    let report = run("put the green ball on the plate", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Ambiguous)));
    assert_eq!(world.skills, ["look ball_0"]);
}

#[test]
fn a_thing_seen_wrongly_is_looked_at_from_elsewhere_before_it_is_asked_about() {
    let mut world = Scripted::new(vec![
        thing("banana_0", "banana", "yellow", 0.45, -0.10, BALL),
        thing("banana_1", "banana", "black", 0.35, 0.20, BALL),
        thing("plate_0", "plate", "white", 0.40, 0.45, PLATE),
    ]);
    // No frame from here tells; another view does.
    world.disputed = Some(("banana_1".into(), u32::MAX, "knife"));
    let mut shown = world.map.objects.clone();
    shown[1].class_name = "knife".to_owned();
    world.shown_by_look = vec![("banana_1".into(), shown)];
    let report = run("put the banana on the plate", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["look banana_1", "grasp banana_0", "place banana_0 on plate_0"]);
}

#[test]
fn without_any_name_no_look_is_worth_a_motion() {
    for (other, looks) in [("mug", true), ("", false)] {
        let mut world = Scripted::new(vec![
            thing("thing_0", "", "white", 0.45, -0.10, BALL),
            thing("thing_1", other, "white", 0.35, 0.20, BALL),
        ]);
        world.disputed = Some(("thing_0".into(), u32::MAX, ""));
        let report = run("put the plate on the thing", &mut world);
        assert_eq!(report.reason, Some(Reason::NotFound), "{}", report.message);
        assert_eq!(!world.skills.is_empty(), looks, "beside '{other}': {:?}", world.skills);
    }
}

#[test]
fn looks_have_a_budget() {
    let balls = (0..6).map(|n| {
        let key = format!("ball_{n}");
        thing(&key, "ball", "green", 0.45, 0.1 * f64::from(n) - 0.2, BALL)
    });
    let mut world = Scripted::new(balls.collect());
    world.out_of_view = world.map.objects.iter().map(|object| object.key.clone()).collect();
    let report = run("how many green balls are there?", &mut world);
    assert_eq!(report.outcome, Outcome::Done);
    let looks = world.skills.iter().filter(|skill| skill.starts_with("look")).count();
    assert_eq!(looks, 4, "{:?}", world.skills);
}

#[test]
fn when_all_that_bears_the_name_is_excluded_the_nearest_others_are_looked_at() {
    let mut world = Scripted::new(vec![
        thing("cup_0", "cup", "red", 0.35, 0.20, BALL),
        thing("mug_0", "mug", "blue", 0.45, -0.10, BALL),
        thing("plate_0", "plate", "white", 0.40, 0.05, PLATE),
    ]);
    // From elsewhere it is seen to be a mug.
    let mut named = world.map.objects.clone();
    named[0].class_name = "mug".to_owned();
    world.shown_by_look = vec![("cup_0".into(), named)];
    let report = run("put any mug except the blue one on the plate", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["look cup_0", "grasp cup_0", "place cup_0 on plate_0"]);
}
