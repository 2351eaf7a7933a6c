//! What a stranger can do to a graph: garbage on every service and action. And what it can learn: no topic has the truth.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{CALL, Stage, StageOptions, in_time, one_at_a_time, wait_for};
use prehend_cli::node::{NODES, NodeName};
use prehend_convert as convert;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteGoal, ExecuteSkill};
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Evidence, Intent, SkillPlan};
use prehend_msgs::prehend_interfaces::srv::{
    Assess, CallTool, CheckOutcome, Gate, GetObject, RedeemPermit, RetrieveObjects, Stop, SubmitGoal,
    UpdateMap,
};
use prehend_msgs::{Action, Service, names};
use prehend_robots::arming::ArmingConfig;
use prehend_ros::QosProfile;
use prehend_scene::{Object, ObjectKey, ObjectMap, Skill};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::time::Duration;

/// How long an answer to what is no request is waited for.
const UNANSWERED: Duration = Duration::from_millis(300);

async fn call<S: Service>(stage: &Stage, name: &str, request: S::Request) -> S::Response {
    let client = stage.graph.observer.node.create_client::<S>(name, QosProfile::services()).unwrap();
    client.request(request, CALL).await.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Texts that are no keys and no sentences.
fn texts() -> [String; 4] {
    ["".to_owned(), "\u{0}\u{1b}[2J\u{fffd}".to_owned(), "x".repeat(20_000), "{\"key\": [1, 2".to_owned()]
}

fn broken_plan() -> SkillPlan {
    let mut pose = PoseStamped::default();
    pose.pose.position.x = f64::NAN;
    SkillPlan {
        skill: "fly".to_owned(),
        relation: "inside out".to_owned(),
        pose_goals: vec![pose],
        gripper_opening: f64::INFINITY,
        ..Default::default()
    }
}

fn broken_evidence() -> Evidence {
    let mut evidence =
        Evidence { type_: "rumour".to_owned(), scale: f32::NAN, confidence: 7.0, ..Default::default() };
    evidence.region.width = u32::MAX;
    evidence.region.bits = vec![1, 2, 3];
    evidence
}

async fn garbage_is_answered_with_errors(stage: &Stage) {
    for text in texts() {
        let answer = call::<GetObject::Service>(
            stage,
            names::OBJECT_MAP_GET_OBJECT,
            GetObject::Request { key: text.clone(), with_crops: true, ..Default::default() },
        )
        .await;
        assert_ne!(answer.error_code, 0, "get_object {text:?}");
        let answer = call::<SubmitGoal::Service>(
            stage,
            names::GOAL,
            SubmitGoal::Request { text: text.clone(), ..Default::default() },
        )
        .await;
        assert!(!answer.accepted && !answer.reason.is_empty(), "goal {text:?}: {answer:?}");
        let request = RedeemPermit::Request { permit_id: text.clone(), ..Default::default() };
        let answer = call::<RedeemPermit::Service>(stage, names::VERIFIER_REDEEM, request).await;
        assert_ne!(answer.error_code, 0, "redeem {text:?}");
    }
    let tool = async |client: &str| {
        let (client, [_, name, arguments, _]) = (client.to_owned(), texts());
        call::<CallTool::Service>(stage, names::CALL_TOOL, CallTool::Request { client, name, arguments })
            .await
    };
    let nobody = tool("").await;
    assert!(!nobody.accepted && nobody.reason == "infeasible", "{nobody:?}");
    // A caller that talks nonsense only is given up, and the agent is free again.
    for number in 1..=3 {
        let answer = tool("a stranger").await;
        assert!(answer.accepted && answer.ended == (number == 3), "{number}: {answer:?}");
    }
    let request = RetrieveObjects::Request { query: String::new(), k: u32::MAX, ..Default::default() };
    let answer = call::<RetrieveObjects::Service>(stage, names::OBJECT_MAP_RETRIEVE, request).await;
    assert!(answer.error_code != 0 || answer.keys.is_empty(), "{answer:?}");
    let request =
        Gate::Request { plan: broken_plan(), assessment_id: texts()[2].clone(), ..Default::default() };
    let answer = call::<Gate::Service>(stage, names::VERIFIER_GATE, request).await;
    assert!(answer.error_code != 0 && !answer.granted, "{answer:?}");
    let request = Assess::Request { evidence: vec![broken_evidence()], ..Default::default() };
    let answer = call::<Assess::Service>(stage, names::VERIFIER_ASSESS, request).await;
    assert_ne!(answer.error_code, 0);
    let request = CheckOutcome::Request { plan: broken_plan(), ..Default::default() };
    let answer = call::<CheckOutcome::Service>(stage, names::VERIFIER_CHECK_OUTCOME, request).await;
    assert!(answer.error_code != 0 && !answer.succeeded, "{answer:?}");
}

async fn garbage_goals_end_with_errors(stage: &Stage) {
    let node = &stage.graph.observer.node;
    let skills = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).unwrap();
    for (skill, key) in [("", ""), ("fly", "mug"), ("grasp", "no such object"), ("place", "no such object")] {
        let goal =
            ExecuteSkill::Goal { skill: skill.to_owned(), object_key: key.to_owned(), ..Default::default() };
        let mut handle = skills.send_goal(goal, CALL).await.unwrap();
        let (_, result) = in_time("the skill ends", handle.result(CALL)).await.unwrap();
        assert!(result.error_code != 0 && !result.reason.is_empty(), "{skill} {key}: {result:?}");
    }
    let affordance = node.create_action_client::<DetectAffordance::Action>(names::DETECT_AFFORDANCE).unwrap();
    let (bad, unknown) = (ErrorCode::AFFORDANCE_BAD_REQUEST, ErrorCode::AFFORDANCE_UNKNOWN_KEY);
    for (key, kind, scope, code) in [
        ("", "grasp", "", bad),
        ("no such object", "grasp", "", unknown),
        ("no such object", "juggle", "", bad),
        ("no such object", "", "", bad),
        ("no such object", "grasp", "moon", bad),
    ] {
        let goal = DetectAffordance::Goal {
            object_key: key.to_owned(),
            intent: Intent { kind: kind.to_owned(), ..Default::default() },
            scope: scope.to_owned(),
            ..Default::default()
        };
        let mut handle = affordance.send_goal(goal, CALL).await.unwrap();
        let (_, result) = in_time("the detection ends", handle.result(CALL)).await.unwrap();
        assert_eq!(result.error_code, code, "{key} {kind} {scope}: {result:?}");
    }
}

/// The newest map after one more look.
async fn mapped(stage: &Stage) -> ObjectMap {
    let request = UpdateMap::Request { timeout: 5.0, ..Default::default() };
    let version = call::<UpdateMap::Service>(stage, names::OBJECT_MAP_UPDATE, request).await.version;
    wait_for("the map comes", async || {
        stage
            .graph
            .observer
            .map
            .borrow()
            .as_ref()
            .filter(|map| map.version >= version)
            .map(convert::map_from_msg)
    })
    .await
    .unwrap()
}

async fn detected(stage: &Stage, key: &ObjectKey) -> DetectAffordance::Result {
    let node = &stage.graph.observer.node;
    let client = node.create_action_client::<DetectAffordance::Action>(names::DETECT_AFFORDANCE).unwrap();
    let intent = Intent { kind: "grasp".to_owned(), ..Default::default() };
    let goal = DetectAffordance::Goal { object_key: key.0.clone(), intent, ..Default::default() };
    let mut handle = client.send_goal(goal, CALL).await.unwrap();
    in_time("the detection ends", handle.result(CALL)).await.unwrap().1
}

async fn viewed(stage: &Stage, key: &ObjectKey) -> GetObject::Response {
    let request = GetObject::Request { key: key.0.clone(), with_crops: true, ..Default::default() };
    call::<GetObject::Service>(stage, names::OBJECT_MAP_GET_OBJECT, request).await
}

/// Asks the gate about a grasp of an object, with the gripper at its middle.
async fn ask_to_grasp(stage: &Stage, object: &Object, map_version: u64, assessment: &str) -> Gate::Response {
    let plan = prehend_scene::SkillPlan {
        skill: Skill::Grasp,
        object: object.key.clone(),
        targets: Vec::new(),
        relation: None,
        part: String::new(),
        motion: None,
        held_object: None,
        pose_goals: vec![object.bounds.pose.translation.into()],
        gripper_opening: 0.05,
        map_version,
    };
    let plan = convert::plan_to_msg(&plan, "link_base");
    let request = Gate::Request { plan, assessment_id: assessment.to_owned(), ..Default::default() };
    call::<Gate::Service>(stage, names::VERIFIER_GATE, request).await
}

/// Evidence belongs to one thing: who shows that of another, or makes some up, gets no permit and no motion.
async fn forged_evidence_is_refused(stage: &Stage) {
    let map = mapped(stage).await;
    let mut known = Vec::new();
    for object in &map.objects {
        let found = detected(stage, &object.key).await;
        if found.error_code == 0 {
            known.push((object, found));
        }
    }
    let [(one, of_one), (other, of_other), ..] = &known[..] else { panic!("two things in {map:?}") };
    assert!(!of_one.assessment_id.is_empty() && of_one.assessment_id != of_other.assessment_id);

    // The honest way is open: what is refused below is refused for its evidence.
    let answer = ask_to_grasp(stage, one, map.version, &of_one.assessment_id).await;
    assert!(answer.granted, "{answer:?}");
    let refused = async |assessment: &str, reason: &str| {
        let answer = ask_to_grasp(stage, other, map.version, assessment).await;
        assert!(!answer.granted && answer.permit.id.is_empty(), "{assessment}: {answer:?}");
        assert!(answer.reason.contains(reason), "{assessment}: {answer:?}");
    };
    refused(&of_one.assessment_id, &format!("is about {}", one.key)).await;
    refused("", "without an assessment").await;
    refused("a1-1", "not one of this verifier's").await;

    // The regions of one thing, in the views of the other.
    let (seen_one, seen_other) = (viewed(stage, &one.key).await, viewed(stage, &other.key).await);
    let record = |producer: &str, scale: f32| Evidence {
        id: format!("{producer}{scale}"),
        type_: Evidence::TYPE_SEG.to_owned(),
        producer: producer.to_owned(),
        view: seen_other.views[0].clone(),
        stamp: seen_other.stamps[0].clone(),
        scale,
        confidence: 1.0,
        region: seen_one.masks[0].clone(),
        ..Default::default()
    };
    let evidence = vec![record("a", 1.0), record("a", 2.0), record("b", 1.0), record("b", 2.0)];
    let forged = async |evidence: Vec<Evidence>| {
        let (object_key, map_version) = (other.key.0.clone(), map.version);
        let request = Assess::Request { object_key, map_version, evidence };
        let answer = call::<Assess::Service>(stage, names::VERIFIER_ASSESS, request).await;
        assert!(answer.error_code == 0 && !answer.diagnostics.committed, "{answer:?}");
        answer
    };
    let answer = forged(evidence.clone()).await;
    assert!(answer.doubts.contains("are not where"), "{answer:?}");
    refused(&answer.assessment_id, "are not where").await;
    let invented =
        evidence.into_iter().map(|record| Evidence { view: "invented".to_owned(), ..record }).collect();
    let answer = forged(invented).await;
    refused(&answer.assessment_id, "has not seen").await;

    let skills =
        stage.graph.observer.node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).unwrap();
    let goal = ExecuteSkill::Goal {
        skill: "grasp".to_owned(),
        object_key: other.key.0.clone(),
        map_version: map.version,
        affordances: of_other.affordances.clone(),
        assessment_id: of_one.assessment_id.clone(),
        ..Default::default()
    };
    let mut handle = skills.send_goal(goal, CALL).await.unwrap();
    let (_, result) = in_time("the skill ends", handle.result(CALL)).await.unwrap();
    assert_eq!(result.error_code, ErrorCode::SKILL_REFUSED, "{result:?}");
}

/// The same service or action, as a client of another opinion about what is sent.
struct Raw<T>(PhantomData<fn() -> T>);

impl<S: Service> Service for Raw<S> {
    type Request = Vec<u8>;
    type Response = Vec<u8>;
    const PACKAGE: &'static str = S::PACKAGE;
    const NAME: &'static str = S::NAME;
}

impl<A: Action> Action for Raw<A> {
    type Goal = Vec<u8>;
    type Result = Vec<u8>;
    type Feedback = Vec<u8>;
    const PACKAGE: &'static str = A::PACKAGE;
    const NAME: &'static str = A::NAME;
}

/// Bytes that are no request: far too few, lengths that promise more than comes, text that is none.
fn bytes() -> [Vec<u8>; 4] {
    [Vec::new(), vec![0xff; 3], vec![0xff; 64], (0..=255).cycle().take(3000).collect()]
}

/// Sends bytes that cannot be decoded; whether they are answered does not matter.
async fn undecodable<S: Service>(stage: &Stage, name: &str) {
    let client = stage.graph.observer.node.create_client::<Raw<S>>(name, QosProfile::services()).unwrap();
    client.wait_available(CALL).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    let calls = bytes().map(|bytes| client.request(bytes, UNANSWERED));
    futures::future::join_all(calls).await;
}

/// As [`undecodable`], for the goals of an action.
async fn undecodable_goals<A: Action>(stage: &Stage, name: &str) {
    let client = stage.graph.observer.node.create_action_client::<Raw<A>>(name).unwrap();
    client.wait_available(CALL).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    let goals = bytes().map(|bytes| client.send_goal(bytes, UNANSWERED));
    for mut goal in futures::future::join_all(goals).await.into_iter().flatten() {
        // It decoded to something: then it ends typed like any other.
        let _ = in_time("the goal ends", goal.result(CALL)).await;
    }
}

/// Every service and action of every node, the robot side's too.
async fn undecodable_everywhere(stage: &Stage) {
    use prehend_msgs::{control_msgs::action as control, moveit_msgs::action as moveit, moveit_msgs::srv};
    let robot = stage.graph.robot.clone();
    undecodable::<SubmitGoal::Service>(stage, names::GOAL).await;
    undecodable::<CallTool::Service>(stage, names::CALL_TOOL).await;
    undecodable::<UpdateMap::Service>(stage, names::OBJECT_MAP_UPDATE).await;
    undecodable::<RetrieveObjects::Service>(stage, names::OBJECT_MAP_RETRIEVE).await;
    undecodable::<GetObject::Service>(stage, names::OBJECT_MAP_GET_OBJECT).await;
    undecodable::<Assess::Service>(stage, names::VERIFIER_ASSESS).await;
    undecodable::<Gate::Service>(stage, names::VERIFIER_GATE).await;
    undecodable::<RedeemPermit::Service>(stage, names::VERIFIER_REDEEM).await;
    undecodable::<CheckOutcome::Service>(stage, names::VERIFIER_CHECK_OUTCOME).await;
    undecodable::<srv::GetCartesianPath::Service>(stage, &robot.moveit.cartesian_path).await;
    undecodable::<srv::GetPositionIK::Service>(stage, &robot.moveit.inverse_kinematics).await;
    undecodable::<srv::ApplyPlanningScene::Service>(stage, &robot.moveit.apply_planning_scene).await;
    undecodable_goals::<ExecuteGoal::Action>(stage, names::EXECUTE_GOAL).await;
    undecodable_goals::<ExecuteSkill::Action>(stage, names::EXECUTE_SKILL).await;
    undecodable_goals::<DetectAffordance::Action>(stage, names::DETECT_AFFORDANCE).await;
    undecodable_goals::<moveit::MoveGroup::Action>(stage, &robot.moveit.move_action).await;
    undecodable_goals::<moveit::ExecuteTrajectory::Action>(stage, &robot.moveit.execute_trajectory).await;
    undecodable_goals::<control::FollowJointTrajectory::Action>(stage, &robot.arm.controller).await;
    undecodable_goals::<control::GripperCommand::Action>(stage, &robot.gripper.action).await;
    // Last, because it may come out as a stop, which is taken from whoever asks.
    undecodable::<Stop::Service>(stage, names::STOP).await;
    let clear = Stop::Request { engage: false, reason: String::new() };
    assert!(call::<Stop::Service>(stage, names::STOP, clear).await.success);
}

/// What the robot side publishes: what a real robot's driver, controllers, MoveIt and a detector do, and nothing else.
fn allowed(stage: &Stage) -> BTreeSet<String> {
    let robot = &stage.graph.robot;
    let driver: Vec<String> = match &robot.arming {
        Some(ArmingConfig::XArm(xarm)) => vec![format!("{}/robot_states", xarm.services)],
        Some(ArmingConfig::Stretch(stretch)) => {
            vec![stretch.mode.clone(), stretch.runstopped.clone(), stretch.homed.clone()]
        }
        None => Vec::new(),
    };
    [
        "/clock",
        "/tf",
        "/tf_static",
        "/rosout",
        "/parameter_events",
        "/diagnostics",
        &stage.graph.observer.node.resolve_topic(names::HEARTBEAT),
        &stage.graph.observer.node.resolve_topic(names::TRACE),
        &robot.joint_states,
        &robot.camera.color,
        &robot.camera.depth,
        &robot.camera.info,
        &robot.detector.label_image,
        &robot.detector.detections,
        // What others put into the planning scene, told again.
        &robot.moveit.changed_scene(),
    ]
    .into_iter()
    .chain(robot.detector.parts.iter().flat_map(|parts| [parts.label_image.as_str(), &parts.detections]))
    .map(str::to_owned)
    .chain(driver)
    .collect()
}

/// Topics the sim publishes, without the answers of its services and the progress of its actions.
fn published_by_sim(stage: &Stage) -> BTreeSet<String> {
    let sim = format!("{}/{}", names::NAMESPACE, NodeName::Sim.name());
    stage
        .graph
        .observer
        .node
        .topics()
        .into_iter()
        .filter(|topic| topic.publishers.iter().any(|publisher| publisher.as_deref() == Some(sim.as_str())))
        .map(|topic| topic.name)
        .filter(|name| name.starts_with('/') && !name.contains("/_action/"))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_get_errors_and_no_truth() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let pids: Vec<Option<u32>> = NODES.iter().map(|node| stage.graph.supervisor.pid(node.name())).collect();
    let motions = stage.motions().await;
    garbage_is_answered_with_errors(&stage).await;
    garbage_goals_end_with_errors(&stage).await;
    undecodable_everywhere(&stage).await;
    forged_evidence_is_refused(&stage).await;
    assert_eq!(stage.motions().await, motions, "garbage moved the arm");
    let now: Vec<Option<u32>> = NODES.iter().map(|node| stage.graph.supervisor.pid(node.name())).collect();
    assert_eq!(now, pids, "a node died of garbage");
    stage.everybody_is_there().await;
    stage.easy_goal_is_reached("garbage").await;

    // The live graph: the sim publishes its sensors, and no publisher is unknown.
    let allowed = allowed(&stage);
    wait_for("the sim's publishers are discovered", async || {
        let found = published_by_sim(&stage);
        let sensors = found.contains("/clock") && found.contains(&stage.graph.robot.joint_states);
        sensors.then_some(())
    })
    .await;
    let found = published_by_sim(&stage);
    let more: Vec<&String> = found.difference(&allowed).collect();
    assert!(more.is_empty(), "the sim publishes more than its sensors: {more:?}");

    // The judge's channel is a pipe of this process; no node has it open.
    let judge_pipes =
        pipes_of(stage.graph.supervisor.pid(NodeName::Sim.name()).expect("the sim runs"), &["0", "1"]);
    assert_eq!(judge_pipes.len(), 2);
    for node in NODES.into_iter().filter(|node| *node != NodeName::Sim) {
        let pid = stage.graph.supervisor.pid(node.name()).expect("it runs");
        let open = open_files(pid);
        assert!(judge_pipes.is_disjoint(&open), "{} holds the judge's channel", node.name());
    }
    stage.end().await;
}

/// What the descriptors of a process are.
fn pipes_of(pid: u32, descriptors: &[&str]) -> BTreeSet<String> {
    descriptors
        .iter()
        .filter_map(|fd| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok())
        .map(|target| target.display().to_string())
        .collect()
}

fn open_files(pid: u32) -> BTreeSet<String> {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("the descriptors")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect()
}
