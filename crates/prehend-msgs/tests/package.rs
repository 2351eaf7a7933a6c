//! `prehend_interfaces` as a ROS package: what its files use, its manifest and its build file name, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../build/interface.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod interface;

use interface::{Element, Kind, parse};

const NAME: &str = "prehend_interfaces";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(NAME)
}

/// Packages of all messages the interface files contain; an action also needs `action_msgs`.
fn used_packages() -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for word in ["msg", "srv", "action"] {
        let kind = Kind::from_extension(word).expect("known");
        for file in fs::read_dir(folder().join(word)).expect("folder") {
            let file = file.expect("entry").path();
            let text = fs::read_to_string(&file).expect("text");
            let parsed = parse(NAME, kind, &text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            used.extend((kind == Kind::Action).then(|| "action_msgs".to_owned()));
            for field in parsed.sections.into_iter().flat_map(|s| s.fields) {
                if let Element::Message { package, .. } = field.element {
                    used.insert(package);
                }
            }
        }
    }
    used.remove(NAME);
    used
}

#[test]
fn the_manifest_names_what_the_files_use() {
    let text = fs::read_to_string(folder().join("package.xml")).expect("package.xml");
    let named: BTreeSet<String> =
        text.split("<depend>").skip(1).filter_map(|t| t.split('<').next()).map(str::to_owned).collect();
    assert_eq!(named, used_packages());
    assert!(text.contains(&format!("<version>{}</version>", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn the_build_file_names_what_the_files_use() {
    let text = fs::read_to_string(folder().join("CMakeLists.txt")).expect("CMakeLists.txt");
    let line = text.lines().find_map(|l| l.trim().strip_prefix("DEPENDENCIES ")).expect("DEPENDENCIES");
    let named: BTreeSet<String> = line.split_whitespace().map(str::to_owned).collect();
    assert_eq!(named, used_packages());
    for package in named {
        assert!(text.contains(&format!("find_package({package} REQUIRED)")), "{package}");
    }
}
