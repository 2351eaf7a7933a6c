//! The definitions of messages as text, for files that describe themselves.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A message as its interface file has it.
struct Definition {
    /// `PACKAGE/msg/NAME`.
    name: &'static str,
    text: &'static str,
    /// The messages its fields are of, as often as they are used.
    parts: &'static [&'static str],
}

/// Sorted by name.
static DEFINITIONS: &[Definition] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// What stands between two definitions of one text.
const LINE: &str = "================================================================================";

fn find(name: &str) -> Option<&'static Definition> {
    let at = DEFINITIONS.binary_search_by(|definition| definition.name.cmp(name)).ok()?;
    DEFINITIONS.get(at)
}

/// The definition of the message `PACKAGE/msg/NAME` and of every message in it, in the format `ros2msg` of MCAP and rosbag2: its
/// own text, then each of the others after a line and `MSG: PACKAGE/NAME`. `None` for a message that is not among the interface
/// files of this crate.
pub fn ros2msg(type_name: &str) -> Option<String> {
    let own = find(type_name)?;
    let mut text = own.text.to_owned();
    let mut known = BTreeSet::from([own.name]);
    let mut open: Vec<&str> = own.parts.iter().rev().copied().collect();
    while let Some(name) = open.pop() {
        if !known.insert(name) {
            continue;
        }
        let part = find(name)?;
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(text, "{end}{LINE}\nMSG: {}\n{}", name.replace("/msg/", "/"), part.text);
        open.extend(part.parts.iter().rev());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_has_those_of_its_parts_once_each() {
        let text = ros2msg("sensor_msgs/msg/CameraInfo").expect("known");
        let parts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("MSG: ")).collect();
        assert_eq!(parts, ["std_msgs/Header", "builtin_interfaces/Time", "sensor_msgs/RegionOfInterest"]);
        assert_eq!(text.lines().filter(|line| *line == LINE).count(), 3);
        assert_eq!(LINE.len(), 80);
    }

    #[test]
    fn every_message_has_a_definition_and_others_have_none() {
        assert!(DEFINITIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for definition in DEFINITIONS {
            assert!(ros2msg(definition.name).is_some(), "{}", definition.name);
        }
        assert!(ros2msg("std_srvs/srv/Trigger").is_none());
        assert!(ros2msg("sensor_msgs/Image").is_none());
    }
}
