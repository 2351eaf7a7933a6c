//! Logs of a process, on stderr and `/rosout`.

use crate::clock::Clock;
use crate::sync::lock;
use crate::{Publisher, RosArguments, Severity};
use prehend_msgs::rcl_interfaces::msg::Log;
use std::cell::Cell;
use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

/// What the middleware says without need: several lines for each sample, each participant or each full window.
const NOISE: [&str; 9] = [
    // Each client of the Model Context Protocol that comes and goes.
    "rmcp=warn",
    // Told in other words by the backend `ros2`; and a line about /rosout must not go there.
    "r2r=off",
    "rustdds=warn",
    "rustdds::dds::pubsub=off",
    "rustdds::network::udp_listener=off",
    "rustdds::dds::with_key::datawriter=error",
    "rustdds::rtps::message_receiver=error",
    // With ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST: hundreds of lines for each start.
    "rustdds::rtps::writer=error",
    "rustdds::network::udp_sender=error",
];

/// Where the lines of this process go: its node, once there is one.
static ROSOUT: Mutex<Option<Rosout>> = Mutex::new(None);

/// What went wrong last, and when.
static LAST_ERROR: Mutex<Option<(Instant, String)>> = Mutex::new(None);

/// The last line of severity error that this process has logged, and its age.
pub fn last_error() -> Option<(Duration, String)> {
    lock(&LAST_ERROR).as_ref().map(|(at, line)| (at.elapsed(), line.clone()))
}

thread_local! {
    static PUBLISHING: Cell<bool> = const { Cell::new(false) };
}

/// A node's way to `/rosout`.
#[derive(Clone, Debug)]
pub(crate) struct Rosout {
    pub(crate) publisher: Publisher<Log>,
    pub(crate) node: String,
    pub(crate) clock: Clock,
}

impl Rosout {
    pub(crate) fn publish(&self, severity: Severity, message: &str, place: (&str, &str, u32)) {
        let (file, function, line) = place;
        let log = Log {
            stamp: self.clock.now(),
            level: severity as u8,
            name: self.node.trim_start_matches('/').replace('/', "."),
            msg: message.to_owned(),
            file: file.to_owned(),
            function: function.to_owned(),
            line,
        };
        // A log line that cannot be sent has nowhere else to go than stderr, where it is already.
        let _ = self.publisher.publish(&log);
    }

    /// Sends the process's logs this way.
    pub(crate) fn attach(&self) {
        *lock(&ROSOUT) = Some(self.clone());
    }

    /// Stops sending them, if they go this way.
    pub(crate) fn detach(node: &str) {
        let taken = {
            let mut rosout = lock(&ROSOUT);
            if rosout.as_ref().is_some_and(|rosout| rosout.node == node) { rosout.take() } else { None }
        };
        drop(taken);
    }
}

/// Puts events of level info and above on `/rosout`.
struct RosoutLayer;

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.0, "{value:?}")
        } else if field.name().starts_with("log.") {
            Ok(())
        } else {
            write!(self.0, " {}={value:?}", field.name())
        };
    }
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let severity = match *event.metadata().level() {
            Level::ERROR => Severity::Error,
            Level::WARN => Severity::Warn,
            Level::INFO => Severity::Info,
            Level::DEBUG => Severity::Debug,
            Level::TRACE => return,
        };
        // The middleware must not log about its own log lines.
        let target = event.metadata().target();
        if target.starts_with("log") || target.starts_with("rustdds") || PUBLISHING.replace(true) {
            return;
        }
        let rosout = lock(&ROSOUT).clone();
        let mut line = Line::default();
        if rosout.is_some() || severity == Severity::Error {
            event.record(&mut line);
        }
        if severity == Severity::Error {
            *lock(&LAST_ERROR) = Some((Instant::now(), line.0.trim_start().to_owned()));
        }
        if let Some(rosout) = rosout {
            let metadata = event.metadata();
            let place = (metadata.file().unwrap_or(""), target, metadata.line().unwrap_or(0));
            rosout.publish(severity, line.0.trim_start(), place);
        }
        PUBLISHING.set(false);
    }
}

/// Directives for the filter: those of `RUST_LOG` (default `level`), and the known noise off where they do not speak of it.
fn directives(rust_log: Option<&str>, level: &str) -> String {
    let asked = rust_log.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(level);
    let mut all: Vec<&str> = NOISE
        .into_iter()
        .filter(|noise| {
            let module = noise.split_once('=').map_or(*noise, |(module, _)| module);
            !asked.split(',').any(|directive| directive.split('=').next() == Some(module))
        })
        .collect();
    all.push(asked);
    all.join(",")
}

/// The word of the filter for the level that `--log-level` asks for; that of a logger of C++ means nothing here.
fn level(arguments: &RosArguments) -> &'static str {
    let foreign =
        |logger: &str| ["rcl", "rmw", "rclcpp", "rclpy"].iter().any(|name| logger.starts_with(name));
    let asked = arguments.log_levels.iter().rev().find(|(logger, _)| !logger.as_deref().is_some_and(foreign));
    match asked.map(|(_, severity)| *severity) {
        Some(Severity::Debug) => "debug",
        Some(Severity::Info) | None => "info",
        Some(Severity::Warn) => "warn",
        Some(Severity::Error | Severity::Fatal) => "error",
    }
}

/// Sets up logging of the process: stderr, filtered by `RUST_LOG`, else by `--log-level` (default `info`), with the middleware's
/// known noise left out; and `/rosout` once a [`Node`](crate::Node) is there. Call it once, first thing in `main`; later calls do
/// nothing.
pub fn init_logging(arguments: &RosArguments) {
    let rust_log = std::env::var("RUST_LOG").ok();
    let filter = EnvFilter::new(directives(rust_log.as_deref(), level(arguments)));
    let stderr = (arguments.stdout_logs != Some(false)).then(|| fmt::layer().with_writer(std::io::stderr));
    // Fails when logging was set up before, which then stays.
    let _ = tracing_subscriber::registry().with(filter).with(stderr).with(RosoutLayer).try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_off_unless_asked_for() {
        let default = directives(None, "info");
        assert!(default.ends_with(",info") && default.contains("rustdds::dds::pubsub=off"), "{default}");
        let asked = directives(Some("debug,rustdds::dds::pubsub=trace"), "warn");
        assert!(!asked.contains("pubsub=off") && asked.contains("udp_listener=off"), "{asked}");
        assert!(EnvFilter::try_new(asked).is_ok());
    }
}
