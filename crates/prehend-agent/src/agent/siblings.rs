//! Actions that do not wait for each other: several things to which the same is done.
//!
//! When one of them cannot be done the others still can ("open every drawer"), and the person is told which was not, and why.

use crate::planner::{Action, Plan, describe, listed, plan_words};
use crate::world::Fault;
use prehend_scene::{ObjectMap, Reason};

/// An action that was not done, and why.
pub(super) struct Undone<'a> {
    pub(super) action: &'a Action,
    pub(super) fault: Fault,
}

/// Whether two actions do the same to different things, so that one needs nothing of the other; what is so already needs nothing.
pub(super) fn are_siblings(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (_, Action::Already(_)) => true,
        (
            Action::Act { object: a, action: does_a, part: part_a },
            Action::Act { object: b, action: does_b, part: part_b },
        ) => a != b && does_a == does_b && part_a == part_b,
        (
            Action::Place {
                object: a,
                relation: to_a,
                targets: targets_a,
                compartment: in_a,
                spot: at_a,
                ..
            },
            Action::Place {
                object: b,
                relation: to_b,
                targets: targets_b,
                compartment: in_b,
                spot: at_b,
                ..
            },
        ) => a != b && (to_a, targets_a, in_a, at_a) == (to_b, targets_b, in_b, at_b),
        _ => false,
    }
}

/// Whether a fault speaks of the one thing that was acted on, so that another may do better; others end the goal.
pub(super) fn is_of_one(reason: Reason) -> bool {
    match reason {
        Reason::NotFound
        | Reason::Infeasible
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::VerifierRefused
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::Stale => true,
        Reason::NotUnderstood
        | Reason::Ambiguous
        | Reason::Unsafe
        | Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::PeerLost
        | Reason::Canceled
        | Reason::Timeout
        | Reason::SensorFault
        | Reason::Internal => false,
    }
}

/// Whether an action puts as many things somewhere as there is room for.
pub(super) fn fills(action: &Action) -> bool {
    matches!(action, Action::Place { until_full: true, .. })
}

/// Whether a fault says that there is no room left.
pub(super) fn is_full(reason: Reason) -> bool {
    matches!(reason, Reason::NoPlace | Reason::Infeasible)
}

/// That the target of an action is full, in words.
pub(super) fn full_words(action: &Action, named_in: &ObjectMap) -> String {
    match action {
        Action::Place { targets, .. } if !targets.is_empty() => {
            let names: Vec<String> = targets.iter().map(|key| describe(key, named_in)).collect();
            format!("{} has no room for more", listed(&names))
        }
        _ => "there is no room for more".to_owned(),
    }
}

/// How a plan of so many actions ended: what was done; or why not, with what was done and what was not.
pub(super) fn told(
    done: Vec<String>,
    undone: Vec<Undone<'_>>,
    actions: usize,
    named_in: &ObjectMap,
) -> Result<Vec<String>, Fault> {
    let reasons: Vec<String> = undone
        .iter()
        .map(|Undone { action, fault }| {
            let what = plan_words(&Plan::Actions(vec![Action::clone(action)]), named_in);
            format!("I could not {what}: {}", fault.message)
        })
        .collect();
    let Some(Undone { fault: first, .. }) = undone.into_iter().next() else { return Ok(done) };
    if actions == 1 {
        return Err(first);
    }
    let so_far = if done.is_empty() { String::new() } else { format!("{}. ", listed(&done)) };
    Err(Fault { message: format!("{so_far}{}", reasons.join(" ")), ..first })
}
