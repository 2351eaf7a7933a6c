//! `prehend node NAME`: one node of the graph in this process.

use prehend_robots::{NodeError, NodeOptions, RobotConfig};
use std::time::Duration;

/// The sim, then the five nodes, in the order they are started.
pub const NODES: [NodeName; 6] = [
    NodeName::Sim,
    NodeName::ObjectMap,
    NodeName::Affordance,
    NodeName::Verifier,
    NodeName::Skills,
    NodeName::Agent,
];

/// The nodes of a robot, in the order they are started: one that drives has go_to as well.
pub fn nodes_of(robot: &RobotConfig) -> Vec<NodeName> {
    let drives = robot.navigation.is_some();
    let before_agent = |node: NodeName| (node == NodeName::Agent && drives).then_some(NodeName::GoTo);
    NODES.into_iter().flat_map(|node| before_agent(node).into_iter().chain([node])).collect()
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum NodeName {
    /// The embedded robot: physics, camera, controllers, MoveIt's interfaces.
    Sim,
    /// Objects from pictures.
    ObjectMap,
    /// Parts one can act on, with evidence.
    Affordance,
    /// Judgements and permits.
    Verifier,
    /// Grasp, place, drop, look, home; and the stop.
    Skills,
    /// Where to stand, and the drive there; on robots with a base.
    GoTo,
    /// Sentences into tool calls.
    Agent,
    /// What was seen of a building, over all sessions; with --memory only.
    Memory,
    /// How things with moving parts move, learned from the hand; with --describer only.
    Describer,
    /// Gazebo's names and units into those of the robot file; with Gazebo only.
    Gazebo,
    /// MoveIt's interfaces over the arm's own controller; for robots without a MoveIt.
    MoveGroup,
    /// The arm, gripper and frames of the robot file over stretch_driver; with a real Stretch only.
    Stretch,
}

impl NodeName {
    /// The name in the graph, of the process and of its log file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::ObjectMap => "object_map",
            Self::Affordance => "affordance",
            Self::Verifier => "verifier",
            Self::Skills => "skills",
            Self::GoTo => "go_to",
            Self::Agent => "agent",
            Self::Memory => "memory",
            Self::Describer => "describer",
            Self::Gazebo => "gazebo",
            Self::MoveGroup => "move_group",
            Self::Stretch => "stretch",
        }
    }
}

/// Runs the node until it is asked to end.
///
/// Errors: [`NodeError`] of the node.
pub async fn run(name: NodeName, options: NodeOptions) -> Result<(), NodeError> {
    if options.watch_stdin {
        end_when_orphaned();
    }
    match name {
        NodeName::Sim => prehend_sim_node::sim::run(options).await,
        NodeName::ObjectMap => prehend_nodes::object_map::run(options).await,
        NodeName::Affordance => prehend_nodes::affordance::run(options).await,
        NodeName::Verifier => prehend_nodes::verifier::run(options).await,
        NodeName::Skills => prehend_nodes::skills::run(options).await,
        NodeName::GoTo => prehend_nodes::go_to::run(options).await,
        NodeName::Agent => prehend_nodes::agent::run(options).await,
        NodeName::Memory => prehend_nodes::memory::run(options).await,
        NodeName::Describer => prehend_nodes::describer::run(options).await,
        NodeName::Gazebo => prehend_sim_node::gazebo::run(options).await,
        NodeName::MoveGroup => prehend_robots::move_group::run(options).await,
        NodeName::Stretch => prehend_robots::stretch::run(options).await,
    }
}

/// Ends the process when its parent is gone and the node has not ended by itself, so that even a node that hangs is
/// never left behind.
fn end_when_orphaned() {
    const CHECK: Duration = Duration::from_millis(500);
    const GRACE: Duration = Duration::from_secs(3);
    let parent = std::os::unix::process::parent_id();
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(CHECK);
        }
        std::thread::sleep(GRACE);
        tracing::error!("the parent is gone and the node did not end by itself");
        std::process::exit(1);
    });
}
