//! The gazebo node: what stands between Gazebo's names and units and those of the robot file.
//!
//! It turns the label map of Gazebo's segmentation camera into what a detector publishes, gives the gripper's goals, in positions of its
//! drive, to the controllers of both fingers, and adds to the joint states where the drive is then. Read `labels` first. Not for: clock
//! and images, which are bridged as they are.

mod gripper;
mod labels;

pub use gripper::finger_per_drive;
pub use labels::{LabelTable, LabelTableError, MIN_PIXELS};

use futures::StreamExt;
use gripper::Hand;
use prehend_convert::{ConvertError, label_map_from_msg, u16_image_to_msg};
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::sensor_msgs::msg::{Image, JointState};
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::vision_msgs::msg::Detection2DArray;
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{Publisher, QosProfile, RosError, Subscription};
use prehend_sim::sensors::Detections;
use std::path::Path;

/// Topic of the bridged label map; parameter `labels_map`.
pub const LABELS_MAP: &str = "/gazebo/labels_map";
/// Joint states as Gazebo's broadcaster publishes them; parameter `joint_states`.
pub const JOINT_STATES: &str = "/joint_state_broadcaster/joint_states";
/// Joints of the fingers, each with a gripper controller of its own; parameters `left_finger`, `right_finger`.
pub const FINGERS: [&str; 2] = ["left_finger_joint", "right_finger_joint"];

/// Topics of one detector.
struct Topics {
    labels: Publisher<Image>,
    detections: Publisher<Detection2DArray>,
}

impl Topics {
    fn create(shell: &Shell, labels: &str, detections: &str) -> Result<Self, RosError> {
        // As the embedded robot's.
        let qos = QosProfile::default().depth(2);
        Ok(Self {
            labels: shell.node.create_publisher(labels, qos)?,
            detections: shell.node.create_publisher(detections, qos)?,
        })
    }

    /// With the stamp of the label map: everything of one moment is joined by it.
    fn publish(&self, found: &Detections, header: &Header) -> Result<(), RosError> {
        let (width, height) = (found.labels.width, found.labels.height);
        let labels = Image {
            header: header.clone(),
            ..u16_image_to_msg(&found.labels.labels, width, height, &header.frame_id, 0.0)
        };
        self.labels.publish(&labels)?;
        self.detections.publish(&labels::detections_to_msg(found, header))
    }
}

/// The action of a finger's controller. It must not be called like its joint: the controller manager takes the one for the other.
pub fn finger_action(joint: &str) -> String {
    format!("/{joint}_controller/gripper_cmd")
}

/// Runs the node until it is told to stop. ROS parameters: `labels` (the file that `prehend scene to-sdf` wrote beside the world),
/// `labels_map`, `joint_states`, `left_finger`, `right_finger`.
///
/// Errors: [`NodeError`].
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("gazebo", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let parameters = shell.node.parameters();
    let file = parameters.string_or("labels", "")?;
    let labels_map = parameters.string_or("labels_map", LABELS_MAP)?;
    let joint_states = parameters.string_or("joint_states", JOINT_STATES)?;
    let [left, right] = FINGERS;
    let fingers = [parameters.string_or("left_finger", left)?, parameters.string_or("right_finger", right)?];
    parameters.describe("labels", "File of labels that was written beside the world.");
    parameters.describe("labels_map", "Topic of the bridged label map.");
    parameters.describe("joint_states", "Joint states as Gazebo's broadcaster publishes them.");
    parameters.describe("left_finger", "Joint of a finger; its gripper controller is JOINT_controller.");
    parameters.describe("right_finger", "Joint of the other finger.");
    parameters.finish()?;
    let table = load(Path::new(&file))?;
    let detector = &shell.robot.detector;
    let things = Topics::create(&shell, &detector.label_image, &detector.detections)?;
    let parts = match &detector.parts {
        Some(parts) => Some(Topics::create(&shell, &parts.label_image, &parts.detections)?),
        None => None,
    };
    let mut maps = shell.node.subscribe::<Image>(&labels_map, QosProfile::sensor_data())?;
    let server = shell.node.create_action_server::<GripperCommand::Action>(&shell.robot.gripper.action)?;
    let client =
        |joint: &String| shell.node.create_action_client::<GripperCommand::Action>(&finger_action(joint));
    let clients = [client(&fingers[0])?, client(&fingers[1])?];
    let hand = Hand { gripper: shell.robot.gripper.clone(), fingers };
    tokio::spawn(gripper::relay(server, clients, hand.gripper.clone()));
    let told = shell.node.subscribe::<JointState>(&joint_states, QosProfile::default())?;
    let states = shell.node.create_publisher(&shell.robot.joint_states, QosProfile::default())?;
    tokio::spawn(tell(told, states, hand));
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let map = tokio::select! {
            () = &mut shutdown => return Ok(()),
            Some(map) = maps.next() => map,
        };
        match detect(&table, &map) {
            Ok((found, of_parts)) => {
                // The frame is that of the robot file: Gazebo's name for it depends on its version.
                let header =
                    Header { frame_id: shell.robot.frames.camera.clone(), stamp: map.header.stamp.clone() };
                // Parts come first: who waits for the objects has the parts.
                let sent = parts.as_ref().map_or(Ok(()), |topics| topics.publish(&of_parts, &header));
                if let Err(error) = sent.and_then(|()| things.publish(&found, &header)) {
                    tracing::debug!("detections not sent: {error}");
                }
            }
            Err(error) => tracing::warn!("{labels_map}: {error}"),
        }
    }
}

/// Passes joint states on with the drive's, until their topic ends.
async fn tell(mut told: Subscription<JointState>, states: Publisher<JointState>, hand: Hand) {
    let mut is_whole = true;
    while let Some(state) = told.next().await {
        let whole = hand.with_drive(state);
        // Once: they come hundreds of times a second.
        if is_whole && whole.is_none() {
            let fingers = hand.fingers.join(" and ");
            tracing::warn!("joint states without a number for each of {fingers} are left out");
        }
        is_whole = whole.is_some();
        let sent = whole.map_or(Ok(()), |state| states.publish(&state));
        if let Err(error) = sent {
            tracing::debug!("joint states not sent: {error}");
        }
    }
}

fn load(file: &Path) -> Result<LabelTable, NodeError> {
    let start = |reason: String| NodeError::Start { node: "gazebo", reason };
    if file.as_os_str().is_empty() {
        return Err(start(
            "labels:=FILE is needed: `prehend scene to-sdf` writes it beside the world".to_owned(),
        ));
    }
    let text =
        std::fs::read_to_string(file).map_err(|error| start(format!("{}: {error}", file.display())))?;
    LabelTable::parse(&text).map_err(|error| start(format!("{}: {error}", file.display())))
}

fn detect(table: &LabelTable, map: &Image) -> Result<(Detections, Detections), ConvertError> {
    let values = label_map_from_msg(map)?;
    Ok(table.detect(&values, map.width as usize, map.height as usize))
}
