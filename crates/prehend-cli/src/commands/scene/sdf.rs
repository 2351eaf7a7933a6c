//! `prehend scene to-sdf`.

use super::{Made, load, world_of};
use crate::args::gazebo::ToSdfArgs;
use crate::gazebo::robot_urdf;
use crate::inputs::robot_for;
use prehend_config::share;
use prehend_robots::RobotConfig;
use prehend_sim::sdf::{Label, SdfWorld};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What is in WORLD.labels.json.
#[derive(Serialize)]
struct LabelFile<'a> {
    scene: &'a str,
    seed: u64,
    labels: &'a [Label],
}

pub(super) fn run(args: &ToSdfArgs) -> Result<Made, String> {
    let placed = load(&args.file, args.seed).map_err(|error| error.to_string())?;
    let robot = RobotConfig::load(&robot_for(&args.robot, placed.scene.room.is_some()))
        .map_err(|error| error.to_string())?;
    let world = world_of(&placed, &robot)?;
    let stem = args.out.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.ok_or_else(|| format!("{}: not a file name", args.out.display()))?;
    let sdf = SdfWorld::of(&world, &format!("{stem}_meshes")).map_err(|error| error.to_string())?;
    // Everything is made before anything is written.
    let urdf = match &args.robot_urdf {
        Some(path) => Some((path, robot_text(args, &robot, &placed.scene.camera)?)),
        None => None,
    };
    let folder = args.out.parent().unwrap_or(Path::new(""));
    for mesh in &sdf.meshes {
        write(&folder.join(&mesh.path), &mesh.obj)?;
    }
    let labels = LabelFile { scene: &placed.scene.name, seed: args.seed, labels: &sdf.labels };
    let labels = serde_json::to_string_pretty(&labels).map_err(|error| error.to_string())?;
    write(&args.out.with_extension("labels.json"), &labels)?;
    write(&args.out, &sdf.sdf)?;
    if let Some((path, text)) = urdf {
        write(path, &text)?;
    }
    for loss in &sdf.losses {
        eprintln!("not in Gazebo: {loss}");
    }
    let words = format!(
        "{}: world `{}`, {} objects, {} labels, {} meshes",
        args.out.display(),
        sdf.name,
        placed.objects.len(),
        sdf.labels.len(),
        sdf.meshes.len()
    );
    let json = json!({
        "out": args.out,
        "world": sdf.name,
        "objects": placed.objects.len(),
        "labels": sdf.labels.len(),
        "meshes": sdf.meshes.len(),
        "losses": sdf.losses.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    Ok(Made { words, json })
}

fn robot_text(
    args: &ToSdfArgs,
    robot: &RobotConfig,
    camera: &prehend_sim::scene::CameraSpec,
) -> Result<String, String> {
    let usual = || PathBuf::from(format!("config/gazebo/{}_controllers.yaml", robot.name));
    let controllers = share::resolve(&args.controllers.clone().unwrap_or_else(usual));
    if !controllers.is_file() {
        return Err(format!("{}: there is no such file of controllers", controllers.display()));
    }
    let controllers = std::path::absolute(&controllers).unwrap_or(controllers);
    let text = std::fs::read_to_string(&robot.urdf)
        .map_err(|error| format!("cannot read {}: {error}", robot.urdf.display()))?;
    let options =
        robot_urdf::Options { controllers: &controllers, namespace: &args.namespace, rate: camera.rate_hz };
    robot_urdf::write(&text, robot, &options).map_err(|error| format!("{}: {error}", robot.urdf.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}
