//! Time of a node: simulated or wall.

use crate::RosError;
use crate::backend::{Reader, Sample, Sink, decode};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tracing::{info, warn};

/// Simulated time that has not advanced for this long of wall time stands still.
const STANDSTILL: Duration = Duration::from_secs(1);

/// `time` in nanoseconds.
pub fn nanoseconds(time: &Time) -> i64 {
    i64::from(time.sec) * 1_000_000_000 + i64::from(time.nanosec)
}

/// The time of `nanoseconds`; times outside of what a message can say become the nearest it can.
pub fn time_from_nanoseconds(nanoseconds: i64) -> Time {
    let sec = nanoseconds.div_euclid(1_000_000_000).clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    Time { sec: sec as i32, nanosec: nanoseconds.rem_euclid(1_000_000_000) as u32 }
}

#[derive(Clone, Copy, Debug)]
struct Simulated {
    nanoseconds: i64,
    /// Wall time of the last advance.
    advanced: Option<Instant>,
    /// How often time went back.
    jumps: u64,
}

/// The clock of a node; clones are the same clock.
#[derive(Clone)]
pub struct Clock {
    simulated: Option<Arc<SimulatedClock>>,
}

struct SimulatedClock {
    state: watch::Receiver<Simulated>,
    _reader: Reader,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("simulated", &self.is_simulated()).field("now", &self.now()).finish()
    }
}

/// Keeps `state` up to the samples of `/clock`.
fn clock_sink(state: watch::Sender<Simulated>) -> Sink {
    Arc::new(move |sample: Sample| {
        let message: ClockMessage = match decode(&sample.payload, sample.encoding) {
            Ok(message) => message,
            Err(error) => return warn!(%error, "/clock"),
        };
        advance(&state, nanoseconds(&message.clock));
    })
}

/// Takes the time that `/clock` tells.
fn advance(state: &watch::Sender<Simulated>, nanoseconds: i64) {
    let mut went_back = None;
    state.send_if_modified(|state| {
        if state.advanced.is_some() && nanoseconds == state.nanoseconds {
            return false;
        }
        if nanoseconds < state.nanoseconds {
            state.jumps += 1;
            went_back = Some(state.nanoseconds);
        }
        state.nanoseconds = nanoseconds;
        state.advanced = Some(Instant::now());
        true
    });
    // Not before: a log line on its way to /rosout reads this clock.
    if let Some(from) = went_back {
        info!(from, to = nanoseconds, "simulated time went back");
    }
}

impl Clock {
    pub(crate) fn wall() -> Self {
        Self { simulated: None }
    }

    /// `subscribe` makes the reader of `/clock`.
    pub(crate) fn simulated(
        subscribe: impl FnOnce(Sink) -> Result<Reader, RosError>,
    ) -> Result<Self, RosError> {
        let (sender, state) = watch::channel(Simulated { nanoseconds: 0, advanced: None, jumps: 0 });
        let reader = subscribe(clock_sink(sender))?;
        Ok(Self { simulated: Some(Arc::new(SimulatedClock { state, _reader: reader })) })
    }

    fn state(&self) -> Option<Simulated> {
        self.simulated.as_ref().map(|clock| *clock.state.borrow())
    }

    /// Now, in nanoseconds; 0 before the first `/clock` when simulated.
    pub fn now_nanoseconds(&self) -> i64 {
        match self.state() {
            Some(state) => state.nanoseconds,
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        }
    }

    /// Now; zero before the first `/clock` when simulated.
    pub fn now(&self) -> Time {
        time_from_nanoseconds(self.now_nanoseconds())
    }

    /// Whether time comes from `/clock`.
    pub fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Whether time runs: always for wall time; when simulated, if it has advanced within the last second of wall time.
    pub fn is_ticking(&self) -> bool {
        match self.state() {
            Some(state) => state.advanced.is_some_and(|at| at.elapsed() < STANDSTILL),
            None => true,
        }
    }

    /// How long simulated time that ran has not advanced, wall time; zero before it ran, and for wall time.
    pub fn standstill(&self) -> Duration {
        self.state().and_then(|state| state.advanced).map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// How often simulated time went back, as it does when the simulator restarts.
    pub fn jumps(&self) -> u64 {
        self.state().map_or(0, |state| state.jumps)
    }

    /// As [`jumps`](Self::jumps), without holding the clock: a sink must not hold endpoints.
    pub(crate) fn jump_counter(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        let state = self.simulated.as_ref().map(|clock| clock.state.clone());
        move || state.as_ref().map_or(0, |state| state.borrow().jumps)
    }

    /// Waits until the clock ticks, at most `deadline` of wall time.
    ///
    /// Errors: [`RosError::ClockStopped`].
    pub async fn wait_ticking(&self, deadline: Duration) -> Result<(), RosError> {
        let Some(clock) = &self.simulated else { return Ok(()) };
        let mut state = clock.state.clone();
        let ticked = state.wait_for(|state| state.advanced.is_some_and(|at| at.elapsed() < STANDSTILL));
        match tokio::time::timeout(deadline, ticked).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(RosError::Closed),
            Err(_) => Err(RosError::ClockStopped { waited: deadline }),
        }
    }

    /// Sleeps for `duration` of this clock; does not end while simulated time stands still, see
    /// [`sleep_within`](Self::sleep_within). A jump back neither shortens nor lengthens the sleep.
    pub async fn sleep(&self, duration: Duration) {
        let Some(clock) = &self.simulated else { return tokio::time::sleep(duration).await };
        let mut state = clock.state.clone();
        let mut last = state.borrow_and_update().nanoseconds;
        let mut left = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        while left > 0 {
            if state.changed().await.is_err() {
                // No tick will ever come; whoever waits has a deadline or is being shut down.
                std::future::pending::<()>().await;
            }
            let now = state.borrow_and_update().nanoseconds;
            left = left.saturating_sub(now.saturating_sub(last).max(0));
            last = now;
        }
    }

    /// As [`sleep`](Self::sleep), but at most `deadline` of wall time.
    ///
    /// Errors: [`RosError::ClockStopped`] when the clock was too slow for that.
    pub async fn sleep_within(&self, duration: Duration, deadline: Duration) -> Result<(), RosError> {
        tokio::time::timeout(deadline, self.sleep(duration))
            .await
            .map_err(|_| RosError::ClockStopped { waited: deadline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    #[test]
    fn times_round_trip() {
        for nanoseconds_in in
            [0, 1, -1, 999_999_999, 1_000_000_000, -1_500_000_000, 1_700_000_000_123_456_789]
        {
            assert_eq!(nanoseconds(&time_from_nanoseconds(nanoseconds_in)), nanoseconds_in);
        }
        assert_eq!(time_from_nanoseconds(i64::MAX).sec, i32::MAX);
    }

    /// Reads a clock for each line that is logged, as a line on its way to `/rosout` does.
    struct Reading {
        clock: watch::Receiver<Simulated>,
        read: Sender<i64>,
    }

    impl<S: tracing::Subscriber> Layer<S> for Reading {
        fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
            self.read.send(self.clock.borrow().nanoseconds).expect("somebody listens");
        }
    }

    #[test]
    fn whoever_hears_of_a_jump_back_can_read_the_clock() {
        let (read, heard) = channel();
        std::thread::spawn(move || {
            let (state, clock) = watch::channel(Simulated { nanoseconds: 0, advanced: None, jumps: 0 });
            let lines = tracing_subscriber::registry().with(Reading { clock, read });
            tracing::subscriber::with_default(lines, || [5, 2].map(|time| advance(&state, time)));
            assert_eq!(state.borrow().jumps, 1);
        });
        // A lock that is held meanwhile would never let go.
        assert_eq!(heard.recv_timeout(Duration::from_secs(30)), Ok(2));
    }
}
