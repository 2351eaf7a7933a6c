//! Between messages and the types of the core: the only place where wire types end.
//!
//! Everything that comes from the wire is validated here (finite numbers, lengths that agree), so that the core sees
//! only sound values.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, Mask, OrientedBox, PointCloud};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::{geometry_msgs::msg as geometry, prehend_interfaces::msg as ours, sensor_msgs::msg as sensor};
use prehend_msgs::std_msgs::msg::{ColorRGBA, Header};
use prehend_scene::{
    Affordance, Deficiency, Diagnostics, Evidence, EvidenceType, Object, ObjectKey, ObjectMap, Observation,
    Permit, PlanHash, Region, Relation, Skill, SkillPlan, SymbolicState,
};

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// A number that is NaN or infinite.
    #[error("{what} is not finite")]
    NotFinite {
        /// The field.
        what: &'static str,
    },
    /// A quaternion that is not of unit length.
    #[error("the orientation's quaternion has length {norm:.3} instead of 1")]
    NotUnit {
        /// Its length.
        norm: f64,
    },
    /// Lengths that do not agree.
    #[error("{what}: expected {expected} elements, found {found}")]
    Length {
        /// The field.
        what: &'static str,
        /// Expected number.
        expected: usize,
        /// Found number.
        found: usize,
    },
    /// An encoding or field layout that is not supported.
    #[error("{what} `{found}` is not supported; expected {expected}")]
    Unsupported {
        /// The field.
        what: &'static str,
        /// What was found.
        found: String,
        /// What is supported.
        expected: &'static str,
    },
    /// A word that is none of the known ones.
    #[error("unknown {what} `{word}`")]
    UnknownWord {
        /// What it should be.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Intrinsics that belong to no camera.
    #[error(transparent)]
    Intrinsics(#[from] prehend_geometry::camera::BadIntrinsics),
}

type Result<T> = std::result::Result<T, ConvertError>;

fn finite(what: &'static str, numbers: &[f64]) -> Result<()> {
    if numbers.iter().all(|n| n.is_finite()) { Ok(()) } else { Err(ConvertError::NotFinite { what }) }
}

fn length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(ConvertError::Length { what, expected, found }) }
}

/// Seconds of a stamp.
pub fn seconds(time: &Time) -> f64 {
    f64::from(time.sec) + f64::from(time.nanosec) * 1e-9
}

/// Stamp of seconds; not a number and out of range become zero.
pub fn stamp(seconds: f64) -> Time {
    if !(seconds.is_finite() && (0.0..f64::from(i32::MAX)).contains(&seconds)) {
        return Time::default();
    }
    let sec = seconds.floor();
    let nanosec = (((seconds - sec) * 1e9).round() as u32).min(999_999_999);
    Time { sec: sec as i32, nanosec }
}

/// Header of a frame at a time in seconds.
pub fn header(frame: &str, at: f64) -> Header {
    Header { stamp: stamp(at), frame_id: frame.to_owned() }
}

/// Pose to message.
pub fn pose_to_msg(pose: &Isometry3<f64>) -> geometry::Pose {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    geometry::Pose {
        position: geometry::Point { x: t.x, y: t.y, z: t.z },
        orientation: geometry::Quaternion { x: q.x, y: q.y, z: q.z, w: q.w },
    }
}

/// Translation and quaternion `[x, y, z, w]` to a pose; the quaternion must be of unit length within 1 %.
pub fn isometry(translation: [f64; 3], rotation: [f64; 4]) -> Result<Isometry3<f64>> {
    finite("position", &translation)?;
    finite("orientation", &rotation)?;
    let [x, y, z, w] = rotation;
    let quaternion = Quaternion::new(w, x, y, z);
    let norm = quaternion.norm();
    if (norm - 1.0).abs() > 0.01 {
        return Err(ConvertError::NotUnit { norm });
    }
    // A quaternion that is already unit is kept to the bit, so that a plan hashes the same after the wire.
    let unit = if (norm - 1.0).abs() < 1e-9 {
        UnitQuaternion::new_unchecked(quaternion)
    } else {
        UnitQuaternion::from_quaternion(quaternion)
    };
    Ok(Isometry3::from_parts(Translation3::from(Vector3::from(translation)), unit))
}

/// Message to pose.
pub fn pose_from_msg(msg: &geometry::Pose) -> Result<Isometry3<f64>> {
    let (p, q) = (&msg.position, &msg.orientation);
    isometry([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])
}

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

/// Colour image to message (`rgb8`).
pub fn color_image_to_msg(image: &ColorImage, frame: &str, at: f64) -> sensor::Image {
    sensor::Image {
        header: header(frame, at),
        height: image.height as u32,
        width: image.width as u32,
        encoding: "rgb8".to_owned(),
        is_bigendian: 0,
        step: image.width as u32 * 3,
        data: image.pixels.as_flattened().to_vec(),
    }
}

/// Message (`rgb8` or `bgr8`) to colour image.
pub fn color_image_from_msg(msg: &sensor::Image) -> Result<ColorImage> {
    let (width, height) = (msg.width as usize, msg.height as usize);
    let swap = match msg.encoding.as_str() {
        "rgb8" => false,
        "bgr8" => true,
        other => {
            return Err(ConvertError::Unsupported {
                what: "colour encoding",
                found: other.to_owned(),
                expected: "rgb8 or bgr8",
            });
        }
    };
    let rows = rows("colour image", msg, 3)?;
    let pixels = rows
        .flat_map(|row| row.chunks_exact(3))
        .map(|p| if swap { [p[2], p[1], p[0]] } else { [p[0], p[1], p[2]] })
        .collect();
    Ok(ColorImage { width, height, pixels })
}

/// Depth or label image to message (`16UC1`).
pub fn u16_image_to_msg(values: &[u16], width: usize, height: usize, frame: &str, at: f64) -> sensor::Image {
    sensor::Image {
        header: header(frame, at),
        height: height as u32,
        width: width as u32,
        encoding: "16UC1".to_owned(),
        is_bigendian: 0,
        step: width as u32 * 2,
        data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// Message (`16UC1`/`mono16`, or `32FC1` metres for depth) to 16-bit values; metres become millimetres.
pub fn u16_image_from_msg(msg: &sensor::Image) -> Result<Vec<u16>> {
    match msg.encoding.as_str() {
        "16UC1" | "mono16" => Ok(rows("16-bit image", msg, 2)?
            .flat_map(|row| row.chunks_exact(2))
            .map(|p| {
                if msg.is_bigendian == 0 { u16::from_le_bytes([p[0], p[1]]) } else { u16::from_be_bytes([p[0], p[1]]) }
            })
            .collect()),
        "32FC1" => Ok(rows("depth image", msg, 4)?
            .flat_map(|row| row.chunks_exact(4))
            .map(|p| {
                let metres = f32::from_le_bytes([p[0], p[1], p[2], p[3]]);
                let millimetres = metres * 1000.0;
                if millimetres.is_finite() && (0.0..65535.0).contains(&millimetres) { millimetres.round() as u16 } else { 0 }
            })
            .collect()),
        other => Err(ConvertError::Unsupported {
            what: "depth encoding",
            found: other.to_owned(),
            expected: "16UC1 (mm) or 32FC1 (m)",
        }),
    }
}

/// Message to depth image.
pub fn depth_image_from_msg(msg: &sensor::Image) -> Result<DepthImage> {
    Ok(DepthImage {
        width: msg.width as usize,
        height: msg.height as usize,
        millimetres: u16_image_from_msg(msg)?,
    })
}

/// Depth image to message (`16UC1`).
pub fn depth_image_to_msg(image: &DepthImage, frame: &str, at: f64) -> sensor::Image {
    u16_image_to_msg(&image.millimetres, image.width, image.height, frame, at)
}

fn rows<'a>(
    what: &'static str,
    msg: &'a sensor::Image,
    pixel_bytes: usize,
) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>> {
    let (width, height, step) = (msg.width as usize, msg.height as usize, msg.step as usize);
    let row = width * pixel_bytes;
    if step < row {
        return Err(ConvertError::Length { what, expected: row, found: step });
    }
    length(what, step * height, msg.data.len())?;
    Ok(msg.data.chunks_exact(step.max(1)).map(move |bytes| &bytes[..row]))
}

/// Camera info to intrinsics; `k` must be that of a pinhole camera.
pub fn intrinsics_from_msg(msg: &sensor::CameraInfo) -> Result<Intrinsics> {
    length("camera matrix k", 9, msg.k.len())?;
    let intrinsics = Intrinsics {
        fx: msg.k[0],
        fy: msg.k[4],
        cx: msg.k[2],
        cy: msg.k[5],
        width: msg.width as usize,
        height: msg.height as usize,
    };
    intrinsics.validate()?;
    Ok(intrinsics)
}

/// Intrinsics to camera info without distortion.
pub fn intrinsics_to_msg(intrinsics: &Intrinsics, frame: &str, at: f64) -> sensor::CameraInfo {
    let i = intrinsics;
    sensor::CameraInfo {
        header: header(frame, at),
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

/// Mask to message; a filled mask has no bits.
pub fn mask_to_msg(mask: &Mask) -> ours::Mask {
    let filled = mask.bits.iter().all(|bit| *bit);
    let mut bits = if filled { Vec::new() } else { vec![0_u8; mask.bits.len().div_ceil(8)] };
    if !filled {
        for (index, _) in mask.bits.iter().enumerate().filter(|(_, bit)| **bit) {
            bits[index / 8] |= 1 << (index % 8);
        }
    }
    ours::Mask {
        image_width: mask.image_width as u32,
        image_height: mask.image_height as u32,
        x: mask.x as u32,
        y: mask.y as u32,
        width: mask.width as u32,
        height: mask.height as u32,
        bits,
    }
}

/// Message to mask; the rectangle must lie in the image, which may have at most 64 million pixels.
pub fn mask_from_msg(msg: &ours::Mask) -> Result<Mask> {
    let inside = u64::from(msg.x) + u64::from(msg.width) <= u64::from(msg.image_width)
        && u64::from(msg.y) + u64::from(msg.height) <= u64::from(msg.image_height)
        && u64::from(msg.image_width) * u64::from(msg.image_height) <= 64_000_000;
    if !inside {
        return Err(ConvertError::Unsupported {
            what: "mask rectangle",
            found: format!("{} x {} at ({}, {})", msg.width, msg.height, msg.x, msg.y),
            expected: "a rectangle inside its image",
        });
    }
    let count = msg.width as usize * msg.height as usize;
    let bits = if msg.bits.is_empty() {
        vec![true; count]
    } else {
        length("mask bits", count.div_ceil(8), msg.bits.len())?;
        (0..count).map(|index| msg.bits[index / 8] & (1 << (index % 8)) != 0).collect()
    };
    Ok(Mask {
        image_width: msg.image_width as usize,
        image_height: msg.image_height as usize,
        x: msg.x as usize,
        y: msg.y as usize,
        width: msg.width as usize,
        height: msg.height as usize,
        bits,
    })
}

const EVIDENCE_TYPES: [(EvidenceType, &str); 4] = [
    (EvidenceType::Seg, ours::Evidence::TYPE_SEG),
    (EvidenceType::Det, ours::Evidence::TYPE_DET),
    (EvidenceType::Dream, ours::Evidence::TYPE_DREAM),
    (EvidenceType::Web, ours::Evidence::TYPE_WEB),
];

/// Evidence to message.
pub fn evidence_to_msg(evidence: &Evidence) -> ours::Evidence {
    let kind = EVIDENCE_TYPES.iter().find(|(kind, _)| *kind == evidence.kind).map_or("", |(_, name)| name);
    ours::Evidence {
        id: evidence.id.clone(),
        type_: kind.to_owned(),
        producer: evidence.producer.clone(),
        view: evidence.view.clone(),
        scale: evidence.scale as f32,
        confidence: evidence.confidence as f32,
        label: evidence.label.clone(),
        is_box: matches!(evidence.region, Region::Box(_)),
        region: mask_to_msg(evidence.region.mask()),
        stamp: stamp(evidence.stamp),
    }
}

/// Message to evidence.
pub fn evidence_from_msg(msg: &ours::Evidence) -> Result<Evidence> {
    finite("evidence", &[f64::from(msg.scale), f64::from(msg.confidence)])?;
    let kind = EVIDENCE_TYPES
        .iter()
        .find(|(_, name)| *name == msg.type_)
        .map(|(kind, _)| *kind)
        .ok_or_else(|| ConvertError::UnknownWord { what: "evidence type", word: msg.type_.clone() })?;
    let mask = mask_from_msg(&msg.region)?;
    Ok(Evidence {
        id: msg.id.clone(),
        kind,
        producer: msg.producer.clone(),
        view: msg.view.clone(),
        scale: f64::from(msg.scale),
        confidence: f64::from(msg.confidence).clamp(0.0, 1.0),
        label: msg.label.clone(),
        region: if msg.is_box { Region::Box(mask) } else { Region::Mask(mask) },
        stamp: seconds(&msg.stamp),
    })
}

/// All evidence of a message, or the first error.
pub fn all_evidence_from_msg(msgs: &[ours::Evidence]) -> Result<Vec<Evidence>> {
    msgs.iter().map(evidence_from_msg).collect()
}

/// Diagnostics to message, with the remedy Gamma of AAH eq. 11.
pub fn diagnostics_to_msg(diagnostics: &Diagnostics) -> ours::Diagnostics {
    let (deficiency, remedy) = match diagnostics.deficiency {
        None => ("", ""),
        Some(Deficiency::Omega) => ("omega", "refine_region"),
        Some(Deficiency::Zeta) => ("zeta", "zoom_in"),
        Some(Deficiency::Mu) => ("mu", "another_view"),
    };
    ours::Diagnostics {
        omega: diagnostics.omega,
        zeta: diagnostics.zeta,
        mu: diagnostics.mu,
        score: diagnostics.score,
        committed: diagnostics.committed,
        deficiency: deficiency.to_owned(),
        remedy: remedy.to_owned(),
    }
}

/// Message to diagnostics.
pub fn diagnostics_from_msg(msg: &ours::Diagnostics) -> Result<Diagnostics> {
    finite("diagnostics", &[msg.omega, msg.zeta, msg.mu, msg.score])?;
    let deficiency = match msg.deficiency.as_str() {
        "" => None,
        "omega" => Some(Deficiency::Omega),
        "zeta" => Some(Deficiency::Zeta),
        "mu" => Some(Deficiency::Mu),
        other => return Err(ConvertError::UnknownWord { what: "deficiency", word: other.to_owned() }),
    };
    Ok(Diagnostics {
        omega: msg.omega,
        zeta: msg.zeta,
        mu: msg.mu,
        score: msg.score,
        committed: msg.committed,
        deficiency,
    })
}

/// Affordance to message.
pub fn affordance_to_msg(affordance: &Affordance, frame: &str, at: f64) -> ours::Affordance {
    let (c, n) = (affordance.centroid, affordance.normal);
    ours::Affordance {
        part: affordance.part.clone(),
        skill: affordance.skill.name().to_owned(),
        score: affordance.score as f32,
        cloud: cloud_to_msg(&affordance.cloud, frame, at),
        centroid: geometry::Point { x: c.x, y: c.y, z: c.z },
        normal: geometry::Vector3 { x: n.x, y: n.y, z: n.z },
    }
}

/// Message to affordance.
pub fn affordance_from_msg(msg: &ours::Affordance) -> Result<Affordance> {
    let (c, n) = (&msg.centroid, &msg.normal);
    finite("affordance", &[c.x, c.y, c.z, n.x, n.y, n.z, f64::from(msg.score)])?;
    Ok(Affordance {
        part: msg.part.clone(),
        skill: skill(&msg.skill)?,
        cloud: cloud_from_msg(&msg.cloud)?,
        centroid: Point3::new(c.x, c.y, c.z),
        normal: Vector3::new(n.x, n.y, n.z),
        score: f64::from(msg.score),
    })
}

/// Skill of its name.
pub fn skill(name: &str) -> Result<Skill> {
    Skill::parse(name).ok_or_else(|| ConvertError::UnknownWord { what: "skill", word: name.to_owned() })
}

/// Relation of its name; empty is none.
pub fn relation(name: &str) -> Result<Option<Relation>> {
    if name.is_empty() {
        return Ok(None);
    }
    Relation::parse(name)
        .map(Some)
        .ok_or_else(|| ConvertError::UnknownWord { what: "relation", word: name.to_owned() })
}

/// Object to message; crops and affordances are not on this wire.
pub fn object_to_msg(object: &Object, frame: &str) -> ours::ObjectInstance {
    let [r, g, b] = object.color.map(|channel| f32::from(channel) / 255.0);
    let size = object.bounds.size;
    ours::ObjectInstance {
        key: object.key.0.clone(),
        class_name: object.class_name.clone(),
        confidence: object.confidence as f32,
        class_votes: object
            .class_votes
            .iter()
            .map(|(name, weight)| ours::ClassVote { class_name: name.clone(), weight: *weight as f32 })
            .collect(),
        // Names and shares of the colours run side by side, joined by commas in one field of the message.
        color_name: object.color_fractions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(","),
        color_fractions: object.color_fractions.iter().map(|(_, share)| *share as f32).collect(),
        color: ColorRGBA { r, g, b, a: 1.0 },
        pose: pose_to_msg(&object.bounds.pose),
        size: geometry::Vector3 { x: size.x, y: size.y, z: size.z },
        cloud: cloud_to_msg(&object.cloud, frame, object.last_seen),
        features: object.features.clone(),
        view_count: object.view_count,
        touches_border: object.touches_border,
        last_seen: stamp(object.last_seen),
    }
}

/// Message to object, without crops and affordances.
pub fn object_from_msg(msg: &ours::ObjectInstance) -> Result<Object> {
    let size = &msg.size;
    finite("object", &[size.x, size.y, size.z, f64::from(msg.confidence)])?;
    let names: Vec<&str> = msg.color_name.split(',').filter(|name| !name.is_empty()).collect();
    length("object colours", msg.color_fractions.len(), names.len())?;
    let channel = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    Ok(Object {
        key: ObjectKey(msg.key.clone()),
        class_name: msg.class_name.clone(),
        confidence: f64::from(msg.confidence),
        class_votes: msg
            .class_votes
            .iter()
            .map(|vote| (vote.class_name.clone(), f64::from(vote.weight)))
            .collect(),
        cloud: cloud_from_msg(&msg.cloud)?,
        bounds: OrientedBox { pose: pose_from_msg(&msg.pose)?, size: Vector3::new(size.x, size.y, size.z) },
        color: [channel(msg.color.r), channel(msg.color.g), channel(msg.color.b)],
        color_fractions: names
            .into_iter()
            .map(str::to_owned)
            .zip(msg.color_fractions.iter().map(|share| f64::from(*share)))
            .collect(),
        features: msg.features.clone(),
        crops: Vec::new(),
        affordances: Vec::new(),
        view_count: msg.view_count,
        touches_border: msg.touches_border,
        last_seen: seconds(&msg.last_seen),
    })
}

/// All objects of a message, or the first error.
pub fn objects_from_msg(msgs: &[ours::ObjectInstance]) -> Result<Vec<Object>> {
    msgs.iter().map(object_from_msg).collect()
}

/// Map to message.
pub fn map_to_msg(map: &ObjectMap) -> ours::ObjectMap {
    ours::ObjectMap {
        header: header(&map.frame, map.stamp),
        version: map.version,
        objects: map.objects.iter().map(|object| object_to_msg(object, &map.frame)).collect(),
        support_plane: map.support_plane.map(Vec::from).unwrap_or_default(),
    }
}

/// Message to map.
pub fn map_from_msg(msg: &ours::ObjectMap) -> Result<ObjectMap> {
    finite("support plane", &msg.support_plane)?;
    let support_plane = match msg.support_plane.as_slice() {
        [] => None,
        [a, b, c, d] => Some([*a, *b, *c, *d]),
        other => {
            return Err(ConvertError::Length { what: "support plane", expected: 4, found: other.len() });
        }
    };
    Ok(ObjectMap {
        frame: msg.header.frame_id.clone(),
        version: msg.version,
        stamp: seconds(&msg.header.stamp),
        objects: objects_from_msg(&msg.objects)?,
        support_plane,
    })
}

fn key_or_none(key: &str) -> Option<ObjectKey> {
    (!key.is_empty()).then(|| ObjectKey(key.to_owned()))
}

/// Plan to message, with its hash; poses in `frame`.
pub fn plan_to_msg(plan: &SkillPlan, frame: &str) -> ours::SkillPlan {
    ours::SkillPlan {
        skill: plan.skill.name().to_owned(),
        object_key: plan.object.0.clone(),
        target_keys: plan.targets.iter().map(|key| key.0.clone()).collect(),
        relation: plan.relation.map_or("", Relation::name).to_owned(),
        part: plan.part.clone(),
        held_object: plan.held_object.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
        pose_goals: plan
            .pose_goals
            .iter()
            .map(|pose| geometry::PoseStamped { header: header(frame, 0.0), pose: pose_to_msg(pose) })
            .collect(),
        gripper_opening: plan.gripper_opening,
        map_version: plan.map_version,
        plan_hash: plan.hash().0,
    }
}

/// Message to plan and the hash it claims; poses are not checked for being finite (the gate does, as a finding).
pub fn plan_from_msg(msg: &ours::SkillPlan) -> Result<(SkillPlan, PlanHash)> {
    let pose = |stamped: &geometry::PoseStamped| {
        let (p, q) = (&stamped.pose.position, &stamped.pose.orientation);
        Isometry3::from_parts(
            Translation3::new(p.x, p.y, p.z),
            UnitQuaternion::new_unchecked(Quaternion::new(q.w, q.x, q.y, q.z)),
        )
    };
    let plan = SkillPlan {
        skill: skill(&msg.skill)?,
        object: ObjectKey(msg.object_key.clone()),
        targets: msg.target_keys.iter().map(|key| ObjectKey(key.clone())).collect(),
        relation: relation(&msg.relation)?,
        part: msg.part.clone(),
        held_object: key_or_none(&msg.held_object),
        pose_goals: msg.pose_goals.iter().map(pose).collect(),
        gripper_opening: msg.gripper_opening,
        map_version: msg.map_version,
    };
    Ok((plan, PlanHash(msg.plan_hash.clone())))
}

/// Permit to message.
pub fn permit_to_msg(permit: &Permit) -> ours::Permit {
    ours::Permit {
        id: permit.id.clone(),
        plan_hash: permit.plan_hash.0.clone(),
        map_version: permit.map_version,
        expires: stamp(permit.expires),
    }
}

/// Message to permit.
pub fn permit_from_msg(msg: &ours::Permit) -> Permit {
    Permit {
        id: msg.id.clone(),
        plan_hash: PlanHash(msg.plan_hash.clone()),
        map_version: msg.map_version,
        expires: seconds(&msg.expires),
    }
}

/// Observation to message.
pub fn observation_to_msg(observation: &Observation, frame: &str) -> ours::Observation {
    ours::Observation {
        stamp: stamp(observation.stamp),
        gripper_opening: observation.gripper_opening,
        gripper_command: observation.gripper_command,
        gripper_effort: observation.gripper_effort,
        objects_observed: observation.objects.is_some(),
        objects: observation.objects.iter().flatten().map(|object| object_to_msg(object, frame)).collect(),
        map_version: observation.map_version,
        tool_pose: pose_to_msg(&observation.tool_pose),
    }
}

/// Message to observation; the gripper's numbers may be NaN (the check calls that not observed).
pub fn observation_from_msg(msg: &ours::Observation) -> Result<Observation> {
    Ok(Observation {
        stamp: seconds(&msg.stamp),
        gripper_opening: msg.gripper_opening,
        gripper_command: msg.gripper_command,
        gripper_effort: msg.gripper_effort,
        tool_pose: pose_from_msg(&msg.tool_pose)?,
        objects: msg.objects_observed.then(|| objects_from_msg(&msg.objects)).transpose()?,
        map_version: msg.map_version,
    })
}

/// State to message.
pub fn state_to_msg(state: &SymbolicState, frame: &str, at: f64) -> ours::SymbolicState {
    ours::SymbolicState {
        header: header(frame, at),
        held_object: state.held_object.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
        inventory: state.inventory.iter().map(|key| key.0.clone()).collect(),
        map_version: state.map_version,
        ..Default::default()
    }
}

/// Message to state.
pub fn state_from_msg(msg: &ours::SymbolicState) -> SymbolicState {
    SymbolicState {
        held_object: key_or_none(&msg.held_object),
        inventory: msg.inventory.iter().map(|key| ObjectKey(key.clone())).collect(),
        map_version: msg.map_version,
    }
}

#[cfg(test)]
mod tests;
