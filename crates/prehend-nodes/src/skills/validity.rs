//! What the arm touches where MoveIt found no plan: Jazzy's move_group does not say why (code 99999).

use super::moveit::MoveIt;
use super::scene::{HELD, OURS};
use prehend_msgs::moveit_msgs::msg::{ContactInformation, RobotState};
use prehend_msgs::moveit_msgs::srv::GetStateValidity;
use prehend_robots::RobotConfig;
use prehend_ros::{Client, Node, QosProfile, RosError};

/// MoveIt's service that looks at one state of the robot.
#[derive(Debug)]
pub(super) struct Validity {
    states: Client<GetStateValidity::Service>,
    group: String,
}

impl Validity {
    pub(super) fn new(node: &Node, robot: &RobotConfig) -> Result<Self, RosError> {
        let name = robot.moveit.state_validity();
        let states = node.create_client(&name, QosProfile::services())?;
        Ok(Self { states, group: robot.moveit.group.clone() })
    }

    /// What touches what in this state, in words; `None` when nothing does, or nobody says so: a plan that was not found is told all the same.
    pub(super) async fn touching(&self, moveit: &MoveIt, robot_state: RobotState) -> Option<String> {
        if !self.states.is_available() {
            return None;
        }
        let group_name = self.group.clone();
        let request = GetStateValidity::Request { robot_state, group_name, ..Default::default() };
        let answer = moveit.answers("planning", |longest| self.states.request(request, longest)).await;
        first_contact(&answer.ok()?.contacts)
    }
}

/// The first pair by name: MoveIt tells them in any order.
fn first_contact(contacts: &[ContactInformation]) -> Option<String> {
    let mut pairs: Vec<[&str; 2]> = contacts
        .iter()
        .map(|contact| {
            let mut pair = [name_of(&contact.contact_body_1), name_of(&contact.contact_body_2)];
            pair.sort_unstable();
            pair
        })
        .collect();
    pairs.sort_unstable();
    pairs.first().map(|[one, other]| format!("{one} touches {other}"))
}

/// A body of MoveIt's as a person knows it.
fn name_of(body: &str) -> &str {
    if body == HELD { "what is held" } else { body.strip_prefix(OURS).unwrap_or(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_told_by_the_names_that_a_person_knows() {
        let contact = |one: &str, other: &str| ContactInformation {
            contact_body_1: one.to_owned(),
            contact_body_2: other.to_owned(),
            ..Default::default()
        };
        let mut contacts = vec![contact("right_knuckle", HELD), contact("prehend_mug_0", "left_finger")];
        let told = first_contact(&contacts);
        assert_eq!(told.as_deref(), Some("left_finger touches mug_0"));
        contacts.reverse();
        assert_eq!(first_contact(&contacts), told, "whatever MoveIt's order");
        contacts.remove(0);
        assert_eq!(first_contact(&contacts).as_deref(), Some("right_knuckle touches what is held"));
        assert_eq!(first_contact(&[]), None);
    }
}
