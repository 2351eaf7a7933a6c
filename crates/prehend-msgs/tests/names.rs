//! The names of the graph are valid ROS names, all different, all relative to the namespace.

use std::collections::BTreeSet;

use prehend_msgs::names::NAMESPACE;

/// Read from the source, so that a name added there is checked here.
fn names() -> Vec<String> {
    include_str!("../src/names.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split('"').nth(1))
        .map(str::to_owned)
        .collect()
}

#[test]
fn unique_and_relative() {
    let names = names();
    assert!(names.len() > 10, "{names:?}");
    let unique: BTreeSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    for name in names.iter().filter(|name| *name != NAMESPACE) {
        assert!(!name.starts_with(['/', '~']), "{name}");
    }
}

#[test]
fn valid_ros_names() {
    for name in names() {
        for token in name.strip_prefix('/').unwrap_or(&name).split('/') {
            assert!(token.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
            assert!(
                token.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{name}"
            );
            assert!(!token.contains("__") && !token.ends_with('_'), "{name}");
        }
    }
}
