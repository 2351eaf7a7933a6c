//! The messages an action adds to its goal, result and feedback, and the names of its endpoints.

use crate::RosError;
use crate::backend::{TopicType, dds_name};
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
    pub(crate) send_goal: (TopicType, TopicType),
    pub(crate) cancel: (TopicType, TopicType),
    pub(crate) result: (TopicType, TopicType),
    pub(crate) feedback: TopicType,
    pub(crate) status: TopicType,
}

impl ActionTopics {
    /// The endpoints of the action of an absolute name.
    pub(crate) fn of<A: Action>(action: &str) -> Result<Self, RosError> {
        let own = |part: &str| format!("{}::action::dds_::{}_{part}_", A::PACKAGE, A::NAME);
        let service = |part: &str, types: [String; 2]| -> Result<_, RosError> {
            let name = format!("{action}/_action/{part}");
            let [request, response] = types;
            Ok((
                TopicType { name: dds_name("rq", &name, "Request")?, type_name: request },
                TopicType { name: dds_name("rr", &name, "Reply")?, type_name: response },
            ))
        };
        let topic = |part: &str, type_name: String| -> Result<_, RosError> {
            Ok(TopicType { name: dds_name("rt", &format!("{action}/_action/{part}"), "")?, type_name })
        };
        let cancel = |part: &str| format!("action_msgs::srv::dds_::CancelGoal_{part}_");
        Ok(Self {
            send_goal: service("send_goal", [own("SendGoal_Request"), own("SendGoal_Response")])?,
            cancel: service("cancel_goal", [cancel("Request"), cancel("Response")])?,
            result: service("get_result", [own("GetResult_Request"), own("GetResult_Response")])?,
            feedback: topic("feedback", own("FeedbackMessage"))?,
            status: topic("status", "action_msgs::msg::dds_::GoalStatusArray_".to_owned())?,
        })
    }
}
