//! Calls of the agent's tools from outside: each goes to the session of its client.

use super::Node;
use super::mind::Mind;
use super::remote::{Answer, Session, session};
use super::source::Source;
use crate::waiting::respond;
use prehend_agent::mind::Order;
use prehend_agent::{Fault, Planner};
use prehend_msgs::prehend_interfaces::srv::CallTool;
use prehend_ros::ServiceRequest;
use prehend_scene::Reason;

/// What stands for the sentence of such a goal.
const SENTENCE: &str = "(a program calls the tools)";

impl Node {
    /// A tool is called from outside; the first call of a client begins a session.
    pub(super) fn call(&mut self, request: ServiceRequest<CallTool::Service>) {
        let CallTool::Request { client, name, arguments } = request.message.clone();
        let asked = self.session_of(&client).and_then(|session| session.call(&name, &arguments));
        let answer = match asked {
            Ok(answer) => answer,
            Err(fault) => return respond(request, refused_call(&fault)),
        };
        tokio::spawn(async move {
            let response = match answer.await {
                Ok(Answer { text, ended }) => {
                    CallTool::Response { accepted: true, answer: text, ended, ..Default::default() }
                }
                Err(_) => refused_call(&Fault::new(Reason::Internal, "The session ended without a word.")),
            };
            respond(request, response);
        });
    }

    /// The session of a client, begun when there is none.
    ///
    /// Errors: a goal cannot start now.
    fn session_of(&mut self, client: &str) -> Result<&Session, Fault> {
        if client.trim().is_empty() {
            return Err(Fault::new(Reason::Infeasible, "A caller needs a name (`client`)."));
        }
        let is_theirs = self.remote.as_ref().is_some_and(|session| session.client == client);
        if !is_theirs {
            let text = SENTENCE;
            let order = Order { text: text.to_owned(), readings: Vec::new(), refusal: None, answers: None };
            self.may_start(&order, false)?;
            let (mut session, caller) = session(client);
            session.goal_id = self.announce(text);
            let goal_id = session.goal_id.clone();
            self.remote = Some(session);
            let by = (Planner::Model, Some(Mind::Called(caller)));
            self.start(&goal_id, order, by, false, Source::Service);
        }
        self.remote.as_ref().ok_or_else(|| Fault::new(Reason::Internal, "there is no session"))
    }
}

fn refused_call(fault: &Fault) -> CallTool::Response {
    CallTool::Response {
        reason: fault.reason.code().to_owned(),
        message: fault.message.clone(),
        ..Default::default()
    }
}
