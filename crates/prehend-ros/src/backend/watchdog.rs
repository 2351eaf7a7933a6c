//! Ends a process that hangs in the middleware.
//!
//! In RustDDS 0.15 three threads can wait for each other for ever: discovery holds the database for reading and waits for
//! room in the 32 slots to the event loop (`add_local_writer`), the application waits for the database for writing
//! (`create_datawriter`), and the event loop, which would make room, waits behind that writer for reading
//! (`update_participant`). It takes many participants that join at once on a busy machine, and nothing inside the process
//! can undo it: the process ends with [`STUCK_EXIT_CODE`], so that whoever started it starts it again.

use crate::sync::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Exit code of a process that hung in the middleware (`EX_TEMPFAIL` of `sysexits.h`): start it again.
pub const STUCK_EXIT_CODE: u8 = 75;
/// An endpoint is made within milliseconds; one that takes so long is never made.
const DEADLINE: Duration = Duration::from_secs(3);
/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(250);

/// What a process does instead of just ending.
static BEFORE_THE_END: OnceLock<fn()> = OnceLock::new();

/// Has `act` called in a process that hangs in the middleware, right before it ends with [`STUCK_EXIT_CODE`]; it may start
/// the program anew in its place. The first call counts.
pub fn when_stuck(act: fn()) {
    let _ = BEFORE_THE_END.set(act);
}

/// What is under way, by number.
type Work = Mutex<BTreeMap<u64, (Instant, String)>>;

/// Watches calls that may hang.
pub(super) struct Watchdog {
    work: Arc<Work>,
    next: AtomicU64,
}

/// A call that is watched while this lives.
pub(super) struct Watched {
    work: Arc<Work>,
    number: u64,
}

/// Ends this process, in which the middleware does not work any more because of `why`.
pub(super) fn end(why: &str) {
    tracing::error!("{why}: this process ends and has to be started again");
    if let Some(act) = BEFORE_THE_END.get() {
        act();
    }
    std::process::exit(i32::from(STUCK_EXIT_CODE));
}

impl Watchdog {
    /// Starts the thread that watches; it ends with this value.
    pub(super) fn start() -> std::io::Result<Self> {
        Self::start_with(DEADLINE, |what| end(&format!("making {what} hangs in the middleware")))
    }

    fn start_with(deadline: Duration, stuck: impl Fn(&str) + Send + 'static) -> std::io::Result<Self> {
        let work = Arc::new(Work::default());
        let watched = Arc::downgrade(&work);
        std::thread::Builder::new().name("ros-watchdog".to_owned()).spawn(move || {
            while let Some(work) = watched.upgrade() {
                let late = lock(&work).values().find(|(since, _)| since.elapsed() > deadline).cloned();
                if let Some((_, what)) = late {
                    stuck(&what);
                }
                drop(work);
                std::thread::sleep(PERIOD.min(deadline));
            }
        })?;
        Ok(Self { work, next: AtomicU64::new(0) })
    }

    pub(super) fn watch(&self, what: String) -> Watched {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.work).insert(number, (Instant::now(), what));
        Watched { work: self.work.clone(), number }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        lock(&self.work).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn what_hangs_is_told_and_what_ends_is_not() {
        let (sender, told) = channel();
        let watchdog = Watchdog::start_with(Duration::from_millis(50), move |what| {
            let _ = sender.send(what.to_owned());
        })
        .unwrap();
        drop(watchdog.watch("a writer that is made".to_owned()));
        let hangs = watchdog.watch("a reader on /tf".to_owned());
        assert_eq!(told.recv_timeout(Duration::from_secs(30)).unwrap(), "a reader on /tf");
        drop(hangs);
        drop(watchdog);
        // The thread ends, and the channel with it.
        while told.recv_timeout(Duration::from_secs(30)).is_ok() {}
    }
}
