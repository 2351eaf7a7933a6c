//! Arguments of `scene to-sdf`.

use super::DEFAULT_ROBOT;
use clap::Args;
use std::path::PathBuf;

const AFTER: &str = "\
Beside WORLD.sdf it writes WORLD.labels.json (what the values of a segmentation camera's label map are) and the folder
WORLD_meshes. What Gazebo cannot do as the embedded simulator does is said on stderr.

Example:
  prehend scene to-sdf config/scenes/tabletop.yaml --seed 3 --out /tmp/gz/world.sdf --robot-urdf /tmp/gz/robot.urdf
  gz sim -r /tmp/gz/world.sdf";

/// Arguments of `scene to-sdf`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct ToSdfArgs {
    /// Scene file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// SDF file to write
    #[arg(long, value_name = "WORLD.sdf")]
    pub out: PathBuf,
    /// Robot file, or a name in config/robots; in a scene with a room the default is one that drives
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Seed of what is random in the scene, as `demo` has it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the robot as well, with gz_ros2_control and its cameras
    #[arg(long, value_name = "ROBOT.urdf")]
    pub robot_urdf: Option<PathBuf>,
    /// Parameters of the robot's controllers, for --robot-urdf; without it config/gazebo/ROBOT_controllers.yaml
    #[arg(long, value_name = "YAML", requires = "robot_urdf")]
    pub controllers: Option<PathBuf>,
    /// Namespace of the robot's controllers and camera, for --robot-urdf
    #[arg(long, value_name = "NAME", requires = "robot_urdf", default_value = "")]
    pub namespace: String,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}
