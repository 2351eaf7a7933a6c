//! When to stop.

use std::future::Future;
use std::io::Read;
use tokio::sync::oneshot;
use tracing::warn;

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

/// Completes on SIGINT, SIGTERM or, when `watch_stdin`, the end of stdin. Return from `main` then, so that
/// [`Node`](crate::Node) and [`Context`](crate::Context) are dropped and peers see it at once.
///
/// Signals are caught from the call on, not from the first poll: call it first thing, within the tokio runtime; before that
/// they kill the process without a word to its peers. With `watch_stdin` it reads stdin away: call it once, and read
/// nothing else there.
pub fn shutdown_signal(watch_stdin: bool) -> impl Future<Output = Shutdown> + Send {
    let interrupt = Signal::catch(Shutdown::Interrupt);
    let terminate = Signal::catch(Shutdown::Terminate);
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
    async move {
        tokio::select! {
            () = interrupt.received() => Shutdown::Interrupt,
            () = terminate.received() => Shutdown::Terminate,
            () = stdin_closed => Shutdown::StdinClosed,
        }
    }
}

/// A signal that is caught; never received where it cannot be.
#[cfg(unix)]
struct Signal(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signal {
    fn catch(meaning: Shutdown) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = match meaning {
            Shutdown::Interrupt => SignalKind::interrupt(),
            _ => SignalKind::terminate(),
        };
        match signal(kind) {
            Ok(signal) => Self(Some(signal)),
            Err(error) => {
                warn!(%error, ?meaning, "a signal is not caught");
                Self(None)
            }
        }
    }

    async fn received(mut self) {
        match &mut self.0 {
            Some(signal) => {
                signal.recv().await;
            }
            None => std::future::pending().await,
        }
    }
}

/// Only Ctrl-C is known here.
#[cfg(not(unix))]
struct Signal(Shutdown);

#[cfg(not(unix))]
impl Signal {
    fn catch(meaning: Shutdown) -> Self {
        Self(meaning)
    }

    async fn received(self) {
        if self.0 != Shutdown::Interrupt || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
