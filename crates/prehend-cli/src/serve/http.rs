//! The page over HTTP, for those who have the token.

use super::Live;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN};
use hyper::header::{HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prehend_msgs::prehend_interfaces::srv::Approve;
use rand::RngExt;
use serde::Deserialize;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast::error::RecvError;

/// The page itself; `{{token}}` and `{{nonce}}` are filled in.
const PAGE: &str = include_str!("page.html");
/// Most connections at once, most pages that are told of news, and most bytes of a request's body.
const CONNECTIONS: usize = 512;
const PAGES: usize = 200;
const BODY: usize = 16 * 1024;
/// Longest time until a request's header, and its body, are there.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest life of a connection: a page begins its own anew, one that does not read any more is gone.
const LIFE: Duration = Duration::from_secs(300);
/// How often a page hears that it is still connected.
const STILL_THERE: Duration = Duration::from_secs(10);

/// How the page is reached.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// Where it is served.
    pub address: SocketAddr,
    /// What each request must carry, as `?token=TOKEN` or as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// Host names that requests may be for, besides those of this machine.
    pub hosts: Vec<String>,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

struct Server {
    live: Arc<Live>,
    options: PageOptions,
    pages: Arc<AtomicUsize>,
}

/// Serves until the listener fails; `ready` is told where.
///
/// Errors: the address cannot be listened at.
pub async fn serve(
    live: Arc<Live>,
    options: PageOptions,
    ready: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(options.address).await?;
    ready(listener.local_addr()?);
    let server = Arc::new(Server { live, options, pages: Arc::default() });
    let open = Arc::default();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, or a client that is gone already.
                tracing::warn!("a connection was not taken: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // One too many is closed at once: whoever wants to stop the robot must not queue behind others.
        let Some(turn) = Turn::take(&open, CONNECTIONS) else { continue };
        tokio::spawn(connection(Arc::clone(&server), stream, turn));
    }
}

/// One of a limited number.
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let before = taken.fetch_add(1, Ordering::Relaxed);
        let turn = Self(Arc::clone(taken));
        (before < most).then_some(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection(server: Arc<Server>, stream: TcpStream, _turn: Turn) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
    let served = tokio::time::timeout(LIFE, http.serve_connection(TokioIo::new(stream), answer)).await;
    if let Ok(Err(error)) = served {
        tracing::debug!("a connection ended: {error}");
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoalAsked {
    text: String,
    #[serde(default)]
    plan_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    id: String,
    plan_hash: String,
    yes: bool,
    #[serde(default)]
    who: String,
}

impl Server {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Some((status, text)) = refuse(&request, &self.options) {
            return plain(status, text);
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        match (&method, path.as_str()) {
            (&Method::GET, "/") => self.page(),
            (&Method::GET, "/events") => self.events(),
            (&Method::GET, "/camera") => match self.live.picture().await {
                Ok(png) => typed(StatusCode::OK, "image/png", full(png)),
                Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, why),
            },
            (&Method::POST, "/stop") => self.stop(true).await,
            (&Method::POST, "/clear") => self.stop(false).await,
            (&Method::POST, "/goal") => match read::<GoalAsked>(request).await {
                Ok(asked) => json(&self.live.goal(&asked.text, asked.plan_only).await),
                Err(answer) => answer,
            },
            (&Method::POST, "/approve") => match read::<Word>(request).await {
                Ok(Word { id, plan_hash, yes, who }) => {
                    let who = if who.trim().is_empty() { "the page".to_owned() } else { who };
                    let word = Approve::Request { id, plan_hash, approve: yes, who };
                    let taken = self.live.answer(word).await;
                    json(&serde_json::json!({ "taken": taken.is_ok(), "message": taken.err() }))
                }
                Err(answer) => answer,
            },
            (_, "/" | "/events" | "/camera" | "/stop" | "/clear" | "/goal" | "/approve") => {
                plain(StatusCode::METHOD_NOT_ALLOWED, "GET shows, POST acts\n")
            }
            _ => plain(StatusCode::NOT_FOUND, "the page is at /\n"),
        }
    }

    /// The stop is a form of its own that needs no script: what is answered is shown under the button.
    async fn stop(&self, engage: bool) -> Answer {
        match self.live.stop(engage).await {
            Ok(message) => plain(StatusCode::OK, format!("{message}\n")),
            Err(why) => plain(
                StatusCode::BAD_GATEWAY,
                format!("NOT CONFIRMED: {why}\nUse the robot's own emergency stop.\n"),
            ),
        }
    }

    fn page(&self) -> Answer {
        let nonce = nonce();
        let page = PAGE.replace("{{token}}", &self.options.token).replace("{{nonce}}", &nonce);
        let mut answer = typed(StatusCode::OK, "text/html; charset=utf-8", full(Bytes::from(page)));
        let policy = format!(
            "default-src 'none'; img-src 'self' blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; \
             style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'"
        );
        if let Ok(policy) = HeaderValue::try_from(policy) {
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
        answer
    }

    /// News for one page: the last lines, then the state and lines as they come.
    fn events(&self) -> Answer {
        match Turn::take(&self.pages, PAGES) {
            Some(turn) => {
                let news = StreamBody::new(news(&self.live, turn));
                typed(StatusCode::OK, "text/event-stream", BodyExt::boxed_unsync(news))
            }
            None => plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many pages are open; stopping works all the same\n",
            ),
        }
    }
}

/// What lets the page's own script and style run, and no other; new for each page.
fn nonce() -> String {
    let bytes: [u8; 16] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Events of a page. A page that does not read fast enough misses lines and is told so; it never holds up another.
fn news(live: &Live, turn: Turn) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + use<> {
    let (history, mut lines) = live.lines();
    let mut states = live.state();
    states.mark_changed();
    let first = stream::iter(history.into_iter().map(|line| event("trace", &line)));
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(64);
    tokio::spawn(async move {
        let _turn = turn;
        let mut beat = tokio::time::interval(STILL_THERE);
        loop {
            let news = tokio::select! {
                _ = beat.tick() => Bytes::from_static(b": still there\n\n"),
                changed = states.changed() => match changed {
                    Ok(()) => {
                        let state = Arc::clone(&states.borrow_and_update());
                        event("state", &state)
                    }
                    Err(_) => return,
                },
                line = lines.recv() => match line {
                    Ok(line) => event("trace", &line),
                    Err(RecvError::Lagged(missed)) => event("missed", &missed.to_string()),
                    Err(RecvError::Closed) => return,
                },
                () = sender.closed() => return,
            };
            if sender.send(news).await.is_err() {
                return;
            }
        }
    });
    let rest = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    first.chain(rest).map(|bytes| Ok(Frame::data(bytes)))
}

fn event(name: &str, data: &str) -> Bytes {
    // JSON text has no line breaks of its own.
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Why a request is not served, if it is not.
fn refuse<B>(request: &Request<B>, options: &PageOptions) -> Option<(StatusCode, &'static str)> {
    let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    // A page of somebody else that found a name for this machine has no business here.
    let host = header(HOST).unwrap_or_default();
    if !is_this_machine(host, options) {
        return Some((StatusCode::FORBIDDEN, "this is not the host of that name; see --host\n"));
    }
    let ours = |origin: &str| origin.strip_prefix("http://").is_some_and(|origin| origin == host);
    if header(ORIGIN).is_some_and(|origin| !ours(origin)) {
        return Some((StatusCode::FORBIDDEN, "another page has no business here\n"));
    }
    let in_query =
        request.uri().query().unwrap_or_default().split('&').find_map(|part| part.strip_prefix("token="));
    let in_header = header(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let given = in_header.or(in_query).unwrap_or_default();
    if !crate::token::is_same(given.as_bytes(), options.token.as_bytes()) {
        return Some((
            StatusCode::UNAUTHORIZED,
            "open the address that `prehend serve` printed: it has the token\n",
        ));
    }
    None
}

/// Whether a request's host is a name of this machine.
fn is_this_machine(host: &str, options: &PageOptions) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    ["localhost", "127.0.0.1", "::1"].contains(&name)
        || options.address.ip().to_string() == name
        || options.hosts.iter().any(|known| known == name)
}

/// The JSON body of a request.
async fn read<T: for<'a> Deserialize<'a>>(request: Request<Incoming>) -> Result<T, Answer> {
    let bad = |why: String| plain(StatusCode::BAD_REQUEST, format!("{why}\n"));
    let body = tokio::time::timeout(PATIENCE, Limited::new(request.into_body(), BODY).collect()).await;
    let body = body.map_err(|_| bad("the request did not come to its end".to_owned()))?;
    let body = body.map_err(|error| bad(error.to_string()))?.to_bytes();
    serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))
}

fn full(bytes: Bytes) -> Body {
    Full::from(bytes).boxed_unsync()
}

fn plain(status: StatusCode, text: impl Into<String>) -> Answer {
    typed(status, "text/plain; charset=utf-8", full(Bytes::from(text.into())))
}

fn json(value: &serde_json::Value) -> Answer {
    typed(StatusCode::OK, "application/json", full(Bytes::from(value.to_string())))
}

fn typed(status: StatusCode, kind: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> PageOptions {
        let address = SocketAddr::from(([127, 0, 0, 1], 8642));
        PageOptions { address, token: "0123456789abcdef".to_owned(), hosts: vec!["robot.lab".to_owned()] }
    }

    #[test]
    fn only_who_has_the_token_and_comes_from_this_page_is_served() {
        let status = |uri: &str, headers: &[(HeaderName, &str)]| {
            let mut request = Request::builder().uri(uri);
            for (name, value) in headers {
                request = request.header(name, *value);
            }
            refuse(&request.body(()).expect("a request"), &options()).map(|(status, _)| status.as_u16())
        };
        let here = (HOST, "127.0.0.1:8642");
        let bearer = (AUTHORIZATION, "Bearer 0123456789abcdef");
        assert_eq!(status("/?token=0123456789abcdef", std::slice::from_ref(&here)), None);
        assert_eq!(status("/stop?x=1&token=0123456789abcdef", std::slice::from_ref(&here)), None);
        assert_eq!(status("/stop", &[here.clone(), bearer.clone()]), None);
        assert_eq!(status("/", &[(HOST, "robot.lab"), bearer.clone()]), None);
        assert_eq!(status("/", &[(HOST, "[::1]:8642"), bearer.clone()]), None);
        assert_eq!(status("/stop", &[here.clone(), bearer.clone(), (ORIGIN, "http://127.0.0.1:8642")]), None);
        for wrong in ["/", "/?token=", "/?token=0123456789abcde", "/?Token=0123456789abcdef"] {
            assert_eq!(status(wrong, std::slice::from_ref(&here)), Some(401), "{wrong}");
        }
        for origin in ["http://evil.example", "null", "https://127.0.0.1:8642", "http://127.0.0.1:80"] {
            assert_eq!(
                status("/stop", &[here.clone(), bearer.clone(), (ORIGIN, origin)]),
                Some(403),
                "{origin}"
            );
        }
        // A name that an attacker points at this machine.
        assert_eq!(status("/", &[(HOST, "evil.example"), bearer.clone()]), Some(403));
        assert_eq!(status("/", &[bearer]), Some(403));
    }
}
