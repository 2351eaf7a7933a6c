//! What the peer offers.

use futures::StreamExt;
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::sensor_msgs::msg::Image;
use prehend_msgs::std_msgs::msg::String as Text;
use prehend_msgs::std_srvs::srv::{SetBool, Trigger};
use prehend_ros::{ExecutingGoal, Node, Publisher, QosProfile, RosError};
use std::time::Duration;

/// Length of the text that `text` answers with: several datagrams.
const LONG_TEXT: usize = 200_000;

/// Between two feedbacks of a goal.
const STEP: Duration = Duration::from_millis(20);

/// Publishers that commands use; the servers answer by themselves.
pub(crate) struct Offers {
    pub(crate) numbers: Publisher<Text>,
    pub(crate) images: Publisher<Image>,
    pub(crate) large: Publisher<Image>,
    _latched: Publisher<Text>,
}

/// A picture whose bytes follow from its number, stamped now.
pub(crate) fn picture(node: &Node, number: u32, width: u32, height: u32) -> Image {
    let mut image = Image {
        height,
        width,
        encoding: "rgb8".to_owned(),
        step: 3 * width,
        data: (0..3 * width * height).map(|index| (index + number) as u8).collect(),
        ..Default::default()
    };
    image.header.frame_id = number.to_string();
    image.header.stamp = node.now();
    image
}

impl Offers {
    pub(crate) fn make(node: &Node, place: &str) -> Result<Self, RosError> {
        let latched = node.create_publisher(&format!("{place}/latched"), QosProfile::transient_local())?;
        for data in ["first", "second", "third"] {
            latched.publish(&Text { data: data.to_owned() })?;
        }
        serve(node, place)?;
        Ok(Self {
            numbers: node.create_publisher(&format!("{place}/numbers"), QosProfile::default().depth(1000))?,
            images: node.create_publisher(&format!("{place}/images"), QosProfile::sensor_data())?,
            large: node.create_publisher(&format!("{place}/large"), QosProfile::default().depth(2))?,
            _latched: latched,
        })
    }
}

fn serve(node: &Node, place: &str) -> Result<(), RosError> {
    let services = QosProfile::services();
    let mut switch = node.create_service::<SetBool::Service>(&format!("{place}/switch"), services)?;
    tokio::spawn(async move {
        while let Some(request) = switch.next().await {
            let success = request.message.data;
            let answer = SetBool::Response { success, message: format!("switched {success}") };
            if let Err(error) = request.respond(answer) {
                tracing::warn!(%error, "not answered");
            }
        }
    });
    let mut text = node.create_service::<Trigger::Service>(&format!("{place}/text"), services)?;
    tokio::spawn(async move {
        while let Some(request) = text.next().await {
            let answer = Trigger::Response { success: true, message: "x".repeat(LONG_TEXT) };
            if let Err(error) = request.respond(answer) {
                tracing::warn!(%error, "not answered");
            }
        }
    });
    let mut gripper = node.create_action_server::<GripperCommand::Action>(&format!("{place}/gripper"))?;
    tokio::spawn(async move {
        while let Some(request) = gripper.next().await {
            if request.goal.command.position < 0.0 {
                request.reject();
            } else {
                tokio::spawn(close(request.accept()));
            }
        }
    });
    Ok(())
}

/// Closes step by step, until it is there or is told to stop; a goal above 1 asks for more than the gripper can do.
async fn close(goal: ExecutingGoal<GripperCommand::Action>) {
    let wanted = goal.goal().command.position;
    let mut position = 0.0;
    while position < wanted {
        tokio::select! {
            () = goal.cancelled() => {
                return goal.canceled(GripperCommand::Result { position, ..Default::default() });
            }
            () = tokio::time::sleep(STEP) => {}
        }
        position += 0.1;
        if position > 1.05 {
            return goal.abort(GripperCommand::Result { position, stalled: true, ..Default::default() });
        }
        let feedback = GripperCommand::Feedback { position, ..Default::default() };
        if let Err(error) = goal.publish_feedback(feedback) {
            tracing::warn!(%error, "no feedback");
        }
    }
    goal.succeed(GripperCommand::Result { position, reached_goal: true, ..Default::default() });
}
