//! ROS 1 bags, written here byte by byte.

use crate::maps::{check, frames_of};
use crate::scene::{CAMERA, OPTICAL, camera, header, seen};
use crate::write::{COLOR, DEPTH, INFO, entries, mcap_file, mount};
use nalgebra::Isometry3;
use prehend_bags::{BagError, ContainerError, Options, Place};
use std::io::Write;
use std::path::Path;

fn sized(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// A record of fields and data.
fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let head: Vec<u8> =
        fields.iter().flat_map(|(name, value)| sized(&[name.as_bytes(), b"=", value].concat())).collect();
    [sized(&head), sized(data)].concat()
}

fn header_bytes(frame: &str, stamp: i64) -> Vec<u8> {
    let header = header(frame, stamp);
    let numbers = [7, header.stamp.sec as u32, header.stamp.nanosec];
    [numbers.map(u32::to_le_bytes).as_flattened(), &sized(frame.as_bytes())].concat()
}

fn image_bytes(stamp: i64, encoding: &str, pixel: usize, data: &[u8]) -> Vec<u8> {
    let size = [CAMERA.height as u32, CAMERA.width as u32].map(u32::to_le_bytes);
    let step = ((CAMERA.width * pixel) as u32).to_le_bytes();
    let encoding = sized(encoding.as_bytes());
    [&header_bytes(OPTICAL, stamp), size.as_flattened(), &encoding, &[0], &step, &sized(data)].concat()
}

fn info_bytes(stamp: i64) -> Vec<u8> {
    let i = CAMERA;
    let size = [i.height as u32, i.width as u32].map(u32::to_le_bytes);
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let k = doubles(&[i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0]);
    let d = [&5_u32.to_le_bytes()[..], &doubles(&[0.0; 5])].concat();
    let rest = [0; 25];
    let model = sized(b"plumb_bob");
    let (r, p) = (doubles(&[0.0; 9]), doubles(&[0.0; 12]));
    [&header_bytes(OPTICAL, stamp), size.as_flattened(), &model, &d, &k, &r, &p, &rest].concat()
}

fn tf_bytes(parent: &str, child: &str, stamp: i64, pose: &Isometry3<f64>) -> Vec<u8> {
    let (t, r) = (pose.translation.vector, pose.rotation.coords);
    let numbers = [t.x, t.y, t.z, r.x, r.y, r.z, r.w].map(f64::to_le_bytes);
    let count = 1_u32.to_le_bytes();
    [&count[..], &header_bytes(parent, stamp), &sized(child.as_bytes()), numbers.as_flattened()].concat()
}

/// Topic, type, time and bytes of each message of the frames of [`entries`].
fn messages(places: &[f64]) -> Vec<(&'static str, &'static str, i64, Vec<u8>)> {
    const TF: &str = "tf2_msgs/TFMessage";
    let begin = crate::scene::BEGIN;
    let fixed = tf_bytes("camera_link", OPTICAL, begin, &mount());
    let mut all = vec![("/tf_static", TF, begin, fixed)];
    for (number, x) in places.iter().enumerate() {
        let stamp = begin + number as i64 * 1_000_000_000;
        let pose = camera(*x);
        let (pixels, millimetres) = seen(&pose);
        let depth: Vec<u8> = millimetres.iter().flat_map(|value| value.to_le_bytes()).collect();
        let late = stamp + 4_000_000;
        all.push((INFO, "sensor_msgs/CameraInfo", stamp, info_bytes(stamp)));
        let color = image_bytes(stamp, "rgb8", 3, pixels.as_flattened());
        all.push((COLOR, "sensor_msgs/Image", stamp, color));
        all.push((DEPTH, "sensor_msgs/Image", late, image_bytes(late, "16UC1", 2, &depth)));
        for (time, shift) in [(stamp - 50_000_000, -0.01), (stamp + 50_000_000, 0.01)] {
            let at = Isometry3::translation(shift, 0.0, 0.0) * pose * mount().inverse();
            // As the tf before tf2 wrote it.
            all.push(("/tf", "tf/tfMessage", time, tf_bytes("/map", "/camera_link", time, &at)));
        }
    }
    all
}

fn connection(id: usize, topic: &str, type_name: &str) -> Vec<u8> {
    let id = (id as u32).to_le_bytes();
    let described = [("topic", topic), ("type", type_name), ("md5sum", "*")]
        .map(|(name, value)| sized(format!("{name}={value}").as_bytes()));
    record(&[("op", &[7]), ("conn", &id), ("topic", topic.as_bytes())], &described.concat())
}

fn packed(chunk: &[u8], compression: &str) -> Vec<u8> {
    match compression {
        "lz4" => {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            encoder.write_all(chunk).unwrap();
            encoder.finish().unwrap()
        }
        "bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(chunk).unwrap();
            encoder.finish().unwrap()
        }
        _ => chunk.to_vec(),
    }
}

/// A bag of one chunk for each frame, and the bytes at which its chunks and its index begin.
fn bag_of(compression: &str) -> (Vec<u8>, Vec<usize>) {
    let head = |index: usize, connections: usize, chunks: usize| {
        let (index, connections, chunks) = (index as u64, connections as u32, chunks as u32);
        let fields = [
            ("op", &[3][..]),
            ("index_pos", &index.to_le_bytes()),
            ("conn_count", &connections.to_le_bytes()),
            ("chunk_count", &chunks.to_le_bytes()),
        ];
        [b"#ROSBAG V2.0\n".to_vec(), record(&fields, &[b' '; 100])].concat()
    };
    let mut file = head(0, 0, 0);
    let (mut known, mut starts): (Vec<(&str, &str)>, Vec<usize>) = (Vec::new(), Vec::new());
    let messages = messages(&[0.1, -0.05]);
    for group in [&messages[..6], &messages[6..]] {
        let mut chunk = Vec::new();
        for (topic, type_name, time, data) in group {
            let id = known.iter().position(|(other, _)| other == topic).unwrap_or_else(|| {
                known.push((topic, type_name));
                chunk.extend(connection(known.len() - 1, topic, type_name));
                known.len() - 1
            }) as u32;
            let (sec, nsec) = ((time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32);
            let time = [sec.to_le_bytes(), nsec.to_le_bytes()].concat();
            chunk.extend(record(&[("op", &[2]), ("conn", &id.to_le_bytes()), ("time", &time)], data));
        }
        let size = (chunk.len() as u32).to_le_bytes();
        let fields = [("op", &[5][..]), ("compression", compression.as_bytes()), ("size", &size)];
        starts.push(file.len());
        file.extend(record(&fields, &packed(&chunk, compression)));
    }
    starts.push(file.len());
    for (id, (topic, type_name)) in known.iter().enumerate() {
        file.extend(connection(id, topic, type_name));
    }
    let written = head(starts[2], known.len(), 2);
    file[..written.len()].copy_from_slice(&written);
    (file, starts)
}

fn fails(path: &Path, bytes: &[u8]) -> BagError {
    std::fs::write(path, bytes).unwrap();
    frames_of(path, &Options::default()).expect_err("it is broken")
}

/// The error of a bag in which `old` is `new`, once, after the byte `from`.
fn fails_with(path: &Path, bag: &[u8], from: usize, old: &[u8], new: &[u8]) -> (Place, String) {
    let at = from + bag[from..].windows(old.len()).position(|window| window == old).unwrap();
    let mut bytes = bag.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    match fails(path, &bytes) {
        BagError::Container(ContainerError::Damaged { place, what, .. }) => (place, what),
        other => panic!("{other}"),
    }
}

#[test]
fn a_ros_1_bag_becomes_the_same_map() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.bag");
    let mcap = folder.path().join("walk.mcap");
    mcap_file(&mcap, &entries(&[0.1, -0.05], true));
    let expected = frames_of(&mcap, &Options::default()).unwrap();
    for compression in ["none", "lz4", "bz2"] {
        std::fs::write(&path, bag_of(compression).0).unwrap();
        check(&path);
        assert_eq!(frames_of(&path, &Options::default()).unwrap(), expected, "{compression}");
    }
}

#[test]
fn a_ros_1_bag_that_was_cut_off_says_where_it_ends_and_its_beginning_is_used_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.bag");
    let (bytes, starts) = bag_of("none");
    let end_of_recording = starts[2];
    let between = [0, 5, 13, starts[0], starts[1], end_of_recording - 1];
    for cut in (0..end_of_recording).step_by(end_of_recording / 50).chain(between) {
        let error = fails(&path, &bytes[..cut]);
        let place = Place::Byte(cut as u64);
        let is_cut =
            matches!(&error, BagError::Container(ContainerError::Truncated { end, .. }) if *end == place);
        assert!(is_cut, "{cut}: {error}");
    }
    let partial = Options { partial: true, ..Options::default() };
    // The first chunk is there whole.
    assert_eq!(frames_of(&path, &partial).unwrap().len(), 1);
    // While a bag is recorded its head says nothing of an index.
    let mut recording = bytes[..end_of_recording].to_vec();
    let place = recording.windows(10).position(|window| window == b"index_pos=").unwrap() + 10;
    recording[place..place + 8].fill(0);
    let error = fails(&path, &recording);
    assert!(error.to_string().contains("it has no index"), "{error}");
    assert_eq!(frames_of(&path, &partial).unwrap().len(), 2);
}

#[test]
fn a_broken_ros_1_bag_names_the_byte_of_the_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.bag");
    let (bytes, starts) = bag_of("none");
    let second = Place::Byte(starts[1] as u64);
    let damaged = |from: usize, old: &[u8], new: &[u8]| {
        fails_with(&path, &bytes, starts.get(from).map_or(0, |at| *at), old, new)
    };
    let first_line = damaged(9, b"#ROSBAG V2.0", b"#ROSBAG V1.2");
    assert_eq!(first_line.0, Place::Byte(0));
    assert_eq!(damaged(9, b"op=\x03", b"op=\x09").0, Place::Byte(13));
    let (place, what) = damaged(1, b"size=", b"sise=");
    assert!(place == second && what.contains("without its size"), "{place}: {what}");
    let (place, what) = damaged(1, b"compression=none", b"compression=nine");
    assert!(place == second && what.contains("`nine` is not known"), "{place}: {what}");
    let (place, what) = damaged(1, b"op=\x05", b"op=\x09");
    assert!(
        place == Place::Byte(starts[2] as u64) && what.contains("2 chunks are announced"),
        "{place}: {what}"
    );
    let (place, what) = damaged(1, b"conn=\x03", b"conn=\x33");
    assert!(place == second && what.contains("not announced"), "{place}: {what}");
    // Lengths inside messages, of which no memory is taken for what is not there; and a text that is none.
    let many = u32::MAX.to_le_bytes();
    let numbers = [b"plumb_bob", &many[..]].concat();
    let pixels = [b"rgb8\0\xc0\x03\0\0", &many[..]].concat();
    let breaks: [(&[u8], &[u8]); 3] =
        [(b"plumb_bob", &numbers), (b"rgb8\0\xc0\x03\0\0", &pixels), (b"plumb_bob", b"\xfflumb_bob")];
    for (old, new) in breaks {
        let (place, what) = damaged(1, old, new);
        assert!(place == second && what.contains("is no sensor_msgs/msg/"), "{place}: {what}");
    }
}

#[test]
fn a_changed_byte_of_a_packed_ros_1_bag_is_never_another_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.bag");
    let (bytes, _) = bag_of("bz2");
    std::fs::write(&path, &bytes).unwrap();
    let good = frames_of(&path, &Options::default()).unwrap();
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut spoilt = bytes.clone();
        spoilt[at] ^= 0xa5;
        std::fs::write(&path, &spoilt).unwrap();
        match frames_of(&path, &Options::default()) {
            // What the index at the end says is not needed.
            Ok(frames) => assert_eq!(frames, good, "byte {at}"),
            Err(error) => {
                refused += 1;
                assert!(matches!(error, BagError::Container(_)), "byte {at}: {error}");
            }
        }
    }
    assert!(refused > 80, "{refused}");
}
