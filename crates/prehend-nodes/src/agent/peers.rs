//! The nodes that a goal needs.

use super::order::needs_motion;
use prehend_agent::Fault;
use prehend_agent::mind::Order;
use prehend_robots::shell::Shell;
use prehend_scene::Reason;

/// Peers a goal with motion needs.
const PEERS: [&str; 4] = ["object_map", "affordance", "verifier", "skills"];
/// The same on a robot that drives.
const DRIVING_PEERS: [&str; 5] = ["object_map", "affordance", "verifier", "skills", "go_to"];
/// Peers a question needs.
const QUESTION_PEERS: [&str; 1] = ["object_map"];

/// The nodes a goal with motion needs on this robot.
pub(super) fn peers_of(shell: &Shell) -> &'static [&'static str] {
    if shell.robot.navigation.is_some() { &DRIVING_PEERS } else { &PEERS }
}

/// Those that an order needs.
pub(super) fn needed(order: &Order, shell: &Shell) -> &'static [&'static str] {
    if needs_motion(order) { peers_of(shell) } else { &QUESTION_PEERS }
}

/// The fault of a peer that is not there.
pub(super) fn lost(peer: &str) -> Fault {
    let reason = if peer == "verifier" { Reason::VerifierLost } else { Reason::PeerLost };
    Fault::new(reason, format!("The node {peer} is not there, or not active."))
}
