//! What a robot file says that no motion may exceed.

use prehend_verify::Approval;

/// Safety limits; none has a default but `approval`: never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least x, y, z of the tool centre point in the base frame, metres.
    pub workspace_low: [f64; 3],
    /// Greatest x, y, z of the tool centre point in the base frame, metres.
    pub workspace_high: [f64; 3],
    /// Least height of the tool centre point above the support, metres.
    pub support_clearance: f64,
    /// Pad force at which the robot side stops a motion, newtons.
    pub contact_force: f64,
    /// Silence after which a peer is lost, seconds.
    pub peer_silence: f64,
    /// For which plans a person is asked at least, whatever the verifier is set to.
    pub approval: Approval,
}
