//! What a graph is started with: files as its processes find them, and the robot that goes with a scene.

use crate::args::{DEFAULT_ROBOT, ROOM_ROBOT};
use prehend_config::share;
use std::path::{Path, PathBuf};

/// Whether a scene is a room; what is wrong with it the sim will say.
pub(crate) fn has_room(scene: &Path) -> bool {
    prehend_sim::Scene::load(&share::resolve(scene)).is_ok_and(|scene| scene.room.is_some())
}

/// The robot that was asked for; nobody asked and it is a room: one that drives.
pub(crate) fn robot_for(asked: &Path, in_room: bool) -> PathBuf {
    let nobody_asked = asked == Path::new(DEFAULT_ROBOT);
    if nobody_asked && in_room { PathBuf::from(ROOM_ROBOT) } else { asked.to_path_buf() }
}

/// The robot file of a path or a name, as a child finds it.
pub(crate) fn robot_file(robot: &Path) -> PathBuf {
    absolute(&prehend_robots::RobotConfig::file(robot))
}

/// The file as a child finds it, whatever its working folder.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let path = share::resolve(path);
    std::path::absolute(&path).unwrap_or(path)
}
