//! `--ros-args` and the namespace, as every command takes them that joins a graph.

use clap::Args;
use prehend_ros::{ArgumentError, RosArguments};
use std::ffi::OsString;

/// A word of `--ros-args`, on its way through the command line of a subcommand.
const WORD: &str = "--ros-word";

/// Where in ROS a graph is; what stands after `--ros-args` goes to each of its nodes.
#[derive(Clone, Debug, Default, Args)]
pub struct RosOptions {
    /// Namespace of the graph, as /robot1/prehend [default: /prehend]; more by --ros-args -r FROM:=TO -p NAME:=VALUE
    #[arg(long, value_name = "NS")]
    pub namespace: Option<String>,
    /// What stands after --ros-args.
    #[arg(long = "ros-word", hide = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<String>,
}

impl RosOptions {
    /// What the nodes are told.
    ///
    /// Errors: [`ArgumentError`].
    pub fn arguments(&self) -> Result<RosArguments, ArgumentError> {
        let words = std::iter::once("--ros-args").chain(self.words.iter().map(String::as_str));
        let (_, mut arguments) = RosArguments::split(words.map(OsString::from))?;
        if let Some(namespace) = &self.namespace {
            arguments.add_remap(&format!("__ns:={namespace}"))?;
        }
        Ok(arguments)
    }
}

/// The command line with what stands between `--ros-args` and `--` made into hidden options at its end, and what that is.
///
/// Errors: [`ArgumentError`].
pub fn with_ros_words(line: Vec<OsString>) -> Result<(Vec<OsString>, RosArguments), ArgumentError> {
    let (mut rest, arguments) = RosArguments::split(line)?;
    rest.extend(arguments.words().into_iter().skip(1).map(|word| OsString::from(format!("{WORD}={word}"))));
    Ok((rest, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn words_of_ros_arrive_at_the_node() {
        let line = "prehend node skills --ros-args -r __node:=arm -p a:=-1 -- --namespace /robot1";
        let (line, _) = with_ros_words(line.split(' ').map(OsString::from).collect()).expect("words");
        let Command::Node(args) = Cli::try_parse_from(line).expect("a command line").command else {
            panic!("the command `node`")
        };
        let arguments = args.ros.arguments().expect("arguments");
        assert_eq!(arguments.params_of("arm"), ["a:=-1"]);
        assert_eq!(arguments.words().join(" "), "--ros-args -r __node:=arm -p a:=-1 -r __ns:=/robot1");
        assert!(with_ros_words(["--ros-args", "-x"].map(OsString::from).to_vec()).is_err());
    }
}
