//! The same with only `lo` up, where a participant of RustDDS does not reach itself through DDS.
#![cfg(not(feature = "ros2"))]

use prehend_testing::{Needs, skipped};
use std::process::Command;

/// Set in the namespace without network.
const INSIDE: &str = "PREHEND_ROS_TEST_LOOPBACK";

#[test]
fn within_and_between_processes_with_only_lo() {
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let probe = Command::new("unshare").args(["-rn", "sh", "-c", "ip link set lo up"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skipped(Needs::Netns, "no `unshare -rn` with `ip link set lo up` on this machine");
        return;
    }
    let test = std::env::current_exe().expect("known");
    let script = "ip link set lo up && exec \"$0\" --test-threads=2 \
        within_process:: \
        between_processes::a_child_calls_its_parent \
        between_processes::a_late_joiner \
        services::concurrent_calls \
        actions::cancel_all";
    let output =
        Command::new("unshare").args(["-rn", "sh", "-c", script]).arg(&test).env(INSIDE, "1").output();
    let output = output.expect("run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("7 passed"), "{text}");
}
