//! A ROS domain for oneself, for tests and parallel runs on one machine.

use std::fs::{File, OpenOptions};
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

/// The lock is the one that `prehend up` and `prehend demo` take, so that neither enters the other's domain.
fn lock_file(domain_id: u16) -> PathBuf {
    std::env::temp_dir().join(format!("prehend-domain-{domain_id}.lock"))
}

impl DomainLease {
    /// Takes a domain; `None` when all 119 are taken.
    pub fn take() -> Option<Self> {
        let domains: Vec<u16> = (1..=101).chain(215..=232).collect();
        // Starting at different places keeps processes from trying the same ones.
        let start = std::process::id() as usize * 7 % domains.len();
        domains[start..].iter().chain(&domains[..start]).find_map(|domain_id| {
            let open =
                OpenOptions::new().create(true).truncate(false).write(true).open(lock_file(*domain_id));
            let file = open.ok()?;
            file.try_lock().ok()?;
            // What an earlier owner wrote about itself no longer holds.
            file.set_len(0).ok()?;
            Some(Self { domain_id: *domain_id, _file: file })
        })
    }

    /// The domain, for `ROS_DOMAIN_ID` or [`Context::create_in_domain`](crate::Context::create_in_domain).
    pub fn domain_id(&self) -> u16 {
        self.domain_id
    }
}
