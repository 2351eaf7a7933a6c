use super::{READY, block, down, table_world, xarm6};
use crate::{CollisionWorld, IkOptions, JointError, Placed, RobotGroup, RobotModel, SceneError, Shape};
use nalgebra::{Isometry3, Point3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn joints_at(world: &CollisionWorld, x: f64, y: f64, z: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let goal = down(x, y, z, 0.0);
    world.model().inverse(&goal, &READY, &IkOptions::default(), &mut rng).expect("reachable").remove(0)
}

fn touched(world: &CollisionWorld, joints: &[f64]) -> Option<(String, String)> {
    world.check(joints).expect("good joints").map(|contact| (contact.link, contact.object))
}

fn pair(link: &str, object: &str) -> Option<(String, String)> {
    Some((link.to_owned(), object.to_owned()))
}

/// With the tool down, the finger tips end 6 mm below the tcp.
#[test]
fn finger_tips_touch_the_table_first() {
    let world = table_world();
    assert_eq!(touched(&world, &joints_at(&world, 0.4, 0.0, 0.010)), None);
    let hit = touched(&world, &joints_at(&world, 0.4, 0.0, -0.001)).expect("a contact");
    assert!(hit.0.ends_with("_finger") && hit.1 == "table", "{hit:?}");
}

#[test]
fn depth_is_told() {
    let world = table_world();
    let contact = world.check(&joints_at(&world, 0.4, 0.0, -0.003)).expect("good").expect("a contact");
    // The table's top is at -0.005 and the tips at -0.009.
    assert!((contact.depth - 0.004).abs() < 0.001, "{contact}");
}

#[test]
fn padding_grows_the_links() {
    let mut world = CollisionWorld::new(Arc::new(xarm6()), 0.01);
    world.set_object("table", vec![block(0.4, 0.0, -0.025, [0.4, 0.6, 0.02])]).expect("good");
    assert!(touched(&world, &joints_at(&world, 0.4, 0.0, 0.010)).is_some());
    assert!(touched(&world, &joints_at(&world, 0.4, 0.0, 0.030)).is_none());
}

#[test]
fn every_shape_is_seen() {
    let tetrahedron = Shape::Mesh {
        vertices: [[0., 0., 0.1], [0.1, 0., -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1]]
            .map(Point3::from)
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
    };
    let shapes = [
        Shape::Box { half: Vector3::repeat(0.05) },
        Shape::Cylinder { radius: 0.05, half_length: 0.05 },
        Shape::Sphere { radius: 0.05 },
        tetrahedron,
    ];
    for shape in shapes {
        let mut world = CollisionWorld::new(Arc::new(xarm6()), 0.0);
        let joints = joints_at(&world, 0.4, 0.1, 0.2);
        let at = |x, y, z| {
            vec![Placed { frame_from_shape: Isometry3::translation(x, y, z), shape: shape.clone() }]
        };
        world.set_object("thing", at(0.4, 0.1, 0.19)).expect("good");
        assert_eq!(touched(&world, &joints).map(|hit| hit.1), Some("thing".to_owned()), "{shape:?}");
        world.set_object("thing", at(0.4, 0.45, 0.19)).expect("good");
        assert_eq!(touched(&world, &joints), None, "{shape:?}");
    }
}

/// A cylinder stands along z: seen 9 cm above its centre when it is 10 cm half long and 1 cm thick, not beside it.
#[test]
fn cylinders_stand_along_z() {
    let mut world = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    let joints = joints_at(&world, 0.4, 0.0, 0.2);
    let shape = Shape::Cylinder { radius: 0.01, half_length: 0.1 };
    let mut at = |x: f64, z: f64| {
        let placed =
            Placed { frame_from_shape: Isometry3::translation(x, 0.0425 + 0.006, z), shape: shape.clone() };
        world.set_object("pole", vec![placed]).expect("good");
        touched(&world, &joints).is_some()
    };
    assert!(at(0.4, 0.11));
    assert!(!at(0.4, 0.08));
    assert!(!at(0.35, 0.20) || !at(0.5, 0.11));
}

#[test]
fn fingers_follow_the_drive() {
    let mut world = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    let joints = joints_at(&world, 0.4, 0.0, 0.1);
    world.set_object("egg", vec![block(0.4, 0.0, 0.1, [0.005, 0.02, 0.02])]).expect("good");
    assert_eq!(touched(&world, &joints), None);
    world.set_drive(0.6);
    assert!(touched(&world, &joints).expect("pinched").0.ends_with("_finger"));
}

#[test]
fn allowed_pairs_may_touch() {
    let mut world = table_world();
    let joints = joints_at(&world, 0.4, 0.0, -0.001);
    for finger in ["left_finger", "right_finger"] {
        world.allow(finger, "table", true);
    }
    assert_eq!(touched(&world, &joints), None);
    world.allow("table", "left_finger", false);
    assert_eq!(touched(&world, &joints), pair("left_finger", "table"));
    world.clear_allowed();
    world.allow_by_default("table", true);
    assert_eq!(touched(&world, &joints), None);
}

#[test]
fn held_objects_collide_too() {
    let mut world = table_world();
    let held = vec![block(0.0, 0.0, 0.05, [0.02, 0.02, 0.05])];
    let joints = joints_at(&world, 0.4, 0.0, 0.08);
    assert_eq!(touched(&world, &joints), None);
    let touch = ["left_finger".to_owned(), "right_finger".to_owned()];
    world.attach("bottle", "link_tcp", held.clone(), &touch).expect("good");
    assert_eq!(touched(&world, &joints), pair("bottle", "table"));
    world.allow("bottle", "table", true);
    assert_eq!(touched(&world, &joints), None);
    assert_eq!(world.detach("bottle"), Ok(("link_tcp".to_owned(), held)));
    // A long pole along the hand reaches the arm itself.
    let pole = vec![block(-0.076, 0.0, -0.35, [0.01, 0.01, 0.35])];
    world.attach("pole", "link_tcp", pole, &touch).expect("good");
    assert_eq!(touched(&world, &joints_at(&world, 0.4, 0.0, 0.3)).map(|hit| hit.1), Some("pole".to_owned()));
}

/// The arm's natural postures do not touch themselves; a hand folded onto the upper arm does.
#[test]
fn self_collision() {
    let world = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    assert_eq!(touched(&world, &[0.0; 6]), None);
    assert_eq!(touched(&world, &READY), None);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..100 {
        let (x, y) = (0.3 + 0.3 * rng.random::<f64>(), 0.6 * (rng.random::<f64>() - 0.5));
        let joints = joints_at(&world, x, y, 0.05 + 0.2 * rng.random::<f64>());
        assert_eq!(touched(&world, &joints), None, "{joints:?}");
    }
    let folded = [0.0, 0.0, -0.1, 0.0, 2.8, 0.0];
    let hit = touched(&world, &folded);
    assert!(hit.is_some(), "{hit:?}");
}

/// Thousands of small boxes are one object; checking against them finds the same contacts as one box of the same form.
#[test]
fn height_map_columns() {
    let mut fine = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    let mut columns = Vec::new();
    for i in 0..50 {
        for j in 0..50 {
            let (x, y) = (0.3 + 0.006 * f64::from(i), -0.15 + 0.006 * f64::from(j));
            columns.push(block(x + 0.003, y + 0.003, 0.04, [0.003, 0.003, 0.04]));
        }
    }
    fine.set_object("cloud", columns).expect("good");
    let mut whole = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    whole.set_object("cloud", vec![block(0.45, 0.0, 0.04, [0.15, 0.15, 0.04])]).expect("good");
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let near = joints_at(&whole, 0.45, 0.0, 0.10);
    let mut hits = 0;
    for _ in 0..300 {
        let joints: Vec<f64> = near.iter().map(|value| value + 0.3 * (rng.random::<f64>() - 0.5)).collect();
        assert_eq!(fine.is_free(&joints), whole.is_free(&joints), "{joints:?}");
        hits += usize::from(!whole.is_free(&joints));
    }
    assert!((30..270).contains(&hits), "{hits}");
}

#[test]
fn motions_are_checked_in_between() {
    let mut world = table_world();
    let (from, to) = (joints_at(&world, 0.4, -0.25, 0.05), joints_at(&world, 0.4, 0.25, 0.05));
    assert_eq!(world.check_motion(&from, &to, 0.005), Ok(None));
    world.set_object("wall", vec![block(0.42, 0.0, 0.1, [0.1, 0.003, 0.1])]).expect("good");
    assert!(world.is_free(&from) && world.is_free(&to));
    let (fraction, contact) = world.check_motion(&from, &to, 0.005).expect("good").expect("a contact");
    assert!(contact.object == "wall" && (0.2..0.5).contains(&fraction), "{fraction}");
}

#[test]
fn errors() {
    let mut world = table_world();
    let name = || "x".to_owned();
    assert_eq!(world.set_object("x", vec![]), Err(SceneError::BadShape { object: name() }));
    assert_eq!(
        world.set_object("x", vec![block(0.0, 0.0, 0.0, [0.1, 0.0, 0.1])]),
        Err(SceneError::BadShape { object: name() })
    );
    assert_eq!(
        world.set_object("x", vec![block(f64::NAN, 0.0, 0.0, [0.1, 0.1, 0.1])]),
        Err(SceneError::BadPose { object: name() })
    );
    assert_eq!(world.remove_object("x"), Err(SceneError::UnknownObject { object: name() }));
    assert_eq!(world.detach("x"), Err(SceneError::UnknownObject { object: name() }));
    assert_eq!(
        world.attach("x", "link_nine", vec![block(0.0, 0.0, 0.0, [0.1; 3])], &[]),
        Err(SceneError::UnknownLink { link: "link_nine".to_owned() })
    );
    assert_eq!(world.check(&[0.0; 2]), Err(JointError::Count { expected: 6, found: 2 }));
    assert!(!world.is_free(&[f64::NAN; 6]) && !world.is_free(&[9.0; 6]));
}

#[test]
fn an_arm_on_a_base_does_not_hit_the_base() {
    let text = include_str!("../../../../urdf/ranger_xarm6.urdf");
    let mobile = RobotModel::from_urdf(text, RobotGroup::xarm6()).expect("a good URDF");
    let mobile = CollisionWorld::new(Arc::new(mobile), 0.0);
    let fixed = CollisionWorld::new(Arc::new(xarm6()), 0.0);
    // Beside the column, as deep as the chassis: its top is 0.37 m below the arm's base and 0.25 m wide to each side.
    let joints = joints_at(&fixed, -0.12, 0.22, -0.38);
    assert_eq!(touched(&fixed, &joints), None);
    assert_eq!(touched(&mobile, &joints).map(|(_, object)| object), Some("base_link".to_owned()));
    assert!(mobile.is_free(&READY) && mobile.model().joint_names() == fixed.model().joint_names());
    let base = mobile.model().link_index("base_link").expect("the chassis");
    let poses = mobile.model().link_poses(&READY, 0.0).expect("poses");
    assert!((poses[base].translation.vector - nalgebra::Vector3::new(-0.28, 0.0, -0.70)).norm() < 1e-9);
}
