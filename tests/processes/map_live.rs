//! `prehend map build --live` hears a camera that this test is.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use crate::harness::{PREHEND, repository};
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::{Context, DomainLease, Node, NodeOptions, QosProfile, time_from_nanoseconds};
use std::process::{Output, Stdio};
use std::time::Duration;

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
const OPTICAL: &str = "camera_color_optical_frame";
/// Depth comes that much after colour.
const LATE: i64 = 3_000_000;
/// Longest time until the command has ended.
const DEADLINE: Duration = Duration::from_secs(90);

fn header(stamp: i64) -> Header {
    Header { stamp: time_from_nanoseconds(stamp), frame_id: OPTICAL.to_owned() }
}

fn picture(stamp: i64, encoding: &str, pixel: impl Fn(bool) -> Vec<u8>) -> Image {
    let is_block = |u: usize, v: usize| (100..160).contains(&u) && (90..150).contains(&v);
    let pixels = (0..HEIGHT).flat_map(|v| (0..WIDTH).map(move |u| (u, v)));
    let data: Vec<u8> = pixels.flat_map(|(u, v)| pixel(is_block(u, v))).collect();
    Image {
        header: header(stamp),
        height: HEIGHT as u32,
        width: WIDTH as u32,
        encoding: encoding.to_owned(),
        step: (data.len() / HEIGHT) as u32,
        data,
        ..Default::default()
    }
}

/// 0.6 m above the table, looking down on a red block of 60 mm.
fn mounted() -> TFMessage {
    let mut transform = TransformStamped { child_frame_id: OPTICAL.to_owned(), ..Default::default() };
    transform.header.frame_id = "link_base".to_owned();
    transform.transform.translation.z = 0.6;
    transform.transform.rotation.x = 1.0;
    transform.transform.rotation.w = 0.0;
    TFMessage { transforms: vec![transform] }
}

/// Publishes frames until it is dropped.
async fn play(node: Node) {
    let sensor = QosProfile::sensor_data();
    let color = node.create_publisher::<Image>("/camera/color/image_raw", sensor).unwrap();
    let depth = node.create_publisher::<Image>("/camera/aligned_depth_to_color/image_raw", sensor).unwrap();
    let info = node.create_publisher::<CameraInfo>("/camera/color/camera_info", sensor).unwrap();
    let tf = node.create_publisher::<TFMessage>("/tf_static", QosProfile::transient_local()).unwrap();
    tf.publish(&mounted()).unwrap();
    let mut camera = CameraInfo { width: WIDTH as u32, height: HEIGHT as u32, ..Default::default() };
    camera.k = vec![540.0, 0.0, 159.5, 0.0, 540.0, 119.5, 0.0, 0.0, 1.0];
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    for number in 1.. {
        tick.tick().await;
        let stamp = number * 100_000_000;
        camera.header = header(stamp);
        info.publish(&camera).unwrap();
        color
            .publish(&picture(
                stamp,
                "rgb8",
                |block| if block { vec![200, 25, 25] } else { vec![150, 130, 100] },
            ))
            .unwrap();
        depth
            .publish(&picture(stamp + LATE, "16UC1", |block| {
                (if block { 540_u16 } else { 600 }).to_le_bytes().to_vec()
            }))
            .unwrap();
    }
}

async fn build(domain: u16, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let command = tokio::process::Command::new(PREHEND)
        .args(["map", "build", "--live", "--json", "--seconds", "4", "--out"])
        .arg(folder.path().join("map"))
        .args(more)
        .current_dir(repository())
        .env("ROS_DOMAIN_ID", domain.to_string())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    tokio::time::timeout(DEADLINE, command).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_map_of_live_topics() {
    let lease = DomainLease::take().unwrap();
    let context = Context::create_in_domain(lease.domain_id()).unwrap();
    let node = Node::create(&context, "camera", "/test", NodeOptions::default()).unwrap();
    let playing = tokio::spawn(play(node));

    let output = build(lease.domain_id(), &["--every", "5"]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    let built: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!((&built["scenes"], &built["objects"]), (&1.into(), &1.into()), "{said}");
    let frames = built["frames"].as_array().unwrap();
    assert!(frames.len() >= 2, "{said}");
    assert_eq!(frames[1]["merged"], frames[0]["added"], "{said}");

    let output = build(lease.domain_id(), &["--depth-topic", "/nowhere"]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("0 of /nowhere") && said.contains("/camera/aligned_depth_to_color/image_raw"),
        "{said}"
    );

    let output = build(lease.domain_id(), &["--map-frame", "kitchen"]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("none with a pose in `kitchen`: unknown frame `kitchen`"), "{said}");
    playing.abort();
}
