//! Things that stand too close to each other to be grasped.
//!
//! Contract: what is in the way is put aside by the robot if it may be, and the person is told so; else the person is told what is in
//! the way, and nothing was moved.

mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::{Agent, Outcome, Report, Settings};
use prehend_scene::{Object, Reason};
use scripted::{Scripted, thing};

const BLOCK: [f64; 3] = [0.04, 0.04, 0.09];

/// An apple between two blocks, and a bowl.
fn wedged() -> Vec<Object> {
    vec![
        thing("apple_0", "apple", "red", 0.45, 0.0, [0.07, 0.07, 0.07]),
        thing("block_0", "block", "green", 0.45, 0.06, BLOCK),
        thing("block_1", "block", "blue", 0.45, -0.06, BLOCK),
        thing("bowl_0", "bowl", "white", 0.45, 0.3, [0.16, 0.16, 0.06]),
    ]
}

fn world(objects: Vec<Object>, crowded: &[(&str, &[&str])]) -> Scripted {
    let mut world = Scripted::new(objects);
    let keys = |by: &[&str]| by.iter().map(|key| (*key).into()).collect();
    world.crowded = crowded.iter().map(|(key, by)| ((*key).into(), keys(by))).collect();
    world
}

fn run(text: &str, settings: Settings, world: &mut Scripted) -> Report {
    let policy = Policy::built_in().expect("the built-in policy is valid");
    let agent = Agent { lexicon: Lexicon::built_in(), policy, settings };
    let readings = agent.understand(text).expect("understood");
    if world.rehearses { agent.rehearse(&readings, world, None) } else { agent.run(&readings, world, None) }
}

#[test]
fn what_is_in_the_way_is_put_aside_and_said_so() {
    let mut world = world(wedged(), &[("apple_0", &["block_1"])]);
    let report = run("put the apple in the bowl", Settings::default(), &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(
        world.skills,
        [
            "grasp apple_0",
            "look apple_0",
            "grasp apple_0",
            "grasp block_1",
            "place block_1 away apple_0",
            "grasp apple_0",
            "place apple_0 in bowl_0"
        ]
    );
    assert!(report.message.contains("I put the blue block aside for it"), "{}", report.message);
}

#[test]
fn of_several_the_one_that_can_be_taken_goes_first() {
    let crowded: [(&str, &[&str]); 2] = [("apple_0", &["block_0", "block_1"]), ("block_0", &["block_1"])];
    let mut world = world(wedged(), &crowded);
    let report = run("pick up the apple", Settings::default(), &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    let aside: Vec<&String> = world.skills.iter().filter(|skill| skill.starts_with("place")).collect();
    assert_eq!(aside, ["place block_1 away apple_0", "place block_0 away apple_0"], "{:?}", world.skills);
}

#[test]
fn what_may_not_be_moved_is_named() {
    // Something stands on the block: who takes it tips that over.
    let mut carrying = wedged();
    let mut cup = thing("cup_0", "cup", "red", 0.45, -0.06, [0.03, 0.03, 0.04]);
    scripted::move_to(&mut cup, nalgebra::Vector3::new(0.45, -0.06, 0.09 + 0.02));
    carrying.push(cup);
    // A cabinet is not taken.
    let mut beside = wedged();
    beside.push(thing("cabinet_0", "cabinet", "brown", 0.45, -0.25, [0.2, 0.1, 0.3]));
    let none = Settings { clearings: 0, ..Settings::default() };
    for (objects, by, name, settings) in [
        (
            carrying,
            "block_1",
            "the blue block stands in the way (the blue block stays: the red cup is in or on it)",
            Settings::default(),
        ),
        (beside, "cabinet_0", "The brown cabinet is 100 mm wide", Settings::default()),
        (wedged(), "block_1", "the blue block stands in the way. Move it aside", none),
    ] {
        let mut world = world(objects, &[("apple_0", &[by])]);
        let report = run("put the apple in the bowl", settings, &mut world);
        // The arm has moved to look, and no thing.
        assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoGrasp)));
        assert!(report.message.contains(name), "{}", report.message);
        // Tried again like what fails for another reason: the next map may show it otherwise.
        let tries = ["grasp apple_0", "look apple_0", "grasp apple_0", "grasp apple_0", "grasp apple_0"];
        assert_eq!(world.skills, tries);
    }
}

/// Of things that touch, points of one are taken for the other: boxes overlap, and neither lies on the other.
#[test]
fn what_stands_close_beside_is_not_on() {
    let mut touching = wedged();
    touching[0] = thing("apple_0", "apple", "red", 0.45, -0.01, [0.07, 0.07, 0.07]);
    touching[2] = thing("block_1", "block", "blue", 0.45, -0.065, [0.07, 0.12, 0.09]);
    let mut world = world(touching, &[("apple_0", &["block_1"])]);
    let report = run("pick up the apple", Settings::default(), &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
}

#[test]
fn what_this_goal_has_put_down_stays_there() {
    let mut world = world(wedged(), &[]);
    world.crowd_after = Some((2, "apple_0".into(), "block_1".into()));
    let text = "put the blue block next to the apple and pick up the apple";
    let report = run(text, Settings::default(), &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoGrasp)));
    assert!(report.message.contains("the blue block stands in the way"), "{}", report.message);
    assert_eq!(world.skills.iter().filter(|skill| skill.starts_with("place")).count(), 1);
}

#[test]
fn no_more_is_put_aside_than_may_be_and_what_was_is_said() {
    let both: [(&str, &[&str]); 1] = [("apple_0", &["block_0", "block_1"])];
    let one = Settings { clearings: 1, ..Settings::default() };
    let mut world = world(wedged(), &both);
    let report = run("pick up the apple", one, &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoGrasp)));
    let aside: Vec<&String> = world.skills.iter().filter(|skill| skill.starts_with("place")).collect();
    assert_eq!(aside, ["place block_0 away apple_0"]);
    assert!(
        report.message.contains("the blue block stands in the way")
            && report.message.contains("I put the green block aside for it"),
        "{}",
        report.message
    );
}

#[test]
fn a_plan_says_what_would_be_put_aside() {
    let mut world = world(wedged(), &[("apple_0", &["block_1"])]);
    world.rehearses = true;
    let report = run("put the apple in the bowl", Settings::default(), &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert!(world.steps[0].contains("I would put the blue block aside first"), "{:?}", world.steps);
}
