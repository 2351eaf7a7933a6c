//! Who holds the robot: two Prehends must not move one arm or one base.
//!
//! Whoever may move something says so ten times a second beside the name of the action that moves it, with how long it has been
//! active. Of two, the one that has been active longer holds it, whatever the clocks say; the other one refuses to move and names
//! the holder. Nodes of the same name are told apart in the same way, by their heartbeats: the younger one ends.

use super::HEARTBEAT_PERIOD;
use prehend_msgs::prehend_interfaces::msg::Heartbeat;
use prehend_ros::{Publisher, Subscription};
use std::time::{Duration, Instant};
use tokio::sync::watch;

use futures::StreamExt;

/// Beats after which somebody who hears nobody else holds what it claims.
const ALONE_AFTER: u64 = 10;
/// A holder that was silent for longer holds nothing any more.
const SILENCE: Duration = Duration::from_millis(1500);

/// Whether this process holds what it moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Hold {
    /// It moves nothing.
    #[default]
    Nothing,
    /// It listens for others.
    Listening,
    /// It does.
    Ours,
    /// Somebody else does.
    Theirs(String),
}

/// How strong a claim is: beats since it is active, and what tells two apart that began at once.
type Strength = (u64, u64);

fn strength(beat: &Heartbeat) -> Strength {
    (beat.sequence, beat.incarnation)
}

/// What is heard of others.
#[derive(Debug, Default)]
struct Contest {
    rival: Option<(Heartbeat, Instant)>,
}

impl Contest {
    fn hear(&mut self, beat: Heartbeat, now: Instant) {
        let stronger = |known: &(Heartbeat, Instant)| {
            known.0.incarnation != beat.incarnation
                && now.duration_since(known.1) < SILENCE
                && strength(&known.0) > strength(&beat)
        };
        if !self.rival.as_ref().is_some_and(stronger) {
            self.rival = Some((beat, now));
        }
    }

    fn judge(&self, ours: Strength, now: Instant) -> Hold {
        match &self.rival {
            Some((beat, heard)) if now.duration_since(*heard) < SILENCE && strength(beat) > ours => {
                Hold::Theirs(beat.node.clone())
            }
            _ if ours.0 < ALONE_AFTER => Hold::Listening,
            _ => Hold::Ours,
        }
    }
}

/// Who this process is, to people.
pub(super) fn identity(node: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{node}, process {} on {}", std::process::id(), host.trim())
}

/// Claims what `claims` is beside, while the node is active, and keeps `hold` up to date.
pub(super) async fn claim(
    node: String,
    incarnation: u64,
    claims: Publisher<Heartbeat>,
    mut others: Subscription<Heartbeat>,
    mut active: watch::Receiver<bool>,
    hold: watch::Sender<Hold>,
) {
    let node = identity(&node);
    let mut contest = Contest::default();
    let mut interval = tokio::time::interval(HEARTBEAT_PERIOD);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut sequence = 0;
    loop {
        tokio::select! {
            _ = interval.tick() => {
                if *active.borrow_and_update() {
                    sequence += 1;
                    let beat = Heartbeat { node: node.clone(), incarnation, sequence, motion_active: false };
                    if let Err(error) = claims.publish(&beat) {
                        tracing::warn!("claim not sent: {error}");
                    }
                } else {
                    sequence = 0;
                }
            }
            Some(beat) = others.next() => {
                if beat.incarnation != incarnation {
                    contest.hear(beat, Instant::now());
                }
            }
        }
        let now = contest.judge((sequence, incarnation), Instant::now());
        hold.send_if_modified(|old| {
            let changed = *old != now;
            if changed && let Hold::Theirs(holder) = &now {
                tracing::error!("this node must not move the robot: it is held by {holder}");
            }
            *old = now;
            changed
        });
    }
}

/// Beats of another node of our name that are needed before we believe in it: those of one that has just died may be on the way.
const BELIEVED_AFTER: u32 = 3;

/// Watches for another node of our own name.
#[derive(Debug, Default)]
pub(super) struct TwinWatch {
    of: Option<u64>,
    beats: u32,
}

impl TwinWatch {
    /// Takes in a beat under our own name; whether it is that of another node that has been active for longer than we are.
    pub(super) fn hear(&mut self, beat: &Heartbeat, ours: Strength) -> bool {
        if beat.incarnation == ours.1 || strength(beat) < ours {
            return false;
        }
        if self.of != Some(beat.incarnation) {
            *self = Self { of: Some(beat.incarnation), beats: 0 };
        }
        self.beats += 1;
        self.beats >= BELIEVED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(node: &str, incarnation: u64, sequence: u64) -> Heartbeat {
        Heartbeat { node: node.to_owned(), incarnation, sequence, motion_active: false }
    }

    #[test]
    fn who_has_been_active_longer_holds_the_robot() {
        let now = Instant::now();
        let mut contest = Contest::default();
        assert_eq!(contest.judge((0, 5), now), Hold::Listening);
        assert_eq!(contest.judge((ALONE_AFTER, 5), now), Hold::Ours);
        contest.hear(beat("old", 9, 500), now);
        assert_eq!(contest.judge((ALONE_AFTER, 5), now), Hold::Theirs("old".to_owned()));
        assert_eq!(contest.judge((501, 5), now), Hold::Ours);
        // A third, younger than the second, does not hide it.
        contest.hear(beat("third", 7, 100), now);
        assert_eq!(contest.judge((200, 5), now), Hold::Theirs("old".to_owned()));
        // Silent, it holds nothing.
        let later = now + SILENCE;
        assert_eq!(contest.judge((200, 5), later), Hold::Ours);
        contest.hear(beat("third", 7, 300), later);
        assert_eq!(contest.judge((200, 5), later), Hold::Theirs("third".to_owned()));
    }

    #[test]
    fn of_two_that_began_at_once_exactly_one_holds_it() {
        let now = Instant::now();
        for (one, other) in [(3, 8), (8, 3)] {
            let mut contest = Contest::default();
            contest.hear(beat("other", other, 20), now);
            assert_eq!(contest.judge((20, one), now) == Hold::Ours, one > other);
        }
    }

    #[test]
    fn a_node_of_our_name_is_believed_after_some_beats() {
        let mut watch = TwinWatch::default();
        assert!(!watch.hear(&beat("skills", 5, 90), (3, 5)), "ourselves");
        assert!(!watch.hear(&beat("skills", 6, 90), (3, 5)));
        assert!(!watch.hear(&beat("skills", 6, 91), (4, 5)));
        assert!(watch.hear(&beat("skills", 6, 92), (5, 5)));
        assert!(!watch.hear(&beat("skills", 6, 2), (50, 5)), "it is younger, and will end");
    }
}
