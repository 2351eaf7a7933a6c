//! Time of a node: simulated or wall.

use crate::{RosError, stub::builtin_interfaces::msg::Time};
use std::time::Duration;

/// The clock of a node.
#[derive(Clone, Debug)]
pub struct Clock {}

impl Clock {
    /// Now; zero before the first `/clock` when simulated.
    pub fn now(&self) -> Time {
        Time::default()
    }
    /// Whether time comes from `/clock`.
    pub fn is_simulated(&self) -> bool {
        false
    }
    /// Whether time runs: always for wall time; a `/clock` within the last wall second when simulated.
    pub fn is_ticking(&self) -> bool {
        false
    }
    /// Waits until the clock ticks.
    pub async fn wait_ticking(&self, _deadline: Duration) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
    /// Sleeps for `duration` of this clock.
    pub async fn sleep(&self, _duration: Duration) {}
}
