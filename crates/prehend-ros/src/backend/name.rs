//! Names of nodes and endpoints, and the rules of ROS for them.

use crate::RosError;

/// What an endpoint is called: topic `/joint_states` of type `sensor_msgs/msg/JointState`, service `/prehend/stop` of type
/// `prehend_interfaces/srv/Stop`, service `/count/_action/send_goal` of type `example_interfaces/action/Fibonacci_SendGoal`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndpointName {
    /// Absolute.
    pub(crate) name: String,
    /// `PACKAGE/KIND/NAME`.
    pub(crate) type_name: String,
    /// The package here that defines the fields: `nav2_msgs_humble` for a type of `nav2_msgs`; usually the type's own.
    pub(crate) layout: String,
}

impl EndpointName {
    /// The endpoint of an absolute name.
    ///
    /// Errors: [`RosError::InvalidName`].
    pub(crate) fn of(name: &str, type_name: String) -> Result<Self, RosError> {
        check(name).map_err(|reason| RosError::InvalidName { name: name.to_owned(), reason })?;
        let layout = type_name.split('/').next().unwrap_or_default().to_owned();
        Ok(Self { name: name.to_owned(), type_name, layout })
    }

    /// The same with the fields of another package here.
    pub(crate) fn laid_out_as(self, package: &str) -> Self {
        Self { layout: package.to_owned(), ..self }
    }
}

/// The fully qualified name of node `name` in `namespace` (empty is the root).
///
/// Errors: [`RosError::InvalidName`].
pub(crate) fn check_node_name(namespace: &str, name: &str) -> Result<String, RosError> {
    let rooted = if namespace.starts_with('/') { namespace.to_owned() } else { format!("/{namespace}") };
    let full = if rooted == "/" { format!("/{name}") } else { format!("{rooted}/{name}") };
    let invalid = |reason| RosError::InvalidName { name: format!("{namespace}/{name}"), reason };
    if name.contains('/') {
        return Err(invalid("a node's own name has no slash".to_owned()));
    }
    check(&full).map_err(invalid)?;
    Ok(full)
}

/// Why an absolute name is none.
fn check(absolute: &str) -> Result<(), String> {
    let Some(relative) = absolute.strip_prefix('/') else { return Err("it is not absolute".to_owned()) };
    for token in relative.split('/') {
        let Some(first) = token.chars().next() else {
            return Err("it is empty, or has an empty part between slashes".to_owned());
        };
        if let Some(bad) = token.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
            return Err(format!("{bad:?} is none of the letters a to z, A to Z, digits and underscores"));
        }
        if first.is_ascii_digit() {
            return Err(format!("`{token}` begins with a digit"));
        }
        if token.contains("__") {
            return Err(format!("`{token}` has two underscores in a row"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_names() {
        let check = |namespace: &str, name: &str, expected: Option<&str>| {
            let full = check_node_name(namespace, name);
            assert_eq!(full.as_deref().ok(), expected, "{namespace:?} {name:?}: {full:?}");
        };
        check("", "agent", Some("/agent"));
        check("/", "agent", Some("/agent"));
        check("/prehend", "agent", Some("/prehend/agent"));
        check("prehend", "agent", Some("/prehend/agent"));
        check("/a/b", "_hidden", Some("/a/b/_hidden"));
        for (namespace, name) in [
            ("", ""),
            ("/a", "b/c"),
            ("/a/", "b"),
            ("//a", "b"),
            ("/a", "1b"),
            ("/a", "b c"),
            ("/ä", "b"),
            ("", "a__b"),
        ] {
            check(namespace, name, None);
        }
    }

    #[test]
    fn endpoint_names() {
        let check = |name: &str, expected: Option<&str>| {
            let named = EndpointName::of(name, "a_msgs/msg/A".to_owned());
            let found = named.as_ref().map(|named| named.name.as_str()).ok();
            assert_eq!(found, expected, "{name:?}: {named:?}");
        };
        check("/joint_states", Some("/joint_states"));
        check("/count/_action/send_goal", Some("/count/_action/send_goal"));
        for name in ["", "/", "a", "~/a", "a b", "/a//b", "/a/", "/1a", "/ä", "a\0b"] {
            check(name, None);
        }
    }
}
