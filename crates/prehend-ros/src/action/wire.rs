//! The messages an action adds to its goal, result and feedback, and the names of its endpoints.

use crate::RosError;
use crate::backend::EndpointName;
use prehend_msgs::Action;
use prehend_msgs::builtin_interfaces::msg::Time;
use serde::{Deserialize, Serialize};

/// Id of a goal (`unique_identifier_msgs/msg/UUID`).
pub(crate) type GoalId = [u8; 16];

#[derive(Serialize, Deserialize)]
pub(super) struct SendGoal<G> {
    pub(super) goal_id: GoalId,
    pub(super) goal: G,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SendGoalAnswer {
    pub(super) accepted: bool,
    pub(super) stamp: Time,
}

#[derive(Serialize, Deserialize)]
pub(super) struct GetResult {
    pub(super) goal_id: GoalId,
}

#[derive(Serialize, Deserialize)]
pub(super) struct GetResultAnswer<R> {
    pub(super) status: i8,
    pub(super) result: R,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FeedbackMessage<F> {
    pub(super) goal_id: GoalId,
    pub(super) feedback: F,
}

/// The id at the head of a feedback message, which alone says whose it is.
pub(super) fn leading_id(payload: &[u8]) -> Option<GoalId> {
    payload.get(..16)?.try_into().ok()
}

/// The id in a message, when it has the length of one.
pub(super) fn goal_id(uuid: &[u8]) -> Option<GoalId> {
    uuid.try_into().ok()
}

/// The endpoints of one action.
pub(crate) struct ActionTopics {
    pub(crate) send_goal: EndpointName,
    pub(crate) cancel: EndpointName,
    pub(crate) result: EndpointName,
    pub(crate) feedback: EndpointName,
    pub(crate) status: EndpointName,
}

impl ActionTopics {
    /// The endpoints of the action of an absolute name.
    pub(crate) fn of<A: Action>(action: &str) -> Result<Self, RosError> {
        let named =
            |part: &str, type_name: String| EndpointName::of(&format!("{action}/_action/{part}"), type_name);
        let own = |part: &str, kind: &str| {
            named(part, format!("{}/action/{}_{kind}", A::PACKAGE, A::NAME))
                .map(|named| named.laid_out_as(A::LAYOUT))
        };
        Ok(Self {
            send_goal: own("send_goal", "SendGoal")?,
            cancel: named("cancel_goal", "action_msgs/srv/CancelGoal".to_owned())?,
            result: own("get_result", "GetResult")?,
            feedback: own("feedback", "FeedbackMessage")?,
            status: named("status", "action_msgs/msg/GoalStatusArray".to_owned())?,
        })
    }
}
