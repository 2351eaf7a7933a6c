//! What the robot saw, as pictures for whoever asks why: the map of its first look, and each thing with its mask.

use crate::commands::explain::THINGS;
use crate::commands::explain::drawn::Eye;
use crate::graph::Graph;
use crate::run_folder::{FIRST_MAP, LAST_MAP, MAPS, RunFolder, VIEW, WriteError};
use prehend_convert as convert;
use prehend_convert::ConvertError;
use prehend_drawing::overlay;
use prehend_geometry::{ColorImage, Mask};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, ObjectMap};
use prehend_msgs::prehend_interfaces::srv::GetObject;
use prehend_nodes::pictures::{self, PictureError, View};
use prehend_perception::MapSettings;
use prehend_recording::{SaveError, SavedMap, SavedScene};
use prehend_ros::{QosProfile, RosError};
use prehend_scene::Crop;
use std::time::Duration;

/// Longest time for the views of one thing, and the most things that are asked for.
const DEADLINE: Duration = Duration::from_secs(1);
const MOST: usize = 40;

/// Why there are no pictures of things.
#[derive(Debug, thiserror::Error)]
pub(super) enum LooksError {
    #[error(transparent)]
    Ros(#[from] RosError),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Save(#[from] SaveError),
}

/// Draws the map of the first look over what the camera saw before the goal: nothing had moved by then.
pub(super) fn keep_first_map(
    graph: &Graph,
    view: &View,
    map: &ObjectMap,
    folder: &RunFolder,
) -> Result<(), LooksError> {
    let info = graph.observer.camera_info.borrow().clone();
    let drawn = view.with_map(map, info.as_ref(), &[])?;
    pictures::save(&drawn, &folder.file("map_before.png"))?;
    // From where it was seen: what is explained later is drawn over it.
    if let Some(info) = info {
        let intrinsics = convert::intrinsics_from_msg(&info)?;
        let eye = Eye { intrinsics, base_from_camera: view.base_from_camera()? };
        let path = folder.file(VIEW);
        std::fs::write(&path, serde_json::json!(eye).to_string())
            .map_err(|error| WriteError { path, error })?;
    }
    Ok(())
}

/// Keeps the map of the first look and that of the end, for `prehend view --run`.
pub(super) fn keep_maps(
    graph: &Graph,
    first: Option<&ObjectMap>,
    folder: &RunFolder,
) -> Result<(), LooksError> {
    let last = graph.observer.map.borrow().clone();
    let path = folder.file(MAPS);
    std::fs::create_dir_all(&path).map_err(|error| WriteError { path: path.clone(), error })?;
    for (name, map) in [(FIRST_MAP, first), (LAST_MAP, last.as_ref())] {
        let Some(map) = map else { continue };
        let scene = SavedScene { name: name.to_owned(), map: convert::map_from_msg(map)?, views: Vec::new() };
        let (settings, embedder) = (MapSettings::default(), String::new());
        SavedMap { settings, embedder, scenes: vec![scene] }.save(&path.join(name))?;
    }
    Ok(())
}

/// Keeps the best view of each thing of the map, with its mask. A thing whose views are gone by now has no picture.
pub(super) async fn keep_things(graph: &Graph, folder: &RunFolder) -> Result<(), LooksError> {
    let keys: Vec<String> = match graph.observer.map.borrow().as_ref() {
        Some(map) => map.objects.iter().take(MOST).map(|object| object.key.clone()).collect(),
        None => return Ok(()),
    };
    let node = &graph.observer.node;
    let client =
        node.create_client::<GetObject::Service>(names::OBJECT_MAP_GET_OBJECT, QosProfile::services())?;
    let path = folder.file(THINGS);
    std::fs::create_dir_all(&path).map_err(|error| WriteError { path: path.clone(), error })?;
    // A key names a file here.
    let is_name = |key: &String| key.chars().all(|c| c.is_alphanumeric() || c == '_');
    for key in keys.into_iter().filter(is_name) {
        let request = GetObject::Request { key: key.clone(), with_crops: true, scope: String::new() };
        let answer = client.request(request, DEADLINE).await?;
        if answer.error_code != ErrorCode::SUCCESS {
            continue;
        }
        let object = convert::object_with_crops_from_msg(&answer)?;
        if let Some(crop) = object.crops.first() {
            pictures::save(&with_mask(crop), &path.join(format!("{key}.png")))?;
        }
    }
    Ok(())
}

/// The crop with its mask tinted and outlined.
fn with_mask(crop: &Crop) -> ColorImage {
    let mut image = crop.color.clone();
    let (width, height) = (image.width, image.height);
    let inside: Vec<usize> = (0..width * height)
        .filter(|index| crop.mask.contains(crop.x + index % width, crop.y + index / width))
        .collect();
    let mask = Some(Mask::from_indices(width, height, &inside));
    let color = overlay::PALETTE[0];
    overlay::annotate(&mut image, &[overlay::Annotation { color, mask, ..Default::default() }]);
    image
}
