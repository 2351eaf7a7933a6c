//! SQLite files of rosbag2 (`.db3`): tables `topics` and `messages`.

use super::{ContainerError, Halt, Item, Message, Place, Topic, Visit};
use rusqlite::{Connection, OpenFlags};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// First bytes of a file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Shows every topic and message of the file, in the order of recording.
pub(super) fn read<E>(path: &Path, visit: Visit<'_, E>) -> Result<(), Halt<E>> {
    check_length(path)?;
    let failed = |place: Place| {
        move |error: rusqlite::Error| ContainerError::Damaged {
            path: path.to_owned(),
            place,
            what: error.to_string(),
        }
    };
    let database = open(path).map_err(failed(Place::Byte(0)))?;
    let mut topics = HashMap::new();
    let topics_with = |qos: &str| {
        database.prepare(&format!("SELECT id, name, type, serialization_format, {qos} FROM topics"))
    };
    // The oldest files do not tell what was offered.
    let mut statement =
        topics_with("offered_qos_profiles").or_else(|_| topics_with("''")).map_err(failed(Place::Byte(0)))?;
    let mut rows = statement.query([]).map_err(failed(Place::Byte(0)))?;
    while let Some(row) = rows.next().map_err(failed(Place::Byte(0)))? {
        let text = |column| row.get::<_, String>(column).map_err(failed(Place::Byte(0)));
        let topic = Topic::new(&text(1)?, &text(2)?, &text(3)?).offered(&text(4)?);
        visit(Item::Topic(&topic))?;
        topics.insert(row.get::<_, i64>(0).map_err(failed(Place::Byte(0)))?, topic);
    }
    let mut statement = database
        .prepare("SELECT id, topic_id, timestamp, data FROM messages ORDER BY id")
        .map_err(failed(Place::Byte(0)))?;
    let mut rows = statement.query([]).map_err(failed(Place::Byte(0)))?;
    let mut place = Place::Row(0);
    while let Some(row) = rows.next().map_err(failed(place))? {
        let id: i64 = row.get(0).map_err(failed(place))?;
        place = Place::Row(id);
        let number: i64 = row.get(1).map_err(failed(place))?;
        let topic = topics.get(&number).ok_or_else(|| ContainerError::Damaged {
            path: path.to_owned(),
            place,
            what: format!("it is of topic {number}, which is not in the table of topics"),
        })?;
        let logged = row.get(2).map_err(failed(place))?;
        let data = row.get_ref(3).map_err(failed(place))?;
        let data = data.as_blob().map_err(|error| ContainerError::Damaged {
            path: path.to_owned(),
            place,
            what: error.to_string(),
        })?;
        visit(Item::Message(Message { topic, logged, data, path, place }))?;
    }
    Ok(())
}

/// The file of what SQLite has not moved into the database yet.
fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Opens for reading. Without a log beside it nobody writes, so that SQLite needs no files of its own beside it: the folder may
/// be read-only.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if log_of(path).exists() {
        return Connection::open_with_flags(path, flags);
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut name = String::from("file:");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                name.push(char::from(*byte))
            }
            other => name.push_str(&format!("%{other:02X}")),
        }
    }
    Connection::open_with_flags(format!("{name}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
}

/// Compares the length of the file with what its header says (sqlite.org/fileformat.html, 1.3).
fn check_length(path: &Path) -> Result<(), ContainerError> {
    let failed = |error| ContainerError::Read { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let cut = |inside| ContainerError::Truncated { path: path.to_owned(), end: Place::Byte(length), inside };
    if length < 100 {
        return Err(cut("its first bytes"));
    }
    let mut head = [0; 100];
    file.read_exact(&mut head).map_err(failed)?;
    if !head.starts_with(MAGIC) {
        let what = "it does not begin as an SQLite file".to_owned();
        return Err(ContainerError::Damaged { path: path.to_owned(), place: Place::Byte(0), what });
    }
    let page = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65536,
        bytes => u64::from(bytes),
    };
    let pages = u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]));
    // The number of pages counts only when the version that wrote it wrote last.
    let counts = head[24..28] == head[92..96] && !log_of(path).exists();
    if counts && length < page * pages { Err(cut("its pages")) } else { Ok(()) }
}
