//! MoveIt's face without ROS: requests in, answers out.

use super::*;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_motion::{Fence, RobotGroup};
use prehend_msgs::geometry_msgs::msg::{Pose, PoseStamped};
use prehend_msgs::moveit_msgs::msg as moveit;
use prehend_msgs::shape_msgs::msg::SolidPrimitive;
use std::f64::consts::PI;

const READY: [f64; 6] = [0.0, -0.6, -0.8, 0.0, 1.4, 0.0];
type Code = MoveItErrorCodes;

pub(super) fn model() -> Arc<RobotModel> {
    let text = include_str!("../../../../urdf/xarm6.urdf");
    Arc::new(RobotModel::from_urdf(text, RobotGroup::xarm6()).expect("a good URDF"))
}

pub(super) fn ready() -> ArmState {
    ArmState { joints: READY.to_vec(), drive: 0.0 }
}

fn planner(scene: &Scene) -> Planner {
    Planner {
        scene: scene.clone(),
        arm: ready(),
        limits: MotionLimits::uniform(6, 2.0, 6.0, 60.0),
        rng: ChaCha8Rng::seed_from_u64(1),
    }
}

pub(super) fn pose(x: f64, y: f64, z: f64) -> Pose {
    let mut pose = Pose::default();
    (pose.position.x, pose.position.y, pose.position.z) = (x, y, z);
    pose
}

/// Tool down, fingers opening along y.
fn down(x: f64, y: f64, z: f64) -> Pose {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    prehend_convert::pose_to_msg(&Isometry3::from_parts(Translation3::new(x, y, z), rotation))
}

pub(super) fn block(id: &str, at: Pose, size: [f64; 3]) -> moveit::CollisionObject {
    moveit::CollisionObject {
        id: id.to_owned(),
        pose: at,
        primitives: vec![SolidPrimitive {
            type_: SolidPrimitive::BOX,
            dimensions: size.to_vec(),
            ..Default::default()
        }],
        primitive_poses: vec![Pose::default()],
        operation: moveit::CollisionObject::ADD,
        ..Default::default()
    }
}

pub(super) fn diff(objects: Vec<moveit::CollisionObject>) -> moveit::PlanningScene {
    let mut scene = moveit::PlanningScene { is_diff: true, ..Default::default() };
    scene.world.collision_objects = objects;
    scene
}

pub(super) fn held(object: moveit::CollisionObject, link: &str) -> moveit::PlanningScene {
    let mut scene = moveit::PlanningScene { is_diff: true, ..Default::default() };
    scene.robot_state.is_diff = true;
    scene.robot_state.attached_collision_objects.push(moveit::AttachedCollisionObject {
        link_name: link.to_owned(),
        object,
        touch_links: ["left_finger", "right_finger", "xarm_gripper_base_link"].map(str::to_owned).to_vec(),
        ..Default::default()
    });
    scene
}

/// A scene with a table whose top is at z = 0.
fn table() -> Scene {
    let mut scene = Scene::new(model(), 0.0);
    let table = block("table", pose(0.4, 0.0, -0.02), [0.8, 1.2, 0.04]);
    scene.apply(&diff(vec![table]), &ready()).expect("a good scene");
    scene
}

fn joint_goal(positions: &[f64]) -> moveit::Constraints {
    let one = |(index, position): (usize, &f64)| moveit::JointConstraint {
        joint_name: format!("joint{}", index + 1),
        position: *position,
        weight: 1.0,
        ..Default::default()
    };
    moveit::Constraints {
        joint_constraints: positions.iter().enumerate().map(one).collect(),
        ..Default::default()
    }
}

fn pose_goal(pose: Pose) -> moveit::Constraints {
    let mut position = moveit::PositionConstraint { link_name: "link_tcp".to_owned(), ..Default::default() };
    position.header.frame_id = "link_base".to_owned();
    position.constraint_region.primitives.push(SolidPrimitive {
        type_: SolidPrimitive::SPHERE,
        dimensions: vec![1e-3],
        ..Default::default()
    });
    let orientation = moveit::OrientationConstraint {
        link_name: "link_tcp".to_owned(),
        orientation: pose.orientation.clone(),
        ..Default::default()
    };
    position.constraint_region.primitive_poses.push(Pose { orientation: Default::default(), ..pose });
    moveit::Constraints {
        position_constraints: vec![position],
        orientation_constraints: vec![orientation],
        ..Default::default()
    }
}

fn request(goal: moveit::Constraints) -> moveit::MotionPlanRequest {
    moveit::MotionPlanRequest {
        group_name: "xarm6".to_owned(),
        goal_constraints: vec![goal],
        ..Default::default()
    }
}

fn last(planned: &Planned) -> Vec<f64> {
    planned.trajectory.joint_trajectory.points.last().expect("points").positions.clone()
}

#[test]
fn plans_to_joints_and_to_poses() {
    let scene = table();
    let goal = [0.4, -0.5, -0.9, 0.1, 1.3, 0.2];
    let planned = planner(&scene).plan(&request(joint_goal(&goal))).expect("a plan");
    assert!(last(&planned).iter().zip(goal).all(|(a, b)| (a - b).abs() < 1e-6));
    assert_eq!(planned.start.joint_state.position[..6], READY);
    assert_eq!(planned.trajectory.joint_trajectory.joint_names[0], "joint1");

    let planned = planner(&scene).plan(&request(pose_goal(down(0.4, 0.2, 0.1)))).expect("a plan");
    let tip = model().tip_pose(&last(&planned)).expect("good");
    assert!((tip.translation.vector - Vector3::new(0.4, 0.2, 0.1)).norm() < 1e-4);

    // A goal for the flange is 0.172 m above the tool's.
    let mut flange = pose_goal(down(0.4, 0.2, 0.272));
    flange.position_constraints[0].link_name = "link_eef".to_owned();
    flange.orientation_constraints[0].link_name = "link_eef".to_owned();
    let planned = planner(&scene).plan(&request(flange)).expect("a plan");
    let tip = model().tip_pose(&last(&planned)).expect("good");
    assert!((tip.translation.z - 0.1).abs() < 1e-4);
}

#[test]
fn a_free_turn_is_used() {
    let scene = table();
    let mut goal = pose_goal(down(0.4, 0.2, 0.1));
    let blocked = block("post", pose(0.4, 0.2 + 0.0475, 0.1), [0.02, 0.02, 0.06]);
    let mut scene_with_post = scene.clone();
    scene_with_post.apply(&diff(vec![blocked]), &ready()).expect("good");
    let fixed = planner(&scene_with_post).plan(&request(goal.clone())).expect_err("blocked");
    assert_eq!(fixed.code(), Code::GOAL_IN_COLLISION, "{fixed}");
    goal.orientation_constraints[0].absolute_z_axis_tolerance = 2.0 * PI;
    assert!(planner(&scene_with_post).plan(&request(goal)).is_ok());
}

/// One good request, one thing broken, the code that must come.
#[test]
fn codes_of_bad_requests() {
    let scene = table();
    let good = || request(joint_goal(&[0.4, -0.5, -0.9, 0.1, 1.3, 0.2]));
    let check = |change: &dyn Fn(&mut moveit::MotionPlanRequest), expected: i32| {
        let mut request = good();
        change(&mut request);
        let error = planner(&scene).plan(&request).expect_err("must fail");
        assert_eq!(error.code(), expected, "{error}");
        assert_eq!((error.to_msg().val, error.to_msg().message), (expected, error.to_string()));
    };
    assert!(planner(&scene).plan(&good()).is_ok());
    check(&|r| r.group_name = "left_arm".to_owned(), Code::INVALID_GROUP_NAME);
    check(&|r| r.goal_constraints.clear(), Code::INVALID_GOAL_CONSTRAINTS);
    check(&|r| r.goal_constraints = vec![Default::default()], Code::INVALID_GOAL_CONSTRAINTS);
    check(
        &|r| r.goal_constraints[0].joint_constraints[2].position = f64::NAN,
        Code::INVALID_GOAL_CONSTRAINTS,
    );
    let rename = |r: &mut moveit::MotionPlanRequest| {
        r.goal_constraints[0].joint_constraints[2].joint_name = "joint_9".to_owned();
    };
    check(&rename, Code::INVALID_GOAL_CONSTRAINTS);
    check(&|r| r.goal_constraints[0].joint_constraints[2].position = 3.0, Code::GOAL_STATE_INVALID);
    check(
        &|r| r.goal_constraints = vec![pose_goal(down(f64::NAN, 0.0, 0.1))],
        Code::INVALID_GOAL_CONSTRAINTS,
    );
    check(&|r| r.goal_constraints = vec![pose_goal(down(1.4, 0.0, 0.1))], Code::NO_IK_SOLUTION);
    check(&|r| r.goal_constraints = vec![pose_goal(down(0.4, 0.0, -0.02))], Code::GOAL_IN_COLLISION);
    let zero_quaternion = |r: &mut moveit::MotionPlanRequest| {
        let mut goal = pose_goal(down(0.4, 0.0, 0.1));
        goal.orientation_constraints[0].orientation.x = 0.0;
        goal.orientation_constraints[0].orientation.w = 0.0;
        r.goal_constraints = vec![goal];
    };
    check(&zero_quaternion, Code::INVALID_GOAL_CONSTRAINTS);
    let frame = |r: &mut moveit::MotionPlanRequest| {
        let mut goal = pose_goal(down(0.4, 0.0, 0.1));
        goal.position_constraints[0].header.frame_id = "kitchen".to_owned();
        r.goal_constraints = vec![goal];
    };
    check(&frame, Code::FRAME_TRANSFORM_FAILURE);
    let link = |r: &mut moveit::MotionPlanRequest| {
        let mut goal = pose_goal(down(0.4, 0.0, 0.1));
        goal.position_constraints[0].link_name = "link2".to_owned();
        goal.orientation_constraints[0].link_name = "link2".to_owned();
        r.goal_constraints = vec![goal];
    };
    check(&link, Code::INVALID_LINK_NAME);
    let start = |names: &[&str], positions: &[f64]| {
        let mut state = moveit::RobotState::default();
        state.joint_state.name = names.iter().map(|name| (*name).to_owned()).collect();
        state.joint_state.position = positions.to_vec();
        state
    };
    check(&|r| r.start_state = start(&["joint1"], &[]), Code::INVALID_ROBOT_STATE);
    check(&|r| r.start_state = start(&["elbow"], &[0.0]), Code::INVALID_ROBOT_STATE);
    check(&|r| r.start_state = start(&["joint1"], &[f64::NAN]), Code::INVALID_ROBOT_STATE);
    check(&|r| r.start_state = start(&["joint2"], &[3.0]), Code::START_STATE_INVALID);
    check(&|r| r.start_state = start(&["joint2"], &[1.2]), Code::START_STATE_IN_COLLISION);
    check(&|r| r.path_constraints = joint_goal(&[0.0]), Code::PLANNING_FAILED);
}

/// A box of path constraints around these.
fn confined(low: [f64; 3], high: [f64; 3]) -> moveit::Constraints {
    super::fence_msg(&Fence::new(low, high), "link_base", "link_tcp")
}

/// What MoveIt's path constraints say about the tip is kept by plans, lines and inverse kinematics.
#[test]
fn path_constraints_confine_the_tip() {
    let scene = table();
    let (low, high) = ([0.2, -0.3, 0.0], [0.45, 0.3, 0.4]);
    // Straight across in the joints the tool would swing out to 0.5 m.
    let (left, right) = (down(0.4, -0.28, 0.1), down(0.4, 0.28, 0.1));
    let reached = |pose: Pose| {
        let planned = planner(&scene).plan(&request(pose_goal(pose))).expect("a plan");
        last(&planned)
    };
    let across = |constraints: moveit::Constraints| {
        let mut planner = planner(&scene);
        planner.arm.joints = reached(left.clone());
        let goal = joint_goal(&reached(right.clone()));
        planner.plan(&moveit::MotionPlanRequest { path_constraints: constraints, ..request(goal) })
    };
    let farthest = |planned: &Planned| {
        let points = planned.trajectory.joint_trajectory.points.iter();
        let tips = points.map(|p| model().tip_pose(&p.positions).expect("good").translation.x);
        tips.fold(0.0, f64::max)
    };
    let free = farthest(&across(moveit::Constraints::default()).expect("a plan"));
    assert!(free > high[0] + 0.02, "{free}");
    let kept = farthest(&across(confined(low, high)).expect("a plan"));
    assert!(kept < high[0] + 0.006, "{kept}");
    // Two boxes: the tool stays in both.
    let mut both = confined(low, [0.9; 3]);
    both.position_constraints.extend(confined([-0.9, -0.9, -0.1], high).position_constraints);
    assert!(farthest(&across(both).expect("a plan")) < high[0] + 0.006);
    let start_outside = across(confined([0.2, -0.2, 0.0], high)).expect_err("outside");
    assert_eq!(start_outside.code(), Code::START_STATE_VIOLATES_PATH_CONSTRAINTS, "{start_outside}");
    let goal_outside = across(confined(low, [0.45, 0.2, 0.4])).expect_err("outside");
    assert_eq!(goal_outside.code(), Code::GOAL_VIOLATES_PATH_CONSTRAINTS, "{goal_outside}");

    let start = model().tip_pose(&READY).expect("good").translation.vector;
    let to = |waypoint: Pose, path_constraints: moveit::Constraints| {
        let asked = GetCartesianPath::Request {
            group_name: "xarm6".to_owned(),
            waypoints: vec![waypoint],
            avoid_collisions: true,
            path_constraints,
            ..Default::default()
        };
        planner(&scene).line(&asked).expect("a line")
    };
    let beside = Pose { position: pose(start.x, 0.2, start.z).position, ..down(0.0, 0.0, 0.0) };
    let around = |y: f64| confined([0.0, -0.5, 0.0], [0.9, y, 0.9]);
    assert!((to(beside.clone(), around(0.3)).fraction - 1.0).abs() < 1e-9);
    let cut = to(beside, around(0.1));
    assert!((0.4..0.51).contains(&cut.fraction), "{}", cut.fraction);
    assert!(cut.error_code.message.contains("path constraints"), "{}", cut.error_code.message);

    let mut asked = GetPositionIK::Request::default();
    asked.ik_request.group_name = "xarm6".to_owned();
    asked.ik_request.pose_stamped = PoseStamped { pose: down(0.4, 0.2, 0.1), ..Default::default() };
    asked.ik_request.constraints = confined(low, high);
    assert!(planner(&scene).inverse(&asked).is_ok());
    asked.ik_request.constraints = confined(low, [0.45, 0.1, 0.4]);
    assert_eq!(planner(&scene).inverse(&asked).expect_err("outside").code(), Code::NO_IK_SOLUTION);
}

/// What is not understood of path constraints is refused, never ignored.
#[test]
fn other_path_constraints_are_refused() {
    let scene = table();
    let check = |change: &dyn Fn(&mut moveit::PositionConstraint), expected: i32| {
        let mut constraints = confined([-1.0; 3], [1.0; 3]);
        change(&mut constraints.position_constraints[0]);
        let goal = request(joint_goal(&[0.4, -0.5, -0.9, 0.1, 1.3, 0.2]));
        let asked = moveit::MotionPlanRequest { path_constraints: constraints, ..goal };
        match planner(&scene).plan(&asked) {
            Ok(_) => assert_eq!(expected, Code::SUCCESS),
            Err(error) => assert_eq!(error.code(), expected, "{error}"),
        }
    };
    check(&|_| {}, Code::SUCCESS);
    check(&|p| p.link_name.clear(), Code::SUCCESS);
    check(&|p| p.link_name = "link3".to_owned(), Code::PLANNING_FAILED);
    check(&|p| p.target_point_offset.z = 0.1, Code::PLANNING_FAILED);
    check(&|p| p.target_point_offset.z = f64::NAN, Code::PLANNING_FAILED);
    check(&|p| p.constraint_region.primitives[0].type_ = SolidPrimitive::SPHERE, Code::PLANNING_FAILED);
    check(&|p| p.constraint_region.primitives.clear(), Code::PLANNING_FAILED);
    check(&|p| p.constraint_region.meshes.push(Default::default()), Code::PLANNING_FAILED);
    let turned = |p: &mut moveit::PositionConstraint| {
        let orientation = &mut p.constraint_region.primitive_poses[0].orientation;
        (orientation.z, orientation.w) = (1.0, 0.0);
    };
    check(&turned, Code::PLANNING_FAILED);
    check(&|p| p.constraint_region.primitive_poses[0].position.x = f64::NAN, Code::INVALID_GOAL_CONSTRAINTS);
    check(&|p| p.header.frame_id = "kitchen".to_owned(), Code::FRAME_TRANSFORM_FAILURE);
    // A box that holds nothing.
    check(
        &|p| p.constraint_region.primitives[0].dimensions[0] = -1.0,
        Code::START_STATE_VIOLATES_PATH_CONSTRAINTS,
    );
}

#[test]
fn objects_are_added_moved_and_removed() {
    let mut scene = table();
    let goal = request(pose_goal(down(0.4, 0.2, 0.1)));
    let mug = block("mug", pose(0.4, 0.2, 0.1), [0.05, 0.2, 0.05]);
    let apply =
        |scene: &mut Scene, object: moveit::CollisionObject| scene.apply(&diff(vec![object]), &ready());
    apply(&mut scene, mug.clone()).expect("good");
    assert_eq!(planner(&scene).plan(&goal).expect_err("blocked").code(), Code::GOAL_IN_COLLISION);
    let moved = moveit::CollisionObject {
        operation: moveit::CollisionObject::MOVE,
        pose: pose(0.4, -0.3, 0.1),
        primitives: vec![],
        primitive_poses: vec![],
        ..mug.clone()
    };
    apply(&mut scene, moved).expect("good");
    assert!(planner(&scene).plan(&goal).is_ok());
    let appended = moveit::CollisionObject { operation: moveit::CollisionObject::APPEND, ..mug.clone() };
    apply(&mut scene, appended).expect("good");
    assert_eq!(scene.world.object("mug").map(<[_]>::len), Some(2));
    let removed = moveit::CollisionObject { operation: moveit::CollisionObject::REMOVE, ..mug.clone() };
    assert!(planner(&scene).plan(&goal).is_err());
    apply(&mut scene, removed.clone()).expect("good");
    assert!(planner(&scene).plan(&goal).is_ok());
    apply(&mut scene, removed).expect("nothing to remove is no error");
    let unknown = moveit::CollisionObject { operation: moveit::CollisionObject::MOVE, ..mug };
    assert_eq!(apply(&mut scene, unknown).expect_err("gone").code(), Code::INVALID_OBJECT_NAME);
    let all = moveit::CollisionObject { operation: moveit::CollisionObject::REMOVE, ..Default::default() };
    apply(&mut scene, all).expect("good");
    assert_eq!(scene.world.object_names().count(), 0);
}

#[test]
fn bad_objects_are_refused() {
    let good = block("mug", pose(0.4, 0.2, 0.1), [0.05, 0.2, 0.05]);
    let check = |change: &dyn Fn(&mut moveit::CollisionObject)| {
        let mut object = good.clone();
        change(&mut object);
        assert!(table().apply(&diff(vec![object.clone()]), &ready()).is_err(), "{object:?}");
    };
    check(&|o| o.id.clear());
    check(&|o| o.operation = 9);
    check(&|o| o.primitives[0].dimensions[1] = -0.1);
    check(&|o| o.primitives[0].dimensions.truncate(2));
    check(&|o| o.primitives[0].type_ = 77);
    check(&|o| o.primitives.clear());
    check(&|o| o.primitive_poses.extend([Pose::default(), Pose::default()]));
    check(&|o| o.pose.position.x = f64::INFINITY);
    check(&|o| o.primitive_poses[0].orientation.w = f64::NAN);
    check(&|o| o.header.frame_id = "kitchen".to_owned());
}

#[test]
fn held_objects_move_with_the_hand() {
    let mut scene = table();
    // Given in the tool's frame: a stick that reaches 12 cm beyond the tips.
    let stick = block("stick", pose(0.0, 0.0, 0.06), [0.02, 0.02, 0.12]);
    let goal = request(pose_goal(down(0.4, 0.2, 0.08)));
    assert!(planner(&scene).plan(&goal).is_ok());
    scene.apply(&held(stick.clone(), "link_tcp"), &ready()).expect("good");
    let error = planner(&scene).plan(&goal).expect_err("the stick is in the table");
    assert!(error.code() == Code::GOAL_IN_COLLISION && error.to_string().contains("stick"), "{error}");
    // Allowed to touch the table (a new matrix replaces the old one).
    let mut touch = diff(vec![]);
    touch.allowed_collision_matrix = moveit::AllowedCollisionMatrix {
        entry_names: vec!["stick".to_owned(), "table".to_owned()],
        entry_values: vec![
            moveit::AllowedCollisionEntry { enabled: vec![false, true] },
            moveit::AllowedCollisionEntry { enabled: vec![true, false] },
        ],
        ..Default::default()
    };
    let mut allowed = scene.clone();
    allowed.apply(&touch, &ready()).expect("good");
    assert!(planner(&allowed).plan(&goal).is_ok());
    // Let go: it stays where the hand was.
    let gone = moveit::CollisionObject { operation: moveit::CollisionObject::REMOVE, ..stick };
    scene.apply(&held(gone, "link_tcp"), &ready()).expect("good");
    let tip = model().tip_pose(&READY).expect("good");
    let lies = scene.world.object("stick").expect("in the scene")[0].frame_from_shape.translation.vector;
    let expected = (tip * nalgebra::Point3::new(0.0, 0.0, 0.06)).coords;
    assert!((lies - expected).norm() < 1e-9);
    assert_eq!(scene.world.attached_names().count(), 0);
}

/// The arm gets from its home pose to every survey pose of the robot file and back over an empty table.
#[test]
fn survey_poses_are_within_reach() {
    let file = std::path::Path::new("config/robots/xarm6.yaml");
    let robot = RobotConfig::load(file).unwrap_or_else(|findings| panic!("{findings}"));
    let scene = table();
    for (name, look) in &robot.looks {
        for (from, to) in [(&robot.home, look), (look, &robot.home)] {
            let mut planner = planner(&scene);
            planner.arm.joints.clone_from(from);
            let planned = planner.plan(&request(joint_goal(to)));
            assert!(planned.is_ok(), "{name}: {}", planned.expect_err("no plan"));
        }
    }
}

/// In one diff: what was held goes, something else comes into the hand, and the leftover leaves the scene.
#[test]
fn the_held_object_is_exchanged_in_one_diff() {
    let mut scene = table();
    let first = block("held", pose(0.0, 0.0, 0.06), [0.02, 0.02, 0.12]);
    scene.apply(&held(first.clone(), "link_tcp"), &ready()).expect("good");
    let remove = moveit::CollisionObject { operation: moveit::CollisionObject::REMOVE, ..first.clone() };
    let mut change = held(remove.clone(), "link_tcp");
    change.world.collision_objects.push(remove);
    let second = block("held", pose(0.0, 0.0, 0.02), [0.03, 0.03, 0.04]);
    let mut taken = held(second, "link_tcp").robot_state.attached_collision_objects;
    change.robot_state.attached_collision_objects.append(&mut taken);
    scene.apply(&change, &ready()).expect("good");
    let (_, shapes) = scene.world.attached("held").expect("held");
    assert!((shapes[0].frame_from_shape.translation.z - 0.02).abs() < 1e-9);
    assert!(scene.world.object("held").is_none());
}

/// An object of the scene is taken by name and leaves the scene; a whole scene replaces everything.
#[test]
fn taking_from_the_scene_and_replacing_it() {
    let mut scene = table();
    let tip = model().tip_pose(&READY).expect("good").translation.vector;
    let mug = block("mug", pose(tip.x, tip.y, tip.z), [0.04, 0.04, 0.04]);
    scene.apply(&diff(vec![mug]), &ready()).expect("good");
    let named = moveit::CollisionObject { id: "mug".to_owned(), ..Default::default() };
    scene.apply(&held(named.clone(), "link_tcp"), &ready()).expect("good");
    let (link, shapes) = scene.world.attached("mug").expect("held");
    assert!(link == "link_tcp" && shapes[0].frame_from_shape.translation.vector.norm() < 1e-9);
    assert!(scene.world.object("mug").is_none());
    let unknown =
        scene.apply(&held(moveit::CollisionObject { id: "cup".to_owned(), ..named }, "link_tcp"), &ready());
    assert_eq!(unknown.expect_err("unknown").code(), Code::INVALID_OBJECT_NAME);
    let nowhere = held(block("pin", pose(0.0, 0.0, 0.0), [0.01; 3]), "link_nine");
    assert_eq!(scene.apply(&nowhere, &ready()).expect_err("unknown").code(), Code::INVALID_LINK_NAME);
    let whole = moveit::PlanningScene { is_diff: false, ..diff(vec![]) };
    scene.apply(&whole, &ready()).expect("good");
    assert_eq!(scene.world.object_names().count() + scene.world.attached_names().count(), 0);
}

#[test]
fn matrices_must_be_square() {
    let mut ragged = diff(vec![]);
    ragged.allowed_collision_matrix.entry_names = vec!["a".to_owned(), "b".to_owned()];
    assert!(table().apply(&ragged, &ready()).is_err());
}

#[test]
fn inverse_kinematics() {
    let scene = table();
    let ask = |pose: Pose, avoid: bool| {
        let mut request = GetPositionIK::Request::default();
        request.ik_request.group_name = "xarm6".to_owned();
        request.ik_request.avoid_collisions = avoid;
        request.ik_request.pose_stamped = PoseStamped { pose, ..Default::default() };
        planner(&scene).inverse(&request)
    };
    let state = ask(down(0.4, 0.1, 0.1), true).expect("reachable").joint_state;
    let tip = model().tip_pose(&state.position[..6]).expect("good");
    assert!((tip.translation.vector - Vector3::new(0.4, 0.1, 0.1)).norm() < 1e-4);
    assert_eq!(state.name[..2], ["joint1", "joint2"]);
    assert_eq!(ask(down(0.4, 0.1, -0.02), true).expect_err("in the table").code(), Code::NO_IK_SOLUTION);
    assert!(ask(down(0.4, 0.1, -0.02), false).is_ok());
    assert_eq!(ask(down(1.4, 0.1, 0.1), true).expect_err("too far").code(), Code::NO_IK_SOLUTION);
    assert_eq!(ask(pose(f64::NAN, 0.0, 0.0), true).expect_err("NaN").code(), Code::INVALID_GOAL_CONSTRAINTS);
}

#[test]
fn lines() {
    let scene = table();
    let ask = |waypoints: Vec<Pose>, speed: f64| {
        planner(&scene).line(&GetCartesianPath::Request {
            group_name: "xarm6".to_owned(),
            waypoints,
            avoid_collisions: true,
            max_cartesian_speed: speed,
            ..Default::default()
        })
    };
    let start = model().tip_pose(&READY).expect("good");
    let below = |by: f64| {
        let mut pose = prehend_convert::pose_to_msg(&start);
        pose.position.z -= by;
        pose
    };
    let good = ask(vec![below(0.05)], 0.0).expect("a line");
    assert_eq!((good.fraction, good.error_code.val), (1.0, Code::SUCCESS));
    let seconds = |response: &GetCartesianPath::Response| {
        let last = response.solution.joint_trajectory.points.last().expect("points").time_from_start.clone();
        f64::from(last.sec) + f64::from(last.nanosec) * 1e-9
    };
    // 5 cm at no more than 5 cm/s take more than a second.
    let slow = ask(vec![below(0.05)], 0.05).expect("a line");
    assert!(seconds(&slow) > 1.0 && seconds(&good) < seconds(&slow), "{} {}", seconds(&slow), seconds(&good));
    let through = ask(vec![below(start.translation.z + 0.1)], 0.0).expect("a part of a line");
    assert!(through.fraction > 0.3 && through.fraction < 1.0, "{}", through.fraction);
    assert!(through.error_code.message.contains("table"), "{}", through.error_code.message);
    assert_eq!(ask(vec![], 0.0).expect_err("none").code(), Code::INVALID_GOAL_CONSTRAINTS);
    assert_eq!(ask(vec![below(f64::NAN)], 0.0).expect_err("NaN").code(), Code::INVALID_GOAL_CONSTRAINTS);
}

/// An arm whose joint states come in the robot file's order is planned for in that order.
#[test]
fn the_joints_of_every_robot_file_are_in_the_order_of_its_description() {
    for entry in
        std::fs::read_dir(prehend_config::share::share_dir().join("config/robots")).expect("the folder")
    {
        let path = entry.expect("an entry").path();
        let robot = RobotConfig::load(&path).unwrap_or_else(|findings| panic!("{findings}"));
        let text = std::fs::read_to_string(&robot.urdf).expect("the URDF");
        let model = RobotModel::from_urdf(&text, robot.group()).expect("a good URDF");
        assert_eq!(model.joint_names(), robot.arm.joints, "{}", path.display());
    }
}
