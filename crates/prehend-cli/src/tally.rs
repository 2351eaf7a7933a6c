//! What the trace of a goal adds up to: permits, the first motion.

use crate::node::NodeName;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Permits of one goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permits {
    /// Gate requests.
    pub asked: u32,
    /// Requests that were granted a permit.
    pub granted: u32,
    /// Requests that were refused.
    pub refused: u32,
}

/// Adds up the trace of one goal.
#[derive(Clone, Debug)]
pub struct Tally {
    since: Instant,
    /// Permits so far.
    pub permits: Permits,
    /// Wall seconds from the start to the first motion; `None` before it.
    pub first_motion: Option<f64>,
}

impl Tally {
    /// An empty tally; `since` is the moment the goal was submitted.
    pub fn new(since: Instant) -> Self {
        Self { since, permits: Permits::default(), first_motion: None }
    }

    /// Takes one event into account, of the goal or of no goal in particular.
    pub fn add(&mut self, event: &TraceEvent) {
        match event.kind.as_str() {
            TraceEvent::KIND_MOTION if event.status == "started" && self.first_motion.is_none() => {
                self.first_motion = Some(self.since.elapsed().as_secs_f64());
            }
            // The verifier's answer to a gate request; its outcome checks have other statuses.
            TraceEvent::KIND_VERDICT if event.node == NodeName::Verifier.name() => {
                match event.status.as_str() {
                    "granted" => {
                        self.permits.asked += 1;
                        self.permits.granted += 1;
                    }
                    "refused" => {
                        self.permits.asked += 1;
                        self.permits.refused += 1;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(node: &str, kind: &str, name: &str, status: &str) -> TraceEvent {
        TraceEvent {
            node: node.into(),
            kind: kind.into(),
            name: name.into(),
            status: status.into(),
            ..Default::default()
        }
    }

    #[test]
    fn permits_are_counted_once_each() {
        let mut tally = Tally::new(Instant::now());
        for (node, kind, name, status) in [
            ("verifier", "verdict", "grasp", "granted"),
            ("verifier", "permit", "redeem", "redeemed"),
            ("skills", "permit", "gate", "granted"),
            ("verifier", "verdict", "place", "refused"),
            ("verifier", "verdict", "outcome", "succeeded"),
            ("agent", "tool", "gate", "granted"),
        ] {
            tally.add(&event(node, kind, name, status));
        }
        assert_eq!(tally.permits, Permits { asked: 2, granted: 1, refused: 1 });
        tally.add(&event("skills", "motion", "stop", "engaged"));
        assert_eq!(tally.first_motion, None);
        tally.add(&event("skills", "motion", "approach", "started"));
        assert!(tally.first_motion.is_some());
    }
}
