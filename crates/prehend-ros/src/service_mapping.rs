//! How services are laid on DDS.

use crate::RosError;

/// How a request is tied to its answer on the wire; both ends must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceMapping {
    /// As the peer does it, told by the vendor in its GUID: Cyclone for Cyclone DDS, else enhanced.
    Auto,
    /// In the sample's inline QoS: rmw_fastrtps, the default of ROS 2.
    Enhanced,
    /// In a header before the payload: rmw_cyclonedds.
    Cyclone,
}

impl ServiceMapping {
    pub(crate) fn parse(text: &str) -> Result<Self, RosError> {
        match text {
            "auto" => Ok(Self::Auto),
            "enhanced" => Ok(Self::Enhanced),
            "cyclone" => Ok(Self::Cyclone),
            _ => Err(RosError::Create {
                what: "the service mapping".to_owned(),
                reason: format!("`{text}` is none of `auto`, `enhanced` and `cyclone`"),
            }),
        }
    }
}
