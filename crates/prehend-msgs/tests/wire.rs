//! The wire form of every type under the CDR serializer the embedded ROS backend uses.
//!
//! The bytes in `golden/` come from an independent implementation (`tests/peers/make_cdr_golden.py`). After a change of an
//! interface file, run that script.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prehend_msgs::{
    Payload, builtin_interfaces, geometry_msgs, prehend_interfaces, sensor_msgs, std_msgs, visualization_msgs,
};
use rustdds::RepresentationIdentifier;
use rustdds::serialization::{deserialize_from_cdr_with_rep_id, to_writer_with_rep_id};

include!(concat!(env!("OUT_DIR"), "/for_each_type.rs"));

const REFRESH: &str = "if an interface file changed, run tests/peers/make_cdr_golden.py";
const LITTLE: RepresentationIdentifier = RepresentationIdentifier::CDR_LE;

fn write<T: Payload>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    to_writer_with_rep_id(&mut bytes, value, LITTLE).expect("serializes");
    bytes
}

fn read<T: Payload>(bytes: &[u8]) -> Result<(T, usize), rustdds::serialization::Error> {
    deserialize_from_cdr_with_rep_id(bytes, LITTLE)
}

#[derive(serde::Deserialize)]
struct Case {
    cdr: String,
    value: serde_json::Value,
}

fn golden() -> BTreeMap<String, Vec<Case>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut all = BTreeMap::new();
    for file in fs::read_dir(folder).expect("golden files") {
        let text = fs::read_to_string(file.expect("entry").path()).expect("text");
        let cases: BTreeMap<String, Vec<Case>> = serde_json::from_str(&text).expect("golden JSON");
        all.extend(cases);
    }
    all
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
}

/// Our bytes are the golden bytes, theirs give our value, every proper prefix is an error and not a panic, and the default
/// survives the round trip.
fn check<T: Payload>(name: &str, cases: &[Case]) {
    for case in cases {
        let value: T =
            serde_json::from_value(case.value.clone()).unwrap_or_else(|e| panic!("{name}: {e}; {REFRESH}"));
        let bytes = unhex(&case.cdr);
        assert_eq!(write(&value), bytes, "{name}: {value:?}; {REFRESH}");
        let (back, used) = read::<T>(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((back, used), (value, bytes.len()), "{name}");
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 64) {
            assert!(read::<T>(&bytes[..end]).is_err(), "{name}: {end} of {} bytes", bytes.len());
        }
    }
    let default = T::default();
    let bytes = write(&default);
    let (back, used) = read::<T>(&bytes).unwrap_or_else(|e| panic!("{name}: default: {e}"));
    assert_eq!((back, used), (default, bytes.len()), "{name}: default");
}

#[test]
fn every_type_has_the_bytes_of_an_independent_implementation() {
    let mut golden = golden();
    macro_rules! check_one {
        ($type:ty, $name:expr) => {
            let cases =
                golden.remove($name).unwrap_or_else(|| panic!("no golden bytes for {}; {REFRESH}", $name));
            check::<$type>($name, &cases);
        };
    }
    for_each_type!(check_one);
    assert!(golden.is_empty(), "golden bytes of unknown types {:?}; {REFRESH}", golden.keys());
}

#[test]
fn defaults_of_the_interface_files() {
    assert_eq!(geometry_msgs::msg::Quaternion::default().w, 1.0);
    assert_eq!(geometry_msgs::msg::PoseStamped::default().pose.orientation.w, 1.0);
    let info = sensor_msgs::msg::CameraInfo::default();
    assert_eq!((info.k.len(), info.r.len(), info.p.len(), info.d.len()), (9, 9, 12, 0));
    assert_eq!(geometry_msgs::msg::PoseWithCovariance::default().covariance, vec![0.0; 36]);
}

#[test]
fn constants_of_the_interface_files() {
    assert_eq!(visualization_msgs::msg::Marker::MESH_RESOURCE, 10);
    assert_eq!(sensor_msgs::msg::PointField::FLOAT32, 7);
    assert_eq!(prehend_interfaces::msg::Evidence::TYPE_SEG, "seg");
    assert_eq!(prehend_msgs::moveit_msgs::msg::MoveItErrorCodes::CONTROL_FAILED, -4);
}

#[test]
fn empty_structures_are_one_byte() {
    assert_eq!(write(&std_msgs::msg::Empty::default()), [0]);
    assert_eq!(write(&prehend_msgs::std_srvs::srv::Trigger::Request::default()), [0]);
    assert_eq!(
        read::<std_msgs::msg::Empty>(&[7]).expect("one byte").0.structure_needs_at_least_one_member,
        7
    );
}

#[test]
fn a_fixed_array_of_the_wrong_length_is_refused() {
    for length in [0, 8, 10] {
        let info = sensor_msgs::msg::CameraInfo { k: vec![0.0; length], ..Default::default() };
        let error = to_writer_with_rep_id(&mut Vec::new(), &info, LITTLE).expect_err("wrong length");
        assert!(error.to_string().contains(&format!("a fixed array of 9 elements has {length}")), "{error}");
    }
}

#[test]
fn an_image_is_its_fields_and_one_run_of_bytes() {
    let image = sensor_msgs::msg::Image {
        header: std_msgs::msg::Header {
            stamp: builtin_interfaces::msg::Time { sec: 1, nanosec: 2 },
            frame_id: "cam".to_owned(),
        },
        height: 1,
        width: 2,
        encoding: "rgb8".to_owned(),
        is_bigendian: 0,
        step: 6,
        data: vec![1, 2, 3, 4, 5, 6],
    };
    let expected: Vec<u8> = [
        &[1, 0, 0, 0, 2, 0, 0, 0][..],
        &[4, 0, 0, 0, b'c', b'a', b'm', 0],
        &[1, 0, 0, 0, 2, 0, 0, 0],
        &[5, 0, 0, 0, b'r', b'g', b'b', b'8', 0],
        &[0],
        &[0, 0],
        &[6, 0, 0, 0],
        &[6, 0, 0, 0, 1, 2, 3, 4, 5, 6],
    ]
    .concat();
    assert_eq!(write(&image), expected);
}

#[test]
fn a_huge_length_is_an_error_and_not_an_allocation() {
    // Header, height, width, empty encoding, is_bigendian, padding, step, then a length with no bytes behind it.
    let mut bytes = write(&sensor_msgs::msg::Image::default());
    let at = bytes.len() - 4;
    bytes[at..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read::<sensor_msgs::msg::Image>(&bytes).is_err());
    let mut bytes = write(&sensor_msgs::msg::JointState::default());
    let at = bytes.len() - 4;
    bytes[at..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read::<sensor_msgs::msg::JointState>(&bytes).is_err());
}

#[test]
fn json_has_the_names_of_the_interface_files() {
    let json = serde_json::to_value(prehend_interfaces::msg::Evidence {
        type_: "seg".to_owned(),
        ..Default::default()
    });
    let json = json.expect("serializes");
    assert_eq!(json["type"], "seg");
    assert_eq!(json["region"]["bits"], serde_json::json!([]));
}
