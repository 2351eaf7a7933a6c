//! What is written is read again: whole, in several files, and when the writer was killed.

use crate::maps::frames_of;
use crate::write::{Entry, entries, mcap_file};
use prehend_bags::{
    BagOptions, BagWriter, ContainerError, NewTopic, Options, WriteError, Written, notes, stored_messages,
};
use prehend_ros::QosProfile;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

fn topic(entry: &Entry) -> NewTopic {
    NewTopic {
        name: entry.topic.clone(),
        type_name: entry.type_name.clone(),
        definition: prehend_msgs::ros2msg(&entry.type_name).unwrap(),
        offered: vec![QosProfile::sensor_data()],
    }
}

/// Writes the entries; with `killed` the writer is not ended, only what it has flushed after each message is there.
fn record(folder: &Path, entries: &[Entry], options: BagOptions, killed: bool) -> Option<Written> {
    let mut writer = BagWriter::create(folder, options).unwrap();
    let mut topics = BTreeMap::new();
    for entry in entries {
        let id = *topics.entry(entry.topic.clone()).or_insert_with(|| writer.add_topic(topic(entry)));
        writer.write(id, entry.logged, &entry.data).unwrap();
        if killed {
            writer.flush().unwrap();
        }
    }
    (!killed).then(|| writer.finish().unwrap())
}

/// Topic, time and bytes.
type Stored = (String, i64, Vec<u8>);

/// Every message, and what ended the reading early.
fn read(path: &Path, partial: bool) -> (Vec<Stored>, Option<ContainerError>) {
    let mut all = Vec::new();
    let damage = stored_messages(path, partial, &mut |message| {
        all.push((message.topic.to_owned(), message.logged, message.data.to_vec()));
        true
    });
    (all, damage.unwrap())
}

fn expected(entries: &[Entry]) -> Vec<(String, i64, Vec<u8>)> {
    entries.iter().map(|entry| (entry.topic.clone(), entry.logged, entry.data.clone())).collect()
}

#[test]
fn a_recording_is_the_bag_that_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let all = entries(&[0.1, 0.0, -0.1], true);
    let other = folder.path().join("other.mcap");
    mcap_file(&other, &all);
    let frames = frames_of(&other, &Options::default()).unwrap();
    for plain in [true, false] {
        let bag = folder.path().join(format!("bag{plain}"));
        let written = record(&bag, &all, BagOptions { plain, ..Default::default() }, false).unwrap();
        assert_eq!((written.messages, written.files.len()), (all.len() as u64, 1));
        assert_eq!(written.files[0], bag.join(format!("bag{plain}_0.mcap")));
        assert_eq!(written.bytes, std::fs::metadata(&written.files[0]).unwrap().len());
        assert!(read(&bag, false).0 == expected(&all));
        assert_eq!(frames_of(&bag, &Options::default()).unwrap(), frames);
    }
    let packed = std::fs::metadata(folder.path().join("bagfalse/bagfalse_0.mcap")).unwrap().len();
    let plain = std::fs::metadata(folder.path().join("bagtrue/bagtrue_0.mcap")).unwrap().len();
    assert!(packed < plain, "{packed} {plain}");
}

#[test]
fn a_recording_is_split_by_size_or_time_and_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = entries(&[0.1, 0.0, -0.1], true);
    let notes_of = BTreeMap::from([("robot".to_owned(), "xarm6".to_owned())]);
    for (name, split_bytes, split_after) in
        [("size", Some(1), None), ("time", None, Some(Duration::from_millis(700)))]
    {
        let bag = folder.path().join(name);
        let options = BagOptions { split_bytes, split_after, plain: false, notes: notes_of.clone() };
        let written = record(&bag, &all, options, false).unwrap();
        assert!(written.files.len() >= 3, "{name}: {:?}", written.files);
        assert!(read(&bag, false).0 == expected(&all), "{name}");
        let total: u64 = written.topics.values().sum();
        assert_eq!(total, all.len() as u64);
        assert_eq!(notes(&bag).unwrap(), notes_of);
        // Each file describes itself.
        for file in &written.files {
            assert!(!read(file, false).0.is_empty(), "{}", file.display());
        }
    }
}

#[test]
fn what_was_flushed_before_a_kill_is_read_with_partial() {
    let folder = tempfile::tempdir().unwrap();
    let all = entries(&[0.1, 0.0], true);
    let bag = folder.path().join("killed");
    assert!(record(&bag, &all, BagOptions::default(), true).is_none());
    let mut no_damage = |_: prehend_bags::StoredMessage<'_>| true;
    let refused = stored_messages(&bag, false, &mut no_damage).unwrap_err();
    assert!(matches!(refused, ContainerError::Truncated { .. }), "{refused}");
    assert!(refused.to_string().contains("--partial"), "{refused}");
    let (whole, damage) = read(&bag, true);
    assert!(whole == expected(&all));
    assert!(matches!(damage, Some(ContainerError::Truncated { .. })));
    // Cut off anywhere, what is read is the beginning of what was written.
    let file = bag.join("killed_0.mcap");
    let bytes = std::fs::read(&file).unwrap();
    let mut lengths = Vec::new();
    for cut in (0..bytes.len()).step_by(bytes.len() / 40) {
        std::fs::write(&file, &bytes[..cut]).unwrap();
        let (part, damage) = read(&bag, true);
        assert!(matches!(damage, Some(ContainerError::Truncated { .. })), "{cut}");
        assert!(part == whole[..part.len()], "{cut}");
        lengths.push(part.len());
    }
    assert!(lengths.is_sorted(), "{lengths:?}");
    assert!(lengths.last() > Some(&(all.len() / 2)), "{lengths:?}");
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "precious").unwrap();
    let refused = BagWriter::create(folder.path(), BagOptions::default()).unwrap_err();
    assert!(matches!(refused, WriteError::Exists { .. }), "{refused}");
    assert!(matches!(BagWriter::create(Path::new("/"), BagOptions::default()), Err(WriteError::Name { .. })));
    let file = folder.path().join("mine/bag");
    assert!(matches!(BagWriter::create(&file, BagOptions::default()), Err(WriteError::Write { .. })));
}

#[test]
fn a_silent_recording_is_a_bag() {
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("silent");
    let mut writer = BagWriter::create(&bag, BagOptions::default()).unwrap();
    writer.add_topic(topic(&entries(&[0.1], false)[0]));
    let written = writer.finish().unwrap();
    assert_eq!((written.messages, written.topics.len()), (0, 1));
    let (all, damage) = read(&bag, false);
    assert!(all.is_empty() && damage.is_none());
}
