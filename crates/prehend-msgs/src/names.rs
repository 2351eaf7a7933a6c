//! Every topic, service and action name of the Prehend graph, in one place.
//!
//! They are relative: each node resolves them in its own namespace, so that several robots have a graph each
//! (`/robot1/prehend/goal`, `/robot2/prehend/goal`).
//!
//! Names of the robot side differ by robot and stand in `config/robots/<robot>.yaml`, not here.

/// Namespace of the graph when nobody gives it another.
pub const NAMESPACE: &str = "/prehend";

/// `name` of the graph in `namespace`, absolute.
pub fn in_namespace(namespace: &str, name: &str) -> String {
    format!("{}/{name}", namespace.trim_end_matches('/'))
}

/// Whether the absolute `topic` is `name` of a graph, in whatever namespace.
pub fn is_name(topic: &str, name: &str) -> bool {
    topic.strip_suffix(name).is_some_and(|namespace| namespace.ends_with('/'))
}

/// Topic, reliable and transient local: `SymbolicState`, owned by the agent.
pub const STATE: &str = "state";
/// Topic, transient local: `ObjectMap`, owned by object_map.
pub const OBJECT_MAP: &str = "object_map";
/// Topic: `std_msgs/Header`: stamp and view of each frame that was taken into a map; owned by object_map.
pub const OBJECT_MAP_FRAME: &str = "object_map/frame";
/// Topic: `visualization_msgs/MarkerArray`.
pub const OBJECT_MAP_MARKERS: &str = "object_map/markers";
/// Topic: `sensor_msgs/PointCloud2`.
pub const OBJECT_MAP_POINTS: &str = "object_map/points";
/// Topic: `TraceEvent`, published by all.
pub const TRACE: &str = "trace";
/// Topic: `Heartbeat`, published by all at 10 Hz wall clock.
pub const HEARTBEAT: &str = "heartbeat";
/// Service: `SubmitGoal`.
pub const GOAL: &str = "goal";
/// Topic, transient local: `GoalPlan`, of the last goal that was only planned; owned by the agent.
pub const GOAL_PLAN: &str = "goal_plan";
/// Service: `CallTool`, owned by the agent.
pub const CALL_TOOL: &str = "call_tool";
/// Action: `ExecuteGoal`.
pub const EXECUTE_GOAL: &str = "execute_goal";
/// Service: `UpdateMap`.
pub const OBJECT_MAP_UPDATE: &str = "object_map/update";
/// Service: `RetrieveObjects`.
pub const OBJECT_MAP_RETRIEVE: &str = "object_map/retrieve";
/// Service: `GetObject`.
pub const OBJECT_MAP_GET_OBJECT: &str = "object_map/get_object";
/// Action: `DetectAffordance`.
pub const DETECT_AFFORDANCE: &str = "detect_affordance";
/// Service: `Assess`.
pub const VERIFIER_ASSESS: &str = "verifier/assess";
/// Service: `Gate`.
pub const VERIFIER_GATE: &str = "verifier/gate";
/// Service: `RedeemPermit`.
pub const VERIFIER_REDEEM: &str = "verifier/redeem";
/// Service: `CheckOutcome`.
pub const VERIFIER_CHECK_OUTCOME: &str = "verifier/check_outcome";
/// Service: `Approve`, owned by verifier.
pub const VERIFIER_APPROVE: &str = "verifier/approve";
/// Topic, transient local: `Approvals`, the plans that wait for a person's word; owned by verifier.
pub const VERIFIER_APPROVALS: &str = "verifier/approvals";
/// Topic: `Outcome`, of skills that were carried out; owned by verifier.
pub const VERIFIER_OUTCOME: &str = "verifier/outcome";
/// Action: `ExecuteSkill`.
pub const EXECUTE_SKILL: &str = "execute_skill";
/// Action: `GoTo`, on mobile robots.
pub const GO_TO: &str = "go_to";
/// Topic, transient local: `ObjectMap` in the map frame, from the stops of a tour; owned by object_map, on mobile robots.
pub const ROOM_MAP: &str = "room_map";
/// Service: `QueryMemory`, owned by memory.
pub const MEMORY_QUERY: &str = "memory/query";
/// Service: `WriteMemory`, owned by memory.
pub const MEMORY_WRITE: &str = "memory/write";
/// Service: `Stop`.
pub const STOP: &str = "stop";
/// Topic, transient local: `ObjectMap` with what is in the gripper, as it was mapped before, or with nothing; owned by skills.
pub const IN_HAND: &str = "in_hand";
/// Topic, transient local: `StopState`, owned by skills.
pub const STOP_STATE: &str = "stop_state";
/// Topic: `HandWay`, of each part that a hand moved; owned by skills.
pub const HAND_WAY: &str = "hand_way";
/// Topic, transient local: `ArticulatedThings`, those with moving parts that are known and in the object map; owned by describer.
pub const ARTICULATED: &str = "articulated";
/// Service: `Describe`, owned by describer.
pub const DESCRIBE: &str = "describe";
