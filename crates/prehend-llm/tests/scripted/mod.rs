//! A model that says what a script says, over real TCP on this machine; shared by the tests of the confirmer and of the node.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "a module of several test files, each of which uses its own part"
)]

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// First byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Path of the request line.
    pub path: String,
    /// The header of that name.
    pub authorization: Option<String>,
    /// All headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON.
    pub body: Value,
}

impl Heard {
    /// What the user message holds as data: the query and the candidates.
    pub fn data(&self) -> Value {
        let text = self.body["messages"][1]["content"][0]["text"].as_str().expect("the first part is a text");
        serde_json::from_str(text).expect("the first part is JSON alone")
    }

    /// An answer with a yes for the candidates whose label fits.
    pub fn judged(&self, is_meant: impl Fn(&str) -> bool) -> String {
        let data = self.data();
        let entries: Vec<Value> = data["candidates"]
            .as_array()
            .expect("candidates")
            .iter()
            .map(|candidate| {
                let is_meant = is_meant(candidate["label"].as_str().expect("a label"));
                json!({ "id": candidate["id"], "is_meant": is_meant, "reason": "as scripted" })
            })
            .collect();
        json!({ "candidates": entries }).to_string()
    }
}

type Says = Arc<dyn Fn(&Heard) -> String + Send + Sync>;
type Answers = Arc<dyn Fn(&Heard) -> Reply + Send + Sync>;

/// What is sent back to one request.
#[derive(Clone)]
pub enum Reply {
    /// A chat completion with this text.
    Says(Says),
    /// A status line, more headers, and a short body.
    Status(u16, &'static str),
    /// 401, with what was sent as authorization in the status line, in a header and in the body, as careless servers do it.
    Refused,
    /// These bytes as the body of an answer that claims to be this long.
    Body(Vec<u8>, usize),
    /// Nothing, and the connection stays open.
    Silence,
    /// The head of an answer, then one byte after the other without end.
    Drip,
    /// A streamed answer in these pieces, as chunks of HTTP/1.1.
    Stream(Vec<Vec<u8>>, After),
    /// A status, more headers and this body.
    Error(u16, String, String),
}

/// What follows the last piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The stream ends as it should.
    End,
    /// The connection breaks.
    Break,
    /// Nothing, and the connection stays open.
    Silence,
    /// This piece again and again, without end.
    Again(&'static str),
}

impl Reply {
    /// A chat completion with a fixed text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Says(Arc::new(move |_| text.clone()))
    }

    /// A yes for the candidates whose label fits.
    pub fn judging(is_meant: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self::Says(Arc::new(move |heard| heard.judged(&is_meant)))
    }

    /// A whole answer with this body.
    pub fn body(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len();
        Self::Body(bytes, length)
    }
}

/// A base URL at which nobody listens: the port was free a moment ago.
pub fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}/v1", listener.local_addr().expect("an address"))
}

/// The server; it ends when it is dropped.
pub struct ScriptedModel {
    /// What goes into `vlm.base_url`.
    pub base_url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    serving: JoinHandle<()>,
}

impl ScriptedModel {
    /// Answers the first request with the first reply and so on; the last one stays.
    pub async fn start(replies: Vec<Reply>) -> Self {
        let asked = Mutex::new(0);
        Self::answering(move |_| {
            let mut asked = asked.lock().expect("no test panics while it holds this");
            *asked += 1;
            replies[(*asked - 1).min(replies.len() - 1)].clone()
        })
        .await
    }

    /// Answers each request as this says.
    pub async fn answering(reply: impl Fn(&Heard) -> Reply + Send + Sync + 'static) -> Self {
        let reply: Answers = Arc::new(reply);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&heard);
        let serving = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, Arc::clone(&reply), Arc::clone(&noted)));
            }
        });
        Self { base_url, heard, serving }
    }

    /// The requests so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("no test panics while it holds this").clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves one connection; also the decrypted side of one.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    reply: Answers,
    noted: Arc<Mutex<Vec<Heard>>>,
) {
    let Some(heard) = request(&mut stream).await else { return };
    noted.lock().expect("no test panics while it holds this").push(heard.clone());
    let reply = reply(&heard);
    // Whoever asked may be gone by now.
    let _ = answer(&mut stream, reply, &heard).await;
}

/// Reads a request; a TLS handshake is answered as a server does that speaks none.
async fn request<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> Option<Heard> {
    let mut read = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    let head = loop {
        let length = stream.read(&mut chunk).await.ok().filter(|length| *length > 0)?;
        read.extend_from_slice(&chunk[..length]);
        if read[0] == TLS_HANDSHAKE {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").await;
            return None;
        }
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let text = String::from_utf8(read[..head].to_vec()).expect("the head is text");
    let header = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut named = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim().to_owned())
    };
    // A GET has no body.
    let length: usize = header("content-length").map_or(0, |length| length.parse().expect("a number"));
    let mut body = read.split_off(head + 4);
    while body.len() < length {
        let read = stream.read(&mut chunk).await.ok().filter(|length| *length > 0)?;
        body.extend_from_slice(&chunk[..read]);
    }
    let headers = text.lines().skip(1).filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    Some(Heard {
        headers,
        path: text.split(' ').nth(1).unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        body: if length == 0 {
            Value::Null
        } else {
            serde_json::from_slice(&body).expect("the body is JSON")
        },
    })
}

async fn answer<S: AsyncWrite + Unpin>(stream: &mut S, reply: Reply, heard: &Heard) -> std::io::Result<()> {
    let head = |length: usize| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )
    };
    match reply {
        Reply::Says(says) => {
            let message = json!({ "role": "assistant", "content": says(heard) });
            let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
            let body = json!({ "object": "chat.completion", "choices": [choice] }).to_string();
            stream.write_all(head(body.len()).as_bytes()).await?;
            stream.write_all(body.as_bytes()).await
        }
        Reply::Status(status, headers) => {
            let text = format!(
                "HTTP/1.1 {status} Scripted\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            );
            stream.write_all(text.as_bytes()).await
        }
        Reply::Refused => {
            let sent = heard.authorization.clone().unwrap_or_default();
            let message = format!("Incorrect API key provided: {sent}");
            let body = json!({ "error": { "message": message, "code": "invalid_api_key" } }).to_string();
            let length = body.len();
            let text = format!(
                "HTTP/1.1 401 Unauthorized {sent}\r\nWWW-Authenticate: {sent}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            stream.write_all(text.as_bytes()).await
        }
        Reply::Body(bytes, claimed) => {
            stream.write_all(head(claimed).as_bytes()).await?;
            stream.write_all(&bytes).await
        }
        Reply::Silence => std::future::pending().await,
        Reply::Error(status, headers, body) => {
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} Scripted\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            stream.write_all(text.as_bytes()).await
        }
        Reply::Stream(pieces, after) => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                chunk(stream, piece).await?;
            }
            match after {
                After::End => stream.write_all(b"0\r\n\r\n").await,
                After::Break => Ok(()),
                After::Silence => std::future::pending().await,
                After::Again(piece) => loop {
                    chunk(stream, piece.as_bytes()).await?;
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                },
            }
        }
        Reply::Drip => {
            stream.write_all(head(1 << 19).as_bytes()).await?;
            loop {
                stream.write_all(b" ").await?;
                stream.flush().await?;
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    }
}

/// One chunk of HTTP/1.1.
async fn chunk<S: AsyncWrite + Unpin>(stream: &mut S, piece: &[u8]) -> std::io::Result<()> {
    let mut bytes = format!("{:x}\r\n", piece.len()).into_bytes();
    bytes.extend_from_slice(piece);
    bytes.extend_from_slice(b"\r\n");
    stream.write_all(&bytes).await?;
    stream.flush().await
}
