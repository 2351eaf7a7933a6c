//! Objects, their parts, and the map.

use super::error::{ConvertError, Result, finite, length};
use super::{
    cloud_from_msg, cloud_to_msg, header, pose_from_msg, pose_to_msg, seconds, skill, stamp, vector_to_msg,
};
use super::{color_image_from_msg, depth_image_from_msg, intrinsics_from_msg, mask_from_msg, mask_to_msg};
use nalgebra::{Point3, Vector3};
use prehend_geometry::{Intrinsics, OrientedBox};
use prehend_msgs::geometry_msgs::msg as geometry;
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_msgs::std_msgs::msg::ColorRGBA;
use prehend_scene::{
    Affordance, Crop, Object, ObjectKey, ObjectMap, ObservedPart, PartView, Sighting, Slide,
};
use std::collections::BTreeMap;

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

/// Object to message; of crops only where they were taken from, and no affordances are on this wire.
pub fn object_to_msg(object: &Object, frame: &str) -> ours::ObjectInstance {
    let [r, g, b] = object.color.map(|channel| f32::from(channel) / 255.0);
    let size = object.bounds.size;
    ours::ObjectInstance {
        key: object.key.0.clone(),
        class_name: object.class_name.clone(),
        confidence: object.confidence as f32,
        class_votes: votes_to_msg(&object.class_votes),
        // Names and shares of the colours run side by side, joined by commas in one field of the message.
        color_name: object
            .color_fractions
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(","),
        color_fractions: object.color_fractions.iter().map(|(_, share)| *share as f32).collect(),
        color: ColorRGBA { r, g, b, a: 1.0 },
        pose: pose_to_msg(&object.bounds.pose),
        size: geometry::Vector3 { x: size.x, y: size.y, z: size.z },
        cloud: cloud_to_msg(&object.cloud, frame, object.last_seen),
        features: object.features.clone(),
        view_count: object.view_count,
        touches_border: object.touches_border,
        last_seen: stamp(object.last_seen),
        parts: object.parts.iter().map(|part| part_to_msg(part, frame, object.last_seen)).collect(),
        sightings: object.crops.iter().map(|crop| sighting_to_msg(&Sighting::from(crop))).collect(),
        slide: vector_to_msg(&object.slide.map_or_else(Vector3::zeros, |slide| slide.way)),
        closed: object.slide.map_or(0.0, |slide| slide.closed),
    }
}

fn sighting_to_msg(seen: &Sighting) -> ours::Sighting {
    let i = seen.intrinsics;
    ours::Sighting {
        view: seen.view.clone(),
        stamp: stamp(seen.stamp),
        map_from_camera: pose_to_msg(&seen.map_from_camera),
        fx: i.fx,
        fy: i.fy,
        cx: i.cx,
        cy: i.cy,
        width: i.width as u32,
        height: i.height as u32,
    }
}

fn sighting_from_msg(msg: &ours::Sighting) -> Result<Sighting> {
    let intrinsics = Intrinsics {
        fx: msg.fx,
        fy: msg.fy,
        cx: msg.cx,
        cy: msg.cy,
        width: msg.width as usize,
        height: msg.height as usize,
    };
    intrinsics.validate()?;
    Ok(Sighting {
        view: msg.view.clone(),
        stamp: seconds(&msg.stamp),
        intrinsics,
        map_from_camera: pose_from_msg(&msg.map_from_camera)?,
    })
}

/// From where each object of a map was seen, or the first error.
pub fn sightings_from_msg(msg: &ours::ObjectMap) -> Result<BTreeMap<ObjectKey, Vec<Sighting>>> {
    let of = |object: &ours::ObjectInstance| {
        let seen = object.sightings.iter().map(sighting_from_msg).collect::<Result<_>>()?;
        Ok((ObjectKey(object.key.clone()), seen))
    };
    msg.objects.iter().map(of).collect()
}

fn votes_to_msg(votes: &[(String, f64)]) -> Vec<ours::ClassVote> {
    votes
        .iter()
        .map(|(name, weight)| ours::ClassVote { class_name: name.clone(), weight: *weight as f32 })
        .collect()
}

fn part_to_msg(part: &ObservedPart, frame: &str, at: f64) -> ours::PartInstance {
    ours::PartInstance {
        class_name: part.class_name.clone(),
        score: part.score as f32,
        class_votes: votes_to_msg(&part.class_votes),
        cloud: cloud_to_msg(&part.cloud, frame, at),
        views: part.views.iter().map(|view| view.view.clone()).collect(),
        masks: part.views.iter().map(|view| mask_to_msg(&view.mask)).collect(),
        labels: part.views.iter().map(|view| view.label.clone()).collect(),
        scores: part.views.iter().map(|view| view.score as f32).collect(),
        stamps: part.views.iter().map(|view| stamp(view.stamp)).collect(),
    }
}

fn part_from_msg(msg: &ours::PartInstance) -> Result<ObservedPart> {
    finite("part", &[f64::from(msg.score)])?;
    let count = msg.views.len();
    for (what, found) in [
        ("part masks", msg.masks.len()),
        ("part labels", msg.labels.len()),
        ("part scores", msg.scores.len()),
        ("part stamps", msg.stamps.len()),
    ] {
        length(what, count, found)?;
    }
    let mut views = Vec::with_capacity(count);
    for i in 0..count {
        let score = f64::from(msg.scores[i]);
        finite("part view", &[score])?;
        views.push(PartView {
            view: msg.views[i].clone(),
            mask: mask_from_msg(&msg.masks[i])?,
            label: msg.labels[i].clone(),
            score: score.clamp(0.0, 1.0),
            stamp: seconds(&msg.stamps[i]),
        });
    }
    Ok(ObservedPart {
        class_name: msg.class_name.clone(),
        score: f64::from(msg.score).clamp(0.0, 1.0),
        class_votes: msg
            .class_votes
            .iter()
            .map(|vote| (vote.class_name.clone(), f64::from(vote.weight)))
            .collect(),
        cloud: cloud_from_msg(&msg.cloud)?,
        views,
    })
}

/// Message to object, without crops and affordances.
pub fn object_from_msg(msg: &ours::ObjectInstance) -> Result<Object> {
    let size = &msg.size;
    finite("object", &[size.x, size.y, size.z, f64::from(msg.confidence)])?;
    let names: Vec<&str> = msg.color_name.split(',').filter(|name| !name.is_empty()).collect();
    length("object colours", msg.color_fractions.len(), names.len())?;
    let channel = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    finite("slide", &[msg.slide.x, msg.slide.y, msg.slide.z, msg.closed])?;
    let way = Vector3::new(msg.slide.x, msg.slide.y, msg.slide.z).try_normalize(1e-6);
    let slide = way.map(|way| Slide { way, closed: msg.closed });
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
        parts: msg.parts.iter().map(part_from_msg).collect::<Result<_>>()?,
        view_count: msg.view_count,
        touches_border: msg.touches_border,
        last_seen: seconds(&msg.last_seen),
        // Messages do not tell it.
        probability: 1.0,
        slide,
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

/// The object of an answer of object_map, with its views.
///
/// Errors: [`ConvertError::Length`] when the lists are not of one length; those of each piece.
pub fn object_with_crops_from_msg(answer: &GetObject::Response) -> Result<Object> {
    let mut object = object_from_msg(&answer.object)?;
    let count = answer.rgb_crops.len();
    for (what, found) in [
        ("depth crops", answer.depth_crops.len()),
        ("masks", answer.masks.len()),
        ("views", answer.views.len()),
        ("producers", answer.producers.len()),
        ("labels", answer.labels.len()),
        ("scores", answer.scores.len()),
        ("stamps", answer.stamps.len()),
        ("camera poses", answer.map_from_camera.len()),
        ("camera infos", answer.camera_info.len()),
    ] {
        if found != count {
            return Err(ConvertError::Length { what, expected: count, found });
        }
    }
    for i in 0..count {
        let info = &answer.camera_info[i];
        let score = f64::from(answer.scores[i]);
        object.crops.push(Crop {
            view: answer.views[i].clone(),
            color: color_image_from_msg(&answer.rgb_crops[i])?,
            depth: depth_image_from_msg(&answer.depth_crops[i])?,
            mask: mask_from_msg(&answer.masks[i])?,
            x: info.roi.x_offset as usize,
            y: info.roi.y_offset as usize,
            intrinsics: intrinsics_from_msg(info)?,
            map_from_camera: pose_from_msg(&answer.map_from_camera[i])?,
            producer: answer.producers[i].clone(),
            label: answer.labels[i].clone(),
            score: if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 },
            stamp: seconds(&answer.stamps[i]),
            rank: (count - i) as f64,
        });
    }
    Ok(object)
}
