//! The embedded robot where another's Nav2 drives it: the map and where it starts, velocities, and nothing that is Nav2's.

use crate::harness::{PREHEND, one_at_a_time, wait_for};
use futures::StreamExt;
use prehend_msgs::geometry_msgs::msg::{PoseWithCovarianceStamped, Twist, Vector3};
use prehend_msgs::lifecycle_msgs::srv::GetState;
use prehend_msgs::nav_msgs::msg::{OccupancyGrid, Odometry};
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::{Context, DomainLease, Node, NodeOptions, QosProfile, Subscription};
use std::process::Stdio;
use std::time::{Duration, Instant};

const ROOM: &str = "\
name: room of the test
robot: {xy: [1.0, 1.2], yaw: 0.0}
room: {size: [4.6, 2.6]}
objects:
- {name: table, model: table, pose: {xy: [3.9, 1.3], yaw: 0.0}}
";

/// Where the wheels say that the base is, and how fast it drives, as of what was published after now.
async fn base(odometry: &mut Subscription<Odometry>) -> (f64, f64) {
    while let std::task::Poll::Ready(Some(_)) = futures::poll!(odometry.next()) {}
    let message = odometry.next().await.expect("odometry");
    (message.pose.pose.position.x, message.twist.twist.linear.x)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_takes_velocities_and_stands_without() {
    let _turn = one_at_a_time().await;
    let folder = tempfile::tempdir().expect("a folder");
    let scene = folder.path().join("room.yaml");
    std::fs::write(&scene, ROOM).expect("written");
    let lease = DomainLease::take().expect("a domain is free");
    let context = Context::create_in_domain(lease.domain_id()).expect("joined");
    let node = Node::create(&context, "velocities", "/", NodeOptions::default()).expect("a node");
    let latched = QosProfile::transient_local();
    let mut maps = node.subscribe::<OccupancyGrid>("/map", latched).expect("subscribed");
    let mut starts = node
        .subscribe::<PoseWithCovarianceStamped>("/initialpose", QosProfile::default())
        .expect("subscribed");
    let mut odometry =
        node.subscribe::<Odometry>("/odom", QosProfile::default().depth(1)).expect("subscribed");
    let mut transforms =
        node.subscribe::<TFMessage>("/tf", QosProfile::default().depth(100)).expect("subscribed");
    let states = node
        .create_client::<GetState::Service>("/bt_navigator/get_state", QosProfile::services())
        .expect("client");
    let _sim = tokio::process::Command::new(PREHEND)
        .args(["node", "sim", "--supervised", "--robot", "ranger_xarm6", "--scene"])
        .arg(&scene)
        .args(["--param", "nav2:=map"])
        .env("ROS_DOMAIN_ID", lease.domain_id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("started");

    // As whoever set the robot down says it, until it is localised.
    let map = maps.next().await.expect("a map");
    assert!(map.data.contains(&100) && map.data.contains(&0), "walls and floor");
    let told = starts.next().await.expect("where it starts").pose.pose.position;
    assert!((told.x - 1.0).abs() < 0.1 && (told.y - 1.2).abs() < 0.1, "{told:?}");
    let pose = node
        .create_publisher::<PoseWithCovarianceStamped>("/amcl_pose", latched.depth(1))
        .expect("publisher");
    pose.publish(&PoseWithCovarianceStamped::default()).expect("published");
    wait_for("it says no more where it starts", async || {
        tokio::time::timeout(Duration::from_secs(3), starts.next()).await.is_err().then_some(())
    })
    .await;

    // Nobody but the wheels says where it is.
    for _ in 0..20 {
        let message = transforms.next().await.expect("transforms");
        assert!(message.transforms.iter().all(|transform| transform.header.frame_id != "map"));
    }
    assert!(!states.is_available(), "there is a navigator");

    let velocity =
        node.create_publisher::<Twist>("/cmd_vel", QosProfile::default().depth(1)).expect("publisher");
    let forward = Twist { linear: Vector3 { x: 0.2, ..Default::default() }, ..Default::default() };
    let wrong = Twist { linear: Vector3 { x: f64::NAN, ..Default::default() }, ..Default::default() };
    let (begun, _) = base(&mut odometry).await;
    velocity.publish(&wrong).expect("published");
    assert_eq!(base(&mut odometry).await, (begun, 0.0), "no number is no velocity");
    let until = Instant::now() + Duration::from_secs(10);
    while base(&mut odometry).await.0 < begun + 0.3 {
        assert!(Instant::now() < until, "it does not drive");
        velocity.publish(&forward).expect("published");
    }
    // Silence stops it.
    let stood = wait_for("it stands", async || {
        let (x, speed) = base(&mut odometry).await;
        (speed == 0.0).then_some(x)
    })
    .await;
    assert!(stood < begun + 0.6, "{begun} to {stood}");
}
