//! An arm of slides whose first one is its base, with a head beside it.

use super::{block, down};
use crate::{
    CollisionWorld, IkError, IkOptions, JointError, MotionLimits, PlanOptions, RobotGroup, RobotModel,
};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

const URDF: &str = include_str!("../../../../urdf/stretch.urdf");
const LIMITS: &str = include_str!("../../../../urdf/stretch_joint_limits.yaml");
/// The hand above a table, the head at it.
const READY: [f64; 8] = [0.0, 0.9, 0.1, 0.0, -0.4, 0.0, -FRAC_PI_2, -0.7];

pub(super) fn stretch() -> RobotModel {
    let name = |name: &str| name.to_owned();
    let group = RobotGroup {
        name: name("stretch_arm"),
        base: name("link_arm_base"),
        tip: name("link_tcp"),
        drive: Some(name("gripper_aperture")),
        more: ["joint_lift", "joint_head_pan", "joint_head_tilt"].map(name).to_vec(),
    };
    RobotModel::from_urdf(URDF, group).expect("the repository's URDF is valid")
}

fn world() -> CollisionWorld {
    let mut world = CollisionWorld::new(Arc::new(stretch()), 0.002);
    world.set_object("table", vec![block(0.65, 0.0, 0.0, [0.40, 0.7, 0.02])]).expect("a good box");
    world
}

#[test]
fn joints_are_the_chain_then_the_head() {
    let model = stretch();
    assert_eq!(
        model.joint_names(),
        [
            "joint_mobile_base_translation",
            "joint_lift",
            "wrist_extension",
            "joint_wrist_yaw",
            "joint_wrist_pitch",
            "joint_wrist_roll",
            "joint_head_pan",
            "joint_head_tilt"
        ]
    );
    let hand: Vec<&str> = (0..model.links().len())
        .filter(|link| model.is_on_hand(*link))
        .map(|link| model.links()[link].name.as_str())
        .collect();
    assert!(hand.contains(&"link_gripper_finger_left") && hand.contains(&"link_tcp"), "{hand:?}");
    assert!(!hand.contains(&"camera_link") && !hand.contains(&"link_wrist_pitch"), "{hand:?}");
    assert!(MotionLimits::from_yaml("limits", LIMITS, model.joint_names()).is_ok());
}

#[test]
fn slides_move_the_tool_along_the_base_frame_and_the_segments_share_the_way() {
    let model = stretch();
    let at = |joints: &[f64]| model.tip_pose(joints).expect("good").translation.vector;
    for (joint, way) in [(0, Vector3::y()), (1, Vector3::z()), (2, Vector3::x())] {
        let mut moved = READY;
        moved[joint] += 0.08;
        assert!((at(&moved) - at(&READY) - way * 0.08).norm() < 1e-6, "{joint}");
    }
    let x_of = |name: &str, joints: &[f64]| {
        let poses = model.link_poses(joints, 0.0).expect("good");
        poses[model.link_index(name).expect("link")].translation.x
    };
    let mut out = READY;
    out[2] += 0.4;
    for (name, share) in
        [("link_arm_l3", 0.25), ("link_arm_l2", 0.5), ("link_arm_l1", 0.75), ("link_arm_l0", 1.0)]
    {
        assert!((x_of(name, &out) - x_of(name, &READY) - 0.4 * share).abs() < 1e-6, "{name}");
    }
}

#[test]
fn the_fingers_open_as_far_as_the_aperture_says() {
    let model = stretch();
    let gap = |aperture: f64| {
        let poses = model.link_poses(&READY, aperture).expect("good");
        let of = |name: &str| poses[model.link_index(name).expect("link")].translation.vector;
        (of("link_gripper_finger_left") - of("link_gripper_finger_right")).norm()
    };
    for aperture in [0.0, 0.03, 0.085] {
        assert!((gap(aperture) - aperture).abs() < 1e-9);
    }
}

/// The hand straight down: the first and the last axis of the wrist are parallel, where descent crawls.
#[test]
fn tool_down_over_the_workspace_at_any_yaw() {
    let model = stretch();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (index, yaw) in (0..24).map(|step| f64::from(step) * PI / 12.0).enumerate() {
        let goal = down(0.35 + 0.012 * index as f64, 0.01 * index as f64 - 0.1, 0.1, yaw);
        let found = model.inverse(&goal, &READY, &IkOptions::default(), &mut rng).expect("reachable");
        assert!(found.len() > 2, "the yaw of the wrist is free: {found:?}");
        for joints in &found {
            assert_eq!(model.check_joints(joints), Ok(()));
            assert_eq!(joints[6..], READY[6..], "the head stays");
            let tip = model.tip_pose(joints).expect("good");
            assert!((tip.translation.vector - goal.translation.vector).norm() < 1e-5);
            assert!(tip.rotation.angle_to(&goal.rotation) < 1e-4);
        }
        let near = model.inverse_near(&goal, &found[0], &IkOptions::default()).expect("reachable");
        assert!(near.iter().zip(&found[0]).all(|(a, b)| (a - b).abs() < 1e-6), "{near:?} {found:?}");
    }
}

#[test]
fn what_the_wrist_or_the_slides_cannot_do_is_unreachable() {
    let model = stretch();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let up = Isometry3::from_parts(Translation3::new(0.5, 0.0, 0.2), UnitQuaternion::identity());
    let far = down(1.2, 0.0, 0.1, 0.0);
    for goal in [up, far] {
        let found = model.inverse(&goal, &READY, &IkOptions::default(), &mut rng);
        assert!(matches!(found, Err(IkError::Unreachable { .. })), "{found:?}");
        assert!(model.inverse_near(&goal, &READY, &IkOptions::default()).is_err());
    }
    let short = model.inverse(&far, &READY[..6], &IkOptions::default(), &mut rng);
    assert_eq!(short, Err(IkError::Seed(JointError::Count { expected: 8, found: 6 })));
}

#[test]
fn a_straight_line_down_keeps_the_hand() {
    let world = world();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (above, below) = (down(0.5, 0.05, 0.25, 0.4), down(0.5, 0.05, 0.06, 0.4));
    let found = world.model().inverse(&above, &READY, &IkOptions::default(), &mut rng).expect("reachable");
    let start = found.iter().find(|joints| world.is_free(joints)).expect("one without contact");
    let path = world.cartesian_path(start, &[below], &Default::default()).expect("a line");
    assert_eq!((path.fraction, path.stopped), (1.0, None));
    // Only the lift moves, when the hand goes straight down.
    let end = path.points.last().expect("points");
    for joint in [0, 2, 3, 4, 5, 6, 7] {
        assert!((end[joint] - start[joint]).abs() < 1e-4, "{joint}: {start:?} {end:?}");
    }
}

/// From the hand folded over the base to the hand above the table, with the head still.
#[test]
fn a_plan_unfolds_the_arm_without_contact() {
    let world = world();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let folded = [0.0, 0.85, 0.0, 2.6, -0.2, 0.0, -FRAC_PI_2, -0.7];
    assert!(world.is_free(&folded), "{:?}", world.contacts(&folded));
    let goal = down(0.5, 0.1, 0.2, 1.0);
    let goals = world.model().inverse(&goal, &folded, &IkOptions::default(), &mut rng).expect("reachable");
    let goals: Vec<Vec<f64>> = goals.into_iter().filter(|joints| world.is_free(joints)).collect();
    let path = world.plan(&folded, &goals, &PlanOptions::default(), &mut rng).expect("a path");
    for pair in path.windows(2) {
        assert!(world.check_motion(&pair[0], &pair[1], 0.005) == Ok(None), "{pair:?}");
    }
    assert!(path.iter().all(|joints| joints[6..] == folded[6..]), "{path:?}");
}

proptest! {
    /// What the joints reach, the inverse finds again, and near the joints it finds them themselves.
    #[test]
    fn inverse_undoes_forward(
        shares in prop::array::uniform8(0.02f64..0.98),
        seed in 0u64..1000,
    ) {
        let model = stretch();
        let joints: Vec<f64> =
            model.limits().iter().zip(shares).map(|(l, share)| l.lower + (l.upper - l.lower) * share).collect();
        let goal = model.tip_pose(&joints).expect("good");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let found = model.inverse(&goal, &READY, &IkOptions::default(), &mut rng).expect("it is reached");
        for joints in &found {
            prop_assert_eq!(model.check_joints(joints), Ok(()));
            let tip = model.tip_pose(joints).expect("good");
            prop_assert!((tip.translation.vector - goal.translation.vector).norm() < 1e-5);
            prop_assert!(tip.rotation.angle_to(&goal.rotation) < 1e-4);
        }
        let near = model.inverse_near(&goal, &joints, &IkOptions::default()).expect("it is reached");
        prop_assert!(near.iter().zip(&joints).all(|(a, b)| (a - b).abs() < 1e-4), "{near:?} {joints:?}");
    }
}

/// No pose that works needs links to be in each other: ahead of the arm the wrist turns freely.
#[test]
fn the_wrist_turns_freely() {
    let world = world();
    let mut touching = std::collections::BTreeMap::new();
    for pitch in [-1.57, -1.2, -0.8, -0.4, 0.0] {
        for roll in [-2.0, -1.0, 0.0, 0.7, 1.6, 3.0] {
            for yaw in [-0.7, 0.0, 0.7, 1.5] {
                let joints = [0.0, 0.95, 0.2, yaw, pitch, roll, -FRAC_PI_2, -0.7];
                for contact in world.contacts(&joints).expect("good") {
                    touching.entry((contact.link, contact.object)).or_insert((yaw, pitch, roll));
                }
            }
        }
    }
    assert!(touching.is_empty(), "{touching:?}");
}
