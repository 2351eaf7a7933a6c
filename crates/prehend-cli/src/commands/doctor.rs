//! `prehend doctor`: what is missing on this machine, and how to get it.

pub(super) mod graph;
pub(super) mod llm;
mod ros;

use super::scene;
use crate::args::DEFAULT_ROBOT;
use crate::outcome::exit;
use crate::screen::{Paint, Screen, print_json};
use prehend_config::share;
use prehend_robots::RobotConfig;
use serde_json::json;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What a check found.
pub(super) enum Health {
    Good(String),
    /// It works, with less.
    Note(String),
    /// It does not work; what to do.
    Bad(String),
}

impl Health {
    fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Good(_) => "ok",
            Self::Note(_) => "note",
            Self::Bad(_) => "missing",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Good(text) | Self::Note(text) | Self::Bad(text) => text,
        }
    }
}

/// What was found so far: a row for each finding as it comes, or all of them as one JSON object at the end.
pub(super) struct Report {
    json: bool,
    rows: Vec<(String, Health)>,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self { json, rows: Vec::new() }
    }

    /// Takes a finding; further lines of it are printed below the first.
    pub(super) fn say(&mut self, name: &str, health: Health) {
        if !self.json {
            let screen = Screen::new(false);
            let paint = match &health {
                Health::Good(_) => Paint::Green,
                Health::Note(_) => Paint::Yellow,
                Health::Bad(_) => Paint::Red,
            };
            let text = health.text().replace('\n', &format!("\n{:24}", ""));
            let word = format!("{:<8}", health.word());
            screen.line(format!("{name:<14} {} {text}", screen.paint(paint, &word)));
        }
        self.rows.push((name.to_owned(), health));
    }

    /// Ends it; gives the exit code.
    pub(super) fn end(self) -> u8 {
        if self.json {
            let row = |(name, health): &(String, Health)| json!({ "check": name, "found": health.word(), "text": health.text() });
            print_json(&json!({ "checks": self.rows.iter().map(row).collect::<Vec<_>>() }));
        }
        if self.rows.iter().any(|(_, health)| health.is_bad()) { exit::FAILED } else { exit::DONE }
    }
}

type Check = fn() -> Health;

pub(super) fn run(json: bool) -> u8 {
    let mut report = Report::new(json);
    let checks: [(&str, Check); 13] = [
        ("data", data),
        ("robot file", robot_file),
        ("scene files", scene_files),
        ("ROS domain", domain),
        ("loopback", loopback),
        ("multicast", multicast),
        ("buffers", receive_buffers),
        ("backend", ros::backend),
        ("ROS 2", ros::installation),
        ("interfaces", ros::interfaces),
        ("ONNX Runtime", onnx_runtime),
        ("disk", disk),
        ("processors", processors),
    ];
    for (name, check) in checks {
        report.say(name, check());
    }
    report.end()
}

fn data() -> Health {
    let folder = share::share_dir();
    if folder.join("config").is_dir() && folder.join("urdf").is_dir() {
        Health::Good(folder.display().to_string())
    } else {
        Health::Bad(format!(
            "no config/ and urdf/ in {}: set {} to the folder that has them",
            folder.display(),
            share::SHARE_VARIABLE
        ))
    }
}

fn robot_file() -> Health {
    match RobotConfig::load(Path::new(DEFAULT_ROBOT)) {
        Ok(robot) if robot.urdf.is_file() => Health::Good(format!("{}: valid", robot.name)),
        Ok(robot) => Health::Bad(format!("{} is not there", robot.urdf.display())),
        Err(findings) => Health::Bad(findings.to_string()),
    }
}

fn scene_files() -> Health {
    let folder = share::share_dir().join("config/scenes");
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    let wrong: Vec<String> =
        files.iter().filter_map(|path| scene::load(path, 1).err()).map(|error| error.to_string()).collect();
    match (files.len(), wrong.is_empty()) {
        (0, _) => Health::Bad(format!("none in {}", folder.display())),
        (count, true) => Health::Good(format!("{count} valid in {}", folder.display())),
        (_, false) => Health::Bad(wrong.join("\n")),
    }
}

fn domain() -> Health {
    match (std::env::var("ROS_DOMAIN_ID"), crate::domain::Domain::find()) {
        (_, Err(error)) => Health::Bad(error.to_string()),
        (Ok(_), Ok(domain)) => Health::Good(format!("{}, from ROS_DOMAIN_ID", domain.id)),
        (Err(_), Ok(domain)) if domain.id > 0 => Health::Good(format!("prehend up runs in {}", domain.id)),
        (Err(_), Ok(_)) if prehend_ros::BACKEND == prehend_ros::Backend::Embedded => {
            Health::Good("ROS_DOMAIN_ID is not set: demo, eval and up take a free one each".to_owned())
        }
        (Err(_), Ok(_)) => Health::Good("0, as ROS_DOMAIN_ID is not set".to_owned()),
    }
}

/// Whether a datagram to `to` comes back to the socket `to` is the address of.
fn echo(socket: &UdpSocket, to: (&str, u16)) -> std::io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    socket.send_to(b"prehend", to)?;
    let mut buffer = [0; 16];
    socket.recv(&mut buffer).map(drop)
}

fn loopback() -> Health {
    let result = UdpSocket::bind("127.0.0.1:0").and_then(|socket| {
        let port = socket.local_addr()?.port();
        echo(&socket, ("127.0.0.1", port))
    });
    match result {
        Ok(()) => Health::Good("UDP on 127.0.0.1 works".to_owned()),
        Err(error) => Health::Bad(format!(
            "UDP on 127.0.0.1 fails ({error}): `ip link set lo up`, and let the firewall pass it"
        )),
    }
}

fn multicast() -> Health {
    const GROUP: std::net::Ipv4Addr = std::net::Ipv4Addr::new(239, 255, 0, 1);
    let result = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.join_multicast_v4(&GROUP, &std::net::Ipv4Addr::UNSPECIFIED)?;
        let port = socket.local_addr()?.port();
        echo(&socket, ("239.255.0.1", port))
    });
    match result {
        Ok(()) => Health::Good("UDP multicast works: nodes on other machines are found".to_owned()),
        Err(error) => Health::Note(format!(
            "no UDP multicast ({error}): only the processes of this machine find each other"
        )),
    }
}

fn receive_buffers() -> Health {
    let kernel = |name| std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok();
    let default = kernel("rmem_default").filter(|_| ros::has_fast_dds());
    match receive_buffers_of(kernel("rmem_max").as_deref(), default.as_deref()) {
        Health::Good(_) if ros::has_fast_dds_by_shared_memory() => Health::Note(
            "Fast DDS passes pictures between processes of one machine through 0.5 MB of shared memory, where some are lost\n\
             `export FASTDDS_BUILTIN_TRANSPORTS=UDPv4` wherever a process of ROS 2 starts has it use sockets"
                .to_owned(),
        ),
        health => health,
    }
}

/// What the kernel's largest receive buffer, as it prints it, means for pictures: one is hundreds of datagrams, sent at once. `default` is
/// what sockets have that ask for nothing, where that counts: those of Fast DDS.
fn receive_buffers_of(limit: Option<&str>, default: Option<&str>) -> Health {
    /// Two pictures of 640x480 with their depth, and what the kernel needs beside them.
    const LEAST: u64 = 4 << 20;
    let bytes = |text: &str| text.trim().parse::<u64>().ok();
    match (limit.and_then(bytes), default.and_then(bytes)) {
        (None, _) => Health::Note("the kernel does not say how large receive buffers may be".to_owned()),
        (Some(limit), _) if limit < LEAST => Health::Note(format!(
            "sockets may have {} kB only: on a busy machine pictures are lost on their way, a burst at a time\n\
             `sysctl -w net.core.rmem_max=33554432` lets them have enough",
            limit >> 10
        )),
        (Some(limit), Some(default)) if default < LEAST => Health::Note(format!(
            "sockets may have {} kB, but Fast DDS takes the default, {} kB: of pictures from the embedded backend or another machine few arrive\n\
             `sysctl -w net.core.rmem_default=16777216` lets it have enough",
            limit >> 10,
            default >> 10
        )),
        (Some(limit), _) => Health::Good(format!("sockets may have {} kB", limit >> 10)),
    }
}

fn onnx_runtime() -> Health {
    match prehend_models::runtime::Places::of_this_process(None).find() {
        Ok(found) => {
            Health::Good(format!("{}; `prehend doctor --models` says more", found.library.display()))
        }
        Err(error) => Health::Note(format!("only network models need it: {error}")),
    }
}

fn disk() -> Health {
    const LEAST_MB: u64 = 500;
    let free = Command::new("df").args(["-Pm", "."]).output().ok().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().nth(1)?.split_whitespace().nth(3)?.parse::<u64>().ok()
    });
    match free {
        Some(free) if free >= LEAST_MB => Health::Good(format!("{free} MB free here")),
        Some(free) => Health::Bad(format!("{free} MB free here; runs need some {LEAST_MB} MB")),
        None => Health::Note("`df` does not say how much is free".to_owned()),
    }
}

fn processors() -> Health {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => Health::Note("1: the graph runs, but slowly".to_owned()),
        count => Health::Good(count.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_receive_buffers_are_noted_with_what_to_do() {
        let large = Some("33554432\n");
        let usual = Some("212992\n");
        for default in [None, large] {
            let enough = receive_buffers_of(large, default);
            assert!(matches!(enough, Health::Good(text) if text.contains("32768 kB")), "{default:?}");
        }
        for (limit, default, cure) in
            [(usual, None, "rmem_max="), (usual, usual, "rmem_max="), (large, usual, "rmem_default=")]
        {
            let note = receive_buffers_of(limit, default);
            assert!(
                matches!(note, Health::Note(text) if text.contains("208 kB") && text.contains(cure)),
                "{limit:?}"
            );
        }
        assert!(matches!(receive_buffers_of(None, None), Health::Note(_)));
        assert!(matches!(receive_buffers_of(Some("many"), None), Health::Note(_)));
    }
}
