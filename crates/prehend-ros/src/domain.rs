//! A ROS domain for oneself, for tests and parallel runs on one machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::PathBuf;

/// A domain nobody else on this machine holds a lease of; given back when dropped or when the process dies.
///
/// The robot's own graph may well be in any domain: leases keep only their takers apart. Domain 0 is never given.
///
/// ```
/// let first = prehend_ros::DomainLease::take().expect("a domain is free");
/// let second = prehend_ros::DomainLease::take().expect("another one, too");
/// assert_ne!(first.domain_id(), second.domain_id());
/// ```
#[derive(Debug)]
pub struct DomainLease {
    domain_id: u16,
    // Holds the lock.
    _file: File,
}

/// Domains that are given: those whose ports Linux does not hand out for other things.
fn domains() -> impl Iterator<Item = u16> {
    (1..=101).chain(215..=232)
}

fn lock_file(domain_id: u16) -> PathBuf {
    std::env::temp_dir().join(format!("prehend-domain-{domain_id}.lock"))
}

impl DomainLease {
    /// Takes a domain; `None` when all 119 are taken or the lock files in the system's temporary folder cannot be written.
    pub fn take() -> Option<Self> {
        Self::take_for("")
    }

    /// Takes a domain and tells others what for; see [`Self::leased_for`].
    pub fn take_for(purpose: &str) -> Option<Self> {
        let domains: Vec<u16> = domains().collect();
        // Starting at different places keeps processes from trying the same ones.
        let start = std::process::id() as usize * 7 % domains.len();
        domains[start..].iter().chain(&domains[..start]).find_map(|domain_id| lease(*domain_id, purpose))
    }

    /// The domains that are leased on this machine for a purpose.
    pub fn leased_for(purpose: &str) -> Vec<u16> {
        domains().filter(|domain_id| is_leased_for(*domain_id, purpose)).collect()
    }

    /// The domain, for `ROS_DOMAIN_ID` or [`Context::create_in_domain`](crate::Context::create_in_domain).
    pub fn domain_id(&self) -> u16 {
        self.domain_id
    }
}

fn lease(domain_id: u16, purpose: &str) -> Option<DomainLease> {
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(lock_file(domain_id));
    let mut file = open.ok()?;
    file.try_lock().ok()?;
    // What an earlier owner wrote about itself no longer holds.
    file.set_len(0).and_then(|()| file.write_all(purpose.as_bytes())).ok()?;
    Some(DomainLease { domain_id, _file: file })
}

fn is_leased_for(domain_id: u16, purpose: &str) -> bool {
    let path = lock_file(domain_id);
    let Ok(file) = File::open(&path) else { return false };
    let leased = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    leased && std::fs::read_to_string(path).is_ok_and(|text| text == purpose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_keeps_others_out_and_ends_with_its_value() {
        let purpose = format!("test of process {}", std::process::id());
        let one = DomainLease::take_for(&purpose).unwrap();
        let two = DomainLease::take().unwrap();
        assert_ne!(one.domain_id(), two.domain_id());
        assert!(lease(one.domain_id(), "").is_none());
        assert_eq!(DomainLease::leased_for(&purpose), [one.domain_id()]);
        drop(one);
        assert!(DomainLease::leased_for(&purpose).is_empty());
    }
}
