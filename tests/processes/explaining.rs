//! The commands that need no robot: a run explained, completions, manual pages, a folder to begin from.

use crate::harness::{json, prehend, text};

/// Traces of real runs.
fn trace_of(name: &str) -> String {
    format!("crates/prehend-explain/tests/runs/{name}.jsonl")
}

#[test]
fn a_run_is_explained_and_questions_about_it_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("report.html");
    let (trace, page_name) = (trace_of("refused"), page.display().to_string());
    let output = prehend(&["explain", &trace, "--out", &page_name]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(">>") && text(&output.stdout).contains("would have changed it"));
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("What would have changed it") && !html.contains("src=\"http"));

    let output = prehend(&["explain", &trace, "why did you refuse?", "--json"]);
    assert_eq!(json(&output)["answer"]["asked"], "refuse");
    assert!(text(&output.stderr).contains("What would have changed it"));

    let output = prehend(&["explain", &trace, "sing a song"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("why did you stop?"), "{}", text(&output.stdout));

    let output = prehend(&["explain", "crates"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("trace.jsonl"), "{}", text(&output.stderr));
    let run = folder.path().join("seed-000007");
    std::fs::create_dir(&run).expect("a run");
    std::fs::write(
        run.join("trace.jsonl"),
        "{\"t\": 1, \"kind\": \"goal\", \"name\": \"started\", \"message\": \"go\"}\n{\"t\"",
    )
    .expect("a trace");
    let output = prehend(&["explain", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("seed-000007"), "{}", text(&output.stderr));
    let output = prehend(&["explain", &run.display().to_string()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("cut off"), "{}", text(&output.stdout));
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = prehend(&["completions", shell]);
        assert!(output.status.success() && text(&output.stdout).contains("explain"), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = prehend(&["man", "--out", &folder.path().join("man1").display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (page, words) in
        [("prehend", "explain"), ("prehend-demo", "disturb"), ("prehend-eval-tabletop", "hard")]
    {
        let path = folder.path().join(format!("man1/{page}.1"));
        assert!(std::fs::read_to_string(path).expect("a page").contains(words), "{page}");
    }
}

#[test]
fn a_folder_for_a_robot_of_ones_own_is_made_once_and_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for robot in ["xarm6", "stretch", "ranger_xarm6"] {
        let path = folder.path().join(robot);
        let name = path.display().to_string();
        let output = prehend(&["init", &name, "--robot", robot]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for file in ["robot.yaml", "robot.urdf", "scene.yaml", "nodes/verifier.yaml", "README.md"] {
            assert!(path.join(file).is_file(), "{robot}: {file}");
        }
        let scene = path.join("scene.yaml").display().to_string();
        assert!(prehend(&["scene", "check", &scene]).status.success(), "{robot}");
        let own = prehend_robots::RobotConfig::load(&path.join("robot.yaml")).expect("a robot file");
        assert_eq!(own.urdf, path.join("robot.urdf"));
        assert_eq!(prehend(&["init", &name]).status.code(), Some(3), "a second time");
    }
    let output = prehend(&["init", &folder.path().join("x").display().to_string(), "--robot", "hal9000"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("ranger_xarm6, stretch, xarm6"), "{}", text(&output.stderr));
}
