//! What a recording of a run holds, and how it is told.

use crate::screen::{Paint, Screen};
use prehend_bags::{Progress, RecordOptions, Recorded, Recorder, Topics};
use prehend_msgs::names;
use prehend_robots::RobotConfig;
use prehend_ros::Node;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait until the topics of a graph that is ready are connected.
const CONNECTED: Duration = Duration::from_secs(3);
/// Pause between two lines of progress where lines are not written over.
const PAUSE: Duration = Duration::from_secs(10);

/// Key of the robot in the notes of a recording.
pub const ROBOT: &str = "robot";
/// Key of the goal in the notes of a recording.
pub const GOAL: &str = "goal";

/// What a replay needs of this robot and of the graph, under the names that `resolve` gives them.
pub fn topics_of(robot: &RobotConfig, resolve: impl Fn(&str) -> String) -> BTreeSet<String> {
    let sensors = sensors_of(robot);
    let mut topics: BTreeSet<String> = sensors.iter().map(|name| resolve(name)).collect();
    let graph = [
        names::TRACE,
        names::STATE,
        names::OBJECT_MAP,
        names::ROOM_MAP,
        names::IN_HAND,
        names::STOP_STATE,
        names::HEARTBEAT,
        "/rosout",
    ];
    topics.extend(graph.map(&resolve));
    // For the viewer: not every robot has them.
    topics.insert(resolve(&robot.moveit.changed_scene()));
    topics.extend(robot.navigation.as_ref().map(|base| resolve(&base.route())));
    topics
}

/// What the robot side publishes.
pub fn sensors_of(robot: &RobotConfig) -> BTreeSet<String> {
    let mut topics: BTreeSet<String> = ["/clock", "/tf", "/tf_static"].map(str::to_owned).into();
    let camera = &robot.camera;
    topics.extend([&camera.color, &camera.depth, &camera.info].map(Clone::clone));
    topics.extend([&robot.detector.label_image, &robot.detector.detections].map(Clone::clone));
    if let Some(parts) = &robot.detector.parts {
        topics.extend([&parts.label_image, &parts.detections].map(Clone::clone));
    }
    topics.insert(robot.joint_states.clone());
    if let Some(base) = &robot.navigation {
        topics.extend([&base.map, &base.costmap, &base.scan, &base.odometry, &base.pose].map(Clone::clone));
    }
    topics
}

/// The name of a topic as a person writes it, from the root.
pub fn absolute(topic: &str) -> String {
    if topic.starts_with('/') { topic.to_owned() } else { format!("/{topic}") }
}

/// Notes that a replay reads.
pub fn notes(robot: &Path, goal: Option<&str>) -> BTreeMap<String, String> {
    let mut notes = BTreeMap::from([
        (ROBOT.to_owned(), robot.display().to_string()),
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    notes.extend(goal.map(|goal| (GOAL.to_owned(), goal.to_owned())));
    notes
}

/// Begins to record a graph that is ready, and waits until its topics are connected. A recording that cannot begin is told and is no
/// reason to end a run.
pub async fn begin(
    node: &Node,
    folder: &Path,
    robot: &RobotConfig,
    notes: BTreeMap<String, String>,
    screen: &Screen,
) -> Option<Recorder> {
    let mut options = RecordOptions::new(Topics::Named(topics_of(robot, |name| node.resolve_topic(name))));
    options.bag.notes = notes;
    match Recorder::start(node, folder, options) {
        Ok(recorder) => {
            recorder.connected(CONNECTED).await;
            screen.line(format!("recording into {}", folder.display()));
            Some(recorder)
        }
        Err(error) => {
            screen.line(screen.paint(Paint::Red, &format!("nothing is recorded: {error}")));
            None
        }
    }
}

/// Tells what a recorder has to say, if there is one.
pub fn remark(recorder: Option<&Recorder>, screen: &Screen) {
    for remark in recorder.map(Recorder::remarks).unwrap_or_default() {
        screen.line(screen.paint(Paint::Yellow, &remark));
    }
}

/// Ends a recording and tells what it came to.
pub async fn end(recorder: Option<Recorder>, screen: &Screen) {
    remark(recorder.as_ref(), screen);
    let Some(recorder) = recorder else { return };
    match recorder.finish().await {
        Ok(recorded) => tell(&recorded, screen),
        Err(error) => screen.line(screen.paint(Paint::Red, &format!("the recording is not whole: {error}"))),
    }
}

/// Tells what a recording came to.
pub fn tell(recorded: &Recorded, screen: &Screen) {
    let written = &recorded.written;
    let folder = written.files.first().and_then(|file| file.parent()).unwrap_or(Path::new("."));
    screen.line(format!(
        "recorded {} messages of {} topics, {:.1} MB in {} file(s), {} dropped: {}",
        written.messages,
        written.topics.len(),
        written.bytes as f64 / 1e6,
        written.files.len(),
        recorded.progress.dropped,
        folder.display()
    ));
    for (topic, dropped) in &recorded.dropped {
        screen.line(screen.paint(Paint::Yellow, &format!("  {dropped} of {topic} were dropped")));
    }
}

/// The same as one JSON object.
pub fn as_json(recorded: &Recorded) -> Value {
    let written = &recorded.written;
    json!({
        "messages": written.messages,
        "bytes": written.bytes,
        "dropped": recorded.progress.dropped,
        "files": written.files,
        "topics": written.topics,
    })
}

/// The line that tells how far a recording is; on a terminal it is written over, elsewhere it comes now and then.
#[derive(Debug)]
pub struct Meter {
    started: Instant,
    told: Option<Instant>,
    is_terminal: bool,
    is_open: bool,
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Meter {
    /// A recording that begins now.
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            told: None,
            is_terminal: std::io::stderr().is_terminal(),
            is_open: false,
        }
    }

    /// Tells how far it is.
    pub fn show(&mut self, progress: &Progress) {
        if !self.is_terminal && self.told.unwrap_or(self.started).elapsed() < PAUSE {
            return;
        }
        self.told = Some(Instant::now());
        let Progress { messages, bytes, dropped, topics } = progress;
        let line = format!(
            "{:5.0} s  {topics} topics  {messages} messages  {:.1} MB  {dropped} dropped",
            self.started.elapsed().as_secs_f64(),
            *bytes as f64 / 1e6
        );
        // Nobody reads any more: no error.
        let _ = match self.is_terminal {
            true => write!(std::io::stderr(), "\r{line}  "),
            false => writeln!(std::io::stderr(), "{line}"),
        };
        self.is_open = self.is_terminal;
    }

    /// Leaves the line.
    pub fn leave(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(std::io::stderr());
        }
    }
}

/// Tells on a terminal how many messages were read of a recording that takes its time.
#[derive(Debug)]
pub struct Reading {
    started: Instant,
    is_open: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self::new()
    }
}

impl Reading {
    /// A reading that begins now.
    pub fn new() -> Self {
        Self { started: Instant::now(), is_open: false }
    }

    /// Tells that so many were read.
    pub fn show(&mut self, messages: u64) {
        if self.started.elapsed() > Duration::from_secs(1) && std::io::stderr().is_terminal() {
            let _ = write!(std::io::stderr(), "\rreading: {messages} messages");
            self.is_open = true;
        }
    }

    /// Leaves the line.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(std::io::stderr());
        }
    }
}
