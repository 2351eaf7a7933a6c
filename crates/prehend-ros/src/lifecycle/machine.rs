//! States and transitions of a managed node: the default machine of `rcl_lifecycle`, with its numbers and labels.

use prehend_msgs::lifecycle_msgs::msg::{State, Transition, TransitionDescription};

/// A state in which a node stays until it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifecycleState {
    /// It runs and has nothing.
    Unconfigured,
    /// It has what it needs and does nothing with it.
    Inactive,
    /// It works.
    Active,
    /// It has ended for good; only its process is left.
    Finalized,
}

/// What a node can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifecycleTransition {
    /// Get what is needed.
    Configure,
    /// Give it back.
    Cleanup,
    /// Begin to work.
    Activate,
    /// Stop working.
    Deactivate,
    /// End for good.
    Shutdown,
}

/// How a transition went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionOutcome {
    /// The node is in the new state.
    Success,
    /// The node is in the old state.
    Failure,
    /// The node could not stay in either.
    Error,
}

/// A state by number, those on the way included.
pub(super) type StateId = u8;

pub(super) const ERROR_PROCESSING: StateId = State::TRANSITION_STATE_ERRORPROCESSING;

/// Number and label of each state.
const STATES: [(StateId, &str); 11] = [
    (State::PRIMARY_STATE_UNKNOWN, "unknown"),
    (State::PRIMARY_STATE_UNCONFIGURED, "unconfigured"),
    (State::PRIMARY_STATE_INACTIVE, "inactive"),
    (State::PRIMARY_STATE_ACTIVE, "active"),
    (State::PRIMARY_STATE_FINALIZED, "finalized"),
    (State::TRANSITION_STATE_CONFIGURING, "configuring"),
    (State::TRANSITION_STATE_CLEANINGUP, "cleaningup"),
    (State::TRANSITION_STATE_SHUTTINGDOWN, "shuttingdown"),
    (State::TRANSITION_STATE_ACTIVATING, "activating"),
    (State::TRANSITION_STATE_DEACTIVATING, "deactivating"),
    (ERROR_PROCESSING, "errorprocessing"),
];

/// One arrow of the machine: number, label, from, to.
pub(super) type Arrow = (u8, &'static str, StateId, StateId);

const UNCONFIGURED: StateId = State::PRIMARY_STATE_UNCONFIGURED;
const INACTIVE: StateId = State::PRIMARY_STATE_INACTIVE;
const ACTIVE: StateId = State::PRIMARY_STATE_ACTIVE;
const FINALIZED: StateId = State::PRIMARY_STATE_FINALIZED;
const CONFIGURING: StateId = State::TRANSITION_STATE_CONFIGURING;
const CLEANING_UP: StateId = State::TRANSITION_STATE_CLEANINGUP;
const SHUTTING_DOWN: StateId = State::TRANSITION_STATE_SHUTTINGDOWN;
const ACTIVATING: StateId = State::TRANSITION_STATE_ACTIVATING;
const DEACTIVATING: StateId = State::TRANSITION_STATE_DEACTIVATING;
const DONE: &str = "transition_success";
const FAILED: &str = "transition_failure";
const BROKEN: &str = "transition_error";

/// Every arrow, in the order of `rcl_lifecycle`.
pub(super) const ARROWS: [Arrow; 25] = [
    (Transition::TRANSITION_CONFIGURE, "configure", UNCONFIGURED, CONFIGURING),
    (Transition::TRANSITION_ON_CONFIGURE_SUCCESS, DONE, CONFIGURING, INACTIVE),
    (Transition::TRANSITION_ON_CONFIGURE_FAILURE, FAILED, CONFIGURING, UNCONFIGURED),
    (Transition::TRANSITION_ON_CONFIGURE_ERROR, BROKEN, CONFIGURING, ERROR_PROCESSING),
    (Transition::TRANSITION_CLEANUP, "cleanup", INACTIVE, CLEANING_UP),
    (Transition::TRANSITION_ON_CLEANUP_SUCCESS, DONE, CLEANING_UP, UNCONFIGURED),
    (Transition::TRANSITION_ON_CLEANUP_FAILURE, FAILED, CLEANING_UP, INACTIVE),
    (Transition::TRANSITION_ON_CLEANUP_ERROR, BROKEN, CLEANING_UP, ERROR_PROCESSING),
    (Transition::TRANSITION_ACTIVATE, "activate", INACTIVE, ACTIVATING),
    (Transition::TRANSITION_ON_ACTIVATE_SUCCESS, DONE, ACTIVATING, ACTIVE),
    (Transition::TRANSITION_ON_ACTIVATE_FAILURE, FAILED, ACTIVATING, INACTIVE),
    (Transition::TRANSITION_ON_ACTIVATE_ERROR, BROKEN, ACTIVATING, ERROR_PROCESSING),
    (Transition::TRANSITION_DEACTIVATE, "deactivate", ACTIVE, DEACTIVATING),
    (Transition::TRANSITION_ON_DEACTIVATE_SUCCESS, DONE, DEACTIVATING, INACTIVE),
    (Transition::TRANSITION_ON_DEACTIVATE_FAILURE, FAILED, DEACTIVATING, ACTIVE),
    (Transition::TRANSITION_ON_DEACTIVATE_ERROR, BROKEN, DEACTIVATING, ERROR_PROCESSING),
    (Transition::TRANSITION_UNCONFIGURED_SHUTDOWN, "shutdown", UNCONFIGURED, SHUTTING_DOWN),
    (Transition::TRANSITION_INACTIVE_SHUTDOWN, "shutdown", INACTIVE, SHUTTING_DOWN),
    (Transition::TRANSITION_ACTIVE_SHUTDOWN, "shutdown", ACTIVE, SHUTTING_DOWN),
    (Transition::TRANSITION_ON_SHUTDOWN_SUCCESS, DONE, SHUTTING_DOWN, FINALIZED),
    (Transition::TRANSITION_ON_SHUTDOWN_FAILURE, FAILED, SHUTTING_DOWN, FINALIZED),
    (Transition::TRANSITION_ON_SHUTDOWN_ERROR, BROKEN, SHUTTING_DOWN, ERROR_PROCESSING),
    (Transition::TRANSITION_ON_ERROR_SUCCESS, DONE, ERROR_PROCESSING, UNCONFIGURED),
    (Transition::TRANSITION_ON_ERROR_FAILURE, FAILED, ERROR_PROCESSING, FINALIZED),
    (Transition::TRANSITION_ON_ERROR_ERROR, BROKEN, ERROR_PROCESSING, FINALIZED),
];

impl LifecycleState {
    /// The state of a number, when a node can stay in it.
    pub(super) fn of(id: StateId) -> Option<Self> {
        Some(match id {
            UNCONFIGURED => Self::Unconfigured,
            INACTIVE => Self::Inactive,
            ACTIVE => Self::Active,
            FINALIZED => Self::Finalized,
            _ => return None,
        })
    }

    /// Its number (`lifecycle_msgs/msg/State`).
    pub fn id(self) -> u8 {
        match self {
            Self::Unconfigured => UNCONFIGURED,
            Self::Inactive => INACTIVE,
            Self::Active => ACTIVE,
            Self::Finalized => FINALIZED,
        }
    }

    /// Its name.
    pub fn label(self) -> &'static str {
        label(self.id())
    }
}

impl LifecycleTransition {
    fn label(self) -> &'static str {
        match self {
            Self::Configure => "configure",
            Self::Cleanup => "cleanup",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::Shutdown => "shutdown",
        }
    }

    /// The arrow that begins it in a state.
    pub(super) fn arrow(self, from: StateId) -> Option<Arrow> {
        ARROWS.into_iter().find(|(_, label, start, _)| *label == self.label() && *start == from)
    }

    /// What a request means in a state: by its label, if it has one, else by its number.
    pub(super) fn asked(asked: &Transition, from: StateId) -> Option<Self> {
        let all = [Self::Configure, Self::Cleanup, Self::Activate, Self::Deactivate, Self::Shutdown];
        all.into_iter().find(|transition| {
            transition.arrow(from).is_some_and(|(id, label, _, _)| {
                if asked.label.is_empty() { id == asked.id } else { label == asked.label }
            })
        })
    }
}

impl TransitionOutcome {
    /// The arrow that ends what was begun.
    pub(super) fn arrow(self, from: StateId) -> Option<Arrow> {
        let wanted = match self {
            Self::Success => DONE,
            Self::Failure => FAILED,
            Self::Error => BROKEN,
        };
        ARROWS.into_iter().find(|(_, label, start, _)| *label == wanted && *start == from)
    }
}

fn label(id: StateId) -> &'static str {
    STATES.iter().find(|(other, _)| *other == id).map_or("unknown", |(_, label)| label)
}

pub(super) fn state(id: StateId) -> State {
    State { id, label: label(id).to_owned() }
}

pub(super) fn states() -> Vec<State> {
    STATES.iter().map(|(id, _)| state(*id)).collect()
}

pub(super) fn transition(arrow: &Arrow) -> Transition {
    Transition { id: arrow.0, label: arrow.1.to_owned() }
}

/// The arrows out of a state, or all.
pub(super) fn descriptions(from: Option<StateId>) -> Vec<TransitionDescription> {
    let describe = |arrow: &Arrow| TransitionDescription {
        transition: transition(arrow),
        start_state: state(arrow.2),
        goal_state: state(arrow.3),
    };
    ARROWS.iter().filter(|arrow| from.is_none_or(|from| arrow.2 == from)).map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transition_ends_in_a_state_whatever_happens() {
        for primary in [UNCONFIGURED, INACTIVE, ACTIVE] {
            for arrow in ARROWS.iter().filter(|arrow| arrow.2 == primary) {
                for outcome in [TransitionOutcome::Success, TransitionOutcome::Failure] {
                    let end = outcome.arrow(arrow.3).expect("an arrow");
                    assert!(LifecycleState::of(end.3).is_some(), "{arrow:?} {outcome:?}");
                }
                assert_eq!(TransitionOutcome::Error.arrow(arrow.3).map(|end| end.3), Some(ERROR_PROCESSING));
            }
        }
        assert!(descriptions(Some(FINALIZED)).is_empty());
        assert_eq!((descriptions(None).len(), states().len()), (25, 11));
    }

    #[test]
    fn requests_by_label_or_number() {
        let check = |id: u8, label: &str, from, expected| {
            let asked = Transition { id, label: label.to_owned() };
            assert_eq!(LifecycleTransition::asked(&asked, from), expected, "{asked:?} in {from}");
        };
        check(1, "", UNCONFIGURED, Some(LifecycleTransition::Configure));
        check(1, "", ACTIVE, None);
        check(0, "activate", INACTIVE, Some(LifecycleTransition::Activate));
        check(4, "", ACTIVE, Some(LifecycleTransition::Deactivate));
        check(7, "", ACTIVE, Some(LifecycleTransition::Shutdown));
        check(5, "", ACTIVE, None);
        check(0, "shutdown", INACTIVE, Some(LifecycleTransition::Shutdown));
        check(30, "", ACTIVATING, None);
        check(0, "dance", INACTIVE, None);
    }
}
