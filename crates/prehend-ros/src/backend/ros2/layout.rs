//! Whether the interfaces of the installed ROS 2 are those this program was written for.
//!
//! Distributions add fields. Where it matters, two layouts of a type are known here; which one is spoken is configuration. Bytes of one layout read as another are garbage, which must not reach a robot: an endpoint
//! whose type has other fields in the installation is not made.

use super::sample::sample;
use crate::RosError;
use crate::backend::{Encoding, EndpointName, InterfaceReport, decode, encode};
use crate::sync::lock;
use prehend_msgs::Payload;
use prehend_msgs::ros2::{Definition, TwinVisitor, definitions, missing_packages, visit_twins};
use r2r::WrappedTypesupport;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

/// Looks at what a value of one type becomes when it goes through the other type and back.
struct Compare {
    wanted: &'static str,
    is_alike: bool,
}

impl TwinVisitor for Compare {
    fn visit<Ours: Payload, Theirs: WrappedTypesupport>(&mut self, type_name: &'static str) {
        if type_name == self.wanted {
            self.is_alike = comes_back::<Ours>(|bytes| {
                Theirs::from_serialized_bytes(bytes).ok()?.to_serialized_bytes().ok()
            });
        }
    }
}

/// Whether a type has our fields where it is installed. Looked at once and only when it is asked for: what does not fit leaves an error behind in rcl.
fn is_alike(type_name: &'static str) -> bool {
    static LOOKED_AT: Mutex<BTreeMap<&'static str, bool>> = Mutex::new(BTreeMap::new());
    *lock(&LOOKED_AT).entry(type_name).or_insert_with(|| {
        let mut compare = Compare { wanted: type_name, is_alike: true };
        visit_twins(&mut compare);
        compare.is_alike
    })
}

/// Name of a part that differs.
fn differing_part(definition: &Definition) -> Option<&'static str> {
    definition.parts.iter().copied().find(|part| !is_alike(part))
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
    let known = definitions().iter().find(|known| known.name == own.unwrap_or(&definition));
    match known.and_then(differing_part) {
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

/// What is called in the graph as definitions that all differ, and how many names there are in the graph. As soon as one does not, the
/// others are not asked about.
fn without_layout(definitions: &[Definition], differs: impl Fn(&Definition) -> bool) -> (Vec<String>, usize) {
    let mut layouts: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    for definition in definitions {
        layouts.entry(definition.in_graph).or_default().push(definition);
    }
    let differing = layouts.iter().filter(|(_, layouts)| layouts.iter().all(|layout| differs(layout)));
    (differing.map(|(name, _)| (*name).to_owned()).collect(), layouts.len())
}

/// What the installed ROS 2 has of our interfaces.
pub(crate) fn check_interfaces() -> InterfaceReport {
    let missing = missing_packages().iter().map(|name| (*name).to_owned()).collect();
    let (differing, known) = without_layout(definitions(), |layout| differing_part(layout).is_some());
    InterfaceReport { known, missing, differing }
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
            let (found, known) = without_layout(&known, |layout| differing.contains(&layout.name));
            assert_eq!(
                (found, known),
                (expected.iter().map(|name| (*name).to_owned()).collect(), 3),
                "{differing:?}"
            );
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
