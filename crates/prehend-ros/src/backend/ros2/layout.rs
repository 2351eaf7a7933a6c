//! Whether the interfaces of the installed ROS 2 are those this program was written for.
//!
//! Distributions add fields. Where it matters, two layouts of a type are known here; which one is spoken is configuration. Bytes of one layout read as another are garbage, which must not reach a robot: an endpoint
//! whose type has other fields in the installation is not made.

use super::sample::sample;
use crate::RosError;
use crate::backend::{Encoding, EndpointName, InterfaceReport, decode, encode};
use prehend_msgs::Payload;
use prehend_msgs::ros2::{Definition, TwinVisitor, definitions, missing_packages, visit_twins};
use r2r::WrappedTypesupport;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// Types with a part that differs, and the name of one such part.
type Differing = HashMap<&'static str, &'static str>;

/// Looks at what a value becomes when it goes through the other type and back.
#[derive(Default)]
struct Compare {
    differing: Vec<&'static str>,
}

impl TwinVisitor for Compare {
    fn visit<Ours: Payload, Theirs: WrappedTypesupport>(&mut self, type_name: &'static str) {
        let there_and_back =
            |bytes: &[u8]| Theirs::from_serialized_bytes(bytes).ok()?.to_serialized_bytes().ok();
        if !comes_back::<Ours>(there_and_back) {
            self.differing.push(type_name);
        }
    }
}

/// Whether a value with something in every field is the same after `there_and_back`, which takes and gives a message with the header of its encoding.
///
/// A field that the other side has more finds no bytes left, one that it has less does not come back. The bytes are not compared: Fast DDS leaves
/// between fields, where they are aligned, and at the end whatever was in its memory.
fn comes_back<Ours: Payload>(there_and_back: impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
    const LITTLE: [u8; 4] = [0, 1, 0, 0];
    let Ok(ours) = sample::<Ours>() else { return false };
    let Ok(bytes) = encode(&ours, &AtomicUsize::new(256)) else { return false };
    there_and_back(&[&LITTLE, &bytes[..]].concat()).is_some_and(|back| {
        back.get(LITTLE.len()..)
            .is_some_and(|back| decode::<Ours>(back, Encoding::Little).is_ok_and(|back| back == ours))
    })
}

fn differing() -> &'static Differing {
    static DIFFERING: OnceLock<Differing> = OnceLock::new();
    DIFFERING.get_or_init(|| {
        let mut compare = Compare::default();
        visit_twins(&mut compare);
        let culprit =
            |parts: &[&'static str]| parts.iter().copied().find(|part| compare.differing.contains(part));
        definitions().iter().filter_map(|known| Some((known.name, culprit(known.parts)?))).collect()
    })
}

/// What the definition of an endpoint's fields is called here: `nav2_msgs_humble/action/NavigateToPose_SendGoal`.
fn definition(named: &EndpointName) -> String {
    let rest = named.type_name.split_once('/').map_or("", |(_, rest)| rest);
    format!("{}/{rest}", named.layout)
}

/// Refuses a type whose fields differ; `what` is to be made of it.
///
/// Errors: [`RosError::Create`].
pub(super) fn check(what: &str, named: &EndpointName) -> Result<(), RosError> {
    let definition = definition(named);
    let own =
        ["_SendGoal", "_GetResult", "_FeedbackMessage"].iter().find_map(|part| definition.strip_suffix(part));
    match differing().get(own.unwrap_or(&definition)) {
        None => Ok(()),
        Some(part) => Err(RosError::Create {
            what: what.to_owned(),
            reason: format!(
                "the installed ROS 2 ({}) has other fields than {part} here. Of what differs between Humble and Jazzy the \
                 robot file names the distribution; everything else is Jazzy's",
                r2r::ROS_DISTRO
            ),
        }),
    }
}

/// What is called in the graph as definitions that all differ, each once.
fn without_layout(definitions: &[Definition], differs: impl Fn(&str) -> bool) -> Vec<String> {
    let (differing, same): (Vec<_>, Vec<_>) =
        definitions.iter().partition(|definition| differs(definition.name));
    in_graph(&differing).difference(&in_graph(&same)).map(|name| (*name).to_owned()).collect()
}

fn in_graph(definitions: &[&Definition]) -> BTreeSet<&'static str> {
    definitions.iter().map(|definition| definition.in_graph).collect()
}

/// What the installed ROS 2 has of our interfaces.
pub(crate) fn check_interfaces() -> InterfaceReport {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let known = in_graph(&definitions().iter().collect::<Vec<_>>()).len();
    let differing = without_layout(definitions(), |name| differing().contains_key(name));
    InterfaceReport { known, missing: owned(missing_packages()), differing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::sensor_msgs::msg::{JointState, PointField};
    use prehend_msgs::{moveit_msgs, moveit_msgs_humble};

    #[test]
    fn one_of_two_layouts_is_enough() {
        let known = [
            ("a/msg/A", "a/msg/A"),
            ("a_humble/msg/A", "a/msg/A"),
            ("a/msg/B", "a/msg/B"),
            ("b/msg/B", "b/msg/B"),
        ]
        .map(|(name, in_graph)| Definition { name, in_graph, parts: &[] });
        let check = |differing: &[&str], expected: &[&str]| {
            assert_eq!(without_layout(&known, |name| differing.contains(&name)), expected, "{differing:?}");
        };
        check(&[], &[]);
        check(&["a/msg/A"], &[]);
        check(&["a_humble/msg/A"], &[]);
        check(&["a/msg/A", "a_humble/msg/A"], &["a/msg/A"]);
        check(&["a/msg/B"], &["a/msg/B"]);
    }

    #[test]
    fn a_layout_is_known_by_what_comes_back() {
        use moveit_msgs::msg::MoveItErrorCodes as Jazzy;
        use moveit_msgs_humble::msg::MoveItErrorCodes as Humble;
        fn through<T: Payload>(bytes: &[u8]) -> Option<Vec<u8>> {
            let read = decode::<T>(bytes.get(4..)?, Encoding::Little).ok()?;
            Some([&[0, 1, 0, 0], &encode(&read, &AtomicUsize::new(64)).ok()?[..], b"left in memory"].concat())
        }
        assert!(comes_back::<PointField>(through::<PointField>), "what follows does not count");
        assert!(comes_back::<PointField>(|bytes| {
            // A text of four letters is nine bytes with its length; three follow before the next number.
            let mut bytes = bytes.to_vec();
            bytes[4 + 9..4 + 12].copy_from_slice(b"was");
            Some(bytes)
        }));
        assert!(!comes_back::<PointField>(through::<JointState>));
        assert!(!comes_back::<Jazzy>(through::<Humble>), "fields do not come back");
        assert!(comes_back::<Humble>(through::<Humble>) && comes_back::<Jazzy>(through::<Jazzy>));
        assert!(!comes_back::<Humble>(through::<Jazzy>), "it has fields for which nothing is left");
        assert!(!comes_back::<Humble>(|_| None) && !comes_back::<Humble>(|_| Some(vec![0])));
    }
}
