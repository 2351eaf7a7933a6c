//! The side that wants something done.

use super::GoalStatus;
use super::wire::{
    FeedbackMessage, GetResult, GetResultAnswer, GoalId, SendGoal, SendGoalAnswer, goal_id, leading_id,
};
use crate::backend::{Caller, LAST_WORDS, Participant, Reader, Sample, Server, Sink, decode, encode};
use crate::sync::{Queue, lock};
use crate::{CancelRejection, Client, RosError};
use bytes::Bytes;
use futures::Stream;
use prehend_msgs::action_msgs::msg::{GoalStatus as GoalStatusMsg, GoalStatusArray};
use prehend_msgs::action_msgs::srv::CancelGoal;
use prehend_msgs::{Action, Service};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{debug, warn};

/// Feedback messages kept for a client that does not read them.
const FEEDBACK_BACKLOG: usize = 1024;

/// How long a result may take once it is known that the goal has ended: a large one may lose fragments on its way.
const RESULT_PATIENCE: Duration = Duration::from_secs(10);

/// Sends goals to an action server; clones share their endpoints.
pub struct ActionClient<A: Action> {
    core: Arc<Core>,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> Clone for ActionClient<A> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), action: PhantomData }
    }
}

impl<A: Action> fmt::Debug for ActionClient<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionClient").field("action", &self.core.name).finish_non_exhaustive()
    }
}

/// The endpoints of a client, made by the node.
pub(crate) struct ClientEnds {
    pub(crate) name: String,
    pub(crate) participant: Arc<Participant>,
    pub(crate) send_goal: Caller,
    pub(crate) cancel: Caller,
    pub(crate) result: Caller,
}

struct Core {
    name: String,
    participant: Arc<Participant>,
    send_goal: Caller,
    cancel: Caller,
    result: Caller,
    goals: Goals,
    occupied: Occupied,
    _feedback: Reader,
    _status: Reader,
}

type Goals = Arc<Mutex<HashMap<GoalId, Arc<Watched>>>>;

/// When the server told last of its goals, if one of them had not ended.
type Occupied = Arc<Mutex<Option<Instant>>>;

/// What is heard of a goal.
struct Watched {
    feedback: Queue<Sample>,
    heard: Mutex<Heard>,
}

struct Heard {
    status: GoalStatus,
    last: Instant,
    /// When it was first heard that the goal has ended.
    ended: Option<Instant>,
}

impl Watched {
    fn new() -> Self {
        let heard = Mutex::new(Heard { status: GoalStatus::Unknown, last: Instant::now(), ended: None });
        Self { feedback: Queue::new(FEEDBACK_BACKLOG), heard }
    }

    fn sign_of_life(&self) {
        lock(&self.heard).last = Instant::now();
    }

    fn silent(&self) -> Duration {
        lock(&self.heard).last.elapsed()
    }

    fn ended_for(&self) -> Duration {
        lock(&self.heard).ended.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// What a cancel of every goal has for an id, with no stamp.
const EVERY_GOAL: GoalId = [0; 16];

fn cancel_request(id: GoalId) -> Result<Bytes, RosError> {
    let mut request = CancelGoal::Request::default();
    request.goal_info.goal_id.uuid = id.to_vec();
    encode(&request, &AtomicUsize::new(32))
}

/// A goal id nobody else has.
fn new_goal_id() -> GoalId {
    let mut id = [0; 16];
    for half in id.chunks_exact_mut(8) {
        // Every RandomState is keyed anew from the operating system's randomness.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        half.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    id
}

fn feedback_sink(goals: Goals) -> Sink {
    Arc::new(move |sample: Sample| {
        let watched = leading_id(&sample.payload).and_then(|id| lock(&goals).get(&id).cloned());
        if let Some(watched) = watched {
            watched.sign_of_life();
            watched.feedback.push(sample);
        }
    })
}

fn status_sink(goals: Goals, occupied: Occupied) -> Sink {
    Arc::new(move |sample: Sample| {
        let statuses = match decode::<GoalStatusArray>(&sample.payload, sample.encoding) {
            Ok(array) => array.status_list,
            Err(error) => {
                warn!(%error, "a goal status was left out");
                return;
            }
        };
        let is_under_way = |heard: &GoalStatusMsg| !GoalStatus::from_wire(heard.status).is_terminal();
        *lock(&occupied) = statuses.iter().any(is_under_way).then(Instant::now);
        let goals = lock(&goals);
        for heard in statuses {
            let Some(watched) = goal_id(&heard.goal_info.goal_id.uuid).and_then(|id| goals.get(&id)) else {
                continue;
            };
            let status = GoalStatus::from_wire(heard.status);
            let mut state = lock(&watched.heard);
            // An older array may come after the end.
            if !state.status.is_terminal() {
                let now = Instant::now();
                *state = Heard { status, last: now, ended: status.is_terminal().then_some(now) };
            }
            if status.is_terminal() {
                watched.feedback.wake();
            }
        }
    })
}

impl<A: Action> ActionClient<A> {
    /// `subscribe` makes the readers of feedback and status.
    pub(crate) fn new(
        ends: ClientEnds,
        subscribe: impl FnOnce(Sink, Sink) -> Result<(Reader, Reader), RosError>,
    ) -> Result<Self, RosError> {
        let (goals, occupied) = (Goals::default(), Occupied::default());
        let (feedback, status) =
            subscribe(feedback_sink(goals.clone()), status_sink(goals.clone(), occupied.clone()))?;
        let ClientEnds { name, participant, send_goal, cancel, result } = ends;
        let core = Core {
            name,
            participant,
            send_goal,
            cancel,
            result,
            goals,
            occupied,
            _feedback: feedback,
            _status: status,
        };
        Ok(Self { core: Arc::new(core), action: PhantomData })
    }

    /// Sends `goal` and waits until it is accepted, all within `deadline`. When this fails half-way the goal is cancelled.
    ///
    /// Errors: [`RosError::Rejected`], and those of [`Client::request`](crate::Client::request).
    pub async fn send_goal(&self, goal: A::Goal, deadline: Duration) -> Result<GoalHandle<A>, RosError> {
        let start = Instant::now();
        self.wait_available(deadline).await?;
        let id = new_goal_id();
        let watched = Arc::new(Watched::new());
        lock(&self.core.goals).insert(id, watched.clone());
        let mut asked = Asked { core: self.core.clone(), id, abandoned: false };
        let payload = encode(&SendGoal { goal_id: id, goal }, &AtomicUsize::new(256))?;
        asked.abandoned = true;
        let answer = self.core.send_goal.call(payload, deadline.saturating_sub(start.elapsed())).await?;
        let server = answer.server();
        let answer: SendGoalAnswer = decode(&answer.payload, answer.encoding)?;
        if !answer.accepted {
            asked.abandoned = false;
            return Err(RosError::Rejected { action: self.core.name.clone() });
        }
        watched.sign_of_life();
        let answer = self.core.ask_result(id)?;
        asked.abandoned = false;
        Ok(GoalHandle { asked, watched, server, answer, end: None, action: PhantomData })
    }

    /// Cancels every goal at the server, whoever sent it; gives the number of goals that began to cancel.
    ///
    /// Errors: [`RosError::CancelRejected`], and those of [`Client::request`](crate::Client::request).
    pub async fn cancel_all(&self, deadline: Duration) -> Result<usize, RosError> {
        self.core.cancel(EVERY_GOAL, deadline).await
    }

    /// As [`cancel_all`](Self::cancel_all), of a server that moves something and hears while it moves: asked again five times a second until
    /// it answers. Each question that a deaf server takes later would cancel a goal of then.
    ///
    /// Errors: as [`cancel_all`](Self::cancel_all).
    pub async fn halt_all(&self, deadline: Duration) -> Result<usize, RosError> {
        let answer = self.core.cancel.insist(cancel_request(EVERY_GOAL)?, deadline).await?;
        self.core.cancelled(EVERY_GOAL, &answer)
    }

    /// When the server told last that it works at a goal, whoever sent it; `None` when it told last of none. That a goal has ended may be
    /// heard after its result, and of a server that has died nothing is heard any more.
    pub fn occupied(&self) -> Option<Instant> {
        *lock(&self.core.occupied)
    }

    /// Whether a server is matched now. After a server was killed it still counts for about 50 s; one of Cyclone DDS for up to 20 s.
    pub fn is_available(&self) -> bool {
        self.core.is_available()
    }

    /// Waits for a server.
    ///
    /// Errors: [`RosError::Unavailable`], [`RosError::Closed`].
    pub async fn wait_available(&self, deadline: Duration) -> Result<(), RosError> {
        let start = Instant::now();
        for caller in [&self.core.send_goal, &self.core.result, &self.core.cancel] {
            caller.wait_available(deadline.saturating_sub(start.elapsed())).await.map_err(
                |error| match error {
                    RosError::Unavailable { .. } => {
                        RosError::Unavailable { peer: self.core.name.clone(), waited: deadline }
                    }
                    other => other,
                },
            )?;
        }
        Ok(())
    }
}

impl Core {
    fn is_available(&self) -> bool {
        [&self.send_goal, &self.result, &self.cancel].iter().all(|caller| caller.is_available())
    }

    fn ask_result(&self, id: GoalId) -> Result<oneshot::Receiver<Sample>, RosError> {
        self.result.send_now(encode(&GetResult { goal_id: id }, &AtomicUsize::new(16))?)
    }

    async fn cancel(&self, id: GoalId, deadline: Duration) -> Result<usize, RosError> {
        let answer = self.cancel.call(cancel_request(id)?, deadline).await?;
        self.cancelled(id, &answer)
    }

    /// What the answer to a cancel says: how many goals began to cancel.
    fn cancelled(&self, id: GoalId, answer: &Sample) -> Result<usize, RosError> {
        let answer: CancelGoal::Response = decode(&answer.payload, answer.encoding)?;
        let reason = match answer.return_code {
            0 => return Ok(answer.goals_canceling.len()),
            2 => CancelRejection::UnknownGoal,
            3 => CancelRejection::GoalTerminated,
            _ => CancelRejection::Refused,
        };
        // A server may call "nothing to cancel" a refusal.
        if id == EVERY_GOAL && answer.goals_canceling.is_empty() {
            return Ok(0);
        }
        Err(RosError::CancelRejected { action: self.name.clone(), reason })
    }
}

/// A goal that was sent; stops listening for it when dropped.
struct Asked {
    core: Arc<Core>,
    id: GoalId,
    /// Nobody will ever hear of the goal: it must not run on.
    abandoned: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(watched) = lock(&self.core.goals).remove(&self.id) {
            watched.feedback.close();
        }
        if self.abandoned {
            let sent = cancel_request(self.id).and_then(|bytes| self.core.cancel.send_now(bytes));
            if let Err(error) = sent {
                debug!(action = self.core.name, %error, "an abandoned goal could not be cancelled");
            }
        }
    }
}

/// An accepted goal, seen from the client. Dropping it does not cancel the goal.
pub struct GoalHandle<A: Action> {
    asked: Asked,
    watched: Arc<Watched>,
    /// The process that took the goal.
    server: Server,
    answer: oneshot::Receiver<Sample>,
    end: Option<Sample>,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> fmt::Debug for GoalHandle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalHandle")
            .field("action", &self.asked.core.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl<A: Action> GoalHandle<A> {
    /// Id of the goal.
    pub fn id(&self) -> [u8; 16] {
        self.asked.id
    }

    /// The feedback from now on, independent of the handle so that both can be polled at once; it ends with the goal.
    /// A second stream shares the messages with the first.
    pub fn feedback(&mut self) -> FeedbackStream<A> {
        FeedbackStream { watched: self.watched.clone(), linger: None, action: PhantomData }
    }

    /// State of the goal as last heard.
    pub fn status(&self) -> GoalStatus {
        lock(&self.watched.heard).status
    }

    /// For signs of life that come another way: of a server that answers nothing while it works off the goal.
    pub fn pulse(&self) -> Pulse {
        Pulse { watched: self.watched.clone(), server: self.server }
    }

    /// Waits for the end of the goal: its status (`Succeeded`, `Canceled` or `Aborted`) and its result.
    ///
    /// Signs of life are status and feedback messages of the goal, what a [`pulse`](Self::pulse) tells, and after half of `silence` the
    /// answer to a question put to the server. May be dropped and called again (in a `select!`).
    ///
    /// Errors: [`RosError::PeerLost`] when the server shows no sign of life for `silence`, has left, does not know the
    /// goal any more, or has ended it long ago and its result does not come; [`RosError::Decode`]; [`RosError::Closed`].
    pub async fn result(&mut self, silence: Duration) -> Result<(GoalStatus, A::Result), RosError> {
        let core = self.asked.core.clone();
        let mut changes = core.participant.changes();
        let mut probe: Option<oneshot::Receiver<Sample>> = None;
        while self.end.is_none() {
            let silent = self.watched.silent();
            let lost = RosError::PeerLost { peer: core.name.clone(), silent };
            // It may live and be unable to get the result here: Fast DDS takes no long answers of the embedded backend.
            if silent >= silence || self.watched.ended_for() >= silence.max(RESULT_PATIENCE) {
                return Err(lost);
            }
            if core.participant.is_closed() {
                return Err(RosError::Closed);
            }
            if !core.result.is_available() {
                match tokio::time::timeout(LAST_WORDS, &mut self.answer).await {
                    Ok(Ok(answer)) => self.end = Some(answer),
                    _ if core.result.is_available() => {}
                    _ => return Err(lost),
                }
                continue;
            }
            let half = silence / 2;
            if silent >= half && probe.is_none() {
                // Asked again, a server that was restarted in between says "unknown"; asked for a goal that cannot
                // exist, every living server answers at once.
                self.answer = core.ask_result(self.asked.id)?;
                probe = Some(core.ask_result(new_goal_id())?);
            }
            let wait = if silent < half { half - silent } else { silence - silent };
            tokio::select! {
                biased;
                answer = &mut self.answer => self.end = Some(answer.map_err(|_| RosError::Closed)?),
                answered = answer_of(&mut probe) => {
                    probe = None;
                    if answered {
                        self.watched.sign_of_life();
                    }
                }
                _ = changes.changed() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        let Some(end) = &self.end else { return Err(RosError::Closed) };
        let answer: GetResultAnswer<A::Result> = decode(&end.payload, end.encoding)?;
        match GoalStatus::from_wire(answer.status) {
            status if status.is_terminal() => {
                lock(&self.watched.heard).status = status;
                self.watched.feedback.wake();
                Ok((status, answer.result))
            }
            _ => Err(RosError::PeerLost { peer: core.name.clone(), silent: self.watched.silent() }),
        }
    }

    /// Asks the server to cancel the goal; the end still comes through [`result`](Self::result).
    ///
    /// Errors: [`RosError::CancelRejected`], and those of [`Client::request`](crate::Client::request).
    pub async fn cancel(&self, deadline: Duration) -> Result<(), RosError> {
        self.asked.core.cancel(self.asked.id, deadline).await.map(drop)
    }

    /// A second handle that can only cancel, for another task.
    pub fn canceller(&self) -> GoalCanceller<A> {
        GoalCanceller { core: self.asked.core.clone(), id: self.asked.id, action: PhantomData }
    }
}

/// Tells a goal's handle that the server of the goal lives.
#[derive(Clone)]
pub struct Pulse {
    watched: Arc<Watched>,
    server: Server,
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pulse").field("silent", &self.watched.silent()).finish()
    }
}

impl Pulse {
    /// Asks another service of the process that took the goal: its answer is a sign of life. The answer of another process, such as one
    /// that was started in its place, is none; an installed ROS 2 does not tell them apart.
    ///
    /// Errors: as [`Client::request`](crate::Client::request).
    pub async fn ask<S: Service>(
        &self,
        client: &Client<S>,
        request: S::Request,
        deadline: Duration,
    ) -> Result<(), RosError> {
        if client.answering(request, deadline).await? == self.server {
            self.watched.sign_of_life();
        }
        Ok(())
    }
}

/// Completes with the answer to a question, never without one.
async fn answer_of(question: &mut Option<oneshot::Receiver<Sample>>) -> bool {
    match question {
        Some(answer) => answer.await.is_ok(),
        None => std::future::pending().await,
    }
}

/// Cancels one goal from another task.
pub struct GoalCanceller<A: Action> {
    core: Arc<Core>,
    id: GoalId,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> Clone for GoalCanceller<A> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), id: self.id, action: PhantomData }
    }
}

impl<A: Action> fmt::Debug for GoalCanceller<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalCanceller").field("action", &self.core.name).finish_non_exhaustive()
    }
}

impl<A: Action> GoalCanceller<A> {
    /// As [`GoalHandle::cancel`].
    pub async fn cancel(&self, deadline: Duration) -> Result<(), RosError> {
        self.core.cancel(self.id, deadline).await.map(drop)
    }
}

/// Feedback of one goal; ends with the goal.
pub struct FeedbackStream<A: Action> {
    watched: Arc<Watched>,
    /// Runs once the goal has ended and nothing is left to read.
    linger: Option<Pin<Box<tokio::time::Sleep>>>,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> fmt::Debug for FeedbackStream<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedbackStream").finish_non_exhaustive()
    }
}

impl<A: Action> Stream for FeedbackStream<A> {
    type Item = A::Feedback;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<A::Feedback>> {
        loop {
            match self.watched.feedback.poll_pop(cx) {
                Poll::Ready(Some(sample)) => {
                    self.linger = None;
                    match decode::<FeedbackMessage<A::Feedback>>(&sample.payload, sample.encoding) {
                        Ok(message) => return Poll::Ready(Some(message.feedback)),
                        Err(error) => warn!(%error, "a feedback was left out"),
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending if lock(&self.watched.heard).status.is_terminal() => {
                    // Status and result come another way than feedback and may overtake it.
                    let linger = self.linger.get_or_insert_with(|| Box::pin(tokio::time::sleep(LAST_WORDS)));
                    return linger.as_mut().poll(cx).map(|()| None);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
