//! Point clouds as binary PLY (little endian).

use nalgebra::Point3;
use prehend_geometry::PointCloud;

/// Points as doubles, so that they are read back as they were; with colours when the cloud has them.
pub(super) fn encode(cloud: &PointCloud) -> Vec<u8> {
    let colored = cloud.colors.len() == cloud.points.len();
    let mut header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment map frame, metres\nelement vertex {}\n\
         property double x\nproperty double y\nproperty double z\n",
        cloud.len()
    );
    if colored {
        header.push_str("property uchar red\nproperty uchar green\nproperty uchar blue\n");
    }
    header.push_str("end_header\n");
    let mut bytes = header.into_bytes();
    for (index, point) in cloud.points.iter().enumerate() {
        for axis in 0..3 {
            bytes.extend(point[axis].to_le_bytes());
        }
        if colored {
            bytes.extend(cloud.colors[index]);
        }
    }
    bytes
}

/// Reads what [`encode`] writes; the error says what is not as there.
pub(super) fn decode(bytes: &[u8]) -> Result<PointCloud, String> {
    const END: &[u8] = b"end_header\n";
    let end = bytes.windows(END.len()).position(|window| window == END).ok_or("the header has no end")?;
    let header = std::str::from_utf8(&bytes[..end]).map_err(|error| error.to_string())?;
    let count: usize = header
        .lines()
        .find_map(|line| line.strip_prefix("element vertex "))
        .and_then(|count| count.trim().parse().ok())
        .ok_or("the header does not say how many points there are")?;
    let colored = header.contains("property uchar red");
    let stride = if colored { 27 } else { 24 };
    let body = &bytes[end + END.len()..];
    if count.checked_mul(stride) != Some(body.len()) {
        return Err(format!(
            "{count} points of {stride} bytes are announced, {} bytes are there",
            body.len()
        ));
    }
    let mut cloud = PointCloud::default();
    for vertex in body.chunks_exact(stride) {
        let mut numbers = vertex[..24].as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let mut next = || numbers.next().unwrap_or(f64::NAN);
        let point = Point3::new(next(), next(), next());
        if !point.iter().all(|x| x.is_finite()) {
            return Err("a point is not finite".to_owned());
        }
        cloud.points.push(point);
        if colored {
            cloud.colors.push([vertex[24], vertex[25], vertex[26]]);
        }
    }
    Ok(cloud)
}
