//! Names as ROS resolves them: expanded by the node's name and namespace, then remapped.
//!
//! `/a/b` is absolute, `b` is below the node's namespace, `~/b` below the node. The first rule that fits a name replaces it, once.
//! An action is remapped as a whole: its services and topics follow it.

use crate::backend::check_node_name;
use crate::{Remap, RemapTarget, RosError};

/// What a name names; rules may be for one of them only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Topic,
    Service,
    Action,
}

/// The names of one node.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// `/namespace/name`.
    node: String,
    rules: Vec<Remap>,
}

fn expand(node: &str, name: &str) -> String {
    let namespace = node.rsplit_once('/').map_or("", |(namespace, _)| namespace);
    match name.strip_prefix('~') {
        Some("") => node.to_owned(),
        Some(private) if private.starts_with('/') => format!("{node}{private}"),
        _ if name.starts_with('/') => name.to_owned(),
        _ => format!("{namespace}/{name}"),
    }
}

impl Names {
    /// The names of node `name` in `namespace`, each of which a rule may replace.
    ///
    /// Errors: [`RosError::InvalidName`].
    pub(crate) fn of_node(namespace: &str, name: &str, rules: &[Remap]) -> Result<Self, RosError> {
        let replaced = |target: RemapTarget, old: &str| {
            let fits = |rule: &&Remap| rule.target == target && rule.is_for(name);
            rules.iter().find(fits).map_or_else(|| old.to_owned(), |rule| rule.to.clone())
        };
        let new_name = replaced(RemapTarget::NodeName, name);
        let namespace = replaced(RemapTarget::Namespace, namespace);
        let node = check_node_name(namespace.trim_end_matches('/'), &new_name)?;
        // Rules for one node know it by the name it has now; those of its namespace by either.
        let rules = rules.iter().filter(|rule| rule.is_for(&new_name)).cloned().collect();
        Ok(Self { node, rules })
    }

    /// `/namespace/name` of the node.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// The absolute name that `name` means.
    pub(crate) fn resolve(&self, kind: Kind, name: &str) -> String {
        let full = expand(&self.node, name);
        let fits = |rule: &&Remap| {
            let of_kind = match rule.target {
                RemapTarget::Any => true,
                RemapTarget::Topic => kind == Kind::Topic,
                RemapTarget::Service => kind == Kind::Service,
                RemapTarget::NodeName | RemapTarget::Namespace => false,
            };
            of_kind && expand(&self.node, &rule.from) == full
        };
        self.rules.iter().find(fits).map_or(full, |rule| expand(&self.node, &rule.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RosArguments;

    fn names(rules: &[&str]) -> Names {
        let line = std::iter::once("--ros-args").chain(rules.iter().flat_map(|rule| ["-r", *rule]));
        let (_, arguments) = RosArguments::split(line.map(Into::into)).expect("rules");
        Names::of_node("/prehend", "skills", &arguments.remaps).expect("names")
    }

    #[test]
    fn names_are_expanded() {
        for (name, expected) in [
            ("/joint_states", "/joint_states"),
            ("goal", "/prehend/goal"),
            ("verifier/gate", "/prehend/verifier/gate"),
            ("~/get_state", "/prehend/skills/get_state"),
            ("~", "/prehend/skills"),
        ] {
            assert_eq!(names(&[]).resolve(Kind::Topic, name), expected);
        }
        let root = Names::of_node("", "skills", &[]).expect("names");
        assert_eq!(root.resolve(Kind::Topic, "goal"), "/goal");
    }

    #[test]
    fn the_first_rule_that_fits_wins_once() {
        let check = |rules: &[&str], kind, name: &str, expected: &str| {
            assert_eq!(names(rules).resolve(kind, name), expected, "{rules:?} {name}");
        };
        check(&["/tf:=/robot1/tf"], Kind::Topic, "/tf", "/robot1/tf");
        check(&["/tf:=tf"], Kind::Topic, "/tf", "/prehend/tf");
        check(&["goal:=/other"], Kind::Service, "goal", "/other");
        check(&["/prehend/goal:=other"], Kind::Service, "goal", "/prehend/other");
        check(&["a:=b", "b:=c"], Kind::Topic, "a", "/prehend/b");
        check(&["a:=b", "a:=c"], Kind::Topic, "a", "/prehend/b");
        check(&["~/a:=~/b"], Kind::Topic, "~/a", "/prehend/skills/b");
        check(&["skills:a:=b"], Kind::Topic, "a", "/prehend/b");
        check(&["agent:a:=b"], Kind::Topic, "a", "/prehend/a");
        check(&["rostopic://a:=b"], Kind::Topic, "a", "/prehend/b");
        check(&["rostopic://a:=b"], Kind::Service, "a", "/prehend/a");
        check(&["skills:rosservice://a:=b"], Kind::Service, "a", "/prehend/b");
        check(&["/move_action:=/robot1/move_action"], Kind::Action, "/move_action", "/robot1/move_action");
        check(&["/move:=/other"], Kind::Action, "/move_action", "/move_action");
    }

    #[test]
    fn node_name_and_namespace_are_remapped() {
        let check = |rules: &[&str], expected: &str| assert_eq!(names(rules).node(), expected, "{rules:?}");
        check(&["__ns:=/robot1/prehend"], "/robot1/prehend/skills");
        check(&["__ns:=/"], "/skills");
        check(&["__node:=arm"], "/prehend/arm");
        check(&["__name:=arm", "__ns:=/robot1"], "/robot1/arm");
        check(&["skills:__node:=arm"], "/prehend/arm");
        check(&["agent:__ns:=/robot1"], "/prehend/skills");
        assert_eq!(names(&["__ns:=/robot1", "__node:=arm", "a:=b"]).resolve(Kind::Topic, "a"), "/robot1/b");
        let rule = Remap::parse("__ns:=/no-namespace").expect("a rule");
        assert!(matches!(Names::of_node("", "a", &[rule]), Err(RosError::InvalidName { .. })));
    }
}
