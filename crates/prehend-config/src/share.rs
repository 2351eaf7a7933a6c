//! Where the data files are: configuration, robot descriptions, scenes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Environment variable that names the folder with `config/` and `urdf/`.
pub const SHARE_VARIABLE: &str = "PREHEND_SHARE";
/// Prefixes of the ROS workspaces that are sourced.
const AMENT_VARIABLE: &str = "AMENT_PREFIX_PATH";
/// The folder below a prefix.
const BELOW_PREFIX: &str = "share/prehend";

/// The folder that holds `config/` and `urdf/`: `PREHEND_SHARE`; else `share/prehend` of the prefix the executable is installed in; else
/// the repository this was built from; else `share/prehend` of a ROS workspace that is sourced.
pub fn share_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os(SHARE_VARIABLE) {
        return PathBuf::from(folder);
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built_from = manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf();
    let executable = std::env::current_exe().unwrap_or_default();
    let sourced = std::env::var_os(AMENT_VARIABLE).unwrap_or_default();
    candidates(&executable, &built_from, &sourced)
        .into_iter()
        .find(|folder| folder.join("config").is_dir())
        .unwrap_or(built_from)
}

/// Where the folder may be, the likeliest first. An executable is in `bin/`, or in `lib/PACKAGE/` as `ros2 run` has it.
fn candidates(executable: &Path, built_from: &Path, sourced: &OsStr) -> Vec<PathBuf> {
    let above = executable.ancestors().skip(2).take(2).map(|prefix| prefix.join(BELOW_PREFIX));
    let workspaces = std::env::split_paths(sourced).filter(|prefix| prefix.is_absolute());
    let workspaces = workspaces.map(|prefix| prefix.join(BELOW_PREFIX));
    above.chain([built_from.to_path_buf()]).chain(workspaces).collect()
}

/// `path` itself when it is absolute or exists here, else the same path in the share folder.
pub fn resolve(path: &Path) -> PathBuf {
    if path.is_absolute() || path.exists() { path.to_path_buf() } else { share_dir().join(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_executable_finds_its_folder_whatever_is_sourced() {
        let found = |executable: &str| {
            candidates(Path::new(executable), Path::new("/home/me/prehend"), OsStr::new("/opt/ros/jazzy:/ws"))
        };
        let folders = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            found("/ws/install/prehend/lib/prehend/object_map"),
            folders(&[
                "/ws/install/prehend/lib/share/prehend",
                "/ws/install/prehend/share/prehend",
                "/home/me/prehend",
                "/opt/ros/jazzy/share/prehend",
                "/ws/share/prehend",
            ])
        );
        assert_eq!(found("/usr/bin/prehend")[0], Path::new("/usr/share/prehend"));
        assert_eq!(candidates(Path::new(""), Path::new("/src"), OsStr::new("")), folders(&["/src"]));
    }
}
