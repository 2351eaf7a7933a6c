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

    /// A drive has ended: the base is there, or where it was to be is not reached. Places nearer than `apart`, metres, are one.
    pub(super) fn learn(&self, at: &Pose2, apart: f64, outcome: Result<(), &ErrandFault>) {
        let mut places = self.places();
        match outcome {
            Ok(()) => places.clear(),
            Err(fault) if fault.is_of_the_place() => {
                // It was tried again because no other place was left: all others may be tried again as well.
                if places.iter().any(|[x, y]| (at.x - x).hypot(at.y - y) < apart) {
                    places.clear();
                }
                places.push(at.xy());
            }
            Err(_) => {}
        }
    }
}
