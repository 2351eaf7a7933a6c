//! Writer of `ros2.rs`: which of our interfaces r2r has, and what it calls them.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::generate::{Interfaces, name_in_graph};
use crate::interface::{Element, Interface, Kind};

/// Interfaces that are not ours and that tests of the wire speak, when they are installed.
const EXAMPLES: [(&str, Kind, &str); 3] = [
    ("test_msgs", Kind::Action, "Fibonacci"),
    ("example_interfaces", Kind::Srv, "AddTwoInts"),
    ("example_interfaces", Kind::Action, "Fibonacci"),
];

/// Packages whose bindings r2r ships, which is all there is without an installed ROS 2.
#[cfg(feature = "ros2-check")]
const SHIPPED: [&str; 16] = [
    "action_msgs",
    "builtin_interfaces",
    "diagnostic_msgs",
    "geometry_msgs",
    "lifecycle_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "shape_msgs",
    "std_msgs",
    "test_msgs",
    "tf2_msgs",
    "trajectory_msgs",
    "unique_identifier_msgs",
    "visualization_msgs",
];

/// What is newer than the bindings that r2r ships.
#[cfg(feature = "ros2-check")]
const NEWER: [&str; 7] = [
    "PolygonInstance",
    "PolygonInstanceStamped",
    "VelocityStamped",
    "LoggerLevel",
    "SetLoggerLevelsResult",
    "GetLoggerLevels",
    "SetLoggerLevels",
];

/// What r2r has, as `PACKAGE/KIND/NAME`.
struct Available {
    #[cfg(not(feature = "ros2-check"))]
    names: BTreeSet<String>,
}

impl Available {
    fn new() -> Self {
        r2r_common::print_cargo_watches();
        Self {
            #[cfg(not(feature = "ros2-check"))]
            names: r2r_common::get_wanted_messages()
                .into_iter()
                .map(|found| format!("{}/{}/{}", found.module, found.prefix, found.name))
                .collect(),
        }
    }

    #[cfg(not(feature = "ros2-check"))]
    fn has(&self, package: &str, kind: Kind, name: &str) -> bool {
        self.names.contains(&format!("{package}/{}/{name}", kind.word()))
    }

    #[cfg(feature = "ros2-check")]
    fn has(&self, package: &str, _: Kind, name: &str) -> bool {
        SHIPPED.contains(&package) && !NEWER.contains(&name)
    }
}

/// Names of the messages within `interface`, at any depth.
fn contained(interfaces: &Interfaces, interface: &Interface, found: &mut BTreeSet<String>) {
    for field in interface.sections.iter().flat_map(|section| &section.fields) {
        if let Element::Message { package, name } = &field.element
            && found.insert(format!("{package}/msg/{name}"))
            && let Some(inner) = interfaces.get(package).and_then(|kinds| kinds.get(&Kind::Msg)?.get(name))
        {
            contained(interfaces, inner, found);
        }
    }
}

/// The source of the functions that `src/ros2.rs` documents.
pub(crate) fn twins(interfaces: &Interfaces) -> String {
    let available = Available::new();
    let (mut services, mut feedback) = (String::new(), String::new());
    let (mut twins, mut definitions) = (String::new(), String::new());
    let mut missing = BTreeSet::new();
    let ours = interfaces.iter().flat_map(|(package, kinds)| {
        kinds
            .iter()
            .flat_map(move |(kind, names)| names.keys().map(move |name| (&**package, *kind, &**name, true)))
    });
    let examples = EXAMPLES.map(|(package, kind, name)| (package, kind, name, false));
    for (package, kind, name, is_ours) in ours.chain(examples) {
        let in_graph = name_in_graph(package);
        if !available.has(in_graph, kind, name) {
            missing.extend(is_ours.then(|| in_graph.to_owned()));
            continue;
        }
        let word = kind.word();
        // Two layouts of one type: r2r has one of the two, under the name that both have in the graph.
        let is_second = in_graph != package;
        let path = format!("{in_graph}::{word}::{name}");
        let own_path = format!("{package}::{word}::{name}");
        let mut service = |ros: &str, rust: &str| {
            if !is_second {
                let _ = writeln!(services, "{ros:?} => Some(visitor.visit::<r2r::{rust}::Service>()),");
            }
        };
        let parts: &[&str] = match kind {
            Kind::Msg => &[],
            Kind::Srv => {
                service(&format!("{package}/srv/{name}"), &path);
                &["Request", "Response"]
            }
            Kind::Action => {
                for part in ["SendGoal", "GetResult"] {
                    service(&format!("{package}/action/{name}_{part}"), &format!("{path}::{part}"));
                }
                let ros = format!("{package}/action/{name}_FeedbackMessage");
                if !is_second {
                    let _ = writeln!(
                        feedback,
                        "{ros:?} => Some(visitor.visit::<r2r::{path}::FeedbackMessage>()),"
                    );
                }
                &["Goal", "Result", "Feedback"]
            }
        };
        let mut twin = |ros: &str, part: &str| {
            if is_ours {
                let _ =
                    writeln!(twins, "visitor.visit::<crate::{own_path}{part}, r2r::{path}{part}>({ros:?});");
            }
        };
        if parts.is_empty() {
            twin(&format!("{package}/{word}/{name}"), "");
        }
        for part in parts {
            twin(&format!("{package}/{word}/{name}_{part}"), &format!("::{part}"));
        }
        if let Some(interface) = interfaces.get(package).and_then(|kinds| kinds.get(&kind)?.get(name)) {
            let own = format!("{package}/{word}/{name}");
            let mut within: BTreeSet<String> = parts.iter().map(|part| format!("{own}_{part}")).collect();
            within.extend(parts.is_empty().then(|| own.clone()));
            contained(interfaces, interface, &mut within);
            let within: Vec<_> = within.into_iter().collect();
            let shared = format!("{in_graph}/{word}/{name}");
            let _ = writeln!(
                definitions,
                "Definition {{ name: {own:?}, in_graph: {shared:?}, parts: &{within:?} }},"
            );
        }
    }
    format!(
        "fn service<V: ServiceVisitor>(type_name: &str, visitor: V) -> Option<V::Output> {{\n\
         match type_name {{\n{services}_ => None,\n}}\n}}\n\
         fn feedback<V: MessageVisitor>(type_name: &str, visitor: V) -> Option<V::Output> {{\n\
         match type_name {{\n{feedback}_ => None,\n}}\n}}\n\
         fn twins(visitor: &mut impl TwinVisitor) {{\n{twins}}}\n\
         const DEFINITIONS: &[Definition] = &[\n{definitions}];\n\
         const WITHOUT: &[&str] = &{missing:?};\n",
        missing = missing.iter().collect::<Vec<_>>(),
    )
}
