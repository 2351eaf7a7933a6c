//! A ROS domain of one's own, so that several graphs can run on one machine at once.

use prehend_ros::{BACKEND, Backend, DomainLease};

/// Why there is no domain to use.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// `ROS_DOMAIN_ID` is set to something else than a domain.
    #[error("ROS_DOMAIN_ID is `{value}`: expected a number from 0 to 101 or from 215 to 232")]
    BadValue {
        /// The value as found.
        value: String,
    },
    /// Every domain is leased to another graph, or the leases cannot be written.
    #[error("no free ROS domain: every `prehend-domain-*.lock` in {} is taken or not writable", std::env::temp_dir().display())]
    NoneFree,
    /// Several graphs are up, and the environment does not say which is meant.
    #[error("graphs are up in several ROS domains ({}): set ROS_DOMAIN_ID to the one you mean", ids.iter().map(u16::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        /// Their domains.
        ids: Vec<u16>,
    },
}

/// What a graph with a domain of its own is for; written into its lease.
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

/// A domain, and the lease that keeps other graphs out of it while this value lives.
#[derive(Debug)]
pub struct Domain {
    /// The domain.
    pub id: u16,
    /// Held, never read; `None` when the caller's environment chose the domain.
    _lease: Option<DomainLease>,
}

impl Domain {
    /// The domain of `ROS_DOMAIN_ID` when it is set, else a free one; with an installed ROS 2 below, which takes its domain from
    /// there and nowhere else, domain 0 as every tool of ROS 2.
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
        let ids = DomainLease::leased_for(Purpose::Up.word());
        match ids.as_slice() {
            [] => Ok(Self { id: 0, _lease: None }),
            [id] => Ok(Self { id: *id, _lease: None }),
            _ => Err(DomainError::Several { ids }),
        }
    }

    /// A domain nobody on this machine has leased; with an installed ROS 2 below as [`choose`](Self::choose).
    ///
    /// Errors: [`DomainError::NoneFree`], [`DomainError::BadValue`].
    pub fn free(purpose: Purpose) -> Result<Self, DomainError> {
        if let (Backend::Ros2 { .. }, Some(domain)) = (BACKEND, Self::of_environment()) {
            return domain;
        }
        let lease = DomainLease::take_for(purpose.word()).ok_or(DomainError::NoneFree)?;
        Ok(Self { id: lease.domain_id(), _lease: Some(lease) })
    }

    fn of_environment() -> Option<Result<Self, DomainError>> {
        let value = std::env::var("ROS_DOMAIN_ID").ok().filter(|value| !value.trim().is_empty());
        match (value, BACKEND) {
            (Some(value), _) => Some(Self::parse(&value)),
            (None, Backend::Ros2 { .. }) => Some(Ok(Self { id: 0, _lease: None })),
            (None, Backend::Embedded) => None,
        }
    }

    fn parse(value: &str) -> Result<Self, DomainError> {
        match domain_id(value) {
            Some(id) => Ok(Self { id, _lease: None }),
            None => Err(DomainError::BadValue { value: value.to_owned() }),
        }
    }
}

/// The domain that `text` names; `None` when a participant could not join it.
pub fn domain_id(text: &str) -> Option<u16> {
    text.trim().parse().ok().filter(|id| matches!(id, 0..=101 | 215..=232))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_environment() {
        for (value, expected) in
            [("0", Some(0)), (" 42 ", Some(42)), ("232", Some(232)), ("102", None), ("x", None)]
        {
            assert_eq!(Domain::parse(value).ok().map(|domain| domain.id), expected, "{value:?}");
        }
    }
}
