//! The ROS packages and launch files, as far as that can be said without ROS: manifests are valid and complete, launch files compile,
//! every argument is described, and every node and file they name is there. Where ROS 2 is installed and sourced, the launch file is run.

use crate::harness::repository;
use clap::ValueEnum;
use prehend_cli::node::NodeName;
use prehend_testing::{Needs, skipped};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder and name of each package.
const PACKAGES: [(&str, &str); 4] = [
    ("crates/prehend_interfaces", "prehend_interfaces"),
    ("crates/prehend-cli", "prehend"),
    ("urdf", "prehend_description"),
    ("launch", "prehend_bringup"),
];

/// Folders of `standard` that are no package one can install: of a vendor who has not released it, or an older layout.
const NOT_INSTALLED: [&str; 3] = ["xarm_msgs", "nav2_msgs_humble", "moveit_msgs_humble"];

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files_in(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    found.sort();
    found
}

fn launch_files() -> Vec<PathBuf> {
    let root = repository();
    [root.join("launch"), root.join("urdf/launch")]
        .iter()
        .flat_map(|folder| files_in(folder, ".launch.py"))
        .collect()
}

/// What stands between the tags of a name.
fn tagged(text: &str, tag: &str) -> BTreeSet<String> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    text.split(&open).skip(1).filter_map(|rest| rest.split(&close).next()).map(str::to_owned).collect()
}

/// What a Python script with these arguments prints; `None`, with a line that says so, where it cannot run.
fn python(needs: &str, script: &str, arguments: &[PathBuf]) -> Option<String> {
    let there =
        Command::new("python3").args(["-c", needs]).output().is_ok_and(|output| output.status.success());
    if !there {
        skipped(Needs::Python, format!("python3 with `{needs}` is not there"));
        return None;
    }
    let output = Command::new("python3").args(["-c", script]).args(arguments).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn manifests_say_what_they_must() {
    for (folder, name) in PACKAGES {
        let text = read(&format!("{folder}/package.xml"));
        assert!(text.contains("<package format=\"3\">"), "{name}");
        for (tag, value) in
            [("name", name), ("version", env!("CARGO_PKG_VERSION")), ("build_type", "ament_cmake")]
        {
            assert_eq!(tagged(&text, tag), BTreeSet::from([value.to_owned()]), "{name}: {tag}");
        }
        assert!(tagged(&text, "license").contains("MIT"), "{name}");
        let build = read(&format!("{folder}/CMakeLists.txt"));
        assert!(build.contains(&format!("project({name}")), "{name}");
        assert!(
            build.contains("find_package(ament_cmake REQUIRED)") && build.contains("ament_package()"),
            "{name}"
        );
    }
}

/// Where colcon takes a folder for a package, by its manifest or its build file, it does not look below; nor where it is told to ignore one.
fn packages_below(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("COLCON_IGNORE").exists() {
        return;
    }
    if ["package.xml", "CMakeLists.txt", "setup.py", "setup.cfg"]
        .iter()
        .any(|file| folder.join(file).exists())
    {
        return found.push(folder.to_path_buf());
    }
    for below in files_in(folder, "").iter().filter(|path| path.is_dir()) {
        let name = below.file_name().expect("a name").to_string_lossy();
        // What cargo and Prehend make; what was cloned has none of it.
        if !name.starts_with('.') && !["target", "runs"].contains(&&*name) {
            packages_below(below, found);
        }
    }
}

#[test]
fn colcon_finds_these_packages_and_no_others() {
    let mut found = Vec::new();
    packages_below(&repository(), &mut found);
    let found: BTreeSet<PathBuf> = found.into_iter().collect();
    assert_eq!(found, PACKAGES.map(|(folder, _)| repository().join(folder)).into());
    // Where colcon builds crates, every one of them is such a package.
    for (folder, name) in PACKAGES {
        let mut above = Path::new(folder).ancestors().skip(1).filter(|above| above.parent().is_some());
        assert!(!above.any(|above| repository().join(above).join("Cargo.toml").exists()), "{name}");
    }
}

/// With the parser that ROS's own tools use, where it is installed (PyPI: catkin_pkg).
#[test]
fn manifests_are_valid_by_the_parser_of_ros() {
    const SCRIPT: &str = "
import sys
from catkin_pkg.package import parse_package
for folder in sys.argv[1:]:
    found = []
    package = parse_package(folder, warnings=found)
    package.validate(warnings=found)
    assert not found, (folder, found)
    print(package.name)
";
    let folders: Vec<_> = PACKAGES.iter().map(|(folder, _)| repository().join(folder)).collect();
    if let Some(printed) = python("import catkin_pkg.package", SCRIPT, &folders) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), PACKAGES.map(|(_, name)| name));
    }
}

#[test]
fn the_package_of_the_nodes_needs_every_message_package_and_installs_every_node() {
    let standard = repository().join("crates/prehend-msgs/standard");
    let mut used: BTreeSet<String> = files_in(&standard, "")
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .filter(|name| !NOT_INSTALLED.contains(&name.as_str()))
        .collect();
    used.insert("prehend_interfaces".to_owned());
    let mut needed = tagged(&read("crates/prehend-cli/package.xml"), "depend");
    for library in ["rcl", "rcl_action"] {
        assert!(needed.remove(library), "{library}");
    }
    assert_eq!(needed, used);

    let build = read("crates/prehend-cli/CMakeLists.txt");
    let list = |name: &str| {
        let start = build.split_once(&format!("set({name} ")).unwrap_or_else(|| panic!("{name}")).1;
        let words = start.split_once(')').expect("its end").0;
        words.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(list("interfaces"), used);
    let nodes: BTreeSet<_> = NodeName::value_variants().iter().map(|node| node.name().to_owned()).collect();
    assert_eq!(list("nodes"), nodes);
}

#[test]
fn the_backend_that_cmake_takes_by_itself_is_there() {
    let build = read("crates/prehend-cli/CMakeLists.txt");
    let rest = build.split_once("set(PREHEND_BACKEND \"").expect("the option").1;
    let backend = rest.split('"').next().expect("its value");
    let features = read("crates/prehend-cli/Cargo.toml");
    let has = |feature: &str| features.lines().any(|line| line.starts_with(&format!("{feature} =")));
    assert!(backend == "ros2" && has("ros2") || backend == "embedded" && !has("ros2"), "{backend}");
}

/// What a launch file says, by Python's own parser.
const OUTLINE: &str = r#"
import ast, json, sys
outline = {}
for path in sys.argv[1:]:
    text = open(path).read()
    compile(text, path, "exec")
    tree = ast.parse(text)
    of = lambda call: {k.arg: k.value for k in call.keywords}
    text_of = lambda node: node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    arguments, nodes, names = {}, [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                names[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                pass
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "DeclareLaunchArgument":
            said = of(node)
            choices = said.get("choices")
            arguments[text_of(node.args[0])] = {
                "description": text_of(said.get("description")),
                "choices": [text_of(c) for c in getattr(choices, "elts", [])],
                "has_default": "default_value" in said,
            }
        if node.func.id == "Node":
            said = of(node)
            nodes.append([text_of(said.get("package")), text_of(said.get("executable"))])
    outline[path] = {"arguments": arguments, "nodes": nodes, "NODES": names.get("NODES", []), "text": text}
print(json.dumps(outline))
"#;

#[test]
fn launch_files_compile_and_describe_every_argument() {
    let files = launch_files();
    assert!(files.len() >= 2, "{files:?}");
    let Some(printed) = python("import ast", OUTLINE, &files) else { return };
    let outline: Value = serde_json::from_str(&printed).expect("JSON");
    for file in &files {
        let arguments = outline[file.display().to_string()]["arguments"].as_object().expect("arguments");
        assert!(!arguments.is_empty(), "{}", file.display());
        for (name, argument) in arguments {
            let description = argument["description"].as_str().unwrap_or_default();
            let place = format!("{}: {name}", file.display());
            assert!(
                description.len() >= 9 && description.starts_with(char::is_uppercase)
                    || description.contains(": "),
                "{place}"
            );
            assert!(!description.ends_with('.'), "{place}: as help texts are written");
        }
    }
    let robots: BTreeSet<String> = files_in(&repository().join("config/robots"), ".yaml")
        .iter()
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    let main = &outline[repository().join("launch/prehend.launch.py").display().to_string()];
    for name in [
        "robot",
        "sim",
        "namespace",
        "use_sim_time",
        "params_file",
        "scene",
        "rviz",
        "log_level",
        "moveit",
        "nav2",
        "robot_ip",
        "respawn",
    ] {
        assert!(main["arguments"][name]["has_default"] == true, "{name}");
    }
    let choices = main["arguments"]["robot"]["choices"].as_array().expect("choices");
    let choices: BTreeSet<String> =
        choices.iter().map(|robot| robot.as_str().expect("text").to_owned()).collect();
    assert_eq!(choices, robots);
    let nodes = main["NODES"].as_array().expect("NODES").iter().map(|node| node.as_str().expect("text"));
    let nodes: BTreeSet<_> =
        nodes.chain(["sim", "gazebo", "stretch", "move_group", "memory", "describer"]).collect();
    let known: BTreeSet<_> = NodeName::value_variants().iter().map(|node| node.name()).collect();
    assert_eq!(nodes, known);
}

#[test]
fn what_launch_files_name_is_there() {
    let files = launch_files();
    let Some(printed) = python("import ast", OUTLINE, &files) else { return };
    let outline: Value = serde_json::from_str(&printed).expect("JSON");
    let manifests: Vec<String> =
        ["launch", "urdf"].iter().map(|folder| read(&format!("{folder}/package.xml"))).collect();
    for file in &files {
        let said = &outline[file.display().to_string()];
        let text = said["text"].as_str().expect("text");
        for word in text.split('"').filter(|word| word.ends_with(".rviz")) {
            assert!(repository().join("urdf/rviz").join(word).is_file(), "{}: {word}", file.display());
        }
        for node in said["nodes"].as_array().expect("nodes") {
            let (Some(package), Some(executable)) = (node[0].as_str(), node[1].as_str()) else { continue };
            assert!(!executable.is_empty());
            // What only some starts need is asked for when they do.
            let asked_for = text.contains(&format!("share(\"{package}\")"));
            let needed = manifests.iter().any(|manifest| tagged(manifest, "exec_depend").contains(package));
            assert!(needed || asked_for, "{}: no manifest needs {package}", file.display());
        }
    }
    for scene in ["tabletop", "room_two_tables"] {
        assert!(read("launch/prehend.launch.py").contains(&format!("\"{scene}\"")), "{scene}");
        assert!(repository().join(format!("config/scenes/{scene}.yaml")).is_file(), "{scene}");
    }
}

/// The launch file with recorders where ROS's classes are, and what it is told.
const RECORDED: &str = r#"
import json, runpy, sys
from unittest.mock import MagicMock
of_ros = "yaml ament_index_python launch launch.actions launch.launch_description_sources launch.substitutions launch_ros"
for name in [*of_ros.split(), "ament_index_python.packages", "launch_ros.actions", "launch_ros.parameter_descriptions"]:
    sys.modules[name] = MagicMock()
class PackageNotFoundError(KeyError):
    pass
def get_package_share_directory(name):
    if name not in there:
        raise PackageNotFoundError(name)
    return "/opt/" + name
sys.modules["launch_ros.actions"].Node = lambda **said: said
sys.modules["ament_index_python.packages"].PackageNotFoundError = PackageNotFoundError
sys.modules["ament_index_python.packages"].get_package_share_directory = get_package_share_directory
file = runpy.run_path(sys.argv[1])
said = dict.fromkeys(["namespace", "params_file", "lifecycle_manager", "scene", "moveit_launch", "memory", "describer"], "")
said |= {"robot": "xarm6", "moveit": True, "use_sim_time": True, "log_level": "info", "respawn": True, "respawn_delay": "2", "seed": "1", "speed": "1"}
"#;

/// Which nodes are started unarmed, for what the launch file is told, for arming a robot file has, and for packages that are there.
const UNARMED: &str = r#"
for sim, arming, there in [
    ("none", "xarm", []), ("gazebo", "xarm", ["xarm_msgs"]), ("gazebo", "stretch", []),
    ("embedded", "xarm", ["xarm_msgs"]), ("embedded", "xarm", []), ("embedded", "stretch", []),
]:
    nodes = file["prehend_nodes"]({**said, "sim": sim}, "robot.yaml", {"arming": {arming: {}}, "navigation": {}})
    unarmed = [node["name"] for node in nodes if {"arming": "off"} in node["parameters"]]
    print(sim, arming, *there, "-", *sorted(unarmed))
"#;

/// Where a simulation has no vendor's driver nothing can be armed: every node that would wait for it is told so, and on a real robot
/// none ever is.
#[test]
fn nothing_is_armed_where_a_simulation_has_no_driver() {
    let file = repository().join("launch/prehend.launch.py");
    let script = format!("{RECORDED}{UNARMED}");
    let Some(printed) = python("import ast", &script, &[file]) else { return };
    let expected = [
        "none xarm -",
        "gazebo xarm xarm_msgs - go_to skills",
        "gazebo stretch - go_to skills",
        "embedded xarm xarm_msgs -",
        "embedded xarm - go_to sim skills",
        "embedded stretch -",
    ];
    assert_eq!(printed.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
}

/// The memory and the describer are nodes of their own, and only when they are asked for.
#[test]
fn what_keeps_things_is_started_where_it_has_a_store() {
    let file = repository().join("launch/prehend.launch.py");
    let script = format!(
        "{RECORDED}{}",
        r#"
for name, store in [("memory", ""), ("memory", "home.db"), ("describer", "drawers")]:
    nodes = file["prehend_nodes"]({**said, "sim": "none", name: store}, "robot.yaml", {})
    kept = [node for node in nodes if node["name"] in ("memory", "describer")]
    print(store, "-", *[(node["name"], {"store": store} in node["parameters"]) for node in kept])
"#
    );
    let Some(printed) = python("import ast", &script, &[file]) else { return };
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    assert_eq!(lines, ["-", "home.db - ('memory', True)", "drawers - ('describer', True)"]);
}

/// What stands between a real Stretch's driver and the robot file's names is started for it; Prehend's planner for who asks for it, too.
const BETWEEN: &str = r#"
for robot, sim, moveit, launch, sections in [
    ("stretch", "none", True, "", ["driver"]), ("stretch", "none", True, "mine.launch.py", ["driver"]),
    ("stretch", "none", False, "", ["driver"]), ("stretch", "embedded", True, "", ["driver"]),
    ("xarm6", "none", True, "", []), ("xarm6", "none", True, "prehend", []), ("xarm6", "none", False, "prehend", []),
    ("xarm6", "gazebo", True, "", []), ("xarm6", "gazebo", True, "prehend", []), ("xarm6", "embedded", True, "prehend", []),
]:
    asked = {**said, "robot": robot, "sim": sim, "moveit": moveit, "moveit_launch": launch}
    nodes = {node["name"]: node for node in file["prehend_nodes"](asked, "robot.yaml", dict.fromkeys(sections, {}))}
    turned = {"image_turn": "clockwise"} in nodes["object_map"]["parameters"]
    print(robot, sim, moveit, launch, "-", *sorted({"stretch", "move_group", "sim"} & set(nodes)), "turned" * turned)
"#;

#[test]
fn a_robot_gets_the_controller_and_the_planner_that_it_lacks_and_upright_pictures() {
    let file = repository().join("launch/prehend.launch.py");
    let script = format!("{RECORDED}there = []\n{BETWEEN}");
    let Some(printed) = python("import ast", &script, &[file]) else { return };
    let expected = [
        "stretch none True  - move_group stretch turned",
        "stretch none True mine.launch.py - stretch turned",
        "stretch none False  - stretch turned",
        "stretch embedded True  - sim",
        "xarm6 none True  -",
        "xarm6 none True prehend - move_group",
        "xarm6 none False prehend -",
        "xarm6 gazebo True  -",
        "xarm6 gazebo True prehend - move_group",
        "xarm6 embedded True prehend - sim",
    ];
    assert_eq!(printed.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
}

/// Where MoveIt stands beside the embedded robot, that robot does not offer MoveIt's interfaces, too.
#[test]
fn the_embedded_robot_leaves_moveit_to_one_beside_it() {
    let file = repository().join("launch/prehend.launch.py");
    let script = format!(
        "{RECORDED}there = []\n{}",
        r#"
for sim, moveit, launch in [
    ("embedded", True, ""), ("embedded", True, "vendor"), ("embedded", True, "mine.launch.py"), ("embedded", True, "prehend"),
    ("embedded", False, "vendor"),
]:
    nodes = file["prehend_nodes"]({**said, "sim": sim, "moveit": moveit, "moveit_launch": launch}, "robot.yaml", {})
    off = [node["name"] for node in nodes if {"moveit": "off"} in node["parameters"]]
    print(sim, moveit, launch, "-", *off)
"#
    );
    let Some(printed) = python("import ast", &script, &[file]) else { return };
    let expected = [
        "embedded True  -",
        "embedded True vendor - sim",
        "embedded True mine.launch.py - sim",
        "embedded True prehend -",
        "embedded False vendor -",
    ];
    assert_eq!(printed.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
}

/// A prefix as colcon installs it, of links into the repository and to the executable under test.
fn prefix() -> tempfile::TempDir {
    use std::os::unix::fs::symlink;
    let (folder, root) = (tempfile::tempdir().expect("a folder"), repository());
    let at = |path: &str| folder.path().join(path);
    for made in ["share/ament_index/resource_index/packages", "share/prehend/launch", "lib/prehend"] {
        fs::create_dir_all(at(made)).expect("a folder");
    }
    fs::write(at("share/ament_index/resource_index/packages/prehend"), "").expect("a marker");
    for data in ["config", "urdf"] {
        symlink(root.join(data), at(&format!("share/prehend/{data}"))).expect("a link");
    }
    for file in files_in(&root.join("launch"), ".launch.py") {
        symlink(&file, at("share/prehend/launch").join(file.file_name().expect("a name"))).expect("a link");
    }
    for node in NodeName::value_variants() {
        symlink(env!("CARGO_BIN_EXE_prehend"), at(&format!("lib/prehend/{}", node.name()))).expect("a link");
    }
    folder
}

/// Ends the launched graph, whatever happens.
struct Launched(std::process::Child);

impl Launched {
    fn interrupt(&self) {
        // As Ctrl-C: launch stops what it started, and waits for it.
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.interrupt();
            let _ = self.0.wait();
        }
    }
}

/// Whether a program of ROS answers: `ros2 launch --help`, `ros2 pkg prefix NAME`.
fn has_ros2(words: &[&str]) -> bool {
    Command::new("ros2").args(words).output().is_ok_and(|output| output.status.success())
}

/// The launch file as a user starts it.
struct UsersLaunch {
    launched: Launched,
    prefix: tempfile::TempDir,
    domain: prehend_cli::domain::Domain,
}

impl UsersLaunch {
    fn start(arguments: &[&str]) -> Self {
        let prefix = prefix();
        let domain = prehend_cli::domain::Domain::free(prehend_cli::domain::Purpose::Run).expect("a domain");
        let prefixes = std::env::var("AMENT_PREFIX_PATH").unwrap_or_default();
        let launched = Launched(
            Command::new("ros2")
                .args(["launch", "prehend", "prehend.launch.py"])
                .args(arguments)
                .env("AMENT_PREFIX_PATH", format!("{}:{prefixes}", prefix.path().display()))
                .env("ROS_DOMAIN_ID", domain.id.to_string())
                .env("ROS_LOG_DIR", prefix.path().join("logs"))
                .stdin(std::process::Stdio::null())
                .stdout(fs::File::create(prefix.path().join("output")).expect("a file"))
                .spawn()
                .expect("ros2 runs"),
        );
        Self { launched, prefix, domain }
    }

    fn output(&self) -> String {
        fs::read_to_string(self.prefix.path().join("output")).unwrap_or_default()
    }

    /// One try; what was printed when nobody took the goal.
    fn ask(&self, sentence: &str, more: &[&str]) -> Result<Value, String> {
        let asked = Command::new(env!("CARGO_BIN_EXE_prehend"))
            .args(["goal", sentence, "--json"])
            .args(more)
            .current_dir(repository())
            .env("ROS_DOMAIN_ID", self.domain.id.to_string())
            .output()
            .expect("prehend runs");
        let told = || String::from_utf8_lossy(&asked.stderr).into_owned();
        serde_json::from_slice(&asked.stdout).map_err(|_| told())
    }

    /// Asks until the goal is taken, which is done then.
    fn until_done(&mut self, sentence: &str, more: &[&str]) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(180);
        loop {
            let told = match self.ask(sentence, more) {
                Ok(report) if report["outcome"] == "done" => return,
                Ok(report) => report.to_string(),
                Err(told) => told,
            };
            assert!(matches!(self.launched.0.try_wait(), Ok(None)), "the launch ended:\n{}", self.output());
            assert!(std::time::Instant::now() < deadline, "not done:\n{told}\n{}", self.output());
        }
    }

    /// Waits until the output has something for the `times`-th time.
    fn until_said(&self, what: &str, times: usize) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while self.output().matches(what).count() < times {
            assert!(std::time::Instant::now() < deadline, "never: {what}\n{}", self.output());
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    fn end(mut self) {
        self.launched.interrupt();
        let status = self.launched.0.wait().expect("it ends");
        assert!(status.success(), "{status}\n{}", self.output());
    }
}

/// Starts the launch file with the embedded robot, asks for a goal until it is done, and ends the launch.
fn launch_and_ask(arguments: &[&str], sentence: &str, more: &[&str]) {
    let mut launch = UsersLaunch::start(&[&["sim:=embedded", "speed:=3.0"], arguments].concat());
    launch.until_done(sentence, more);
    launch.end();
}

#[test]
fn ros2_launch_brings_up_a_graph_that_answers() {
    if !has_ros2(&["launch", "--help"]) {
        skipped(Needs::Ros2, "no `ros2 launch` here");
        return;
    }
    launch_and_ask(
        &["namespace:=robot1"],
        "how many apples are there?",
        &["--namespace", "/robot1/prehend", "--ros-args", "-r", "/clock:=/robot1/clock"],
    );
}

/// MoveIt 2 itself with the vendor's settings plans and moves, and the embedded robot's controllers follow it.
#[test]
fn a_real_moveit_moves_the_embedded_robot() {
    let needed = ["moveit_ros_move_group", "moveit_planners_ompl", "xarm_moveit_config", "uf_ros_lib"];
    if let Some(lacking) = needed.iter().find(|package| !has_ros2(&["pkg", "prefix", package])) {
        skipped(Needs::Ros2, format!("no ROS package `{lacking}` here"));
        return;
    }
    launch_and_ask(&["moveit_launch:=vendor"], "put the red mug in the bowl", &[]);
}

/// Nav2's own lifecycle manager configures and activates Prehend's nodes, in their order.
#[test]
fn a_real_lifecycle_manager_brings_up_a_graph_that_moves() {
    if !has_ros2(&["pkg", "prefix", "nav2_lifecycle_manager"]) {
        skipped(Needs::Ros2, "no ROS package `nav2_lifecycle_manager` here");
        return;
    }
    let mut launch = UsersLaunch::start(&["sim:=embedded", "speed:=3.0", "lifecycle_manager:=true"]);
    launch.until_done("put the red mug in the bowl", &[]);
    // One of them dies: the manager takes the others down, and all of them up again. Whoever comes then is answered.
    let active = "Managed nodes are active";
    launch.until_said(active, 1);
    let verifier = launch.prefix.path().join("lib/prehend/verifier");
    let killed = Command::new("pkill").args(["-9", "-f", &verifier.display().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "the verifier is not killed");
    launch.until_said(active, 2);
    let report = launch.ask("how many mugs are there?", &[]);
    assert_eq!(report.as_ref().map(|report| &report["outcome"]), Ok(&"done".into()), "{report:?}");
    launch.end();
}
