//! The lifecycle of a node, on the services by which lifecycle managers and `ros2 lifecycle` speak to it.
//!
//! What a transition does is a function of the node's; here is when it is called, one at a time, and what everybody is told.

mod machine;

pub use machine::{LifecycleState, LifecycleTransition, TransitionOutcome};

use crate::{Clock, Node, Publisher, QosProfile, RosError, ServiceRequest, nanoseconds};
use futures::StreamExt;
use futures::future::BoxFuture;
use machine::{Arrow, ERROR_PROCESSING, StateId, descriptions, state, states, transition};
use prehend_msgs::Service;
use prehend_msgs::lifecycle_msgs::msg::TransitionEvent;
use prehend_msgs::lifecycle_msgs::srv::{ChangeState, GetAvailableStates, GetAvailableTransitions, GetState};
use std::fmt;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{error, info, warn};

/// What a node does for a transition.
pub type Perform = Arc<dyn Fn(LifecycleTransition) -> BoxFuture<'static, TransitionOutcome> + Send + Sync>;

/// A transition that the node itself asks for, and where its outcome goes.
type OwnRequest = (LifecycleTransition, oneshot::Sender<bool>);

/// The lifecycle of a node; clones are the same. It begins unconfigured.
#[derive(Clone)]
pub struct Lifecycle {
    state: watch::Receiver<LifecycleState>,
    own: mpsc::UnboundedSender<OwnRequest>,
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifecycle").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Lifecycle {
    /// The state; during a transition the one before it.
    pub fn state(&self) -> LifecycleState {
        *self.state.borrow()
    }

    /// The state and its changes.
    pub fn states(&self) -> watch::Receiver<LifecycleState> {
        self.state.clone()
    }

    /// Asks for a transition from within the node; whether it succeeded. It does not when another is under way or the state has
    /// no such transition.
    pub async fn change(&self, wanted: LifecycleTransition) -> bool {
        let (sender, outcome) = oneshot::channel();
        self.own.send((wanted, sender)).is_ok() && outcome.await.unwrap_or(false)
    }
}

/// Who asked.
enum Asker {
    Service(ServiceRequest<ChangeState::Service>),
    Own(oneshot::Sender<bool>),
}

impl Asker {
    fn answer(self, success: bool) {
        match self {
            Self::Service(request) => {
                if let Err(error) = request.respond(ChangeState::Response { success }) {
                    warn!(%error, "a change of state was not answered");
                }
            }
            // It has stopped waiting.
            Self::Own(sender) => drop(sender.send(success)),
        }
    }
}

struct Machine {
    now: StateId,
    told: watch::Sender<LifecycleState>,
    events: Publisher<TransitionEvent>,
    clock: Clock,
    node: String,
}

impl Machine {
    fn follow(&mut self, arrow: &Arrow) {
        let event = TransitionEvent {
            timestamp: u64::try_from(nanoseconds(&self.clock.now())).unwrap_or(0),
            transition: transition(arrow),
            start_state: state(arrow.2),
            goal_state: state(arrow.3),
        };
        self.now = arrow.3;
        if let Some(state) = LifecycleState::of(self.now) {
            self.told.send_replace(state);
        }
        if let Err(error) = self.events.publish(&event) {
            warn!(%error, "transition event");
        }
    }

    /// Ends the transition that is under way.
    fn end(&mut self, outcome: TransitionOutcome) {
        if let Some(arrow) = outcome.arrow(self.now) {
            self.follow(&arrow);
        }
        if self.now == ERROR_PROCESSING {
            // The node has given everything back and can be configured anew.
            error!("{}: a change of state went wrong", self.node);
            if let Some(arrow) = TransitionOutcome::Success.arrow(self.now) {
                self.follow(&arrow);
            }
        }
        info!("{} is {}", self.node, state(self.now).label);
    }
}

fn respond<S: Service>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(error) = request.respond(response) {
        warn!(%error, "a question about the state was not answered");
    }
}

impl Node {
    /// Offers the lifecycle of this node on its lifecycle services and `~/transition_event`; `perform` does the work of each
    /// transition. Call it within the tokio runtime. The services end with the node.
    ///
    /// After [`TransitionOutcome::Error`] the node is unconfigured, so `perform` must have given everything back.
    ///
    /// Errors: [`RosError::Create`], [`RosError::Closed`].
    pub fn serve_lifecycle(&self, perform: Perform) -> Result<Lifecycle, RosError> {
        let qos = QosProfile::services();
        let mut change = self.create_service::<ChangeState::Service>("~/change_state", qos)?;
        let mut get = self.create_service::<GetState::Service>("~/get_state", qos)?;
        let mut all = self.create_service::<GetAvailableStates::Service>("~/get_available_states", qos)?;
        let mut next =
            self.create_service::<GetAvailableTransitions::Service>("~/get_available_transitions", qos)?;
        let mut graph =
            self.create_service::<GetAvailableTransitions::Service>("~/get_transition_graph", qos)?;
        let (told, told_state) = watch::channel(LifecycleState::Unconfigured);
        let (own, mut own_requests) = mpsc::unbounded_channel::<OwnRequest>();
        let mut machine = Machine {
            now: LifecycleState::Unconfigured.id(),
            told,
            events: self.create_publisher("~/transition_event", QosProfile::default())?,
            clock: self.clock(),
            node: self.fully_qualified_name().to_owned(),
        };
        let task = tokio::spawn(async move {
            let mut under_way: Option<(Asker, BoxFuture<'static, TransitionOutcome>)> = None;
            loop {
                let ended = async {
                    match &mut under_way {
                        Some((_, work)) => work.await,
                        None => std::future::pending().await,
                    }
                };
                let (wanted, asker) = tokio::select! {
                    outcome = ended => {
                        machine.end(outcome);
                        if let Some((asker, _)) = under_way.take() {
                            asker.answer(outcome == TransitionOutcome::Success);
                        }
                        continue;
                    }
                    Some((wanted, sender)) = own_requests.recv() => (Some(wanted), Asker::Own(sender)),
                    Some(request) = change.next() => {
                        (LifecycleTransition::asked(&request.message.transition, machine.now), Asker::Service(request))
                    }
                    Some(request) = get.next() => {
                        respond(request, GetState::Response { current_state: state(machine.now) });
                        continue;
                    }
                    Some(request) = all.next() => {
                        respond(request, GetAvailableStates::Response { available_states: states() });
                        continue;
                    }
                    Some(request) = next.next() => {
                        let available_transitions = descriptions(Some(machine.now));
                        respond(request, GetAvailableTransitions::Response { available_transitions });
                        continue;
                    }
                    Some(request) = graph.next() => {
                        let available_transitions = descriptions(None);
                        respond(request, GetAvailableTransitions::Response { available_transitions });
                        continue;
                    }
                };
                let begun = wanted.and_then(|wanted| Some((wanted, wanted.arrow(machine.now)?)));
                match begun {
                    Some((wanted, arrow)) if under_way.is_none() => {
                        machine.follow(&arrow);
                        under_way = Some((asker, perform(wanted)));
                    }
                    _ => asker.answer(false),
                }
            }
        });
        self.end_with_node(task.abort_handle());
        Ok(Lifecycle { state: told_state, own })
    }
}
