//! The twins of our interfaces among the types that r2r makes from an installed ROS 2.
//!
//! Messages stay the types of this crate: r2r's have no other fields, but their constants are enums of C, their `Default`
//! calls into C, and setting one from a value of the wrong length panics. So everything travels as CDR bytes, and r2r's
//! types stand behind: rcl wants them for services, and for the feedback of actions. Which there are was decided where this
//! crate was compiled, by `AMENT_PREFIX_PATH` and `IDL_PACKAGE_FILTER`.

use crate::Payload;
use r2r::{WrappedServiceTypeSupport, WrappedTypesupport};

/// Does something with the r2r type of a service.
pub trait ServiceVisitor {
    /// What comes of it.
    type Output;

    /// Called with the type.
    fn visit<S>(self) -> Self::Output
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send;
}

/// Does something with the r2r type of a message.
pub trait MessageVisitor {
    /// What comes of it.
    type Output;

    /// Called with the type.
    fn visit<T: WrappedTypesupport + Send + 'static>(self) -> Self::Output;
}

/// Looks at each of our types beside its twin.
pub trait TwinVisitor {
    /// Called with every pair and its name in ROS; the parts of a service are `std_srvs/srv/Trigger_Request` and so on.
    fn visit<Ours: Payload, Theirs: WrappedTypesupport>(&mut self, type_name: &'static str);
}

/// Calls `visitor` with the service of `type_name`, which may be one of the two of an action, such as
/// `example_interfaces/action/Fibonacci_SendGoal`; `None` when r2r has no such service.
pub fn visit_service<V: ServiceVisitor>(type_name: &str, visitor: V) -> Option<V::Output> {
    service(type_name, visitor)
}

/// Calls `visitor` with the feedback message of `type_name`, such as `example_interfaces/action/Fibonacci_FeedbackMessage`;
/// `None` when r2r has no such message.
pub fn visit_feedback<V: MessageVisitor>(type_name: &str, visitor: V) -> Option<V::Output> {
    feedback(type_name, visitor)
}

/// Calls `visitor` with every type that has a twin.
pub fn visit_twins(visitor: &mut impl TwinVisitor) {
    twins(visitor);
}

/// A message, service or action that has a twin.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// What it is called here: `nav2_msgs_humble/action/NavigateToPose`.
    pub name: &'static str,
    /// What it is called in the graph, as another layout may be, too: `nav2_msgs/action/NavigateToPose`.
    pub in_graph: &'static str,
    /// The names that [`visit_twins`] has for its parts and all messages within.
    pub parts: &'static [&'static str],
}

/// Everything that has a twin.
pub fn definitions() -> &'static [Definition] {
    DEFINITIONS
}

/// Packages with interfaces of which r2r has none: they were not installed where this crate was compiled, or filtered out.
pub fn missing_packages() -> &'static [&'static str] {
    WITHOUT
}

include!(concat!(env!("OUT_DIR"), "/ros2.rs"));
