//! `--ros-args`: what ROS tools and launch files tell a node on its command line.
//!
//! ```
//! use prehend_ros::RosArguments;
//!
//! let line = ["object_map", "--supervised", "--ros-args", "-r", "__ns:=/robot1/prehend", "-p", "frames_per_update:=5"];
//! let (rest, ros) = RosArguments::split(line.map(Into::into)).expect("a command line");
//! assert_eq!(rest, ["object_map", "--supervised"]);
//! assert_eq!(ros.remaps.len(), 1);
//! ```

use crate::Severity;
use prehend_config::nearest;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a rule replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemapTarget {
    /// Topics, services and actions of a name.
    Any,
    /// Topics of a name (`rostopic://`).
    Topic,
    /// Services of a name (`rosservice://`).
    Service,
    /// The name of the node (`__node`).
    NodeName,
    /// The namespace of the node (`__ns`).
    Namespace,
}

/// One rule `[node:]from:=to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remap {
    /// The node it is for; `None`: every node.
    pub node: Option<String>,
    /// What it replaces.
    pub target: RemapTarget,
    /// The name it replaces, as it was written; empty for the node's own names.
    pub from: String,
    /// The name instead, as it was written.
    pub to: String,
}

impl Remap {
    /// Reads a rule; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (left, to) = text.split_once(":=")?;
        let (node, from) = match left.split_once(':') {
            Some((_, rest)) if rest.starts_with("//") => (None, left),
            Some((node, from)) => (Some(node), from),
            None => (None, left),
        };
        let (target, from) = match from {
            "__node" | "__name" => (RemapTarget::NodeName, ""),
            "__ns" => (RemapTarget::Namespace, ""),
            _ => match (from.strip_prefix("rostopic://"), from.strip_prefix("rosservice://")) {
                (Some(topic), _) => (RemapTarget::Topic, topic),
                (None, Some(service)) => (RemapTarget::Service, service),
                (None, None) => (RemapTarget::Any, from),
            },
        };
        let own = matches!(target, RemapTarget::NodeName | RemapTarget::Namespace);
        let named = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        if !named(to) || !(own || named(from)) || node.is_some_and(|node| !named(node)) {
            return None;
        }
        Some(Self { node: node.map(str::to_owned), target, from: from.to_owned(), to: to.to_owned() })
    }

    /// Whether the rule is for the node of this name.
    pub fn is_for(&self, name: &str) -> bool {
        self.node.as_deref().is_none_or(|node| node == name)
    }
}

/// Why a command line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// An option that ROS does not know.
    #[error("--ros-args: unknown argument `{argument}`{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The argument.
        argument: String,
        /// The known option that is spelt most like it.
        nearest: Option<String>,
    },
    /// An option without its value.
    #[error("--ros-args: `{option}` needs a value")]
    NoValue {
        /// The option.
        option: String,
    },
    /// A value that is none.
    #[error("--ros-args: `{value}` after `{option}`: expected {expected}")]
    BadValue {
        /// The option.
        option: String,
        /// The value as found.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// What a command line says between `--ros-args` and `--`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosArguments {
    /// Rules for names (`-r`), the first that fits wins.
    pub remaps: Vec<Remap>,
    /// Parameter files (`--params-file`), later ones win.
    pub params_files: Vec<PathBuf>,
    /// Parameters (`-p`): the node they are for, and `name:=value`.
    pub params: Vec<(Option<String>, String)>,
    /// Least severity that is logged (`--log-level`): of a logger, or of all.
    pub log_levels: Vec<(Option<String>, Severity)>,
    /// Whether logs go to `/rosout`, when it is said.
    pub rosout_logs: Option<bool>,
    /// Whether logs go to stderr, when it is said.
    pub stdout_logs: Option<bool>,
    /// What was said, for other processes.
    words: Vec<String>,
}

const OPTIONS: [&str; 15] = [
    "-r",
    "--remap",
    "-p",
    "--param",
    "--params-file",
    "--log-level",
    "-e",
    "--enclave",
    "--log-config-file",
    "--enable-rosout-logs",
    "--disable-rosout-logs",
    "--enable-stdout-logs",
    "--disable-stdout-logs",
    "--enable-external-lib-logs",
    "--disable-external-lib-logs",
];

impl RosArguments {
    /// Splits a command line into what is not for ROS, in its order, and what is.
    ///
    /// Errors: [`ArgumentError`].
    pub fn split(line: impl IntoIterator<Item = OsString>) -> Result<(Vec<OsString>, Self), ArgumentError> {
        let mut rest = Vec::new();
        let mut words = Vec::new();
        let mut for_ros = false;
        for word in line {
            if word == "--ros-args" {
                for_ros = true;
            } else if for_ros && word == "--" {
                for_ros = false;
            } else if for_ros {
                words.push(word.to_string_lossy().into_owned());
            } else {
                rest.push(word);
            }
        }
        Ok((rest, Self::read(words)?))
    }

    fn read(words: Vec<String>) -> Result<Self, ArgumentError> {
        let mut this = Self::default();
        let mut iterator = words.iter();
        while let Some(option) = iterator.next() {
            let flag = match option.as_str() {
                "--enable-rosout-logs" => Some((&mut this.rosout_logs, true)),
                "--disable-rosout-logs" => Some((&mut this.rosout_logs, false)),
                "--enable-stdout-logs" => Some((&mut this.stdout_logs, true)),
                "--disable-stdout-logs" => Some((&mut this.stdout_logs, false)),
                _ => None,
            };
            if let Some((flag, value)) = flag {
                *flag = Some(value);
                continue;
            }
            if option.ends_with("able-external-lib-logs") && OPTIONS.contains(&option.as_str()) {
                continue;
            }
            if !OPTIONS.contains(&option.as_str()) {
                let nearest = nearest(option, OPTIONS).map(str::to_owned);
                return Err(ArgumentError::Unknown { argument: option.clone(), nearest });
            }
            let no_value = || ArgumentError::NoValue { option: option.clone() };
            let value = iterator.next().ok_or_else(no_value)?;
            this.take(option, value)?;
        }
        this.words = words;
        Ok(this)
    }

    fn take(&mut self, option: &str, value: &str) -> Result<(), ArgumentError> {
        let bad = |expected| ArgumentError::BadValue {
            option: option.to_owned(),
            value: value.to_owned(),
            expected,
        };
        match option {
            "-r" | "--remap" => {
                self.remaps.push(Remap::parse(value).ok_or_else(|| bad("a rule [node:]from:=to"))?);
            }
            "-p" | "--param" => {
                let wrong = || bad("a parameter [node:]name:=value");
                let (left, text) = value.split_once(":=").ok_or_else(wrong)?;
                let (node, name) = match left.split_once(':') {
                    Some((node, name)) => (Some(node.to_owned()), name),
                    None => (None, left),
                };
                if name.is_empty() {
                    return Err(wrong());
                }
                self.params.push((node, format!("{name}:={text}")));
            }
            "--params-file" => self.params_files.push(value.into()),
            "--log-level" => {
                let (logger, level) = match value.split_once(":=") {
                    Some((logger, level)) => (Some(logger.to_owned()), level),
                    None => (None, value),
                };
                let level =
                    Severity::parse(level).ok_or_else(|| bad("[logger:=]debug|info|warn|error|fatal"))?;
                self.log_levels.push((logger, level));
            }
            // Keystores of DDS Security and configurations of C++ loggers mean nothing here.
            _ => {}
        }
        Ok(())
    }

    /// The same for another process: `--ros-args` and all that was said; empty when nothing was.
    pub fn words(&self) -> Vec<String> {
        if self.words.is_empty() {
            return Vec::new();
        }
        std::iter::once("--ros-args".to_owned()).chain(self.words.iter().cloned()).collect()
    }

    /// Only the namespace and the names of topics, services and actions: for a node that looks at the others and is none of them.
    pub fn for_observer(&self) -> Self {
        let others = |rule: &&Remap| rule.target != RemapTarget::NodeName;
        Self { remaps: self.remaps.iter().filter(others).cloned().collect(), ..Self::default() }
    }

    /// Adds one more rule, behind those that are there.
    ///
    /// Errors: [`ArgumentError::BadValue`].
    pub fn add_remap(&mut self, rule: &str) -> Result<(), ArgumentError> {
        self.take("-r", rule)?;
        self.words.extend(["-r".to_owned(), rule.to_owned()]);
        Ok(())
    }

    /// `name:=value` of every parameter for the node of this name, in their order.
    pub fn params_of(&self, name: &str) -> Vec<String> {
        let ours = self.params.iter().filter(|(node, _)| node.as_deref().is_none_or(|node| node == name));
        ours.map(|(_, text)| text.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<(Vec<OsString>, RosArguments), ArgumentError> {
        RosArguments::split(line.split(' ').map(OsString::from))
    }

    #[test]
    fn everything_a_launch_file_says() {
        let line = "prehend node skills --ros-args -r __node:=arm -r __ns:=/robot1/prehend --params-file /tmp/p.yaml \
                    -p use_sim_time:=true -p agent:retries:=1 --log-level debug --log-level rcl:=error -e /a \
                    --disable-rosout-logs --enable-external-lib-logs -- --supervised";
        let (rest, ros) = split(line).expect("valid");
        assert_eq!(rest, ["prehend", "node", "skills", "--supervised"]);
        assert_eq!(ros.remaps.len(), 2);
        assert_eq!(ros.params_files, [PathBuf::from("/tmp/p.yaml")]);
        assert_eq!(ros.params_of("skills"), ["use_sim_time:=true"]);
        assert_eq!(ros.params_of("agent"), ["use_sim_time:=true", "retries:=1"]);
        assert_eq!(ros.log_levels, [(None, Severity::Debug), (Some("rcl".to_owned()), Severity::Error)]);
        assert_eq!((ros.rosout_logs, ros.stdout_logs), (Some(false), None));
        let again = RosArguments::split(ros.words().into_iter().map(OsString::from)).expect("valid");
        assert_eq!(again, (Vec::new(), ros));
        assert_eq!(split("prehend demo").expect("valid").1, RosArguments::default());
        assert!(RosArguments::default().words().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, message) in [
            ("--ros-args --remp a:=b", "did you mean `--remap`?"),
            ("--ros-args -r", "`-r` needs a value"),
            ("--ros-args -r a=b", "expected a rule"),
            ("--ros-args -r a:=", "expected a rule"),
            ("--ros-args -r :=b", "expected a rule"),
            ("--ros-args -p a", "expected a parameter"),
            ("--ros-args -p :=1", "expected a parameter"),
            ("--ros-args --log-level loud", "debug|info|warn"),
            ("--ros-args stray", "unknown argument `stray`"),
        ] {
            let found = split(line).expect_err(line).to_string();
            assert!(found.contains(message), "{line}: {found}");
        }
    }
}
