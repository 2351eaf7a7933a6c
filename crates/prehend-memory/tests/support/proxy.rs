//! What stands between a robot and a server: speaks TLS in front of it, or loses what is said at the worst moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, UnixStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// What becomes of a connection.
#[derive(Clone)]
pub(crate) enum Way {
    /// TLS with a certificate and its key.
    Tls(TlsAcceptor),
    /// The first COMMIT reaches the server, its answer nobody.
    AnswerLost(Arc<AtomicUsize>),
    /// The first COMMIT reaches nobody.
    CommitLost(Arc<AtomicUsize>),
}

/// A proxy; it ends with this.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    _runtime: Runtime,
}

impl Proxy {
    /// Before the server with this address of a socket.
    pub(crate) fn start(url: &str, way: Way) -> Self {
        let (_, folder) = url.split_once("host=").unwrap();
        let socket = Path::new(folder).join(".s.PGSQL.5432");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, socket.clone(), way.clone()));
            }
        });
        Self { port, _runtime: runtime }
    }
}

/// A certificate for a name, as TLS and as a file that trusts it.
pub(crate) fn tls(name: &str, folder: &Path) -> (Way, PathBuf) {
    let signed = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let file = folder.join(format!("{name}.pem"));
    std::fs::write(&file, signed.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    (Way::Tls(TlsAcceptor::from(Arc::new(config))), file)
}

async fn serve(mut client: impl AsyncRead + AsyncWrite + Unpin, socket: PathBuf, way: Way) -> Option<()> {
    let mut server = UnixStream::connect(socket).await.ok()?;
    // The first message is its length, then what is wanted; TLS is asked for by a number.
    let mut first = [0; 8];
    client.read_exact(&mut first).await.ok()?;
    let asks_for_tls = first[4..] == 80_877_103_u32.to_be_bytes();
    match way {
        Way::Tls(acceptor) if asks_for_tls => {
            client.write_all(b"S").await.ok()?;
            let mut client = acceptor.accept(client).await.ok()?;
            copy_bidirectional(&mut client, &mut server).await.ok()?;
        }
        Way::Tls(_) => {
            server.write_all(&first).await.ok()?;
            copy_bidirectional(&mut client, &mut server).await.ok()?;
        }
        Way::AnswerLost(commits) => {
            server.write_all(&first).await.ok()?;
            cut(client, server, &commits, true).await?;
        }
        Way::CommitLost(commits) => {
            server.write_all(&first).await.ok()?;
            cut(client, server, &commits, false).await?;
        }
    }
    Some(())
}

/// Moves bytes until a COMMIT is sent: it is named when it is prepared, so what comes after that is it. Only the first is lost.
async fn cut(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut server: UnixStream,
    commits: &AtomicUsize,
    reaches: bool,
) -> Option<()> {
    let (mut said, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_prepared = false;
    loop {
        tokio::select! {
            read = client.read(&mut said) => {
                let said = said.get(..read.ok().filter(|read| *read > 0)?)?;
                if is_prepared && commits.fetch_add(1, Ordering::SeqCst) == 0 {
                    if reaches {
                        server.write_all(said).await.ok()?;
                        drop(server.read(&mut answered).await);
                    }
                    return None;
                }
                is_prepared = said.windows(7).any(|word| word == b"COMMIT\0");
                server.write_all(said).await.ok()?;
            }
            read = server.read(&mut answered) => {
                let answered = answered.get(..read.ok().filter(|read| *read > 0)?)?;
                client.write_all(answered).await.ok()?;
            }
        }
    }
}
