//! Bags as rosbag2 writes them: a folder with MCAP files and `metadata.yaml`.

mod mcap;
mod metadata;
mod recorder;

pub use recorder::{Progress, RecordError, RecordOptions, Recorded, Recorder, Topics};

use self::mcap::McapWriter;
use self::metadata::{FileFacts, TopicFacts};
use prehend_ros::{Durability, QosProfile, Reliability};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a bag cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder holds something already.
    #[error("{} exists and is not empty; give another folder", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The path names no folder.
    #[error("{} is no name for a bag", path.display())]
    Name {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused, as it does when the disk is full. What was written before is kept.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
}

/// How a bag is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BagOptions {
    /// Bytes after which a file is ended and the next one begun; `None`: never.
    pub split_bytes: Option<u64>,
    /// Recorded time after which a file is ended and the next one begun; `None`: never.
    pub split_after: Option<Duration>,
    /// Whether chunks are left as they are instead of being compressed by lz4.
    pub plain: bool,
    /// Notes about the recording, stored with it.
    pub notes: BTreeMap<String, String>,
}

/// A topic to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTopic {
    /// Name, such as `/joint_states`.
    pub name: String,
    /// Type, such as `sensor_msgs/msg/JointState`.
    pub type_name: String,
    /// The type's definition, as [`prehend_msgs::ros2msg`] has it.
    pub definition: String,
    /// What each publisher offers.
    pub offered: Vec<QosProfile>,
}

/// A topic of a bag that is written; of this bag only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicId(usize);

/// What a bag came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Messages.
    pub messages: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Files, in the order of their recording.
    pub files: Vec<PathBuf>,
    /// Messages by topic.
    pub topics: BTreeMap<String, u64>,
}

struct Topic {
    spec: NewTopic,
    /// Messages in files that were ended.
    messages: u64,
    /// Its channel in the file that is written now, once it has one.
    channel: Option<u16>,
}

struct Open {
    path: PathBuf,
    writer: McapWriter<File>,
}

/// Writes a bag. A message is in the file when its chunk is, see [`flush`](Self::flush); a process that is killed leaves a bag that
/// lacks its ends and nothing of its chunks. [`finish`](Self::finish) writes the ends and `metadata.yaml`.
pub struct BagWriter {
    folder: PathBuf,
    name: String,
    options: BagOptions,
    topics: Vec<Topic>,
    done: Vec<FileFacts>,
    open: Option<Open>,
    messages: u64,
}

impl std::fmt::Debug for BagWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BagWriter").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl BagWriter {
    /// Makes the folder, and in it the first file.
    ///
    /// Errors: [`WriteError`].
    pub fn create(folder: &Path, options: BagOptions) -> Result<Self, WriteError> {
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| WriteError::Name { path: folder.to_owned() })?.to_owned();
        let failed = |error| WriteError::Write { path: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(WriteError::Exists { path: folder.to_owned() });
        }
        let mut this = Self {
            folder: folder.to_owned(),
            name,
            options,
            topics: Vec::new(),
            done: Vec::new(),
            open: None,
            messages: 0,
        };
        this.begin_file()?;
        Ok(this)
    }

    fn begin_file(&mut self) -> Result<(), WriteError> {
        let path = self.folder.join(format!("{}_{}.mcap", self.name, self.done.len()));
        let failed = |error| WriteError::Write { path: path.clone(), error };
        let file = File::create_new(&path).map_err(failed)?;
        let mut writer = McapWriter::begin(file, !self.options.plain).map_err(failed)?;
        if !self.options.notes.is_empty() {
            writer.note("prehend", &self.options.notes).map_err(failed)?;
        }
        for topic in &mut self.topics {
            topic.channel = None;
        }
        self.open = Some(Open { path, writer });
        Ok(())
    }

    /// Announces a topic. It is in the bag, also when no message comes.
    pub fn add_topic(&mut self, topic: NewTopic) -> TopicId {
        self.topics.push(Topic { spec: topic, messages: 0, channel: None });
        TopicId(self.topics.len() - 1)
    }

    /// Writes a message: bytes as [`prehend_ros::to_cdr`] gives them, and when it was received, nanoseconds since the epoch.
    ///
    /// Errors: [`WriteError::Write`]; what was written before is kept, this message and those of its chunk may be lost.
    pub fn write(&mut self, topic: TopicId, received: i64, data: &[u8]) -> Result<(), WriteError> {
        if self.is_full(received) {
            self.end_file()?;
            self.begin_file()?;
        }
        let (Some(open), Some(topic)) = (&mut self.open, self.topics.get_mut(topic.0)) else { return Ok(()) };
        let channel = match topic.channel {
            Some(channel) => channel,
            None => {
                let channel = announce(&mut open.writer, &topic.spec);
                topic.channel = Some(channel);
                channel
            }
        };
        let failed = |error| WriteError::Write { path: open.path.clone(), error };
        open.writer.message(channel, received.max(0) as u64, data).map_err(failed)?;
        self.messages += 1;
        Ok(())
    }

    /// Whether the next message belongs into another file.
    fn is_full(&self, received: i64) -> bool {
        let Some(Open { writer, .. }) = &self.open else { return false };
        let Some((begin, _)) = writer.span() else { return false };
        let lasted = Duration::from_nanos((received.max(0) as u64).saturating_sub(begin));
        self.options.split_bytes.is_some_and(|most| writer.bytes() >= most)
            || self.options.split_after.is_some_and(|most| lasted >= most)
    }

    /// Hands what is gathered to the operating system: it is read again even when this process is killed.
    ///
    /// Errors: [`WriteError::Write`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.writer.flush().map_err(|error| WriteError::Write { path: open.path.clone(), error })
    }

    /// Bytes of the files so far, and of what is gathered.
    pub fn bytes(&self) -> u64 {
        let done: u64 = self.done.iter().map(|file| file.bytes).sum();
        done + self.open.as_ref().map_or(0, |open| open.writer.bytes())
    }

    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    fn end_file(&mut self) -> Result<(), WriteError> {
        let Some(Open { path, mut writer }) = self.open.take() else { return Ok(()) };
        // A topic that was silent is announced all the same.
        for topic in self.topics.iter().filter(|topic| topic.channel.is_none()) {
            announce(&mut writer, &topic.spec);
        }
        let ended = writer.end();
        if ended.is_err() {
            // The last messages did not fit; the ends may.
            let _ = writer.end();
        }
        for topic in &mut self.topics {
            topic.messages += topic.channel.map_or(0, |channel| writer.count(channel));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let span = writer.span().unwrap_or_default();
        self.done.push(FileFacts { name, span, messages: writer.messages(), bytes: writer.bytes() });
        ended.map_err(|error| WriteError::Write { path, error })
    }

    /// Ends the last file and writes `metadata.yaml`.
    ///
    /// Errors: [`WriteError::Write`]; as much as could be written is.
    pub fn finish(mut self) -> Result<Written, WriteError> {
        let ended = self.end_file();
        let facts: Vec<TopicFacts<'_>> = self
            .topics
            .iter()
            .map(|topic| TopicFacts {
                name: &topic.spec.name,
                type_name: &topic.spec.type_name,
                qos: qos_yaml(&topic.spec.offered),
                hash: hash_of(&topic.spec),
                messages: topic.messages,
            })
            .collect();
        let path = self.folder.join(crate::container::METADATA);
        let described = std::fs::write(&path, metadata::text(&facts, &self.done))
            .map_err(|error| WriteError::Write { path, error });
        ended.and(described)?;
        Ok(Written {
            messages: self.done.iter().map(|file| file.messages).sum(),
            bytes: self.done.iter().map(|file| file.bytes).sum(),
            files: self.done.iter().map(|file| self.folder.join(&file.name)).collect(),
            topics: self.topics.into_iter().map(|topic| (topic.spec.name, topic.messages)).collect(),
        })
    }
}

/// Announces a topic in a file; gives its channel there.
fn announce(writer: &mut McapWriter<File>, topic: &NewTopic) -> u16 {
    let qos = qos_yaml(&topic.offered);
    let notes = [("offered_qos_profiles", qos.as_str()), ("topic_type_hash", hash_of(topic))];
    writer.add_channel(&topic.name, &topic.type_name, &topic.definition, notes)
}

/// The hash of a topic's type; empty, as rosbag2 has it, when it is not known.
fn hash_of(topic: &NewTopic) -> &'static str {
    prehend_msgs::type_hash(&topic.type_name).unwrap_or_default()
}

/// What publishers offer, as rosbag2 writes it up to version 8 of its metadata: numbers of rmw for every policy. What discovery does
/// not tell is `unknown` (3) with depth 0; times without end are rmw's.
fn qos_yaml(offered: &[QosProfile]) -> String {
    const ENDLESS: &str = "sec: 9223372036\n    nsec: 854775807";
    let mut text = String::new();
    for qos in offered {
        let history = if qos.depth == 0 { 3 } else { 1 };
        let reliability = match qos.reliability {
            Reliability::Reliable => 1,
            Reliability::BestEffort => 2,
        };
        let durability = match qos.durability {
            Durability::TransientLocal => 1,
            Durability::Volatile => 2,
        };
        let _ = write!(
            text,
            "- history: {history}\n  depth: {}\n  reliability: {reliability}\n  durability: {durability}\n  deadline:\n    {ENDLESS}\n  \
             lifespan:\n    {ENDLESS}\n  liveliness: 1\n  liveliness_lease_duration:\n    {ENDLESS}\n  \
             avoid_ros_namespace_conventions: false\n",
            qos.depth
        );
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities_of_service_are_lists_of_numbers() {
        let text =
            qos_yaml(&[QosProfile::transient_local(), QosProfile { depth: 0, ..QosProfile::sensor_data() }]);
        let first: Vec<&str> = text.lines().take(4).collect();
        assert_eq!(first, ["- history: 1", "  depth: 1", "  reliability: 1", "  durability: 1"]);
        let second: Vec<&str> = text.lines().skip(15).take(4).collect();
        assert_eq!(second, ["- history: 3", "  depth: 0", "  reliability: 2", "  durability: 2"]);
        assert_eq!(qos_yaml(&[]), "");
    }
}
