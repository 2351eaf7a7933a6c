//! ROS 1 bags of version 2.0 (wiki.ros.org/Bags/Format/2.0), from the first record to the last.

use super::decompress::decompress;
use super::{ContainerError, Halt, Item, Message, Place, Topic, Visit};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// First line of a bag.
const MAGIC: &[u8] = b"#ROSBAG V2.0\n";

/// Kinds of records.
mod op {
    pub(super) const MESSAGE: u8 = 0x02;
    pub(super) const BAG: u8 = 0x03;
    pub(super) const CHUNK: u8 = 0x05;
    pub(super) const CONNECTION: u8 = 0x07;
}

/// Shows every topic and message of the file.
pub(super) fn read<E>(path: &Path, visit: Visit<'_, E>) -> Result<(), Halt<E>> {
    let failed = |error| ContainerError::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let end = file.metadata().map_err(failed)?.len();
    let mut bytes = Bytes { path, file: BufReader::new(file), at: 0, end };
    if bytes.take(MAGIC.len() as u64, "its first line")? != MAGIC {
        let what = "it does not begin as a ROS 1 bag of version 2.0".to_owned();
        return Err(damage(path, 0, what).into());
    }
    let head = bytes.sized("its head")?;
    let written = Written::of(&head)
        .ok_or_else(|| damage(path, MAGIC.len() as u64, "the first record is no head of a bag".to_owned()))?;
    bytes.sized("its head")?;
    let (mut topics, mut chunks) = (HashMap::new(), 0);
    while bytes.at < end {
        let start = bytes.at;
        let wrong = |what: &str| damage(path, start, what.to_owned());
        let head = bytes.sized("the head of a record")?;
        let body = bytes.sized("a record")?;
        let fields = Fields::of(&head).ok_or_else(|| wrong("the head of a record has broken fields"))?;
        match fields.kind() {
            Some(op::CHUNK) => {
                let unpacked = unpacked(&fields, body).map_err(|what| wrong(&what))?;
                records(path, start, &unpacked, &mut topics, visit)?;
                chunks += 1;
            }
            Some(op::CONNECTION) => connection(path, start, &fields, &body, &mut topics, visit)?,
            Some(_) => {}
            None => return Err(wrong("a record without its kind").into()),
        }
    }
    // Between two records nothing else shows that the file ends too early, or that a chunk was taken for something else.
    if written.index == 0 || written.index > end {
        let inside = "its recording (it has no index)";
        return Err(ContainerError::Truncated { path: path.to_owned(), end: Place::Byte(end), inside }.into());
    }
    if written.chunks != chunks {
        let what = format!("{} chunks are announced before the index, {chunks} are there", written.chunks);
        return Err(damage(path, written.index, what).into());
    }
    Ok(())
}

/// What the recorder writes into the head of the bag when it ends.
struct Written {
    /// Byte at which the index begins, 0 while the recording goes on.
    index: u64,
    chunks: u32,
}

impl Written {
    fn of(head: &[u8]) -> Option<Self> {
        let fields = Fields::of(head).filter(|fields| fields.kind() == Some(op::BAG))?;
        let index = fields.get(b"index_pos")?.try_into().map(u64::from_le_bytes).ok()?;
        Some(Self { index, chunks: fields.number(b"chunk_count")? })
    }
}

fn damage(path: &Path, at: u64, what: String) -> ContainerError {
    ContainerError::Damaged { path: path.to_owned(), place: Place::Byte(at), what }
}

/// A file with the place of the next byte.
struct Bytes<'p> {
    path: &'p Path,
    file: BufReader<File>,
    at: u64,
    end: u64,
}

impl Bytes<'_> {
    /// The next `count` bytes; no memory is taken for more than the file has.
    fn take(&mut self, count: u64, inside: &'static str) -> Result<Vec<u8>, ContainerError> {
        if count > self.end - self.at {
            let (path, end) = (self.path.to_owned(), Place::Byte(self.end));
            return Err(ContainerError::Truncated { path, end, inside });
        }
        let mut bytes = vec![0; count as usize];
        let failed = |error| ContainerError::Read { path: self.path.to_owned(), error };
        self.file.read_exact(&mut bytes).map_err(failed)?;
        self.at += count;
        Ok(bytes)
    }

    /// Bytes that are preceded by their number.
    fn sized(&mut self, inside: &'static str) -> Result<Vec<u8>, ContainerError> {
        let length = number(&self.take(4, inside)?).unwrap_or(0);
        self.take(u64::from(length), inside)
    }
}

/// A number of four bytes.
fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Splits off bytes that are preceded by their number.
fn split_sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(4)?;
    rest.split_at_checked(number(length)? as usize)
}

/// Fields `name=value` of a head.
struct Fields<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Fields<'a> {
    fn of(mut bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let (field, rest) = split_sized(bytes)?;
            let sign = field.iter().position(|byte| *byte == b'=')?;
            fields.push((&field[..sign], &field[sign + 1..]));
            bytes = rest;
        }
        Some(Self(fields))
    }

    fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &[u8]) -> Option<u32> {
        self.get(name).and_then(number)
    }

    fn kind(&self) -> Option<u8> {
        self.get(b"op")?.first().copied()
    }

    fn text(&self, name: &[u8]) -> Option<&'a str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}

/// The records of a chunk.
fn records<E>(
    path: &Path,
    at: u64,
    mut bytes: &[u8],
    topics: &mut HashMap<u32, Topic>,
    visit: Visit<'_, E>,
) -> Result<(), Halt<E>> {
    while !bytes.is_empty() {
        let short = || damage(path, at, "a record reaches beyond its chunk".to_owned());
        let (head, rest) = split_sized(bytes).ok_or_else(short)?;
        let (body, rest) = split_sized(rest).ok_or_else(short)?;
        bytes = rest;
        let broken = || damage(path, at, "the head of a record in a chunk has broken fields".to_owned());
        let fields = Fields::of(head).ok_or_else(broken)?;
        match fields.kind() {
            Some(op::CONNECTION) => connection(path, at, &fields, body, topics, visit)?,
            Some(op::MESSAGE) => {
                let topic = fields.number(b"conn").and_then(|id| topics.get(&id)).ok_or_else(|| {
                    damage(path, at, "a message is of a connection that was not announced".to_owned())
                })?;
                let (seconds, nanoseconds) =
                    fields.get(b"time").and_then(|time| time.split_at_checked(4)).ok_or_else(broken)?;
                let (Some(seconds), Some(nanoseconds)) = (number(seconds), number(nanoseconds)) else {
                    return Err(broken().into());
                };
                let logged = i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds);
                visit(Item::Message(Message { topic, logged, data: body, path, place: Place::Byte(at) }))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn connection<E>(
    path: &Path,
    at: u64,
    fields: &Fields<'_>,
    body: &[u8],
    topics: &mut HashMap<u32, Topic>,
    visit: Visit<'_, E>,
) -> Result<(), Halt<E>> {
    let described = Fields::of(body);
    let type_name = described.as_ref().and_then(|fields| fields.text(b"type"));
    let (Some(id), Some(topic), Some(type_name)) = (fields.number(b"conn"), fields.text(b"topic"), type_name)
    else {
        return Err(damage(path, at, "a connection without its number, topic or type".to_owned()).into());
    };
    let topic = Topic::new(topic, type_name, "ros1");
    visit(Item::Topic(&topic))?;
    topics.insert(id, topic);
    Ok(())
}

/// The records of a chunk whose head has the `fields`.
///
/// Errors: what is wrong, as a sentence.
fn unpacked(fields: &Fields<'_>, body: Vec<u8>) -> Result<Vec<u8>, String> {
    let size = u64::from(fields.number(b"size").ok_or("a chunk without its size")?);
    match fields.text(b"compression").ok_or("a chunk without its compression")? {
        "none" if body.len() as u64 == size => Ok(body),
        "none" => Err(format!("a chunk has {} bytes, {size} are announced", body.len())),
        "bz2" => unpacked_bz2(&body, size),
        method => decompress(method, &body, size),
    }
}

fn unpacked_bz2(data: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = bzip2::read::BzDecoder::new(data).take(size.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| format!("the bz2 data of a chunk are broken: {error}"))?;
    if bytes.len() as u64 == size {
        Ok(bytes)
    } else {
        Err(format!("a chunk has {} or more bytes, {size} are announced", bytes.len()))
    }
}
