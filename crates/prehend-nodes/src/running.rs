//! The one goal that a node works at.

use prehend_msgs::Action;
use prehend_ros::{ExecutingGoal, GoalRequest};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Longest wait for what is at work to stop the robot when the process ends.
const LAST_STOP: Duration = Duration::from_secs(4);

/// Ends a goal: as done, as cancelled where that was asked for, else as aborted.
pub(crate) fn end<A: Action>(handle: ExecutingGoal<A>, result: A::Result, is_done: bool) {
    if is_done {
        handle.succeed(result);
    } else if handle.is_cancel_requested() {
        handle.canceled(result);
    } else {
        handle.abort(result);
    }
}

/// Works at a goal on a thread of its own, since its course waits where it asks; `course` says the result and whether it is done. Whether it
/// came to an end: where it broke off, which is a defect, the goal was aborted when it was dropped.
pub(crate) async fn carry_out<A: Action>(
    request: GoalRequest<A>,
    over: Over,
    course: impl FnOnce(&ExecutingGoal<A>) -> (A::Result, bool) + Send + 'static,
) -> bool {
    let handle = request.accept();
    let work = tokio::task::spawn_blocking(move || {
        let ended = course(&handle);
        (handle, ended)
    });
    let Ok((handle, (result, is_done))) = work.await else { return false };
    over.say();
    end(handle, result, is_done);
    true
}

/// A goal that is being executed.
pub(crate) struct Running {
    /// What it is, for whoever asks for another one.
    pub(crate) name: String,
    /// The task that executes it.
    pub(crate) task: JoinHandle<()>,
    over: Over,
}

/// Said before the result is sent: what is left of the task does not wait for anything.
#[derive(Clone, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Over {
    pub(crate) fn say(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Running {
    /// Starts what `execute` makes; it says when the goal is over.
    pub(crate) fn start<Work>(name: String, execute: impl FnOnce(Over) -> Work) -> Self
    where
        Work: Future<Output = ()> + Send + 'static,
    {
        let over = Over::default();
        let task = tokio::spawn(execute(over.clone()));
        Self { name, task, over }
    }

    /// What of `last` is still at work. Whoever has its result may ask for the next goal before its task has quite ended.
    pub(crate) async fn still(last: Option<Self>) -> Option<Self> {
        let running = last?;
        if running.over.0.load(Ordering::Acquire) || running.task.is_finished() {
            let _ = running.task.await;
            return None;
        }
        Some(running)
    }
}

impl Running {
    /// Waits for what is at work, which was told to end.
    pub(crate) async fn finish(last: Option<Self>) {
        if let Some(running) = last
            && tokio::time::timeout(LAST_STOP, running.task).await.is_err()
        {
            tracing::warn!("{} did not end in time", running.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn a_goal_that_is_over_is_not_at_work_while_its_task_ends() {
        let (end, ended) = oneshot::channel::<()>();
        let (told, heard) = oneshot::channel::<()>();
        let running = Running::start("a goal".to_owned(), |over| async move {
            let _ = ended.await;
            over.say();
            told.send(()).expect("somebody listens");
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        });
        let running = Running::still(Some(running)).await.expect("at work");
        end.send(()).expect("it waits");
        heard.await.expect("it is over");
        assert!(!running.task.is_finished());
        assert!(Running::still(Some(running)).await.is_none());
        assert!(Running::still(None).await.is_none());
    }

    #[tokio::test]
    async fn a_task_that_dies_without_a_word_is_not_at_work() {
        let running = Running::start("a goal".to_owned(), |_| async { std::panic::panic_any(1) });
        while !running.task.is_finished() {
            tokio::task::yield_now().await;
        }
        assert!(Running::still(Some(running)).await.is_none());
    }
}
