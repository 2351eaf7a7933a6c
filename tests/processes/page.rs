//! The page of a running graph, over HTTP as a browser has it, and in a browser where one is installed.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{
    EASY_PLACE, PREHEND, Stage, StageOptions, begins, in_time, one_at_a_time, repository, wait_for,
};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_testing::{Needs, skipped};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

const TOKEN: &str = "0123456789abcdef0123";
/// Browsers by which Debian and others know the one that is looked for.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// `prehend serve` in the ROS domain of a stage, and where its page is.
async fn served(domain: u16) -> (Child, SocketAddr) {
    let mut child = Command::new(PREHEND)
        .current_dir(repository())
        .env("ROS_DOMAIN_ID", domain.to_string())
        .env("PAGE_TOKEN", TOKEN)
        .args(["serve", "--http", "127.0.0.1:0", "--token-env", "PAGE_TOKEN"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = in_time("the page's address", lines.next_line()).await.unwrap().unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    (child, address.parse().unwrap())
}

/// What is answered to a request that is given as text, head and body.
async fn asked(at: SocketAddr, request: String) -> (u16, String, Vec<u8>) {
    let answer = in_time("an answer", async {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    })
    .await;
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..split]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, answer[split + 4..].to_vec())
}

fn get(at: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n\r\n")
}

fn post(at: SocketAddr, path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A page that is told of news; what was read of them so far.
async fn listening(at: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(get(at, &format!("/events?token={TOKEN}")).as_bytes()).await.unwrap();
    stream
}

async fn told(stream: &mut TcpStream, what: &str) {
    let mut news = String::new();
    in_time(what, async {
        let mut buffer = [0; 4096];
        while !news.contains(what) {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "the news ended before {what}: {news}");
            news.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_shows_the_robot_gives_it_goals_and_stops_it_whatever_comes_to_its_door() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let (mut child, at) = served(stage.graph.observer.domain_id()).await;

    // Who has the token sees the robot.
    let (status, ..) = asked(at, get(at, "/")).await;
    assert_eq!(status, 401);
    let (status, head, page) = asked(at, get(at, &format!("/?token={TOKEN}"))).await;
    let page = String::from_utf8(page).unwrap();
    assert!(
        status == 200 && head.to_lowercase().contains("content-security-policy: default-src 'none'"),
        "{head}"
    );
    assert!(!page.contains("{{") && !page.contains("https://"), "it is filled in, and asks nobody else");
    let (status, _, picture) = asked(at, get(at, &format!("/camera?token={TOKEN}"))).await;
    assert!(
        status == 200 && picture.starts_with(b"\x89PNG"),
        "{status} {}",
        String::from_utf8_lossy(&picture)
    );
    let mut news = listening(at).await;
    told(&mut news, "\"missing\":[]").await;

    // A plan, and nonsense in place of one.
    let plan = r#"{"text": "put the red block on the plate", "plan_only": true}"#;
    let (status, _, answer) = asked(at, post(at, "/goal", plan)).await;
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    assert!(status == 200 && answer["accepted"] == true, "{answer}");
    told(&mut news, "I would put the red block on the white plate").await;
    in_the_browser(at).await;
    for body in ["", "{", r#"{"text": 3}"#, r#"{"words": "x"}"#] {
        assert_eq!(asked(at, post(at, "/goal", body)).await.0, 400, "{body}");
    }
    assert_eq!(asked(at, post(at, "/goal", &"x".repeat(100_000))).await.0, 400);
    assert_eq!(asked(at, post(at, "/nowhere", "")).await.0, 404);
    assert_eq!(asked(at, get(at, &format!("/stop?token={TOKEN}"))).await.0, 405, "looking stops nothing");

    // A hundred pages that do not read, garbage, and those that never finish what they say: the robot does its work.
    let mut crowd = Vec::new();
    for number in 0..100 {
        crowd.push(listening(at).await);
        let mut noise = TcpStream::connect(at).await.unwrap();
        let garbage: Vec<u8> =
            (0..400_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> (number % 24)) as u8).collect();
        // It may be closed before all of it is written.
        let _ = noise.write_all(&garbage).await;
        let mut slow = TcpStream::connect(at).await.unwrap();
        slow.write_all(b"POST /goal HTTP/1.1\r\nHost:").await.unwrap();
        crowd.push(slow);
    }
    stage.easy_goal_is_reached("a crowd at the page").await;

    // The stop comes through the crowd: as the form that needs no script sends it, in the middle of a motion.
    stage.put("red block", EASY_PLACE).await;
    let moves = |event: &TraceEvent| begins(event, "");
    let form = format!(
        "POST /stop?token={TOKEN} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 0\r\n\r\n"
    );
    let stopped = stage
        .goal_and("put the red block on the plate", moves, async |_| {
            let (status, _, said) = asked(at, form).await;
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
        })
        .await;
    assert_eq!(stopped.ending.reason.as_deref(), Some("stopped"), "{:?}", stopped.ending);
    stage.arm_stands().await;
    assert_eq!(asked(at, post(at, "/clear", "")).await.0, 200);

    // The page dies: the robot does not notice.
    child.kill().await.unwrap();
    stage.easy_goal_is_reached("the end of the page").await;
    stage.end().await;
}

/// In a browser the page fills itself with what the robot sees.
async fn in_the_browser(at: SocketAddr) {
    let is_there = |name: &&str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(name).is_file())
    };
    let Some(browser) = BROWSERS.into_iter().find(is_there) else {
        skipped(Needs::Browser, "there is no chromium to open the page in");
        return;
    };
    let profile = tempfile::tempdir().unwrap();
    wait_for("the page is filled in a browser", async || {
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("http://{at}/?token={TOKEN}"))
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(40), output).await.ok()?.ok()?;
        let dom = String::from_utf8_lossy(&output.stdout);
        (dom.contains("is there") && dom.contains("<td>plate</td>")).then_some(())
    })
    .await;
}
