//! The layers of the workspace hold: a crate depends only on rows above its own, and ROS stays where it belongs.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Row of every crate, from the top; a crate may depend on smaller rows only.
const ROWS: [(&str, u8); 31] = [
    ("prehend-config", 1),
    ("prehend-testing", 1),
    ("prehend-geometry", 1),
    ("prehend-drawing", 2),
    ("prehend-scene", 2),
    ("prehend-perception", 3),
    ("prehend-verify", 3),
    ("prehend-skills", 3),
    ("prehend-motion", 3),
    ("prehend-imagination", 3),
    ("prehend-navigation", 3),
    ("prehend-agent", 3),
    ("prehend-articulation", 4),
    ("prehend-execution", 4),
    ("prehend-explain", 4),
    ("prehend-harness", 4),
    ("prehend-memory", 4),
    ("prehend-models", 4),
    ("prehend-llm", 4),
    ("prehend-sim", 4),
    ("prehend-recording", 4),
    // Its judge reads the simulator's snapshot, so it stands one below it.
    ("prehend-eval", 5),
    ("prehend-msgs", 5),
    ("prehend-convert", 6),
    ("prehend-ros", 6),
    ("prehend-viewer", 6),
    ("prehend-bags", 7),
    ("prehend-robots", 7),
    ("prehend-nodes", 8),
    ("prehend-sim-node", 8),
    ("prehend-cli", 9),
];

/// Crates that only these members may name.
const RESERVED: [(&str, &[&str]); 18] = [
    ("r2r", &["prehend-msgs", "prehend-ros"]),
    ("r2r_common", &["prehend-msgs"]),
    ("rustdds", &["prehend-ros"]),
    ("rapier3d", &["prehend-imagination", "prehend-sim"]),
    ("ort", &["prehend-models"]),
    ("tokenizers", &["prehend-models"]),
    ("reqwest", &["prehend-llm"]),
    ("rustls", &["prehend-llm", "prehend-memory"]),
    ("rmcp", &["prehend-cli"]),
    ("kiss3d", &["prehend-viewer"]),
    ("wgpu", &["prehend-viewer"]),
    ("hyper", &["prehend-cli"]),
    ("mcap", &["prehend-bags"]),
    ("rusqlite", &["prehend-bags", "prehend-memory"]),
    ("rosrust", &["prehend-bags"]),
    ("tokio-postgres", &["prehend-memory"]),
    (
        "tokio",
        &[
            "prehend-llm",
            "prehend-memory",
            "prehend-bags",
            "prehend-ros",
            "prehend-robots",
            "prehend-nodes",
            "prehend-sim-node",
            "prehend-cli",
        ],
    ),
    ("clap", &["prehend-cli"]),
];

/// Modules of a crate from the ground up: each may use only those before it, and itself.
const ROOMS: [(&str, &[&str]); 1] = [(
    "prehend-agent",
    &[
        "fault", "output", "language", "policy", "talk", "words", "world", "report", "tools", "planner",
        "agent", "mind",
    ],
)];

/// Every use of a module that stands above the one that uses it, as a sentence; every module without a place.
fn climbs(folder: &Path, rooms: &[&str]) -> Vec<String> {
    let mut files = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder of the source");
            files.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let inside = path.strip_prefix(folder).expect("inside");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let room = first.trim_end_matches(".rs");
        // The crate's root names all of them; tests may look at anything.
        if room == "lib" || inside.to_string_lossy().contains("tests") {
            continue;
        }
        let Some(place) = rooms.iter().position(|known| *known == room) else {
            found.push(format!("{}: {room} has no place among the rooms of its crate", path.display()));
            continue;
        };
        let text = std::fs::read_to_string(&path).expect("a file of the source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for used in code.split("crate::").skip(1) {
            let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if rooms.iter().position(|known| *known == name).is_some_and(|other| other > place) {
                found.push(format!("{}: {room} uses {name}, which stands above it", path.display()));
            }
        }
    }
    found
}

#[test]
fn modules_use_only_those_below_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, rooms) in ROOMS {
        let found = climbs(&crates.join(name).join("src"), rooms);
        assert!(found.is_empty(), "{}", found.join("\n"));
        // The other way round nearly everything climbs.
        let upside_down: Vec<&str> = rooms.iter().rev().copied().collect();
        assert!(climbs(&crates.join(name).join("src"), &upside_down).len() > 20, "{name}");
    }
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// Every edge that breaks a rule, as a sentence with the manifest it stands in.
fn violations(metadata: &serde_json::Value, rows: &HashMap<&str, u8>) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let Some(row) = rows.get(name) else {
            found.push(format!("{manifest}: {name} has no row in the layering check"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // Tests may look at anything.
            if dependency["kind"] == "dev" {
                continue;
            }
            let target = dependency["name"].as_str().unwrap_or_default();
            if let Some(target_row) = rows.get(target)
                && target_row >= row
            {
                found.push(format!("{manifest}: {name} (row {row}) depends on {target} (row {target_row})"));
            }
            for (reserved, owners) in RESERVED {
                if target == reserved && !owners.contains(&name) {
                    found
                        .push(format!("{manifest}: {name} depends on {target}, which belongs to {owners:?}"));
                }
            }
        }
    }
    found
}

#[test]
fn every_crate_depends_only_on_rows_above() {
    let found = violations(&metadata(), &HashMap::from(ROWS));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_check_finds_a_broken_edge() {
    let mut rows = HashMap::from(ROWS);
    rows.insert("prehend-geometry", 9);
    let found = violations(&metadata(), &rows);
    assert!(found.iter().any(|f| f.contains("prehend-scene") && f.contains("prehend-geometry")), "{found:?}");
}
