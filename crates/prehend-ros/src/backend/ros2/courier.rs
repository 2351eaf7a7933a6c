//! The one thread that sends: rcl may wait for a slow reader before it takes a sample.

use super::spin::words_of;
use crate::sync::lock;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::debug;

/// Work for the courier.
enum Job {
    Do(Box<dyn FnOnce() + Send>),
    /// Calls the function about every period as long as it lives.
    Tick(Duration, Weak<dyn Fn() + Send + Sync>),
    Stop,
}

/// Hands work to the courier; clones do the same.
#[derive(Clone)]
pub(super) struct Outbox(Sender<Job>);

impl Outbox {
    /// Has `act` done, after everything that was handed over before.
    pub(super) fn hand_over(&self, act: impl FnOnce() + Send + 'static) {
        // The courier is gone only when the participant is closed.
        let _ = self.0.send(Job::Do(Box::new(act)));
    }

    pub(super) fn tick(&self, period: Duration, tick: Weak<dyn Fn() + Send + Sync>) {
        let _ = self.0.send(Job::Tick(period, tick));
    }
}

/// Handle on the thread.
pub(super) struct Courier {
    pub(super) outbox: Outbox,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Courier {
    pub(super) fn start() -> std::io::Result<Self> {
        let (sender, jobs) = channel();
        let thread = std::thread::Builder::new().name("ros-send".to_owned()).spawn(move || run(&jobs))?;
        Ok(Self { outbox: Outbox(sender), thread: Mutex::new(Some(thread)) })
    }

    /// Does what was handed over and ends the thread, unless called from it.
    pub(super) fn stop(&self) {
        let _ = self.outbox.0.send(Job::Stop);
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            debug!("the thread that sends had panicked");
        }
    }
}

struct Ticker {
    period: Duration,
    next: Instant,
    call: Weak<dyn Fn() + Send + Sync>,
}

fn run(jobs: &Receiver<Job>) {
    let mut tickers: Vec<Ticker> = Vec::new();
    loop {
        let next = tickers.iter().map(|ticker| ticker.next).min();
        let job = match next {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(next) => jobs.recv_timeout(next.saturating_duration_since(Instant::now())),
        };
        match job {
            Ok(Job::Do(act)) => {
                // r2r panics at return codes it does not know.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
                    debug!("a panic while sending: {}", words_of(&*panic));
                }
            }
            Ok(Job::Tick(period, call)) => {
                tickers.push(Ticker { period, next: Instant::now() + period, call });
            }
            Ok(Job::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        tickers.retain_mut(|ticker| {
            let Some(call) = ticker.call.upgrade() else { return false };
            let now = Instant::now();
            if ticker.next <= now {
                ticker.next = now + ticker.period;
                call();
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn work_is_done_in_order_and_ticks_end_with_their_function() {
        let courier = Courier::start().unwrap();
        let (sender, done) = channel();
        for number in 0..3 {
            let sender = sender.clone();
            courier.outbox.hand_over(move || sender.send(number).unwrap());
        }
        assert_eq!(done.iter().take(3).collect::<Vec<_>>(), [0, 1, 2]);
        courier.outbox.hand_over(|| panic!("what a job does is its own"));
        let beat: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            // Nobody listens any more at the end.
            let _ = sender.send(9);
        });
        courier.outbox.tick(Duration::from_millis(1), Arc::downgrade(&beat));
        assert_eq!(done.iter().take(2).collect::<Vec<_>>(), [9, 9]);
        drop(beat);
        // Nobody holds the sender any more once the tick is forgotten.
        while done.recv_timeout(Duration::from_secs(30)).is_ok() {}
        courier.stop();
    }
}
