//! `prehend bag`: recordings by the names of `ros2 bag`.

mod play;

use super::record;
use crate::args::{BagCommand, BagInfoArgs};
use crate::outcome::exit;
use crate::recording::Reading;
use crate::run_folder::{recording_at, utc};
use crate::screen::{Paint, Screen, print_json};
use prehend_bags::{Contents, StoredTopic};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

pub(super) async fn run(command: BagCommand) -> u8 {
    match command {
        BagCommand::Record(args) => record::run(args).await,
        BagCommand::Info(args) => info(&args),
        BagCommand::Play(args) => play::run(args).await,
    }
}

fn info(args: &BagInfoArgs) -> u8 {
    let bag = match recording_at(&args.recording) {
        Ok(bag) => bag,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    let mut reading = Reading::new();
    let contents = prehend_bags::contents(&bag, &mut |messages| reading.show(messages));
    reading.end();
    let contents = match contents {
        Ok(contents) => contents,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    if args.json {
        print_json(&as_json(&bag, &contents));
    } else {
        tell(&contents, &Screen::new(false));
    }
    match &contents.damage {
        None => exit::DONE,
        Some(damage) => {
            eprintln!("{damage}");
            exit::FAILED
        }
    }
}

fn tell(contents: &Contents, screen: &Screen) {
    let files: Vec<String> = contents.files.iter().map(|file| file.path.display().to_string()).collect();
    let size = format!("{:.1} MB, {}", contents.bytes() as f64 / 1e6, contents.storage);
    let mut head = vec![["files".to_owned(), files.join(", ")], ["size".to_owned(), size]];
    head.push(["duration".to_owned(), format!("{:.1} s", contents.seconds())]);
    if let Some((first, last)) = contents.span {
        head.push(["start".to_owned(), time(first)]);
        head.push(["end".to_owned(), time(last)]);
    }
    head.push(["messages".to_owned(), contents.messages().to_string()]);
    screen.table(&head);
    let header = ["topic", "type", "messages", "a second", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header)
        .chain(contents.topics.iter().map(|(name, topic)| row(name, topic, contents.seconds())))
        .collect();
    screen.line("");
    screen.table(&rows);
    if contents.messages() == 0 {
        screen.line(screen.paint(Paint::Yellow, "there is no message in it"));
    }
}

fn time(nanoseconds: i64) -> String {
    let since = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    UNIX_EPOCH.checked_add(since).map_or_else(String::new, |time| format!("{} UTC", utc(time)))
}

fn row(name: &str, topic: &StoredTopic, seconds: f64) -> [String; 5] {
    let rate = if seconds > 0.0 { format!("{:.1}", topic.messages as f64 / seconds) } else { String::new() };
    let mut notes = Vec::new();
    if topic.is_latched {
        notes.push("latched");
    }
    if topic.encoding != "cdr" {
        notes.push("not in ROS 2's encoding");
    } else if !is_known(topic) {
        notes.push("a type that this program does not know");
    }
    [name.to_owned(), topic.type_name.clone(), topic.messages.to_string(), rate, notes.join(", ")]
}

/// Whether this program has the type, and so can record it and play it again.
fn is_known(topic: &StoredTopic) -> bool {
    prehend_msgs::ros2msg(&topic.type_name).is_some()
}

fn as_json(path: &Path, contents: &Contents) -> Value {
    let seconds = |nanoseconds: i64| nanoseconds as f64 * 1e-9;
    let topics: Vec<Value> = contents
        .topics
        .iter()
        .map(|(name, topic)| {
            json!({
                "name": name,
                "type": topic.type_name,
                "messages": topic.messages,
                "latched": topic.is_latched,
                "known": is_known(topic),
            })
        })
        .collect();
    json!({
        "path": path,
        "storage": contents.storage,
        "files": contents.files.iter().map(|file| json!({"path": file.path, "bytes": file.bytes})).collect::<Vec<_>>(),
        "bytes": contents.bytes(),
        "messages": contents.messages(),
        "start": contents.span.map(|(first, _)| seconds(first)),
        "end": contents.span.map(|(_, last)| seconds(last)),
        "seconds": contents.seconds(),
        "topics": topics,
        "damage": contents.damage.as_ref().map(ToString::to_string),
    })
}
