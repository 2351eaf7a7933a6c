//! Point clouds.

use super::error::{ConvertError, Result, length};
use super::header;
use nalgebra::Point3;
use prehend_geometry::PointCloud;
use prehend_msgs::sensor_msgs::msg as sensor;

/// Cloud to message: float32 `x y z` and a packed `rgb` when there are colours.
pub fn cloud_to_msg(cloud: &PointCloud, frame: &str, at: f64) -> sensor::PointCloud2 {
    let colored = !cloud.is_empty() && cloud.colors.len() == cloud.points.len();
    let step: u32 = if colored { 16 } else { 12 };
    let field = |name: &str, offset: u32| sensor::PointField {
        name: name.to_owned(),
        offset,
        datatype: sensor::PointField::FLOAT32,
        count: 1,
    };
    let mut fields = vec![field("x", 0), field("y", 4), field("z", 8)];
    if colored {
        fields.push(field("rgb", 12));
    }
    let mut data = Vec::with_capacity(cloud.len() * step as usize);
    for (index, point) in cloud.points.iter().enumerate() {
        for coordinate in point.iter() {
            data.extend_from_slice(&(*coordinate as f32).to_le_bytes());
        }
        if colored {
            let [r, g, b] = cloud.colors[index];
            data.extend_from_slice(&[b, g, r, 0]);
        }
    }
    sensor::PointCloud2 {
        header: header(frame, at),
        height: 1,
        width: cloud.len() as u32,
        fields,
        is_bigendian: false,
        point_step: step,
        row_step: step * cloud.len() as u32,
        data,
        is_dense: true,
    }
}

/// Message to cloud; needs little-endian float32 `x`, `y`, `z`; points that are not finite are left out.
pub fn cloud_from_msg(msg: &sensor::PointCloud2) -> Result<PointCloud> {
    let count = msg.width as usize * msg.height as usize;
    if count == 0 {
        return Ok(PointCloud::default());
    }
    let offset = |name: &'static str| {
        msg.fields
            .iter()
            .find(|field| field.name == name && field.datatype == sensor::PointField::FLOAT32)
            .map(|field| field.offset as usize)
            .filter(|offset| offset + 4 <= msg.point_step as usize)
    };
    let (Some(x), Some(y), Some(z), false) = (offset("x"), offset("y"), offset("z"), msg.is_bigendian) else {
        return Err(ConvertError::Unsupported {
            what: "point layout",
            found: msg.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(" "),
            expected: "little-endian float32 x, y, z",
        });
    };
    let step = msg.point_step as usize;
    length("point cloud data", step * count, msg.data.len())?;
    let rgb = offset("rgb");
    let float = |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let mut cloud = PointCloud::default();
    for point in msg.data.chunks_exact(step) {
        let position = Point3::new(float(&point[x..]), float(&point[y..]), float(&point[z..]));
        if !position.coords.iter().all(|n| n.is_finite()) {
            continue;
        }
        cloud.points.push(position);
        if let Some(rgb) = rgb {
            cloud.colors.push([point[rgb + 2], point[rgb + 1], point[rgb]]);
        }
    }
    Ok(cloud)
}
