//! What `prehend doctor --graph` says: who of Prehend and of the robot side is found in the domain, and where else somebody is.

use super::{Health, Report};
use crate::args::DoctorArgs;
use crate::domain::Domain;
use crate::node::{NodeName, nodes_of};
use crate::observer::Observer;
use crate::outcome::exit;
use crate::recording::sensors_of;
use futures::StreamExt;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_robots::RobotConfig;
use prehend_ros::{BACKEND, Backend, QosProfile, TopicInfo};
use std::collections::BTreeSet;
use std::time::Duration;

/// Longest time until whoever is there is found.
const FIND: Duration = Duration::from_secs(5);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(100);

pub(in crate::commands) async fn run(args: &DoctorArgs) -> u8 {
    match look(args).await {
        Ok(rows) => {
            let mut report = Report::new(args.json);
            for (name, health) in rows {
                report.say(name, health);
            }
            report.end()
        }
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

async fn look(args: &DoctorArgs) -> Result<Vec<(&'static str, Health)>, String> {
    let robot = RobotConfig::load(&args.robot).map_err(|error| error.to_string())?;
    let arguments = args.ros.arguments().map_err(|error| error.to_string())?;
    let domain = Domain::find().map_err(|error| error.to_string())?;
    let observer = Observer::join(domain.id, &robot, &arguments).map_err(|error| error.to_string())?;
    let mut joints = observer
        .node
        .subscribe::<JointState>(&robot.joint_states, QosProfile::sensor_data())
        .map_err(|error| error.to_string())?;
    let nodes: Vec<NodeName> = nodes_of(&robot).into_iter().filter(|node| *node != NodeName::Sim).collect();
    let complete = async {
        let mut tick = tokio::time::interval(LOOK);
        while !(observer.missing(&nodes).is_empty() && absent(&observer, &robot).is_empty()) {
            tick.tick().await;
        }
    };
    // Who was not found by then is told below.
    let _ = tokio::time::timeout(FIND, complete).await;
    let state = tokio::time::timeout(FIND, joints.next()).await.ok().flatten();
    Ok(vec![
        ("domain", where_it_is(domain.id)),
        ("Prehend", prehend(&observer, &nodes)),
        ("robot side", robot_side(&absent(&observer, &robot), &robot)),
        ("joints", joint_names(state.as_ref(), &robot)),
        ("middleware", super::ros::middleware()),
    ])
}

fn where_it_is(id: u16) -> Health {
    let from = if std::env::var_os("ROS_DOMAIN_ID").is_some() { ", from ROS_DOMAIN_ID" } else { "" };
    let others = domains_in_use();
    let others: Vec<String> = others.iter().filter(|other| **other != id).map(u16::to_string).collect();
    match others.as_slice() {
        [] => Health::Good(format!("{id}{from}")),
        others => Health::Note(format!(
            "{id}{from}; processes of this machine are in {} as well: who is missing here may be there",
            others.join(", ")
        )),
    }
}

/// The domains in which processes of this machine listen, by the ports that DDS takes for them; empty where Linux does not say.
fn domains_in_use() -> BTreeSet<u16> {
    let tables =
        ["/proc/net/udp", "/proc/net/udp6"].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines().filter_map(domain_of)).collect()
}

/// The domain of a line of `/proc/net/udp`, when its local port is that of discovery there (RTPS 2.5, 9.6.2).
fn domain_of(line: &str) -> Option<u16> {
    const BASE: u16 = 7400;
    const GAIN: u16 = 250;
    /// Discovery by multicast, and of the first two participants.
    const DISCOVERY: [u16; 3] = [0, 10, 12];
    let (_, port) = line.split_whitespace().nth(1)?.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?.checked_sub(BASE)?;
    DISCOVERY.contains(&(port % GAIN)).then_some(port / GAIN)
}

fn prehend(observer: &Observer, nodes: &[NodeName]) -> Health {
    let (missing, namespace) = (observer.missing(nodes), observer.namespace());
    let heard: Vec<&str> = nodes.iter().map(|node| node.name()).filter(|node| observer.alive(node)).collect();
    match (heard.as_slice(), missing.as_slice()) {
        (_, []) => Health::Good(format!("in {namespace}: {}", heard.join(", "))),
        ([], _) => Health::Bad(format!(
            "nobody in {namespace}: is it up, with this ROS_DOMAIN_ID, this namespace and this ROS_AUTOMATIC_DISCOVERY_RANGE?"
        )),
        (_, missing) => Health::Bad(format!(
            "not in {namespace}: {}; not started, not active (ros2 lifecycle get), or ended: see its log",
            missing.join(", ")
        )),
    }
}

/// Whether [`Node::topics`](prehend_ros::Node::topics) tells of services, too: that of backend `ros2` has topics with publishers only.
const LISTS_SERVICES: bool = matches!(BACKEND, Backend::Embedded);

/// What the robot file names and nobody offers: topics, actions, by the status that their servers tell, and services where they are listed.
fn absent(observer: &Observer, robot: &RobotConfig) -> Vec<String> {
    let node = &observer.node;
    let topics = node.topics();
    let is_told = |name: &String| ends(&topics, name, |topic| !topic.publishers.is_empty());
    let is_served = |name: &String| {
        !LISTS_SERVICES || ends(&topics, &format!("rq{name}Request"), |topic| !topic.subscribers.is_empty())
    };
    let moveit = &robot.moveit;
    let read_back = moveit.planning_scene();
    let services =
        [&moveit.cartesian_path, &moveit.inverse_kinematics, &moveit.apply_planning_scene, &read_back];
    let actions =
        [&moveit.move_action, &moveit.execute_trajectory, &robot.arm.controller, &robot.gripper.action];
    let drive = robot.navigation.iter().map(|navigation| &navigation.action);
    let told =
        sensors_of(robot).into_iter().filter(|name| name != "/clock").map(|name| node.resolve_topic(&name));
    let served = services.into_iter().map(|name| node.resolve_service(name));
    let acted = actions.into_iter().chain(drive).map(|name| node.resolve_action(name));
    told.filter(|name| !is_told(name))
        .chain(served.filter(|name| !is_served(name)))
        .chain(acted.filter(|name| !is_told(&format!("{name}/_action/status"))))
        .collect()
}

fn ends(topics: &[TopicInfo], name: &str, fits: impl Fn(&TopicInfo) -> bool) -> bool {
    topics.iter().any(|topic| topic.name == name && fits(topic))
}

fn robot_side(absent: &[String], robot: &RobotConfig) -> Health {
    match absent {
        [] if LISTS_SERVICES => Health::Good(format!("all that the file of {} names is there", robot.name)),
        [] => Health::Note(format!(
            "every topic and action of the file of {} is there; for its services see `ros2 service list`",
            robot.name
        )),
        absent => Health::Bad(format!(
            "nobody offers {}: {} not running, or with other names than in the file of {}",
            absent.join(", "),
            if robot.driver.is_some() {
                "its driver, `prehend node stretch` before it, MoveIt or `prehend node move_group`, Nav2"
            } else {
                "drivers, MoveIt, Nav2"
            },
            robot.name
        )),
    }
}

fn joint_names(state: Option<&JointState>, robot: &RobotConfig) -> Health {
    let Some(state) = state else { return Health::Bad(format!("no joint states on {}", robot.joint_states)) };
    let wanted = robot.arm.joints.iter().chain([&robot.gripper.joint]);
    let missing: Vec<&str> = wanted.filter(|joint| !state.name.contains(joint)).map(String::as_str).collect();
    match missing.as_slice() {
        [] => Health::Good("the names of the robot file".to_owned()),
        missing => Health::Bad(format!(
            "{} tells of {}, and the file of {} names {}",
            robot.joint_states,
            state.name.join(", "),
            robot.name,
            missing.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_tell_domains() {
        let line =
            |port: u16| format!("  42: 00000000:{port:04X} 00000000:0000 07 00000000:00000000 00:00000000");
        for (port, domain) in [
            (7400, Some(0)),
            (7410, Some(0)),
            (7412, Some(0)),
            (7411, None),
            (9160, Some(7)),
            (61150, Some(215)),
            (53, None),
        ] {
            assert_eq!(domain_of(&line(port)), domain, "{port}");
        }
        assert_eq!(domain_of("  sl  local_address rem_address   st tx_queue"), None);
    }
}
