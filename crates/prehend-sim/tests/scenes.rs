//! Scene files: every one in the repository is valid, lays out under any seed and comes to rest.

mod rig;

use prehend_sim::{Scene, World};
use rig::{HOME, model, repository};
use std::path::PathBuf;

fn scene_files() -> Vec<PathBuf> {
    let folder = repository().join("config/scenes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_scene_of_the_repository_lays_out_and_comes_to_rest() {
    let files = scene_files();
    assert!(files.len() >= 4, "{files:?}");
    let model = model();
    for file in files {
        let scene = Scene::load(&file).unwrap_or_else(|findings| panic!("{findings}"));
        // Rooms have a robot of their own: `rooms.rs`.
        if scene.room.is_some() {
            continue;
        }
        for seed in 0..6 {
            let placed =
                scene.instantiate(seed).unwrap_or_else(|error| panic!("{file:?} seed {seed}: {error}"));
            assert_eq!(placed, scene.instantiate(seed).expect("again"), "the same seed, another layout");
            let mut world = World::new(&placed, &model, &HOME).expect("world");
            let start = world.object_poses();
            for _ in 0..240 {
                world.step();
            }
            for (index, (before, after)) in start.iter().zip(world.object_poses()).enumerate() {
                let name = &world.objects()[index].spec.name;
                let moved = (before.translation.vector - after.translation.vector).norm();
                assert!(moved < 0.003, "{file:?} seed {seed}: {name} moved {:.1} mm", moved * 1e3);
            }
            let truth = world.truth();
            for object in &truth.objects {
                assert!(!object.fallen, "{file:?} seed {seed}: {} fell", object.name);
                // Links with a class of their own stand behind the scene's objects.
                let Some(spec) = scene.objects.iter().find(|spec| spec.name == object.name) else { continue };
                let spec = &spec.placement;
                if let prehend_sim::scene::Placement::Supported { by, support, .. } = spec {
                    let carried = match support {
                        prehend_sim::scene::Support::In => &object.inside,
                        prehend_sim::scene::Support::On => &object.on,
                    };
                    assert!(
                        carried.contains(by),
                        "{file:?} seed {seed}: {} not {support:?} {by}",
                        object.name
                    );
                }
            }
        }
    }
}
