//! The wish of the user, or of the parent process, that a command ends.

use prehend_ros::{Shutdown, shutdown_signal};
use std::fmt;
use std::pin::Pin;

/// Listens from its making on; a wish is kept until somebody asks for it, and stays.
pub struct Interrupt {
    signal: Pin<Box<dyn Future<Output = Shutdown> + Send>>,
    raised: bool,
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt").field("raised", &self.raised).finish_non_exhaustive()
    }
}

impl Interrupt {
    /// Listens to SIGINT and SIGTERM; `supervised`: and to the end of stdin, which means that the parent is gone.
    pub fn new(supervised: bool) -> Self {
        Self { signal: Box::pin(shutdown_signal(supervised)), raised: false }
    }

    /// Completes when the end is wished for; at once when it was before.
    pub async fn raised(&mut self) {
        if !self.raised {
            let _ = (&mut self.signal).await;
            self.raised = true;
        }
    }

    /// Whether [`raised`](Self::raised) has completed.
    pub fn is_raised(&self) -> bool {
        self.raised
    }
}
