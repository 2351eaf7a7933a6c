//! Pairs of pictures, and where the camera was when they were taken.

use super::{BagError, Keyframe, Pair, Summary};
use crate::choose::Chosen;
use crate::pairing::{Pairing, Side};
use crate::scan::Index;
use prehend_ros::{TfError, TfTree, time_from_nanoseconds};

/// Greatest way and turn between the frames of colour and depth that are called aligned, metres and radians.
const ALIGNED: [f64; 2] = [0.002, 0.005];
/// Roots that fix the world or the robot's base (REP 105, REP 120 and the names of usual arms), so that a camera that never moves
/// in them has a pose.
const FIXED: [&str; 8] =
    ["map", "odom", "world", "earth", "base_link", "base_footprint", "link_base", "base"];

/// Depth must be seen from where colour is, as far as tf tells.
pub(super) fn check_alignment(index: &Index, topics: &Chosen) -> Result<(), BagError> {
    let frame = |topic: &str| index.pictures.get(topic).map_or("", |pictures| pictures.frame.as_str());
    let (color_frame, depth_frame) = (frame(&topics.color), frame(&topics.depth));
    let Ok(found) = index.tf.lookup(color_frame, depth_frame, &Default::default()) else { return Ok(()) };
    let color_from_depth = found.isometry();
    let (metres, radians) = (color_from_depth.translation.vector.norm(), color_from_depth.rotation.angle());
    if metres <= ALIGNED[0] && radians <= ALIGNED[1] {
        return Ok(());
    }
    Err(BagError::NotAligned {
        depth: topics.depth.clone(),
        depth_frame: depth_frame.to_owned(),
        color_frame: color_frame.to_owned(),
        metres,
        degrees: radians.to_degrees(),
    })
}

/// Pairs what was taken at about the same time.
pub(super) fn pairs_of(
    index: &Index,
    topics: &Chosen,
    tolerance: i64,
    summary: &mut Summary,
) -> Result<Vec<Pair>, BagError> {
    let stamps = |topic: &str| index.pictures.get(topic).map_or(&[][..], |pictures| &pictures.stamps);
    let (colors, depths) = (stamps(&topics.color), stamps(&topics.depth));
    let mut pairing = Pairing::new(tolerance);
    for (side, stamps) in [(Side::Color, colors), (Side::Depth, depths)] {
        stamps.iter().enumerate().for_each(|(number, stamp)| pairing.push(side, *stamp, number));
    }
    let pairs: Vec<Pair> = std::iter::from_fn(|| pairing.next(true)).collect();
    summary.pictures = [colors.len(), depths.len()];
    summary.unpaired = summary.pictures.map(|pictures| pictures.saturating_sub(pairs.len()) as u64);
    if pairs.is_empty() {
        let nearest = colors.iter().flat_map(|color| depths.iter().map(|depth| color.abs_diff(*depth))).min();
        return Err(BagError::NoPairs {
            color: topics.color.clone(),
            colors: colors.len(),
            depth: topics.depth.clone(),
            depths: depths.len(),
            seconds: tolerance as f64 * 1e-9,
            nearest: nearest.unwrap_or(0) as f64 * 1e-9,
        });
    }
    Ok(pairs)
}

/// The pairs with the camera's poses, in the order of their times.
pub(super) fn poses_of(
    index: &Index,
    topics: &Chosen,
    pairs: Vec<Pair>,
    map_frame: Option<&str>,
    summary: &mut Summary,
) -> Result<Vec<Keyframe>, BagError> {
    let camera = index.pictures.get(&topics.color).map_or("", |pictures| pictures.frame.as_str());
    let Some(map) = map_frame_of(index, camera, map_frame, &mut summary.remarks)? else {
        let unposed = |(stamp, color, depth)| Keyframe { stamp, color, depth, map_from_camera: None };
        return Ok(pairs.into_iter().map(unposed).collect());
    };
    let count = pairs.len();
    let (mut posed, mut last) = (Vec::new(), None);
    for (stamp, color, depth) in pairs {
        match index.tf.lookup(&map, camera, &time_from_nanoseconds(stamp)) {
            Ok(found) => {
                posed.push(Keyframe { stamp, color, depth, map_from_camera: Some(found.isometry()) });
            }
            Err(error @ (TfError::TooOld { .. } | TfError::TooNew { .. })) => last = Some(error),
            Err(_) => return Err(no_chain(&index.tf, &map, camera)),
        }
    }
    summary.without_pose = count - posed.len();
    summary.map_frame = Some(map.clone());
    match last {
        Some(last) if posed.is_empty() => {
            Err(BagError::NoPoses { map, camera: camera.to_owned(), pairs: count, last })
        }
        _ => Ok(posed),
    }
}

fn no_chain(tf: &TfTree, map: &str, camera: &str) -> BagError {
    let known = match tf.frames() {
        frames if frames.is_empty() => "no frames".to_owned(),
        frames => frames.join(", "),
    };
    BagError::NoChain { map: map.to_owned(), camera: camera.to_owned(), known }
}

/// The map's frame: the one that is asked for, or the root of the camera's; `None` when the frames have no poses.
fn map_frame_of(
    index: &Index,
    camera: &str,
    asked: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<Option<String>, BagError> {
    let tf = &index.tf;
    let line = tf.line(camera);
    let bad = index.invalid.iter().find(|error| match error {
        TfError::Invalid { child, .. } => line.contains(&child.as_str()),
        _ => false,
    });
    if let Some(bad) = bad {
        return Err(BagError::Transform(bad.clone()));
    }
    if tf.frames().is_empty() {
        return match asked {
            Some(map) => Err(no_chain(tf, map, camera)),
            None => Ok(None),
        };
    }
    if let Some(map) = asked {
        return Ok(Some(map.to_owned()));
    }
    let root = line.last().copied().unwrap_or(camera);
    if !tf.is_known(camera) {
        return Err(no_chain(tf, "map", camera));
    }
    if FIXED.contains(&root) || line.iter().any(|frame| tf.is_moving(frame)) {
        return Ok(Some(root.to_owned()));
    }
    remarks.push(format!(
        "frames have no poses: tf only says how `{camera}` is mounted on `{root}`; if that stands \
         still with z up, say --map-frame {root}"
    ));
    Ok(None)
}
