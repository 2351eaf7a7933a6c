use super::{URDF, xarm6};
use crate::{JointError, ModelError, RobotGroup, RobotModel};
use approx::assert_relative_eq;
use nalgebra::{Vector3, Vector6};
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// Checks the pose of a link: origin, and the directions of its x and z in the base.
fn check(joints: [f64; 6], drive: f64, link: &str, origin: [f64; 3], x: [f64; 3], z: [f64; 3]) {
    let model = xarm6();
    let poses = model.link_poses(&joints, drive).expect("joints are good");
    let pose = poses[model.link_index(link).expect("link exists")];
    assert_relative_eq!(pose.translation.vector, Vector3::from(origin), epsilon = 1e-6);
    assert_relative_eq!(pose.rotation * Vector3::x(), Vector3::from(x), epsilon = 1e-6);
    assert_relative_eq!(pose.rotation * Vector3::z(), Vector3::from(z), epsilon = 1e-6);
}

/// Worked by hand from the joint origins. At zero: x = 53.5 + 77.5 + 76, z = 267 + 284.5 - 342.5 - 97.
#[test]
fn poses_by_hand() {
    let (down, up) = ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]);
    let (forward, left) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    check([0.0; 6], 0.0, "link_eef", [0.207, 0.0, 0.112], forward, down);
    check([0.0; 6], 0.0, "link_tcp", [0.207, 0.0, -0.060], forward, down);
    check([FRAC_PI_2, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0, "link_eef", [0.0, 0.207, 0.112], left, down);
    // Upper arm lowered forward by 90 degrees: joint 3 lies in front, the forearm points back to the base.
    check(
        [0.0, FRAC_PI_2, 0.0, 0.0, 0.0, 0.0],
        0.0,
        "link_eef",
        [0.2845 - 0.3425 - 0.097, 0.0, 0.267 - 0.207],
        down,
        [-1.0, 0.0, 0.0],
    );
    // Elbow up by 90 degrees: the forearm points forward.
    check(
        [0.0, 0.0, -FRAC_PI_2, 0.0, 0.0, 0.0],
        0.0,
        "link_eef",
        [0.0535 + 0.3425 + 0.097, 0.0, 0.267 + 0.2845 + 0.0775 + 0.076],
        up,
        forward,
    );
    // Joint 4 turns the wrist's offset to the right (its axis points down).
    check(
        [0.0, 0.0, 0.0, FRAC_PI_2, 0.0, 0.0],
        0.0,
        "link_eef",
        [0.131, -0.076, 0.112],
        [0.0, -1.0, 0.0],
        down,
    );
    check([0.0, 0.0, 0.0, 0.0, 0.0, PI], 0.0, "link_tcp", [0.207, 0.0, -0.060], [-1.0, 0.0, 0.0], down);
}

/// Fingers open along y of the tcp; at zero the tcp's y is the base's -y.
#[test]
fn fingers_follow_the_drive() {
    let (down, forward) = ([0.0, 0.0, -1.0], [1.0, 0.0, 0.0]);
    check([0.0; 6], 0.0, "left_finger", [0.207, -0.0425, -0.060], forward, down);
    check([0.0; 6], 0.85, "left_finger", [0.207, 0.0, -0.060], forward, down);
    check([0.0; 6], 0.425, "right_finger", [0.207, 0.02125, -0.060], forward, down);
}

/// The camera looks along the tool, 10 degrees back to the fingers, and sees the tcp in the lower half of its image.
#[test]
fn camera_sees_the_tcp() {
    let (s, c) = 10.0_f64.to_radians().sin_cos();
    check([0.0; 6], 0.0, "camera_color_optical_frame", [0.282, 0.0, 0.082], [0.0, -1.0, 0.0], [-s, 0.0, -c]);
    let model = xarm6();
    let poses = model.link_poses(&[0.0; 6], 0.0).expect("good joints");
    let camera = poses[model.link_index("camera_color_optical_frame").expect("exists")];
    let tcp = (camera.inverse() * poses[model.tip_index()]).translation.vector;
    let below_centre = (tcp.y / tcp.z).atan().to_degrees();
    assert!(tcp.x.abs() < 1e-9 && (10.0..21.0).contains(&below_centre), "{below_centre}");
}

#[test]
fn description_errors() {
    let group = |tip: &str| RobotGroup { tip: tip.to_owned(), ..RobotGroup::xarm6() };
    let model = |text: &str, group| RobotModel::from_urdf(text, group);
    assert!(matches!(model("<robot", RobotGroup::xarm6()), Err(ModelError::Parse { .. })));
    assert!(matches!(model("", RobotGroup::xarm6()), Err(ModelError::Parse { .. })));
    assert_eq!(model(URDF, group("nowhere")), Err(ModelError::UnknownLink { link: "nowhere".to_owned() }));
    assert!(matches!(model(URDF, group("link_base")), Err(ModelError::EmptyChain { .. })));
    assert!(matches!(model(URDF, group("left_finger")), Err(ModelError::JointKind { .. })));
    let drive = RobotGroup { drive: Some("motor".to_owned()), ..RobotGroup::xarm6() };
    assert_eq!(model(URDF, drive), Err(ModelError::UnknownJoint { joint: "motor".to_owned() }));
    let cut = URDF.replace("<parent link=\"link3\"/>", "<parent link=\"link_tcp\"/>");
    assert!(matches!(model(&cut, RobotGroup::xarm6()), Err(ModelError::Disconnected { .. })));
    let flat = URDF.replace("<axis xyz=\"0 0 1\"/>", "<axis xyz=\"0 0 0\"/>");
    assert!(matches!(model(&flat, RobotGroup::xarm6()), Err(ModelError::BadNumber { what: "axis", .. })));
    let reversed = URDF.replace("lower=\"-2.059\"", "lower=\"3.0\"");
    assert!(matches!(
        model(&reversed, RobotGroup::xarm6()),
        Err(ModelError::BadNumber { what: "limit", .. })
    ));
    let thin = URDF.replace("radius=\"0.063\"", "radius=\"-0.063\"");
    assert!(matches!(model(&thin, RobotGroup::xarm6()), Err(ModelError::BadNumber { .. })));
}

#[test]
fn joint_errors() {
    let model = xarm6();
    assert_eq!(model.tip_pose(&[0.0; 5]), Err(JointError::Count { expected: 6, found: 5 }));
    assert_eq!(model.jacobian(&[0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0]), Err(JointError::NotFinite { joint: 1 }));
    assert!(matches!(
        model.check_joints(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        Err(JointError::OutOfLimits { joint: 2, .. })
    ));
    assert_eq!(model.check_joints(&[6.2, 0.0, 0.0, -6.2, 0.0, 6.2]), Ok(()));
}

#[test]
fn hand_and_moving_links() {
    let model = xarm6();
    let of = |test: fn(&RobotModel, usize) -> bool| {
        let names = model.links().iter().enumerate().filter(|(index, _)| test(&model, *index));
        names.map(|(_, link)| link.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of(|model, link| !model.moves(link)), ["link_base"]);
    assert!(!of(RobotModel::is_on_hand).contains(&"link5"));
    for link in ["link6", "link_eef", "link_tcp", "left_finger", "right_finger", "camera_link"] {
        assert!(of(RobotModel::is_on_hand).contains(&link), "{link}");
    }
}

proptest! {
    #[test]
    fn jacobian_is_the_derivative(joints in proptest::array::uniform6(-1.5..1.5f64), joint in 0..6usize) {
        let model = xarm6();
        let jacobian = model.jacobian(&joints).expect("good joints");
        let step = 1e-6;
        let (mut low, mut high) = (joints, joints);
        low[joint] -= step;
        high[joint] += step;
        let low = model.tip_pose(&low).expect("good joints");
        let high = model.tip_pose(&high).expect("good joints");
        let linear = (high.translation.vector - low.translation.vector) / (2.0 * step);
        let angular = (high.rotation * low.rotation.inverse()).scaled_axis() / (2.0 * step);
        let expected = Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z);
        prop_assert!((jacobian.column(joint) - expected).norm() < 1e-6);
    }

    #[test]
    fn tip_pose_agrees_with_link_poses(joints in proptest::array::uniform6(-3.0..3.0f64)) {
        let model = xarm6();
        let tip = model.tip_pose(&joints).expect("good joints");
        let poses = model.link_poses(&joints, 0.3).expect("good joints");
        prop_assert!((tip.to_homogeneous() - poses[model.tip_index()].to_homogeneous()).norm() < 1e-12);
    }

    #[test]
    fn any_text_is_an_error_or_a_model(text in "\\PC{0,200}") {
        prop_assert!(RobotModel::from_urdf(&text, RobotGroup::xarm6()).is_err());
    }
}
