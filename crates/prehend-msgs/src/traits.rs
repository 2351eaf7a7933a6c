//! What the ROS facade needs to know of a generated type: its ROS name and that it can go on the wire.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Anything that can be sent: every generated structure, parts of services and actions too.
pub trait Payload:
    Serialize + DeserializeOwned + Clone + Debug + PartialEq + Default + Send + Sync + 'static
{
}

impl<T: Serialize + DeserializeOwned + Clone + Debug + PartialEq + Default + Send + Sync + 'static> Payload
    for T
{
}

/// A message: `PACKAGE/msg/NAME`.
pub trait Message: Payload {
    /// The ROS package, e.g. `sensor_msgs`.
    const PACKAGE: &'static str;
    /// The name without the package, e.g. `Image`.
    const NAME: &'static str;
    /// The package of this crate that defines the fields: `nav2_msgs_humble` for what has the name `nav2_msgs` in the graph.
    const LAYOUT: &'static str = Self::PACKAGE;
}

/// A service: `PACKAGE/srv/NAME`.
pub trait Service: Send + Sync + 'static {
    /// What the client sends.
    type Request: Payload;
    /// What the server answers.
    type Response: Payload;
    /// The ROS package, e.g. `std_srvs`.
    const PACKAGE: &'static str;
    /// The name without the package, e.g. `Trigger`.
    const NAME: &'static str;
    /// The package of this crate that defines the fields: `nav2_msgs_humble` for what has the name `nav2_msgs` in the graph.
    const LAYOUT: &'static str = Self::PACKAGE;
}

/// An action: `PACKAGE/action/NAME`.
pub trait Action: Send + Sync + 'static {
    /// What the client asks for.
    type Goal: Payload;
    /// How it ended.
    type Result: Payload;
    /// What the server says on the way.
    type Feedback: Payload;
    /// The ROS package, e.g. `control_msgs`.
    const PACKAGE: &'static str;
    /// The name without the package, e.g. `GripperCommand`.
    const NAME: &'static str;
    /// The package of this crate that defines the fields: `nav2_msgs_humble` for what has the name `nav2_msgs` in the graph.
    const LAYOUT: &'static str = Self::PACKAGE;
}
