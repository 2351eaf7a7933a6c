//! Whole errands with a base that follows a script: done, and refused, aborted, timed out and cancelled at every call.

use super::base::{Base as _, Facing};
use super::fault::ErrandFault;
use super::scripted::{Call, Scripted, Trouble, VERSION, thing};
use super::{Done, Ended, Errand, execute, refuse};
use crate::forbidden::Forbidden;
use crate::view::DRIVE;
use nalgebra::Vector3;
use prehend_navigation::Pose2;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_scene::{ObjectMap, Reason, Scope};

/// Where the cup is on the table.
const CUP: [f64; 2] = [2.2, 1.9];
/// Towards the wall at y = 0, and away from it.
const HERE: [f64; 2] = [0.0, -1.0];
const AWAY: [f64; 2] = [0.0, 1.0];

fn base() -> Scripted {
    Scripted::among(vec![thing("room_cup", "cup", CUP), thing("room_lamp", "lamp", [40.0, 1.0])])
}

fn to(key: &str) -> Errand {
    Errand::Object { key: key.into(), plan_only: false }
}

/// The errands whose every call fails once.
fn errands() -> [Errand; 4] {
    [to("room_cup"), Errand::Pose(Pose2::new(3.4, 3.0, 1.0)), Errand::Tour, Errand::Visit(vec![CUP])]
}

/// Faults that end every errand.
fn ends() -> [ErrandFault; 7] {
    [
        Forbidden::Stopped("a person".to_owned()).into(),
        Forbidden::Canceled.into(),
        Forbidden::NotArmed("the runstop".to_owned()).into(),
        Forbidden::VerifierLost("its heartbeat is silent".to_owned()).into(),
        Forbidden::NotApproved("nobody answered".to_owned()).into(),
        ErrandFault::PeerLost("agent".to_owned()),
        ErrandFault::NavigationLost("silence".to_owned()),
    ]
}

/// Faults after which another stop of a tour may go well.
fn passes() -> [ErrandFault; 4] {
    [
        Forbidden::Refused("the map is old".to_owned()).into(),
        ErrandFault::Rejected { x: 1.0, y: 1.0 },
        aborted(),
        ErrandFault::Timeout { seconds: 240.0 },
    ]
}

fn aborted() -> ErrandFault {
    let (meaning, message) = ("the base makes no progress", String::new());
    ErrandFault::Aborted { code: 105, meaning, reason: Reason::ControlFailed, message }
}

fn done(ended: &Ended) -> &Done {
    ended.outcome.as_ref().expect("it is done")
}

fn fault(ended: &Ended) -> &ErrandFault {
    ended.outcome.as_ref().expect_err("it is not done")
}

/// Calls that an errand makes when nothing fails.
fn undisturbed(errand: &Errand) -> Vec<Call> {
    let base = base();
    done(&execute(&base, errand));
    base.calls()
}

/// Stops of a tour.
fn stops() -> Vec<Pose2> {
    let base = base();
    done(&execute(&base, &Errand::Tour));
    let stops = base.places("tour");
    assert!(stops.len() > 2, "{stops:?}");
    stops
}

/// How a tour ends, and of which base, with the same trouble at some stops so many times.
fn tour_with(call: Call, at: &[Pose2], times: usize, fault: &ErrandFault) -> (Scripted, Ended) {
    let base = base();
    let trouble = |at: &Pose2| Trouble { call, at: *at, times, fault: fault.clone() };
    base.troubles.borrow_mut().extend(at.iter().map(trouble));
    let ended = execute(&base, &Errand::Tour);
    (base, ended)
}

fn front(normal: [f64; 2]) -> Facing {
    let [x, y] = normal;
    let centroid = Vector3::new(CUP[0] + 0.03 * x, CUP[1] + 0.03 * y, 0.7);
    Facing { part: "front".to_owned(), normal: Vector3::new(x, y, 0.0), centroid }
}

#[test]
fn the_base_is_driven_folded_to_where_the_object_is_at_hand_and_not_again() {
    let base = base();
    let ended = execute(&base, &to("room_cup"));
    assert_eq!(*done(&ended), Done { moved: true, map_version: VERSION, ..Done::default() });
    let stands = base.drives()[0];
    assert_eq!((base.drives().len(), base.looks()), (1, vec![DRIVE.to_owned()]));
    assert!((0.8..1.3).contains(&stands.distance(&Pose2::new(CUP[0], CUP[1], 0.0))), "{stands:?}");
    let (at, map_from_arm) = ended.place.expect("it is localized");
    assert_eq!(at, stands);
    assert!(at.distance(&Pose2::new(map_from_arm.translation.x, map_from_arm.translation.y, 0.0)) < 0.26);
    // The way of the permit.
    let calls = base.calls();
    let steps = [Call::Look, Call::Gate, Call::Confirm, Call::Redeem, Call::Drive, Call::Settle];
    let order: Vec<Call> = calls.into_iter().filter(|call| steps.contains(call)).collect();
    assert_eq!(order, steps);
    let again = execute(&base, &to("room_cup"));
    assert_eq!(*done(&again), Done { map_version: VERSION, ..Done::default() });
    assert!(base.drives().len() == 1 && base.told("stay", "done"));
}

#[test]
fn a_part_is_come_to_from_where_it_faces_and_the_local_map_shows_what_the_room_does_not() {
    let base = base();
    // From the far side of the table: there it does not stand well.
    for (normal, side) in [(HERE, -1.0), (AWAY, 1.0), (AWAY, 0.0)] {
        base.facing.replace(vec![("room_cup".into(), Scope::Room, front(normal))]);
        let before = base.drives().len();
        done(&execute(&base, &to("room_cup")));
        match base.drives().get(before) {
            Some(stands) => assert!((stands.y - CUP[1]) * side > 0.5, "{normal:?}: {stands:?}"),
            None => assert_eq!(side, 0.0, "{normal:?}"),
        }
    }
    // Here the base stands beyond the table, and the front is seen from there alone; the frame is that of the arm.
    let in_arm = [0.5, 0.0];
    let facing = |normal: f64| Facing {
        part: "front".to_owned(),
        normal: Vector3::new(normal, 0.0, 0.0),
        centroid: Vector3::new(in_arm[0] + 0.03 * normal, in_arm[1], 0.7),
    };
    let seen = thing("cup_3", "cup", in_arm);
    base.local.replace(Some(ObjectMap { objects: vec![seen], ..ObjectMap::default() }));
    for (normal, drives) in [(-1.0, 0), (1.0, 1)] {
        base.facing.replace(vec![("cup_3".into(), Scope::Local, facing(normal))]);
        let before = base.drives().len();
        done(&execute(&base, &to("room_cup")));
        assert_eq!(base.drives().len() - before, drives, "{normal}");
    }
    // Without affordances nobody is asked.
    base.search.borrow_mut().by_affordance = false;
    base.fail_after(usize::MAX, aborted());
    done(&execute(&base, &to("room_cup")));
    assert!(!base.calls().contains(&Call::Affordance), "{:?}", base.calls());
}

#[test]
fn what_is_only_planned_asks_for_no_permit_and_moves_nothing() {
    let base = base();
    let ended = execute(&base, &Errand::Object { key: "room_cup".into(), plan_only: true });
    assert_eq!(*done(&ended), Done { map_version: VERSION, ..Done::default() });
    let calls = base.calls();
    assert!(calls.contains(&Call::Foresee), "{calls:?}");
    assert!(!calls.iter().any(|call| call.moves() || *call == Call::Gate), "{calls:?}");
}

#[test]
fn what_is_no_errand_or_leads_nowhere_ends_before_a_permit_is_asked_for() {
    let far = |x: f64| Errand::Pose(Pose2::new(x, 1.0, 0.0));
    type Expected = fn(&ErrandFault) -> bool;
    let bad: Expected = |fault| matches!(fault, ErrandFault::BadRequest(_));
    let outside: Expected = |fault| matches!(fault, ErrandFault::OutsideMap { .. });
    let nothing: Expected = |fault| matches!(fault, ErrandFault::NothingSeen(_));
    let unknown: Expected = |fault| matches!(fault, ErrandFault::UnknownObject(_));
    // Whether the arm may move before it is known.
    for (errand, expected, moves) in [
        (to("room_unicorn"), unknown, false),
        (to("room_lamp"), outside, false),
        (far(f64::NAN), bad, false),
        (far(40.0), outside, true),
        (Errand::Visit(Vec::new()), bad, false),
        (Errand::Visit(vec![[1.0, f64::INFINITY]]), bad, false),
        (Errand::Visit(vec![CUP; 101]), bad, false),
        (Errand::Visit(vec![[40.0, 1.0]]), nothing, true),
    ] {
        let base = base();
        let ended = execute(&base, &errand);
        assert!(expected(fault(&ended)), "{errand:?}: {ended:?}");
        let calls = base.calls();
        assert!(!calls.iter().any(|call| matches!(call, Call::Gate | Call::Drive)), "{errand:?}: {calls:?}");
        assert_eq!(calls.contains(&Call::Look), moves, "{errand:?}: {calls:?}");
    }
    let base = base();
    base.search.borrow_mut().params = ViewPoseParams { radius: 0.3, relax_max: 0.3, ..Default::default() };
    let crowded = execute(&base, &to("room_cup"));
    assert!(matches!(fault(&crowded), ErrandFault::NoPose { .. }), "{crowded:?}");
    assert!(!base.calls().iter().any(|call| call.moves()), "{:?}", base.calls());
}

#[test]
fn a_refused_order_is_told_and_a_stop_comes_before_it() {
    let base = base();
    let no_errand = ErrandFault::BadRequest("kind `dance`".to_owned());
    assert_eq!(*fault(&refuse(&base, no_errand.clone())), no_errand);
    assert!(base.told("done", Reason::Internal.code()));
    let stopped = ErrandFault::from(Forbidden::Stopped("a person".to_owned()));
    base.fail_after(0, stopped.clone());
    assert_eq!(*fault(&refuse(&base, no_errand)), stopped);
}

#[test]
fn what_ends_an_errand_at_any_call_is_the_last_thing_that_moves() {
    for errand in errands() {
        let calls = undisturbed(&errand);
        assert!(calls.contains(&Call::Drive), "{errand:?}: {calls:?}");
        // At the end it is only told where the base is.
        let (course, place) = calls.split_at(calls.len() - 2);
        assert_eq!(place, [Call::Pose, Call::Arm]);
        for (number, call) in course.iter().enumerate() {
            for expected in ends() {
                let base = base();
                base.fail_after(number, expected.clone());
                let ended = execute(&base, &errand);
                let at = format!("{errand:?}: {expected} at call {number} ({call:?})");
                assert_eq!(*fault(&ended), expected, "{at}");
                assert_eq!(base.calls()[number + 1..], [Call::Pose, Call::Arm], "{at}");
                let drives = course[..number].iter().filter(|call| **call == Call::Drive).count();
                assert_eq!(base.drives().len(), drives, "{at}");
                assert!(base.told("done", expected.reason().code()), "{at}");
                // Where it is is told all the same.
                assert!(ended.place.is_some(), "{at}");
            }
        }
    }
}

#[test]
fn what_may_pass_ends_a_drive_and_is_tried_again_on_a_tour() {
    for errand in errands() {
        let calls = undisturbed(&errand);
        let course = &calls[..calls.len() - 2];
        let is_tour = matches!(errand, Errand::Tour | Errand::Visit(_));
        // Before the first stop there is nothing else to go on with.
        let first = course.iter().skip(2).position(|call| *call == Call::Look).map_or(0, |look| look + 2);
        for (number, call) in course.iter().enumerate() {
            for expected in passes() {
                let base = base();
                base.fail_after(number, expected.clone());
                let ended = execute(&base, &errand);
                let at = format!("{errand:?}: {expected} at call {number} ({call:?})");
                if is_tour && number >= first {
                    assert_eq!(
                        (done(&ended).missed, done(&ended).keyframes as usize),
                        (0, base.keyframes().len())
                    );
                    let left = if errand == Errand::Tour { "tour" } else { "visit" };
                    assert!(base.told(left, expected.reason().code()), "{at}");
                } else {
                    assert_eq!(*fault(&ended), expected, "{at}");
                    assert_eq!(base.calls()[number + 1..], [Call::Pose, Call::Arm], "{at}");
                }
            }
        }
    }
}

#[test]
fn where_the_navigation_gave_up_the_next_errand_does_not_go() {
    let base = base();
    let apart = base.chassis().footprint.inscribed_radius();
    let mut given_up: Vec<Pose2> = Vec::new();
    let drive = undisturbed(&to("room_cup")).iter().position(|call| *call == Call::Drive).expect("driven");
    for expected in passes().into_iter().skip(1) {
        base.fail_after(drive, expected.clone());
        assert_eq!(*fault(&execute(&base, &to("room_cup"))), expected);
        let place = base.chosen();
        assert!(given_up.iter().all(|before| before.distance(&place) >= apart), "{given_up:?} {place:?}");
        given_up.push(place);
    }
    // Somebody who stops the base says nothing against the place.
    base.fail_after(drive, Forbidden::Stopped("a person".to_owned()).into());
    fault(&execute(&base, &to("room_cup")));
    let fourth = base.chosen();
    assert!(given_up.iter().all(|before| before.distance(&fourth) >= apart), "{given_up:?} {fourth:?}");
    done(&execute(&base, &to("room_cup")));
    assert_eq!(base.drives(), [fourth]);
    // Once it was driven, everything is open again.
    done(&execute(&base, &Errand::Pose(Pose2::new(0.6, 0.6, 0.0))));
    done(&execute(&base, &to("room_cup")));
    assert_eq!(base.drives()[2], given_up[0]);
}

/// Somebody steps into the way of a drive: the navigation gives up, and the next errand waits until they have gone. A way that never was is
/// not waited for.
#[test]
fn a_way_that_was_free_is_waited_for() {
    let pauses = |base: &Scripted| base.calls().iter().filter(|call| **call == Call::Pause).count();
    let stopped_by = |blocked: u32, plan_only: bool| {
        let base = base();
        let drive =
            undisturbed(&to("room_cup")).iter().position(|call| *call == Call::Drive).expect("driven");
        base.fail_after(drive, aborted());
        assert_eq!(*fault(&execute(&base, &to("room_cup"))), aborted());
        base.blocked.set(blocked);
        let ended = execute(&base, &Errand::Object { key: "room_cup".into(), plan_only });
        (base, ended)
    };
    let (base, ended) = stopped_by(3, false);
    done(&ended);
    assert_eq!((pauses(&base), base.drives().len()), (3, 1));
    assert!(base.told("way", "waiting"));
    // Nobody waits for ever, nor for a plan.
    for (plan_only, waited) in [(false, 10), (true, 0)] {
        let (base, ended) = stopped_by(99, plan_only);
        assert!(matches!(fault(&ended), ErrandFault::NoPose { .. }), "{ended:?}");
        assert_eq!((pauses(&base), base.drives().len()), (waited, 0));
        if !plan_only {
            assert!(matches!(fault(&execute(&base, &to("room_cup"))), ErrandFault::NoPose { .. }));
            assert_eq!(pauses(&base), waited, "waited for once more");
        }
    }
    let never_free = self::base();
    never_free.blocked.set(99);
    assert!(matches!(fault(&execute(&never_free, &to("room_cup"))), ErrandFault::NoPose { .. }));
    assert_eq!(pauses(&never_free), 0);
}

#[test]
fn where_no_other_place_is_left_the_same_is_tried_again() {
    let base = base();
    base.search.borrow_mut().params = ViewPoseParams { relax_max: 0.85, ..Default::default() };
    let drive = undisturbed(&to("room_cup")).iter().position(|call| *call == Call::Drive).expect("driven");
    let tried: Vec<Pose2> = (0..40)
        .map(|_| {
            base.fail_after(drive, aborted());
            assert_eq!(*fault(&execute(&base, &to("room_cup"))), aborted());
            base.chosen()
        })
        .collect();
    let first = tried.iter().skip(1).position(|place| *place == tried[0]);
    let round = 1 + first.expect("the first place is tried again");
    assert!(round > 2, "{tried:?}");
    assert_eq!(tried[..round], tried[round..2 * round], "the second round is like the first");
}

#[test]
fn a_plan_leaves_what_is_known_of_places_as_it_is() {
    let tried = |with_plans: bool| -> Vec<Pose2> {
        let base = base();
        base.search.borrow_mut().params = ViewPoseParams { relax_max: 0.85, ..Default::default() };
        let drive =
            undisturbed(&to("room_cup")).iter().position(|call| *call == Call::Drive).expect("driven");
        let errand = |_| {
            if with_plans {
                done(&execute(&base, &Errand::Object { key: "room_cup".into(), plan_only: true }));
            }
            base.fail_after(drive, aborted());
            fault(&execute(&base, &to("room_cup")));
            base.chosen()
        };
        (0..40).map(errand).collect()
    };
    assert_eq!(tried(true), tried(false));
}

#[test]
fn a_stop_before_the_drive_and_during_it_leaves_the_base_where_it_is() {
    let errand = Errand::Pose(Pose2::new(3.4, 3.0, 1.0));
    let calls = undisturbed(&errand);
    let drive = calls.iter().position(|call| *call == Call::Drive).expect("it is driven");
    for (number, permits) in [(0, false), (drive, true)] {
        let base = base();
        base.fail_after(number, Forbidden::Stopped("a person".to_owned()).into());
        let ended = execute(&base, &errand);
        assert_eq!(fault(&ended).reason(), Reason::Stopped);
        assert_eq!(ended.place.expect("it is localized").0, Pose2::new(0.6, 0.6, 0.0));
        assert_eq!(base.calls().contains(&Call::Redeem), permits, "{:?}", base.calls());
        assert!(!base.calls().contains(&Call::Settle), "{:?}", base.calls());
    }
}

#[test]
fn without_a_permit_or_with_the_arm_out_nothing_is_driven() {
    for errand in errands() {
        let calls = undisturbed(&errand);
        let last = |wanted: Call| calls.iter().position(|call| *call == wanted).expect("it is asked");
        let arm = ErrandFault::Arm { reason: Reason::NoPlan, message: "no way".to_owned() };
        let silent = ErrandFault::NotLocalized("nothing new was told".to_owned());
        for (call, expected) in [
            (Call::Look, arm),
            (Call::Gate, Forbidden::NotApproved("no".to_owned()).into()),
            (Call::Confirm, silent),
            (Call::Redeem, Forbidden::VerifierLost("no answer in 2.5 s".to_owned()).into()),
        ] {
            let base = base();
            base.fail_after(last(call), expected.clone());
            let ended = execute(&base, &errand);
            assert_eq!(*fault(&ended), expected, "{errand:?} {call:?}");
            assert!(base.drives().is_empty(), "{errand:?} {call:?}");
        }
        let base = base();
        base.arm_moves.set(true);
        let ended = execute(&base, &errand);
        assert_eq!(fault(&ended).reason(), Reason::Busy, "{errand:?}");
        assert!(!base.calls().contains(&Call::Gate), "{errand:?}: {:?}", base.calls());
    }
    // A person who is asked is told of.
    let base = base();
    base.asks.set(true);
    done(&execute(&base, &to("room_cup")));
    assert!(base.told("approval", "waiting"));
}

#[test]
fn a_base_that_is_not_where_it_was_sent_has_not_arrived() {
    let errand = Errand::Pose(Pose2::new(3.4, 3.0, 1.0));
    // Beside the navigation's own tolerance of 0.1.
    for (drift, arrives) in [
        ([0.2, 0.0], true),
        ([0.0, -0.2], true),
        ([0.25, 0.0], false),
        ([0.0, 0.3], false),
        ([2.0, 3.0], false),
    ] {
        let base = base();
        base.drift.set(drift);
        let ended = execute(&base, &errand);
        match &ended.outcome {
            Ok(done) => assert!(arrives && done.moved, "{drift:?}"),
            Err(ErrandFault::NotThere { distance, angle }) => {
                assert!(!arrives, "{drift:?}");
                assert!((distance - drift[0]).abs() < 1e-6 && (angle - drift[1]).abs() < 1e-6, "{ended:?}");
            }
            Err(other) => panic!("{drift:?}: {other}"),
        }
        assert_eq!(base.calls().iter().filter(|call| **call == Call::Drive).count(), 1);
    }
}

#[test]
fn every_stop_of_a_tour_is_a_keyframe_and_the_first_begins_the_map() {
    let stops = stops();
    let count = stops.len();
    let base = base();
    let ended = execute(&base, &Errand::Tour);
    let expected =
        Done { moved: true, keyframes: count as u32, missed: 0, map_version: VERSION + count as u64 };
    assert_eq!(*done(&ended), expected);
    let (drives, at_stops) = (base.drives(), stops.iter());
    assert!(drives.len() == count && drives.iter().zip(at_stops).all(|(at, stop)| at.distance(stop) < 1e-9));
    let views = |kind: &str, anew: bool, count: usize| -> Vec<(String, bool)> {
        (0..count).map(|number| (format!("{kind}_{}", number + 1), anew && number == 0)).collect()
    };
    assert_eq!(base.keyframes(), views("tour", true, count));
    // From the level look, folded in between.
    let looks: Vec<&str> = std::iter::once("tour").chain([DRIVE, "tour"].repeat(count)).collect();
    assert_eq!(base.looks(), looks);
    // A visit keeps what is known.
    let ended = execute(&base, &Errand::Visit(vec![CUP]));
    let seen = done(&ended).keyframes as usize;
    assert!(seen > 0 && seen < count, "{ended:?}");
    assert_eq!(base.keyframes()[count..], views("visit", false, seen));
}

#[test]
fn stops_that_bring_no_keyframe_are_tried_again_last_and_counted() {
    let stops = stops();
    let dark = ErrandFault::NothingSeen("no frame in 4 s".to_owned());
    for (call, fault) in [(Call::Drive, aborted()), (Call::Keyframe, dark)] {
        // Once: it goes well when the others are done. The first keyframe that comes begins the map.
        let (base, ended) = tour_with(call, &stops[..2], 1, &fault);
        assert_eq!((done(&ended).keyframes as usize, done(&ended).missed), (stops.len(), 0), "{call:?}");
        let keyframes = base.keyframes();
        assert_eq!(keyframes[0], ("tour_3".to_owned(), true), "{call:?}");
        assert!(keyframes[1..].iter().all(|(_, anew)| !anew), "{call:?}: {keyframes:?}");
        let last: Vec<&str> =
            keyframes[keyframes.len() - 2..].iter().map(|(view, _)| view.as_str()).collect();
        assert_eq!(last, ["tour_2", "tour_1"], "{call:?}");
        // Twice: it is missed.
        let (_, ended) = tour_with(call, &stops[1..2], 2, &fault);
        assert_eq!((done(&ended).keyframes as usize, done(&ended).missed), (stops.len() - 1, 1), "{call:?}");
        // Nowhere: that is no tour, for the first reason.
        let (base, ended) = tour_with(call, &stops, usize::MAX, &fault);
        assert_eq!(*self::fault(&ended), ErrandFault::NothingSeen(fault.to_string()), "{call:?}");
        let tried = base.calls().iter().filter(|made| **made == call).count();
        assert_eq!(tried, 2 * stops.len(), "{call:?}");
    }
}
