//! Writing a map.

use super::draft::Draft;
use super::record::{CropRecord, MapRecord, ObjectRecord, SceneRecord, ViewRecord};
use super::{
    SaveError, SavedMap, SavedScene, SavedView, left_out_file, object_file, ply, scene_file, view_file,
};
use crate::picture::{encode_color, encode_grey16, encode_mask};
use prehend_geometry::{ColorImage, PointCloud};
use prehend_scene::{Crop, Object};
use std::path::Path;

impl SavedMap {
    /// Writes the map to a folder, in place of the map that may be there.
    ///
    /// Errors: [`SaveError`]; what was there is then unchanged.
    pub fn save(&self, folder: &Path) -> Result<(), SaveError> {
        let mut draft = Draft::beside(folder)?;
        for (number, scene) in self.scenes.iter().enumerate() {
            put_scene(&mut draft, number, scene)?;
        }
        let record = MapRecord {
            parameters: self.settings,
            embedder: self.embedder.clone(),
            scenes: self.scenes.iter().map(scene_record).collect(),
        };
        let text = serde_json::to_vec_pretty(&record)
            .map_err(|error| SaveError::Write { path: folder.join("map.json"), error: error.into() })?;
        draft.put("map.json".to_owned(), &text)?;
        draft.commit()
    }
}

fn put_scene(draft: &mut Draft, scene: usize, saved: &SavedScene) -> Result<(), SaveError> {
    for (number, view) in saved.views.iter().enumerate() {
        put_picture(draft, view_file(scene, number), encode_color(&view.color))?;
        put_left_out(draft, left_out_file(scene, number), view)?;
    }
    let mut all = PointCloud::default();
    for (number, object) in saved.map.objects.iter().enumerate() {
        if !is_finite(object) {
            return Err(SaveError::NotFinite { key: object.key.0.clone() });
        }
        draft.put(object_file(scene, number, "cloud.ply"), &ply::encode(&object.cloud))?;
        for (place, crop) in object.crops.iter().enumerate() {
            let file = |kind: &str| object_file(scene, number, &format!("crop_{place}.{kind}.png"));
            put_crop(draft, &file, crop)?;
        }
        all.extend(&object.cloud);
    }
    draft.put(scene_file(scene, "map.ply"), &ply::encode(&all))
}

fn scene_record(scene: &SavedScene) -> SceneRecord {
    let views = scene.views.iter().map(|view| ViewRecord {
        name: view.name.clone(),
        stamp: view.stamp,
        intrinsics: view.intrinsics,
        map_from_camera: view.map_from_camera,
        left_out: view.left_out.iter().map(|left| left.reason).collect(),
    });
    SceneRecord {
        name: scene.name.clone(),
        frame: scene.map.frame.clone(),
        version: scene.map.version,
        stamp: scene.map.stamp,
        support_plane: scene.map.support_plane,
        views: views.collect(),
        objects: scene.map.objects.iter().map(object_record).collect(),
    }
}

fn put_picture(
    draft: &mut Draft,
    name: String,
    bytes: Result<Vec<u8>, image::ImageError>,
) -> Result<(), SaveError> {
    match bytes {
        Ok(bytes) => draft.put(name, &bytes),
        Err(error) => Err(SaveError::Encode { name, error }),
    }
}

fn put_left_out(draft: &mut Draft, name: String, view: &SavedView) -> Result<(), SaveError> {
    if view.left_out.is_empty() {
        return Ok(());
    }
    let ColorImage { width, height, .. } = view.color;
    let mut numbers = vec![0; width * height];
    for (number, left) in (1..=u16::MAX).zip(&view.left_out) {
        // A mask of another picture has pixels that this one has not.
        let pixels = left.mask.indices();
        pixels.into_iter().filter(|index| *index < width * height).for_each(|index| numbers[index] = number);
    }
    put_picture(draft, name, encode_grey16(width, height, &numbers))
}

fn put_crop(draft: &mut Draft, file: &dyn Fn(&str) -> String, crop: &Crop) -> Result<(), SaveError> {
    put_picture(draft, file("color"), encode_color(&crop.color))?;
    let depth = &crop.depth;
    put_picture(draft, file("depth"), encode_grey16(depth.width, depth.height, &depth.millimetres))?;
    if !crop.mask.bits.is_empty() {
        put_picture(draft, file("mask"), encode_mask(crop.mask.width, crop.mask.height, &crop.mask.bits))?;
    }
    Ok(())
}

/// Whether every number of an object can be written: JSON has no NaN.
fn is_finite(object: &Object) -> bool {
    let numbers = [object.confidence, object.last_seen, object.probability];
    let bounds = object.bounds.pose.to_homogeneous();
    numbers.iter().chain(bounds.iter()).chain(object.bounds.size.iter()).all(|x| x.is_finite())
        && object.class_votes.iter().chain(&object.color_fractions).all(|(_, x)| x.is_finite())
        && object.features.iter().all(|x| x.is_finite())
        && object.cloud.points.iter().flat_map(|p| p.iter()).all(|x| x.is_finite())
        && object.crops.iter().all(|crop| [crop.score, crop.stamp, crop.rank].iter().all(|x| x.is_finite()))
}

fn object_record(object: &Object) -> ObjectRecord {
    ObjectRecord {
        key: object.key.0.clone(),
        class_name: object.class_name.clone(),
        confidence: object.confidence,
        class_votes: object.class_votes.clone(),
        bounds: object.bounds,
        color: object.color,
        color_fractions: object.color_fractions.clone(),
        features: object.features.clone(),
        view_count: object.view_count,
        touches_border: object.touches_border,
        last_seen: object.last_seen,
        points: object.cloud.len(),
        crops: object.crops.iter().map(crop_record).collect(),
        affordances: object.affordances.clone(),
        parts: object.parts.clone(),
        probability: object.probability,
        slide: object.slide,
    }
}

fn crop_record(crop: &Crop) -> CropRecord {
    let mask = &crop.mask;
    CropRecord {
        view: crop.view.clone(),
        at: [crop.x, crop.y],
        mask: [mask.x, mask.y, mask.width, mask.height],
        picture: [mask.image_width, mask.image_height],
        intrinsics: crop.intrinsics,
        map_from_camera: crop.map_from_camera,
        producer: crop.producer.clone(),
        label: crop.label.clone(),
        score: crop.score,
        stamp: crop.stamp,
        rank: crop.rank,
    }
}
