//! Scene files: YAML into [`Scene`], with every error at once.

mod model;
mod modelled;
mod object;
mod room;
mod shape;

use super::color::read_rgb;
use super::{
    CameraSpec, Color, DepthNoise, DetectorSpec, FurnitureSpec, Library, Scene, TableSpec, check,
    named_colors,
};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_config::{Findings, Map, Value, nearest};
use std::path::Path;

impl Scene {
    /// Reads the scene file at `path`.
    ///
    /// Errors: every finding, each with line, key and, where a key or word is unknown, the nearest known one.
    ///
    /// Models are looked for in the scene's own `models`, in its `catalogue` files, and in `config/objects` of the share folder.
    pub fn load(path: &Path) -> Result<Self, Findings> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        prehend_config::read_file(path, |root| read_scene(root, folder))
    }

    /// Reads a scene from text; `name` stands for the file in findings. Errors as [`Scene::load`].
    pub fn parse(name: &str, text: &str) -> Result<Self, Findings> {
        prehend_config::read(name, text, |root| read_scene(root, Path::new(".")))
    }
}

fn read_scene(root: Value<'_>, folder: &Path) -> Option<Scene> {
    root.map(|map| {
        let name = map.req("name").and_then(|value| non_empty(&value));
        let room = room::read_room_of(map);
        let driving = matches!(room, Some(Some(_)) | None);
        let fixed = if driving { "mobile" } else { "xarm6" };
        // In a room the key holds where the robot starts, and is read with it.
        let robot = match driving {
            true => Some(fixed),
            false => map.or("robot", "xarm6", |value| value.choice(&[("xarm6", "xarm6")])),
        };
        let table_value = map.opt("table");
        let table = match (&table_value, &room) {
            (Some(value), Some(Some(_))) => {
                value.report("a room has no `table`: put tables among its objects");
                None
            }
            (None, Some(Some(room))) => Some(room.floor()),
            (Some(value), _) => value.map(read_table),
            (None, _) => Some(default_table()),
        };
        let furniture = map.or("furniture", Vec::new(), |value| value.list(|item| item.map(read_furniture)));
        let camera = map.or("camera", default_camera(), |value| value.map(read_camera));
        let detector = map.or("detector", DetectorSpec::default(), |value| read_detector(&value));
        let part_detector = match map.opt("part_detector") {
            Some(value) => read_detector(&value),
            None => detector.clone().map(part_detector_like),
        };
        let library = read_library(map, folder);
        let objects_value = map.req("objects");
        let mut places: Vec<Value<'_>> = Vec::new();
        let objects = objects_value.as_ref().and_then(|value| {
            value.list(|item| {
                places.push(item.clone());
                item.map(|map| match &library {
                    Some(library) if map.has("model") => modelled::read_modelled(map, library),
                    _ => object::read_object(map),
                })
            })
        });
        let room = room?;
        let mut furniture = furniture?;
        furniture.extend(room.iter().flat_map(|room| room.wall_boxes()));
        let scene = Scene {
            name: name?,
            robot: robot?.to_owned(),
            table: table?,
            furniture,
            camera: camera?,
            detector: detector?,
            part_detector: part_detector?,
            objects: objects?,
            room,
        };
        check::check(&scene, &places);
        Some(scene)
    })
}

/// The models a scene may name: its own, those of its catalogue files, and the catalogue that comes with Prehend.
fn read_library(map: &mut Map<'_>, folder: &Path) -> Option<Library> {
    let mut library = Library::default();
    if let Some(value) = map.opt("models") {
        library.add(value.map(|map| Some(super::library::documents(map.entries())))?);
    }
    if let Some(value) = map.opt("catalogue") {
        value.list(|item| {
            let path = folder.join(non_empty(&item)?);
            let added = if path.is_dir() { library.add_folder(&path) } else { library.add_file(&path) };
            added.map_err(|findings| item.report(findings.to_string())).ok()
        })?;
    }
    if let Err(findings) = library.add_folder(&super::objects_folder()) {
        map.report(format!("in the catalogue: {findings}"));
        return None;
    }
    Some(library)
}

/// A text with something in it.
fn non_empty(value: &Value<'_>) -> Option<String> {
    let text = value.text()?.trim().to_owned();
    if text.is_empty() {
        value.report("expected a text that is not empty");
        return None;
    }
    Some(text)
}

/// Reads a colour: a known name or `[r, g, b]`. Gives the name too when one was used.
fn read_color(value: &Value<'_>) -> Option<(Color, Option<String>)> {
    if value.is_list() {
        return Some((read_rgb(value)?, None));
    }
    let word = value.text()?.trim().to_lowercase();
    let known = named_colors();
    if let Some(entry) = known.iter().find(|entry| entry.name == word) {
        return Some((entry.color, Some(word)));
    }
    match nearest(&word, known.iter().map(|entry| entry.name.as_str())) {
        Some(near) => value.report(format!("unknown colour `{word}`; did you mean `{near}`? (or [r, g, b])")),
        None => {
            let names: Vec<&str> = known.iter().map(|entry| entry.name.as_str()).collect();
            value.report(format!("unknown colour `{word}`; [r, g, b], or one of: {}", names.join(", ")));
        }
    }
    None
}

/// Reads a positive length up to `most` metres.
fn length(value: Value<'_>, most: f64) -> Option<f64> {
    let metres = value.f64()?;
    if metres > 0.0 && metres <= most {
        return Some(metres);
    }
    value.report(format!("`{metres}` is not a length in metres above 0 and up to {most}"));
    None
}

/// Reads lengths, each positive and up to `most` metres.
fn lengths<const N: usize>(value: &Value<'_>, most: f64) -> Option<[f64; N]> {
    let numbers = value.numbers::<N>()?;
    if numbers.iter().all(|metres| *metres > 0.0 && *metres <= most) {
        return Some(numbers);
    }
    value.report(format!("{numbers:?} are not lengths in metres above 0 and up to {most}"));
    None
}

fn probability(value: Value<'_>) -> Option<f64> {
    value.f64_in(0.0, 1.0)
}

fn angle(value: Value<'_>) -> Option<f64> {
    value.f64_in(-std::f64::consts::TAU, std::f64::consts::TAU)
}

fn default_table() -> TableSpec {
    let color = super::named_color("beige").unwrap_or(Color([214, 192, 154]));
    TableSpec {
        size: [0.8, 1.2],
        thickness: 0.04,
        height: 0.0,
        center: [0.5, 0.0],
        yaw: 0.0,
        color,
        friction: super::DEFAULT_FRICTION,
    }
}

fn read_table(map: &mut Map<'_>) -> Option<TableSpec> {
    let default = default_table();
    let size = map.or("size", default.size, |value| lengths::<2>(&value, 5.0));
    let thickness = map.or("thickness", default.thickness, |value| length(value, 1.0));
    let height = map.or("height", default.height, |value| value.f64_in(-1.0, 1.0));
    let center = map.or("center", default.center, |value| value.numbers::<2>());
    let yaw = map.or("yaw", default.yaw, angle);
    let color = map.or("color", (default.color, None), |value| read_color(&value));
    let friction = map.or("friction", default.friction, |value| value.f64_in(0.0, 3.0));
    Some(TableSpec {
        size: size?,
        thickness: thickness?,
        height: height?,
        center: center?,
        yaw: yaw?,
        color: color?.0,
        friction: friction?,
    })
}

fn read_furniture(map: &mut Map<'_>) -> Option<FurnitureSpec> {
    let name = map.req("name").and_then(|value| non_empty(&value));
    let size = map.req("size").and_then(|value| lengths::<3>(&value, 5.0));
    let pose = read_pose(map);
    let color = map.or("color", (Color([150, 140, 128]), None), |value| read_color(&value));
    Some(FurnitureSpec { name: name?, size: Vector3::from(size?), pose: pose?, color: color?.0 })
}

/// Farthest place of anything, metres: a hall of that length.
pub(super) const FARTHEST: f64 = 50.0;

/// Reads `xyz` with either `yaw` or `rpy`.
fn read_pose(map: &mut Map<'_>) -> Option<Isometry3<f64>> {
    let xyz = map.req("xyz").and_then(|value| value.numbers::<3>());
    let yaw = map.or("yaw", 0.0, angle);
    let rpy = map.opt("rpy");
    let turn = match &rpy {
        Some(value) => value.numbers::<3>().map(|[r, p, y]| UnitQuaternion::from_euler_angles(r, p, y)),
        None => yaw.map(|yaw| UnitQuaternion::from_euler_angles(0.0, 0.0, yaw)),
    };
    if let (Some(value), true) = (&rpy, map.has("yaw")) {
        value.report("give `yaw` or `rpy`, not both");
        return None;
    }
    let [x, y, z] = xyz?;
    if [x, y, z].iter().any(|number| number.abs() > FARTHEST) {
        map.report(format!("a place more than {FARTHEST} m from the origin"));
        return None;
    }
    Some(Isometry3::from_parts(Translation3::new(x, y, z), turn?))
}

fn default_camera() -> CameraSpec {
    CameraSpec { rate_hz: 10.0, depth_noise: Some(DepthNoise::default()), color_noise: 1.5 }
}

fn read_camera(map: &mut Map<'_>) -> Option<CameraSpec> {
    let default = default_camera();
    let rate_hz = map.or("rate_hz", default.rate_hz, |value| value.f64_in(0.1, 60.0));
    let depth_noise = map.or("depth_noise", default.depth_noise, |value| {
        if value.is_map() {
            return value.map(read_depth_noise).map(Some);
        }
        value.bool().map(|on| on.then(DepthNoise::default))
    });
    let color_noise = map.or("color_noise", default.color_noise, |value| value.f64_in(0.0, 64.0));
    Some(CameraSpec { rate_hz: rate_hz?, depth_noise: depth_noise?, color_noise: color_noise? })
}

fn read_depth_noise(map: &mut Map<'_>) -> Option<DepthNoise> {
    let default = DepthNoise::default();
    let sigma_at_1m = map.or("sigma_at_1m", default.sigma_at_1m, |value| value.f64_in(0.0, 0.1));
    let grazing = map.or("grazing", default.grazing, |value| value.f64_in(0.0, 1.5));
    let edge_px = map.or("edge_px", default.edge_px, |value| pixels(&value, 20));
    let edge_dropout = map.or("edge_dropout", default.edge_dropout, probability);
    let dropout = map.or("dropout", default.dropout, probability);
    Some(DepthNoise {
        sigma_at_1m: sigma_at_1m?,
        grazing: grazing?,
        edge_px: edge_px?,
        edge_dropout: edge_dropout?,
        dropout: dropout?,
    })
}

fn pixels(value: &Value<'_>, most: usize) -> Option<usize> {
    let number = value.u64()?;
    match usize::try_from(number) {
        Ok(count) if count <= most => Some(count),
        _ => {
            value.report(format!("`{number}` is more than {most} pixels"));
            None
        }
    }
}

fn read_detector(value: &Value<'_>) -> Option<DetectorSpec> {
    if !value.is_map() {
        return value
            .choice(&[("perfect", DetectorSpec::default()), ("imperfect", DetectorSpec::imperfect())]);
    }
    value.map(|map| {
        let d = map.or("preset", DetectorSpec::imperfect(), |value| {
            value.choice(&[("perfect", DetectorSpec::default()), ("imperfect", DetectorSpec::imperfect())])
        })?;
        let miss = map.or("miss", d.miss, probability);
        let wrong_class = map.or("wrong_class", d.wrong_class, probability);
        let split = map.or("split", d.split, probability);
        let merge = map.or("merge", d.merge, probability);
        let erode_px = map.or("erode_px", d.erode_px, |value| pixels(&value, 20));
        let score = map.or("score", d.score, probability);
        let score_noise = map.or("score_noise", d.score_noise, probability);
        let persistence = map.or("persistence", d.persistence, probability);
        let range = map.or("range", d.range, |value| interval(&value, 0.0, 20.0));
        let min_px = map.or("min_px", d.min_px, |value| pixels(&value, 640 * 480));
        let confusions = map.or("confusions", d.confusions, |value| value.map(read_confusions));
        Some(DetectorSpec {
            miss: miss?,
            wrong_class: wrong_class?,
            split: split?,
            merge: merge?,
            erode_px: erode_px?,
            score: score?,
            score_noise: score_noise?,
            persistence: persistence?,
            range: range?,
            min_px: min_px?,
            confusions: confusions?,
        })
    })
}

/// What a detector of parts gets wrong when nothing is said: as the other, but parts are small.
fn part_detector_like(detector: DetectorSpec) -> DetectorSpec {
    DetectorSpec { confusions: Vec::new(), min_px: detector.min_px.min(30), ..detector }
}

fn read_confusions(map: &mut Map<'_>) -> Option<Vec<(String, Vec<String>)>> {
    let read: Vec<Option<(String, Vec<String>)>> = map
        .entries()
        .into_iter()
        .map(|(class, value)| Some((class.to_lowercase(), value.list(|item| non_empty(&item))?)))
        .collect();
    read.into_iter().collect()
}

/// Reads `[low, high]` with low <= high.
fn interval(value: &Value<'_>, least: f64, most: f64) -> Option<[f64; 2]> {
    let [low, high] = value.numbers::<2>()?;
    if low <= high && low >= least && high <= most {
        return Some([low, high]);
    }
    value.report(format!("[{low}, {high}] is not a range from low to high within {least} to {most}"));
    None
}
