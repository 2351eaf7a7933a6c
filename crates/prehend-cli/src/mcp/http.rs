//! The protocol over streamable HTTP, for those who have the token.

use super::{Robot, Server};
use crate::token;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tower_service::Service;

/// Where the server is.
const PATH: &str = "/mcp";
/// Most connections at once.
const CONNECTIONS: usize = 64;

/// How the server is reached.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens.
    pub address: SocketAddr,
    /// What each request must carry as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// Host names that requests may be for, besides those of this machine.
    pub hosts: Vec<String>,
}

/// Serves until the listener fails; `ready` is told where.
///
/// Errors: the address cannot be listened at.
pub async fn serve_http(
    robot: Arc<Robot>,
    options: HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(options.address).await?;
    let mut config = StreamableHttpServerConfig::default();
    config.allowed_hosts.extend(options.hosts);
    let service = StreamableHttpService::new(
        move || Ok(Server::new(Arc::clone(&robot))),
        Arc::new(LocalSessionManager::default()),
        // No page of a browser has business here.
        config.enforce_origin_validation(),
    );
    let expected = Arc::new(format!("Bearer {}", options.token));
    let turns = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
    ready(listener.local_addr()?);
    loop {
        // It is never closed, so that an error cannot be.
        let Ok(turn) = Arc::clone(&turns).acquire_owned().await else { return Ok(()) };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, or a client that is gone already.
                tracing::warn!("a connection was not taken: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                continue;
            }
        };
        let (service, expected) = (service.clone(), Arc::clone(&expected));
        tokio::spawn(async move {
            let _turn = turn;
            let answer = service_fn(move |request: Request<Incoming>| {
                let (mut service, expected) = (service.clone(), Arc::clone(&expected));
                async move {
                    let refusal = refuse(&request, &expected);
                    let response: Response<_> = match refusal {
                        Some((status, text)) => {
                            let body =
                                Full::from(text).map_err(|never: Infallible| match never {}).boxed_unsync();
                            let mut response = Response::new(body);
                            *response.status_mut() = status;
                            response
                        }
                        None => service.call(request).await?.map(BodyExt::boxed_unsync),
                    };
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = Builder::new(TokioExecutor::new());
            if let Err(error) = connection.serve_connection(TokioIo::new(stream), answer).await {
                tracing::debug!("a connection ended: {error}");
            }
        });
    }
}

/// Why a request is not for the protocol, if it is not.
fn refuse<B>(request: &Request<B>, expected: &str) -> Option<(StatusCode, &'static str)> {
    let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    if !token::is_same(given, expected.as_bytes()) {
        return Some((StatusCode::UNAUTHORIZED, "the header Authorization must be: Bearer TOKEN\n"));
    }
    (request.uri().path() != PATH).then_some((StatusCode::NOT_FOUND, "the server is at /mcp\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_token_comes_in() {
        let request = |path: &str, token: Option<&str>| {
            let mut request = Request::builder().uri(path);
            if let Some(token) = token {
                request = request.header(AUTHORIZATION, token);
            }
            request.body(()).expect("a request")
        };
        let status = |request| refuse(&request, "Bearer abc").map(|(status, _)| status.as_u16());
        assert_eq!(status(request("/mcp", Some("Bearer abc"))), None);
        assert_eq!(status(request("/", Some("Bearer abc"))), Some(404));
        for token in [None, Some(""), Some("Bearer ab"), Some("Bearer abcd"), Some("abc")] {
            assert_eq!(status(request("/mcp", token)), Some(401), "{token:?}");
        }
    }
}
