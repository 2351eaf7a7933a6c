//! The process's one membership in a ROS domain.

use crate::RosError;
use crate::backend::Participant;
use std::fmt;
use std::sync::Arc;

/// Membership of this process in a ROS domain; make one and clone it.
///
/// Peers learn that the process has left when the last clone, node and endpoint is dropped, or on
/// [`shutdown`](Self::shutdown).
#[derive(Clone)]
pub struct Context {
    pub(crate) participant: Arc<Participant>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("domain_id", &self.domain_id()).finish_non_exhaustive()
    }
}

/// The domain that `value` of `ROS_DOMAIN_ID` means.
fn parse_domain_id(value: Option<&str>) -> Result<u16, RosError> {
    let Some(text) = value.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(0) };
    match text.parse::<u16>() {
        // Others have ports among the ephemeral ones of Linux, or none at all.
        Ok(id @ (0..=101 | 215..=232)) => Ok(id),
        _ => Err(RosError::BadDomainId { value: text.to_owned() }),
    }
}

impl Context {
    /// Joins the domain of `ROS_DOMAIN_ID`, 0 when it is not set or empty.
    ///
    /// Errors: [`RosError::BadDomainId`], [`RosError::Create`].
    pub fn create() -> Result<Self, RosError> {
        let value = std::env::var_os("ROS_DOMAIN_ID").map(|value| value.to_string_lossy().into_owned());
        Self::create_in_domain(parse_domain_id(value.as_deref())?)
    }

    /// Joins domain `domain_id`, whatever the environment says.
    ///
    /// Errors: as [`create`](Self::create).
    pub fn create_in_domain(domain_id: u16) -> Result<Self, RosError> {
        let domain_id = parse_domain_id(Some(&domain_id.to_string()))?;
        Ok(Self { participant: Participant::create(domain_id)? })
    }

    /// The domain.
    pub fn domain_id(&self) -> u16 {
        self.participant.domain_id()
    }

    /// Leaves the domain now, although endpoints may be left; these fail with [`RosError::Closed`] from now on.
    pub fn shutdown(&self) {
        self.participant.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_ids() {
        let bad = |value: &str| Err(RosError::BadDomainId { value: value.to_owned() });
        for (value, expected) in [
            (None, Ok(0)),
            (Some(""), Ok(0)),
            (Some(" 7 "), Ok(7)),
            (Some("101"), Ok(101)),
            (Some("215"), Ok(215)),
            (Some("232"), Ok(232)),
            (Some("102"), bad("102")),
            (Some("233"), bad("233")),
            (Some("-1"), bad("-1")),
            (Some("seven"), bad("seven")),
            (Some("70000"), bad("70000")),
        ] {
            assert_eq!(parse_domain_id(value), expected, "{value:?}");
        }
    }
}
