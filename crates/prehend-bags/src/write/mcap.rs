//! One MCAP file (mcap.dev/spec), record by record: its profile is `ros2`, its chunks are compressed by lz4 and indexed.
//!
//! A chunk goes to the operating system whole or, when that fails, not at all: the file is cut back to where it was.

use mcap::records::op;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// Messages are gathered up to so many bytes.
const CHUNK: usize = 1 << 20;

/// Where the bytes go.
pub(super) trait Store: Write {
    /// Throws away what is after the first `length` bytes, and goes on there.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Store for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        io::Seek::seek(self, io::SeekFrom::Start(length)).map(drop)
    }
}

/// A record under construction.
struct Body(Vec<u8>);

impl Body {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Bytes after their number.
    fn bytes(self, value: &[u8]) -> Self {
        let mut this = self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        this.0.extend_from_slice(value);
        this
    }

    fn text(self, value: &str) -> Self {
        self.bytes(value.as_bytes())
    }

    fn texts<'a>(self, map: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let pairs = map.into_iter().fold(Body(Vec::new()), |body, (key, value)| body.text(key).text(value));
        self.bytes(&pairs.0)
    }
}

/// Appends a record.
fn put(to: &mut Vec<u8>, kind: u8, body: &[u8]) {
    to.push(kind);
    to.extend_from_slice(&(body.len() as u64).to_le_bytes());
    to.extend_from_slice(body);
}

fn record(kind: u8, body: Body) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.0.len() + 9);
    put(&mut bytes, kind, &body.0);
    bytes
}

/// First and last time of messages.
#[derive(Clone, Copy)]
struct Span(u64, u64);

impl Span {
    fn with(span: Option<Self>, time: u64) -> Option<Self> {
        Some(span.map_or(Self(time, time), |Self(first, last)| Self(first.min(time), last.max(time))))
    }
}

/// Messages that are not in the file yet.
#[derive(Default)]
struct Gathered {
    records: Vec<u8>,
    span: Option<Span>,
    /// Time and place of each message by channel.
    index: BTreeMap<u16, Vec<(u64, u64)>>,
    messages: u64,
}

/// A file that is written.
pub(super) struct McapWriter<S> {
    store: S,
    /// Bytes in the file.
    at: u64,
    compressed: bool,
    gathered: Gathered,
    /// Schemas and channels, for the end of the file.
    schemas: BTreeMap<String, u16>,
    described: [Vec<u8>; 2],
    channels: u16,
    sequences: BTreeMap<u16, u32>,
    counts: BTreeMap<u16, u64>,
    chunks: Vec<u8>,
    chunk_count: u32,
    notes: Vec<u8>,
    note_count: u32,
    span: Option<Span>,
}

impl<S: Store> McapWriter<S> {
    /// Begins a file at the beginning of `store`.
    pub(super) fn begin(store: S, compressed: bool) -> io::Result<Self> {
        let mut this = Self {
            store,
            at: 0,
            compressed,
            gathered: Gathered::default(),
            schemas: BTreeMap::new(),
            described: [Vec::new(), Vec::new()],
            channels: 0,
            sequences: BTreeMap::new(),
            counts: BTreeMap::new(),
            chunks: Vec::new(),
            chunk_count: 0,
            notes: Vec::new(),
            note_count: 0,
            span: None,
        };
        let mut bytes = MAGIC.to_vec();
        let library = concat!("prehend ", env!("CARGO_PKG_VERSION"));
        put(&mut bytes, op::HEADER, &Body(Vec::new()).text("ros2").text(library).0);
        this.append(&bytes)?;
        Ok(this)
    }

    /// Writes all of `bytes` or nothing.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.store.write_all(bytes).and_then(|()| self.store.flush()) {
            Ok(()) => {
                self.at += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // What cannot be cut off stays as a chunk that is not whole: readers know those.
                let _ = self.store.cut(self.at);
                Err(error)
            }
        }
    }

    /// Writes a named note.
    pub(super) fn note(&mut self, name: &str, texts: &BTreeMap<String, String>) -> io::Result<()> {
        let pairs = texts.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let bytes = record(op::METADATA, Body(Vec::new()).text(name).texts(pairs));
        let index = Body(Vec::new()).u64(self.at).u64(bytes.len() as u64).text(name);
        self.append(&bytes)?;
        self.notes.extend(record(op::METADATA_INDEX, index));
        self.note_count += 1;
        Ok(())
    }

    /// Announces a topic, with what rosbag2 notes of it; gives its channel.
    pub(super) fn add_channel(
        &mut self,
        topic: &str,
        type_name: &str,
        definition: &str,
        notes: [(&str, &str); 2],
    ) -> u16 {
        let fresh = u16::try_from(self.schemas.len() + 1).unwrap_or(u16::MAX);
        let schema = *self.schemas.entry(type_name.to_owned()).or_insert(fresh);
        if schema == fresh {
            let body = Body(Vec::new()).u16(schema).text(type_name).text("ros2msg").text(definition);
            let bytes = record(op::SCHEMA, body);
            self.gathered.records.extend_from_slice(&bytes);
            self.described[0].extend(bytes);
        }
        let channel = self.channels;
        self.channels += 1;
        let body = Body(Vec::new()).u16(channel).u16(schema).text(topic).text("cdr");
        let bytes = record(op::CHANNEL, body.texts(notes));
        self.gathered.records.extend_from_slice(&bytes);
        self.described[1].extend(bytes);
        channel
    }

    /// Gathers a message; it is in the file after the next [`flush`](Self::flush), which comes by itself when there are many.
    pub(super) fn message(&mut self, channel: u16, time: u64, data: &[u8]) -> io::Result<()> {
        let sequence = self.sequences.entry(channel).or_insert(0);
        *sequence = sequence.wrapping_add(1);
        let gathered = &mut self.gathered;
        let place = gathered.records.len() as u64;
        gathered.index.entry(channel).or_default().push((time, place));
        gathered.span = Span::with(gathered.span, time);
        gathered.messages += 1;
        let head = Body(Vec::with_capacity(22)).u16(channel).u32(*sequence).u64(time).u64(time);
        gathered.records.push(op::MESSAGE);
        gathered.records.extend_from_slice(&((head.0.len() + data.len()) as u64).to_le_bytes());
        gathered.records.extend_from_slice(&head.0);
        gathered.records.extend_from_slice(data);
        if gathered.records.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    /// Writes what is gathered as a chunk with its index.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        if gathered.records.is_empty() {
            return Ok(());
        }
        let Span(first, last) = gathered.span.unwrap_or(Span(0, 0));
        let size = gathered.records.len() as u64;
        let (method, packed) = match self.compressed {
            true => ("lz4", lz4(&gathered.records)?),
            false => ("", gathered.records.clone()),
        };
        let head = Body(Vec::with_capacity(packed.len() + 64)).u64(first).u64(last).u64(size);
        let mut chunk = head.u32(crc32fast::hash(&gathered.records)).text(method).u64(packed.len() as u64);
        chunk.0.extend_from_slice(&packed);
        let mut bytes = record(op::CHUNK, chunk);
        let (begin, length) = (self.at, bytes.len() as u64);
        let mut offsets = Body(Vec::new());
        for (channel, places) in &gathered.index {
            offsets = offsets.u16(*channel).u64(begin + bytes.len() as u64);
            let places =
                places.iter().fold(Body(Vec::new()), |body, (time, place)| body.u64(*time).u64(*place));
            put(&mut bytes, op::MESSAGE_INDEX, &Body(Vec::new()).u16(*channel).bytes(&places.0).0);
        }
        let index_length = bytes.len() as u64 - length;
        if let Err(error) = self.append(&bytes) {
            // Schemas and channels are not lost with the messages.
            self.gathered.records = self.described.concat();
            return Err(error);
        }
        let index =
            Body(Vec::new()).u64(first).u64(last).u64(begin).u64(length).bytes(&offsets.0).u64(index_length);
        let index = index.text(method).u64(packed.len() as u64).u64(size);
        self.chunks.extend(record(op::CHUNK_INDEX, index));
        self.chunk_count += 1;
        for (channel, places) in &gathered.index {
            *self.counts.entry(*channel).or_insert(0) += places.len() as u64;
        }
        if gathered.span.is_some() {
            self.span = Span::with(Span::with(self.span, first), last);
        }
        Ok(())
    }

    /// Writes the end of the file: summary and index.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        let Span(first, last) = self.span.unwrap_or(Span(0, 0));
        let counts = self
            .counts
            .iter()
            .fold(Body(Vec::new()), |body, (channel, count)| body.u16(*channel).u64(*count));
        let schemas = u16::try_from(self.schemas.len()).unwrap_or(u16::MAX);
        let statistics = Body(Vec::new()).u64(self.messages()).u16(schemas).u32(self.channels.into()).u32(0);
        let statistics =
            statistics.u32(self.note_count).u32(self.chunk_count).u64(first).u64(last).bytes(&counts.0);
        let statistics = record(op::STATISTICS, statistics);
        let mut bytes = record(op::DATA_END, Body(Vec::new()).u32(0));
        let begin = self.at + bytes.len() as u64;
        let skip = bytes.len();
        let mut places = Vec::new();
        for (kind, group) in [
            (op::SCHEMA, &self.described[0]),
            (op::CHANNEL, &self.described[1]),
            (op::STATISTICS, &statistics),
            (op::CHUNK_INDEX, &self.chunks),
            (op::METADATA_INDEX, &self.notes),
        ] {
            if group.is_empty() {
                continue;
            }
            let mut body = vec![kind];
            body.extend_from_slice(&(self.at + bytes.len() as u64).to_le_bytes());
            body.extend_from_slice(&(group.len() as u64).to_le_bytes());
            put(&mut places, op::SUMMARY_OFFSET, &body);
            bytes.extend_from_slice(group);
        }
        let places_begin = self.at + bytes.len() as u64;
        bytes.extend_from_slice(&places);
        // The checksum is over the summary and the footer up to itself.
        bytes.push(op::FOOTER);
        bytes.extend_from_slice(&20_u64.to_le_bytes());
        bytes.extend_from_slice(&begin.to_le_bytes());
        bytes.extend_from_slice(&places_begin.to_le_bytes());
        let checksum = crc32fast::hash(bytes.get(skip..).unwrap_or_default());
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&MAGIC);
        self.append(&bytes)
    }

    /// Times of the first and last message, nanoseconds.
    pub(super) fn span(&self) -> Option<(u64, u64)> {
        let gathered = self.gathered.span;
        let both = match (self.span, gathered) {
            (Some(span), Some(Span(first, last))) => Span::with(Span::with(Some(span), first), last),
            (span, gathered) => span.or(gathered),
        };
        both.map(|Span(first, last)| (first, last))
    }

    /// Messages in the file.
    pub(super) fn messages(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Messages of a channel in the file.
    pub(super) fn count(&self, channel: u16) -> u64 {
        self.counts.get(&channel).copied().unwrap_or(0)
    }

    /// Bytes of the file and of what is gathered.
    pub(super) fn bytes(&self) -> u64 {
        self.at + self.gathered.records.len() as u64
    }
}

fn lz4(plain: &[u8]) -> io::Result<Vec<u8>> {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    let info = FrameInfo::new().block_size(BlockSize::Max4MB).block_mode(BlockMode::Independent);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::with_capacity(plain.len() / 2));
    encoder.write_all(plain)?;
    encoder.finish().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A disk that has room for so many bytes.
    #[derive(Clone)]
    struct Disk {
        bytes: Arc<Mutex<Vec<u8>>>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let mut bytes = self.bytes.lock().unwrap();
            let count = data.len().min(self.room - bytes.len());
            if count == 0 && !data.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            bytes.extend_from_slice(&data[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Store for Disk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.lock().unwrap().truncate(length as usize);
            Ok(())
        }
    }

    /// Bytes that do not compress.
    fn noise(seed: u32, count: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn a_full_disk_keeps_the_chunks_that_went_on_it_whole_and_the_file_gets_its_end() {
        let room = 40_000;
        let disk = Disk { bytes: Arc::default(), room };
        let mut writer = McapWriter::begin(disk.clone(), true).unwrap();
        let channel = writer.add_channel("/a", "std_msgs/msg/String", "string data", [("a", ""), ("b", "")]);
        let mut written = 0;
        let error = loop {
            writer.message(channel, written + 1, &noise(written as u32 + 7, 9000)).unwrap();
            match writer.flush() {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(writer.messages(), written);
        assert!((3..5).contains(&written), "{written}");
        writer.end().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.mcap");
        std::fs::write(&path, &*disk.bytes.lock().unwrap()).unwrap();
        let mut read = Vec::new();
        let damage = crate::stored_messages(&path, false, &mut |message| {
            assert_eq!(message.topic, "/a");
            read.push((message.logged, message.data.to_vec()));
            true
        });
        assert!(damage.unwrap().is_none());
        let expected: Vec<(i64, Vec<u8>)> =
            (0..written).map(|n| (n as i64 + 1, noise(n as u32 + 7, 9000))).collect();
        assert!(read == expected);
    }

    #[test]
    fn the_summary_is_what_the_reader_of_mcap_expects() {
        let disk = Disk { bytes: Arc::default(), room: usize::MAX };
        let mut writer = McapWriter::begin(disk.clone(), false).unwrap();
        let notes = BTreeMap::from([("robot".to_owned(), "xarm6".to_owned())]);
        writer.note("prehend", &notes).unwrap();
        let a = writer.add_channel(
            "/a",
            "std_msgs/msg/String",
            "string data",
            [("offered_qos_profiles", "- history: 3"), ("topic_type_hash", "RIHS01_0")],
        );
        for time in [30, 10, 20] {
            writer.message(a, time, b"\0\x01\0\0abc").unwrap();
        }
        writer.flush().unwrap();
        let b = writer.add_channel("/b", "std_msgs/msg/String", "string data", [("a", ""), ("b", "")]);
        writer.message(b, 40, b"\0\x01\0\0d").unwrap();
        let silent = writer.add_channel("/c", "std_msgs/msg/Bool", "bool data", [("a", ""), ("b", "")]);
        writer.end().unwrap();
        let bytes = disk.bytes.lock().unwrap().clone();
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        let statistics = summary.stats.clone().unwrap();
        assert_eq!((statistics.message_count, statistics.channel_count, statistics.schema_count), (4, 3, 2));
        assert_eq!((statistics.message_start_time, statistics.message_end_time), (10, 40));
        assert_eq!(statistics.channel_message_counts, BTreeMap::from([(a, 3), (b, 1)]));
        assert_eq!((summary.chunk_indexes.len(), summary.metadata_indexes.len()), (2, 1));
        assert_eq!(summary.channels[&silent].schema.as_ref().unwrap().name, "std_msgs/msg/Bool");
        assert_eq!(summary.channels[&a].metadata["offered_qos_profiles"], "- history: 3");
        assert_eq!(summary.channels[&a].metadata["topic_type_hash"], "RIHS01_0");
        let mut times = Vec::new();
        for chunk in &summary.chunk_indexes {
            let by_channel = summary.read_message_indexes(&bytes, chunk).unwrap();
            for (channel, entries) in by_channel {
                for entry in entries {
                    let message = summary.seek_message(&bytes, chunk, &entry).unwrap();
                    assert_eq!((message.channel.id, message.log_time), (channel.id, entry.log_time));
                    times.push(message.log_time);
                }
            }
        }
        times.sort_unstable();
        assert_eq!(times, [10, 20, 30, 40]);
        let whole: Result<Vec<_>, _> = mcap::MessageStream::new(&bytes).unwrap().collect();
        assert_eq!(whole.unwrap().len(), 4);
    }
}
