use super::manifest::FILE;
use super::*;
use nalgebra::{Point3, Vector3};
use prehend_geometry::{DepthImage, Mask, OrientedBox, PointCloud};
use prehend_perception::segment::Reason;
use prehend_scene::{Crop, Object, ObjectKey, Slide, furniture};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CAMERA: Intrinsics = Intrinsics { fx: 50.5, fy: 50.25, cx: 15.5, cy: 11.5, width: 32, height: 24 };

fn crop(pose: Isometry3<f64>) -> Crop {
    Crop {
        view: "one".to_owned(),
        color: ColorImage { width: 3, height: 2, pixels: (0..6).map(|i| [i, 2 * i, 255 - i]).collect() },
        depth: DepthImage { width: 3, height: 2, millimetres: vec![0, 500, 501, 65_535, 7, 8] },
        mask: Mask::from_indices(32, 24, &[40, 41, 73]),
        x: 7,
        y: 1,
        intrinsics: CAMERA,
        map_from_camera: pose,
        producer: "geometry".to_owned(),
        label: String::new(),
        score: 0.5,
        stamp: 1.25,
        rank: 3.0,
    }
}

fn object(key: &str, at: f64) -> Object {
    let pose = Isometry3::translation(at, 0.25, 0.5);
    let cloud = PointCloud {
        points: (0..9).map(|i| Point3::new(at + 0.1 * f64::from(i), 1.0 / 3.0, 0.1)).collect(),
        colors: (0..9).map(|i| [i, 20, 30]).collect(),
    };
    Object {
        class_name: "mug".to_owned(),
        confidence: 0.75,
        class_votes: vec![("mug".to_owned(), 1.5), (String::new(), 0.5)],
        color: [1, 2, 3],
        color_fractions: vec![("blue".to_owned(), 0.875)],
        features: vec![0.5, -0.25],
        crops: vec![
            crop(pose),
            Crop { mask: Mask { image_width: 32, image_height: 24, ..Mask::default() }, ..crop(pose) },
        ],
        view_count: 2,
        last_seen: 1.25,
        probability: 0.875,
        slide: Some(Slide { way: Vector3::x(), closed: at - 0.5 }),
        ..Object::unnamed(
            ObjectKey(key.to_owned()),
            cloud,
            OrientedBox { pose, size: Vector3::new(0.9, 0.1, 0.2) },
        )
    }
}

fn left_out((reason, at): (Reason, usize)) -> LeftOut {
    LeftOut { reason, mask: Mask::from_indices(32, 24, &[at, at + 1, at + 33]) }
}

fn saved() -> SavedMap {
    let map = ObjectMap {
        frame: "map".to_owned(),
        version: 7,
        stamp: 1.25,
        objects: vec![object("mug_0", 0.0), object("../mug 1", 2.0)],
        support_plane: Some([0.0, 0.0, 1.0, -0.5]),
    };
    let view = SavedView {
        name: "one".to_owned(),
        stamp: 1.25,
        color: ColorImage::filled(32, 24, [9, 8, 7]),
        intrinsics: CAMERA,
        map_from_camera: Isometry3::translation(0.5, 0.0, 1.0),
        left_out: [(Reason::Noise, 40), (Reason::Large, 300)].map(left_out).into(),
    };
    let empty = SavedScene { name: "two".to_owned(), map: ObjectMap::default(), views: Vec::new() };
    let scenes = vec![SavedScene { name: "one".to_owned(), map, views: vec![view] }, empty];
    SavedMap { settings: MapSettings::default(), embedder: "clip".to_owned(), scenes }
}

/// The only entry of the folder besides the map: nothing else may be left.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| !path.ends_with("map")).collect()
}

#[test]
fn a_map_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("map");
    saved().save(&place).unwrap();
    assert_eq!(SavedMap::load(&place).unwrap(), saved());
    // Over an older one, and an empty map too.
    let empty = SavedMap { scenes: Vec::new(), ..saved() };
    empty.save(&place).unwrap();
    assert_eq!(SavedMap::load(&place).unwrap(), empty);
    assert_eq!(leftovers(folder.path()), Vec::<PathBuf>::new());
    assert!(!place.join("0000").exists(), "files of the older map are left");
}

/// Spoils a saved map; what is said must hold the text.
/// Scenes are put far apart: how a drawer slides goes with it.
#[test]
fn a_drawer_is_as_far_open_in_the_map_of_all_scenes() {
    let mut saved = saved();
    saved.scenes.insert(0, saved.scenes[1].clone());
    let (alone, all) = (saved.scenes[1].map.clone(), saved.all());
    assert!(all.objects[0].bounds.pose.translation.x > 500.0, "it was moved");
    let offset = |map: &ObjectMap| furniture::opening(&map.objects[0], map).unwrap().offset;
    assert!((offset(&alone) - offset(&all)).abs() < 1e-9);
}

fn check(expected: &str, spoil: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    saved().save(folder.path()).unwrap();
    spoil(folder.path());
    let error = SavedMap::load(folder.path()).expect_err(expected).to_string();
    assert!(error.contains(expected), "expected `{expected}` in: {error}");
}

fn edit(path: PathBuf, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
}

fn replace(path: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_damaged_map_is_refused() {
    for name in [
        "map.json",
        "0000/map.ply",
        "0000/view_0000.png",
        "0000/view_0000.left_out.png",
        "0000/object_0001/cloud.ply",
        "0000/object_0000/crop_0.mask.png",
    ] {
        check("checksum is wrong", |root| edit(root.join(name), |bytes| bytes[20] ^= 1));
        check("were written", |root| edit(root.join(name), |bytes| bytes.truncate(bytes.len() - 3)));
        check("were written", |root| edit(root.join(name), |bytes| bytes.clear()));
        check("is missing", |root| fs::remove_file(root.join(name)).unwrap());
    }
    check("is not a map", |root| fs::remove_file(root.join(FILE)).unwrap());
    check("EOF", |root| edit(root.join(FILE), |bytes| bytes.truncate(bytes.len() / 2)));
    check("the format is", |root| replace(root.join(FILE), "prehend-map", "other-map"));
    check("checksum is wrong", |root| replace(root.join(FILE), "\"sha256\": \"", "\"sha256\": \"0"));
}

#[test]
fn a_newer_map_is_refused_whatever_else_it_says() {
    check("version 2", |root| {
        fs::write(root.join(FILE), r#"{"format": "prehend-map", "version": 2, "files": "elsewhere"}"#)
            .unwrap();
    });
}

#[test]
fn a_map_that_was_made_wrong_with_right_checksums_is_refused() {
    let again = |root: &Path, name: &str| {
        let text = fs::read_to_string(root.join(FILE)).unwrap();
        let mut manifest: manifest::Manifest = serde_json::from_str(&text).unwrap();
        let entry = manifest::Entry::of(&fs::read(root.join(name)).unwrap());
        manifest.files.insert(name.to_owned(), entry);
        fs::write(root.join(FILE), serde_json::to_vec(&manifest).unwrap()).unwrap();
    };
    let spoil = |name: &'static str, from: &'static str, to: &'static str| {
        move |root: &Path| {
            replace(root.join(name), from, to);
            again(root, name);
        }
    };
    check("two objects have the key mug_0", spoil("map.json", "../mug 1", "mug_0"));
    check("no reason has the number 2", spoil("map.json", "\"noise\",", ""));
    check("missing field", spoil("map.json", "\"rank\"", "\"bank\""));
    check("9 points, 8 are announced", spoil("map.json", "\"points\": 9", "\"points\": 8"));
    check("cloud.ply", |root| {
        edit(root.join("0000/object_0000/cloud.ply"), |bytes| bytes.truncate(bytes.len() - 27));
        again(root, "0000/object_0000/cloud.ply");
    });
}

#[test]
fn what_is_no_map_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "years").unwrap();
    assert!(matches!(saved().save(folder.path()), Err(SaveError::NotAMap { .. })));
    assert_eq!(fs::read(folder.path().join("thesis.tex")).unwrap(), b"years");
    let mut broken = saved();
    broken.scenes[0].map.objects[0].features[0] = f32::NAN;
    let place = folder.path().join("map");
    assert!(matches!(broken.save(&place), Err(SaveError::NotFinite { .. })));
    assert!(!place.exists());
}

const CHILD: &str = "PREHEND_TEST_SAVE_INTO";

/// Run again by the next test under a limit of the size of files, as on a disk without room.
#[test]
fn save_where_the_parent_says() {
    let Some(place) = std::env::var_os(CHILD) else { return };
    let mut large = saved();
    large.scenes[0].map.objects[1].cloud = PointCloud::from_points(vec![Point3::new(1.0, 2.0, 3.0); 4000]);
    match large.save(Path::new(&place)) {
        Err(SaveError::Write { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_disk_leaves_the_old_map() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("map");
    saved().save(&place).unwrap();
    // 16 blocks of 512 bytes or 1 kB; without the signal the write fails, as it does on a full disk.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact saved::tests::save_where_the_parent_says";
    let child = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, &place)
        .output();
    let child = child.unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(SavedMap::load(&place).unwrap(), saved());
    assert_eq!(leftovers(folder.path()), Vec::<PathBuf>::new());
}
