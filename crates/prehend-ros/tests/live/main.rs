//! The facade on a live graph: within one process, between processes, with only a loopback interface, and with peers that
//! are killed. Every test has a ROS domain of its own; child processes are this binary again, in the role `child::Role`
//! names.

mod actions;
mod between_processes;
mod child;
mod common;
mod loopback_only;
mod services;
mod time_and_frames;
mod within_process;
