//! Whether the interfaces of the installed ROS 2 are those this program was written for.
//!
//! Distributions add fields. Where it matters, two layouts of a type are known here; which one is spoken is configuration. Bytes of one layout read as another are garbage, which must not reach a robot: an endpoint
//! whose type has other fields in the installation is not made.

use crate::RosError;
use crate::backend::{EndpointName, InterfaceReport, encode};
use prehend_msgs::Payload;
use prehend_msgs::ros2::{Definition, TwinVisitor, definitions, missing_packages, visit_twins};
use r2r::WrappedTypesupport;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// Types with a part that differs, and the name of one such part.
type Differing = HashMap<&'static str, &'static str>;

/// Compares what a default value is on the wire: every field takes its room there.
#[derive(Default)]
struct Compare {
    differing: Vec<&'static str>,
}

impl TwinVisitor for Compare {
    fn visit<Ours: Payload, Theirs: WrappedTypesupport>(&mut self, type_name: &'static str) {
        let ours = encode(&Ours::default(), &AtomicUsize::new(256)).ok();
        let theirs = Theirs::default().to_serialized_bytes().ok();
        let same = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) => {
                theirs.get(4..).is_some_and(|theirs| same_but_padding(ours, theirs))
            }
            _ => false,
        };
        if !same {
            self.differing.push(type_name);
        }
    }
}

/// Whether the bytes are the same: a middleware may fill the end up to a multiple of four.
fn same_but_padding(ours: &[u8], theirs: &[u8]) -> bool {
    theirs.strip_prefix(ours).is_some_and(|end| end.len() < 4 && end.iter().all(|byte| *byte == 0))
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
    fn only_padding_may_follow() {
        for (ours, theirs, same) in [
            (&[1, 2][..], &[1, 2][..], true),
            (&[1, 2], &[1, 2, 0, 0], true),
            (&[1, 2], &[1, 2, 0, 1], false),
            (&[1, 2], &[1, 2, 0, 0, 0, 0], false),
            (&[1, 2], &[1, 3], false),
            (&[1, 2], &[1], false),
        ] {
            assert_eq!(same_but_padding(ours, theirs), same, "{theirs:?}");
        }
    }
}
