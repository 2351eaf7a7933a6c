//! The graph as a ROS 2 engineer expects it: parameters, lifecycle, diagnostics, logs, names, and one Prehend per robot.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{
    CALL, EASY_GOAL, EASY_PLACE, PREHEND, Stage, StageOptions, begins_in, in_time, one_at_a_time, repository,
    wait_for,
};
use futures::StreamExt;
use prehend_cli::node::{NODES, NodeName};
use prehend_cli::outcome::Outcome;
use prehend_msgs::bond::msg::Status as BondStatus;
use prehend_msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use prehend_msgs::lifecycle_msgs::msg::{State, Transition, TransitionEvent};
use prehend_msgs::lifecycle_msgs::srv::{ChangeState, GetAvailableTransitions, GetState};
use prehend_msgs::prehend_interfaces::action::ExecuteSkill;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::rcl_interfaces::msg::{
    Log, Parameter, ParameterDescriptor, ParameterEvent, ParameterType, ParameterValue,
};
use prehend_msgs::rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters, SetParameters};
use prehend_msgs::{Service, names};
use prehend_ros::{Node, QosProfile, RosArguments};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

async fn call<S: Service>(stage: &Stage, node: &str, service: &str, request: S::Request) -> S::Response {
    let name = format!("{node}/{service}");
    let client = stage.graph.observer.node.create_client::<S>(&name, QosProfile::services()).unwrap();
    client.request(request, CALL).await.unwrap_or_else(|error| panic!("{name}: {error}"))
}

async fn described(stage: &Stage, node: &str) -> Vec<ParameterDescriptor> {
    let all = call::<ListParameters::Service>(stage, node, "list_parameters", Default::default()).await;
    let request = DescribeParameters::Request { names: all.result.names };
    call::<DescribeParameters::Service>(stage, node, "describe_parameters", request).await.descriptors
}

async fn set(stage: &Stage, node: &str, name: &str, value: ParameterValue) -> Result<(), String> {
    let parameters = vec![Parameter { name: name.to_owned(), value }];
    let request = SetParameters::Request { parameters };
    let answer = call::<SetParameters::Service>(stage, node, "set_parameters", request).await;
    assert_eq!(answer.results.len(), 1);
    if answer.results[0].successful { Ok(()) } else { Err(answer.results[0].reason.clone()) }
}

fn whole(value: i64) -> ParameterValue {
    ParameterValue { type_: ParameterType::PARAMETER_INTEGER, integer_value: value, ..Default::default() }
}

fn number(value: f64) -> ParameterValue {
    ParameterValue { type_: ParameterType::PARAMETER_DOUBLE, double_value: value, ..Default::default() }
}

/// Every parameter says what it is for, and no safety limit can be set.
async fn parameters_are_described_and_limits_are_kept(stage: &Stage) {
    let mut events = stage
        .graph
        .observer
        .node
        .subscribe::<ParameterEvent>("/parameter_events", QosProfile::default().depth(1000))
        .unwrap();
    for node in NODES {
        let descriptors = described(stage, node.name()).await;
        let known: BTreeSet<&str> = descriptors.iter().map(|known| known.name.as_str()).collect();
        assert!(known.contains("use_sim_time") && known.contains("limits.contact_force"), "{known:?}");
        for known in &descriptors {
            assert!(!known.description.is_empty(), "{}: {} is not described", node.name(), known.name);
            assert_eq!(known.read_only, !known.additional_constraints.is_empty(), "{known:?}");
        }
        let force = set(stage, node.name(), "limits.contact_force", number(500.0)).await.unwrap_err();
        assert!(force.contains("safety limit") && force.contains("xarm6.yaml"), "{force}");
    }
    let permit = set(stage, "verifier", "permit_seconds", number(3600.0)).await.unwrap_err();
    assert!(permit.contains("what the robot may do"), "{permit}");
    set(stage, "verifier", "enforce", ParameterValue::default()).await.unwrap_err();
    let names = vec!["limits.contact_force".to_owned(), "nonsense".to_owned()];
    let values =
        call::<GetParameters::Service>(stage, "skills", "get_parameters", GetParameters::Request { names })
            .await;
    assert_eq!(values.values[0].double_value, stage.graph.robot.limits.contact_force);
    assert_eq!(values.values[1].type_, ParameterType::PARAMETER_NOT_SET);

    set(stage, "object_map", "frames_per_update", whole(99)).await.unwrap_err();
    set(stage, "object_map", "frames_per_update", whole(2)).await.unwrap();
    in_time("the change is told", async {
        loop {
            let event = events.next().await.unwrap();
            if event.node.ends_with("/object_map")
                && event.changed_parameters.iter().any(|p| p.name == "frames_per_update")
            {
                return;
            }
        }
    })
    .await;
}

/// The status of a node in `/diagnostics`, once it has this level and says these words.
async fn diagnosed(stage: &Stage, name: &str, level: u8, words: &str) -> DiagnosticStatus {
    let mut heard = stage
        .graph
        .observer
        .node
        .subscribe::<DiagnosticArray>("/diagnostics", QosProfile::default())
        .unwrap();
    in_time(&format!("{name} has level {level}"), async {
        loop {
            let array = heard.next().await.unwrap();
            let fits = |status: &DiagnosticStatus| {
                status.name == name && status.level == level && status.message.contains(words)
            };
            if let Some(status) = array.status.into_iter().find(fits) {
                return status;
            }
        }
    })
    .await
}

async fn diagnostics_tell_what_is_wrong(stage: &mut Stage) {
    for node in NODES.into_iter().filter(|node| *node != NodeName::Sim) {
        let status =
            diagnosed(stage, &format!("/prehend/{}: state", node.name()), DiagnosticStatus::OK, "").await;
        assert_eq!(status.hardware_id, "xarm6");
    }
    diagnosed(stage, "/prehend/object_map: sensors", DiagnosticStatus::OK, "").await;
    stage.graph.judge.fault(json!({"camera": "silent"})).await.unwrap();
    // One topic after the other is late.
    let image = "/camera/color/image_raw";
    diagnosed(stage, "/prehend/object_map: sensors", DiagnosticStatus::WARN, image).await;
    stage.graph.judge.fault(json!({"camera": "ok"})).await.unwrap();
    diagnosed(stage, "/prehend/object_map: sensors", DiagnosticStatus::OK, "").await;
}

/// A node process beside the graph, in its domain; ended with the value.
fn stranger(stage: &Stage, node: NodeName, more: &[&str]) -> tokio::process::Child {
    tokio::process::Command::new(PREHEND)
        .args(["node", node.name(), "--supervised"])
        .args(more)
        .env("ROS_DOMAIN_ID", stage.graph.domain.id.to_string())
        .current_dir(repository())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("runs")
}

/// A second Prehend in the same namespace ends; one in another namespace must not move the arm, and says who holds it.
async fn a_second_prehend_refuses(stage: &mut Stage) {
    for node in [NodeName::Sim, NodeName::Skills, NodeName::Agent] {
        let mut second = stranger(stage, node, &[]);
        // It would end with its stdin.
        let _stdin = second.stdin.take();
        let output = in_time("the second node ends", second.wait_with_output()).await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("another node is /prehend/{}", node.name())), "{said}");
    }
    let before = stage.motions().await;
    let other = stranger(stage, NodeName::Skills, &["--namespace", "/other/prehend"]);
    let client = stage
        .graph
        .observer
        .node
        .create_action_client::<ExecuteSkill::Action>("/other/prehend/execute_skill")
        .unwrap();
    let goal = ExecuteSkill::Goal { skill: "home".to_owned(), ..Default::default() };
    let mut handle = client.send_goal(goal, CALL).await.unwrap();
    let (_, result) = in_time("the goal ends", handle.result(CALL)).await.unwrap();
    assert_eq!((result.error_code, result.reason.as_str()), (ErrorCode::SKILL_BARRED, "busy"), "{result:?}");
    let holder = stage.graph.supervisor.pid(NodeName::Skills.name()).unwrap();
    assert!(result.error_message.contains(&format!("/prehend/skills, process {holder}")), "{result:?}");
    assert_eq!(stage.motions().await, before);
    // The holder goes on; the other one takes over when it is gone.
    stage.easy_goal_is_reached("a second Prehend").await;
    stage.put("red block", EASY_PLACE).await;
    drop(other);
}

/// Whatever the nodes logged, on stderr and `/rosout`, says nothing of the sentence.
async fn logs_keep_the_goal_to_themselves(stage: &mut Stage) {
    let mut rosout = stage
        .graph
        .observer
        .node
        .subscribe::<Log>("/rosout", QosProfile::transient_local().depth(2000))
        .unwrap();
    stage.easy_goal_is_reached("listening to the logs").await;
    stage.put("red block", EASY_PLACE).await;
    let mut lines: Vec<String> = Vec::new();
    in_time("/rosout is heard", async {
        while !lines.iter().any(|line| line.contains("goal finished done")) {
            lines.push(rosout.next().await.unwrap().msg);
        }
    })
    .await;
    for entry in std::fs::read_dir(stage.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "log") {
            lines.extend(String::from_utf8_lossy(&std::fs::read(path).unwrap()).lines().map(str::to_owned));
        }
    }
    assert!(lines.len() > 50, "{} lines", lines.len());
    for line in lines {
        assert!(!line.contains(EASY_GOAL) && !line.contains("red block"), "{line}");
    }
}

/// Nodes speak over sockets alone: containers that share no memory are as good as one machine.
fn no_shared_memory_is_used(stage: &Stage) {
    for pid in stage.pids().into_iter().flatten() {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        let open = open.map(|file| file.display().to_string()).collect::<Vec<_>>().join("\n");
        assert!(maps.lines().count() > 20 && open.contains("socket:"), "{maps}\n{open}");
        assert!(!maps.contains("/dev/shm") && !open.contains("/dev/shm"), "{maps}\n{open}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_diagnostics_logs_and_a_second_prehend() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    no_shared_memory_is_used(&stage);
    parameters_are_described_and_limits_are_kept(&stage).await;
    diagnostics_tell_what_is_wrong(&mut stage).await;
    logs_keep_the_goal_to_themselves(&mut stage).await;
    a_second_prehend_refuses(&mut stage).await;
    stage.end().await;
}

async fn change(stage: &Stage, node: &str, transition: u8) -> bool {
    change_by(&stage.graph.observer.node, node, transition).await
}

async fn change_by(ros: &Node, node: &str, transition: u8) -> bool {
    let name = format!("{node}/change_state");
    let client = ros.create_client::<ChangeState::Service>(&name, QosProfile::services()).unwrap();
    let transition = Transition { id: transition, ..Default::default() };
    client.request(ChangeState::Request { transition }, CALL).await.unwrap().success
}

async fn state(stage: &Stage, node: &str) -> u8 {
    call::<GetState::Service>(stage, node, "get_state", Default::default()).await.current_state.id
}

/// Deactivated in a motion, `skills` stops the arm before it answers; nothing moves until it is activated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_active_node_works() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let managed: Vec<NodeName> = NODES.into_iter().filter(|node| *node != NodeName::Sim).collect();
    for node in &managed {
        assert_eq!(state(&stage, node.name()).await, State::PRIMARY_STATE_ACTIVE, "{node:?}");
    }
    let next = call::<GetAvailableTransitions::Service>(
        &stage,
        "skills",
        "get_available_transitions",
        Default::default(),
    )
    .await;
    let labels: Vec<String> =
        next.available_transitions.into_iter().map(|next| next.transition.label).collect();
    assert_eq!(labels, ["deactivate", "shutdown"]);

    let node = stage.graph.observer.node.clone();
    let client =
        node.create_client::<ChangeState::Service>("skills/change_state", QosProfile::services()).unwrap();
    let mut events =
        node.subscribe::<TransitionEvent>("skills/transition_event", QosProfile::default()).unwrap();
    let deactivate = Transition { id: Transition::TRANSITION_DEACTIVATE, ..Default::default() };
    let followed = stage
        .goal_and(
            EASY_GOAL,
            |event| begins_in(event, "grasp", "transit"),
            async |_| {
                let request = ChangeState::Request { transition: deactivate };
                assert!(client.request(request, CALL).await.unwrap().success);
            },
        )
        .await;
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{:?}\n{}", followed.ending, stage.story());
    let reason = followed.ending.reason.as_deref().unwrap_or_default();
    assert!(["stopped", "peer_lost"].contains(&reason), "{:?}", followed.ending);
    let event = in_time("the transition is told", events.next()).await.unwrap();
    assert_eq!(event.goal_state.label, "deactivating");
    stage.arm_stands().await;
    assert_eq!(state(&stage, "skills").await, State::PRIMARY_STATE_INACTIVE);

    let before = stage.motions().await;
    wait_for("the others miss the skills", async || (!stage.graph.observer.alive("skills")).then_some(()))
        .await;
    let refused = stage.goal(EASY_GOAL).await;
    assert_ne!(refused.ending.outcome, Outcome::Done, "{:?}", refused.ending);
    assert_eq!(stage.motions().await, before);
    assert!(change(&stage, "skills", Transition::TRANSITION_ACTIVATE).await);
    stage.everybody_is_there().await;
    stage.easy_goal_is_reached("activating again").await;
    stage.put("red block", EASY_PLACE).await;

    // Given back and taken in again, and what cannot be is refused.
    for node in ["object_map", "verifier"] {
        assert!(!change(&stage, node, Transition::TRANSITION_CONFIGURE).await, "{node} is active");
        assert!(change(&stage, node, Transition::TRANSITION_DEACTIVATE).await, "{node}");
        assert!(change(&stage, node, Transition::TRANSITION_CLEANUP).await, "{node}");
        assert_eq!(state(&stage, node).await, State::PRIMARY_STATE_UNCONFIGURED);
        assert!(change(&stage, node, Transition::TRANSITION_CONFIGURE).await, "{node}");
        assert!(change(&stage, node, Transition::TRANSITION_ACTIVATE).await, "{node}");
    }
    stage.everybody_is_there().await;
    stage.easy_goal_is_reached("configuring again").await;

    assert!(change(&stage, "affordance", Transition::TRANSITION_ACTIVE_SHUTDOWN).await);
    assert_eq!(state(&stage, "affordance").await, State::PRIMARY_STATE_FINALIZED);
    assert!(!change(&stage, "affordance", Transition::TRANSITION_CONFIGURE).await);
    stage.end().await;
}

/// What a lifecycle manager manages, in its order.
const MANAGED: [NodeName; 5] =
    [NodeName::ObjectMap, NodeName::Affordance, NodeName::Verifier, NodeName::Skills, NodeName::Agent];

/// Takes every node through a transition, one after the other, as Nav2's lifecycle manager does it.
async fn all(ros: &Node, nodes: impl IntoIterator<Item = NodeName>, transition: u8) {
    for node in nodes {
        assert!(change_by(ros, node.name(), transition).await, "{node:?}: {transition}");
    }
}

/// A goal is not taken up, and nothing moves.
async fn is_not_taken(stage: &mut Stage, when: &str) {
    let before = stage.motions().await;
    let refused = stage.goal(EASY_GOAL).await;
    assert_eq!(refused.ending.outcome, Outcome::Refused, "{when}: {:?}", refused.ending);
    assert_eq!(refused.ending.reason.as_deref(), Some("stopped"), "{when}: {:?}", refused.ending);
    assert!(refused.ending.message.contains("not active"), "{when}: {:?}", refused.ending);
    assert_eq!(stage.motions().await, before, "{when}: it moved");
}

/// The newest word of the bond of every managed node, which Nav2's manager listens to: its instance, and whether it holds.
struct Bonds(tokio::sync::watch::Receiver<BTreeMap<String, (String, bool)>>);

impl Bonds {
    fn heard(ros: &Node) -> Self {
        let mut statuses = ros.subscribe::<BondStatus>("bond", QosProfile::default().depth(50)).unwrap();
        let (sender, receiver) = tokio::sync::watch::channel(BTreeMap::new());
        tokio::spawn(async move {
            while let Some(status) = statuses.next().await {
                sender.send_modify(|all| {
                    all.insert(status.id, (status.instance_id, status.active));
                });
            }
        });
        Self(receiver)
    }

    /// The instances, once the bonds of all hold, or none does.
    async fn all(&mut self, hold: bool) -> Vec<String> {
        let of = |all: &BTreeMap<String, (String, bool)>| -> Option<Vec<String>> {
            let one = |node: &NodeName| {
                all.get(node.name()).filter(|(_, holds)| *holds == hold).map(|(instance, _)| instance.clone())
            };
            MANAGED.iter().map(one).collect()
        };
        let heard = self.0.wait_for(|all| of(all).is_some());
        of(&in_time("all bonds are heard", heard).await.unwrap()).unwrap()
    }
}

/// With `autostart:=false` nothing works by itself. A manager brings all up, pauses all in a motion, in reverse, has them go on, and takes
/// all down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lifecycle_manager_brings_a_graph_up_pauses_it_and_takes_it_down() {
    let _turn = one_at_a_time().await;
    let mut parameters = vec![(NodeName::Sim, "detector:=perfect")];
    parameters.extend(MANAGED.map(|node| (node, "autostart:=false")));
    let mut stage = Stage::begin(StageOptions { parameters, ..Default::default() });
    let ros = stage.graph.observer.node.clone();
    let back = || MANAGED.into_iter().rev();
    for node in MANAGED {
        assert_eq!(state(&stage, node.name()).await, State::PRIMARY_STATE_UNCONFIGURED, "{node:?}");
        // What has no configuration cannot work.
        assert!(!change(&stage, node.name(), Transition::TRANSITION_ACTIVATE).await, "{node:?}");
    }
    assert!(!stage.graph.observer.goal.is_available(), "goals are taken by nobody yet");
    all(&ros, MANAGED, Transition::TRANSITION_CONFIGURE).await;
    wait_for("the goal service is there", async || stage.graph.observer.goal.is_available().then_some(()))
        .await;
    is_not_taken(&mut stage, "configured").await;
    let mut bonds = Bonds::heard(&ros);
    all(&ros, MANAGED, Transition::TRANSITION_ACTIVATE).await;
    stage.everybody_is_there().await;
    let first = bonds.all(true).await;
    stage.easy_goal_is_reached("a start by a manager").await;
    stage.put("red block", EASY_PLACE).await;

    // A task of its own: the goal may end before the last node is asked.
    let (manager, mut pausing) = (ros.clone(), None);
    let pause = async |_: &_| {
        let pause = async move { all(&manager, back(), Transition::TRANSITION_DEACTIVATE).await };
        pausing = Some(tokio::spawn(pause));
    };
    let paused = stage.goal_and(EASY_GOAL, |event| begins_in(event, "grasp", "transit"), pause).await;
    in_time("all are asked", pausing.unwrap()).await.unwrap();
    assert_ne!(paused.ending.outcome, Outcome::Done, "{:?}\n{}", paused.ending, stage.story());
    stage.arm_stands().await;
    for node in MANAGED {
        assert_eq!(state(&stage, node.name()).await, State::PRIMARY_STATE_INACTIVE, "{node:?}");
    }
    assert_eq!(bonds.all(false).await, first, "what was broken off");
    is_not_taken(&mut stage, "paused").await;
    all(&ros, MANAGED, Transition::TRANSITION_ACTIVATE).await;
    stage.everybody_is_there().await;
    let second = bonds.all(true).await;
    assert!(first.iter().all(|instance| !second.contains(instance)), "a new bond: {first:?}, {second:?}");
    stage.easy_goal_is_reached("a pause").await;

    all(&ros, back(), Transition::TRANSITION_DEACTIVATE).await;
    all(&ros, back(), Transition::TRANSITION_CLEANUP).await;
    wait_for("nobody takes goals", async || (!stage.graph.observer.goal.is_available()).then_some(())).await;
    all(&ros, back(), Transition::TRANSITION_UNCONFIGURED_SHUTDOWN).await;
    for node in MANAGED {
        assert_eq!(state(&stage, node.name()).await, State::PRIMARY_STATE_FINALIZED, "{node:?}");
    }
    stage.end().await;
}

/// `--ros-args` of a whole graph: another namespace, other names of the robot side, a parameter, a goal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_in_another_namespace_with_other_names() {
    let _turn = one_at_a_time().await;
    let line = "--ros-args -r __ns:=/robot1/prehend -r /tf:=/robot1/tf -r /tf_static:=/robot1/tf_static \
                -r /joint_states:=/robot1/joint_states -r /move_action:=/robot1/move_action \
                -r /camera/color/image_raw:=/robot1/camera/color/image_raw -r /compute_ik:=/robot1/compute_ik \
                -r /xarm:=/robot1/left_arm -p object_map:frames_per_update:=4 --log-level warn";
    let (_, arguments) = RosArguments::split(line.split_whitespace().map(Into::into)).unwrap();
    let mut stage = Stage::start(StageOptions { arguments, ..Default::default() }).await;
    let topics: BTreeSet<String> =
        stage.graph.observer.node.topics().into_iter().map(|topic| topic.name).collect();
    for name in
        // The last one has a name of which the robot file has the beginning.
        [
            "/robot1/prehend/state",
            "/robot1/tf",
            "/robot1/joint_states",
            "/robot1/camera/color/image_raw",
            "/robot1/left_arm/robot_states",
        ]
    {
        assert!(topics.contains(name), "{name}: {topics:?}");
    }
    let stray = |name: &&String| {
        name.starts_with("/prehend/")
            || name.starts_with("/xarm/")
            || ["/tf", "/joint_states"].contains(&name.as_str())
    };
    assert_eq!(topics.iter().find(stray), None);
    let nodes = stage.graph.observer.node.node_names();
    assert!(nodes.contains(&"/robot1/prehend/skills".to_owned()), "{nodes:?}");
    let names = vec!["frames_per_update".to_owned()];
    let node = "/robot1/prehend/object_map";
    let values =
        call::<GetParameters::Service>(&stage, node, "get_parameters", GetParameters::Request { names })
            .await;
    assert_eq!(values.values[0].integer_value, 4);
    let resolved = stage.graph.observer.node.resolve_service(names::GOAL);
    assert_eq!(resolved, "/robot1/prehend/goal");
    stage.easy_goal_is_reached("other names").await;
    stage.end().await;
}
