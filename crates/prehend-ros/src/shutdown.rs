//! When to stop.

use std::io::Read;
use tokio::sync::oneshot;
use tracing::{debug, warn};

/// Why the process is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// SIGINT: a person pressed Ctrl-C.
    Interrupt,
    /// SIGTERM: the supervisor wants it.
    Terminate,
    /// End of file on stdin: the parent is gone.
    StdinClosed,
}

/// Waits for SIGINT, SIGTERM or, when `watch_stdin`, the end of stdin. Return from `main` then, so that
/// [`Node`](crate::Node) and [`Context`](crate::Context) are dropped and peers see it at once.
///
/// With `watch_stdin` it reads stdin away: call it once, and read nothing else there.
pub async fn shutdown_signal(watch_stdin: bool) -> Shutdown {
    let (closed, stdin) = oneshot::channel();
    if watch_stdin {
        // A thread of its own: a blocking read in the runtime would keep the process from ending.
        let spawned = std::thread::Builder::new().name("stdin-watch".to_owned()).spawn(move || {
            let mut buffer = [0; 256];
            while matches!(std::io::stdin().lock().read(&mut buffer), Ok(1..)) {}
            // Nobody waits any more when another signal came first.
            let _ = closed.send(());
        });
        if let Err(error) = spawned {
            warn!(%error, "stdin is not watched");
        }
    } else {
        drop(closed);
    }
    let stdin_closed = async {
        if stdin.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupt() => Shutdown::Interrupt,
        () = terminate() => Shutdown::Terminate,
        () = stdin_closed => Shutdown::StdinClosed,
    }
}

async fn interrupt() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        debug!(%error, "SIGINT is not watched");
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminate() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(error) => {
            debug!(%error, "SIGTERM is not watched");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
async fn terminate() {
    std::future::pending::<()>().await;
}
