//! A map that is built frame by frame, of which some are passed over.

use prehend_perception::{MapSettings, Sight};
use prehend_recording::build::FrameReport;
use prehend_recording::{BuildError, MapOfFrames, RecordedFrame, SavedMap};

/// A map that grows frame by frame, and what became of the frames.
pub(super) struct Growing {
    map: MapOfFrames,
    pub(super) reports: Vec<FrameReport>,
    /// Names of frames without a pose in which no table is seen.
    passed_over: Vec<String>,
}

impl Growing {
    pub(super) fn new(settings: MapSettings, seed: u64, sight: Sight) -> Self {
        let map = MapOfFrames::new(settings, seed, sight);
        Self { map, reports: Vec::new(), passed_over: Vec::new() }
    }

    /// Takes a frame. One without a pose in which no table is seen is passed over with a line: each such frame is a scene of its own.
    ///
    /// Errors: every other variant of [`BuildError`].
    pub(super) fn take(&mut self, frame: RecordedFrame) -> Result<(), BuildError> {
        match self.map.take(frame) {
            Ok(report) => self.reports.push(report),
            Err(BuildError::NoSupport { frame }) => {
                eprintln!("passed over: {}", BuildError::NoSupport { frame: frame.clone() });
                self.passed_over.push(frame);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Frames so far.
    pub(super) fn count(&self) -> usize {
        self.reports.len() + self.passed_over.len()
    }

    /// The map, the reports of the frames in it, and the names of those that were passed over.
    ///
    /// Errors: [`BuildError::NoSupport`] if all were.
    pub(super) fn finish(self) -> Result<(SavedMap, Vec<FrameReport>, Vec<String>), BuildError> {
        match self.passed_over.first().filter(|_| self.reports.is_empty()) {
            Some(frame) => Err(BuildError::NoSupport { frame: frame.clone() }),
            None => Ok((self.map.finish(), self.reports, self.passed_over)),
        }
    }
}
