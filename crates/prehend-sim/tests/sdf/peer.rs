//! The same models as libsdformat reads them, where it is installed (`apt-get install libsdformat-dev`).

use super::tree::{ReadJoint, ReadLink, ReadModel};
use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the reader of `tests/peers`; `None` without libsdformat or a compiler for C++.
pub(crate) fn build(folder: &Path) -> Option<PathBuf> {
    let flags = ["sdformat14", "sdformat13", "sdformat12"].iter().find_map(|package| {
        let asked = Command::new("pkg-config").args(["--cflags", "--libs", package]).output().ok()?;
        asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).into_owned())
    })?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/sdformat_read.cc");
    let program = folder.join("sdformat_read");
    let mut compiler = Command::new("g++");
    compiler.arg("-std=c++17").arg(source).arg("-o").arg(&program);
    let built = compiler.args(flags.split_whitespace()).output().ok()?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(program)
}

/// What it reads; panics with what it complains of.
pub(crate) fn read(program: &Path, file: &Path) -> Vec<ReadModel> {
    let output = Command::new(program).arg(file).output().expect("runs");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints}", file.display());
    let mut models: Vec<ReadModel> = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = |from: usize| -> Vec<f64> {
            words[from.min(words.len())..].iter().map(|word| word.parse().expect("a number")).collect()
        };
        match words[0] {
            "model" => models.push(ReadModel {
                name: words[1].to_owned(),
                is_static: words[2] == "1",
                links: Vec::new(),
                joints: Vec::new(),
            }),
            "link" => models.last_mut().expect("a model").links.push(link(words[1], &numbers(2))),
            "joint" => models.last_mut().expect("a model").joints.push(joint(&words, &numbers(5))),
            other => panic!("a line of `{other}`"),
        }
    }
    models
}

fn link(name: &str, n: &[f64]) -> ReadLink {
    ReadLink {
        name: name.to_owned(),
        pose: Isometry3::from_parts(
            Translation3::new(n[0], n[1], n[2]),
            UnitQuaternion::from_quaternion(Quaternion::new(n[6], n[3], n[4], n[5])),
        ),
        mass: n[7],
        center: Vector3::new(n[8], n[9], n[10]),
        inertia: Matrix3::new(n[11], n[12], n[13], n[12], n[14], n[15], n[13], n[15], n[16]),
        collisions: n[17] as usize,
    }
}

fn joint(words: &[&str], n: &[f64]) -> ReadJoint {
    // A fixed joint has no axis.
    let at = |index: usize| n.get(index).copied().unwrap_or(0.0);
    ReadJoint {
        name: words[1].to_owned(),
        kind: words[2].to_owned(),
        parent: words[3].to_owned(),
        child: words[4].to_owned(),
        axis: Vector3::new(at(0), at(1), at(2)),
        limits: [at(3), at(4)],
        damping: at(5),
        friction: at(6),
        spring: [at(7), at(8)],
    }
}
