//! The executable as a user or a script has it.

use crate::harness::{PREHEND, json, prehend, repository, text};
use crate::scripted::{Heard, Reply, ScriptedModel, nowhere};
use prehend_testing::{Needs, skipped};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn help_teaches() {
    let output = prehend(&["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    for word in ["Examples:", "Exit codes:", "prehend demo", "ROS_DOMAIN_ID"] {
        assert!(help.contains(word), "{word} is missing in:\n{help}");
    }
}

#[test]
fn a_wrong_command_line_has_its_own_code_and_says_so_on_stderr() {
    for arguments in [&["demo", "--speed", "fast"][..], &["dance"], &[]] {
        let output = prehend(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_vocabulary_with_errors_is_told_before_anything_begins() {
    let share = tempfile::tempdir().expect("a folder");
    let language = share.path().join("config/language");
    std::fs::create_dir_all(&language).expect("a folder");
    let started = || {
        let mut command = Command::new(PREHEND);
        command.args(["completions", "bash"]).env("PREHEND_SHARE", share.path()).output().expect("it runs")
    };
    assert_eq!(started().status.code(), Some(0), "the built-in words do");
    std::fs::write(language.join("furniture.yaml"), "drawers: [Top Drawer]\n").expect("written");
    let output = started();
    assert_eq!(output.status.code(), Some(3));
    for wanted in ["furniture.yaml:1:", "one word", "panels"] {
        assert!(text(&output.stderr).contains(wanted), "{wanted} in {}", text(&output.stderr));
    }
}

#[test]
#[cfg(not(feature = "viewer"))]
fn a_program_without_the_viewer_says_how_to_get_one() {
    for arguments in [&["view"][..], &["view", "--out", "a.png"], &["demo", "--view"], &["up", "--view"]] {
        let output = prehend(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("cargo build --release --features viewer"), "{arguments:?}: {stderr}");
    }
}

#[test]
#[cfg(feature = "viewer")]
fn what_cannot_be_viewed_is_said_before_anything_is_drawn() {
    for arguments in [
        &["view", "--map", "no/such"][..],
        &["view", "--recording", "no/such"],
        &["view", "--run", "no/such"],
    ] {
        let output = prehend(&[arguments, &["--out", "no/such.png"]].concat());
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(text(&output.stderr).contains("no/such"), "{}", text(&output.stderr));
    }
    for (arguments, expected) in [
        (&["view", "--at", "3"][..], "--recording or --run"),
        (&["view", "--building", "home"], "--memory"),
        (&["view", "--run", "runs/X", "--map", "map/"], "--map"),
        (&["view", "--hide", "robot"], "robot"),
    ] {
        let output = prehend(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

/// A run that was not recorded, by its trace alone.
#[test]
#[cfg(feature = "viewer")]
fn each_step_of_a_run_is_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = r#"{"t":1.0,"kind":"goal","name":"started","status":"started","message":"take the mug"}
{"t":2.0,"kind":"tool","name":"stop","status":"ok","message":"says nothing here"}
{"t":3.0,"kind":"goal","name":"finished","status":"failed","message":"there is no mug"}"#;
    std::fs::write(folder.path().join("trace.jsonl"), trace).expect("written");
    let (run, out) =
        (folder.path().display().to_string(), folder.path().join("steps/").display().to_string());
    let output = prehend(&["view", "--run", &run, "--out", &out, "--width", "320", "--height", "240"]);
    if text(&output.stderr).contains("nothing here can draw") {
        skipped(Needs::Vulkan, text(&output.stderr));
        return;
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let entries = std::fs::read_dir(folder.path().join("steps")).expect("pictures");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, ["0001_goal_started.png", "0002_goal_finished_failed.png"]);
}

#[test]
fn json_is_one_object_whatever_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").expect("the file");
    let no_folder = file.join("run").display().to_string();
    let cases: [(&[&str], Option<&str>, &str); 6] = [
        (&["demo", "--json", "--speed", "fast"], None, "bad_arguments"),
        (&["demo", "--json", "--goal", "go home", "--dance"], None, "bad_arguments"),
        (&["goal", "--json"], None, "bad_arguments"),
        (&["demo", "--json", "--scene", "no/such/file.yaml"], None, "bad_scene"),
        (&["demo", "--json", "--out", &no_folder], None, "internal"),
        (
            &["demo", "--json", "--out", &folder.path().join("run").display().to_string()],
            Some("none"),
            "not_ready",
        ),
    ];
    for (arguments, domain, reason) in cases {
        let mut command = Command::new(PREHEND);
        command.args(arguments).current_dir(repository()).env_remove("ROS_DOMAIN_ID");
        command.envs(domain.map(|id| ("ROS_DOMAIN_ID", id)));
        let output = command.output().expect("the executable runs");
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        let report = json(&output);
        assert_eq!(
            keys(&report),
            "goal message model outcome permits physics_ok planner question reason run_dir seconds"
        );
        assert_eq!(keys(&report["permits"]), "asked granted refused");
        assert_eq!(keys(&report["seconds"]), "first_motion ready total");
        assert_eq!(
            (&report["outcome"], &report["reason"]),
            (&"failed".into(), &reason.into()),
            "{arguments:?}"
        );
        assert!(!report["message"].as_str().unwrap_or_default().is_empty(), "{report}");
    }
}

/// What can never start is told once, not once for each start.
#[test]
fn starts_of_no_scene_end_at_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().display().to_string();
    let output = prehend(&["eval", "starts", "--starts", "3", "--scene", "no/such/file.yaml", "--out", &out]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).matches("no/such/file.yaml").count(), 1, "{}", text(&output.stderr));
}

#[test]
fn a_start_is_timed() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().display().to_string();
    let output = prehend(&["eval", "starts", "--starts", "1", "--json", "--out", &out]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = json(&output);
    assert_eq!(keys(&report), "deaf hearing_seconds hung ready seconds starts");
    assert_eq!((&report["starts"], &report["ready"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(report["deaf"], 0, "{}\n{report}", text(&output.stderr));
    for times in ["seconds", "hearing_seconds"] {
        assert!(report[times][0].as_f64().is_some_and(|seconds| seconds > 0.0), "{report}");
    }
}

fn keys(value: &Value) -> String {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}

#[test]
fn every_scene_of_the_repository_is_valid_and_can_be_drawn() {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(repository().join("config/scenes")).expect("scenes") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path.display().to_string());
        }
    }
    assert!(!files.is_empty());
    let mut arguments = vec!["scene", "check"];
    arguments.extend(files.iter().map(String::as_str));
    let output = prehend(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("scene.png");
    let output = prehend(&["scene", "show", &files[0], "--out", &picture.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let bytes = std::fs::read(&picture).expect("the picture");
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{} bytes", bytes.len());
}

#[test]
fn a_scene_with_errors_is_told_whole_and_nothing_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad.yaml");
    std::fs::write(&file, "name: bad\nobjets: []\nobjects:\n- {name: a, class: mug, shape: mugg, color: red, pose: {xy: [0.4, 0.0]}}\n")
        .expect("the file");
    let file = file.display().to_string();
    let output = prehend(&["scene", "check", &file]);
    assert_eq!(output.status.code(), Some(1));
    let findings = text(&output.stderr);
    assert!(findings.contains(":2:") && findings.contains("did you mean `objects`?"), "{findings}");
    assert!(findings.contains(":4:") && findings.contains("did you mean `mug`?"), "{findings}");

    let runs = folder.path().join("run").display().to_string();
    let output = prehend(&["demo", "--scene", &file, "--json", "--out", &runs]);
    assert_eq!(output.status.code(), Some(3));
    let report = json(&output);
    assert_eq!((report["outcome"].as_str(), report["reason"].as_str()), (Some("failed"), Some("bad_scene")));
    assert_eq!(report["run_dir"], Value::Null);
    assert!(!folder.path().join("run").exists(), "nothing was to be started");
    assert_eq!(text(&output.stderr).matches("did you mean").count(), 2);
}

#[test]
fn asking_a_graph_that_is_not_there_says_what_to_do() {
    let output = Command::new(PREHEND)
        .args(["goal", "where is the apple?", "--json"])
        .current_dir(repository())
        // No other test uses a domain above 101.
        .env("ROS_DOMAIN_ID", "231")
        .output()
        .expect("the executable runs");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("prehend up"));
    assert_eq!(json(&output)["outcome"], "failed");
}

#[test]
fn doctor_says_of_models_what_is_missing_and_what_it_must_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(PREHEND)
        .args(["doctor", "--models"])
        .current_dir(repository())
        .env("PREHEND_MODELS", folder.path())
        .env("ORT_DYLIB_PATH", "/no/such/libonnxruntime.so")
        .output()
        .expect("the executable runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    let file = folder.path().join("fastestdet/FastestDet.onnx").display().to_string();
    for words in [
        "ORT_DYLIB_PATH names /no/such/libonnxruntime.so",
        "pip install onnxruntime",
        &file,
        "it must be a FastestDet network",
        "input: exactly one float32 [batch, 3, height, width]",
        "from https://github.com/dog-qiuqiu/FastestDet",
        "it must be a Grounding DINO network",
        "input: `token_type_ids` int64 [batch, tokens] (or none)",
        "input: `txt_feats` or `text_features` float32 [1 or batch, classes, 512]",
    ] {
        assert!(report.contains(words), "{words} is missing in:\n{report}");
    }
    let wrong = folder.path().join("models.yaml");
    std::fs::write(&wrong, "models:\n  a: {kind: yolo, path: a.onnx, clases: b}\n").expect("the file");
    let output = prehend(&["doctor", "--models", "--config", &wrong.display().to_string()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("did you mean `classes`?"), "{}", text(&output.stderr));
}

#[test]
fn detect_refuses_what_it_cannot_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("white.png");
    image::RgbImage::from_pixel(8, 8, image::Rgb([255; 3])).save(&picture).expect("the picture");
    let (picture, folder) = (picture.display().to_string(), folder.path().display().to_string());
    for (arguments, code, words) in [
        (
            &["--model", "fastdet", "--image", &picture][..],
            3,
            "there is no model `fastdet`; models: fastestdet",
        ),
        (&["--prompt", "red mug", "--image", &picture], 3, "none of the models fastestdet takes prompts"),
        (&["--model", "grounding_dino", "--prompt", " , ", "--image", &picture], 3, "no prompt"),
        (&["--image", "no/such.png"], 3, "cannot read no/such.png"),
        (&["--image", "Cargo.toml"], 3, "cannot read Cargo.toml"),
        (&["--image", &picture, "--runtime", &picture], 4, "it is not an ELF file"),
        (&["--image", &picture, "--runtime", "/no/such.so"], 4, "--runtime names /no/such.so"),
    ] {
        let output = Command::new(PREHEND)
            .arg("detect")
            .args(arguments)
            .current_dir(repository())
            .env("PREHEND_MODELS", &folder)
            .output()
            .expect("the executable runs");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(text(&output.stderr).contains(words), "{arguments:?}: {}", text(&output.stderr));
    }
}

/// With the weights and the frames that are not part of the repository, where they and ONNX Runtime are at hand.
#[test]
fn detect_finds_the_cup_of_a_real_frame() {
    let shared = std::env::var_os("PREHEND_SHARED").map(std::path::PathBuf::from);
    let beside = repository().ancestors().map(|folder| folder.join("shared")).collect::<Vec<_>>();
    let Some(shared) = shared.into_iter().chain(beside).find(|folder| folder.join("models").is_dir()) else {
        skipped(Needs::Shared, "no shared folder with models; set PREHEND_SHARED to it");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("boxes.png");
    let output = Command::new(PREHEND)
        .args(["detect", "--json", "--image"])
        .arg(shared.join("data/rgbd_tabletop/blue_mug/color.png"))
        .arg("--out")
        .arg(&out)
        .current_dir(repository())
        .env("PREHEND_MODELS", shared.join("models"))
        .output()
        .expect("the executable runs");
    if output.status.code() == Some(4) && text(&output.stderr).contains("ONNX Runtime was not found") {
        skipped(Needs::OnnxRuntime, text(&output.stderr));
        return;
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = json(&output);
    assert_eq!(keys(&report), "detections height image milliseconds model width");
    let found = report["detections"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{report}");
    assert_eq!(found[0]["class"], "cup");
    assert!(std::fs::read(&out).expect("the picture").starts_with(b"\x89PNG"));
}

#[test]
fn sentences_and_parts_are_measured_without_a_robot() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lines.jsonl");
    let lines = "# a comment\n{\"goal\": \"take the apple\", \"means\": [\"pick(the apple)\"], \"group\": \"lift\"}\n{\"goal\": \"take the pear\", \"means\": []}\n";
    std::fs::write(&file, lines).expect("a file");
    let path = file.to_string_lossy().into_owned();
    let found = prehend(&["eval", "reading", &path, "--json"]);
    let figures = json(&found);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert_eq!(
        (&figures["n"], &figures["as_meant"], &figures["otherwise"]),
        (&2.into(), &1.into(), &1.into())
    );
    assert!(text(&found.stderr).contains("take the pear"));

    std::fs::write(&file, "{\"goal\": 7}\n").expect("a file");
    let broken = prehend(&["eval", "reading", &path]);
    assert_eq!(broken.status.code(), Some(3));
    assert!(text(&broken.stderr).contains("line 1"), "{}", text(&broken.stderr));

    let found = prehend(&["eval", "affordance", "--samples", "2", "--common", "0", "--json"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let figures = json(&found);
    assert_eq!(keys(&figures["methods"]), "a4_like detect_segment fixed_chain harness", "{figures}");
    assert_eq!(figures["imagination"]["right_goes_well"].as_f64(), Some(1.0), "{figures}");
    assert_eq!(keys(&figures["ablations"]), "no_imagination no_memory no_router no_verifier");
    assert_eq!(prehend(&["eval", "affordance", "--samples", "0"]).status.code(), Some(3));

    let small = ["--buildings", "1", "--rooms", "4", "--views", "96", "--instructions", "12", "--seed", "5"];
    let found = prehend(&[["eval", "memory", "--json"].as_slice(), small.as_slice()].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let figures = json(&found);
    assert_eq!((&figures["n"], &figures["unread"]), (&12.into(), &0.into()), "{figures}");
    assert_eq!(keys(&figures["methods"]), "bm25 flat memory");
    let recall = |method: &str| figures["methods"][method]["overall"]["r10"].as_f64().expect("a share");
    assert!(recall("memory") > recall("flat"), "{figures}");
    assert!(figures["errands"].is_null(), "nobody asked for them: {figures}");

    let many = ["--scale", "2500", "--questions", "20", "--writes", "100"];
    let found = prehend(&[["eval", "memory", "--json"].as_slice(), many.as_slice()].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let figures = json(&found);
    assert_eq!((&figures["scale"]["n"], &figures["scale"]["lost"]), (&2500.into(), &0.into()), "{figures}");
    assert!(figures["scale"]["recall_at_10"].as_f64() > Some(0.9), "{figures}");
}

/// A box with a lid that was seen closed and open.
fn box_with_a_lid() -> Value {
    let plate = |z: f64, tilt: f64| -> Vec<[f64; 3]> {
        (0..900)
            .map(|i| {
                let (along, across) = (0.01 * f64::from(i / 30), 0.01 * f64::from(i % 30));
                [0.8 - along * tilt.cos(), across - 0.15, z + along * tilt.sin()]
            })
            .collect()
    };
    let body: Vec<[f64; 3]> =
        (0..600).map(|i| [0.5 + 0.01 * f64::from(i % 30), -0.15, 0.01 * f64::from(i / 30)]).collect();
    let look = |tilt: f64| serde_json::json!({ "body": body, "parts": [plate(0.2, tilt)] });
    serde_json::json!({
        "name": "box_0", "class": "box", "parts": [{ "name": "lid_0", "class": "lid" }],
        "looks": [look(0.0), look(1.0)], "tracks": [], "eye": [0.0, 0.0, 0.8],
    })
}

#[test]
fn things_with_moving_parts_are_measured_without_a_robot_and_described_again_from_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("models");
    let kept = out.to_string_lossy();
    let output =
        prehend(&["eval", "articulated", "--things", "2", "--kinds", "known", "--out", &kept, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = json(&output);
    assert_eq!(report["n"], 2);
    assert!(report["joint_type"].as_f64().is_some_and(|share| share > 0.5), "{report}");
    assert!(report["faults"]["planted"].as_u64() >= Some(16), "{report}");
    assert!(report["faults"]["noticed"].as_u64() >= Some(14), "{report}");
    for number in 0..2 {
        let urdf = std::fs::read_to_string(out.join(format!("{number}.urdf"))).expect("a model");
        assert!(urdf.contains("<joint name="), "{urdf}");
    }

    let observation = box_with_a_lid();
    let described = folder.path().join("box");
    let again = |what: &str| {
        std::fs::create_dir_all(&described).expect("a folder");
        std::fs::write(described.join("observation.json"), what).expect("written");
        prehend(&["describe", "--again", "--out", &described.to_string_lossy(), "--json"])
    };
    let output = again(&observation.to_string());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let joint = &json(&output)["iterations"][1]["model"]["joints"][0];
    assert_eq!(joint["kind"], "revolute", "{joint}");
    let pictures = ["closed", "open", "recorded", "modelled", "recorded_moved", "modelled_moved"];
    let pictures = pictures.map(|name| format!("{name}.png"));
    for file in ["model.urdf", "model.sdf", "scene.yaml", "description.json", "index.html"]
        .map(str::to_owned)
        .iter()
        .chain(&pictures)
    {
        assert!(described.join(file).metadata().is_ok_and(|file| file.len() > 100), "{file}");
    }
    assert!(described.join("meshes").read_dir().is_ok_and(|files| files.count() > 0));
    let scene = prehend(&["scene", "check", &described.join("scene.yaml").to_string_lossy()]);
    assert_eq!(scene.status.code(), Some(0), "{}", text(&scene.stderr));
    let garbage = again("{\"name\": 7");
    assert_eq!(garbage.status.code(), Some(3));
    assert!(text(&garbage.stderr).contains("observation.json"), "{}", text(&garbage.stderr));
    let nothing = prehend(&["describe", "--again", "--out", &folder.path().join("empty").to_string_lossy()]);
    assert_eq!(nothing.status.code(), Some(3));
    assert!(text(&nothing.stderr).contains("without --again"), "{}", text(&nothing.stderr));
}

/// What a vision-language model says that finds the joint's axis wrong, and the whole right.
fn critic(heard: &Heard) -> String {
    let data = heard.data();
    if data["urdf"].is_null() {
        return serde_json::json!({
            "gt_description": "The lid turns up.", "pred_description": "The lid turns sideways.",
            "candidate_function_description": "A revolute joint.", "failure_reason": "joint_axis",
            "improvement_suggestion": "Turn the axis.", "realism_rating": 1,
        })
        .to_string();
    }
    let details: Vec<Value> = data["joints"]
        .as_array()
        .expect("joints")
        .iter()
        .map(|name| {
            serde_json::json!({ "joint_name": name, "type_score": 9, "position_score": 9, "reasoning": "It fits." })
        })
        .collect();
    serde_json::json!({
        "link_position_score": 9, "link_position_reasoning": "Nothing <floats>.", "joint_score": 9,
        "joint_evaluation_details": details, "success": true,
    })
    .to_string()
}

/// The opinion stands beside the description, a doubt is told, and neither it nor its absence changes a joint.
#[test]
fn a_second_opinion_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("box");
    std::fs::create_dir_all(&out).expect("a folder");
    std::fs::write(out.join("observation.json"), box_with_a_lid().to_string()).expect("written");
    let describe = |opinion: Option<&str>| {
        let asked: Vec<&str> = opinion.iter().flat_map(|file| ["--opinion", file]).collect();
        let out = out.to_string_lossy();
        let output = prehend(&[&["describe", "--again", "--out", &out, "--json"], asked.as_slice()].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (json(&output), text(&output.stderr))
    };
    let file = |base_url: &str| {
        let file = folder.path().join("describe.yaml");
        let vlm = format!("vlm: {{base_url: \"{base_url}\", model: scripted, retries: 1, backoff: 0.01}}\n");
        std::fs::write(&file, vlm).expect("written");
        file.display().to_string()
    };
    let (plain, _) = describe(None);
    assert!(plain["opinion"].is_null() && plain["joints"][0]["opinion"].is_null(), "{}", plain["joints"]);
    let is_same = |told: &Value| {
        for field in ["iterations", "best", "stop", "parts", "wishes"] {
            assert_eq!(told[field], plain[field], "{field}");
        }
    };

    let (told, said) = describe(Some("config/nodes/describe.yaml"));
    is_same(&told);
    assert!(told["opinion"].is_null() && said.contains("names no server"), "{said}");
    let (told, said) = describe(Some(&file(&nowhere())));
    is_same(&told);
    assert!(
        told["opinion"].is_null() && said.contains("no opinion of lid_0 joint: no answer in 2"),
        "{said}"
    );

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(ScriptedModel::answering(|heard| Reply::text(critic(heard))));
    let (told, said) = describe(Some(&file(&server.base_url)));
    is_same(&told);
    assert_eq!(server.heard().len(), 2, "one joint, and the whole");
    assert_eq!(told["joints"][0]["opinion"]["failure_reason"], "joint_axis");
    assert_eq!(told["opinion"]["success"], true);
    assert!(said.contains("view differs: lid_0 joint: it says joint_axis (1 of 10"), "{said}");
    let kept = std::fs::read_to_string(out.join("description.json")).expect("a description");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), told);
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("view differs: lid_0 joint") && page.contains("Nothing &lt;floats&gt;."), "{page}");

    let server = runtime.block_on(ScriptedModel::start(vec![Reply::text("It is fine.")]));
    let (told, said) = describe(Some(&file(&server.base_url)));
    is_same(&told);
    assert!(
        told["opinion"].is_null() && said.contains("no opinion of the whole: the model's answer"),
        "{said}"
    );
    let wrong = folder.path().join("wrong.yaml");
    std::fs::write(&wrong, "vlm: {base_ulr: \"http://127.0.0.1:1/v1\"}").expect("written");
    let output = prehend(&[
        "describe",
        "--again",
        "--out",
        &out.to_string_lossy(),
        "--opinion",
        &wrong.to_string_lossy(),
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("did you mean `base_url`?"), "{}", text(&output.stderr));
}

/// A store that cannot be used is told with what to do, and nothing of it is changed.
#[test]
fn a_memory_that_cannot_be_used_is_a_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let list = |store: &str| {
        let found = prehend(&["memory", "--store", store, "list"]);
        assert_eq!(found.status.code(), Some(3), "{store}");
        text(&found.stderr)
    };
    assert!(list(&path("none.db")).contains("there is no memory"));
    let text_file = "no database, but a text of some length: ".repeat(30);
    std::fs::write(path("text.db"), &text_file).expect("written");
    assert!(list(&path("text.db")).contains("damaged"));
    assert_eq!(std::fs::read_to_string(path("text.db")).expect("there"), text_file);
    let newer = prehend_memory::store::Sqlite::open(Path::new(&path("newer.db"))).expect("made");
    drop(newer);
    let bytes = std::fs::read(path("newer.db")).expect("there");
    // The version of the tables, at its place in the header of the file.
    let bytes = [&bytes[..60], &99_u32.to_be_bytes(), &bytes[64..]].concat();
    std::fs::write(path("newer.db"), bytes).expect("written");
    let said = list(&path("newer.db"));
    assert!(said.contains("version 99") && said.contains("update"), "{said}");
    let kept = path("kept.db");
    drop(prehend_memory::store::Sqlite::open(Path::new(&kept)).expect("made"));
    let memory = |arguments: &[&str]| {
        let found = prehend(&[&["memory", "--store", &kept], arguments].concat());
        (found.status.code(), text(&found.stderr))
    };
    assert_eq!(memory(&["index"]).0, Some(0));
    let (code, said) = memory(&["--encoder", "fastestdet", "list"]);
    assert!(code == Some(3) && said.contains("`fastestdet` makes no features of texts"), "{said}");
    let unreachable = list("postgres://nobody:secret@127.0.0.1:1/none");
    assert!(!unreachable.contains("secret"), "{unreachable}");
}

/// What ROS says by the command line or the environment and cannot be meant is told, and nothing runs.
#[test]
fn wrong_words_to_ros_are_clear_errors() {
    let node = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut command = Command::new(PREHEND);
        command.args(["node", "verifier"]).args(arguments).current_dir(repository());
        command.env("ROS_DOMAIN_ID", "230").envs(variable);
        let output = command.output().expect("the executable runs");
        (output.status.code(), text(&output.stderr))
    };
    for (arguments, message) in [
        (&["--ros-args", "-r", "goal=other"][..], "expected a rule [node:]from:=to"),
        (&["--ros-args", "--remapp", "a:=b"], "did you mean `--remap`?"),
        (&["--ros-args", "--log-level", "loud"], "debug|info|warn|error|fatal"),
    ] {
        let (code, said) = node(arguments, None);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    for (arguments, variable, message) in [
        (&[][..], Some(("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR")), "LOCALHOST, SUBNET or SYSTEM_DEFAULT"),
        (&[], Some(("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")), "cannot be OFF"),
        (&[], Some(("ROS_LOCALHOST_ONLY", "yes")), "expected 0 or 1"),
        (&[], Some(("ROS_DOMAIN_ID", "seven")), "expected a number"),
        (&["--ros-args", "-r", "__ns:=/no-name"], None, "is not a ROS name"),
        (&["--ros-args", "-p", "enforc:=true"], None, "did you mean `enforce`?"),
        (&["--ros-args", "-p", "limits.contact_force:=500.0"], None, "it is a safety limit of"),
    ] {
        let (code, said) = node(arguments, variable);
        assert_eq!(code, Some(1), "{arguments:?} {variable:?}: {said}");
        assert!(said.contains(message), "{arguments:?} {variable:?}: {said}");
    }
}

/// Whether a process has taken a signal into its own hands.
fn catches(pid: u32, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("a number") & (1 << (signal - 1)) != 0
}

/// Ctrl-C while a node still reads its robot file, and while the agent waits for its peers: it ends as asked.
#[test]
fn a_signal_during_the_start_ends_a_node_cleanly() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("robot.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let lease = prehend_ros::DomainLease::take().expect("a free domain");
    for node in ["agent", "skills", "sim"] {
        for early in [true, false] {
            if !early && node != "agent" {
                continue;
            }
            let robot = if early { pipe.display().to_string() } else { "xarm6".to_owned() };
            let mut process = Command::new(PREHEND)
                .args(["node", node, "--robot", &robot])
                .current_dir(repository())
                .env("ROS_DOMAIN_ID", lease.domain_id().to_string())
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .expect("runs");
            let pid = process.id();
            let interrupt = || {
                assert!(catches(pid, 2), "{node}: Ctrl-C would kill it");
                let sent = Command::new("kill").args(["-INT", &pid.to_string()]).status();
                assert!(sent.expect("kill runs").success());
            };
            if early {
                // Opens when the node has opened it to read.
                let writer = std::fs::File::options().write(true).open(&pipe).expect("the node reads it");
                interrupt();
                let text = std::fs::read(repository().join("config/robots/xarm6.yaml")).expect("the file");
                std::io::Write::write_all(&mut &writer, &text).expect("the node reads on");
            } else {
                while !catches(pid, 2) {
                    std::thread::yield_now();
                }
                interrupt();
            }
            let said: Vec<String> = BufReader::new(process.stderr.take().expect("a pipe"))
                .lines()
                .map(|line| line.expect("text"))
                .collect();
            assert_eq!(process.wait().expect("it ends").code(), Some(0), "{node}: {said:?}");
        }
    }
}
