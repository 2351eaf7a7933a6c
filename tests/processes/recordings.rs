//! Runs as recordings: written by `demo --record` and `record`, read back, replayed, killed and without room.

use crate::harness::{EASY_GOAL, EASY_SCENE, PREHEND, one_at_a_time, repository, wait_for};
use futures::StreamExt;
use prehend_bags::{ContainerError, notes, stored_messages};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_msgs::{names, ros2msg, type_hash};
use prehend_ros::{Context, DomainLease, Node, NodeOptions, QosProfile, from_cdr};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// A demo with everything that is recorded takes longer than one without.
const PATIENCE: Duration = Duration::from_secs(180);

async fn prehend(arguments: &[&str], paths: &[&Path]) -> Output {
    let output = Command::new(PREHEND)
        .current_dir(repository())
        .env_remove("ROS_DOMAIN_ID")
        .args(arguments)
        .args(paths)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    tokio::time::timeout(PATIENCE, output).await.expect("in time").expect("runs")
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Type and number of messages of each topic, and what ended the reading early.
fn contents(bag: &Path, partial: bool) -> (BTreeMap<String, (String, u64)>, Option<ContainerError>) {
    let mut topics: BTreeMap<String, (String, u64)> = BTreeMap::new();
    let damage = stored_messages(bag, partial, &mut |message| {
        let topic = topics.entry(message.topic.to_owned()).or_insert((message.type_name.to_owned(), 0));
        topic.1 += 1;
        true
    });
    (topics, damage.unwrap_or_else(|error| panic!("{error}")))
}

/// One run: recorded with its frames and decisions, and decided the same when it is replayed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_is_recorded_and_its_replay_decides_the_same() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (scene, run) = (folder.path().join("scene.yaml"), folder.path().join("run"));
    std::fs::write(&scene, EASY_SCENE).expect("the scene file");
    let demo =
        ["demo", "--json", "--record", "--no-pictures", "--speed", "1", "--seed", "1", "--goal", EASY_GOAL];
    let scene = scene.display().to_string();
    let arguments = [&demo[..], &["--perfect-detector", "--scene", &scene, "--out"]].concat();
    let output = prehend(&arguments, &[&run]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let bag = run.join("recording");
    let (topics, damage) = contents(&bag, false);
    assert!(damage.is_none());
    for topic in [
        "/camera/color/image_raw",
        "/camera/aligned_depth_to_color/image_raw",
        "/camera/color/camera_info",
        "/detector/label_image",
        "/detector/detections",
        "/tf",
        "/tf_static",
        "/clock",
        "/joint_states",
        &names::in_namespace(names::NAMESPACE, names::STATE),
        &names::in_namespace(names::NAMESPACE, names::OBJECT_MAP),
        &names::in_namespace(names::NAMESPACE, names::IN_HAND),
        &names::in_namespace(names::NAMESPACE, names::TRACE),
    ] {
        let (type_name, count) = topics.get(topic).unwrap_or_else(|| panic!("no {topic}: {topics:?}"));
        assert!(*count > 0 && ros2msg(type_name).is_some(), "{topic}");
    }
    // Everything that was traced is in it, word by word.
    let trace = std::fs::read_to_string(run.join("trace.jsonl")).expect("the trace");
    let mut told = Vec::new();
    stored_messages(&bag, false, &mut |message| {
        if names::is_name(message.topic, names::TRACE) {
            told.push(from_cdr::<TraceEvent>(message.data).expect("an event").message);
        }
        true
    })
    .expect("whole");
    for line in trace.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(told.iter().any(|message| event["message"] == message.as_str()), "{line}");
    }
    assert_eq!(notes(&bag).expect("notes").get("goal").map(String::as_str), Some(EASY_GOAL));
    let metadata = std::fs::read_to_string(bag.join("metadata.yaml")).expect("metadata.yaml");
    let all: u64 = topics.values().map(|(_, count)| count).sum();
    assert!(metadata.contains(&format!("\n  message_count: {all}\n")), "{all}\n{metadata}");
    let hash = type_hash("sensor_msgs/msg/Image").expect("known");
    assert!(metadata.contains(&format!("type_description_hash: \"{hash}\"")), "{metadata}");

    let replay = prehend(&["replay", "--logs"], &[&folder.path().join("logs"), &bag]).await;
    let said = text(&replay);
    assert!(!said.contains("not recorded whole"), "{said}");
    assert_eq!(replay.status.code(), Some(0), "{said}");
    assert!(said.contains("same: ") && said.contains(" 0 different, 0 missing, 0 new"), "{said}");
    for decision in
        ["perception update", "perception retrieve", "goal understood", "verdict grasp", "permit redeem"]
    {
        assert!(
            said.lines().any(|line| line.starts_with("same") && line.contains(decision)),
            "{decision}\n{said}"
        );
    }

    // A run's folder stands for its recording.
    let info = prehend(&["bag", "info"], &[&run]).await;
    assert_eq!(info.status.code(), Some(0), "{}", text(&info));
    assert!(text(&info).contains("/joint_states"), "{}", text(&info));

    // Other settings decide otherwise, and that is told: here the first evidence suffices.
    let other = ["replay", "--param", "verifier:enforce:=false", "--logs"];
    let replay = prehend(&other, &[&folder.path().join("logs"), &bag]).await;
    let said = text(&replay);
    assert_eq!(replay.status.code(), Some(1), "{said}");
    assert!(said.contains("first difference, affordance, evidence"), "{said}");
    assert!(said.contains("motion(s) asked for in the replay and refused"), "{said}");
}

/// Somebody who says where joints are, in a domain of its own.
struct Talker {
    lease: DomainLease,
    _context: Context,
    topic: prehend_ros::Publisher<JointState>,
    said: std::cell::Cell<f64>,
}

impl Talker {
    fn new() -> Self {
        let lease = DomainLease::take().expect("a domain is free");
        let context = Context::create_in_domain(lease.domain_id()).expect("joins");
        let node = Node::create(&context, "talker", "", NodeOptions::default()).expect("a node");
        let topic = node.create_publisher("/joint_states", QosProfile::default()).expect("a topic");
        Self { lease, _context: context, topic, said: std::cell::Cell::new(0.0) }
    }

    /// Says twenty joints, which do not compress.
    fn say(&self) {
        self.said.set(self.said.get() + 20.0);
        let position = (0..20).map(|n| (self.said.get() + f64::from(n)).sin()).collect();
        self.topic.publish(&JointState { position, ..Default::default() }).expect("sent");
    }

    /// `prehend record` of what is said, begun by `shell` (`exec "$@"`).
    fn recorder(&self, shell: &str, bag: &Path) -> tokio::process::Child {
        Command::new("sh")
            .current_dir(repository())
            .env("ROS_DOMAIN_ID", self.lease.domain_id().to_string())
            .args(["-c", shell, "sh", PREHEND, "record", "--topics", "/joint_states", "-o"])
            .arg(bag)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("runs")
    }
}

fn first_file(bag: &Path) -> PathBuf {
    bag.join(format!("{}_0.mcap", bag.file_name().expect("a name").display()))
}

/// `kill -9`: what the file has is read, to its last whole chunk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_that_was_killed_opens() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let bag = folder.path().join("killed");
    let talker = Talker::new();
    let mut recorder = talker.recorder("exec \"$@\"", &bag);
    wait_for("twenty messages are in the file", async || {
        talker.say();
        let mut count = 0;
        let seen = stored_messages(&bag, true, &mut |_| {
            count += 1;
            true
        });
        (seen.is_ok() && count >= 20).then_some(())
    })
    .await;
    recorder.kill().await.expect("killed");
    assert!(!bag.join("metadata.yaml").exists());
    let (topics, damage) = contents(&bag, true);
    assert!(topics["/joint_states"].1 >= 20, "{topics:?}");
    assert!(matches!(damage, Some(ContainerError::Truncated { .. })), "{damage:?}");
    let refused = stored_messages(&bag, false, &mut |_| true).expect_err("it has no end");
    assert!(refused.to_string().contains("--partial"), "{refused}");
}

/// What was recorded is told by `bag info`, and heard again from `bag play`, but not where somebody speaks himself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_is_shown_and_played_again() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let bag = folder.path().join("played");
    let talker = Talker::new();
    let recorder = talker.recorder("exec \"$@\"", &bag);
    wait_for("ten messages are in the file", async || {
        talker.say();
        let mut count = 0;
        let seen = stored_messages(&bag, true, &mut |_| {
            count += 1;
            true
        });
        (seen.is_ok() && count >= 10).then_some(())
    })
    .await;
    let recorder_id = recorder.id().expect("it runs").to_string();
    let ended = Command::new("kill").args(["-INT", &recorder_id]).status().await;
    assert!(ended.expect("kill runs").success());
    let output = recorder.wait_with_output().await.expect("ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));

    let info = prehend(&["bag", "info", "--json"], &[&bag]).await;
    assert_eq!(info.status.code(), Some(0), "{}", text(&info));
    let told: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let stored = contents(&bag, false).0["/joint_states"].1;
    assert_eq!(told["messages"], stored);
    assert_eq!(told["topics"][0]["name"], "/joint_states");
    assert_eq!(told["topics"][0]["known"], true);
    assert!(told["seconds"].as_f64().expect("a number") > 0.0 && told["damage"].is_null(), "{told}");

    let play = async |domain: u16| {
        let playing = Command::new(PREHEND)
            .current_dir(repository())
            .env("ROS_DOMAIN_ID", domain.to_string())
            .args(["bag", "play", "-r", "4"])
            .arg(&bag)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        tokio::time::timeout(PATIENCE, playing).await.expect("in time").expect("runs")
    };
    let refused = play(talker.lease.domain_id()).await;
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused));
    assert!(text(&refused).contains("somebody publishes /joint_states"), "{}", text(&refused));

    // Where a robot is, whatever it publishes of what was recorded.
    let lease = DomainLease::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joins");
    let node = Node::create(&context, "robot", "", NodeOptions::default()).expect("a node");
    let _tf: prehend_ros::Publisher<TFMessage> =
        node.create_publisher("/tf", QosProfile::default()).expect("a topic");
    let refused = play(lease.domain_id()).await;
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused));
    assert!(text(&refused).contains("somebody publishes /tf"), "{}", text(&refused));

    let lease = DomainLease::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joins");
    let node = Node::create(&context, "listener", "", NodeOptions::default()).expect("a node");
    let mut heard: prehend_ros::Subscription<JointState> =
        node.subscribe("/joint_states", QosProfile::default().depth(1000)).expect("a topic");
    let played = play(lease.domain_id()).await;
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    let mut recorded = Vec::new();
    stored_messages(&bag, false, &mut |message| {
        recorded.push(from_cdr::<JointState>(message.data).expect("joints"));
        true
    })
    .expect("whole");
    let mut again = Vec::new();
    while again.len() < recorded.len() {
        let next = tokio::time::timeout(Duration::from_secs(10), heard.next()).await;
        again.push(next.expect("it was played").expect("a message"));
    }
    assert_eq!(again, recorded);

    // Bytes that are none of a recording.
    let nonsense = folder.path().join("nonsense.mcap");
    std::fs::write(&nonsense, [7; 300]).expect("written");
    for command in [&["bag", "info"][..], &["bag", "play"]] {
        let output = prehend(command, &[&nonsense]).await;
        assert!(matches!(output.status.code(), Some(1 | 3)), "{}", text(&output));
        assert!(text(&output).contains("nonsense.mcap"), "{}", text(&output));
    }

    // The folder of a run without a recording.
    let run = folder.path().join("run");
    std::fs::create_dir(&run).expect("a folder");
    std::fs::write(run.join("trace.jsonl"), "").expect("written");
    for command in [&["bag", "info"][..], &["bag", "play"], &["replay"]] {
        let output = prehend(command, &[&run]).await;
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains("demo --record"), "{}", text(&output));
    }
}

/// No room: a clear error, and what was written before is a whole bag.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_without_room_says_so_and_keeps_what_it_has() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let bag = folder.path().join("full");
    let talker = Talker::new();
    // Files may have 64 blocks of 512 bytes, and writing more is an error instead of a signal.
    let mut recorder = talker.recorder("trap '' XFSZ; ulimit -f 64; exec \"$@\"", &bag);
    let status = wait_for("the recorder gives up", async || {
        talker.say();
        recorder.try_wait().expect("a child")
    })
    .await;
    let output = recorder.wait_with_output().await.expect("ends");
    assert_eq!(status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("cannot write") && said.contains("full_0.mcap"), "{said}");
    assert!(said.contains("what was recorded before is kept"), "{said}");
    assert!(std::fs::metadata(first_file(&bag)).expect("the file").len() <= 64 * 1024);
    // Its end is there when there was room for it.
    let (topics, damage) = contents(&bag, true);
    assert!(matches!(damage, None | Some(ContainerError::Truncated { .. })), "{damage:?}");
    assert!(topics["/joint_states"].1 > 0);
}
