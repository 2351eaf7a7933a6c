//! What the object map makes of furniture that the camera sees with an imperfect detector.

mod rig;

use prehend_scene::{Object, furniture};
use rig::eyes::{Eyes, FRONT, HOME};

fn scene(joints: &str) -> String {
    format!(
        "name: test
detector: {{preset: imperfect, wrong_class: 0}}
objects:
- {{name: cabinet, model: drawer_cabinet, pose: {{xy: [0.74, 0.0], yaw: 0.0}}{joints}}}
- {{name: block, class: block, shape: box, color: blue, size: [0.04, 0.04, 0.04], pose: {{xy: [0.33, 0.2], yaw: 0.0}}}}
"
    )
}

/// The drawers of a map, lowest first.
fn drawers(eyes: &Eyes) -> Vec<&Object> {
    let mut found: Vec<&Object> =
        eyes.map().objects.iter().filter(|object| object.class_name == "drawer").collect();
    found.sort_by(|a, b| a.bounds.pose.translation.z.total_cmp(&b.bounds.pose.translation.z));
    found
}

#[test]
fn every_drawer_is_one_object_however_the_detector_cut_them() {
    for seed in [2, 4, 8] {
        let mut eyes = Eyes::new(&scene(""), seed);
        eyes.look(&HOME, "home", 3);
        eyes.look(&FRONT, "front", 3);
        let found = drawers(&eyes);
        assert_eq!(found.len(), 3, "seed {seed}: {:?}", found.iter().map(|o| &o.key).collect::<Vec<_>>());
        for drawer in &found {
            let size = drawer.bounds.size;
            assert!((0.07..0.12).contains(&size.z) && size.y.min(size.x) < 0.07, "seed {seed}: {size}");
            let opening = furniture::opening(drawer, eyes.map()).expect("its cabinet is seen");
            assert!(!opening.is_open(), "seed {seed}: {opening:?}");
        }
    }
}

#[test]
fn an_opened_drawer_keeps_its_key_and_is_seen_to_be_open() {
    for seed in [2, 4] {
        let mut eyes = Eyes::new(&scene(""), seed);
        eyes.look(&HOME, "home", 3);
        eyes.look(&FRONT, "front", 3);
        let key = drawers(&eyes).last().expect("drawers").key.clone();
        eyes.scene_is(&scene(", joints: {top: 0.14}"));
        eyes.look(&HOME, "home", 3);
        let found = drawers(&eyes);
        assert_eq!(found.len(), 3, "seed {seed}: {:?}", found.iter().map(|o| &o.key).collect::<Vec<_>>());
        let open = found.iter().find(|o| furniture::opening(o, eyes.map()).is_some_and(|o| o.is_open()));
        assert_eq!(open.map(|o| &o.key), Some(&key), "seed {seed}");
    }
}
