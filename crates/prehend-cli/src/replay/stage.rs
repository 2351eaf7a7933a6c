//! The nodes of a replay in a domain of their own, and the robot side that speaks to them.

use super::ReplayError;
use super::story::{Sensed, Story};
use crate::domain::{Domain, Purpose};
use crate::node::NodeName;
use crate::observer::Observer;
use crate::supervisor::{Output, ProcessSpec, Restart, Supervisor};
use futures::StreamExt;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ObjectMap, TraceEvent};
use prehend_msgs::rosgraph_msgs::msg::Clock;
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_robots::RobotConfig;
use prehend_ros::{
    Durability, Publisher, QosProfile, RawPublisher, Reliability, RosArguments, Subscription, from_cdr,
    nanoseconds, time_from_nanoseconds,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest time until the nodes are there.
const READY: Duration = Duration::from_secs(30);
/// How often it is looked whether something has come.
pub(super) const LOOK: Duration = Duration::from_millis(25);

/// What a replay is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Program with the subcommand `node`; this executable.
    pub program: PathBuf,
    /// Robot file.
    pub robot: PathBuf,
    /// Parameters `name:=value` by node.
    pub parameters: BTreeMap<NodeName, Vec<String>>,
    /// Folder of the log files.
    pub logs: PathBuf,
}

/// The nodes, and what they hear.
pub(super) struct Stage {
    pub(super) supervisor: Supervisor,
    pub(super) observer: Observer,
    pub(super) robot: RobotConfig,
    nodes: Vec<NodeName>,
    cameras: BTreeMap<String, RawPublisher>,
    joints: RawPublisher,
    moving: Publisher<TFMessage>,
    fixed: Publisher<TFMessage>,
    in_hand: Publisher<ObjectMap>,
    clock: Publisher<Clock>,
    frames: Subscription<Header>,
    /// Stamps of the frames that were taken into the map, nanoseconds.
    pub(super) taken: Vec<i64>,
    /// Everything the trace told so far.
    pub(super) told: Vec<TraceEvent>,
    _domain: Domain,
}

impl Stage {
    /// Starts `nodes`, each with its parameters `name:=value`, in a free domain, and waits until they are there.
    pub(super) async fn start(
        options: &Options,
        nodes: &[(NodeName, &[&str])],
        speaks_of_hand: bool,
    ) -> Result<Self, ReplayError> {
        let robot = RobotConfig::load(&options.robot)?;
        let domain = Domain::free(Purpose::Run)?;
        let environment = vec![("ROS_DOMAIN_ID".to_owned(), domain.id.to_string())];
        let mut supervisor = Supervisor::new(&options.program, environment, &options.logs);
        for (node, parameters) in nodes {
            let asked = options.parameters.get(node).into_iter().flatten().map(String::as_str);
            let parameters: Vec<&str> = parameters.iter().copied().chain(asked).collect();
            supervisor.start(process(*node, &options.robot, &parameters))?;
        }
        let observer = Observer::join(domain.id, &robot, &RosArguments::default())?;
        let node = &observer.node;
        let sensor = QosProfile::sensor_data();
        // Whoever hears of a frame must get all of it: nothing here is in a hurry.
        let whole =
            QosProfile { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 20 };
        let (camera, detector) = (&robot.camera, &robot.detector);
        let parts = detector.parts.as_ref();
        let image = "sensor_msgs/msg/Image";
        let boxes = "vision_msgs/msg/Detection2DArray";
        let mut topics = vec![
            (&camera.color, image),
            (&camera.depth, image),
            (&camera.info, "sensor_msgs/msg/CameraInfo"),
            (&detector.label_image, image),
            (&detector.detections, boxes),
        ];
        topics.extend(parts.map(|parts| (&parts.label_image, image)));
        topics.extend(parts.map(|parts| (&parts.detections, boxes)));
        let mut cameras = BTreeMap::new();
        for (topic, type_name) in topics {
            cameras.insert(topic.clone(), node.create_raw_publisher(topic, type_name, whole)?);
        }
        let latched = QosProfile::transient_local();
        // Where skills run they say themselves what they hold.
        let in_hand = if speaks_of_hand { names::IN_HAND } else { "replay/in_hand" };
        let mut stage = Self {
            joints: node.create_raw_publisher(&robot.joint_states, "sensor_msgs/msg/JointState", whole)?,
            moving: node.create_publisher("/tf", whole)?,
            fixed: node.create_publisher("/tf_static", latched)?,
            in_hand: node.create_publisher(in_hand, latched)?,
            clock: node.create_publisher("/clock", sensor.depth(1))?,
            supervisor,
            cameras,
            nodes: nodes.iter().map(|(node, _)| *node).collect(),
            frames: node.subscribe(names::OBJECT_MAP_FRAME, QosProfile::default().depth(100))?,
            taken: Vec::new(),
            told: Vec::new(),
            robot,
            observer,
            _domain: domain,
        };
        match stage.ready().await {
            Ok(()) => Ok(stage),
            Err(error) => {
                stage.end().await;
                Err(error)
            }
        }
    }

    async fn ready(&mut self) -> Result<(), ReplayError> {
        let begun = Instant::now();
        loop {
            let mut missing = self.observer.missing(&self.nodes);
            // Somebody listens to the frames, and to the transforms.
            let hears = self.cameras.values().all(|camera| camera.subscriber_count() > 0)
                && self.moving.subscriber_count() > 1
                && self.fixed.subscriber_count() > 1
                && self.frames.publisher_count() > 0;
            if !hears {
                missing.push("whoever takes frames".to_owned());
            }
            if missing.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > READY {
                return Err(ReplayError::NotReady {
                    missing: missing.join(", "),
                    waited: begun.elapsed().as_secs_f64(),
                });
            }
            self.wait(LOOK).await;
        }
    }

    /// Listens to the trace for a while.
    pub(super) async fn wait(&mut self, while_: Duration) {
        let (trace, told) = (&mut self.observer.trace, &mut self.told);
        let (frames, taken) = (&mut self.frames, &mut self.taken);
        let listen = async {
            loop {
                tokio::select! {
                    Some(event) = trace.next() => told.push(event),
                    Some(frame) = frames.next() => taken.push(nanoseconds(&frame.stamp)),
                    else => std::future::pending().await,
                }
            }
        };
        // It has no end, so this always takes the whole time.
        let _: Result<(), _> = tokio::time::timeout(while_, listen).await;
    }

    /// Says the time.
    pub(super) fn say_time(&self, nanoseconds: i64) {
        sent(self.clock.publish(&Clock { clock: time_from_nanoseconds(nanoseconds) }));
    }

    /// Says where the links are at a time: the fixed transforms, and those around it.
    pub(super) fn say_where(&self, story: &Story, stamp: i64) {
        sent(self.fixed.publish(&story.fixed));
        sent(self.moving.publish(&story.transforms_around(stamp)));
    }

    /// Says where the joints were at a time.
    pub(super) fn say_joints(&self, story: &Story, stamp: i64) {
        if let Some(data) = story.joints_at(stamp) {
            sent(self.joints.publish(data));
        }
    }

    /// Says what is in the hand.
    pub(super) fn say_in_hand(&self, data: &[u8]) {
        match from_cdr::<ObjectMap>(data) {
            Ok(message) => sent(self.in_hand.publish(&message)),
            Err(error) => tracing::warn!("what was in the hand cannot be read: {error}"),
        }
    }

    /// Sends a frame, one message after the other: what is too much at once is lost, and sent again later.
    pub(super) async fn show(&mut self, frame: &[Sensed]) {
        for sensed in frame {
            if let Some(camera) = self.cameras.get(&sensed.topic) {
                sent(camera.publish(&sensed.data));
            }
            self.wait(LOOK).await;
        }
    }

    /// Ends the nodes.
    pub(super) async fn end(mut self) {
        drop(self.observer);
        self.supervisor.stop().await;
    }
}

fn sent(result: Result<(), prehend_ros::RosError>) {
    if let Err(error) = result {
        tracing::warn!("not sent: {error}");
    }
}

fn process(node: NodeName, robot: &Path, parameters: &[&str]) -> ProcessSpec {
    let mut arguments: Vec<String> =
        ["node", node.name(), "--supervised", "--robot"].map(str::to_owned).into();
    arguments.push(robot.display().to_string());
    for parameter in parameters {
        arguments.extend(["--param".to_owned(), (*parameter).to_owned()]);
    }
    ProcessSpec { name: node.name().to_owned(), arguments, restart: Restart::Never, output: Output::Logged }
}
