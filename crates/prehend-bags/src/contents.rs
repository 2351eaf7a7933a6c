//! What a bag holds: its files, its topics, how much of each, and from when to when.

use crate::container::{Bag, ContainerError, Halt, Item, Topic};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a bag holds.
#[derive(Debug)]
pub struct Contents {
    /// Its files, in the order of their recording.
    pub files: Vec<StoredFile>,
    /// How they are stored, in rosbag2's words: `mcap`, `sqlite3`; `rosbag_v2` of ROS 1.
    pub storage: &'static str,
    /// When the first and the last message were recorded, nanoseconds since the epoch; `None` without messages.
    pub span: Option<(i64, i64)>,
    /// Its topics by name.
    pub topics: BTreeMap<String, StoredTopic>,
    /// What ended the reading early: what comes after it is not counted.
    pub damage: Option<ContainerError>,
}

/// A file of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

/// A topic of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTopic {
    /// `PACKAGE/msg/NAME`.
    pub type_name: String,
    /// How its messages are written: `cdr` in ROS 2.
    pub encoding: String,
    /// Whether who comes late got its last message, too (durability transient local).
    pub is_latched: bool,
    /// How many messages of it there are.
    pub messages: u64,
}

impl Contents {
    /// From the first message to the last, seconds.
    pub fn seconds(&self) -> f64 {
        self.span.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 * 1e-9)
    }

    /// Messages of all topics.
    pub fn messages(&self) -> u64 {
        self.topics.values().map(|topic| topic.messages).sum()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Reads the bag at `path` to its end or its first damage, and counts. `count` hears now and then how many messages were read.
///
/// Errors: [`ContainerError`].
pub fn contents(path: &Path, count: &mut dyn FnMut(u64)) -> Result<Contents, ContainerError> {
    let bag = Bag::find(path)?;
    let mut topics: BTreeMap<String, StoredTopic> = BTreeMap::new();
    let mut span: Option<(i64, i64)> = None;
    let mut messages = 0;
    let damage = bag.visit::<ContainerError>(true, &mut |item| {
        match item {
            Item::Topic(topic) => {
                topics.entry(topic.name.clone()).or_insert_with(|| stored(topic));
            }
            Item::Message(message) => {
                messages += 1;
                if let Some(topic) = topics.get_mut(&message.topic.name) {
                    topic.messages += 1;
                }
                let (first, last) = span.unwrap_or((message.logged, message.logged));
                span = Some((first.min(message.logged), last.max(message.logged)));
                if messages % 1000 == 0 {
                    count(messages);
                }
            }
        }
        Ok::<(), Halt<ContainerError>>(())
    })?;
    let length = |path: &Path| {
        let read =
            std::fs::metadata(path).map(|file| StoredFile { path: path.to_owned(), bytes: file.len() });
        read.map_err(|error| ContainerError::Read { path: path.to_owned(), error })
    };
    let files = bag.paths().map(length).collect::<Result<_, _>>()?;
    Ok(Contents { files, storage: bag.storage(), span, topics, damage })
}

fn stored(topic: &Topic) -> StoredTopic {
    StoredTopic {
        type_name: topic.type_name.clone(),
        encoding: topic.encoding.clone(),
        is_latched: is_latched(&topic.qos),
        messages: 0,
    }
}

/// Whether every publisher offered transient local: as a number until Iron, as a word since Jazzy.
fn is_latched(qos: &str) -> bool {
    let mut offered =
        qos.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("durability:"));
    let is_kept = |value: &str| matches!(value.trim(), "1" | "transient_local");
    offered.next().is_some_and(is_kept) && offered.all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{BagOptions, BagWriter, NewTopic};
    use prehend_ros::QosProfile;

    #[test]
    fn a_bag_of_two_files_is_counted_and_one_that_is_cut_off_to_its_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let bag = folder.path().join("two");
        let options = BagOptions { split_bytes: Some(2000), plain: true, ..BagOptions::default() };
        let mut writer = BagWriter::create(&bag, options).expect("a bag");
        let topic = |name: &str, offered| NewTopic {
            name: name.to_owned(),
            type_name: "std_msgs/msg/String".to_owned(),
            definition: "string data".to_owned(),
            offered,
        };
        let fixed = writer.add_topic(topic("/fixed", vec![QosProfile::transient_local()]));
        let spoken = writer.add_topic(topic("/spoken", vec![QosProfile::default()]));
        let silent = writer.add_topic(topic("/silent", Vec::new()));
        let _ = silent;
        writer.write(fixed, 1_000_000_000, &[0, 1, 0, 0, 1, 0, 0, 0, 0]).expect("written");
        for n in 0..10 {
            writer.write(spoken, 2_000_000_000 + n * 100_000_000, &[0; 500]).expect("written");
        }
        let written = writer.finish().expect("whole");
        assert!(written.files.len() > 1, "{written:?}");
        let read = contents(&bag, &mut |_| {}).expect("a bag");
        assert!(read.damage.is_none());
        assert_eq!((read.messages(), read.files.len(), read.storage), (11, written.files.len(), "mcap"));
        assert_eq!((read.span, read.bytes()), (Some((1_000_000_000, 2_900_000_000)), written.bytes));
        assert!((read.seconds() - 1.9).abs() < 1e-9);
        let of = |name: &str| (read.topics[name].messages, read.topics[name].is_latched);
        assert_eq!((of("/fixed"), of("/spoken")), ((1, true), (10, false)));

        let last = written.files.last().expect("a file");
        let bytes = std::fs::read(last).expect("read");
        std::fs::write(last, &bytes[..bytes.len() - 40]).expect("cut");
        let read = contents(&bag, &mut |_| {}).expect("a bag");
        assert!(read.damage.is_some() && read.messages() >= 1, "{read:?}");
    }

    #[test]
    fn what_was_offered_is_read_as_every_rosbag2_writes_it() {
        assert!(is_latched("- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"));
        assert!(is_latched("- history: keep_last\n  durability: transient_local"));
        assert!(!is_latched("- durability: 1\n- durability: 2\n"));
        assert!(!is_latched("- durability: volatile"));
        assert!(!is_latched(""));
        assert!(!is_latched("no YAML: ["));
    }
}
