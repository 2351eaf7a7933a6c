//! The text of `metadata.yaml`, version 7: the first with type hashes. Humble, which writes 5, looks for the keys it knows and reads it,
//! and so does every newer rosbag2.

use std::fmt::Write;

/// A file that was ended.
pub(super) struct FileFacts {
    pub(super) name: String,
    /// Times of its first and last message, nanoseconds since the epoch; 0 without messages.
    pub(super) span: (u64, u64),
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// A topic with what came of it.
pub(super) struct TopicFacts<'a> {
    pub(super) name: &'a str,
    pub(super) type_name: &'a str,
    pub(super) qos: String,
    /// Empty when it is not known.
    pub(super) hash: &'a str,
    pub(super) messages: u64,
}

/// The text.
pub(super) fn text(topics: &[TopicFacts<'_>], files: &[FileFacts]) -> String {
    let spoken: Vec<&FileFacts> = files.iter().filter(|file| file.messages > 0).collect();
    let begin = spoken.iter().map(|file| file.span.0).min().unwrap_or_default();
    let end = spoken.iter().map(|file| file.span.1).max().unwrap_or_default();
    let messages: u64 = files.iter().map(|file| file.messages).sum();
    let mut text = format!(
        "rosbag2_bagfile_information:\n  version: 7\n  storage_identifier: mcap\n  duration:\n    nanoseconds: {}\n  starting_time:\n    \
         nanoseconds_since_epoch: {begin}\n  message_count: {messages}\n",
        end - begin
    );
    let list = |text: &mut String, key: &str, is_empty: bool| {
        let _ = writeln!(text, "  {key}:{}", if is_empty { " []" } else { "" });
    };
    list(&mut text, "topics_with_message_count", topics.is_empty());
    for TopicFacts { name, type_name, qos, hash, messages } in topics {
        let _ = writeln!(
            text,
            "    - topic_metadata:\n        name: {name}\n        type: {type_name}\n        serialization_format: cdr\n        \
             offered_qos_profiles: {}\n        type_description_hash: {}\n      message_count: {messages}",
            quoted(qos),
            quoted(hash)
        );
    }
    text.push_str("  compression_format: \"\"\n  compression_mode: \"\"\n");
    list(&mut text, "relative_file_paths", files.is_empty());
    for FileFacts { name, .. } in files {
        let _ = writeln!(text, "    - {}", quoted(name));
    }
    list(&mut text, "files", files.is_empty());
    for FileFacts { name, span: (begin, end), messages, .. } in files {
        let _ = writeln!(
            text,
            "    - path: {}\n      starting_time:\n        nanoseconds_since_epoch: {begin}\n      duration:\n        nanoseconds: {}\n      \
             message_count: {messages}",
            quoted(name),
            end - begin
        );
    }
    text.push_str("  custom_data: {}\n");
    text
}

/// A text in YAML's double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
