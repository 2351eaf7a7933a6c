//! From bags to maps.

use crate::scene::{BEGIN, BLOCKS, camera};
use crate::write::{Entry, entries, mcap_file, metadata};
use nalgebra::Vector3;
use prehend_bags::{BagError, Options, Recording, Select, is_bag};
use prehend_perception::{MapSettings, Sight};
use prehend_recording::{BuildError, MapOfFrames, RecordedFrame, SavedMap};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Bag(#[from] BagError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

pub(crate) fn frames_of(path: &Path, options: &Options) -> Result<Vec<RecordedFrame>, BagError> {
    let mut frames = Vec::new();
    Recording::scan(path, options)?.frames::<BagError>(|frame| {
        frames.push(frame);
        Ok(())
    })?;
    Ok(frames)
}

pub(crate) fn map_of(path: &Path) -> Result<SavedMap, Fault> {
    let mut map = MapOfFrames::new(MapSettings::recorded(), 1, Sight::default());
    Recording::scan(path, &Options::default())?.frames::<Fault>(|frame| Ok(map.take(frame).map(drop)?))?;
    Ok(map.finish())
}

/// The map of two views with poses has both blocks where they are.
pub(crate) fn check(path: &Path) {
    assert!(is_bag(path));
    let saved = map_of(path).unwrap();
    assert_eq!((saved.scenes.len(), saved.scenes[0].views.len()), (1, 2));
    let map = &saved.scenes[0].map;
    assert_eq!(map.objects.len(), BLOCKS.len());
    for (x, y, _, height, _) in BLOCKS {
        let at = Vector3::new(x, y, 0.0).xy();
        let near = map.objects.iter().find(|o| (o.bounds.pose.translation.vector.xy() - at).norm() < 0.02);
        let object = near.unwrap_or_else(|| panic!("nothing at {x} {y}"));
        assert_eq!(object.view_count, 2);
        assert!((object.bounds.top() - height).abs() < 0.006, "{}", object.bounds.top());
    }
}

const PLACES: [f64; 2] = [0.1, -0.05];

#[test]
fn an_mcap_file_becomes_one_map_in_the_frame_of_tf() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    mcap_file(&path, &entries(&PLACES, true));
    check(&path);
    check(folder.path());
    let options = Options::default();
    let recording = Recording::scan(&path, &options).unwrap();
    let summary = recording.summary();
    assert_eq!((summary.map_frame.as_deref(), summary.keyframes), (Some("map"), 2));
    assert_eq!((summary.pictures, summary.unpaired, summary.without_pose), ([2, 2], [0, 0], 0));
    let frames = frames_of(&path, &options).unwrap();
    assert_eq!(frames[1].name, "1700000001.000000000");
    for (frame, x) in frames.iter().zip(PLACES) {
        let error = frame.map_from_camera.unwrap().to_homogeneous() - camera(x).to_homogeneous();
        assert!(error.amax() < 1e-9, "{error}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn an_sqlite_file_becomes_the_same_map() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a walk? 100%.db3");
    crate::write::sqlite_file(&path, &entries(&PLACES, true));
    check(&path);
    let mcap = folder.path().join("walk.mcap");
    mcap_file(&mcap, &entries(&PLACES, true));
    let options = Options::default();
    assert_eq!(frames_of(&path, &options).unwrap(), frames_of(&mcap, &options).unwrap());
}

#[test]
fn a_folder_with_metadata_has_its_files_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = entries(&PLACES, true);
    let (first, second) = all.split_at(all.len() / 2);
    mcap_file(&folder.path().join("walk_0.mcap"), second);
    mcap_file(&folder.path().join("walk_1.mcap"), first);
    // An old version wrote the name of the folder, too.
    metadata(folder.path(), "mcap", &["walk_1.mcap", "walk/walk_0.mcap"]);
    check(folder.path());
}

#[test]
fn a_bag_without_tf_gives_frames_without_poses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("still.mcap");
    mcap_file(&path, &entries(&PLACES, false));
    let saved = map_of(&path).unwrap();
    assert_eq!(saved.scenes.len(), 2);
    assert!(saved.scenes.iter().all(|scene| scene.map.objects.len() == BLOCKS.len()));
}

#[test]
fn frames_outside_of_tf_are_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let mut all = entries(&[0.1, 0.0, -0.1], true);
    // The transforms after the last frame are missing.
    all.pop();
    mcap_file(&path, &all);
    let recording = Recording::scan(&path, &Options::default()).unwrap();
    assert_eq!((recording.summary().without_pose, recording.summary().keyframes), (1, 2));
}

#[test]
fn keyframes_are_chosen_by_motion_or_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    mcap_file(&path, &entries(&[0.1, 0.08, 0.06, -0.05], true));
    let chosen = |select| {
        let options = Options { select, ..Options::default() };
        frames_of(&path, &options).unwrap().iter().map(|f| f.name[..10].to_owned()).collect::<Vec<_>>()
    };
    let names =
        |numbers: &[i64]| numbers.iter().map(|n| (BEGIN / 1_000_000_000 + n).to_string()).collect::<Vec<_>>();
    assert_eq!(chosen(Select::default()), names(&[0, 3]));
    assert_eq!(chosen(Select::Motion { metres: 0.03, radians: 9.0 }), names(&[0, 2, 3]));
    assert_eq!(chosen(Select::Every(2)), names(&[0, 2]));
}

#[test]
fn messages_may_be_stored_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let mut all: Vec<Entry> = entries(&PLACES, true);
    all.reverse();
    mcap_file(&path, &all);
    check(&path);
}
