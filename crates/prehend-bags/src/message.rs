//! Stored bytes as messages.

#[cfg(feature = "ros1")]
mod ros1;

use crate::container::{ContainerError, Message};
use prehend_msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;

#[cfg(feature = "ros1")]
use ros1::InRos1;

/// Without the feature nothing is asked of ROS 1.
#[cfg(not(feature = "ros1"))]
pub(crate) trait InRos1 {}
#[cfg(not(feature = "ros1"))]
impl<T> InRos1 for T {}

/// A message that a bag is searched for.
pub(crate) trait Wanted: prehend_msgs::Message + InRos1 {}

impl Wanted for Header {}
impl Wanted for Image {}
impl Wanted for CompressedImage {}
impl Wanted for CameraInfo {}
impl Wanted for TFMessage {}

/// The message, or its header alone.
///
/// Errors: [`ContainerError::Damaged`], [`ContainerError::Unsupported`].
pub(crate) fn decoded<T: Wanted>(message: &Message<'_>) -> Result<T, ContainerError> {
    match message.topic.encoding.as_str() {
        "cdr" => prehend_ros::from_cdr(message.data).map_err(|error| message.damaged(error)),
        #[cfg(feature = "ros1")]
        "ros1" => T::from_ros1(message.data).map_err(|error| message.damaged(error)),
        other => Err(ContainerError::Unsupported {
            path: message.path.to_owned(),
            what: format!(
                "the messages of {} are encoded as `{other}`; expected `cdr`, which ROS 2 writes",
                message.topic.name
            ),
        }),
    }
}
