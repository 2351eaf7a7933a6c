//! The folder a run leaves behind.

use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The events of a run, one JSON object a line.
pub const TRACE: &str = "trace.jsonl";
/// With what and from where the picture before the goal was taken.
pub const VIEW: &str = "camera_before.json";
/// Folder of the object maps, each in a folder of its own: that of the first look, and that of the end.
pub const MAPS: &str = "maps";
/// Folder of the map of the first look, in [`MAPS`].
pub const FIRST_MAP: &str = "first";
/// Folder of the map of the end, in [`MAPS`].
pub const LAST_MAP: &str = "last";
/// Folder of the recording, where one was asked for.
pub const RECORDING: &str = "recording";
/// The page of a run, as `prehend explain` writes it.
pub const REPORT: &str = "report.html";
/// When the robot moved, by physics.
pub const MOTIONS: &str = "motions.json";
/// What `--json` prints; of `prehend up`, how the robot moved.
pub const RESULT: &str = "result.json";

/// The recording in a run's folder, if there is one.
pub fn recording_in(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(RECORDING)).filter(|path| path.is_dir())
}

/// Why a folder holds no recording.
#[derive(Debug, thiserror::Error)]
#[error("{} is a run that was made without a recording: `prehend demo --record` writes one", run.display())]
pub struct NotRecorded {
    run: PathBuf,
}

/// The recording that a person means: the path itself, or what is in the folder of a run.
///
/// Errors: [`NotRecorded`] for the folder of a run that has none.
pub fn recording_at(path: &Path) -> Result<PathBuf, NotRecorded> {
    match recording_in(path) {
        Some(recording) => Ok(recording),
        None if path.join(TRACE).is_file() => Err(NotRecorded { run: path.to_owned() }),
        None => Ok(path.to_owned()),
    }
}

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the operating system said.
    pub error: std::io::Error,
}

/// A run's folder: `trace.jsonl`, `state.json`, `result.json`, pictures, `logs/`.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    trace: File,
}

impl RunFolder {
    /// Makes `runs/<UTC time>-<seed>/` below the current folder, with a number added when there is one already.
    fn dated(seed: u64) -> Result<Self, WriteError> {
        let name = format!("{}-{seed}", utc(SystemTime::now()));
        let runs = PathBuf::from("runs");
        std::fs::create_dir_all(&runs).map_err(|error| WriteError { path: runs.clone(), error })?;
        let mut path = runs.join(&name);
        let mut number = 2;
        // Made, not looked for: another run may begin in the same second.
        while let Err(error) = std::fs::create_dir(&path) {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(WriteError { path, error });
            }
            path = runs.join(format!("{name}-{number}"));
            number += 1;
        }
        Self::at(&path)
    }

    /// The folder that a person names, else a new `runs/<UTC time>-<seed>/` below the current one.
    ///
    /// Errors: [`WriteError`].
    pub fn named_or_dated(named: Option<&Path>, seed: u64) -> Result<Self, WriteError> {
        named.map_or_else(|| Self::dated(seed), Self::at)
    }

    /// Makes the folder at `path`; files of an earlier run in it are overwritten.
    ///
    /// Errors: [`WriteError`].
    pub fn at(path: &Path) -> Result<Self, WriteError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| WriteError { path, error }
        };
        let path = std::path::absolute(path).map_err(failed(path))?;
        let logs = path.join("logs");
        std::fs::create_dir_all(&logs).map_err(failed(&logs))?;
        let file = path.join(TRACE);
        let trace =
            OpenOptions::new().create(true).write(true).truncate(true).open(&file).map_err(failed(&file))?;
        Ok(Self { path, trace })
    }

    /// The folder, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of the log files.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Adds one event to `trace.jsonl`.
    ///
    /// Errors: [`WriteError`].
    pub fn add_event(&mut self, event: &TraceEvent) -> Result<(), WriteError> {
        writeln!(self.trace, "{}", crate::trace::to_json(event))
            .map_err(|error| WriteError { path: self.path.join(TRACE), error })
    }

    /// Writes a value as a JSON file.
    ///
    /// Errors: [`WriteError`].
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), WriteError> {
        let path = self.file(name);
        serde_json::to_vec_pretty(value)
            .map_err(std::io::Error::other)
            .and_then(|bytes| std::fs::write(&path, bytes))
            .map_err(|error| WriteError { path, error })
    }
}

/// UTC date and time as `20261121T160703Z`; the calendar is Howard Hinnant's `civil_from_days`.
pub(crate) fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_795_276_799, "20261121T155959Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_run_folder_keeps_what_it_is_given() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::at(&parent.path().join("a/b")).unwrap();
        folder.add_event(&TraceEvent { name: "one".into(), ..Default::default() }).unwrap();
        folder.add_event(&TraceEvent { name: "two".into(), ..Default::default() }).unwrap();
        folder.write_json("result.json", &serde_json::json!({"ok": true})).unwrap();
        let trace = std::fs::read_to_string(folder.file("trace.jsonl")).unwrap();
        assert_eq!(trace.lines().count(), 2);
        assert!(folder.logs().is_dir());
        assert!(folder.file("result.json").is_file());
    }
}
