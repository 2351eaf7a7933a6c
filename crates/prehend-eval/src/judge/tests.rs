//! A clean example of each predicate, then one thing broken.

use super::*;
use prehend_sim::scene::Shape;

const BOWL: Shape = Shape::Bowl { radius: 0.08, foot: 0.045, height: 0.055, wall: 0.004 };
const BASKET: Shape = Shape::Tray { size: [0.2, 0.15, 0.05], wall: 0.005 };
const APPLE: Shape = Shape::Sphere { radius: 0.03 };
const CAN: Shape = Shape::Can { radius: 0.03, height: 0.1 };
const BOOK: Shape = Shape::Box { size: [0.12, 0.16, 0.02] };

fn object(name: &str, shape: Shape, [x, y, z]: [f64; 3], touches: &[&str]) -> ObjectTruth {
    ObjectTruth {
        name: name.into(),
        class: name.into(),
        shape,
        color: [0; 3],
        color_name: None,
        fixed: false,
        position: [x, y, z],
        orientation: [0.0, 0.0, 0.0, 1.0],
        half_extents: shape.half_extents().into(),
        speed: 0.0,
        touches: touches.iter().map(|name| (*name).to_owned()).collect(),
        inside: Vec::new(),
        on: Vec::new(),
        held: false,
        fallen: false,
    }
}

fn truth(objects: Vec<ObjectTruth>) -> Truth {
    Truth {
        time: 10.0,
        joints: vec![0.0; 6],
        opening: 0.085,
        pad_force: 0.0,
        moving: false,
        table_height: 0.0,
        base: None,
        objects,
        mechanisms: Vec::new(),
    }
}

/// A bowl, a basket and a book on the table, and an apple there.
fn table(apple: ObjectTruth) -> Truth {
    truth(vec![
        object("bowl", BOWL, [0.4, 0.0, 0.0275], &["table"]),
        object("basket", BASKET, [0.5, 0.25, 0.025], &["table"]),
        object("book", BOOK, [0.4, -0.25, 0.01], &["table"]),
        apple,
    ])
}

fn apple(place: [f64; 3], touches: &[&str]) -> ObjectTruth {
    object("apple", APPLE, place, touches)
}

fn check(predicate: Predicate, after: &Truth, expected: bool) {
    let before = table(apple([0.3, -0.1, 0.03], &["table"]));
    assert_eq!(holds(&predicate, &before, after), Ok(expected), "{}", describe(&predicate));
}

fn o() -> String {
    "apple".into()
}

#[test]
fn inside() {
    let inside = |target: &str| Predicate::In { object: o(), target: target.into() };
    let clean = apple([0.41, 0.01, 0.036], &["bowl"]);
    check(inside("bowl"), &table(clean.clone()), true);
    check(inside("basket"), &table(apple([0.55, 0.28, 0.036], &["basket"])), true);
    check(inside("book"), &table(apple([0.4, -0.25, 0.05], &["book"])), false);
    // Beside it, on its rim, above it, held, rolling, fallen.
    check(inside("bowl"), &table(apple([0.3, 0.0, 0.03], &["table"])), false);
    check(inside("bowl"), &table(apple([0.477, 0.0, 0.08], &["bowl"])), false);
    check(inside("bowl"), &table(apple([0.4, 0.0, 0.09], &[])), false);
    check(inside("bowl"), &table(ObjectTruth { held: true, ..clean.clone() }), false);
    check(inside("bowl"), &table(ObjectTruth { speed: 0.3, ..clean.clone() }), false);
    check(inside("bowl"), &table(ObjectTruth { fallen: true, ..clean.clone() }), false);
    // The bowl is upside down.
    let mut tipped = table(clean);
    tipped.objects[0].orientation = [1.0, 0.0, 0.0, 0.0];
    check(inside("bowl"), &tipped, false);
}

#[test]
fn on() {
    let on = |target: &str| Predicate::On { object: o(), target: target.into() };
    check(on("book"), &table(apple([0.42, -0.22, 0.05], &["book"])), true);
    check(on("bowl"), &table(apple([0.41, 0.01, 0.036], &["bowl"])), true);
    // Over it without touching, touching from the side, centre beyond the edge.
    check(on("book"), &table(apple([0.42, -0.22, 0.08], &[])), false);
    check(on("book"), &table(apple([0.49, -0.25, 0.03], &["table", "book"])), false);
    check(on("book"), &table(apple([0.47, -0.25, 0.05], &["book"])), false);
    // On something that is on it.
    let mut stacked = table(apple([0.4, -0.25, 0.15], &["can"]));
    stacked.objects.push(object("can", CAN, [0.4, -0.25, 0.07], &["book", "apple"]));
    check(on("book"), &stacked, true);
    stacked.objects[4].touches.retain(|name| name != "book");
    check(on("book"), &stacked, false);
    // A bowl whose middle is higher than that of what lies in it, and over it.
    let mut around = table(apple([0.4, 0.0, 0.026], &["bowl"]));
    around.objects[0].touches.push(o());
    let bowl_on = Predicate::On { object: "bowl".into(), target: o() };
    check(bowl_on, &around, false);
}

#[test]
fn beside() {
    let next_to = Predicate::NextTo { object: o(), target: "bowl".into() };
    check(next_to.clone(), &table(apple([0.4, 0.2, 0.03], &["table"])), true);
    check(next_to.clone(), &table(apple([0.4, 0.26, 0.03], &["table"])), false);
    check(next_to.clone(), &table(apple([0.41, 0.01, 0.036], &["bowl"])), false);
    check(next_to, &table(ObjectTruth { held: true, ..apple([0.4, 0.2, 0.2], &[]) }), false);

    let target = || "bowl".to_owned();
    let left = Predicate::LeftOf { object: o(), target: target() };
    let right = Predicate::RightOf { object: o(), target: target() };
    let front = Predicate::InFrontOf { object: o(), target: target() };
    let behind = Predicate::Behind { object: o(), target: target() };
    for (place, expected) in [
        ([0.4, 0.15], [true, false, false, false]),
        ([0.4, -0.15], [false, true, false, false]),
        ([0.25, 0.0], [false, false, true, false]),
        ([0.55, 0.0], [false, false, false, true]),
        // On the diagonal both are fair.
        ([0.5, 0.1], [true, false, false, true]),
        // Too far to mean this bowl; and hardly to the side at all.
        ([0.4, 0.45], [false; 4]),
        ([0.52, 0.02], [false, false, false, true]),
    ] {
        let after = table(apple([place[0], place[1], 0.03], &["table"]));
        for (predicate, expected) in [&left, &right, &front, &behind].into_iter().zip(expected) {
            check(predicate.clone(), &after, expected);
        }
    }

    let between = Predicate::Between { object: o(), first: "bowl".into(), second: "book".into() };
    check(between.clone(), &table(apple([0.42, -0.13, 0.03], &["table"])), true);
    check(between.clone(), &table(apple([0.52, -0.13, 0.03], &["table"])), false);
    check(between, &table(apple([0.4, 0.1, 0.03], &["table"])), false);
}

#[test]
fn held_moved_and_away() {
    let held = Predicate::Held { object: o() };
    let lifted = ObjectTruth { held: true, ..apple([0.4, 0.1, 0.2], &[]) };
    check(held.clone(), &table(lifted.clone()), true);
    check(held.clone(), &table(ObjectTruth { held: false, ..lifted }), false);
    check(held, &table(ObjectTruth { held: true, ..apple([0.4, 0.1, 0.03], &["table"]) }), false);

    let on_table = Predicate::OnTable { object: o() };
    check(on_table.clone(), &table(apple([0.3, 0.1, 0.03], &["table"])), true);
    check(on_table.clone(), &table(apple([0.41, 0.01, 0.036], &["bowl"])), false);
    check(on_table, &table(apple([0.41, 0.01, 0.036], &["bowl", "table"])), false);

    let away = |targets: &[&str]| Predicate::Away {
        object: o(),
        targets: targets.iter().map(|name| (*name).to_owned()).collect(),
    };
    check(away(&[]), &table(apple([0.3, 0.3, 0.03], &["table"])), true);
    check(away(&[]), &table(apple([0.3, -0.09, 0.03], &["table"])), false);
    check(away(&["bowl"]), &table(apple([0.3, -0.25, 0.03], &["table"])), true);
    check(away(&["bowl"]), &table(apple([0.4, 0.15, 0.03], &["table"])), false);

    let near_start = table(apple([0.3, -0.08, 0.03], &["table"]));
    check(Predicate::Unmoved { object: o() }, &near_start, true);
    check(Predicate::Moved { object: o() }, &near_start, false);
    let elsewhere = table(apple([0.3, 0.1, 0.03], &["table"]));
    check(Predicate::Unmoved { object: o() }, &elsewhere, false);
    check(Predicate::Moved { object: o() }, &elsewhere, true);
    check(Predicate::InArea { object: o(), x: [0.2, 0.4], y: [0.0, 0.2] }, &elsewhere, true);
    check(Predicate::InArea { object: o(), x: [0.2, 0.4], y: [0.2, 0.3] }, &elsewhere, false);

    let two = |count| Predicate::AtLeast {
        count,
        of: vec![Predicate::Moved { object: o() }, Predicate::Moved { object: "bowl".into() }],
    };
    check(two(1), &elsewhere, true);
    check(two(2), &elsewhere, false);
}

#[test]
fn lying_and_turned_things() {
    // A can on its side: its height is its diameter, its footprint a rectangle.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let lying = ObjectTruth {
        orientation: [half, 0.0, 0.0, half],
        ..object("can", CAN, [0.4, 0.0, 0.03], &["table"])
    };
    assert!((place::half_height(&lying) - 0.03).abs() < 1e-9);
    assert!(place::bottom(&lying).abs() < 1e-9);
    let upright = object("other", CAN, [0.4, 0.2, 0.05], &["table"]);
    assert!((place::gap(&lying, &upright) - 0.12).abs() < 1e-3, "{}", place::gap(&lying, &upright));
    let book = ObjectTruth {
        orientation: [0.0, 0.0, (0.5f64).sin(), (0.5f64).cos()],
        ..object("book", BOOK, [0.4, 0.0, 0.01], &["table"])
    };
    let corner = 0.06f64.hypot(0.08);
    let far = book.position[1] + corner + 0.05;
    assert!(place::gap(&book, &object("p", APPLE, [0.4, far, 0.03], &[])) > 0.01);
    assert_eq!(place::gap(&book, &object("p", APPLE, [0.4, 0.05, 0.03], &[])), 0.0);
}

fn reported(outcome: Outcome, reason: Option<Reason>) -> Reported {
    Reported { outcome, reason, message: String::new() }
}

fn snapshots(moved: bool) -> (Truth, Truth) {
    let before = Truth { time: 5.0, ..table(apple([0.3, -0.1, 0.03], &["table"])) };
    let place = if moved { [0.41, 0.01, 0.036] } else { [0.3, -0.1, 0.03] };
    (before, table(apple(place, &[if moved { "bowl" } else { "table" }])))
}

#[test]
fn outcomes_and_claims() {
    let spec = GoalSpec::world(vec![Predicate::In { object: o(), target: "bowl".into() }]);
    let motions = Motions { arm: vec![[6.0, 9.0]], ..Motions::default() };
    let judged = |moved: bool, outcome: Outcome| {
        let (before, after) = snapshots(moved);
        let reason = (outcome != Outcome::Done).then_some(Reason::Slipped);
        judge(&spec, &before, &after, &motions, &reported(outcome, reason)).unwrap()
    };
    let good = judged(true, Outcome::Done);
    assert!(good.right && !good.false_success && good.physics_ok == Some(true) && good.findings.is_empty());
    let false_claim = judged(false, Outcome::Done);
    assert!(!false_claim.right && false_claim.false_success && false_claim.physics_ok == Some(false));
    let unclaimed = judged(true, Outcome::Failed);
    assert!(!unclaimed.right && !unclaimed.false_success && unclaimed.physics_ok == Some(true));
    let failed = judged(false, Outcome::Failed);
    assert!(!failed.right && !failed.false_success && failed.physics_ok == Some(false));
}

#[test]
fn refusals_must_be_typed_and_still() {
    let spec = GoalSpec::refusal(&[Reason::NotFound, Reason::Infeasible]);
    let (before, after) = snapshots(false);
    let still = Motions { arm: vec![[1.0, 4.0], [11.0, 12.0]], ..Motions::default() };
    let looked = Motions { arm: vec![[1.0, 5.5]], ..Motions::default() };
    let judged = |motions: &Motions, outcome, reason| {
        judge(&spec, &before, &after, motions, &reported(outcome, reason)).unwrap()
    };
    let good = judged(&still, Outcome::Refused, Some(Reason::NotFound));
    assert!(good.right && good.physics_ok.is_none() && !good.moved);
    // What is there, and which is meant, may need a look; more than that does not.
    let look = judged(&looked, Outcome::Refused, Some(Reason::NotFound));
    assert!(look.right && look.moved && !look.needless);
    let grasped = Motions { gripper: vec![[1.0, 5.5]], ..looked.clone() };
    assert!(!judged(&grasped, Outcome::Refused, Some(Reason::NotFound)).right);
    let never = GoalSpec::refusal(&[Reason::Unsafe]);
    let refused = reported(Outcome::Refused, Some(Reason::Unsafe));
    assert!(!judge(&never, &before, &after, &looked, &refused).unwrap().right);
    assert!(!judged(&still, Outcome::Refused, Some(Reason::Ambiguous)).right);
    assert!(!judged(&still, Outcome::Failed, Some(Reason::NotFound)).right);
    assert!(judged(&still, Outcome::Done, None).false_success);
}

#[test]
fn collateral_is_what_nobody_asked_for() {
    let spec = GoalSpec::world(vec![Predicate::Moved { object: "bowl".into() }]);
    let mut before = table(apple([0.41, 0.01, 0.036], &["bowl"]));
    before.objects[3].inside = vec!["bowl".into()];
    let mut after = before.clone();
    after.objects[0].position[0] += 0.1;
    after.objects[3].position[0] += 0.1;
    after.objects[2].position[1] -= 0.06;
    after.objects[1].position[1] -= 0.04;
    let judged = judge(&spec, &before, &after, &Motions::default(), &reported(Outcome::Done, None)).unwrap();
    // The apple went along in the bowl; the basket moved less than counts; the book was knocked away.
    let names: Vec<&str> = judged.collateral.iter().map(|c| c.object.as_str()).collect();
    assert_eq!(names, ["book"]);
    assert!(judged.right);
}

#[test]
fn a_goal_about_something_that_is_not_there_is_an_error() {
    let spec = GoalSpec::world(vec![Predicate::Held { object: "ghost".into() }]);
    let (before, mut after) = snapshots(false);
    let result = judge(&spec, &before, &after, &Motions::default(), &reported(Outcome::Done, None));
    assert_eq!(result, Err(JudgeError::UnknownObject { name: "ghost".into(), snapshot: "after" }));
    after.objects[1].position[2] = f64::NAN;
    let result = judge(&spec, &before, &after, &Motions::default(), &reported(Outcome::Done, None));
    assert_eq!(result, Err(JudgeError::Broken { name: "basket".into(), snapshot: "after" }));
}

#[test]
fn answers() {
    for (answer, message, expected) in [
        (Answer::Count(2), "There are 2 mugs: mug_0 and mug_1.", true),
        (Answer::Count(2), "I see two mugs.", true),
        (Answer::Count(2), "I see three mugs.", false),
        (Answer::Count(1), "There is a mug.", true),
        (Answer::Count(0), "There are no mugs.", true),
        (Answer::Count(2), "There are no mugs.", false),
        (Answer::Count(2), "mug_2", false),
        (Answer::YesNo(true), "Yes, there is one.", true),
        (Answer::YesNo(true), "No.", false),
        (Answer::YesNo(false), "The apple is not in the bowl.", true),
        (Answer::YesNo(true), "hm", false),
        (Answer::Words { said: vec!["red".into()], not_said: vec![] }, "The mug is red.", true),
        (Answer::Words { said: vec!["bowl".into()], not_said: vec![] }, "It is in bowl_0.", true),
        (Answer::Words { said: vec!["red".into()], not_said: vec!["blue".into()] }, "red or blue", false),
        (Answer::Words { said: vec!["red".into()], not_said: vec![] }, "It is bored.", false),
        (Answer::Any, "", false),
    ] {
        assert_eq!(is_answer(&answer, message), expected, "{answer:?} in `{message}`");
    }
    let spec = GoalSpec::answer(Answer::Count(2));
    let (before, after) = snapshots(false);
    let said = Reported { outcome: Outcome::Done, reason: None, message: "2".into() };
    let judged = judge(&spec, &before, &after, &Motions::default(), &said).unwrap();
    assert!(judged.right && judged.physics_ok.is_none());
    let looking = Motions { arm: vec![[6.0, 7.0]], ..Motions::default() };
    assert!(judge(&spec, &before, &after, &looking, &said).unwrap().right);
    let moving = Motions { gripper: vec![[6.0, 7.0]], ..Motions::default() };
    assert!(!judge(&spec, &before, &after, &moving, &said).unwrap().right);
}

#[test]
fn causes_name_what_went_wrong() {
    use crate::Cause;
    let spec = GoalSpec::world(vec![Predicate::In { object: o(), target: "bowl".into() }]);
    let moving = Motions { arm: vec![[6.0, 9.0]], ..Motions::default() };
    let cause = |spec: &GoalSpec, moved: bool, motions: &Motions, outcome, reason| {
        let (before, after) = snapshots(moved);
        let said = reported(outcome, reason);
        Cause::of(spec, &judge(spec, &before, &after, motions, &said).unwrap(), &said)
    };
    let still = Motions::default();
    assert_eq!(cause(&spec, true, &moving, Outcome::Done, None), None);
    assert_eq!(cause(&spec, false, &moving, Outcome::Done, None), Some(Cause::WrongPlace));
    assert_eq!(cause(&spec, false, &still, Outcome::Done, None), Some(Cause::NothingDone));
    assert_eq!(cause(&spec, true, &moving, Outcome::Failed, Some(Reason::Slipped)), Some(Cause::NotClaimed));
    assert_eq!(cause(&spec, false, &moving, Outcome::Failed, Some(Reason::NoPlan)), Some(Cause::Planner));
    assert_eq!(cause(&spec, false, &still, Outcome::Refused, Some(Reason::NotFound)), Some(Cause::NotSeen));
    let refusal = GoalSpec::refusal(&[Reason::Unsafe]);
    let cause_of = |motions, outcome, reason| cause(&refusal, false, motions, outcome, reason);
    assert_eq!(cause_of(&still, Outcome::Done, None), Some(Cause::NotRefused));
    assert_eq!(cause_of(&still, Outcome::Refused, Some(Reason::NotFound)), Some(Cause::WrongReason));
    assert_eq!(cause_of(&moving, Outcome::Refused, Some(Reason::Unsafe)), Some(Cause::MovedWithoutNeed));
    let codes: std::collections::BTreeSet<&str> = Cause::ALL.iter().map(|(_, code)| *code).collect();
    assert_eq!(codes.len(), Cause::ALL.len());
    for (reason, _) in Reason::ALL {
        assert!(codes.contains(Cause::of_reason(reason).code()));
    }
}
