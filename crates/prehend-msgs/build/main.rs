//! Turns the interface files of `standard/` and of `../prehend_interfaces/` into Rust modules in `OUT_DIR`.

mod definitions;
mod generate;
mod hash;
mod interface;
#[cfg(feature = "ros2")]
mod ros2;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use definitions::Files;
use generate::Interfaces;
use interface::Kind;

/// The ROS package of our own interfaces. Not in this folder: where colcon builds crates, it looks for no packages inside one.
const OURS: &str = "../prehend_interfaces";

fn main() -> Result<(), Box<dyn Error>> {
    #[expect(clippy::print_stdout, reason = "how a build script speaks to cargo")]
    for watched in ["build", "standard", OURS] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let (mut interfaces, mut files) = (Interfaces::new(), Files::new());
    read_package(&root.join(OURS), &mut interfaces, &mut files)?;
    for package in fs::read_dir(root.join("standard"))? {
        let package = package?.path();
        if package.is_dir() {
            read_package(&package, &mut interfaces, &mut files)?;
        }
    }
    #[cfg(feature = "ros2")]
    fs::write(out.join("ros2.rs"), ros2::twins(&interfaces))?;
    let generated = generate::generate(&interfaces)?;
    fs::write(out.join("interfaces.rs"), generated.modules)?;
    fs::write(out.join("for_each_type.rs"), generated.list)?;
    fs::write(out.join("definitions.rs"), definitions::definitions(&interfaces, &files))?;
    Ok(())
}

/// Reads `msg/`, `srv/` and `action/` of the package whose name is the folder's.
fn read_package(folder: &Path, interfaces: &mut Interfaces, files: &mut Files) -> Result<(), Box<dyn Error>> {
    let package = folder.file_name().and_then(|n| n.to_str()).ok_or("a package folder without a name")?;
    for word in ["msg", "srv", "action"] {
        let Some(kind) = Kind::from_extension(word) else { continue };
        let folder = folder.join(word);
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(&folder)? {
            let file = file?.path();
            if file.extension().and_then(|e| e.to_str()) != Some(kind.word()) {
                continue;
            }
            let name = file.file_stem().and_then(|n| n.to_str()).ok_or("an interface file without a name")?;
            let text = fs::read_to_string(&file)?;
            let parsed =
                interface::parse(package, kind, &text).map_err(|e| format!("{}: {e}", file.display()))?;
            // Humble's have no hash, and no topic is of their types.
            if kind == Kind::Msg && generate::name_in_graph(package) == package {
                files.insert((package.to_owned(), name.to_owned()), file.clone());
            }
            interfaces
                .entry(package.to_owned())
                .or_default()
                .entry(kind)
                .or_default()
                .insert(name.to_owned(), parsed);
        }
    }
    Ok(())
}
