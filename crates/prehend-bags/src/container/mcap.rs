//! MCAP files, from the first record to the last (mcap.dev/spec).

use super::decompress::decompress;
use super::{ContainerError, Halt, Item, Message, Place, Topic, Visit};
use mcap::records::{Record, op};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// First and last bytes of a file.
const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// Bytes before a record: its kind and its length.
const HEAD: usize = 9;

/// Shows every topic and message of the file.
pub(super) fn read<E>(path: &Path, visit: Visit<'_, E>) -> Result<(), Halt<E>> {
    let mut file = Bytes::open(path)?;
    if file.take(8, "its first bytes")? != MAGIC {
        return Err(file.damaged(0, "it does not begin as an MCAP file".to_owned()).into());
    }
    let mut topics = Topics::default();
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&MAGIC);
    let mut is_data = true;
    loop {
        let start = file.at;
        let head = Head::of(file.take(HEAD, "the file, before its end was written")?);
        let head_bytes = head.bytes();
        let body = file.take(head.length, "a record")?;
        match head.kind {
            op::FOOTER => break,
            op::DATA_END => {
                let Record::DataEnd(end) = parsed(path, start, head.kind, body)? else { continue };
                if end.data_section_crc != 0 && end.data_section_crc != checksum.clone().finalize() {
                    let what =
                        "the checksum of the messages does not fit; one of them was changed".to_owned();
                    return Err(file.damaged(start, what).into());
                }
                is_data = false;
            }
            _ if !is_data => {}
            op::CHUNK => {
                checksum.update(&head_bytes);
                checksum.update(body);
                chunk(path, start, body, &mut topics, visit)?;
            }
            kind => {
                checksum.update(&head_bytes);
                checksum.update(body);
                record(path, start, kind, body, &mut topics, visit)?;
            }
        }
    }
    let end = file.at;
    if file.take(8, "its last bytes")? != MAGIC {
        return Err(file.damaged(end, "it does not end as an MCAP file".to_owned()).into());
    }
    Ok(())
}

/// The note `name` before the first messages of a file, as its writer left it; empty when there is none.
pub(crate) fn notes(path: &Path, name: &str) -> Result<BTreeMap<String, String>, ContainerError> {
    let mut file = Bytes::open(path)?;
    if file.take(8, "its first bytes")? != MAGIC {
        return Err(file.damaged(0, "it does not begin as an MCAP file".to_owned()));
    }
    loop {
        let start = file.at;
        let head = Head::of(file.take(HEAD, "the file, before its end was written")?);
        let body = file.take(head.length, "a record")?;
        match head.kind {
            op::HEADER => {}
            op::METADATA => match parsed(path, start, head.kind, body)? {
                Record::Metadata(note) if note.name == name => return Ok(note.metadata),
                _ => {}
            },
            _ => return Ok(BTreeMap::new()),
        }
    }
}

/// Kind and length of a record.
struct Head {
    kind: u8,
    length: u64,
}

impl Head {
    fn of(bytes: &[u8]) -> Self {
        let mut length = [0; 8];
        length.copy_from_slice(&bytes[1..HEAD]);
        Self { kind: bytes[0], length: u64::from_le_bytes(length) }
    }

    fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [self.kind; HEAD];
        bytes[1..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

/// A file with the place of the next byte.
struct Bytes<'p> {
    path: &'p Path,
    file: BufReader<File>,
    at: u64,
    end: u64,
    buffer: Vec<u8>,
}

impl<'p> Bytes<'p> {
    fn open(path: &'p Path) -> Result<Self, ContainerError> {
        let failed = |error| ContainerError::Read { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        let end = file.metadata().map_err(failed)?.len();
        Ok(Self { path, file: BufReader::new(file), at: 0, end, buffer: Vec::new() })
    }

    /// The next `count` bytes; no memory is taken for more than the file has.
    fn take(&mut self, count: impl TryInto<u64>, inside: &'static str) -> Result<&[u8], ContainerError> {
        let count = count.try_into().unwrap_or(u64::MAX);
        if count > self.end - self.at {
            let (path, end) = (self.path.to_owned(), Place::Byte(self.end));
            return Err(ContainerError::Truncated { path, end, inside });
        }
        self.buffer.resize(count as usize, 0);
        let failed = |error| ContainerError::Read { path: self.path.to_owned(), error };
        self.file.read_exact(&mut self.buffer).map_err(failed)?;
        self.at += count;
        Ok(&self.buffer)
    }

    fn damaged(&self, at: u64, what: String) -> ContainerError {
        ContainerError::Damaged { path: self.path.to_owned(), place: Place::Byte(at), what }
    }
}

/// Schemas and channels heard of so far.
#[derive(Default)]
struct Topics {
    schemas: HashMap<u16, String>,
    channels: HashMap<u16, Topic>,
}

fn parsed<'a>(path: &Path, at: u64, kind: u8, body: &'a [u8]) -> Result<Record<'a>, ContainerError> {
    mcap::parse_record(kind, body).map_err(|error| ContainerError::Damaged {
        path: path.to_owned(),
        place: Place::Byte(at),
        what: error.to_string(),
    })
}

/// The records of a chunk.
fn chunk<E>(
    path: &Path,
    at: u64,
    body: &[u8],
    topics: &mut Topics,
    visit: Visit<'_, E>,
) -> Result<(), Halt<E>> {
    let Record::Chunk { header, data } = parsed(path, at, op::CHUNK, body)? else { return Ok(()) };
    let damaged =
        |what: String| ContainerError::Damaged { path: path.to_owned(), place: Place::Byte(at), what };
    let unpacked;
    let mut rest: &[u8] = match header.compression.as_str() {
        "" => &data,
        method => {
            unpacked = decompress(method, &data, header.uncompressed_size).map_err(damaged)?;
            &unpacked
        }
    };
    if header.uncompressed_crc != 0 && header.uncompressed_crc != crc32fast::hash(rest) {
        return Err(damaged("the checksum of a chunk does not fit".to_owned()).into());
    }
    while let Some((head, tail)) = rest.split_at_checked(HEAD) {
        let head = Head::of(head);
        let short = || damaged("a record reaches beyond its chunk".to_owned());
        let (body, tail) = usize::try_from(head.length)
            .ok()
            .and_then(|length| tail.split_at_checked(length))
            .ok_or_else(short)?;
        record(path, at, head.kind, body, topics, visit)?;
        rest = tail;
    }
    Ok(())
}

/// One record that is no chunk.
fn record<E>(
    path: &Path,
    at: u64,
    kind: u8,
    body: &[u8],
    topics: &mut Topics,
    visit: Visit<'_, E>,
) -> Result<(), Halt<E>> {
    // The others say nothing about topics and messages.
    if !matches!(kind, op::SCHEMA | op::CHANNEL | op::MESSAGE) {
        return Ok(());
    }
    let damaged =
        |what: String| ContainerError::Damaged { path: path.to_owned(), place: Place::Byte(at), what };
    match parsed(path, at, kind, body)? {
        Record::Schema { header, .. } => {
            topics.schemas.insert(header.id, header.name);
        }
        Record::Channel(channel) => {
            let type_name = topics.schemas.get(&channel.schema_id).map_or("", String::as_str);
            let qos = channel.metadata.get("offered_qos_profiles").map_or("", String::as_str);
            let topic = Topic::new(&channel.topic, type_name, &channel.message_encoding).offered(qos);
            visit(Item::Topic(&topic))?;
            topics.channels.insert(channel.id, topic);
        }
        Record::Message { header, data } => {
            let topic = topics.channels.get(&header.channel_id).ok_or_else(|| {
                damaged(format!("a message is of channel {}, which was not announced", header.channel_id))
            })?;
            let logged = i64::try_from(header.log_time).unwrap_or(i64::MAX);
            visit(Item::Message(Message { topic, logged, data: &data, path, place: Place::Byte(at) }))?;
        }
        _ => {}
    }
    Ok(())
}
