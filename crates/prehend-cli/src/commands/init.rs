//! `prehend init`: a folder for a robot of your own, to begin from.

use crate::args::{DEFAULT_SCENE, InitArgs};
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_config::Findings;
use prehend_config::share;
use prehend_robots::RobotConfig;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Scene of a robot that drives.
const ROOM: &str = "config/scenes/room_kitchen.yaml";
/// Settings that are copied: the node's name is that of its file.
const NODES: [&str; 3] = ["verifier", "agent", "object_map"];

/// Why there is no folder.
#[derive(Debug, thiserror::Error)]
enum InitError {
    /// Something is there.
    #[error("{} is not empty: name a new folder", path.display())]
    NotEmpty { path: PathBuf },
    /// The robot's file is wrong.
    #[error("{0}\nrobots to begin from: {1}")]
    Robot(Findings, String),
    /// A file cannot be copied.
    #[error("cannot copy {}: {error}", path.display())]
    Copy { path: PathBuf, error: std::io::Error },
}

/// Runs `init`; gives the exit code.
pub(super) fn run(args: &InitArgs) -> u8 {
    match make(args) {
        Ok(folder) => {
            if args.json {
                print_json(&json!({ "folder": folder, "start": start(&folder) }));
                return exit::DONE;
            }
            let screen = Screen::new(false);
            screen.line(format!("{} is ready; what to change is in its README.md", folder.display()));
            screen.line(start(&folder));
            exit::DONE
        }
        Err(error) => {
            eprintln!("{error}");
            exit::BAD_INPUT
        }
    }
}

/// The command that starts the graph on the folder's robot.
fn start(folder: &Path) -> String {
    let folder = folder.display();
    let settings: String =
        NODES.iter().map(|node| format!(" --param {node}:settings:={folder}/nodes/{node}.yaml")).collect();
    format!("prehend up --robot {folder}/robot.yaml --scene {folder}/scene.yaml{settings}")
}

fn make(args: &InitArgs) -> Result<PathBuf, InitError> {
    let folder = std::path::absolute(&args.dir).unwrap_or_else(|_| args.dir.clone());
    if std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file() {
        return Err(InitError::NotEmpty { path: folder });
    }
    let file = RobotConfig::file(&args.robot);
    let robot = RobotConfig::load(&file).map_err(|error| InitError::Robot(error, known_robots()))?;
    let default = if robot.navigation.is_some() { ROOM } else { DEFAULT_SCENE };
    let scene = share::resolve(args.scene.as_deref().unwrap_or(Path::new(default)));
    let nodes = folder.join("nodes");
    std::fs::create_dir_all(&nodes).map_err(|error| InitError::Copy { path: nodes.clone(), error })?;
    let urdf = folder.join("robot.urdf");
    copy(&robot.urdf, &urdf)?;
    // Where `move_group` looks for the limits of joints; a robot without that node has none.
    let limits = robot.urdf.with_file_name(format!(
        "{}_joint_limits.yaml",
        robot.urdf.file_stem().unwrap_or_default().to_string_lossy()
    ));
    if limits.is_file() {
        copy(&limits, &folder.join("robot_joint_limits.yaml"))?;
    }
    copy(&scene, &folder.join("scene.yaml"))?;
    for node in NODES {
        let name = format!("{node}.yaml");
        copy(&share::resolve(&Path::new("config/nodes").join(&name)), &nodes.join(&name))?;
    }
    let text = read(&file)?;
    let lines = text.lines().map(|line| match line.starts_with("urdf:") {
        true => format!("urdf: {}", urdf.display()),
        false => line.to_owned(),
    });
    write(&folder.join("robot.yaml"), &(lines.collect::<Vec<_>>().join("\n") + "\n"))?;
    write(&folder.join("README.md"), &readme(&robot, &folder))?;
    Ok(folder)
}

fn read(path: &Path) -> Result<String, InitError> {
    std::fs::read_to_string(path).map_err(|error| InitError::Copy { path: path.to_owned(), error })
}

fn write(path: &Path, text: &str) -> Result<(), InitError> {
    std::fs::write(path, text).map_err(|error| InitError::Copy { path: path.to_owned(), error })
}

fn copy(from: &Path, to: &Path) -> Result<(), InitError> {
    write(to, &read(from)?)
}

/// The names of the robots in the share folder.
fn known_robots() -> String {
    let entries =
        std::fs::read_dir(share::resolve(Path::new("config/robots"))).into_iter().flatten().flatten();
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = entries.filter_map(|entry| stem(entry.path())).collect();
    names.sort();
    names.join(", ")
}

fn readme(robot: &RobotConfig, folder: &Path) -> String {
    let drives = match robot.navigation.is_some() {
        true => "   `navigation`: the base's frames and Nav2's names.\n",
        false => "",
    };
    format!(
        "# A robot, begun from {name}\n\
         \n\
         ```\n\
         {start}\n\
         prehend goal \"put the red mug in the bowl\"          in another terminal\n\
         ```\n\
         \n\
         | file | what it is | what to change |\n\
         |---|---|---|\n\
         | `robot.yaml` | every name and limit of the robot | all of it, from top to bottom |\n\
         | `robot.urdf` | the body of the embedded robot, for planning and for the simulator | your robot's URDF |\n\
         | `scene.yaml` | what stands before the embedded robot | your table; `prehend scene check` says what is wrong |\n\
         | `nodes/verifier.yaml` | when evidence suffices | nothing, before you have measured |\n\
         | `nodes/agent.yaml` | who plans, and which language model is asked | `model`, if you have one |\n\
         | `nodes/object_map.yaml` | who confirms what words mean | `vlm`, if you have one |\n\
         \n\
         In this order:\n\
         \n\
         1. `name`, and `urdf` (an absolute path: change it when you move this folder).\n\
         2. `frames`, `camera`, `joint_states`: what `ros2 topic list` and `ros2 run tf2_tools view_frames` show on your robot.\n\
         3. `moveit`, `arm`, `gripper`: the planning group, controllers and joints.\n\
         {drives}\
         4. `poses`: home and looks from which the camera sees the workspace.\n\
         5. `limits` and `arming`: where the tool may go, and the robot's own safety. No limit has a default. Measure them.\n\
         \n\
         Try each change on the embedded robot first: `prehend doctor`, then `prehend demo` with the options above.\n\
         `prehend doctor --graph --robot robot.yaml` says what is missing on the real one.\n",
        name = robot.name,
        start = start(folder),
    )
}
