//! `prehend bag play`: what was recorded, published again at its pace.

use crate::args::BagPlayArgs;
use crate::domain::{Domain, Purpose};
use crate::interrupt::Interrupt;
use crate::outcome::exit;
use crate::recording::{Reading, absolute};
use crate::run_folder::recording_at;
use crate::screen::{Paint, Screen};
use prehend_bags::{ContainerError, Contents, StoredTopic, contents, stored_messages};
use prehend_msgs::names;
use prehend_ros::{Context, Durability, Node, NodeOptions, QosProfile, RawPublisher, Reliability, RosError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long others in the domain have to be found, and to find what is played.
const DISCOVERY: Duration = Duration::from_millis(1500);
/// What every robot publishes, whatever of it was recorded.
const ROBOT: [&str; 2] = ["/joint_states", "/tf"];
/// What every node of an installed ROS 2 publishes, a recorder as well: it tells of no robot.
const EVERY_NODE: [&str; 2] = ["/rosout", "/parameter_events"];
/// Messages that are read ahead.
const AHEAD: usize = 64;
/// Messages that a slow subscriber may be behind.
const BEHIND: usize = 100;

/// Why a recording is not played.
#[derive(Debug, thiserror::Error)]
enum PlayError {
    /// There is none.
    #[error("{0}")]
    Container(#[from] ContainerError),
    /// The domain is not to be had.
    #[error("{0}")]
    Domain(#[from] crate::domain::DomainError),
    /// The domain cannot be joined, or a message cannot be sent.
    #[error("{0}")]
    Ros(#[from] RosError),
    /// Nothing of it can be played.
    #[error("{}: no topic of it can be played; `prehend bag info` tells what is in it", path.display())]
    Nothing { path: PathBuf },
    /// Topics were named that it does not hold.
    #[error("{} has no {}; `prehend bag info` tells what is in it", path.display(), topics.join(", "))]
    NoTopic { path: PathBuf, topics: Vec<String> },
    /// Others speak there.
    #[error(
        "in ROS domain {domain} somebody publishes {}: a recording beside a robot would mislead whoever hears both, or move it. Leave \
         ROS_DOMAIN_ID unset, or set it to a domain of its own",
        topics.join(", ")
    )]
    Live { domain: u16, topics: Vec<String> },
}

impl PlayError {
    fn code(&self) -> u8 {
        match self {
            Self::Container(_) | Self::Nothing { .. } | Self::NoTopic { .. } => exit::BAD_INPUT,
            Self::Domain(_) | Self::Ros(_) | Self::Live { .. } => exit::NOT_READY,
        }
    }
}

pub(super) async fn run(mut args: BagPlayArgs) -> u8 {
    args.recording = match recording_at(&args.recording) {
        Ok(recording) => recording,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    let mut interrupt = Interrupt::new(args.supervised);
    let played = tokio::select! {
        played = play(&args) => played,
        () = interrupt.raised() => return exit::INTERRUPTED,
    };
    match played {
        Ok(None) => exit::DONE,
        Ok(Some(damage)) => {
            eprintln!("{damage}");
            exit::FAILED
        }
        Err(error) => {
            eprintln!("{error}");
            error.code()
        }
    }
}

/// Plays to the end; gives the damage that was the end.
async fn play(args: &BagPlayArgs) -> Result<Option<ContainerError>, PlayError> {
    let screen = Screen::new(false);
    let path = args.recording.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let mut reading = Reading::new();
        let contents = contents(&path, &mut |messages| reading.show(messages));
        reading.end();
        contents
    });
    let contents = reading.await.map_err(|_| nothing(args))??;
    let wanted = wanted(args, &contents, &screen)?;
    let domain = Domain::choose(Purpose::Up)?;
    let context = Context::create_in_domain(domain.id)?;
    let name = format!("prehend_play_{}", std::process::id());
    let node = Node::create(&context, &name, names::NAMESPACE, NodeOptions::default())?;
    tokio::time::sleep(DISCOVERY).await;
    let recorded = contents.topics.keys().map(String::as_str);
    let live = live(recorded, |topic| node.offered_qos(topic).is_ok_and(|offered| !offered.is_empty()));
    if !live.is_empty() {
        return Err(PlayError::Live { domain: domain.id, topics: live });
    }
    let mut publishers = BTreeMap::new();
    for (topic, stored) in &wanted {
        let publisher = node.create_raw_publisher(topic, &stored.type_name, qos(stored))?;
        publishers.insert(topic.clone(), Player { publisher, is_latched: stored.is_latched });
    }
    tokio::time::sleep(DISCOVERY).await;
    screen.line(format!(
        "playing {} topics, {:.1} s at {} x, in ROS domain {}; Ctrl-C ends it",
        publishers.len(),
        contents.seconds(),
        args.rate,
        domain.id
    ));
    let first = contents.span.map_or(0, |(first, _)| first);
    loop {
        let sent = once(args, &publishers, first).await?;
        screen.line(format!("played {sent} messages"));
        if contents.damage.is_some() || !args.again {
            return Ok(contents.damage);
        }
    }
}

/// What tells that a robot is there: also topics that are not played.
fn live<'a>(recorded: impl Iterator<Item = &'a str>, is_published: impl Fn(&str) -> bool) -> Vec<String> {
    let all: BTreeSet<&str> = recorded.chain(ROBOT).collect();
    let tells = |topic: &&str| !EVERY_NODE.contains(topic) && is_published(topic);
    all.into_iter().filter(tells).map(str::to_owned).collect()
}

fn nothing(args: &BagPlayArgs) -> PlayError {
    PlayError::Nothing { path: args.recording.clone() }
}

/// The topics that are played. What was stored of them in another encoding, or is of a type that this program lacks, is told and left out.
fn wanted(
    args: &BagPlayArgs,
    contents: &Contents,
    screen: &Screen,
) -> Result<BTreeMap<String, StoredTopic>, PlayError> {
    let named: Vec<String> = args.topics.iter().map(|topic| absolute(topic)).collect();
    let missing = named.iter().filter(|topic| !contents.topics.contains_key(*topic)).cloned();
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        return Err(PlayError::NoTopic { path: args.recording.clone(), topics: missing });
    }
    let mut wanted = BTreeMap::new();
    for (name, topic) in &contents.topics {
        if !named.is_empty() && !named.contains(name) {
            continue;
        }
        let reason = if topic.encoding != "cdr" {
            "it is not in ROS 2's encoding"
        } else if !super::is_known(topic) {
            "this program does not know its type"
        } else {
            wanted.insert(name.clone(), topic.clone());
            continue;
        };
        screen.line(screen.paint(Paint::Yellow, &format!("{name} is not played: {reason}")));
    }
    if wanted.is_empty() { Err(nothing(args)) } else { Ok(wanted) }
}

/// What every subscription can have: whoever asks for best effort gets it from a reliable publisher, too.
fn qos(topic: &StoredTopic) -> QosProfile {
    let (durability, depth) =
        if topic.is_latched { (Durability::TransientLocal, 1) } else { (Durability::Volatile, BEHIND) };
    QosProfile { reliability: Reliability::Reliable, durability, depth }
}

struct Player {
    publisher: RawPublisher,
    is_latched: bool,
}

/// A message of the recording, and when it is due, nanoseconds after the first.
struct Due {
    topic: String,
    after: i64,
    data: Vec<u8>,
}

/// Plays from the beginning to the end; gives how many messages were sent.
async fn once(
    args: &BagPlayArgs,
    publishers: &BTreeMap<String, Player>,
    first: i64,
) -> Result<usize, PlayError> {
    let (sender, mut messages) = mpsc::channel(AHEAD);
    let (path, topics) = (args.recording.clone(), publishers.keys().cloned().collect::<Vec<_>>());
    let reader = tokio::task::spawn_blocking(move || read(&path, &topics, first, &sender));
    let skipped = args.start_offset.map_or(0, |seconds| (seconds * 1e9) as i64);
    let started = Instant::now();
    let mut sent = 0;
    while let Some(Due { topic, after, data }) = messages.recv().await {
        let Some(player) = publishers.get(&topic) else { continue };
        if after < skipped && !player.is_latched {
            continue;
        }
        let due = Duration::try_from_secs_f64((after - skipped).max(0) as f64 * 1e-9 / args.rate);
        if let Some(wait) = due.ok().and_then(|due| due.checked_sub(started.elapsed())) {
            tokio::time::sleep(wait).await;
        }
        player.publisher.publish(&data)?;
        sent += 1;
    }
    match reader.await {
        Ok(read) => read.map(|()| sent).map_err(PlayError::from),
        Err(_) => Err(nothing(args)),
    }
}

/// Reads ahead until nobody takes the messages any more.
fn read(
    path: &Path,
    topics: &[String],
    first: i64,
    sender: &mpsc::Sender<Due>,
) -> Result<(), ContainerError> {
    let visit = &mut |message: prehend_bags::StoredMessage<'_>| {
        if !topics.iter().any(|topic| topic == message.topic) {
            return true;
        }
        let after = message.logged.saturating_sub(first);
        let due = Due { topic: message.topic.to_owned(), after, data: message.data.to_vec() };
        sender.blocking_send(due).is_ok()
    };
    stored_messages(path, true, visit).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_node_publishes_tells_of_no_robot() {
        let recorded = ["/camera/color/image_raw", "/parameter_events", "/rosout"];
        let published =
            |there: &'static [&'static str]| live(recorded.into_iter(), |topic| there.contains(&topic));
        assert_eq!(published(&["/rosout", "/parameter_events", "/scan"]), Vec::<String>::new());
        assert_eq!(published(&["/rosout", "/camera/color/image_raw"]), ["/camera/color/image_raw"]);
        assert_eq!(published(&["/tf", "/joint_states"]), ["/joint_states", "/tf"]);
    }
}
