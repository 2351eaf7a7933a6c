//! The files of a bag, and the messages in them in the order in which they are stored.

mod decompress;
mod mcap;
mod metadata;
#[cfg(feature = "ros1")]
mod ros1;
#[cfg(feature = "sqlite")]
mod sqlite;

pub(crate) use self::mcap::notes as mcap_notes;
pub(crate) use metadata::NAME as METADATA;

use std::fmt;
use std::path::{Path, PathBuf};

/// Why the files of a bag cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// Neither a bag nor a folder with one.
    #[error(
        "{} is no bag: expected a file that ends in .mcap, .db3 or .bag, or a folder with metadata.yaml or such files",
        path.display()
    )]
    NotABag {
        /// The path.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// `metadata.yaml` is not what rosbag2 writes.
    #[error("{}: {error}; `ros2 bag reindex` writes it anew", path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// A format that this reader does not know.
    #[error("{}: {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        what: String,
    },
    /// The file ends before its end.
    #[error(
        "{} ends at {end} in the middle of {inside}: it was cut off while it was recorded or copied. Copy it anew, or use what is \
         before the damage with --partial",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where it ends.
        end: Place,
        /// What is not whole.
        inside: &'static str,
    },
    /// The file says what cannot be.
    #[error(
        "{} is damaged at {place}: {what}. Copy it anew, or use what is before the damage with --partial",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        place: Place,
        /// What is wrong there.
        what: String,
    },
}

impl ContainerError {
    /// Whether what came before can be used all the same.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::Damaged { .. })
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes from the beginning of the file. What is in a compressed chunk is at the beginning of the chunk.
    Byte(u64),
    /// A row of SQLite's table of messages, by its id.
    Row(i64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(at) => write!(f, "byte {at}"),
            Self::Row(id) => write!(f, "message {id}"),
        }
    }
}

/// A topic of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: String,
    /// `PACKAGE/msg/NAME`.
    pub(crate) type_name: String,
    /// How its messages are written: `cdr` in ROS 2.
    pub(crate) encoding: String,
    /// What its publishers offered, as YAML of rosbag2; empty when nobody wrote it.
    pub(crate) qos: String,
}

impl Topic {
    /// Types of ROS 1 become those of ROS 2: `sensor_msgs/Image` is `sensor_msgs/msg/Image`.
    fn new(name: &str, type_name: &str, encoding: &str) -> Self {
        let type_name = match type_name.split_once('/') {
            Some((package, name)) if !name.contains('/') => format!("{package}/msg/{name}"),
            _ => type_name.to_owned(),
        };
        Self { name: name.to_owned(), type_name, encoding: encoding.to_owned(), qos: String::new() }
    }

    fn offered(self, qos: &str) -> Self {
        Self { qos: qos.to_owned(), ..self }
    }
}

/// A message as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    pub(crate) topic: &'a Topic,
    /// When it was recorded, nanoseconds since the epoch.
    pub(crate) logged: i64,
    pub(crate) data: &'a [u8],
    pub(crate) path: &'a Path,
    pub(crate) place: Place,
}

impl Message<'_> {
    /// The error of a message that is not what its topic's type says.
    pub(crate) fn damaged(&self, error: impl fmt::Display) -> ContainerError {
        ContainerError::Damaged {
            path: self.path.to_owned(),
            place: self.place,
            what: format!("a message of {} is no {} ({error})", self.topic.name, self.topic.type_name),
        }
    }
}

/// What is found in a bag.
pub(crate) enum Item<'a> {
    /// A topic is announced, perhaps again.
    Topic(&'a Topic),
    /// A message is there.
    Message(Message<'a>),
}

/// Why reading ended early: because of the file, or because of who looks at the items.
pub(crate) enum Halt<E> {
    Container(ContainerError),
    Visitor(E),
}

impl<E> From<ContainerError> for Halt<E> {
    fn from(error: ContainerError) -> Self {
        Self::Container(error)
    }
}

/// Takes the items of a bag one after the other.
type Visit<'v, E> = &'v mut dyn FnMut(Item<'_>) -> Result<(), Halt<E>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Mcap,
    Sqlite,
    Ros1,
}

impl Format {
    /// What rosbag2 calls it.
    fn storage(self) -> &'static str {
        match self {
            Self::Mcap => "mcap",
            Self::Sqlite => "sqlite3",
            Self::Ros1 => "rosbag_v2",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        match end.as_str() {
            "mcap" => Some(Self::Mcap),
            "db3" => Some(Self::Sqlite),
            "bag" => Some(Self::Ros1),
            _ => None,
        }
    }
}

/// Whether `path` is a bag by its name: a file with a bag's ending, or a folder with `metadata.yaml` or such files.
pub fn is_bag(path: &Path) -> bool {
    if !path.is_dir() {
        return Format::of(path).is_some() || metadata::is_compressed(path);
    }
    path.join(metadata::NAME).is_file() || files_of(path).is_ok_and(|files| !files.is_empty())
}

/// The files of a bag in the order of their recording.
#[derive(Debug)]
pub(crate) struct Bag {
    files: Vec<(PathBuf, Format)>,
}

impl Bag {
    /// Finds the files of the bag at `path`; nothing is read but `metadata.yaml`.
    pub(crate) fn find(path: &Path) -> Result<Self, ContainerError> {
        let metadata = path.join(metadata::NAME);
        let files = if !path.is_dir() {
            vec![path.to_owned()]
        } else if metadata.is_file() {
            metadata::files(&metadata)?
        } else {
            files_of(path).map_err(|error| ContainerError::Read { path: path.to_owned(), error })?
        };
        if files.is_empty() {
            return Err(ContainerError::NotABag { path: path.to_owned() });
        }
        let with_format = |file: PathBuf| {
            match Format::of(&file) {
            Some(format) => Ok((file, format)),
            None if metadata::is_compressed(&file) => Err(ContainerError::Unsupported {
                what: "the whole file is compressed; decompress it with `zstd -d` (and the names in metadata.yaml)".to_owned(),
                path: file,
            }),
            None => Err(ContainerError::NotABag { path: file }),
        }
        };
        Ok(Self { files: files.into_iter().map(with_format).collect::<Result<_, _>>()? })
    }

    /// The files in the order of their recording.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// How the first file is stored, in rosbag2's words.
    pub(crate) fn storage(&self) -> &'static str {
        self.files.first().map_or("", |(_, format)| format.storage())
    }

    /// The first file, if it is MCAP.
    pub(crate) fn first_mcap(&self) -> Option<&Path> {
        self.files.first().filter(|(_, format)| *format == Format::Mcap).map(|(path, _)| path.as_path())
    }

    /// Shows every item to `visit`. With `partial` a damage ends the reading and is what is returned.
    pub(crate) fn visit<E: From<ContainerError>>(
        &self,
        partial: bool,
        visit: &mut dyn FnMut(Item<'_>) -> Result<(), Halt<E>>,
    ) -> Result<Option<ContainerError>, E> {
        for (path, format) in &self.files {
            let read = match format {
                Format::Mcap => mcap::read(path, visit),
                #[cfg(feature = "sqlite")]
                Format::Sqlite => sqlite::read(path, visit),
                #[cfg(not(feature = "sqlite"))]
                Format::Sqlite => {
                    Err(unsupported(path, "this build reads no SQLite; build with the feature `sqlite`"))
                }
                #[cfg(feature = "ros1")]
                Format::Ros1 => ros1::read(path, visit),
                #[cfg(not(feature = "ros1"))]
                Format::Ros1 => Err(unsupported(
                    path,
                    "this build reads no ROS 1 bags: build with the feature `ros1` (docs/maps.md says \
                     how), or `rosbags-convert` it to ROS 2",
                )),
            };
            match read {
                Ok(()) => {}
                Err(Halt::Visitor(error)) => return Err(error),
                Err(Halt::Container(error)) if partial && error.is_damage() => return Ok(Some(error)),
                Err(Halt::Container(error)) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

#[cfg(not(all(feature = "sqlite", feature = "ros1")))]
fn unsupported<E>(path: &Path, what: &str) -> Halt<E> {
    ContainerError::Unsupported { path: path.to_owned(), what: what.to_owned() }.into()
}

/// The bag files of a folder without `metadata.yaml`; `_2` comes before `_10`.
fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = entries.collect::<std::io::Result<_>>()?;
    files.retain(|path| path.is_file() && (Format::of(path).is_some() || metadata::is_compressed(path)));
    files.sort_by_key(|path| {
        let name = path.to_string_lossy().into_owned();
        (name.len(), name)
    });
    Ok(files)
}
