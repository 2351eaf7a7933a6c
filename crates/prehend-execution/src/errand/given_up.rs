//! Places that the navigation did not bring the base to.

use super::fault::ErrandFault;
use prehend_navigation::Pose2;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the navigation gave up on the way to, since the base was last driven somewhere: the next errand tries another place. It outlives
/// the errands.
#[derive(Debug, Default)]
pub struct GivenUp(Mutex<Vec<[f64; 2]>>);

impl GivenUp {
    pub(super) fn places(&self) -> MutexGuard<'_, Vec<[f64; 2]>> {
        // A list of numbers is whole whatever happened to who held it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A drive has ended: the base is there, or where it was to be is not reached.
    pub(super) fn learn(&self, at: &Pose2, outcome: Result<(), &ErrandFault>) {
        match outcome {
            Ok(()) => self.places().clear(),
            Err(fault) if fault.is_of_the_place() => self.places().push(at.xy()),
            Err(_) => {}
        }
    }
}
