//! The side that does something.

use super::GoalStatus;
use super::wire::{FeedbackMessage, GetResult, GetResultAnswer, GoalId, SendGoal, SendGoalAnswer, goal_id};
use crate::backend::{Incoming, Participant, Responder, Writer, decode, encode};
use crate::sync::{Queue, lock};
use crate::{Clock, RosError};
use bytes::Bytes;
use futures::Stream;
use prehend_msgs::Action;
use prehend_msgs::action_msgs::msg::{GoalInfo, GoalStatus as StatusMessage, GoalStatusArray};
use prehend_msgs::action_msgs::srv::CancelGoal;
use prehend_msgs::builtin_interfaces::msg::Time;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;
use tokio::sync::watch;
use tracing::warn;

/// Status goes out this often while goals live, so that silence means death.
const STATUS_PERIOD: Duration = Duration::from_millis(200);

/// Ended goals whose results can still be asked for.
const REMEMBERED: usize = 64;

/// Goals that wait to be accepted; beyond them the oldest is rejected.
const GOAL_BACKLOG: usize = 64;

/// The endpoints of a server, made by the node.
pub(crate) struct ServerEnds {
    pub(crate) name: String,
    pub(crate) participant: Arc<Participant>,
    pub(crate) clock: Clock,
    pub(crate) feedback: Writer,
    pub(crate) status: Writer,
}

/// Takes requests of one service.
pub(crate) type RequestSink = Box<dyn Fn(Incoming) + Send + Sync>;

struct Core {
    name: String,
    clock: Clock,
    goals: Mutex<Table>,
    feedback: Writer,
    status: Writer,
    send_goal: Responder,
    cancel: Responder,
    result: Responder,
    /// Answer to who asks for the result of a goal nobody knows.
    unknown: Bytes,
    /// What was asked while the server is [`Occupied`]; `None` while it is not.
    unheard: Mutex<Option<Vec<Unheard>>>,
}

/// What an occupied server was asked.
enum Unheard {
    Cancel(Incoming),
    Result(Incoming),
}

#[derive(Default)]
struct Table {
    goals: HashMap<GoalId, Goal>,
    ended: VecDeque<GoalId>,
}

struct Goal {
    status: GoalStatus,
    stamp: Time,
    cancel: watch::Sender<bool>,
    result: Option<Bytes>,
    waiting: Vec<Incoming>,
}

fn answer_bytes<R: serde::Serialize>(status: GoalStatus, result: &R) -> Result<Bytes, RosError> {
    encode(&GetResultAnswer { status: status.to_wire(), result }, &AtomicUsize::new(256))
}

impl Core {
    fn info(id: &GoalId, stamp: &Time) -> GoalInfo {
        let mut info = GoalInfo { stamp: stamp.clone(), ..Default::default() };
        info.goal_id.uuid = id.to_vec();
        info
    }

    fn publish_status(&self) {
        let status_list = {
            let table = lock(&self.goals);
            let message = |(id, goal): (&GoalId, &Goal)| StatusMessage {
                goal_info: Self::info(id, &goal.stamp),
                status: goal.status.to_wire(),
            };
            table.goals.iter().map(message).collect()
        };
        let sent = encode(&GoalStatusArray { status_list }, &AtomicUsize::new(256))
            .and_then(|bytes| self.status.publish(bytes));
        self.log(sent);
    }

    /// Keeps clients from taking a busy server for a dead one.
    fn beat(&self) {
        let occupied = lock(&self.unheard).is_some();
        if !occupied && lock(&self.goals).goals.values().any(|goal| !goal.status.is_terminal()) {
            self.publish_status();
        }
    }

    fn log(&self, outcome: Result<(), RosError>) {
        match outcome {
            Ok(()) | Err(RosError::Closed) => {}
            Err(error) => warn!(action = self.name, %error, "not sent"),
        }
    }

    /// Answers what was asked, or keeps it until the server is occupied no more.
    fn hear(&self, asked: Unheard) {
        if let Some(unheard) = &mut *lock(&self.unheard) {
            unheard.push(asked);
            return;
        }
        match asked {
            Unheard::Cancel(incoming) => self.on_cancel(&incoming),
            Unheard::Result(incoming) => self.on_result(incoming),
        }
    }

    fn on_cancel(&self, incoming: &Incoming) {
        let request: CancelGoal::Request = match decode(&incoming.sample.payload, incoming.sample.encoding) {
            Ok(request) => request,
            Err(error) => return warn!(action = self.name, %error, "a cancel request was left out"),
        };
        let stamp = request.goal_info.stamp;
        let Some(id) = goal_id(&request.goal_info.goal_id.uuid) else { return };
        let (any_id, any_time) = (id == [0; 16], stamp == Time::default());
        let before = |goal: &Goal| (goal.stamp.sec, goal.stamp.nanosec) <= (stamp.sec, stamp.nanosec);
        let mut answer = CancelGoal::Response::default();
        {
            let mut table = lock(&self.goals);
            answer.return_code = match table.goals.get(&id) {
                _ if any_id => 0,
                None => 2,
                Some(goal) if goal.status.is_terminal() => 3,
                Some(_) => 0,
            };
            for (goal_id, goal) in &mut table.goals {
                let meant = if any_id {
                    any_time || before(goal)
                } else {
                    *goal_id == id || (!any_time && before(goal))
                };
                if meant && !goal.status.is_terminal() {
                    goal.status = GoalStatus::Canceling;
                    goal.cancel.send_replace(true);
                    answer.goals_canceling.push(Self::info(goal_id, &goal.stamp));
                }
            }
            if !answer.goals_canceling.is_empty() {
                answer.return_code = 0;
            }
        }
        let sent =
            encode(&answer, &AtomicUsize::new(64)).and_then(|bytes| self.cancel.respond(incoming, bytes));
        self.log(sent);
        self.publish_status();
    }

    fn on_result(&self, incoming: Incoming) {
        let request: GetResult = match decode(&incoming.sample.payload, incoming.sample.encoding) {
            Ok(request) => request,
            Err(error) => return warn!(action = self.name, %error, "a result request was left out"),
        };
        let answer = match lock(&self.goals).goals.get_mut(&request.goal_id) {
            None => self.unknown.clone(),
            Some(Goal { result: Some(result), .. }) => result.clone(),
            Some(goal) => {
                goal.waiting.push(incoming);
                return;
            }
        };
        self.log(self.result.respond(&incoming, answer));
    }

    fn answer_goal(&self, incoming: &Incoming, accepted: bool, stamp: Time) {
        let sent = encode(&SendGoalAnswer { accepted, stamp }, &AtomicUsize::new(16))
            .and_then(|bytes| self.send_goal.respond(incoming, bytes));
        self.log(sent);
    }

    /// Ends a goal: a success after an accepted cancel request counts as canceled.
    fn end<R: serde::Serialize + Default>(&self, id: &GoalId, wanted: GoalStatus, result: &R) {
        let waiting = {
            let mut table = lock(&self.goals);
            let Some(goal) = table.goals.get_mut(id) else { return };
            let status = match (goal.status, wanted) {
                (GoalStatus::Canceling, GoalStatus::Succeeded) => GoalStatus::Canceled,
                _ => wanted,
            };
            let (status, bytes) = match answer_bytes(status, result) {
                Ok(bytes) => (status, bytes),
                Err(error) => {
                    warn!(action = self.name, %error, "the result could not be encoded");
                    match answer_bytes(GoalStatus::Aborted, &R::default()) {
                        Ok(bytes) => (GoalStatus::Aborted, bytes),
                        Err(_) => (GoalStatus::Aborted, self.unknown.clone()),
                    }
                }
            };
            goal.status = status;
            goal.result = Some(bytes.clone());
            let waiting = std::mem::take(&mut goal.waiting);
            table.ended.push_back(*id);
            while table.ended.len() > REMEMBERED {
                if let Some(old) = table.ended.pop_front() {
                    table.goals.remove(&old);
                }
            }
            waiting.into_iter().map(|request| (request, bytes.clone())).collect::<Vec<_>>()
        };
        for (request, bytes) in waiting {
            self.log(self.result.respond(&request, bytes));
        }
        self.publish_status();
    }
}

/// A stream of goals that ask to be accepted; it never ends. Goals that do not decode are rejected.
pub struct ActionServer<A: Action> {
    core: Arc<Core>,
    queue: Arc<Queue<Incoming>>,
    _beat: Arc<dyn Fn() + Send + Sync>,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> fmt::Debug for ActionServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionServer").field("action", &self.core.name).finish_non_exhaustive()
    }
}

impl<A: Action> ActionServer<A> {
    /// `serve` makes the responders of goals, cancel requests and result requests.
    pub(crate) fn new(
        ends: ServerEnds,
        serve: impl FnOnce([RequestSink; 3]) -> Result<[Responder; 3], RosError>,
    ) -> Result<Self, RosError> {
        let queue = Arc::new(Queue::new(GOAL_BACKLOG));
        // Weak: the sinks live in the participant, which the core holds.
        let slot: Arc<OnceLock<Weak<Core>>> = Arc::default();
        let core_of = |slot: &Arc<OnceLock<Weak<Core>>>| {
            let slot = slot.clone();
            move || slot.get().and_then(Weak::upgrade)
        };
        let (goal_queue, goal_core) = (queue.clone(), core_of(&slot));
        let (cancel_core, result_core) = (core_of(&slot), core_of(&slot));
        let on_goal: RequestSink = Box::new(move |incoming| {
            if let (Some(fallen), Some(core)) = (goal_queue.push(incoming), goal_core()) {
                core.answer_goal(&fallen, false, Time::default());
            }
        });
        let on_cancel: RequestSink = Box::new(move |incoming| {
            if let Some(core) = cancel_core() {
                core.hear(Unheard::Cancel(incoming));
            }
        });
        let on_result: RequestSink = Box::new(move |incoming| {
            if let Some(core) = result_core() {
                core.hear(Unheard::Result(incoming));
            }
        });
        let [send_goal, cancel, result] = serve([on_goal, on_cancel, on_result])?;
        let ServerEnds { name, participant, clock, feedback, status } = ends;
        let unknown = answer_bytes(GoalStatus::Unknown, &A::Result::default())?;
        let core = Arc::new(Core {
            name,
            clock,
            goals: Mutex::default(),
            feedback,
            status,
            send_goal,
            cancel,
            result,
            unknown,
            unheard: Mutex::default(),
        });
        // Set once, here.
        let _ = slot.set(Arc::downgrade(&core));
        let beating = Arc::downgrade(&core);
        let beat: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            if let Some(core) = beating.upgrade() {
                core.beat();
            }
        });
        participant.tick(STATUS_PERIOD, Arc::downgrade(&beat));
        Ok(Self { core, queue, _beat: beat, action: PhantomData })
    }
}

impl<A: Action> Stream for ActionServer<A> {
    type Item = GoalRequest<A>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<GoalRequest<A>>> {
        loop {
            let incoming = match self.queue.poll_pop(cx) {
                Poll::Ready(Some(incoming)) => incoming,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            };
            let asked = decode::<SendGoal<A::Goal>>(&incoming.sample.payload, incoming.sample.encoding);
            match asked {
                Ok(SendGoal { goal_id, goal }) if !lock(&self.core.goals).goals.contains_key(&goal_id) => {
                    let open = Open { core: self.core.clone(), incoming, id: goal_id, answered: false };
                    return Poll::Ready(Some(GoalRequest { goal, open, beat: self._beat.clone() }));
                }
                Ok(_) => warn!(action = self.core.name, "a goal came twice"),
                Err(error) => warn!(action = self.core.name, %error, "a goal was rejected"),
            }
            self.core.answer_goal(&incoming, false, Time::default());
        }
    }
}

/// A goal that asks to be accepted; dropping it rejects it.
pub struct GoalRequest<A: Action> {
    /// What is asked.
    pub goal: A::Goal,
    open: Open,
    beat: Arc<dyn Fn() + Send + Sync>,
}

struct Open {
    core: Arc<Core>,
    incoming: Incoming,
    id: GoalId,
    answered: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.answered {
            self.core.answer_goal(&self.incoming, false, Time::default());
        }
    }
}

impl<A: Action> fmt::Debug for GoalRequest<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalRequest").field("goal", &self.goal).finish_non_exhaustive()
    }
}

impl<A: Action> GoalRequest<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        self.open.id
    }

    /// Accepts the goal, which is executing from now on.
    pub fn accept(self) -> ExecutingGoal<A> {
        let Self { goal, mut open, beat } = self;
        let core = open.core.clone();
        let (cancel, cancelled) = watch::channel(false);
        let stamp = core.clock.now();
        let entry = Goal {
            status: GoalStatus::Executing,
            stamp: stamp.clone(),
            cancel,
            result: None,
            waiting: Vec::new(),
        };
        lock(&core.goals).goals.insert(open.id, entry);
        open.answered = true;
        core.answer_goal(&open.incoming, true, stamp);
        core.publish_status();
        ExecutingGoal { live: Some(Live { core, id: open.id }), goal, cancelled, _beat: beat }
    }

    /// Makes the server answer nothing and tell no status until the returned value is dropped; what is asked meanwhile is answered then.
    /// Called before the goal is accepted, nobody is heard from there on.
    ///
    /// So does a server of `rclcpp` that works a goal off in the only thread of its callback group.
    pub fn occupy(&self) -> Occupied {
        let core = self.open.core.clone();
        lock(&core.unheard).get_or_insert_default();
        Occupied { core }
    }

    /// Rejects the goal.
    pub fn reject(self) {}
}

/// A server that hears nothing until this is dropped; see [`GoalRequest::occupy`].
pub struct Occupied {
    core: Arc<Core>,
}

impl fmt::Debug for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Occupied").finish_non_exhaustive()
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let unheard = lock(&self.core.unheard).take();
        for asked in unheard.into_iter().flatten() {
            self.core.hear(asked);
        }
    }
}

struct Live {
    core: Arc<Core>,
    id: GoalId,
}

/// A goal at work; dropping it aborts it with a default result.
pub struct ExecutingGoal<A: Action> {
    /// `None` once ended.
    live: Option<Live>,
    goal: A::Goal,
    cancelled: watch::Receiver<bool>,
    _beat: Arc<dyn Fn() + Send + Sync>,
}

impl<A: Action> fmt::Debug for ExecutingGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutingGoal").field("goal", &self.goal).finish_non_exhaustive()
    }
}

impl<A: Action> ExecutingGoal<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        self.live.as_ref().map_or([0; 16], |live| live.id)
    }

    /// What was asked.
    pub fn goal(&self) -> &A::Goal {
        &self.goal
    }

    /// Tells the client how far the goal is.
    ///
    /// Errors: [`RosError::Encode`], [`RosError::Closed`].
    pub fn publish_feedback(&self, feedback: A::Feedback) -> Result<(), RosError> {
        let Some(live) = &self.live else { return Err(RosError::Closed) };
        let message = FeedbackMessage { goal_id: live.id, feedback };
        live.core.feedback.publish(encode(&message, &AtomicUsize::new(256))?)
    }

    /// Whether the goal was asked to cancel.
    pub fn is_cancel_requested(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Completes once the goal is asked to cancel.
    pub async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
            // The server has forgotten the goal, so nobody can cancel it any more.
            std::future::pending::<()>().await;
        }
    }

    fn end(mut self, status: GoalStatus, result: &A::Result) {
        if let Some(live) = self.live.take() {
            live.core.end(&live.id, status, result);
        }
    }

    /// Ends the goal as done. After an accepted cancel request it ends as canceled all the same: who has cancelled must
    /// not hear of a success.
    pub fn succeed(self, result: A::Result) {
        self.end(GoalStatus::Succeeded, &result);
    }

    /// Ends the goal as failed.
    pub fn abort(self, result: A::Result) {
        self.end(GoalStatus::Aborted, &result);
    }

    /// Ends the goal as canceled.
    pub fn canceled(self, result: A::Result) {
        self.end(GoalStatus::Canceled, &result);
    }
}

impl<A: Action> Drop for ExecutingGoal<A> {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            warn!(action = live.core.name, "a goal was dropped while executing: aborted");
            live.core.end(&live.id, GoalStatus::Aborted, &A::Result::default());
        }
    }
}
