//! What `prehend doctor` says of ROS 2: the backend of this program, and what is installed.

use super::Health;
use prehend_ros::{BACKEND, Backend};
use std::path::{Path, PathBuf};

/// The middleware of ROS 2 when `RMW_IMPLEMENTATION` does not name another.
const DEFAULT_RMW: &str = "rmw_fastrtps_cpp";

/// How to build for an installed ROS 2.
const BUILD: &str = "cargo build --release -p prehend-cli --no-default-features --features ros2";

/// What of ROS 2 the environment names.
struct Sourced {
    distro: Option<String>,
    prefixes: Vec<PathBuf>,
    rmw: String,
}

impl Sourced {
    fn of_environment() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
        Self {
            distro: set("ROS_DISTRO"),
            prefixes: std::env::split_paths(&prefixes).filter(|prefix| prefix.is_dir()).collect(),
            rmw: set("RMW_IMPLEMENTATION").unwrap_or_else(|| DEFAULT_RMW.to_owned()),
        }
    }

    /// Whether the middleware that ROS 2 would load is there.
    fn has_rmw(&self) -> bool {
        let library = Path::new("lib").join(format!("lib{}.so", self.rmw));
        self.prefixes.iter().any(|prefix| prefix.join(&library).is_file())
    }
}

/// Whether processes of the ROS 2 that is sourced are on Fast DDS.
pub(super) fn has_fast_dds() -> bool {
    let sourced = Sourced::of_environment();
    sourced.distro.is_some() && sourced.rmw.contains("fastrtps")
}

/// Whether those processes pass samples among each other through the shared memory that Fast DDS takes when nothing says otherwise.
pub(super) fn has_fast_dds_by_shared_memory() -> bool {
    let settings =
        ["FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"];
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    has_fast_dds() && !settings.into_iter().any(is_set)
}

pub(super) fn backend() -> Health {
    match BACKEND {
        Backend::Embedded => Health::Good(format!(
            "embedded: needs no ROS 2 and joins the graph of one; to build on an installed one, source it, then `{BUILD}`"
        )),
        Backend::Ros2 { distro } => Health::Good(format!(
            "ros2: r2r on ROS 2 {distro}; the one that needs none is built with `cargo build --release -p prehend-cli`"
        )),
    }
}

pub(super) fn installation() -> Health {
    judge(&Sourced::of_environment(), BACKEND)
}

/// Whether the processes of ROS 2 speak DDS as this program does.
pub(super) fn middleware() -> Health {
    speaks(&Sourced::of_environment(), BACKEND)
}

fn speaks(sourced: &Sourced, backend: Backend) -> Health {
    match (backend, sourced.rmw.contains("dds") || sourced.rmw.contains("fastrtps")) {
        (Backend::Embedded, true) => Health::Good(format!("DDS; processes of ROS 2 have {}", sourced.rmw)),
        (Backend::Embedded, false) => Health::Bad(format!(
            "RMW_IMPLEMENTATION is {}: such processes and this program, which speaks DDS, do not see each other; start them with rmw_cyclonedds_cpp",
            sourced.rmw
        )),
        (Backend::Ros2 { .. }, _) => {
            Health::Good(format!("{}: every process has to have one that it sees", sourced.rmw))
        }
    }
}

fn judge(sourced: &Sourced, backend: Backend) -> Health {
    let needed = match backend {
        Backend::Embedded => None,
        Backend::Ros2 { distro } => Some(distro),
    };
    let Some(distro) = &sourced.distro else {
        return match needed {
            Some(distro) => Health::Bad(format!("not sourced: `source /opt/ros/{distro}/setup.bash`")),
            None => not_sourced(),
        };
    };
    if needed.is_some_and(|needed| needed != distro) {
        return Health::Bad(format!(
            "{distro} is sourced, but this program was built on another: source that one, or build anew"
        ));
    }
    let found = match sourced.prefixes.as_slice() {
        [] => "AMENT_PREFIX_PATH names no folder".to_owned(),
        [prefix] => prefix.display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
    };
    match (sourced.has_rmw(), needed) {
        (true, Some(_)) => Health::Good(format!("{distro} in {found}, {}", sourced.rmw)),
        (true, None) => {
            Health::Good(format!("{distro} in {found}, {}; this program speaks with it", sourced.rmw))
        }
        (false, Some(_)) => Health::Bad(format!(
            "{distro} in {found}, but there is no lib{}.so: install it, or set RMW_IMPLEMENTATION to one that is there",
            sourced.rmw
        )),
        (false, None) => Health::Note(format!("{distro} in {found}, but there is no lib{}.so", sourced.rmw)),
    }
}

fn not_sourced() -> Health {
    match std::fs::read_dir("/opt/ros").ok().and_then(|mut folders| folders.next()) {
        Some(Ok(folder)) => {
            Health::Note(format!("installed, not sourced: `source {}/setup.bash`", folder.path().display()))
        }
        _ => Health::Note(
            "not installed, and not needed for the embedded robot; for a real one: https://docs.ros.org/en/jazzy/Installation.html"
                .to_owned(),
        ),
    }
}

pub(super) fn interfaces() -> Health {
    let report = prehend_ros::check_interfaces();
    let missing: Vec<&str> = report.missing.iter().map(String::as_str).collect();
    match (BACKEND, report.differing.as_slice(), missing.as_slice()) {
        (Backend::Embedded, ..) => Health::Good("its own, of ROS 2 Jazzy".to_owned()),
        (_, [], []) => Health::Good(format!("{} as they are known here", report.known)),
        // Messages that no node uses, newer than Humble.
        (Backend::Ros2 { distro: "humble" }, [], ["geometry_msgs", "rcl_interfaces"]) => {
            Health::Good(format!("{} as they are known here", report.known))
        }
        (_, [], missing) => Health::Note(format!(
            "{} as they are known here; built without all of {}: install those and build anew, or do without",
            report.known,
            missing.join(", ")
        )),
        (_, differing, _) => Health::Bad(format!(
            "other fields than in ROS 2 Humble and Jazzy, so that they cannot be used: {}",
            differing.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sourced_is_judged_by_what_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(folder.path().join("lib/librmw_here.so"), "").unwrap();
        let sourced = |distro: Option<&str>, rmw: &str| Sourced {
            distro: distro.map(str::to_owned),
            prefixes: vec![folder.path().to_owned()],
            rmw: rmw.to_owned(),
        };
        let jazzy = Backend::Ros2 { distro: "jazzy" };
        assert!(judge(&sourced(None, "rmw_here"), jazzy).is_bad());
        assert!(!judge(&sourced(None, "rmw_here"), Backend::Embedded).is_bad());
        assert!(judge(&sourced(Some("humble"), "rmw_here"), jazzy).is_bad());
        assert!(judge(&sourced(Some("jazzy"), "rmw_gone"), jazzy).is_bad());
        assert!(matches!(judge(&sourced(Some("jazzy"), "rmw_gone"), Backend::Embedded), Health::Note(_)));
        assert!(matches!(judge(&sourced(Some("jazzy"), "rmw_here"), jazzy), Health::Good(_)));
        for (rmw, is_seen) in [
            ("rmw_fastrtps_cpp", true),
            ("rmw_cyclonedds_cpp", true),
            ("rmw_connextdds", true),
            ("rmw_zenoh_cpp", false),
        ] {
            assert_eq!(!speaks(&sourced(None, rmw), Backend::Embedded).is_bad(), is_seen, "{rmw}");
        }
    }
}
