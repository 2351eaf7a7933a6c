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
    /// `RIHS01_` and 64 digits; empty when a part is unknown.
    hash: &'static str,
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

/// The type hash of the message `PACKAGE/msg/NAME` (REP-2011: `RIHS01_` and 64 digits), by which ROS 2 since Iron tells layouts of one
/// name apart. `None` for a message that is not among the interface files of this crate.
pub fn type_hash(type_name: &str) -> Option<&'static str> {
    find(type_name).map(|definition| definition.hash).filter(|hash| !hash.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

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

    /// Hashes that rosidl of Jazzy wrote: a plain message, nested ones, arrays, bounds, octets, an empty one, and one of ours.
    #[test]
    fn hashes_are_those_of_rosidl() {
        let golden: BTreeMap<&str, &str> =
            serde_json::from_str(include_str!("../tests/type_hashes.json")).expect("JSON");
        assert!(golden.len() >= 10);
        for (name, hash) in golden {
            assert_eq!(type_hash(name), Some(hash), "{name}");
        }
        assert_eq!(type_hash("sensor_msgs/msg/Nothing"), None);
        assert!(DEFINITIONS.iter().all(|definition| definition.hash.len() == 71));
    }

    /// Every message that an installed ROS 2 (since Iron) has, too; nothing is compared where none is sourced.
    #[test]
    fn hashes_are_those_of_the_installed_ros_2() {
        let prefixes = std::env::var("AMENT_PREFIX_PATH").unwrap_or_default();
        let mut compared = 0;
        for definition in DEFINITIONS {
            let found = prefixes.split(':').filter(|prefix| !prefix.is_empty()).find_map(|prefix| {
                let file = Path::new(prefix).join("share").join(format!("{}.json", definition.name));
                std::fs::read_to_string(file).ok()
            });
            let Some(text) = found else { continue };
            let installed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(installed["type_hashes"][0]["hash_string"], definition.hash, "{}", definition.name);
            compared += 1;
        }
        eprintln!("{compared} of {} messages compared", DEFINITIONS.len());
    }
}
