//! From which side the base comes to furniture, with every other node played by the test: where the map of the room does not show
//! where a front faces, the local map is asked. The node runs as a process of its own: this test binary, started again with the
//! ignored test. Nobody gives it a costmap, so that an errand that would drive ends typed before anything moves.

use futures::StreamExt;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_convert as convert;
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, GoTo};
use prehend_msgs::prehend_interfaces::msg::{Affordance, ErrorCode, Heartbeat, ObjectMap as ObjectMapMsg};
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_robots::NodeOptions;
use prehend_robots::shell::HEARTBEAT_PERIOD;
use prehend_ros::{
    ActionClient, Context, DomainLease, Node, NodeOptions as RosOptions, Publisher, QosProfile,
};
use prehend_scene::{Intent, Object, ObjectMap};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(30);
/// Where the room has the cabinet: at hand, before the arm.
const AT_HAND: [f64; 2] = [0.5, 0.0];
/// Towards the robot, and away from it.
const HERE: [f64; 2] = [-1.0, 0.0];
const AWAY: [f64; 2] = [1.0, 0.0];

#[test]
#[ignore = "is the process of the go_to node, started by the other test"]
fn go_to_process() {
    let robot = PathBuf::from("config/robots/ranger_xarm6.yaml");
    let options = NodeOptions { robot, use_sim_time: false, watch_stdin: true, ..NodeOptions::default() };
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(prehend_nodes::go_to::run(options)).expect("the node runs");
}

/// What the other nodes answer, and what they were asked.
#[derive(Default)]
struct Script {
    /// Where the room has the cabinet, map frame.
    place: [f64; 2],
    /// Where its front faces by the map of the room, and by the local map; `None` when that map does not show it.
    room: Option<[f64; 2]>,
    local: Option<[f64; 2]>,
    /// Object and scope of every question for an affordance.
    asked: Vec<(String, String)>,
}

fn cabinet(key: &str, [x, y]: [f64; 2]) -> Object {
    let bounds = OrientedBox { pose: Isometry3::translation(x, y, 0.2), size: Vector3::new(0.3, 0.4, 0.4) };
    let cloud = PointCloud::from_points(vec![Point3::new(x, y, 0.2); 30]);
    Object { class_name: "cabinet".to_owned(), ..Object::unnamed(key.into(), cloud, bounds) }
}

/// The front of a cabinet that stands at a place.
fn front([x, y]: [f64; 2], [nx, ny]: [f64; 2]) -> Affordance {
    let mut front = Affordance { part: "front".to_owned(), score: 0.9, ..Default::default() };
    (front.normal.x, front.normal.y) = (nx, ny);
    (front.centroid.x, front.centroid.y, front.centroid.z) = (x + 0.15 * nx, y + 0.15 * ny, 0.2);
    front
}

/// The go_to node and all the others.
struct Stage {
    child: Child,
    script: Arc<Mutex<Script>>,
    client: ActionClient<GoTo::Action>,
    /// Kept, so that who comes late hears what was said.
    _said: (Publisher<TFMessage>, Publisher<ObjectMapMsg>),
    _node: Node,
    _context: Context,
    _lease: DomainLease,
}

impl Stage {
    fn start() -> Self {
        let lease = DomainLease::take().expect("a free domain");
        let child = std::process::Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "go_to_process", "--ignored", "--nocapture"])
            .env("ROS_DOMAIN_ID", lease.domain_id().to_string())
            .stdin(Stdio::piped())
            .spawn()
            .expect("the node");
        let context = Context::create_in_domain(lease.domain_id()).expect("context");
        let node = Node::create(&context, "peers", names::NAMESPACE, RosOptions::default()).expect("node");
        let transforms = [("map", "base_link"), ("base_link", "link_base")].map(|(parent, child)| {
            let mut transform = TransformStamped { child_frame_id: child.to_owned(), ..Default::default() };
            transform.header.frame_id = parent.to_owned();
            transform.transform.rotation.w = 1.0;
            transform
        });
        let frames = node.create_publisher("/tf_static", QosProfile::transient_local()).expect("tf");
        frames.publish(&TFMessage { transforms: transforms.to_vec() }).expect("sent");
        let map = node.create_publisher(names::OBJECT_MAP, QosProfile::transient_local()).expect("map");
        let objects = vec![cabinet("cabinet_7", [AT_HAND[0] + 0.04, AT_HAND[1] - 0.03])];
        map.publish(&convert::map_to_msg(&ObjectMap { objects, ..ObjectMap::default() })).expect("sent");
        let script = Arc::default();
        beat(&node);
        know_the_room(&node, Arc::clone(&script));
        know_affordances(&node, Arc::clone(&script));
        let client = node.create_action_client::<GoTo::Action>(names::GO_TO).expect("client");
        Self { child, script, client, _said: (frames, map), _node: node, _context: context, _lease: lease }
    }

    /// How an errand to the cabinet ends, and who was asked where its front faces.
    async fn errand(
        &self,
        place: [f64; 2],
        room: Option<[f64; 2]>,
        local: Option<[f64; 2]>,
    ) -> (i32, Vec<String>) {
        *self.script.lock().expect("script") = Script { place, room, local, asked: Vec::new() };
        let goal = GoTo::Goal {
            kind: "object".to_owned(),
            object_key: "room_cabinet_0".to_owned(),
            intent: convert::intent_to_msg(Some(&Intent::Act { verb: "open".to_owned(), part: None })),
            ..Default::default()
        };
        let mut handle = self.client.send_goal(goal, DEADLINE).await.expect("accepted");
        let (_, result) = handle.result(DEADLINE).await.expect("result");
        assert!(!result.moved, "{}", result.error_message);
        let asked = std::mem::take(&mut self.script.lock().expect("script").asked);
        (result.error_code, asked.into_iter().map(|(key, scope)| format!("{key} {scope}")).collect())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The nodes without which nothing is driven are alive.
fn beat(node: &Node) {
    let publisher = node.create_publisher(names::HEARTBEAT, QosProfile::default().depth(8)).expect("beats");
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(HEARTBEAT_PERIOD);
        for sequence in 1.. {
            tick.tick().await;
            for name in ["verifier", "agent", "object_map", "skills"] {
                let beat =
                    Heartbeat { node: name.to_owned(), incarnation: 1, sequence, motion_active: false };
                publisher.publish(&beat).expect("sent");
            }
        }
    });
}

fn know_the_room(node: &Node, script: Arc<Mutex<Script>>) {
    let mut questions = node
        .create_service::<GetObject::Service>(names::OBJECT_MAP_GET_OBJECT, QosProfile::services())
        .expect("service");
    tokio::spawn(async move {
        while let Some(question) = questions.next().await {
            let place = script.lock().expect("script").place;
            let object = convert::object_to_msg(&cabinet(&question.message.key, place), "map");
            question.respond(GetObject::Response { object, ..Default::default() }).expect("answered");
        }
    });
}

fn know_affordances(node: &Node, script: Arc<Mutex<Script>>) {
    let mut goals =
        node.create_action_server::<DetectAffordance::Action>(names::DETECT_AFFORDANCE).expect("server");
    tokio::spawn(async move {
        while let Some(request) = goals.next().await {
            let found = {
                let mut script = script.lock().expect("script");
                let (key, scope) = (request.goal.object_key.clone(), request.goal.scope.clone());
                let faces = if scope == "room" { script.room } else { script.local };
                script.asked.push((key, scope));
                faces.map(|faces| front(script.place, faces))
            };
            let result =
                DetectAffordance::Result { affordances: found.into_iter().collect(), ..Default::default() };
            request.accept().succeed(result);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_room_does_not_show_where_a_front_faces_the_local_map_is_asked() {
    let stage = Stage::start();
    // Until the node has heard of everything.
    let began = Instant::now();
    let (room, local) = ("room_cabinet_0 room", "cabinet_7 local");
    let drives = ErrorCode::GOTO_NO_MAP;
    while stage.errand(AT_HAND, None, Some(AWAY)).await != (drives, vec![room.to_owned(), local.to_owned()]) {
        assert!(began.elapsed() < DEADLINE, "the local map is not asked");
    }
    let check = async |place, by_room, by_local, code: i32, asked: &[&str]| {
        let found = stage.errand(place, by_room, by_local).await;
        assert_eq!(found, (code, asked.iter().map(ToString::to_string).collect::<Vec<_>>()));
    };
    // It faces the robot: nothing is driven.
    check(AT_HAND, None, Some(HERE), ErrorCode::SUCCESS, &[room, local]).await;
    // Nobody knows: every side is as good.
    check(AT_HAND, None, None, ErrorCode::SUCCESS, &[room, local]).await;
    // The room knows.
    check(AT_HAND, Some(AWAY), Some(HERE), drives, &[room]).await;
    // What is not at hand is not in the local map, whatever is called the same there.
    check([2.0, 0.0], None, Some(HERE), drives, &[room]).await;
    check([0.5, 0.21], None, Some(HERE), ErrorCode::SUCCESS, &[room]).await;
}
