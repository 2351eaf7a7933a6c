//! What Gazebo is given: the robot's description, controllers, bridge and labels fit the robot file and the description that the embedded
//! robot has; and the node `gazebo` as a process, between a bridge and a controller that stand in for Gazebo's. Gazebo itself is not
//! needed: `check_urdf` and libsdformat are used where they are installed.

use crate::harness::{CALL, PREHEND, in_time, repository};
use crate::peer;
use crate::tree::Element;
use futures::StreamExt;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_cli::gazebo::robot_urdf::{self, CAMERA_TOPIC, Options, SEGMENTATION_TOPIC, UrdfError};
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::control_msgs::msg::GripperCommand as Grip;
use prehend_msgs::sensor_msgs::msg::{Image, JointState};
use prehend_msgs::vision_msgs::msg::Detection2DArray;
use prehend_robots::RobotConfig;
use prehend_ros::{Context, DomainLease, GoalStatus, Node, NodeOptions, QosProfile, RosError};
use prehend_sim::world::ArmModel;
use prehend_sim_node::gazebo::{FINGERS, JOINT_STATES, LABELS_MAP, LabelTable};
use prehend_sim_node::gazebo::{finger_action, finger_per_drive};
use prehend_testing::{Needs, skipped};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn robot(name: &str) -> RobotConfig {
    let file = repository().join(format!("config/robots/{name}.yaml"));
    RobotConfig::load(&file).unwrap_or_else(|findings| panic!("{findings}"))
}

fn options(namespace: &str) -> Options<'_> {
    Options { controllers: Path::new("/etc/controllers & more.yaml"), namespace, rate: 10.0 }
}

fn made() -> String {
    robot_urdf::write(&read("urdf/xarm6.urdf"), &robot("xarm6"), &options("")).expect("a description")
}

fn pose(origin: &urdf_rs::Pose) -> Isometry3<f64> {
    let ([x, y, z], [roll, pitch, yaw]) = (origin.xyz.0, origin.rpy.0);
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

#[test]
fn links_and_arm_joints_are_those_of_the_description() {
    let before = urdf_rs::read_from_string(&read("urdf/xarm6.urdf")).expect("a URDF");
    let after = urdf_rs::read_from_string(&made()).expect("a URDF");
    for link in &before.links {
        let same = after.links.iter().find(|other| other.name == link.name).expect("the link");
        assert_eq!(format!("{link:?}"), format!("{same:?}"));
    }
    assert_eq!(after.links.len(), before.links.len() + 1, "and the world");
    let hand = ["drive_joint", "left_finger_joint", "right_finger_joint"];
    for joint in before.joints.iter().filter(|joint| !hand.contains(&joint.name.as_str())) {
        let same = after.joints.iter().find(|other| other.name == joint.name).expect("the joint");
        assert_eq!(format!("{joint:?}"), format!("{same:?}"));
    }
}

/// With the drive anywhere, both fingers are where the embedded robot has them.
#[test]
fn fingers_are_where_the_drive_puts_them() {
    let model = ArmModel::from_urdf(&read("urdf/xarm6.urdf")).expect("a model");
    let robot = robot("xarm6");
    let after = urdf_rs::read_from_string(&made()).expect("a URDF");
    let joint = |name: &str| after.joints.iter().find(|joint| joint.name == name).expect("a joint");
    let (drive, left, right) =
        (joint("drive_joint"), joint("left_finger_joint"), joint("right_finger_joint"));
    let mimic = drive.mimic.as_ref().expect("the drive follows a finger");
    // gz_ros2_control knows no offsets.
    assert_eq!((mimic.joint.as_str(), mimic.offset.unwrap_or(0.0)), (FINGERS[0], 0.0));
    for finger in [left, right] {
        assert!(finger.mimic.is_none(), "{} is commanded", finger.name);
        assert!((finger.limit.effort - robot.gripper.grip_force).abs() < 1e-9);
        // With all its force it moves as fast as it may; without damping what is held would drift between the two.
        let damping = finger.dynamics.as_ref().expect("dynamics").damping;
        assert!((damping * finger.limit.velocity - robot.gripper.grip_force).abs() < 1e-9, "{damping}");
    }
    for at in [0.0, 0.1, 0.425, 0.85] {
        let finger = at * finger_per_drive(&robot.gripper);
        assert!((mimic.multiplier.expect("a factor") * finger - at).abs() < 1e-9, "the drive is at {at}");
        let opening = model.opening_from_drive(at);
        let expected = model.link_poses(&robot.home, opening);
        let index = |name: &str| model.links().iter().position(|link| link.name == name).expect("a link");
        for (joint, link) in [(left, "left_finger"), (right, "right_finger")] {
            assert!(
                (joint.limit.lower - 1e-9..=joint.limit.upper + 1e-9).contains(&finger),
                "{link} at {finger}"
            );
            let along = Vector3::from(joint.axis.xyz.0) * finger;
            let found = expected[index(&joint.parent.link)] * pose(&joint.origin) * Translation3::from(along);
            let off = (found.translation.vector - expected[index(link)].translation.vector).norm();
            assert!(off < 1e-9, "{link} at drive {at} is off by {off}");
        }
    }
}

/// One sensor of the description, with its pose in the camera's frame.
fn sensor<'a>(root: &'a Element, kind: &str) -> &'a Element {
    let mut all = root.all("gazebo").flat_map(|block| block.all("sensor"));
    all.find(|sensor| sensor.attribute("type") == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn cameras_look_where_the_optical_frame_looks_and_see_as_much() {
    let urdf = made();
    let root = Element::parse(&urdf);
    for (kind, topic) in [("rgbd_camera", CAMERA_TOPIC), ("segmentation", SEGMENTATION_TOPIC)] {
        let sensor = sensor(&root, kind);
        let [.., roll, pitch, yaw] = sensor.numbers("pose")[..] else { panic!("no pose") };
        let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        // Gazebo: x ahead, y left, z up. Optical frame: z ahead, x right, y down.
        for (gazebo, optical) in
            [(Vector3::x(), Vector3::z()), (Vector3::y(), -Vector3::x()), (Vector3::z(), -Vector3::y())]
        {
            assert!((turn * gazebo - optical).norm() < 1e-9, "{kind}: {}", turn * gazebo);
        }
        assert_eq!(sensor.find("topic").expect("a topic").text, topic);
        let (width, view) =
            (sensor.numbers("camera/image/width")[0], sensor.numbers("camera/horizontal_fov")[0]);
        let focal = width / 2.0 / (view / 2.0).tan();
        assert!((focal - 615.0).abs() < 1e-6, "{kind}: {focal}");
        // What Gazebo tells of its camera comes from here, and not from the field of view.
        let lens = ["fx", "fy", "cx", "cy", "s"]
            .map(|name| sensor.numbers(&format!("camera/lens/intrinsics/{name}"))[0]);
        assert_eq!(lens, [615.0, 615.0, 320.0, 240.0, 0.0], "{kind}");
        // Both draw at the same moments: images and labels are joined by their stamps.
        assert_eq!(sensor.numbers("update_rate"), [10.0]);
    }
}

#[test]
fn controllers_and_bridge_have_the_names_of_the_robot_file() {
    let robot = robot("xarm6");
    let (controllers, launch) =
        (read("config/gazebo/xarm6_controllers.yaml"), read("launch/gazebo.launch.py"));
    let name = robot.arm.controller.trim_start_matches('/').split('/').next().expect("a name");
    assert!(robot.arm.controller.ends_with("/follow_joint_trajectory"));
    assert!(controllers.contains(&format!("/**/{name}:")) && controllers.contains(&format!("    {name}:\n")));
    assert!(controllers.contains(&format!("joints: [{}]", robot.arm.joints.join(", "))));
    for finger in FINGERS {
        let action = finger_action(finger);
        let name = action.trim_start_matches('/').split('/').next().expect("a name");
        assert!(controllers.contains(&format!("/**/{name}:\n  ros__parameters:\n    joint: {finger}\n")));
        assert!(controllers.contains(&format!("    {name}:\n      type: ")), "{name}");
        assert!(launch.contains(&format!("\"{name}\"")), "{name}");
    }
    // What holds them until the first goal presses no harder than a grip.
    let effort = format!("\n    max_effort: {:.1}  # N", robot.gripper.grip_force);
    assert_eq!(controllers.matches(&effort).count(), FINGERS.len(), "{effort}");
    // Below its own name, so that the node can add the drive.
    assert!(
        controllers
            .contains("/**/joint_state_broadcaster:\n  ros__parameters:\n    use_local_topics: true\n")
    );
    let root = Element::parse(&made());
    let control = root.find("ros2_control").expect("ros2_control");
    let commanded: Vec<&str> = control
        .all("joint")
        .filter(|joint| joint.find("command_interface").is_some())
        .map(|joint| joint.attribute("name"))
        .collect();
    let expected: Vec<&str> = robot.arm.joints.iter().map(String::as_str).chain(FINGERS).collect();
    assert_eq!(commanded, expected);
    let read_too: Vec<&str> = control.all("joint").map(|joint| joint.attribute("name")).collect();
    assert!(read_too.contains(&robot.gripper.joint.as_str()), "joint states have the gripper");

    let bridge = read("config/gazebo/ros_gz_bridge.yaml");
    let pairs: Vec<(&str, &str)> = bridge
        .split("- ros_topic_name: ")
        .skip(1)
        .map(|entry| {
            let gz = entry.split("gz_topic_name: ").nth(1).expect("Gazebo's name");
            assert!(entry.contains("direction: GZ_TO_ROS"));
            (entry.lines().next().expect("a name"), gz.lines().next().expect("a name"))
        })
        .collect();
    let camera = |suffix: &str| format!("{CAMERA_TOPIC}/{suffix}");
    let (image, depth, info) = (camera("image"), camera("depth_image"), camera("camera_info"));
    let labels = format!("{SEGMENTATION_TOPIC}/labels_map");
    let expected = [
        ("/clock", "/clock"),
        (robot.camera.color.as_str(), image.as_str()),
        (&robot.camera.depth, &depth),
        (&robot.camera.info, &info),
        (LABELS_MAP, &labels),
    ];
    assert_eq!(pairs, expected);
    for named in [LABELS_MAP, JOINT_STATES, "config/scenes/tabletop.yaml"] {
        assert!(launch.contains(&format!("\"{named}\"")), "{named}");
    }
}

#[test]
fn what_is_no_robot_for_gazebo_is_refused() {
    let (xarm6, text) = (robot("xarm6"), read("urdf/xarm6.urdf"));
    let error =
        |text: &str, robot: &RobotConfig| robot_urdf::write(text, robot, &options("")).expect_err("refused");
    assert!(matches!(error("<robot><link></robot>", &xarm6), UrdfError::Xml(_)));
    assert!(matches!(error("<sdf version=\"1.9\"/>", &xarm6), UrdfError::Xml(_)));
    assert!(matches!(error("", &xarm6), UrdfError::Xml(_)));
    let without = text.replace("name=\"joint4\"", "name=\"joint44\"");
    assert_eq!(error(&without, &xarm6), UrdfError::Missing { what: "joint", name: "joint4".to_owned() });
    let one = text.replacen("<mimic joint=\"drive_joint\"", "<mimic joint=\"joint1\"", 1);
    assert_eq!(error(&one, &xarm6), UrdfError::Gripper { drive: "drive_joint".to_owned(), found: 1 });
    let still = text.replacen("multiplier=\"-0.05\"", "multiplier=\"0\"", 1);
    assert!(matches!(error(&still, &xarm6), UrdfError::Gripper { .. }));
    for name in ["ranger_xarm6", "stretch"] {
        assert_eq!(
            error(&read(&format!("urdf/{name}.urdf")), &robot(name)),
            UrdfError::Drives(name.to_owned())
        );
    }
}

#[test]
fn a_namespace_goes_to_the_controllers() {
    let write = |namespace: &str| {
        let urdf = robot_urdf::write(&read("urdf/xarm6.urdf"), &robot("xarm6"), &options(namespace));
        let root = Element::parse(&urdf.expect("a description"));
        let plugin = root.all("gazebo").find_map(|block| block.find("plugin")).expect("a plugin");
        assert_eq!(plugin.find("parameters").expect("a file").text, "/etc/controllers & more.yaml");
        plugin.find("ros/namespace").map(|found| found.text.clone())
    };
    assert_eq!(write(""), None);
    assert_eq!(write("robot1"), Some("/robot1".to_owned()));
    assert_eq!(write("/a/b/"), Some("/a/b".to_owned()));
}

fn to_sdf(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prehend"));
    command.args(["scene", "to-sdf"]).args(arguments).current_dir(folder);
    command.env("PREHEND_SHARE", repository()).output().expect("runs")
}

#[test]
fn the_command_writes_world_meshes_labels_and_robot() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "config/scenes/tabletop.yaml",
        "--seed",
        "3",
        "--out",
        "gz/table.sdf",
        "--robot-urdf",
        "gz/arm.urdf",
    ];
    let output = to_sdf(&arguments, folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = |name: &str| std::fs::read_to_string(folder.path().join("gz").join(name)).expect("a file");
    let sdf = written("table.sdf");
    let uris: Vec<&str> =
        sdf.split("<uri>").skip(1).map(|rest| rest.split("</uri>").next().expect("its end")).collect();
    assert!(uris.len() > 10);
    for uri in uris {
        assert!(written(uri).starts_with("v "), "{uri}");
    }
    let labels = written("table.labels.json");
    LabelTable::parse(&labels).expect("labels");
    assert!(labels.contains("\"red mug\"") && labels.contains("\"handle\""), "{labels}");
    assert!(
        written("arm.urdf")
            .contains(&repository().join("config/gazebo/xarm6_controllers.yaml").display().to_string())
    );
    let again = to_sdf(&["config/scenes/tabletop.yaml", "--seed", "3", "--out", "two.sdf"], folder.path());
    assert!(again.status.success());
    let two = std::fs::read_to_string(folder.path().join("two.sdf")).expect("a file");
    assert_eq!(two.replace("two_meshes", "table_meshes"), sdf, "the same seed, the same world");
}

#[test]
fn the_command_says_what_is_wrong_and_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(&[&str], &str); 4] = [
        (&["nowhere.yaml", "--out", "w.sdf"], "nowhere.yaml"),
        (&["config/scenes/tabletop.yaml", "--robot", "stretch", "--out", "w.sdf"], "room"),
        (&["config/scenes/room_two_tables.yaml", "--out", "w.sdf", "--robot-urdf", "r.urdf"], "controllers"),
        (
            &[
                "config/scenes/tabletop.yaml",
                "--out",
                "w.sdf",
                "--robot-urdf",
                "r.urdf",
                "--controllers",
                "none.yaml",
            ],
            "none.yaml",
        ),
    ];
    for (arguments, named) in cases {
        let output = to_sdf(arguments, folder.path());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(named) && !said.contains("panicked"), "{arguments:?}: {said}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{arguments:?}");
    }
    let room = to_sdf(&["config/scenes/room_two_tables.yaml", "--out", "room.sdf"], folder.path());
    assert!(room.status.success(), "{}", String::from_utf8_lossy(&room.stderr));
}

/// By the tools of Debian: liburdfdom's `check_urdf`, and libsdformat, which turns a URDF into what Gazebo loads.
#[test]
fn liburdfdom_and_libsdformat_read_the_description() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gazebo");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("robot.urdf");
    std::fs::write(&file, made()).expect("written");
    match Command::new("check_urdf").arg(&file).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
            assert!(said.contains("Successfully Parsed XML") && said.contains("root Link: world"), "{said}");
        }
        Err(_) => skipped(Needs::Urdfdom, "check_urdf is not installed (apt-get install liburdfdom-tools)"),
    }
    let Some(program) = peer::build(&folder) else {
        skipped(
            Needs::Sdformat,
            "libsdformat is not installed (apt-get install libsdformat-dev g++ pkg-config)",
        );
        return;
    };
    let read = peer::read(&program, &file);
    let [model] = &read[..] else { panic!("{} models", read.len()) };
    // What hangs on a fixed joint is one with its parent there: masses add up, and every joint that moves is left.
    let before = urdf_rs::read_from_string(&made()).expect("a URDF");
    let weight: f64 = before.links.iter().map(|link| link.inertial.mass.value).sum();
    let found: f64 = model.links.iter().map(|link| link.mass).sum();
    assert!((weight - found).abs() < 1e-6, "{found} kg of {weight}");
    for joint in before.joints.iter().filter(|joint| joint.joint_type != urdf_rs::JointType::Fixed) {
        let same = model.joints.iter().find(|other| other.name == joint.name).expect("the joint");
        let limits = [joint.limit.lower, joint.limit.upper];
        let off = (0..2).map(|end| (same.limits[end] - limits[end]).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{}: {:?} for {limits:?}", joint.name, same.limits);
    }
}

const LABELS: &str = r#"{"scene": "s", "seed": 1, "labels": [
    {"id": 1, "thing": "mug 1", "class": "mug"}, {"id": 2, "thing": "bowl", "class": "bowl"},
    {"id": 3, "thing": "mug 1", "class": "mug", "part": {"name": "handle", "class": "handle"}}]}"#;

/// A label map as Gazebo's camera has it, rows of 40 pixels each: nothing, the bowl, the mug, its handle.
fn label_map(second: i32) -> Image {
    const WIDTH: u32 = 40;
    let data: Vec<u8> = [0, 2, 1, 3].iter().flat_map(|label| vec![*label; 3 * WIDTH as usize]).collect();
    let (height, step) = (4, 3 * WIDTH);
    let mut map =
        Image { width: WIDTH, height, step, encoding: "rgb8".to_owned(), data, ..Default::default() };
    map.header.stamp.sec = second;
    // As Gazebo calls it.
    map.header.frame_id = "xarm6::link_eef::segmentation".to_owned();
    map
}

/// The node `gazebo` of this domain; ended with the value.
fn gazebo_node(lease: &DomainLease, parameters: &[&str]) -> tokio::process::Child {
    let mut command = tokio::process::Command::new(PREHEND);
    command.current_dir(repository()).env("ROS_DOMAIN_ID", lease.domain_id().to_string());
    command.args(["node", "gazebo", "--robot", "xarm6"]);
    for parameter in parameters {
        command.args(["--param", parameter]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().expect("runs")
}

/// Sends the label map again and again until something is heard: pictures may be lost.
async fn sending<T>(bridge: &Node, second: i32, what: &str, heard: impl Future<Output = T>) -> T {
    // As ros_gz_bridge sends it.
    let maps = bridge.create_publisher::<Image>(LABELS_MAP, QosProfile::default()).expect("a publisher");
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    let mut heard = std::pin::pin!(heard);
    in_time(what, async {
        loop {
            tokio::select! {
                heard = &mut heard => return heard,
                _ = tick.tick() => maps.publish(&label_map(second)).expect("sent"),
            }
        }
    })
    .await
}

/// A grip of the robot file's action: how it ended, and where.
async fn grip(bridge: &Node, robot: &RobotConfig, position: f64) -> Result<(GoalStatus, f64), RosError> {
    let client =
        bridge.create_action_client::<GripperCommand::Action>(&robot.gripper.action).expect("a client");
    let goal = GripperCommand::Goal { command: Grip { position, max_effort: 20.0 } };
    let mut handle = client.send_goal(goal, CALL).await?;
    let (status, result) = in_time("the grip ends", handle.result(CALL)).await?;
    Ok((status, result.position))
}

/// A controller of a finger that says what it was told, position and effort: it goes there at once, or goes nowhere until it is cancelled,
/// of which it says nothing more than that.
fn finger(
    bridge: &Node,
    joint: &str,
    stays: bool,
) -> (tokio::task::JoinHandle<()>, tokio::sync::mpsc::UnboundedReceiver<Option<(f64, f64)>>) {
    let name = finger_action(joint);
    let mut controller = bridge.create_action_server::<GripperCommand::Action>(&name).expect("a server");
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let task = tokio::spawn(async move {
        while let Some(request) = controller.next().await {
            let goal = request.accept();
            let Grip { position, max_effort } = goal.goal().command;
            sender.send(Some((position, max_effort))).expect("somebody listens");
            if stays {
                goal.cancelled().await;
                sender.send(None).expect("somebody listens");
                goal.canceled(GripperCommand::Result::default());
            } else {
                goal.succeed(GripperCommand::Result { position, reached_goal: true, ..Default::default() });
            }
        }
    });
    (task, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn label_maps_become_detections_and_grips_reach_both_fingers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("labels.json");
    std::fs::write(&file, LABELS).expect("written");
    let lease = DomainLease::take().expect("a free domain");
    let context = Context::create_in_domain(lease.domain_id()).expect("a context");
    let bridge = Node::create(&context, "bridge", "/gazebo", NodeOptions::default()).expect("a node");
    let robot = robot("xarm6");
    let topics = QosProfile::default();
    let mut things = bridge.subscribe(&robot.detector.detections, topics).expect("a subscription");
    let mut labels = bridge.subscribe::<Image>(&robot.detector.label_image, topics).expect("a subscription");
    let parts = robot.detector.parts.as_ref().expect("a detector of parts");
    let mut handles =
        bridge.subscribe::<Detection2DArray>(&parts.detections, topics).expect("a subscription");
    let process = gazebo_node(&lease, &[&format!("labels:={}", file.display())]);

    let found: Detection2DArray = sending(&bridge, 7, "detections", things.next()).await.expect("open");
    assert_eq!((found.header.stamp.sec, &found.header.frame_id), (7, &robot.frames.camera), "{found:?}");
    let named: Vec<(&str, &str, f64)> = found
        .detections
        .iter()
        .map(|found| (found.results[0].hypothesis.class_id.as_str(), found.id.as_str(), found.bbox.size_y))
        .collect();
    assert_eq!(named, [("mug", "1", 2.0), ("bowl", "2", 1.0)], "the handle is of the mug");
    let map = sending(&bridge, 7, "the label image", labels.next()).await.expect("open");
    assert_eq!((map.width, map.height, &map.header), (40, 4, &found.header));
    let rows: Vec<u8> = map.data.chunks(map.step as usize).map(|row| row[0]).collect();
    assert_eq!(rows, [0, 2, 1, 1]);
    let handle = sending(&bridge, 7, "parts", handles.next()).await.expect("open");
    assert_eq!(handle.detections[0].results[0].hypothesis.class_id, "handle");

    // What is no label map is left out, and the next one is not.
    let maps = bridge.create_publisher::<Image>(LABELS_MAP, QosProfile::default()).expect("a publisher");
    for broken in [
        Image { encoding: "16UC1".to_owned(), ..label_map(8) },
        Image { data: vec![1; 5], ..label_map(8) },
        Image { step: 1, ..label_map(8) },
        Image { width: u32::MAX, ..label_map(8) },
    ] {
        maps.publish(&broken).expect("sent");
    }
    sending(&bridge, 9, "the next one", async {
        loop {
            let found = things.next().await.expect("open");
            assert_ne!(found.header.stamp.sec, 8, "{found:?}");
            if found.header.stamp.sec == 9 {
                return;
            }
        }
    })
    .await;

    // Without a controller a grip fails, and what is no number is refused.
    let (status, _) = grip(&bridge, &robot, 0.4).await.expect("taken");
    assert_eq!(status, GoalStatus::Aborted);
    let refused = grip(&bridge, &robot, f64::NAN).await;
    assert!(matches!(refused, Err(RosError::Rejected { .. })), "{refused:?}");
    // With one finger alone it fails as well, and that finger is held back.
    let (held, mut left) = finger(&bridge, FINGERS[0], true);
    in_time("the left finger is held back", async {
        loop {
            let (status, _) = grip(&bridge, &robot, 0.4).await.expect("taken");
            assert_eq!(status, GoalStatus::Aborted);
            if let Ok(told) = left.try_recv() {
                assert_eq!(left.recv().await, Some(None), "{told:?} was cancelled");
                return;
            }
        }
    })
    .await;
    held.abort();
    // Two fingers that go where they are told; what is told of them is told of the drive.
    let both = FINGERS.map(|joint| finger(&bridge, joint, false));
    let at = in_time("the controllers are found", async {
        loop {
            if let (GoalStatus::Succeeded, at) = grip(&bridge, &robot, 0.4).await.expect("taken") {
                return at;
            }
        }
    })
    .await;
    assert!((at - 0.4).abs() < 1e-9, "the drive is said to be at {at}");
    for (_, mut told) in both {
        let (position, effort) = told.recv().await.flatten().expect("it moved");
        assert!((position - 0.4 * finger_per_drive(&robot.gripper)).abs() < 1e-9, "sent to {position}");
        assert_eq!(effort, 20.0);
    }

    // The drive is where both fingers put it.
    let mut joints = bridge.subscribe::<JointState>(&robot.joint_states, topics).expect("a subscription");
    let broadcaster = bridge.create_publisher::<JointState>(JOINT_STATES, topics).expect("a publisher");
    let states = |fingers: [f64; 2]| JointState {
        name: [robot.gripper.joint.as_str(), FINGERS[0], FINGERS[1]].map(str::to_owned).to_vec(),
        position: vec![0.2, fingers[0], fingers[1]],
        ..Default::default()
    };
    let told = in_time("joint states", async {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tokio::select! {
                told = joints.next() => return told.expect("open"),
                _ = tick.tick() => for fingers in [[0.01, f64::NAN], [0.01, 0.03]] {
                    broadcaster.publish(&states(fingers)).expect("sent");
                }
            }
        }
    })
    .await;
    assert!((told.position[0] * finger_per_drive(&robot.gripper) - 0.02).abs() < 1e-9, "{told:?}");

    let pid = process.id().expect("it runs").to_string();
    assert!(Command::new("kill").arg(pid).status().expect("kill runs").success());
    let ended = in_time("the node ends", process.wait_with_output()).await.expect("ended");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_table_of_labels_the_node_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("labels.json");
    std::fs::write(&file, r#"{"labels": [{"id": 0, "thing": "a", "class": "a"}]}"#).expect("written");
    let lease = DomainLease::take().expect("a free domain");
    for (parameter, words) in [
        (String::new(), "labels:=FILE is needed"),
        ("labels:=/no/such/file.json".to_owned(), "/no/such/file.json"),
        (format!("labels:={}", file.display()), "label 0 stands there twice"),
    ] {
        let parameters: &[&str] = if parameter.is_empty() { &[] } else { &[&parameter] };
        let output = gazebo_node(&lease, parameters).wait_with_output();
        let output = in_time("the node ends", output).await.expect("ended");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{parameter}: {said}");
        assert!(said.contains(words), "{parameter}: {said}");
    }
}
