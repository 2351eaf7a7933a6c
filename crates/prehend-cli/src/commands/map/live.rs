//! Frames of topics that are published now.

use super::Failure;
use super::growing::Growing;
use crate::args::map::BuildArgs;
use crate::domain::Domain;
use crate::outcome::exit;
use futures::StreamExt;
use prehend_bags::{FrameParts, KeyframeChoice, Pairing, Picture, Side, frame_of};
use prehend_msgs::names;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use prehend_recording::{BuildError, RecordedFrame};
use prehend_robots::RobotConfig;
use prehend_ros::{
    Context, Node, NodeOptions, QosProfile, RosError, Subscription, TfBuffer, TfError, nanoseconds,
};
use std::time::Duration;
use tokio::sync::mpsc;

/// Longest time until the transform of a picture comes after it.
const TF_DEADLINE: Duration = Duration::from_millis(500);
/// Messages of a topic that wait while a transform is waited for.
const DEPTH: usize = 30;
/// Keyframes that wait for the map; more are left out.
const KEPT: usize = 16;

/// A topic of pictures, compressed or not.
enum Pictures {
    Raw(Subscription<Image>),
    Compressed(Subscription<CompressedImage>),
}

impl Pictures {
    /// Topics of compressed pictures are known by their names, as `image_transport` gives them.
    fn subscribe(node: &Node, topic: &str) -> Result<Self, RosError> {
        let qos = QosProfile::sensor_data().depth(DEPTH);
        if topic.ends_with("/compressed") || topic.ends_with("/compressedDepth") {
            node.subscribe(topic, qos).map(Self::Compressed)
        } else {
            node.subscribe(topic, qos).map(Self::Raw)
        }
    }

    async fn next(&mut self) -> Option<Picture> {
        match self {
            Self::Raw(topic) => topic.next().await.map(Picture::Raw),
            Self::Compressed(topic) => topic.next().await.map(Picture::Compressed),
        }
    }
}

/// Names of what is listened to.
struct Names {
    /// Colour, depth and calibration.
    topics: [String; 3],
    map_frame: String,
}

impl Names {
    /// What the arguments do not say is the robot's.
    fn of(args: &BuildArgs, robot: &RobotConfig) -> Self {
        let or = |asked: &Option<String>, known: &str| asked.clone().unwrap_or_else(|| known.to_owned());
        let fixed = robot.navigation.as_ref().map_or(&robot.frames.base, |navigation| &navigation.frame);
        Self {
            topics: [
                or(&args.bag.color_topic, &robot.camera.color),
                or(&args.bag.depth_topic, &robot.camera.depth),
                or(&args.bag.info_topic, &robot.camera.info),
            ],
            map_frame: or(&args.bag.map_frame, fixed),
        }
    }
}

/// What was heard.
#[derive(Default)]
struct Heard {
    /// Messages of colour, depth and calibration.
    messages: [u64; 3],
    pairs: u64,
    without_pose: u64,
    /// Keyframes that came faster than the map grew.
    left_out: u64,
    last: Option<TfError>,
}

/// Listens for `args.seconds` and builds the map meanwhile.
pub(super) async fn from_topics(args: &BuildArgs, map: Growing) -> Result<Growing, Failure> {
    let robot = RobotConfig::load(&args.robot).map_err(Failure::input)?;
    let domain = Domain::find().map_err(Failure::input)?;
    let failed = |error: RosError| Failure { message: error.to_string(), code: exit::NOT_READY };
    let context = Context::create_in_domain(domain.id).map_err(failed)?;
    let name = format!("prehend_map_{}", std::process::id());
    let node = Node::create(&context, &name, names::NAMESPACE, NodeOptions::default()).map_err(failed)?;
    let names = Names::of(args, &robot);
    let (sender, frames) = mpsc::channel(KEPT);
    let building = tokio::task::spawn_blocking(move || build(frames, map));
    let heard = listen(args, &node, &names, sender).await;
    let built = building.await.map_err(Failure::output)?;
    let heard = heard?;
    let map = built.map_err(Failure::input)?;
    if map.reports.is_empty() {
        return Err(Failure { message: silence(args, &node, &names, &heard), code: exit::NOT_READY });
    }
    eprintln!(
        "{} pictures of {}, {} pairs, {} without a pose in `{}`, {} keyframes that came too fast",
        heard.messages[0], names.topics[0], heard.pairs, heard.without_pose, names.map_frame, heard.left_out
    );
    Ok(map)
}

/// Takes frames into a map until there are no more.
fn build(mut frames: mpsc::Receiver<RecordedFrame>, mut map: Growing) -> Result<Growing, BuildError> {
    while let Some(frame) = frames.blocking_recv() {
        map.take(frame)?;
        eprintln!("keyframe {}", map.reports.len());
    }
    Ok(map)
}

/// Hears the topics until the time is over, and sends each keyframe to the map.
async fn listen(
    args: &BuildArgs,
    node: &Node,
    names: &Names,
    sender: mpsc::Sender<RecordedFrame>,
) -> Result<Heard, Failure> {
    let failed = |error: RosError| Failure { message: error.to_string(), code: exit::NOT_READY };
    let options = args.bag.options();
    let [color, depth, info] = &names.topics;
    let is_rectified = color.contains("rect");
    let tf = node.tf().map_err(failed)?;
    let mut colors = Pictures::subscribe(node, color).map_err(failed)?;
    let mut depths = Pictures::subscribe(node, depth).map_err(failed)?;
    let mut infos = node.subscribe::<CameraInfo>(info, QosProfile::sensor_data()).map_err(failed)?;
    let mut pairing = Pairing::new(options.tolerance_ns);
    let mut choice = KeyframeChoice::new(options.select);
    let mut camera: Option<CameraInfo> = None;
    let mut heard = Heard::default();
    let end = tokio::time::sleep(Duration::try_from_secs_f64(args.seconds).map_err(Failure::input)?);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return Ok(heard),
            Some(picture) = colors.next() => {
                heard.messages[0] += 1;
                pairing.push(Side::Color, nanoseconds(&picture.header().stamp), picture);
            }
            Some(picture) = depths.next() => {
                heard.messages[1] += 1;
                pairing.push(Side::Depth, nanoseconds(&picture.header().stamp), picture);
            }
            Some(info) = infos.next() => {
                heard.messages[2] += 1;
                camera = Some(info);
            }
        }
        pairing.forget_old();
        let Some(info) = &camera else { continue };
        while let Some((stamp, color, depth)) = pairing.next(false) {
            heard.pairs += 1;
            let pose = match pose_of(&tf, &names.map_frame, &color).await {
                Ok(pose) => pose,
                Err(error) => {
                    heard.without_pose += 1;
                    heard.last = Some(error);
                    continue;
                }
            };
            if !choice.take(Some(&pose)) {
                continue;
            }
            let name = format!("{}.{:09}", stamp / 1_000_000_000, stamp % 1_000_000_000);
            let parts = FrameParts { color: &color, depth: &depth, info, is_rectified };
            let frame = frame_of(name, parts, Some(pose)).map_err(Failure::input)?;
            match sender.try_send(frame) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(_)) => heard.left_out += 1,
                // The map has an error of its own to tell.
                Err(mpsc::error::TrySendError::Closed(_)) => return Ok(heard),
            }
        }
    }
}

async fn pose_of(tf: &TfBuffer, map: &str, picture: &Picture) -> Result<nalgebra::Isometry3<f64>, TfError> {
    let header = picture.header();
    let found = tf.wait(map, &header.frame_id, &header.stamp, TF_DEADLINE).await?;
    Ok(found.isometry())
}

/// Why there is no frame, for people.
fn silence(args: &BuildArgs, node: &Node, names: &Names, heard: &Heard) -> String {
    let [colors, depths, infos] = heard.messages;
    let [color, depth, info] = &names.topics;
    let within = format!("in {} s", args.seconds);
    if let (Some(error), true) = (&heard.last, heard.pairs > 0) {
        let map = &names.map_frame;
        return format!(
            "{} pairs of pictures {within}, none with a pose in `{map}`: {error}; see --map-frame",
            heard.pairs
        );
    }
    if colors > 0 && depths > 0 && infos > 0 {
        return format!(
            "{colors} pictures of {color} and {depths} of {depth} {within}, none of them within {} s of \
             another; see --tolerance",
            args.bag.tolerance
        );
    }
    let topics = node.topics();
    let is_camera = |types: &[String]| {
        types.iter().any(|name| {
            name.starts_with("sensor_msgs/msg/") && (name.contains("Image") || name.contains("CameraInfo"))
        })
    };
    let there: Vec<&str> = topics
        .iter()
        .filter(|topic| is_camera(&topic.types) && !topic.publishers.is_empty())
        .map(|topic| topic.name.as_str())
        .collect();
    format!(
        "{within}: {colors} messages of {color}, {depths} of {depth}, {infos} of {info}. Published by cameras in ROS domain {} are: {}; see \
         --color-topic, --depth-topic, --info-topic",
        node.domain_id(),
        if there.is_empty() { "none".to_owned() } else { there.join(", ") }
    )
}
