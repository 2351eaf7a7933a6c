//! Where the library of ONNX Runtime may be; only paths are looked at, no Python is run.

use super::{RuntimeError, elf};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Environment variable that names the library, as for every user of ONNX Runtime in Rust.
const VARIABLE: &str = "ORT_DYLIB_PATH";
/// Name of the library; a version may follow.
const LIBRARY: &str = "libonnxruntime.so";
/// Where the wheel on PyPI has it, in a folder of packages.
const IN_WHEEL: &str = "onnxruntime/capi";

/// Who said where the library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `--runtime`.
    CommandLine,
    /// `ORT_DYLIB_PATH`.
    Variable,
    /// Nobody; it was found.
    Nobody,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandLine => "--runtime",
            Self::Variable => VARIABLE,
            Self::Nobody => "the search",
        })
    }
}

/// A library that was found and whose header is that of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub library: PathBuf,
    /// Who said so.
    pub asked: Asked,
}

/// Where to look, the most certain first. A place that somebody named is the only one that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Library or folder from the command line.
    pub command_line: Option<PathBuf>,
    /// Library or folder from `ORT_DYLIB_PATH`.
    pub variable: Option<PathBuf>,
    /// Roots of Python installations, with `lib/python3.*/site-packages` below them.
    pub python_roots: Vec<PathBuf>,
    /// Folders of libraries.
    pub folders: Vec<PathBuf>,
}

impl Places {
    /// The places of this process, by its environment.
    pub fn of_this_process(command_line: Option<&Path>) -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let split = |value: Option<OsString>| {
            value.map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).unwrap_or_default()
        };
        let mut python_roots: Vec<PathBuf> =
            [path("VIRTUAL_ENV"), path("CONDA_PREFIX")].into_iter().flatten().collect();
        // The Python that a shell would start: its prefix is two levels above it, with links followed and not.
        for folder in split(std::env::var_os("PATH")) {
            let python = folder.join("python3");
            if python.exists() {
                let real = python.canonicalize().ok();
                let prefixes = [Some(python), real].into_iter().flatten();
                python_roots.extend(prefixes.filter_map(|p| Some(p.parent()?.parent()?.to_path_buf())));
                break;
            }
        }
        python_roots.extend(path("HOME").map(|home| home.join(".local")));
        python_roots.extend([PathBuf::from("/usr/local"), PathBuf::from("/usr")]);
        let mut folders = split(std::env::var_os("LD_LIBRARY_PATH"));
        let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        folders.extend(
            ["/usr/local/lib", &triple, "/usr/lib64", "/usr/lib", "/opt/onnxruntime/lib"].map(PathBuf::from),
        );
        Self {
            command_line: command_line.map(Path::to_path_buf),
            variable: path(VARIABLE),
            python_roots,
            folders,
        }
    }

    /// The first library, the newest of a folder.
    ///
    /// Errors: [`RuntimeError::NotThere`] and [`RuntimeError::NotALibrary`] for a place that somebody named,
    /// [`RuntimeError::NotFound`] when nobody named one and nothing is found.
    pub fn find(&self) -> Result<Found, RuntimeError> {
        let named = [(&self.command_line, Asked::CommandLine), (&self.variable, Asked::Variable)];
        if let Some((path, asked)) = named.into_iter().find_map(|(path, asked)| Some((path.as_ref()?, asked)))
        {
            let not_there = || RuntimeError::NotThere { asked, path: path.clone() };
            let library =
                if path.is_dir() { libraries_in(path).into_iter().next() } else { Some(path.clone()) };
            let library = library.filter(|library| library.exists()).ok_or_else(not_there)?;
            return match elf::check(&library) {
                Ok(()) => Ok(Found { library: std::path::absolute(&library).unwrap_or(library), asked }),
                Err(error) => Err(RuntimeError::NotALibrary { path: library, error }),
            };
        }
        let mut looked_in: Vec<PathBuf> = Vec::new();
        let wheels = self.python_roots.iter().flat_map(|root| package_folders(root));
        for folder in wheels.map(|packages| packages.join(IN_WHEEL)).chain(self.folders.iter().cloned()) {
            if looked_in.contains(&folder) {
                continue;
            }
            let library = libraries_in(&folder).into_iter().find(|library| elf::check(library).is_ok());
            if let Some(library) = library {
                return Ok(Found { library, asked: Asked::Nobody });
            }
            looked_in.push(folder);
        }
        Err(RuntimeError::NotFound { looked_in })
    }
}

/// Folders of Python packages below a root, newest Python first.
fn package_folders(root: &Path) -> Vec<PathBuf> {
    let lib = root.join("lib");
    let mut versions = entries(&lib, "python3");
    versions.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    versions
        .iter()
        .flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.join(name)))
        .collect()
}

/// Libraries of ONNX Runtime in a folder, newest first.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = entries(folder, LIBRARY);
    // `libonnxruntime.so` itself, where it stands beside versions, is a link to one of them.
    found.sort_by_key(|file| std::cmp::Reverse(version(file)));
    found
}

fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect()
}

/// The numbers in a file name, so that 1.9 comes before 1.10.
fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A file with the header of a library of this machine.
    fn library(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        let own = std::fs::read("/proc/self/exe").expect("this program");
        let mut header = own[..20].to_vec();
        header[16..18].copy_from_slice(&3_u16.to_le_bytes());
        std::fs::write(path, header).expect("the file");
    }

    fn places(root: &TempDir) -> Places {
        Places {
            python_roots: vec![root.path().join("venv")],
            folders: vec![root.path().join("lib")],
            ..Places::default()
        }
    }

    #[test]
    fn the_wheel_of_the_newest_python_comes_before_folders_of_libraries() {
        let root = TempDir::new().expect("a folder");
        let wheel = |python: &str, version: &str| {
            root.path()
                .join(format!("venv/lib/{python}/site-packages/onnxruntime/capi/libonnxruntime.so.{version}"))
        };
        library(&root.path().join("lib/libonnxruntime.so.1.30.0"));
        let found = places(&root).find().expect("found");
        assert!(found.library.ends_with("lib/libonnxruntime.so.1.30.0"), "{found:?}");
        library(&wheel("python3.9", "1.22.0"));
        library(&wheel("python3.11", "1.9.0"));
        library(&wheel("python3.11", "1.18.0"));
        let found = places(&root).find().expect("found");
        assert_eq!(found, Found { library: wheel("python3.11", "1.18.0"), asked: Asked::Nobody });
    }

    #[test]
    fn what_is_no_library_is_passed_over_unless_somebody_named_it() {
        let root = TempDir::new().expect("a folder");
        let text = root.path().join("lib/libonnxruntime.so");
        library(&text);
        std::fs::write(&text, "INPUT ( libonnxruntime.so.1 )").expect("the file");
        let nowhere = places(&root).find().expect_err("a linker script is no library").to_string();
        for words in ["looked in", "lib", "pip install onnxruntime", "ORT_DYLIB_PATH"] {
            assert!(nowhere.contains(words), "{words} is missing in: {nowhere}");
        }
        let named = Places { variable: Some(text.clone()), ..places(&root) }.find();
        assert!(matches!(&named, Err(RuntimeError::NotALibrary { path, .. }) if *path == text), "{named:?}");
    }

    #[test]
    fn a_named_place_is_the_only_one() {
        let root = TempDir::new().expect("a folder");
        library(&root.path().join("lib/libonnxruntime.so.1.30.0"));
        let missing = Places { variable: Some(root.path().join("none.so")), ..places(&root) }.find();
        assert!(matches!(missing, Err(RuntimeError::NotThere { asked: Asked::Variable, .. })), "{missing:?}");
        let folder = Places {
            command_line: Some(root.path().join("lib")),
            variable: Some(root.path().join("none.so")),
            ..Places::default()
        };
        let found = folder.find().expect("a folder is as good as the file in it");
        assert_eq!(found.asked, Asked::CommandLine);
        assert!(found.library.ends_with("libonnxruntime.so.1.30.0"), "{found:?}");
    }
}
