//! Object maps in folders.
//!
//! ```text
//! map/manifest.json               format, version, and size and SHA-256 of every other file
//! map/map.json                    parameters; frame, support plane, views and objects of each scene (see `record.rs`)
//! map/0000/map.ply                scene 0: all clouds in one, for viewers; not read back
//! map/0000/view_0000.png          colour picture of each of its keyframes
//! map/0000/view_0000.left_out.png numbers, from 1, of what is no thing in it (16 bit); the reasons stand in `map.json`
//! map/0000/object_0000/cloud.ply  points of each of its objects: map frame, metres, doubles, 8-bit RGB
//! map/0000/object_0000/crop_0.color.png, .depth.png (16 bit, mm), .mask.png    its best views
//! ```
//!
//! Frames with poses are one scene. Frames without poses are a scene each, since nothing tells how they lie to each other.
//!
//! A map is written beside its place and then put there in one step, so that its place holds the old map or the new one, whatever
//! happens. Reading checks every byte against the manifest first. Parts that a detector named and affordances stand in `map.json`.

mod draft;
mod error;
mod load;
mod manifest;
mod ply;
mod record;
mod save;

#[cfg(test)]
mod tests;

use nalgebra::{Isometry3, Translation3};
use prehend_geometry::{ColorImage, Intrinsics};
use prehend_perception::MapSettings;
use prehend_perception::segment::LeftOut;
use prehend_scene::ObjectMap;

pub use error::SaveError;
pub use load::LoadError;

/// Version of the format that this program writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// A keyframe that went into a map.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedView {
    /// Name of the keyframe, as crops have it.
    pub name: String,
    /// Time of the image, seconds.
    pub stamp: f64,
    /// The colour picture.
    pub color: ColorImage,
    /// Intrinsics of the picture.
    pub intrinsics: Intrinsics,
    /// Camera pose.
    pub map_from_camera: Isometry3<f64>,
    /// What stands out of the support and is no thing; no two share a pixel.
    pub left_out: Vec<LeftOut>,
}

/// What keyframes with known poses to each other show.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedScene {
    /// Name: that of the frame when there is one only.
    pub name: String,
    /// Its objects.
    pub map: ObjectMap,
    /// Its keyframes, oldest first.
    pub views: Vec<SavedView>,
}

/// The maps of a recording with what they were made with.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedMap {
    /// The parameters it was built with.
    pub settings: MapSettings,
    /// Name of the model that made the features of its objects; see [`prehend_perception::Embedder::name`].
    pub embedder: String,
    /// Its scenes; keys are unique over all of them.
    pub scenes: Vec<SavedScene>,
}

/// How far apart scenes are put that have no common frame, metres: nothing of one touches anything of another.
const APART: f64 = 1e3;

impl SavedMap {
    /// The objects of all scenes as one map, to look for things in: each scene is moved far along x, so only distances within one
    /// mean anything.
    pub fn all(&self) -> ObjectMap {
        let mut all = ObjectMap::default();
        for (number, scene) in self.scenes.iter().enumerate() {
            let shift = Translation3::new(APART * number as f64, 0.0, 0.0);
            all.frame.clone_from(&scene.map.frame);
            all.version += scene.map.version;
            all.stamp = all.stamp.max(scene.map.stamp);
            for object in &scene.map.objects {
                let mut object = object.clone();
                object.cloud.points.iter_mut().for_each(|point| *point = shift * *point);
                object.bounds.pose = shift * object.bounds.pose;
                if let Some(slide) = &mut object.slide {
                    slide.closed += slide.way.dot(&shift.vector);
                }
                all.objects.push(object);
            }
        }
        all
    }
}

/// File of a scene; names are numbers, so that no key or name becomes a path.
fn scene_file(scene: usize, file: &str) -> String {
    format!("{scene:04}/{file}")
}

/// File of a view's picture.
fn view_file(scene: usize, number: usize) -> String {
    scene_file(scene, &format!("view_{number:04}.png"))
}

/// File of what is no thing in a view.
fn left_out_file(scene: usize, number: usize) -> String {
    scene_file(scene, &format!("view_{number:04}.left_out.png"))
}

/// File of an object.
fn object_file(scene: usize, number: usize, file: &str) -> String {
    scene_file(scene, &format!("object_{number:04}/{file}"))
}
