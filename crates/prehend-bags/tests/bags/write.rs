//! Bags as rosbag2 writes them.

use crate::scene::{BEGIN, OPTICAL, camera, color_message, depth_message, info_message, seen, transform};
use mcap::{WriteOptions, records::MessageHeader};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use prehend_msgs::Message;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::to_cdr;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

pub(crate) const COLOR: &str = "/camera/color/image_raw";
pub(crate) const DEPTH: &str = "/camera/aligned_depth_to_color/image_raw";
pub(crate) const INFO: &str = "/camera/color/camera_info";

/// A message with its topic, type and time.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) logged: i64,
    pub(crate) data: Vec<u8>,
}

pub(crate) fn entry<M: Message>(topic: &str, logged: i64, message: &M) -> Entry {
    Entry {
        topic: topic.to_owned(),
        type_name: format!("{}/msg/{}", M::PACKAGE, M::NAME),
        logged,
        data: to_cdr(message).unwrap(),
    }
}

/// How the camera is mounted on what moves: turned by a quarter, 0.1 m ahead.
pub(crate) fn mount() -> Isometry3<f64> {
    Isometry3::from_parts(
        Vector3::new(0.1, 0.0, 0.0).into(),
        UnitQuaternion::from_euler_angles(0.0, 0.0, std::f64::consts::FRAC_PI_2),
    )
}

/// Transforms of a camera that is at `map_from_camera` at `stamp`.
pub(crate) fn pose_entry(stamp: i64, map_from_camera: &Isometry3<f64>) -> Entry {
    let moving = transform("map", "camera_link", stamp, &(map_from_camera * mount().inverse()));
    entry("/tf", stamp, &TFMessage { transforms: vec![moving] })
}

pub(crate) fn static_entry() -> Entry {
    entry(
        "/tf_static",
        BEGIN,
        &TFMessage { transforms: vec![transform("camera_link", OPTICAL, BEGIN, &mount())] },
    )
}

/// Frames a second apart, seen from the places `x` of [`camera`]; depth comes 4 ms after colour. With `posed`, transforms 50 ms before and
/// after each frame, so that poses are between them.
pub(crate) fn entries(places: &[f64], posed: bool) -> Vec<Entry> {
    let mut entries = if posed { vec![static_entry()] } else { Vec::new() };
    for (number, x) in places.iter().enumerate() {
        let stamp = BEGIN + number as i64 * 1_000_000_000;
        let pose = camera(*x);
        let (pixels, millimetres) = seen(&pose);
        entries.push(entry(INFO, stamp, &info_message(stamp)));
        entries.push(entry(COLOR, stamp, &color_message(&pixels, stamp)));
        let stamp_of_depth = stamp + 4_000_000;
        entries.push(entry(DEPTH, stamp_of_depth, &depth_message(&millimetres, stamp_of_depth)));
        if posed {
            for (time, shift) in [(stamp - 50_000_000, -0.01), (stamp + 50_000_000, 0.01)] {
                let shifted = Isometry3::translation(shift, 0.0, 0.0) * pose;
                entries.push(pose_entry(time, &shifted));
            }
        }
    }
    entries
}

/// An uncompressed MCAP file in chunks.
pub(crate) fn mcap_file(path: &Path, entries: &[Entry]) {
    let options = WriteOptions::new().profile("ros2").compression(None).chunk_size(Some(300_000));
    let mut writer = options.create(BufWriter::new(File::create(path).unwrap())).unwrap();
    let mut channels = BTreeMap::new();
    for (sequence, entry) in entries.iter().enumerate() {
        let channel_id = *channels.entry(entry.topic.clone()).or_insert_with(|| {
            let schema = writer.add_schema(&entry.type_name, "ros2msg", b"").unwrap();
            writer.add_channel(schema, &entry.topic, "cdr", &BTreeMap::new()).unwrap()
        });
        let time = entry.logged as u64;
        let header =
            MessageHeader { channel_id, sequence: sequence as u32, log_time: time, publish_time: time };
        writer.write_to_known_channel(&header, &entry.data).unwrap();
    }
    writer.finish().unwrap();
}

/// The tables of rosbag2's SQLite storage.
#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_file(path: &Path, entries: &[Entry]) {
    let mut database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
                data BLOB NOT NULL);",
        )
        .unwrap();
    let writing = database.transaction().unwrap();
    let mut topics = BTreeMap::new();
    for entry in entries {
        let next = topics.len() as i64 + 1;
        let topic = *topics.entry(entry.topic.clone()).or_insert_with(|| {
            let row = (next, &entry.topic, &entry.type_name, "cdr", "");
            writing.execute("INSERT INTO topics VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
            next
        });
        let row = (topic, entry.logged, &entry.data);
        writing.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?1, ?2, ?3)", row).unwrap();
    }
    writing.commit().unwrap();
}

/// `metadata.yaml` for files of a bag.
pub(crate) fn metadata(folder: &Path, storage: &str, files: &[&str]) {
    let list: String = files.iter().map(|file| format!("    - {file}\n")).collect();
    let text = format!(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: {storage}\n  relative_file_paths:\n{list}  \
         compression_format: \"\"\n  compression_mode: \"\"\n"
    );
    std::fs::write(folder.join("metadata.yaml"), text).unwrap();
}
