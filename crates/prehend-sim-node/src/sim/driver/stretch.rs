//! What a Stretch's driver was told.

use serde_json::{Value, json};

/// What the driver says of itself.
#[derive(Clone, Debug)]
pub(in crate::sim) struct StretchState {
    pub(in crate::sim) mode: String,
    /// In which it was before the runstop.
    pub(in crate::sim) before: String,
    pub(in crate::sim) runstopped: bool,
    pub(in crate::sim) homed: bool,
}

impl Default for StretchState {
    /// As the driver starts on a robot that was homed.
    fn default() -> Self {
        Self { mode: "position".to_owned(), before: "position".to_owned(), runstopped: false, homed: true }
    }
}

impl StretchState {
    pub(in crate::sim) fn may_move(&self, mode: &str) -> Result<(), String> {
        if self.runstopped || !self.homed || self.mode != mode {
            return Err(format!("mode {}, not {mode} (homed: {})", self.mode, self.homed));
        }
        Ok(())
    }

    pub(in crate::sim) fn change(
        &mut self,
        runstop: Option<bool>,
        homed: Option<bool>,
        mode: Option<String>,
    ) {
        self.homed = homed.unwrap_or(self.homed);
        self.mode = mode.unwrap_or_else(|| std::mem::take(&mut self.mode));
        match runstop {
            Some(true) if !self.runstopped => {
                self.before = std::mem::replace(&mut self.mode, "runstopped".to_owned())
            }
            Some(false) if self.runstopped => self.mode = std::mem::take(&mut self.before),
            Some(_) | None => {}
        }
        self.runstopped = runstop.unwrap_or(self.runstopped);
    }

    pub(in crate::sim) fn tell(&self) -> Value {
        json!({ "mode": self.mode, "runstopped": self.runstopped, "homed": self.homed })
    }
}
