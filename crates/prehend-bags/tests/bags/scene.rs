//! Two blocks on a table, drawn as a camera would see them, as messages.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::Intrinsics;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_msgs::std_msgs::msg::Header;
use prehend_ros::time_from_nanoseconds;

pub(crate) const CAMERA: Intrinsics =
    Intrinsics { fx: 300.0, fy: 300.0, cx: 159.5, cy: 119.5, width: 320, height: 240 };
/// Frame of the pictures.
pub(crate) const OPTICAL: &str = "camera_color_optical_frame";
/// Time of the first frame, nanoseconds.
pub(crate) const BEGIN: i64 = 1_700_000_000_000_000_000;

/// Upright blocks as (x, y, half of the sides, height, colour).
pub(crate) const BLOCKS: [(f64, f64, f64, f64, [u8; 3]); 2] =
    [(0.4, -0.1, 0.03, 0.08, [200, 30, 30]), (0.5, 0.1, 0.04, 0.05, [30, 60, 200])];

/// Looks from (x, 0, 0.5) towards (0.45, 0, 0); the table is z = 0.
pub(crate) fn camera(x: f64) -> Isometry3<f64> {
    let eye = Point3::new(x, 0.0, 0.5);
    let ahead = (Point3::new(0.45, 0.0, 0.0) - eye).normalize();
    let right = -Vector3::y();
    let axes = Matrix3::from_columns(&[right, ahead.cross(&right), ahead]);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    Isometry3::from_parts(Translation3::from(eye.coords), turn)
}

/// Distance along a ray to the first block or to the table, and the colour there.
fn hit(eye: &Point3<f64>, ray: &Vector3<f64>) -> Option<(f64, [u8; 3])> {
    let mut best = (ray.z < 0.0).then(|| (-eye.z / ray.z, [170, 140, 100]));
    for (x, y, half, height, color) in BLOCKS {
        let (low, high) = ([x - half, y - half, 0.0], [x + half, y + half, height]);
        let (mut near, mut far) = (0.0_f64, f64::MAX);
        for axis in 0..3 {
            let (a, b) = ((low[axis] - eye[axis]) / ray[axis], (high[axis] - eye[axis]) / ray[axis]);
            (near, far) = (near.max(a.min(b)), far.min(a.max(b)));
        }
        if near < far && best.is_none_or(|(distance, _)| near < distance) {
            best = Some((near, color));
        }
    }
    best
}

/// Colours and millimetres of the scene, with a fixed pattern of noise of 1 mm.
pub(crate) fn seen(pose: &Isometry3<f64>) -> (Vec<[u8; 3]>, Vec<u16>) {
    let eye = Point3::from(pose.translation.vector);
    let pixels = (0..CAMERA.height).flat_map(|v| (0..CAMERA.width).map(move |u| (u, v)));
    pixels
        .map(|(u, v)| {
            let ray = pose * CAMERA.unproject(u as f64, v as f64, 1.0) - eye;
            let Some((z, color)) = hit(&eye, &ray) else { return ([0; 3], 0) };
            let noise = ((u * 7 + v * 13) % 3) as f64 - 1.0;
            (color, ((z * 1e3).round() + noise) as u16)
        })
        .unzip()
}

pub(crate) fn header(frame: &str, stamp: i64) -> Header {
    Header { stamp: time_from_nanoseconds(stamp), frame_id: frame.to_owned() }
}

/// A raw picture whose rows have `filled` bytes more than their pixels need.
pub(crate) fn image(encoding: &str, pixel: usize, stamp: i64, bytes: &[u8], filled: usize) -> Image {
    let row = CAMERA.width * pixel;
    let data =
        bytes.chunks_exact(row).flat_map(|row| row.iter().copied().chain(vec![0xAA; filled])).collect();
    Image {
        header: header(OPTICAL, stamp),
        height: CAMERA.height as u32,
        width: CAMERA.width as u32,
        encoding: encoding.to_owned(),
        step: (row + filled) as u32,
        data,
        ..Default::default()
    }
}

pub(crate) fn color_message(pixels: &[[u8; 3]], stamp: i64) -> Image {
    image("rgb8", 3, stamp, pixels.as_flattened(), 0)
}

pub(crate) fn depth_message(millimetres: &[u16], stamp: i64) -> Image {
    let bytes: Vec<u8> = millimetres.iter().flat_map(|value| value.to_le_bytes()).collect();
    image("16UC1", 2, stamp, &bytes, 0)
}

pub(crate) fn info_message(stamp: i64) -> CameraInfo {
    let i = CAMERA;
    CameraInfo {
        header: header(OPTICAL, stamp),
        height: i.height as u32,
        width: i.width as u32,
        distortion_model: "plumb_bob".to_owned(),
        d: vec![0.0; 5],
        k: vec![i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0],
        r: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: vec![i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..Default::default()
    }
}

pub(crate) fn transform(parent: &str, child: &str, stamp: i64, pose: &Isometry3<f64>) -> TransformStamped {
    let mut message = TransformStamped {
        header: header(parent, stamp),
        child_frame_id: child.to_owned(),
        ..Default::default()
    };
    let (t, r) = (pose.translation.vector, pose.rotation.coords);
    let transform = &mut message.transform;
    (transform.translation.x, transform.translation.y, transform.translation.z) = (t.x, t.y, t.z);
    (transform.rotation.x, transform.rotation.y, transform.rotation.z, transform.rotation.w) =
        (r.x, r.y, r.z, r.w);
    message
}
