//! Locks that outlive a panic, and the queue between the middleware and a stream.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Locks `mutex`; data behind it stays usable after a panic of another thread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A keep-last queue with one reader that may wait.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    depth: usize,
}

struct State<T> {
    items: VecDeque<T>,
    waker: Option<Waker>,
    dropped: u64,
    closed: bool,
}

impl<T> Queue<T> {
    /// A queue that keeps the newest `depth` items.
    pub(crate) fn new(depth: usize) -> Self {
        let state = State { items: VecDeque::new(), waker: None, dropped: 0, closed: false };
        Self { state: Mutex::new(state), depth: depth.max(1) }
    }

    /// Adds `item`; the oldest falls out when full and is returned.
    pub(crate) fn push(&self, item: T) -> Option<T> {
        let (fallen, waker) = {
            let mut state = lock(&self.state);
            let fallen = if state.items.len() >= self.depth {
                state.dropped += 1;
                state.items.pop_front()
            } else {
                None
            };
            state.items.push_back(item);
            (fallen, state.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        fallen
    }

    /// No more items will come.
    pub(crate) fn close(&self) {
        let waker = {
            let mut state = lock(&self.state);
            state.closed = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Makes the reader look again.
    pub(crate) fn wake(&self) {
        let waker = lock(&self.state).waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The oldest item, if any.
    pub(crate) fn pop(&self) -> Option<T> {
        lock(&self.state).items.pop_front()
    }

    /// Items that fell out unread.
    pub(crate) fn dropped(&self) -> u64 {
        lock(&self.state).dropped
    }

    /// The oldest item, or a wake-up when one comes; `None` once closed and empty.
    pub(crate) fn poll_pop(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = lock(&self.state);
        match state.items.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None if state.closed => Poll::Ready(None),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
