use super::*;
use prehend_scene::ObjectKey;

fn explorer(root: &Path) -> Explorer {
    let text = std::fs::read_to_string(root.join("urdf/ranger_xarm6.urdf")).expect("a robot");
    let corners = [[0.37, 0.25], [-0.37, 0.25], [-0.37, -0.25], [0.37, -0.25]];
    Explorer {
        arm: ArmModel::from_urdf(&text).expect("an arm"),
        level: vec![0.0, -1.5688, 0.0671, 0.0, 0.174, 0.0],
        footprint: Footprint::polygon(&corners).expect("a footprint"),
        facing: 0.0,
    }
}

#[test]
fn a_room_is_judged_thing_by_thing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let toured = tour(&explorer(&root), &root.join("config/scenes"), Kind::Errands, 12002).expect("a tour");
    let map = toured.map(RoomSettings::default()).expect("a map");
    let all = toured.judge(&map).figures;
    assert!(all.things >= 6 && all.right + 1 >= all.things, "{all:?}");
    let place = map.objects.iter().position(|object| object.class_name == "can").expect("a can");
    let with = |change: &dyn Fn(&mut ObjectMap)| {
        let mut map = map.clone();
        change(&mut map);
        toured.judge(&map).figures
    };
    let without = with(&|map| drop(map.objects.remove(place)));
    assert_eq!((without.missing, without.right), (all.missing + 1, all.right - 1));
    let renamed = with(&|map| map.objects[place].class_name = "cup".to_owned());
    assert_eq!((renamed.misnamed, renamed.right), (all.misnamed + 1, all.right - 1));
    let doubled = with(&|map| {
        let mut twin = map.objects[place].clone();
        twin.key = ObjectKey("room_twin".to_owned());
        map.objects.push(twin);
    });
    assert_eq!((doubled.twice, doubled.right), (all.twice + 1, all.right - 1));
    let beyond = with(&|map| {
        map.objects[place].cloud.points.iter_mut().for_each(|point| point.z += 1.0);
    });
    assert_eq!((beyond.extra, beyond.missing), (all.extra + 1, all.missing + 1));
}

#[test]
fn every_furnished_room_of_a_seed_is_the_same_and_can_be_toured() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let explorer = explorer(&root);
    let look = || tour(&explorer, &root.join("config/scenes"), Kind::Furnished, 3).expect("a tour");
    let (first, again) = (look(), look());
    assert_eq!(first.stops, again.stops);
    let depths =
        |toured: &Toured| -> Vec<_> { toured.frames.iter().map(|frame| frame.depth.clone()).collect() };
    assert!(depths(&first) == depths(&again), "the frames differ");
}
