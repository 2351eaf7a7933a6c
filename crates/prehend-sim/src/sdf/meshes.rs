//! Hulls as Wavefront OBJ files.

use crate::body::TriangleMesh;
use nalgebra::Vector3;
use std::fmt::Write;

/// A mesh in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshFile {
    /// Path relative to the SDF's folder, as the SDF has it.
    pub path: String,
    /// Wavefront OBJ, metres.
    pub obj: String,
}

/// The meshes so far.
#[derive(Debug)]
pub(super) struct Meshes {
    folder: String,
    pub(super) files: Vec<MeshFile>,
}

impl Meshes {
    pub(super) fn new(folder: &str) -> Self {
        Self { folder: folder.to_owned(), files: Vec::new() }
    }

    /// Puts triangles into a file; gives its path. Equal meshes share one.
    pub(super) fn add(&mut self, name: &str, mesh: &TriangleMesh) -> String {
        let obj = obj(mesh);
        if let Some(known) = self.files.iter().find(|file| file.obj == obj) {
            return known.path.clone();
        }
        let path = format!("{}/{name}.obj", self.folder);
        self.files.push(MeshFile { path: path.clone(), obj });
        path
    }
}

/// Triangles with a normal each: faces are flat, and a reader need not guess.
fn obj(mesh: &TriangleMesh) -> String {
    let mut text = String::new();
    let mut line = |kind: &str, v: &Vector3<f64>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{kind} {} {} {}", v.x + 0.0, v.y + 0.0, v.z + 0.0);
    };
    mesh.vertices.iter().for_each(|vertex| line("v", &vertex.coords));
    let corner = |index: u32| mesh.vertices[index as usize].coords;
    for [a, b, c] in &mesh.triangles {
        let (a, b, c) = (corner(*a), corner(*b), corner(*c));
        let normal = (b - a).cross(&(c - a));
        line("vn", &normal.try_normalize(1e-15).unwrap_or_else(Vector3::z));
    }
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|vertex| format!("{}//{}", vertex + 1, index + 1));
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}
