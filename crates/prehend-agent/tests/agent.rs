//! The whole agent in a scripted world.
//!
//! Contract: a refusal moves nothing and says what would settle it; skills are called with the right objects in the
//! right order; faults are retried at most three times, after the map was taken anew.

mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::tools::Toolbox;
use prehend_agent::world::SkillOutcome;
use prehend_agent::{Agent, Fault, Outcome, Report, Settings};
use prehend_scene::{Object, Reason};
use scripted::{Scripted, thing};
use serde_json::json;

fn agent() -> Agent {
    Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().expect("the built-in policy is valid"),
        settings: Settings::default(),
    }
}

const MUG: [f64; 3] = [0.08, 0.08, 0.09];
const BOWL: [f64; 3] = [0.16, 0.16, 0.06];
const PLATE: [f64; 3] = [0.2, 0.2, 0.02];
const FRUIT: [f64; 3] = [0.07, 0.07, 0.07];
const BLOCK: [f64; 3] = [0.04, 0.04, 0.04];

/// Two mugs, a bowl, a plate, two apples, a pear, three blocks.
fn kitchen() -> Vec<Object> {
    vec![
        thing("mug_0", "mug", "red", 0.45, 0.30, MUG),
        thing("mug_1", "mug", "blue", 0.45, -0.30, MUG),
        thing("bowl_0", "bowl", "white", 0.55, 0.0, BOWL),
        thing("plate_0", "plate", "white", 0.30, 0.0, PLATE),
        thing("apple_0", "apple", "red", 0.60, 0.20, FRUIT),
        thing("apple_1", "apple", "red", 0.60, -0.20, FRUIT),
        thing("pear_0", "pear", "green", 0.35, 0.18, [0.06, 0.06, 0.09]),
        thing("block_0", "block", "red", 0.30, -0.20, BLOCK),
        thing("block_1", "block", "green", 0.30, -0.30, BLOCK),
        thing("block_2", "block", "blue", 0.40, -0.40, [0.06, 0.06, 0.06]),
    ]
}

fn run(text: &str, world: &mut Scripted) -> Report {
    let agent = agent();
    match agent.understand(text) {
        Ok(readings) => {
            let held = world.held.clone();
            agent.run(&readings, world, held)
        }
        Err(fault) => Report {
            outcome: Outcome::Refused,
            reason: Some(fault.reason),
            message: fault.message,
            tool_calls: 0,
            state: Default::default(),
            talk: None,
        },
    }
}

/// Skills that a sentence leads to in the kitchen.
fn does(text: &str, expected: &str) -> Option<String> {
    let mut world = Scripted::new(kitchen());
    let report = run(text, &mut world);
    let found = world.skills.join("; ");
    let wrong = report.outcome != Outcome::Done || found != expected;
    wrong.then(|| {
        format!("{text}\n  found    {found} ({:?}: {})\n  expected {expected}", report.reason, report.message)
    })
}

fn refuses(text: &str, reason: Reason, says: &str) -> Option<String> {
    let mut world = Scripted::new(kitchen());
    let report = run(text, &mut world);
    let wrong = report.outcome != Outcome::Refused
        || report.reason != Some(reason)
        || !report.message.contains(says)
        || !world.skills.is_empty();
    wrong.then(|| {
        format!(
            "{text}\n  found {:?} {:?} \"{}\" after {:?}\n  expected {reason:?} with \"{says}\"",
            report.outcome, report.reason, report.message, world.skills
        )
    })
}

fn answers(text: &str, says: &str) -> Option<String> {
    let mut world = Scripted::new(kitchen());
    let report = run(text, &mut world);
    let wrong = report.outcome != Outcome::Done || !report.message.contains(says) || !world.skills.is_empty();
    wrong.then(|| {
        format!("{text}\n  found {:?} \"{}\"\n  expected \"{says}\"", report.outcome, report.message)
    })
}

fn all(wrong: impl IntoIterator<Item = Option<String>>) {
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_held_is_held_still() {
    // "Hold it" alone is a halt; after a grasp it says no more than the grasp.
    let wrong = ["grab the pear and hold it", "pick up the pear, then stop"];
    let wrong: Vec<String> = wrong.iter().filter_map(|text| does(text, "grasp pear_0")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parts_of_the_table_and_places_of_things_are_aimed_at() {
    all([
        does("put the pear in the middle of the table", "grasp pear_0; place pear_0 table around 0.43 0.00"),
        does(
            "put the pear on the left side of the table",
            "grasp pear_0; place pear_0 table around 0.43 0.36",
        ),
        does("put the pear in the back right corner", "grasp pear_0; place pear_0 table around 0.66 -0.36"),
        does("move the pear 5 cm to the left", "grasp pear_0; place pear_0 table around 0.35 0.23"),
        does("move the pear a bit closer to me", "grasp pear_0; place pear_0 table around 0.30 0.18"),
        does("nudge the pear forward by 5cm", "grasp pear_0; place pear_0 table around 0.40 0.18"),
        // What stands there leaves first, aside of its place.
        does(
            "put the pear where the blue block is",
            "grasp block_2; place block_2 table around 0.43 0.14; grasp pear_0; place pear_0 table around 0.40 -0.40",
        ),
        does(
            "swap the pear and the blue block",
            "grasp pear_0; place pear_0 table around 0.43 -0.11; grasp block_2; place block_2 table around 0.35 0.18; grasp pear_0; place pear_0 table around 0.40 -0.40",
        ),
        refuses("move the pear 80 cm to the left", Reason::Infeasible, "out of my reach"),
        refuses("move the red mug 60 cm to the right", Reason::Infeasible, "the blue mug is there"),
        refuses("move the pear 10 cm to the right", Reason::Infeasible, "the white plate is there"),
        refuses("swap the apples and the pear", Reason::NotUnderstood, ""),
        refuses("swap the red mug and the moon", Reason::NotFound, "moon"),
    ]);
    // What holds the thing that changes places takes the other.
    let mut world = Scripted::new(kitchen());
    let pear = world.map.objects.iter_mut().find(|object| object.key.0 == "pear_0").expect("a pear");
    scripted::move_to(pear, nalgebra::Vector3::new(0.30, 0.0, 0.02 + 0.045));
    let report = run("swap the pear and the blue block", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{report:?}");
    assert!(world.skills.contains(&"place block_2 on plate_0".to_owned()), "{:?}", world.skills);
    // What comes to stand elsewhere is not claimed.
    let mut world = Scripted { misses: 0.08, ..Scripted::new(kitchen()) };
    let report = run("move the pear 5 cm to the left", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::OutcomeNotObserved)));
    assert!(report.message.contains("8 cm from where"), "{}", report.message);
}

#[test]
fn conditions_are_looked_at_before_anything_moves() {
    all([
        does("if there is a pear, put it in the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        does(
            "if there is a banana put it in the bowl, otherwise the pear",
            "grasp pear_0; place pear_0 in bowl_0",
        ),
        does("put the pear in the bowl if it is empty", "grasp pear_0; place pear_0 in bowl_0"),
        does("if there is no banana, pick up the pear", "grasp pear_0"),
        does("pick up any mug except the red one", "grasp mug_1"),
        answers("which mug is closer to the pear?", "red mug"),
        answers("which block is farther away?", "blue block"),
        answers("if there is a banana, put it in the bowl", "nothing to do"),
        answers("unless there is a pear, pick up the red mug", "nothing to do"),
        refuses("if the banana is on the plate, pick up the pear", Reason::NotFound, "banana"),
    ]);
}

#[test]
fn what_is_compared_to_choose_among_several_is_told_with_its_numbers() {
    for (text, by, first, taken) in [
        ("pick up the largest block", "most size", "block_2", Some("block_2")),
        ("pick up the leftmost block", "side left", "block_0", Some("block_0")),
        ("pick up the second block from the left", "nth 2 left", "block_0", Some("block_1")),
        ("pick up the apple closest to the blue mug", "closest", "apple_0", Some("apple_1")),
        // The two are of one size.
        ("pick up the largest apple", "most size", "", None),
    ] {
        let mut world = Scripted::new(kitchen());
        let report = run(text, &mut world);
        let comparison = world.compared.first().unwrap_or_else(|| panic!("{text}: {report:?}"));
        assert!(comparison.by.starts_with(by), "{text}: {comparison:?}");
        assert!(comparison.measured.len() > 1, "{text}: {comparison:?}");
        let most = comparison.measured.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("several");
        assert!(taken.is_none() || most.0.0 == first, "{text}: {comparison:?}");
        assert_eq!(comparison.taken.first().map(|key| key.0.as_str()), taken, "{text}");
        assert_eq!(comparison.why_none.is_empty(), taken.is_some(), "{text}: {comparison:?}");
    }
    let mut world = Scripted::new(kitchen());
    run("pick up the pear", &mut world);
    assert!(world.compared.is_empty(), "one thing is compared with nothing");
}

#[test]
fn sentences_become_skills() {
    all([
        does("pick up the red mug", "grasp mug_0"),
        does("grab the blue mug by the handle", "grasp_part mug_1 handle"),
        does("put the red mug on the plate", "grasp mug_0; place mug_0 on plate_0"),
        does("put the pear in the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        does("pick up the pear and place it in the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        does("take the pear, then put it left of the plate", "grasp pear_0; place pear_0 left_of plate_0"),
        does("drop the pear in the bowl", "grasp pear_0; drop pear_0 in bowl_0"),
        does("move the pear to the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        does("move the pear to the plate", "grasp pear_0; place pear_0 on plate_0"),
        does("move the pear to the red block", "grasp pear_0; place pear_0 on block_0"),
        does("put the apple on the left in the bowl", "grasp apple_0; place apple_0 in bowl_0"),
        does("pick up the apple to the right of the bowl", "grasp apple_1"),
        does("pick up the apple that is near the red mug", "grasp apple_0"),
        does("pick up the apple closest to the blue mug", "grasp apple_1"),
        does("put the mug that is not red on the plate", "grasp mug_1; place mug_1 on plate_0"),
        does("pick up the largest block", "grasp block_2"),
        does("pick up the leftmost block", "grasp block_0"),
        does("pick up the second block from the left", "grasp block_1"),
        does("pick up an apple", "grasp apple_0"),
        does("put the red block on the green block", "grasp block_0; place block_0 on block_1"),
        does(
            "put the pear between the bowl and the plate",
            "grasp pear_0; place pear_0 between bowl_0+plate_0",
        ),
        does(
            "put both apples on the plate",
            "grasp apple_0; place apple_0 on plate_0; grasp apple_1; place apple_1 on plate_0",
        ),
        does(
            "put all the fruit in the bowl",
            "grasp apple_0; place apple_0 in bowl_0; grasp apple_1; place apple_1 in bowl_0; grasp pear_0; place pear_0 in bowl_0",
        ),
        does(
            "put all the fruit except the pear on the plate",
            "grasp apple_0; place apple_0 on plate_0; grasp apple_1; place apple_1 on plate_0",
        ),
        does(
            "put the red mug on the plate and the pear in the bowl",
            "grasp mug_0; place mug_0 on plate_0; grasp pear_0; place pear_0 in bowl_0",
        ),
        does(
            "take the pear and the red block and put them in the bowl",
            "grasp pear_0; place pear_0 in bowl_0; grasp block_0; place block_0 in bowl_0",
        ),
        does(
            "put the red mug on the plate, then put the other mug behind the bowl",
            "grasp mug_0; place mug_0 on plate_0; grasp mug_1; place mug_1 behind bowl_0",
        ),
        does("put the pear in the bowl and go home", "grasp pear_0; place pear_0 in bowl_0; home"),
        does(
            "put the pear in the bowl, then put the fruit that is in the bowl on the plate",
            "grasp pear_0; place pear_0 in bowl_0; grasp pear_0; place pear_0 on plate_0",
        ),
        does("put the pear in the plate", "grasp pear_0; place pear_0 on plate_0"),
        does("put the pear on the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        does("go home", "home"),
        // The widest at the bottom.
        does(
            "stack the blocks",
            "grasp block_0; place block_0 on block_2; grasp block_1; place block_1 on block_0",
        ),
        does(
            "put the red and the green block on top of each other",
            "grasp block_1; place block_1 on block_0",
        ),
        does("grasp and lift the pear", "grasp pear_0"),
        does(
            "put the red block in the bowl and the green one on the plate",
            "grasp block_0; place block_0 in bowl_0; grasp block_1; place block_1 on plate_0",
        ),
    ]);
}

#[test]
fn refusals_are_typed_and_nothing_moves() {
    use Reason::{Ambiguous, Infeasible, NotFound, NotUnderstood, Unsafe};
    all([
        refuses("pick up the mug", Ambiguous, "Which one?"),
        refuses("put the apple in the bowl", Ambiguous, "on the left"),
        refuses("pick up the smallest block", Ambiguous, "nearly of the same size"),
        refuses("put the two blocks in the bowl", Ambiguous, "Which ones?"),
        refuses("pick up the green mug", NotFound, "red mug"),
        refuses("pick up the banana", NotFound, "I see"),
        refuses("put the pear in the basket", NotFound, "basket"),
        refuses("pick up the pear in the bowl", NotFound, "pear"),
        refuses("put three mugs on the plate", NotFound, "2 mugs"),
        refuses("put the plate in the red mug", Infeasible, "too big"),
        refuses("put the red mug on the red mug", Infeasible, "itself"),
        refuses("put the red mug in the blue block", Infeasible, "on or next to it"),
        refuses("put the red block on the pear", Infeasible, "stay on"),
        refuses("pick up both apples", Infeasible, "one thing at a time"),
        refuses("open the drawer", NotFound, "I do not see a drawer"),
        refuses("open the bottle", Infeasible, "I cannot open"),
        refuses("give me the pear", Infeasible, "I can pick up"),
        refuses("push the pear", Infeasible, "pick it up"),
        refuses("put the pear under the bowl", Infeasible, "under"),
        refuses("put the pear", NotUnderstood, "Where shall I put the pear"),
        refuses("pick it up", NotUnderstood, "it"),
        refuses("pick up the apple when it is ripe", NotUnderstood, "condition"),
        refuses("blorp the mug", NotUnderstood, "blorp"),
        refuses("", NotUnderstood, "words"),
        refuses("throw the pear in the bowl", Unsafe, "throwing"),
        refuses("put the red mug on my head", Unsafe, "at_a_person"),
    ]);
}

#[test]
fn questions_are_answered_from_the_map() {
    all([
        answers("how many mugs are there?", "2 mugs"),
        answers("how many red blocks are there", "1 red block"),
        answers("how many bananas are there?", "no bananas"),
        answers("where is the pear?", "The green pear is on the table"),
        answers("where are the mugs", "2"),
        answers("is there a plate?", "Yes"),
        answers("is there a banana?", "No"),
        answers("what color is the pear", "green"),
        answers("is the pear in the bowl?", "No"),
        answers("is the pear green?", "Yes"),
        answers("which is larger, the plate or the pear?", "plate"),
        answers("what is in the bowl?", "Nothing in the bowl"),
        answers("what is to the left of the red mug", "Nothing"),
        answers("what do you see?", "2 red apples"),
        answers("which object is closest to the plate?", "pear"),
        answers("how far is the pear from the plate?", "m apart"),
        answers("what are you holding?", "nothing"),
        answers("what can you do?", "pick things up"),
        answers("how big is the bowl?", "160 x 160 mm"),
    ]);
}

#[test]
fn the_scene_decides_between_readings() {
    let sentence = "put the bowl on the plate on the tray";
    let scene = |on_plate: bool| {
        let mut bowl = thing("bowl_0", "bowl", "white", 0.6, 0.3, [0.1, 0.1, 0.05]);
        if on_plate {
            bowl = thing("bowl_0", "bowl", "white", 0.3, 0.0, [0.1, 0.1, 0.05]);
            bowl.bounds.pose.translation.z += 0.02;
        }
        vec![
            bowl,
            thing("plate_0", "plate", "white", 0.3, 0.0, PLATE),
            thing("tray_0", "tray", "brown", 0.5, -0.25, [0.3, 0.2, 0.02]),
        ]
    };
    let mut world = Scripted::new(scene(true));
    assert_eq!(run(sentence, &mut world).outcome, Outcome::Done);
    assert_eq!(world.skills, ["grasp bowl_0", "place bowl_0 on tray_0"]);
    // The bowl stands alone, and the plate is not on the tray either.
    let mut world = Scripted::new(scene(false));
    let report = run(sentence, &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::NotFound)),
        "{}",
        report.message
    );
}

#[test]
fn what_is_so_already_needs_no_motion() {
    let mut pear = thing("pear_0", "pear", "green", 0.55, 0.0, [0.06, 0.06, 0.05]);
    pear.bounds.pose.translation.z += 0.005;
    let mut world = Scripted::new(vec![pear, thing("bowl_0", "bowl", "white", 0.55, 0.0, BOWL)]);
    let report = run("put the pear in the bowl", &mut world);
    assert_eq!((report.outcome, world.skills.len()), (Outcome::Done, 0), "{}", report.message);
    assert!(report.message.contains("already"), "{}", report.message);
}

#[test]
fn what_is_put_down_at_once_is_not_told_as_held() {
    let mut world = Scripted::new(kitchen());
    let report = run("pick up the pear and place it in the bowl", &mut world);
    assert_eq!(world.skills, ["grasp pear_0", "place pear_0 in bowl_0"]);
    assert!(report.message.contains("in the white bowl"), "{}", report.message);
    assert!(!report.message.contains("hold"), "{}", report.message);
    // What is only picked up is.
    let mut world = Scripted::new(kitchen());
    let report = run("pick up the pear", &mut world);
    assert!(report.message.contains("I hold"), "{}", report.message);
}

#[test]
fn what_is_too_wide_is_refused_unless_its_rim_can_be_held() {
    let wide = |rim: f64| {
        let mut disk = thing("object_0", "object", "grey", 0.45, 0.1, [0.18, 0.18, 0.04]);
        let base = disk.bounds.pose.translation.vector;
        for point in &mut disk.cloud.points {
            let away = (point.coords - base).xy().norm();
            point.z = 0.01 + if away > 0.06 { rim } else { 0.0 };
        }
        disk
    };
    let mut world = Scripted::new(vec![wide(0.0)]);
    let report = run("pick up the grey object", &mut world);
    assert_eq!(report.reason, Some(Reason::Infeasible), "{}", report.message);
    assert!(report.message.contains("180 mm wide") && world.skills.is_empty(), "{}", report.message);
    let mut world = Scripted::new(vec![wide(0.03)]);
    let report = run("pick up the grey object", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(world.skills, ["grasp object_0"]);
}

#[test]
fn a_side_must_fit_and_a_stack_is_not_carried() {
    let alone = |y: f64| Scripted::new(vec![thing("bowl_0", "bowl", "white", 0.5, y, BOWL)]);
    let mut world = alone(-0.3);
    let report = run("pick up the bowl on the left", &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::NotFound)),
        "{}",
        report.message
    );
    assert!(report.message.contains("not where you say") && world.skills.is_empty(), "{}", report.message);
    assert_eq!(run("pick up the bowl on the left", &mut alone(0.3)).outcome, Outcome::Done);
    let mut world = Scripted::new(kitchen());
    let report = run("stack the red block on the green block and place them in the bowl", &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::Infeasible)),
        "{}",
        report.message
    );
    assert!(report.message.contains("stand on each other") && world.skills.is_empty(), "{}", report.message);
}

#[test]
fn faults_are_retried_after_a_new_map() {
    let mut world = Scripted::new(kitchen());
    world.script = [Some((Reason::Slipped, true)), None].into();
    let report = run("pick up the pear", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    // Home for a good view before the map is taken anew, then the second try.
    assert_eq!(world.skills, ["grasp pear_0", "home", "grasp pear_0"]);
    assert_eq!(world.updates, 2);
}

#[test]
fn what_was_not_shown_to_be_held_is_not_said_to_be() {
    let mut world = Scripted::new(kitchen());
    // The pads closed on something, and then the grasp failed.
    world.grasp_stays = true;
    world.script = [Some((Reason::OutcomeNotObserved, false))].into();
    let report = run("pick up the pear", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::OutcomeNotObserved)));
    assert_eq!(world.skills, ["grasp pear_0"]);
}

/// A word for a part is the part that the shape shows: people say lip, edge or brim of a rim.
#[test]
fn a_part_goes_by_every_word_for_it() {
    for (word, part) in [("handle", "handle"), ("rim", "rim"), ("lip", "rim"), ("edge", "rim")] {
        let mut world = Scripted::new(kitchen());
        let report = run(&format!("pick up the blue mug by its {word}"), &mut world);
        assert_eq!(report.outcome, Outcome::Done, "{word}: {}", report.message);
        assert_eq!(world.skills, [format!("grasp_part mug_1 {part}")], "{word}");
    }
}

#[test]
fn no_more_than_three_retries() {
    let no_grasp = Some((Reason::NoGrasp, false));
    let mut world = Scripted::new(kitchen());
    world.script = [no_grasp, None, no_grasp, no_grasp, no_grasp, no_grasp].into();
    let report = run("pick up the pear", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoGrasp)));
    // After the first try a second view, after the others a new map.
    assert_eq!(world.skills, ["grasp pear_0", "look pear_0", "grasp pear_0", "grasp pear_0", "grasp pear_0"]);
}

#[test]
fn a_refused_gate_leads_to_two_views_and_then_to_a_refusal() {
    let refused = Some((Reason::VerifierRefused, false));
    let views = ["grasp pear_0", "look pear_0", "grasp pear_0", "look pear_0", "grasp pear_0"];
    for (refusals, calls) in [(1, 3), (2, 5)] {
        let mut world = Scripted::new(kitchen());
        world.script = [refused, None].repeat(refusals).into();
        let report = run("pick up the pear", &mut world);
        assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
        assert_eq!(world.skills, views[..calls]);
    }
    let mut world = Scripted::new(kitchen());
    world.script = [refused, None, refused, None, refused].into();
    let report = run("pick up the pear", &mut world);
    assert_eq!(report.reason, Some(Reason::VerifierRefused));
    assert_eq!(world.skills, views);
}

#[test]
fn what_got_a_new_key_is_found_again() {
    // What the verifier did not see is not claimed: it is grasped under its new key and put there again.
    let mut world = Scripted::new(kitchen());
    world.rekey = Some("object_7".into());
    let report = run("put the pear left of the plate", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(
        world.skills,
        ["grasp pear_0", "place pear_0 left_of plate_0", "grasp object_7", "place object_7 left_of plate_0"]
    );
}

#[test]
fn losses_and_stops_end_the_goal_at_once() {
    for reason in [Reason::Stopped, Reason::PeerLost, Reason::VerifierLost, Reason::Canceled, Reason::Busy] {
        let mut world = Scripted::new(kitchen());
        world.script = [None, Some((reason, true))].into();
        let report = run("put the pear in the bowl", &mut world);
        assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(reason)));
        assert_eq!(world.skills, ["grasp pear_0", "place pear_0 in bowl_0"]);
    }
    let mut world = Scripted::new(kitchen());
    world.interrupt_after_skills = Some((1, Fault::new(Reason::Canceled, "cancelled")));
    let report = run("put the pear in the bowl", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::Canceled)));
    assert_eq!(world.skills, ["grasp pear_0"]);
}

#[test]
fn a_goal_starts_from_what_is_held_now_and_only_when_the_robot_can() {
    // The goal before left the pear in the hand, but it is not there any more.
    let mut world = Scripted::new(kitchen());
    let agent = agent();
    let readings = agent.understand("put it in the bowl").unwrap();
    let report = agent.run(&readings, &mut world, Some("pear_0".into()));
    assert_eq!(report.reason, Some(Reason::NotUnderstood), "{}", report.message);
    // Going home before the goal fails: nothing of the goal was done. When it moved something, it is no refusal.
    for (map_stale, outcome) in [(false, Outcome::Refused), (true, Outcome::Failed)] {
        let mut world = Scripted::new(kitchen());
        let after = Some(SkillOutcome { held: None, map_stale });
        world.settling = Some(Fault { after, ..Fault::new(Reason::Stopped, "stopped") });
        let readings = agent.understand("pick up the pear").unwrap();
        let report = agent.run(&readings, &mut world, None);
        assert_eq!((report.outcome, report.reason), (outcome, Some(Reason::Stopped)));
        assert!(world.skills.is_empty());
    }
    // A question waits for nothing.
    let mut world = Scripted::new(kitchen());
    world.settling = Some(Fault::new(Reason::Stopped, "stopped"));
    let readings = agent.understand("where is the pear?").unwrap();
    assert_eq!(agent.run(&readings, &mut world, None).outcome, Outcome::Done);
}

/// What a goal that failed has left in the hand is put on the table for the next one; what a person asked to hold stays there.
#[test]
fn what_is_left_over_in_the_hand_is_put_aside_for_another_thing() {
    for (text, skills) in [
        (
            "put the red block in the bowl",
            vec!["place pear_0 table", "grasp block_0", "place block_0 in bowl_0"],
        ),
        ("pick up the red block", vec!["place pear_0 table", "grasp block_0"]),
        ("put the pear in the bowl", vec!["place pear_0 in bowl_0"]),
        ("put it in the bowl", vec!["place pear_0 in bowl_0"]),
    ] {
        let mut world = Scripted::new(kitchen());
        (world.held, world.left_over) = (Some("pear_0".into()), true);
        assert_eq!(run(text, &mut world).outcome, Outcome::Done, "{text}");
        assert_eq!(world.skills, skills, "{text}");
    }
    let mut world = Scripted::new(kitchen());
    world.held = Some("pear_0".into());
    let report = run("put the red block in the bowl", &mut world);
    assert_eq!(report.reason, Some(Reason::Infeasible), "{}", report.message);
    assert!(world.skills.is_empty(), "{:?}", world.skills);
}

#[test]
fn what_is_held_is_it() {
    let held = || {
        let mut world = Scripted::new(kitchen());
        world.held = Some("pear_0".into());
        world
    };
    let mut world = held();
    assert_eq!(run("put it in the bowl", &mut world).outcome, Outcome::Done);
    assert_eq!(world.skills, ["place pear_0 in bowl_0"]);
    let mut world = held();
    assert_eq!(run("let go", &mut world).outcome, Outcome::Done);
    assert_eq!(world.skills, ["drop pear_0 table"]);
    let mut world = held();
    let report = run("pick up the red mug", &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::Infeasible)),
        "{}",
        report.message
    );
    assert!(world.skills.is_empty() && report.message.contains("hold"), "{}", report.message);
}

#[test]
fn the_inventory_is_cleared_and_taken_anew() {
    let mut world = Scripted::new(kitchen());
    let lexicon = Lexicon::built_in();
    let mut tools = Toolbox::new(&mut world, &lexicon, None, 50);
    let grasp = tools.call("interact", &json!({ "obj": "pear_0", "action": "grasp" }));
    assert!(!grasp.success && grasp.feedback_msg.contains("object_retrieval"), "{}", grasp.feedback_msg);
    assert!(tools.call("object_retrieval", &json!({ "query": "pear" })).success);
    assert!(tools.call("distance_to", &json!({ "objects": ["pear_0"] })).success);
    assert!(!tools.call("left_of", &json!({ "objects": ["pear_0", "bowl_0"] })).success);
    assert!(tools.call("interact", &json!({ "obj": "pear_0", "action": "grasp" })).success);
    assert_eq!(tools.state().held_object, Some("pear_0".into()));
    assert!(tools.state().inventory.is_empty());
    let second = tools.call("interact", &json!({ "obj": "bowl_0", "action": "place it in" }));
    assert!(!second.success, "the inventory was cleared");
    assert!(tools.call("object_retrieval", &json!({ "query": "bowl" })).success);
    assert!(tools.call("interact", &json!({ "obj": "bowl_0", "action": "place it in" })).success);
    let empty = tools.call("interact", &json!({ "obj": "", "action": "place it on the table" }));
    assert!(!empty.success && empty.feedback_msg.contains("grasp something first"), "{}", empty.feedback_msg);
    assert!(
        !tools.call("fly", &json!({})).success && !tools.call("left_of", &json!({ "objects": 3 })).success
    );
}

#[test]
fn the_step_limit_ends_a_goal() {
    let mut world = Scripted::new(kitchen());
    let mut agent = agent();
    agent.settings.step_limit = 3;
    let readings = agent.understand("put all the fruit in the bowl").expect("understood");
    let report = agent.run(&readings, &mut world, None);
    assert_eq!(report.reason, Some(Reason::Timeout));
}

/// Who is meant may hang on a name that views dispute: the agent looks on from where it is before it decides.
#[test]
fn names_in_doubt_are_looked_at_again_before_anything_is_decided() {
    let tomatoes = || {
        Scripted::new(vec![
            thing("tomato_0", "tomato", "red", 0.45, 0.20, FRUIT),
            thing("thing_1", "ball", "red", 0.45, -0.20, FRUIT),
            thing("bowl_0", "bowl", "white", 0.55, 0.0, BOWL),
        ])
    };
    let mut world = tomatoes();
    world.disputed = Some(("thing_1".into(), 3, "tomato"));
    let report = run("pick up the right tomato", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{report:?}");
    assert_eq!(world.held.as_ref().map(|key| key.0.as_str()), Some("thing_1"));

    let mut world = tomatoes();
    world.disputed = Some(("thing_1".into(), 2, "plum"));
    let report = run("put the plum in the bowl", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{report:?}");

    // What stays in doubt from here is looked at from elsewhere, and ends when that does not settle it.
    let mut world = tomatoes();
    world.disputed = Some(("thing_1".into(), 99, "plum"));
    let report = run("put the plum in the bowl", &mut world);
    assert_eq!(report.reason, Some(Reason::NotFound), "{report:?}");
    assert_eq!(report.outcome, Outcome::Refused);
    assert_eq!(world.skills, ["look thing_1", "look thing_1", "home"]);
}

#[test]
fn a_question_is_answered_without_the_sentence_being_said_again() {
    use prehend_agent::Planner;
    use prehend_agent::language::answer::Asked;
    use prehend_agent::language::parse;
    let agent = agent();
    for (text, answers, skills) in [
        ("put the mug on the plate", &["the blue one"][..], "grasp mug_1; place mug_1 on plate_0"),
        ("put the mug on the plate", &["the left one"], "grasp mug_0; place mug_0 on plate_0"),
        ("pick up the apple", &["the one closest to the blue mug"], "grasp apple_1"),
        // Two questions, one after the other; an answer that does not settle it is asked about again.
        (
            "put the mug next to the apple",
            &["the red one", "the left apple"],
            "grasp mug_0; place mug_0 next_to apple_0",
        ),
    ] {
        let mut world = Scripted::new(kitchen());
        let readings = parse(text, &agent.lexicon).expect("a reading");
        let report = agent.run(&readings, &mut world, None);
        assert_eq!(report.reason, Some(Reason::Ambiguous), "{text}: {}", report.message);
        let mut asked = Asked { text: text.to_owned(), readings };
        for answer in answers {
            let (order, next) = agent
                .answer(&asked, answer)
                .expect("nothing unsafe")
                .unwrap_or_else(|| panic!("{text} / {answer}"));
            let report = agent.carry(&order, Planner::Builtin, None, &mut world, None);
            asked = next;
            if Some(answer) == answers.last() {
                assert_eq!(report.outcome, Outcome::Done, "{text} / {answer}: {}", report.message);
            } else {
                assert_eq!(report.reason, Some(Reason::Ambiguous), "{text} / {answer}: {}", report.message);
            }
        }
        assert_eq!(world.skills.join("; "), skills, "{text}");
    }
}

#[test]
fn one_of_several_will_do_and_a_bowl_is_filled_until_it_is_full() {
    let done = [
        ("put the lemon or the pear in the bowl", "grasp pear_0; place pear_0 in bowl_0"),
        ("put the pear or the lemon in the bowl", "grasp pear_0; place pear_0 in bowl_0"),
    ];
    let wrong: Vec<String> = done.iter().filter_map(|(text, skills)| does(text, skills)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let refused =
        refuses("put the lemon or the banana in the bowl", Reason::NotFound, "neither a lemon nor a banana");
    assert_eq!(refused, None);

    let mut world = Scripted::new(kitchen());
    world.no_room_after = Some(2);
    let report = run("put the apples and the pear in the bowl until it is full", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}\n{:?}", report.message, world.skills);
    assert!(report.message.contains("the white bowl has no room for more"), "{}", report.message);
    assert!(
        world.held.is_none() && world.skills.last().is_some_and(|skill| skill.contains("table")),
        "{:?}",
        world.skills
    );
    // Not asked to fill it, what does not fit is told.
    let mut world = Scripted::new(kitchen());
    world.no_room_after = Some(2);
    let report = run("put the apples and the pear in the bowl", &mut world);
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Failed, Some(Reason::NoPlace)),
        "{}",
        report.message
    );
}

/// What a goal in the kitchen would come to: outcome, message, skills that were planned, steps.
fn rehearsed(text: &str, world: &mut Scripted) -> (Report, String, Vec<String>) {
    world.rehearses = true;
    let readings = agent().understand(text).expect("it is understood");
    let places = |world: &Scripted| -> Vec<_> {
        world.map.objects.iter().map(|object| object.bounds.pose.translation.vector).collect()
    };
    let before = places(world);
    let held = world.held.clone();
    let report = agent().rehearse(&readings, world, held.clone());
    assert_eq!(places(world), before, "{text}: a plan moves nothing");
    assert_eq!(world.held, held, "{text}: a plan takes nothing into the hand");
    (report, world.skills.join("; "), world.steps.clone())
}

#[test]
fn what_would_be_done_is_planned_by_the_skills_that_would_do_it_and_nothing_moves() {
    let mut world = Scripted::new(kitchen());
    let (report, skills, steps) = rehearsed("put the pear in the bowl", &mut world);
    assert_eq!((report.outcome, skills.as_str()), (Outcome::Done, "grasp pear_0; place pear_0 in bowl_0"));
    assert_eq!(steps, ["planned: put the green pear in the white bowl"]);
    assert_eq!(report.message, "I would put the green pear in the white bowl.");

    // What comes after the first thing that is moved is told, and planned then.
    let mut world = Scripted::new(kitchen());
    let (_, skills, steps) = rehearsed("put the pear in the bowl and the blue mug on the plate", &mut world);
    assert_eq!(skills, "grasp pear_0; place pear_0 in bowl_0");
    assert_eq!(steps.len(), 2);
    assert!(steps[1].starts_with("later: put the blue mug on the white plate (planned when"), "{steps:?}");

    // A part of the table is aimed at, and not looked for after a placement that was not made.
    let mut world = Scripted::new(kitchen());
    let (report, skills, _) = rehearsed("put the pear on the left side of the table", &mut world);
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(skills, "grasp pear_0; place pear_0 table around 0.43 0.36");
}

#[test]
fn a_plan_that_a_skill_refuses_says_so_and_is_not_tried_again() {
    let mut world = Scripted::new(kitchen());
    world.script.push_back(Some((Reason::NoGrasp, false)));
    let (report, skills, steps) = rehearsed("put the pear in the bowl", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::NoGrasp)));
    assert_eq!(skills, "grasp pear_0");
    assert!(
        steps[0].starts_with("refused: put the green pear in the white bowl (scripted no_grasp"),
        "{steps:?}"
    );
    // What would be looked at first is said; a plan does not look.
    let mut world = Scripted::new(kitchen());
    let (report, skills, steps) = rehearsed("pick up the mug", &mut world);
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Ambiguous)));
    assert_eq!((skills.as_str(), steps.len()), ("", 0));
    // A question is answered, and "stop" stops nothing.
    let mut world = Scripted::new(kitchen());
    let (report, skills, _) = rehearsed("how many mugs are there?", &mut world);
    assert_eq!((report.outcome, skills.as_str()), (Outcome::Done, ""));
    assert!(report.message.contains('2') || report.message.contains("two"), "{}", report.message);
    let mut world = Scripted::new(kitchen());
    let (report, skills, steps) = rehearsed("stop", &mut world);
    assert_eq!(
        (report.outcome, skills.as_str(), steps),
        (Outcome::Done, "", vec!["planned: stop".to_owned()])
    );
}
