//! Whole skills on a robot that follows a script: done, and refused, aborted, timed out and cancelled at every call.

use crate::course::{self, Ended, Memory, Order};
use crate::fault::SkillFault;
use crate::forbidden::Forbidden;
use crate::scripted::{Call, Scripted, surface};
use nalgebra::{Point3, Vector3};
use prehend_scene::{Affordance, Area, Object, ObjectKey, Reason, Relation, Skill};

/// Stiffness of the key on the box, newtons per metre: it gives way by 8 mm under the force of a press.
const KEY_STIFFNESS: f64 = 2500.0;

/// A cube that fits between the pads, and a larger box beside it that does not.
fn table() -> Vec<Object> {
    vec![
        surface("cube_0", "cube", ([0.38, -0.02, 0.0], [0.42, 0.02, 0.04]), 0.008),
        surface("box_0", "box", ([0.40, 0.18, 0.0], [0.52, 0.30, 0.12]), 0.015),
    ]
}

fn order(skill: Skill, object: &str) -> Order {
    Order {
        skill,
        object: object.into(),
        targets: Vec::new(),
        relation: None,
        area: None,
        part: String::new(),
        effect: None,
        map_version: 1,
        affordances: Vec::new(),
        direction: None,
        extent: None,
        assessment: "1-1".to_owned(),
        plan_only: false,
        before: None,
    }
}

fn next_to(object: &str, target: &str) -> Order {
    Order { targets: vec![target.into()], relation: Some(Relation::NextTo), ..order(Skill::Place, object) }
}

/// A press on the top of the large box, as if a button were there.
fn press() -> Order {
    let button = surface("button", "button", ([0.44, 0.22, 0.115], [0.48, 0.26, 0.12]), 0.008);
    let affordance = Affordance {
        part: "button".to_owned(),
        skill: Skill::TipPush,
        cloud: button.cloud,
        centroid: Point3::new(0.46, 0.24, 0.12),
        normal: Vector3::z(),
        score: 0.9,
    };
    Order { part: "button".to_owned(), affordances: vec![affordance], ..order(Skill::TipPush, "box_0") }
}

/// Executes an order that was made by the newest map.
fn execute(robot: &Scripted, memory: &mut Memory, order: &Order) -> Ended {
    course::execute(robot, memory, &Order { map_version: robot.map_version(), ..order.clone() })
}

fn done(ended: &Ended) -> &str {
    ended.outcome.as_ref().expect("it is done")
}

fn reason(ended: &Ended) -> Reason {
    ended.outcome.as_ref().expect_err("it is not done").reason()
}

#[test]
fn a_thing_is_taken_and_put_down_and_the_hand_is_remembered() {
    let (robot, mut memory) = (Scripted::before(table()), Memory::default());
    let ended = execute(&robot, &mut memory, &order(Skill::Grasp, "cube_0"));
    assert!(done(&ended).contains("cube_0"), "{ended:?}");
    assert_eq!(ended.held, Some(ObjectKey::from("cube_0")));
    assert!(!ended.map_is_stale && ended.map_version > 1, "{ended:?}");
    assert!(robot.place_of("cube_0").z > 0.1, "lifted");
    let again = execute(&robot, &mut memory, &order(Skill::Grasp, "box_0"));
    assert_eq!(reason(&again), Reason::Infeasible, "the hand is full");
    let ended = execute(&robot, &mut memory, &next_to("cube_0", "box_0"));
    done(&ended);
    assert_eq!(ended.held, None);
    let gap = robot.place_of("cube_0") - robot.place_of("box_0");
    assert!(gap.xy().norm() < 0.2 && robot.place_of("cube_0").z < 0.03, "{gap}");
    assert_eq!(robot.moving(), 0);
    let nothing = execute(&robot, &mut memory, &next_to("cube_0", "box_0"));
    assert_eq!(reason(&nothing), Reason::Infeasible, "nothing is in the hand");
}

#[test]
fn a_key_is_felt_pressed_and_let_back() {
    let (robot, mut memory) = prepared(&[]);
    let ended = execute(&robot, &mut memory, &press());
    done(&ended);
    // The hand leaves the part before it goes home, which is gated anew.
    let calls = robot.calls();
    let pressed = calls.iter().rposition(|call| *call == Call::PressOn).expect("it is pressed");
    let next = |wanted: Call| calls[pressed..].iter().position(|call| *call == wanted);
    assert!(next(Call::Execute).is_some_and(|back| Some(back) < next(Call::Gate)), "{:?}", &calls[pressed..]);
    assert!(robot.tips().z > 0.15, "{:?}", robot.tips());
    // What does not give way is no success, and neither is a key that is not there.
    for (height, stiffness) in [(0.12, 1e6), (0.0, KEY_STIFFNESS)] {
        let robot = Scripted::before(table()).with_key(Point3::new(0.46, 0.24, height), stiffness);
        let ended = execute(&robot, &mut Memory::default(), &press());
        assert_eq!(reason(&ended), Reason::OutcomeNotObserved, "{height} {stiffness}: {ended:?}");
        assert!(robot.tips().z > 0.15, "{height} {stiffness}: {:?}", robot.tips());
    }
}

#[test]
fn what_is_in_the_hand_is_known_whatever_is_asked_and_silence_does_not_lose_it() {
    let (robot, mut memory) = prepared(&[order(Skill::Grasp, "cube_0")]);
    let held = Some(ObjectKey::from("cube_0"));
    let refused = course::refuse(&robot, &mut memory, SkillFault::BadRequest("no skill `juggle`".to_owned()));
    assert_eq!((reason(&refused), &refused.held), (Reason::Internal, &held));
    // The robot falls silent at the very end of a look.
    let look = order(Skill::Look, "box_0");
    let last = undisturbed(&[order(Skill::Grasp, "cube_0")], &look).len() - 1;
    robot.fail_after(last, SkillFault::Sensor { what: "joint states", detail: "none".to_owned() });
    assert_eq!(execute(&robot, &mut memory, &look).held, None, "nobody knows");
    robot.fail_after(usize::MAX, Forbidden::Canceled.into());
    assert_eq!(execute(&robot, &mut memory, &look).held, held);
    done(&execute(&robot, &mut memory, &next_to("cube_0", "box_0")));
}

#[test]
fn what_is_not_seen_from_home_is_looked_for_from_elsewhere() {
    let (robot, mut memory) = prepared(&[order(Skill::Grasp, "cube_0")]);
    robot.hide("cube_0", "home");
    robot.fail_after(usize::MAX, Forbidden::Canceled.into());
    done(&execute(&robot, &mut memory, &next_to("cube_0", "box_0")));
    let looks = robot.calls().iter().filter(|call| **call == Call::UpdateMap).count();
    assert_eq!(looks, 2, "{:?}", robot.calls());
    assert!(robot.told().contains(&("check".to_owned(), "again".to_owned())));
}

#[test]
fn pads_that_meet_something_on_their_way_go_back_as_they_came() {
    let grasp = order(Skill::Grasp, "cube_0");
    let moves: Vec<usize> = undisturbed(&[], &grasp)
        .iter()
        .enumerate()
        .filter_map(|(number, call)| (*call == Call::Execute).then_some(number))
        .collect();
    // The way there, then the approach.
    for (number, goes_back) in [(moves[0], false), (moves[1], true)] {
        let (robot, mut memory) = prepared(&[]);
        let fault = SkillFault::ControlFailed { phase: "a test", detail: "an obstacle".to_owned() };
        robot.fail_after(number, fault);
        execute(&robot, &mut memory, &grasp);
        assert_eq!(robot.calls()[number + 1..].contains(&Call::Execute), goes_back, "{:?}", robot.calls());
    }
}

#[test]
fn who_doubts_looks_first() {
    for doubts in [false, true] {
        let (robot, mut memory) = prepared(&[order(Skill::Look, "box_0")]);
        if doubts {
            memory.doubt();
        }
        robot.fail_after(usize::MAX, Forbidden::Canceled.into());
        done(&execute(&robot, &mut memory, &order(Skill::Home, "")));
        assert_eq!(robot.calls().contains(&Call::UpdateMap), doubts, "{:?}", robot.calls());
    }
}

#[test]
fn nothing_is_put_where_a_drawer_opens() {
    let mut all = table();
    all.push(surface("cabinet_0", "cabinet", ([0.62, -0.12, 0.0], [0.76, 0.12, 0.3]), 0.02));
    all.push(surface("drawer_0", "drawer", ([0.608, -0.11, 0.05], [0.62, 0.11, 0.15]), 0.01));
    let (robot, mut memory) = (Scripted::before(all), Memory::default());
    done(&execute(&robot, &mut memory, &order(Skill::Grasp, "cube_0")));
    // The middle of what is asked for is right before the drawer.
    let area = Some(Area { low: [0.42, -0.25], high: [0.54, 0.25] });
    let down = Order { relation: Some(Relation::Table), area, ..order(Skill::Place, "cube_0") };
    done(&execute(&robot, &mut memory, &down));
    let at = robot.place_of("cube_0");
    assert!(at.x > 0.4 && at.y.abs() > 0.11, "{at}");
}

/// There is no way to any of the best places: others are tried, all over the table.
#[test]
fn where_the_best_places_are_no_use_another_one_is_found() {
    for (around, is_put_down) in [(0.0, true), (0.15, true), (2.0, false)] {
        let (robot, mut memory) = (Scripted::before(table()), Memory::default());
        done(&execute(&robot, &mut memory, &order(Skill::Grasp, "cube_0")));
        robot.block(around);
        // The best places are those in the middle of the area.
        let area = Some(Area { low: [0.25, -0.3], high: [0.55, 0.3] });
        let down = Order { relation: Some(Relation::Table), area, ..order(Skill::Place, "cube_0") };
        let ended = execute(&robot, &mut memory, &down);
        if is_put_down {
            done(&ended);
            assert!(robot.place_of("cube_0").z < 0.03, "{around}: {}", robot.place_of("cube_0"));
        } else {
            assert_eq!(reason(&ended), Reason::NoPlan, "{ended:?}");
            assert_eq!(ended.held, Some(ObjectKey::from("cube_0")));
        }
    }
}

/// At the end of its reach the hand leaves what it let go by a shorter way, as long as there is one.
#[test]
fn what_was_let_go_is_left_by_as_long_a_way_as_there_is() {
    for (stride, is_left) in [(f64::INFINITY, true), (0.06, true), (0.001, false)] {
        let (robot, mut memory) = prepared(&[order(Skill::Grasp, "cube_0")]);
        robot.shorten(stride);
        robot.fail_after(usize::MAX, Forbidden::Canceled.into());
        done(&execute(&robot, &mut memory, &next_to("cube_0", "box_0")));
        let skipped = robot.told().contains(&("retreat".to_owned(), "skipped".to_owned()));
        assert_eq!(skipped, !is_left, "{stride}: {:?}", robot.told());
        // The hand opens at the place, and where it has left that.
        let calls = robot.calls();
        let opened: Vec<usize> = (0..calls.len()).filter(|at| calls[*at] == Call::Grip).collect();
        let moved = calls[opened[0]..opened[1]].contains(&Call::Execute);
        assert_eq!(moved, is_left, "{stride}: {calls:?}");
    }
}

#[test]
fn what_is_only_planned_asks_for_no_permit() {
    let (robot, mut memory) = (Scripted::before(table()), Memory::default());
    for order in [order(Skill::Grasp, "cube_0"), press()] {
        let ended = execute(&robot, &mut memory, &Order { plan_only: true, ..order });
        assert_eq!(done(&ended), "planned; the verifier would permit it");
    }
    let look = execute(&robot, &mut memory, &Order { plan_only: true, ..order(Skill::Look, "") });
    assert!(matches!(look.outcome, Err(SkillFault::BadRequest(_))), "{look:?}");
    let calls = robot.calls();
    assert!(calls.contains(&Call::Foresee) && !calls.iter().any(|call| *call >= Call::Gate), "{calls:?}");
}

#[test]
fn what_is_not_there_or_no_order_is_refused_before_anything_moves() {
    let (robot, mut memory) = (Scripted::before(table()), Memory::default());
    let area = Some(Area::around([0.4, 0.0], 0.1));
    for (order, expected) in [
        (order(Skill::Grasp, "cube_7"), Reason::Infeasible),
        (order(Skill::GoTo, "box_0"), Reason::Internal),
        (order(Skill::TipPush, "box_0"), Reason::NoGrasp),
        (Order { area, ..next_to("cube_0", "box_0") }, Reason::Internal),
        (Order { part: "drive".to_owned(), ..order(Skill::Look, "") }, Reason::Internal),
    ] {
        let ended = execute(&robot, &mut memory, &order);
        assert_eq!(reason(&ended), expected, "{order:?}");
    }
    assert!(!robot.calls().iter().any(|call| call.moves()), "{:?}", robot.calls());
}

/// The orders whose every call fails once, each after those that make it possible.
fn sequences() -> Vec<(Vec<Order>, Order)> {
    vec![
        (Vec::new(), order(Skill::Grasp, "cube_0")),
        (vec![order(Skill::Grasp, "cube_0")], next_to("cube_0", "box_0")),
        (Vec::new(), press()),
        (Vec::new(), order(Skill::Look, "box_0")),
    ]
}

/// Carries out what comes before an order.
fn prepared(before: &[Order]) -> (Scripted, Memory) {
    let robot = Scripted::before(table()).with_key(Point3::new(0.46, 0.24, 0.12), KEY_STIFFNESS);
    let mut memory = Memory::default();
    for order in before {
        done(&execute(&robot, &mut memory, order));
    }
    (robot, memory)
}

/// Calls that an order makes when nothing fails.
fn undisturbed(before: &[Order], order: &Order) -> Vec<Call> {
    let (robot, mut memory) = prepared(before);
    robot.fail_after(usize::MAX, Forbidden::Canceled.into());
    execute(&robot, &mut memory, order);
    robot.calls()
}

#[test]
fn a_fault_that_cuts_short_at_any_call_is_the_last_thing_that_moves() {
    for (before, order) in sequences() {
        let calls = undisturbed(&before, &order);
        assert!(calls.iter().any(|call| call.moves()), "{:?}: {calls:?}", order.skill);
        for fault in [
            Forbidden::Stopped("a person".to_owned()).into(),
            Forbidden::Canceled.into(),
            SkillFault::PeerLost { peer: "agent".to_owned(), phase: "a test" },
            Forbidden::NotArmed("C35".to_owned()).into(),
        ] {
            // A measurement alone does not wait, so that nothing ends it.
            let waits = |(_, call): &(usize, &Call)| **call != Call::Joints;
            for (number, call) in calls.iter().enumerate().filter(waits) {
                let (robot, mut memory) = prepared(&before);
                robot.fail_after(number, fault.clone());
                let ended = execute(&robot, &mut memory, &order);
                let at = format!("{:?}, {fault} at call {number} ({call:?})", order.skill);
                let after = &robot.calls()[number + 1..];
                assert!(!after.iter().any(|call| call.moves() || *call == Call::Begin), "{at}: {after:?}");
                assert_eq!(robot.moving(), 0, "{at}");
                assert_eq!(reason(&ended), fault.reason(), "{at}");
            }
        }
    }
}

#[test]
fn what_was_cut_short_is_known_again_before_the_next_skill() {
    for (before, order) in sequences() {
        let calls = undisturbed(&before, &order);
        let begun = calls.iter().position(|call| *call == Call::Begin).expect("it moves");
        let after = calls.iter().enumerate().skip(begun + 1).filter(|(_, call)| **call != Call::Joints);
        for (number, call) in after {
            let (robot, mut memory) = prepared(&before);
            robot.fail_after(number, Forbidden::Stopped("a person".to_owned()).into());
            execute(&robot, &mut memory, &order);
            robot.fail_after(usize::MAX, Forbidden::Canceled.into());
            let home = execute(&robot, &mut memory, &self::order(Skill::Home, ""));
            let at = format!("{:?}, stopped at call {number} ({call:?})", order.skill);
            assert_eq!(done(&home), "at home", "{at}");
            assert!(robot.calls().contains(&Call::UpdateMap), "{at}: {:?}", robot.calls());
            assert!(robot.told().contains(&("recover".to_owned(), "done".to_owned())), "{at}");
        }
    }
}

#[test]
fn without_a_permit_nothing_moves() {
    let refusals: [SkillFault; 3] = [
        Forbidden::Refused("the map is old".to_owned()).into(),
        Forbidden::NotApproved("nobody answered".to_owned()).into(),
        Forbidden::VerifierLost("no answer in 2.5 s".to_owned()).into(),
    ];
    for (before, order) in sequences() {
        let calls = undisturbed(&before, &order);
        let first = |wanted: Call| calls.iter().position(|call| *call == wanted).expect("it is asked");
        for (number, fault) in [Call::Gate, Call::Confirm, Call::Redeem, Call::Begin]
            .into_iter()
            .flat_map(|call| refusals.iter().map(move |fault| (call, fault)))
            .map(|(call, fault)| (first(call), fault))
        {
            let (robot, mut memory) = prepared(&before);
            robot.fail_after(number, fault.clone());
            let ended = execute(&robot, &mut memory, &order);
            assert_eq!(reason(&ended), fault.reason());
            assert!(!robot.calls().iter().any(|call| call.moves()), "{:?} {number}", order.skill);
        }
    }
}

#[test]
fn a_motion_that_fails_at_any_call_is_told_and_never_called_done() {
    for (before, order) in sequences() {
        let calls = undisturbed(&before, &order);
        for (number, call) in calls.iter().enumerate().filter(|(_, call)| call.moves()) {
            let (robot, mut memory) = prepared(&before);
            robot.fail_after(
                number,
                SkillFault::ControlFailed { phase: "a test", detail: "an obstacle".to_owned() },
            );
            let ended = execute(&robot, &mut memory, &order);
            let at = format!("{:?}, call {number} ({call:?})", order.skill);
            assert_eq!(robot.moving(), 0, "{at}");
            match &ended.outcome {
                // A contact a little early is how things are put down; only an outcome that is seen is believed.
                Ok(_) => assert!(robot.calls()[number..].contains(&Call::Check), "{at}"),
                Err(SkillFault::ControlFailed { .. }) => {}
                Err(other) => panic!("{at}: {other}"),
            }
        }
    }
}

#[test]
fn a_frame_that_does_not_come_is_asked_for_once_more() {
    let grasp = order(Skill::Grasp, "cube_0");
    let calls = undisturbed(&[], &grasp);
    let update = calls.iter().position(|call| *call == Call::UpdateMap).expect("it looks");
    let (robot, mut memory) = prepared(&[]);
    robot.fail_after(update, SkillFault::Sensor { what: "camera frame", detail: "none in 3 s".to_owned() });
    let ended = execute(&robot, &mut memory, &grasp);
    done(&ended);
    assert!(robot.told().contains(&("map".to_owned(), "again".to_owned())));
}
