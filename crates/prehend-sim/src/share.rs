//! Where the data files are: configuration, robot descriptions, scenes.

use std::path::{Path, PathBuf};

/// Environment variable that names the folder with `config/` and `urdf/`.
pub const SHARE_VARIABLE: &str = "PREHEND_SHARE";

/// The folder that holds `config/` and `urdf/`: `PREHEND_SHARE`, else `share/prehend` of the prefix the executable is
/// installed in, else the repository this was built from.
pub fn share_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os(SHARE_VARIABLE) {
        return PathBuf::from(folder);
    }
    let installed = std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().and_then(Path::parent).map(|prefix| prefix.join("share/prehend")))
        .filter(|folder| folder.join("config").is_dir());
    installed.unwrap_or_else(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
    })
}

/// `path` itself when it is absolute or exists here, else the same path in the share folder.
pub fn resolve(path: &Path) -> PathBuf {
    if path.is_absolute() || path.exists() { path.to_path_buf() } else { share_dir().join(path) }
}
