//! What the loop of a node waits for when it may not be there, and how it answers.

use futures::StreamExt;
use prehend_msgs::{Message, Service};
use prehend_ros::{ServiceRequest, Subscription};
use tokio::task::JoinHandle;

/// The next message of a topic; never, without one.
pub(crate) async fn next_of<M: Message>(topic: &mut Option<Subscription<M>>) -> Option<M> {
    match topic {
        Some(topic) => topic.next().await,
        None => std::future::pending().await,
    }
}

/// When a task has ended; never, without one. A panic loses what the task was about, and no more.
pub(crate) async fn finished(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(task) => _ = task.await,
        None => std::future::pending().await,
    }
}

/// Sends the answer; who asked may be gone.
pub(crate) fn respond<S: Service>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(error) = request.respond(response) {
        tracing::warn!("{} was not answered: {error}", S::NAME);
    }
}
