//! What tests share: a test that needs what is not on every machine is skipped with a line, or fails where that was promised.
//!
//! For: tests only. Set `PREHEND_REQUIRE` to `all`, or to names with commas between them (`browser,vulkan`), on a machine that has
//! these things: then a test that misses one fails. See [`Needs`] for the names.

use std::fmt::Display;

/// The variable that says what must be there.
pub const REQUIRE: &str = "PREHEND_REQUIRE";

/// What a test may need that is not on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A chromium: `browser`.
    Browser,
    /// A Vulkan, in software or not: `vulkan`.
    Vulkan,
    /// ONNX Runtime: `onnxruntime`.
    OnnxRuntime,
    /// The folder with models, frames and tables that is not part of the repository: `shared`.
    Shared,
    /// Weights of a network that nobody may pass on: `weights`.
    Weights,
    /// PostgreSQL with pgvector: `postgres`.
    Postgres,
    /// libsdformat and a C++ compiler: `sdformat`.
    Sdformat,
    /// `check_urdf`: `urdfdom`.
    Urdfdom,
    /// Python with the modules of a launch file: `python`.
    Python,
    /// An installed ROS 2 that is sourced: `ros2`.
    Ros2,
    /// Network namespaces: `netns`.
    Netns,
    /// CA certificates: `certificates`.
    Certificates,
    /// A system library that a test takes for another one: `libm`.
    Libm,
}

impl Needs {
    /// All of them.
    const ALL: [Self; 13] = [
        Self::Browser,
        Self::Vulkan,
        Self::OnnxRuntime,
        Self::Shared,
        Self::Weights,
        Self::Postgres,
        Self::Sdformat,
        Self::Urdfdom,
        Self::Python,
        Self::Ros2,
        Self::Netns,
        Self::Certificates,
        Self::Libm,
    ];

    /// The name in `PREHEND_REQUIRE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Vulkan => "vulkan",
            Self::OnnxRuntime => "onnxruntime",
            Self::Shared => "shared",
            Self::Weights => "weights",
            Self::Postgres => "postgres",
            Self::Sdformat => "sdformat",
            Self::Urdfdom => "urdfdom",
            Self::Python => "python",
            Self::Ros2 => "ros2",
            Self::Netns => "netns",
            Self::Certificates => "certificates",
            Self::Libm => "libm",
        }
    }

    /// Whether a list of names, or `all`, asks for it.
    fn is_in(self, required: &str) -> bool {
        required.split(',').map(str::trim).any(|name| name == "all" || name == self.name())
    }

    /// The first name in a list that is none.
    fn unknown(required: &str) -> Option<&str> {
        let is_name =
            |name: &str| name.is_empty() || name == "all" || Self::ALL.iter().any(|one| one.name() == name);
        required.split(',').map(str::trim).find(|name| !is_name(name))
    }
}

/// Says that a test is skipped, and why; it must end then.
///
/// # Panics
///
/// When `PREHEND_REQUIRE` asks for what is missing, or has a name that is none.
#[track_caller]
pub fn skipped(needs: Needs, why: impl Display) {
    let required = std::env::var(REQUIRE).unwrap_or_default();
    let unknown = Needs::unknown(&required);
    assert!(unknown.is_none(), "{REQUIRE} has no name {unknown:?}: {:?}", Needs::ALL.map(Needs::name));
    assert!(!needs.is_in(&required), "{REQUIRE} asks for `{}`, and it is missing: {why}", needs.name());
    eprintln!("skipped: {why}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_named_or_all() {
        for (required, is_in) in
            [("", false), ("all", true), ("vulkan", false), ("vulkan, browser", true), ("browsers", false)]
        {
            assert_eq!(Needs::Browser.is_in(required), is_in, "{required}");
        }
        assert_eq!(Needs::unknown("vulkan, browsers"), Some("browsers"));
        assert!(["", "all", "vulkan,onnxruntime"].iter().all(|known| Needs::unknown(known).is_none()));
    }
}
