//! Permits: issued once, redeemed once.

use prehend_scene::{Permit, PlanHash};
use std::collections::HashMap;

/// Why a permit was not honoured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// Never issued here.
    #[error("permit {id} was never issued by this verifier; ask the gate again")]
    Unknown {
        /// Permit id.
        id: String,
    },
    /// Redeemed before.
    #[error("permit {id} was used already; a permit is good for one execution")]
    Used {
        /// Permit id.
        id: String,
    },
    /// Too late.
    #[error("permit {id} expired; ask the gate again")]
    Expired {
        /// Permit id.
        id: String,
    },
    /// Shown for another plan.
    #[error("permit {id} was given for another plan")]
    OtherPlan {
        /// Permit id.
        id: String,
    },
    /// The map has changed since.
    #[error("permit {id} was given for map version {permitted}, the map is at {current}; plan again")]
    StaleMap {
        /// Permit id.
        id: String,
        /// Version the permit is good for.
        permitted: u64,
        /// Version shown.
        current: u64,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    permit: Permit,
    used: bool,
}

/// All permits of one verifier's life. Ids carry the verifier's incarnation, so a restart voids the old ones.
#[derive(Debug)]
pub struct Ledger {
    incarnation: u64,
    next: u64,
    entries: HashMap<String, Entry>,
}

impl Ledger {
    /// An empty ledger; `incarnation` must differ between lives of the verifier.
    pub fn new(incarnation: u64) -> Self {
        Self { incarnation, next: 0, entries: HashMap::new() }
    }

    /// Issues a permit for one plan, void after `expires` (seconds); forgets permits that expired before `now`.
    pub fn issue(&mut self, plan_hash: PlanHash, map_version: u64, now: f64, expires: f64) -> Permit {
        // Void permits are kept for a while, so that a late redeem is told "expired" and not "unknown".
        self.entries.retain(|_, entry| entry.permit.expires + 600.0 > now);
        self.next += 1;
        let permit =
            Permit { id: format!("{:x}-{}", self.incarnation, self.next), plan_hash, map_version, expires };
        self.entries.insert(permit.id.clone(), Entry { permit: permit.clone(), used: false });
        permit
    }

    /// Redeems a permit: succeeds at most once, for the same plan and map version, before it expires.
    /// A refused attempt with the right id voids nothing.
    pub fn redeem(
        &mut self,
        id: &str,
        plan_hash: &PlanHash,
        map_version: u64,
        now: f64,
    ) -> Result<(), RedeemError> {
        let id_owned = || id.to_owned();
        let Some(entry) = self.entries.get_mut(id) else {
            return Err(RedeemError::Unknown { id: id_owned() });
        };
        if entry.used {
            return Err(RedeemError::Used { id: id_owned() });
        }
        if entry.permit.plan_hash != *plan_hash {
            return Err(RedeemError::OtherPlan { id: id_owned() });
        }
        if entry.permit.map_version != map_version {
            return Err(RedeemError::StaleMap {
                id: id_owned(),
                permitted: entry.permit.map_version,
                current: map_version,
            });
        }
        // A clock that is not a number, or that jumped back before the issue, must not prolong a permit.
        if !(now.is_finite() && now <= entry.permit.expires) {
            return Err(RedeemError::Expired { id: id_owned() });
        }
        entry.used = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_is_good_once_for_its_plan_and_map_until_it_expires() {
        let hash = PlanHash("aa".to_owned());
        let other = PlanHash("bb".to_owned());
        let mut ledger = Ledger::new(7);
        let permit = ledger.issue(hash.clone(), 3, 10.0, 20.0);
        let id = permit.id.as_str();
        let kind = |result: Result<(), RedeemError>| match result {
            Ok(()) => "ok",
            Err(RedeemError::Unknown { .. }) => "unknown",
            Err(RedeemError::Used { .. }) => "used",
            Err(RedeemError::Expired { .. }) => "expired",
            Err(RedeemError::OtherPlan { .. }) => "other",
            Err(RedeemError::StaleMap { .. }) => "stale",
        };
        assert_eq!(kind(ledger.redeem("nope", &hash, 3, 11.0)), "unknown");
        assert_eq!(kind(ledger.redeem(id, &other, 3, 11.0)), "other");
        assert_eq!(kind(ledger.redeem(id, &hash, 4, 11.0)), "stale");
        assert_eq!(kind(ledger.redeem(id, &hash, 3, 20.1)), "expired");
        assert_eq!(kind(ledger.redeem(id, &hash, 3, f64::NAN)), "expired");
        assert_eq!(kind(ledger.redeem(id, &hash, 3, 20.0)), "ok");
        assert_eq!(kind(ledger.redeem(id, &hash, 3, 20.0)), "used");
        assert_eq!(kind(Ledger::new(8).redeem(id, &hash, 3, 11.0)), "unknown");
    }
}
