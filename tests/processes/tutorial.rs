//! The tutorial's commands, each as it stands there, in one folder; what they print is compared by its shape.

use crate::harness::{PREHEND, one_at_a_time, repository};
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;

/// Longest time of one command.
const PATIENCE: Duration = Duration::from_secs(240);

/// A command with the lines of its output that must be there, in order, and its exit code; `None` where any will do.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    lines: Vec<String>,
    code: Option<i32>,
}

/// The steps of the blocks that are marked `console`: `$ ` begins a command, `> ` goes on with it.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            let open = steps.last_mut();
            match (line.strip_prefix("$ "), line.strip_prefix("> "), open) {
                (Some(command), ..) => {
                    steps.push(Step { command: command.to_owned(), lines: Vec::new(), code: Some(0) });
                }
                (None, Some(more), Some(step)) => {
                    step.command.push('\n');
                    step.command.push_str(more);
                }
                (None, None, Some(step)) => match line.strip_prefix("[exit code ") {
                    Some(code) => step.code = code.trim_end_matches(']').parse().ok(),
                    None => step.lines.push(line.to_owned()),
                },
                (None, _, None) => panic!("a block begins without a command: {line}"),
            }
        }
    }
    steps
}

/// Whether a line has the shape of another: `...` stands for anything.
fn fits(shape: &str, line: &str) -> bool {
    let parts: Vec<&str> = shape.split("...").collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    if parts.len() == 1 {
        return shape == line;
    }
    let Some(mut rest) = line.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

async fn run(step: &Step, folder: &Path) {
    let program = Path::new(PREHEND).parent().expect("a folder of programs");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &step.command])
        .current_dir(folder)
        .env("PATH", path)
        .env("PREHEND_SHARE", repository())
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("NO_COLOR", "1")
        .env_remove("ROS_DOMAIN_ID")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, output).await;
    let output =
        output.unwrap_or_else(|_| panic!("$ {}\nnot within {PATIENCE:?}", step.command)).expect("bash");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    if let Some(code) = step.code {
        assert_eq!(output.status.code(), Some(code), "$ {}\n{text}", step.command);
    }
    let mut printed = text.lines();
    for shape in &step.lines {
        assert!(
            printed.any(|line| fits(shape, line)),
            "$ {}\nno line (any more) like\n{shape}\nin\n{text}",
            step.command
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_tutorial_does_what_it_says() {
    let _turn = one_at_a_time().await;
    let text = std::fs::read_to_string(repository().join("docs/tutorial.md")).expect("the tutorial");
    let steps = steps(&text);
    assert!(steps.len() > 12, "{} commands are too few: are the blocks marked `console`?", steps.len());
    let folder = tempfile::tempdir().expect("a folder");
    for step in &steps {
        run(step, folder.path()).await;
    }
}

#[test]
fn a_block_is_read_and_compared_by_its_shape() {
    let text = "words\n```console\n$ a <<'X'\n> b\n> X\nout ...\n[exit code 2]\n$ c\n```\n```\n$ no\n```\n";
    let expected = [
        Step { command: "a <<'X'\nb\nX".to_owned(), lines: vec!["out ...".to_owned()], code: Some(2) },
        Step { command: "c".to_owned(), lines: Vec::new(), code: Some(0) },
    ];
    assert_eq!(steps(text), expected);
    assert!(fits("v ... (omega ...)", "v 0.93 (omega 0.8)") && fits("...", "") && fits("a", "a"));
    assert!(!fits("v ... (omega ...)", "v 0.93 omega 0.8)") && !fits("a", "ab") && !fits("...b", "ba"));
}
