//! Whether the interfaces of the installed ROS 2 are those this program was written for.
//!
//! Distributions add fields. Where it matters, two layouts of a type are known here; which one is spoken is configuration. Bytes of one layout read as another are garbage, which must not reach a robot: an endpoint
//! whose type has other fields in the installation is not made.

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

/// Compares what a default value is on the wire, where every field takes its room.
#[derive(Default)]
struct Compare {
    differing: Vec<&'static str>,
}

impl TwinVisitor for Compare {
    fn visit<Ours: Payload, Theirs: WrappedTypesupport>(&mut self, type_name: &'static str) {
        let theirs = Theirs::default().to_serialized_bytes().ok();
        let same = theirs.is_some_and(|theirs| theirs.get(4..).is_some_and(lays_out_alike::<Ours>));
        if !same {
            self.differing.push(type_name);
        }
    }
}

/// Whether `theirs` is our default value. What a middleware leaves between fields for alignment is not looked at: Fast DDS writes there whatever was in its
/// memory; and it may fill the end up to a multiple of four.
fn lays_out_alike<Ours: Payload>(theirs: &[u8]) -> bool {
    let Ok(ours) = encode(&Ours::default(), &AtomicUsize::new(256)) else { return false };
    (ours.len()..ours.len() + 4).contains(&theirs.len())
        && decode::<Ours>(theirs, Encoding::Little).is_ok_and(|read| read == Ours::default())
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
    use prehend_msgs::sensor_msgs::msg::PointField;

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
    fn what_stands_between_fields_for_alignment_does_not_count() {
        let default = encode(&PointField::default(), &AtomicUsize::new(64)).expect("encodes");
        let alike = |bytes: &[u8]| lays_out_alike::<PointField>(bytes);
        assert!(alike(&default));
        assert!(alike(&[&default[..], &[7, 7, 7]].concat()), "the end is filled up");
        assert!(!alike(&[&default[..], &[0; 4]].concat()), "another field follows");
        assert!(!alike(&default[..default.len() - 1]), "a field is missing");
        // An empty text is five bytes with its length; three follow before the next number.
        let mut garbage = default.to_vec();
        garbage[5..8].copy_from_slice(b"was");
        assert!(alike(&garbage), "between the text and the number");
        garbage[8] = 1;
        assert!(!alike(&garbage), "in the number");
    }
}
