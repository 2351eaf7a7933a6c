//! How far this process looks for others, by the variables of ROS.
//!
//! `ROS_LOCALHOST_ONLY=1`, or `ROS_AUTOMATIC_DISCOVERY_RANGE` (`LOCALHOST`, `SUBNET`, `SYSTEM_DEFAULT`). `LOCALHOST` sends and
//! announces on the loopback interface alone. `OFF` cannot be kept to with RustDDS and is an error, as is what is no range. Peers
//! cannot be named to RustDDS: `ROS_STATIC_PEERS` is warned of.

use crate::RosError;
use std::net::{IpAddr, Ipv4Addr};

/// How far others are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// On this machine.
    Localhost,
    /// On every network interface.
    Subnet,
}

impl Range {
    /// What the environment says.
    ///
    /// Errors: [`RosError::BadDiscovery`].
    pub(super) fn of_environment() -> Result<Self, RosError> {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        if variable("ROS_STATIC_PEERS").is_some_and(|peers| !peers.trim().is_empty()) {
            tracing::warn!(
                "ROS_STATIC_PEERS is not known to the embedded backend: others are found by multicast"
            );
        }
        Self::parse(
            variable("ROS_LOCALHOST_ONLY").as_deref(),
            variable("ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref(),
        )
    }

    fn parse(localhost_only: Option<&str>, range: Option<&str>) -> Result<Self, RosError> {
        let bad = |variable: &'static str, value: &str, expected: &'static str| RosError::BadDiscovery {
            variable,
            value: value.to_owned(),
            expected,
        };
        match localhost_only.map(str::trim).unwrap_or_default() {
            "" | "0" => {}
            "1" => return Ok(Self::Localhost),
            other => return Err(bad("ROS_LOCALHOST_ONLY", other, "0 or 1")),
        }
        match range.map(str::trim).unwrap_or_default() {
            "" | "SUBNET" | "SYSTEM_DEFAULT" => Ok(Self::Subnet),
            "LOCALHOST" => Ok(Self::Localhost),
            other => Err(bad(
                "ROS_AUTOMATIC_DISCOVERY_RANGE",
                other,
                "LOCALHOST, SUBNET or SYSTEM_DEFAULT (the embedded backend cannot be OFF)",
            )),
        }
    }

    /// Addresses of the interfaces that may be used; `None`: all.
    pub(super) fn only_networks(self) -> Option<[IpAddr; 1]> {
        (self == Self::Localhost).then_some([IpAddr::V4(Ipv4Addr::LOCALHOST)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_ros() {
        for (localhost, range, expected) in [
            (None, None, Some(Range::Subnet)),
            (Some("0"), Some(""), Some(Range::Subnet)),
            (Some("1"), None, Some(Range::Localhost)),
            (Some("1"), Some("SUBNET"), Some(Range::Localhost)),
            (None, Some("LOCALHOST"), Some(Range::Localhost)),
            (None, Some("SYSTEM_DEFAULT"), Some(Range::Subnet)),
            (None, Some("OFF"), None),
            (None, Some("localhost"), None),
            (Some("yes"), None, None),
        ] {
            assert_eq!(Range::parse(localhost, range).ok(), expected, "{localhost:?} {range:?}");
        }
        let error = Range::parse(None, Some("NEAR")).expect_err("no range").to_string();
        assert_eq!(
            error,
            "ROS_AUTOMATIC_DISCOVERY_RANGE is `NEAR`: expected LOCALHOST, SUBNET or SYSTEM_DEFAULT (the embedded backend cannot be OFF)"
        );
    }
}
