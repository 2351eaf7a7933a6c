//! `prehend map show`.

use super::{Failure, counted};
use crate::args::map::ShowMapArgs;
use crate::json::object_json;
use crate::screen::{Screen, print_json};
use prehend_nodes::pictures::{self, Mark};
use prehend_perception::segment::LeftOut;
use prehend_recording::{SavedMap, SavedScene};
use prehend_scene::Object;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Colour of what is no thing.
const GREY: [u8; 3] = [140, 140, 140];
/// What has less than this part of a picture's pixels is not labelled when it is no thing.
const FEW: usize = 1000;

pub(super) fn run(args: &ShowMapArgs) -> Result<(), Failure> {
    let screen = Screen::new(args.json);
    let saved = SavedMap::load(&args.map).map_err(Failure::input)?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.map));
    std::fs::create_dir_all(&out)
        .map_err(|error| Failure::output(format!("cannot make {}: {error}", out.display())))?;
    let mut files = Vec::new();
    for (number, scene) in saved.scenes.iter().enumerate() {
        files.extend(draw(scene, number, &out).map_err(Failure::output)?);
    }
    let header = ["scene", "key", "name", "colours", "size [mm]", "at [mm]", "points", "views", "thing"]
        .map(str::to_owned);
    let mut rows = vec![header];
    for scene in &saved.scenes {
        rows.extend(scene.map.objects.iter().map(|object| row(scene, object)));
    }
    screen.table(&rows);
    let views = || saved.scenes.iter().flat_map(|scene| &scene.views);
    for view in views().filter(|view| !view.left_out.is_empty()) {
        screen.line(format!(
            "{}: no things: {}",
            view.name,
            counted(view.left_out.iter().map(|left| left.reason))
        ));
    }
    screen.line(format!("{} pictures in {}", files.len(), out.display()));
    if args.json {
        let objects =
            |scene: &SavedScene| -> Vec<Value> { scene.map.objects.iter().map(object_json).collect() };
        let scenes: Vec<Value> = saved
            .scenes
            .iter()
            .map(|scene| json!({ "name": scene.name, "frame": scene.map.frame, "objects": objects(scene) }))
            .collect();
        let left_out: Vec<Value> = views()
            .flat_map(|view| {
                view.left_out.iter().map(
                    |left| json!({ "view": view.name, "reason": left.reason, "pixels": left.mask.area() }),
                )
            })
            .collect();
        print_json(&json!({ "scenes": scenes, "pictures": files, "left_out": left_out }));
    }
    Ok(())
}

/// A map's folder holds nothing but the map, so pictures of it stand beside it.
fn beside(map: &Path) -> PathBuf {
    let absolute = std::path::absolute(map).unwrap_or_else(|_| map.to_owned());
    let name = absolute.file_name().map_or_else(|| "map".into(), |name| name.to_string_lossy().into_owned());
    absolute.with_file_name(format!("{name}-pictures"))
}

/// A picture of each view, and one from above.
fn draw(scene: &SavedScene, number: usize, out: &Path) -> Result<Vec<PathBuf>, pictures::PictureError> {
    let mut files = Vec::new();
    for (place, view) in scene.views.iter().enumerate() {
        let mask = |object: &Object| {
            object.crops.iter().find(|crop| crop.view == view.name).map(|crop| crop.mask.clone())
        };
        let pose = &view.map_from_camera;
        let marks: Vec<Mark> = view.left_out.iter().map(mark).collect();
        let picture =
            pictures::over_view(view.color.clone(), &scene.map, (&view.intrinsics, pose), &mask, &marks);
        let file = out.join(format!("{number:04}_view_{place:04}.png"));
        pictures::save(&picture, &file)?;
        files.push(file);
    }
    let cameras: Vec<_> = scene.views.iter().map(|view| view.map_from_camera).collect();
    let file = out.join(format!("{number:04}_top.png"));
    pictures::save(&pictures::top_view(&scene.map, &cameras), &file)?;
    files.push(file);
    Ok(files)
}

/// What is no thing is grey, with the reason where there is room for it.
fn mark(left: &LeftOut) -> Mark {
    let is_large = left.mask.area() * FEW >= left.mask.image_width * left.mask.image_height;
    let label = if is_large { left.reason.to_string() } else { String::new() };
    Mark { label, color: GREY, lines: Vec::new(), mask: Some(left.mask.clone()) }
}

fn millimetres(numbers: [f64; 3], between: &str) -> String {
    numbers.map(|metres| format!("{:.0}", metres * 1e3)).join(between)
}

fn row(scene: &SavedScene, object: &Object) -> [String; 9] {
    let colors: Vec<&str> = object.color_fractions.iter().take(3).map(|(word, _)| word.as_str()).collect();
    [
        scene.name.clone(),
        object.key.0.clone(),
        name(object),
        colors.join(" "),
        millimetres(object.bounds.size.into(), " x "),
        millimetres(object.bounds.pose.translation.vector.into(), " "),
        object.cloud.len().to_string(),
        object.view_count.to_string(),
        format!("{:.2}", object.probability),
    ]
}

/// What an object is called with the share of the votes for it, and the next of the other names.
fn name(object: &Object) -> String {
    if object.class_name.is_empty() {
        return "-".to_owned();
    }
    let total: f64 = object.class_votes.iter().map(|(_, weight)| weight).sum();
    let other = object.class_votes.iter().find(|(name, _)| !name.is_empty() && *name != object.class_name);
    let other = other.map(|(name, weight)| format!(", {name} {:.2}", weight / total.max(f64::MIN_POSITIVE)));
    format!("{} {:.2}{}", object.class_name, object.confidence, other.unwrap_or_default())
}
