//! Tests of the executable, and of graphs of its processes.
//!
//! One program for all of them, since each would be linked with all of Prehend: `cargo test -p prehend-cli --test processes sensors`
//! runs those of one file. Only one graph runs at a time: with two on two processors, what a test does in a motion came after its end.

mod harness;
#[allow(dead_code, reason = "shared with tests that write other networks")]
#[path = "../../crates/prehend-models/tests/models/support/onnx.rs"]
mod onnx;
#[path = "../../crates/prehend-sim/tests/sdf/peer.rs"]
mod peer;
#[path = "../../crates/prehend-llm/tests/scripted/mod.rs"]
mod scripted;
#[path = "../../crates/prehend-sim/tests/sdf/tree.rs"]
mod tree;
#[path = "../../crates/prehend-llm/tests/wire/mod.rs"]
mod wire;

mod arming;
mod command_line;
mod confirm;
mod demo;
mod describer;
mod disturbances;
mod explaining;
mod furniture;
mod gazebo;
mod go_to;
mod graph;
mod launch;
mod live;
mod looking;
mod losses;
mod map_live;
mod maps;
mod mcp;
mod model;
mod move_group;
mod moveit;
mod nav2;
mod page;
mod permits;
mod planning;
mod recordings;
mod remembering;
mod robot_side;
mod rooms;
mod sensors;
mod services;
mod stops;
mod stretch;
mod stretch_driver;
mod tutorial;
mod velocities;
mod why;
mod words;
