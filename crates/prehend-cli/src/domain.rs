//! A ROS domain of one's own, so that several graphs can run on one machine at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Domains that are tried; the ports of those above are handed out by Linux for other things.
const CANDIDATES: std::ops::RangeInclusive<u16> = 1..=101;

/// Why there is no domain to use.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// `ROS_DOMAIN_ID` is set to something else than a domain.
    #[error("ROS_DOMAIN_ID is `{value}`: expected a number from 0 to 101 or from 215 to 232")]
    BadValue {
        /// The value as found.
        value: String,
    },
    /// Every domain is locked by another graph, or the lock files cannot be written.
    #[error("no free ROS domain: the locks of domains 1 to 101 in {} are all taken or not writable", dir.display())]
    NoneFree {
        /// Folder of the lock files.
        dir: PathBuf,
    },
    /// Several graphs are up, and the environment does not say which is meant.
    #[error("graphs are up in several ROS domains ({}): set ROS_DOMAIN_ID to the one you mean", ids.iter().map(u16::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        /// Their domains.
        ids: Vec<u16>,
    },
}

/// What a graph with a domain of its own is for; written into its lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It serves other commands until it is ended.
    Up,
    /// It serves one goal or one test.
    Run,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Run => "run",
        }
    }
}

/// A domain, and the lock that keeps other graphs out of it while this value lives.
#[derive(Debug)]
pub struct Domain {
    /// The domain.
    pub id: u16,
    /// Held, never read; `None` when the caller's environment chose the domain.
    _lock: Option<File>,
}

impl Domain {
    /// The domain of `ROS_DOMAIN_ID` when it is set, else a free one.
    ///
    /// Errors: [`DomainError::BadValue`], [`DomainError::NoneFree`].
    pub fn choose(purpose: Purpose) -> Result<Self, DomainError> {
        Self::of_environment().unwrap_or_else(|| Self::free(purpose))
    }

    /// Where a graph that runs is looked for: the domain of `ROS_DOMAIN_ID` when it is set, else the one in which
    /// `prehend up` runs on this machine, else 0.
    ///
    /// Errors: [`DomainError::BadValue`], [`DomainError::Several`].
    pub fn find() -> Result<Self, DomainError> {
        if let Some(domain) = Self::of_environment() {
            return domain;
        }
        let dir = std::env::temp_dir();
        let ids: Vec<u16> = CANDIDATES.filter(|id| is_up(&dir, *id)).collect();
        match ids.as_slice() {
            [] => Ok(Self { id: 0, _lock: None }),
            [id] => Ok(Self { id: *id, _lock: None }),
            _ => Err(DomainError::Several { ids }),
        }
    }

    /// A domain nobody on this machine has locked; the search starts at a place that differs by process.
    ///
    /// Errors: [`DomainError::NoneFree`].
    pub fn free(purpose: Purpose) -> Result<Self, DomainError> {
        let dir = std::env::temp_dir();
        let count = CANDIDATES.end() - CANDIDATES.start() + 1;
        let first = (std::process::id() % u32::from(count)) as u16;
        (0..count)
            .map(|step| CANDIDATES.start() + (first + step) % count)
            .find_map(|id| try_lock(&dir, id, purpose).map(|lock| Self { id, _lock: Some(lock) }))
            .ok_or(DomainError::NoneFree { dir })
    }

    fn of_environment() -> Option<Result<Self, DomainError>> {
        std::env::var("ROS_DOMAIN_ID")
            .ok()
            .filter(|value| !value.trim().is_empty())
            .map(|value| Self::parse(&value))
    }

    fn parse(value: &str) -> Result<Self, DomainError> {
        match value.trim().parse::<u16>() {
            Ok(id @ (0..=101 | 215..=232)) => Ok(Self { id, _lock: None }),
            _ => Err(DomainError::BadValue { value: value.to_owned() }),
        }
    }
}

fn lock_path(dir: &Path, id: u16) -> PathBuf {
    dir.join(format!("prehend-domain-{id}.lock"))
}

/// The lock of domain `id`, or `None` when another process has it or its file cannot be written.
fn try_lock(dir: &Path, id: u16, purpose: Purpose) -> Option<File> {
    let mut file =
        OpenOptions::new().create(true).truncate(false).write(true).open(lock_path(dir, id)).ok()?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
    }
    file.set_len(0).and_then(|()| file.write_all(purpose.word().as_bytes())).ok()?;
    Some(file)
}

/// Whether somebody holds the lock of domain `id` for [`Purpose::Up`].
fn is_up(dir: &Path, id: u16) -> bool {
    let path = lock_path(dir, id);
    let Ok(file) = File::open(&path) else { return false };
    let locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    locked && std::fs::read_to_string(path).is_ok_and(|text| text == Purpose::Up.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_free_domains_differ_and_a_lock_ends_with_its_value() {
        let dir = std::env::temp_dir();
        let one = Domain::free(Purpose::Up).unwrap();
        let two = Domain::free(Purpose::Run).unwrap();
        assert_ne!(one.id, two.id);
        assert!(try_lock(&dir, one.id, Purpose::Run).is_none());
        assert!(is_up(&dir, one.id) && !is_up(&dir, two.id));
        let id = one.id;
        drop(one);
        assert!(!is_up(&dir, id));
        assert!(try_lock(&dir, id, Purpose::Run).is_some());
    }

    #[test]
    fn values_of_the_environment() {
        for (value, expected) in
            [("0", Some(0)), (" 42 ", Some(42)), ("232", Some(232)), ("102", None), ("x", None)]
        {
            assert_eq!(Domain::parse(value).ok().map(|domain| domain.id), expected, "{value:?}");
        }
    }
}
