use super::*;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, Mask, OrientedBox, PointCloud};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::{
    geometry_msgs::msg as geometry, prehend_interfaces::msg as ours, sensor_msgs::msg as sensor,
};
use prehend_scene::{Object, ObjectKey, PartEffect, PartMotion, Relation, Skill, SkillPlan, Slide};

fn plan() -> SkillPlan {
    SkillPlan {
        skill: Skill::Place,
        object: ObjectKey::from("red_mug_0"),
        targets: vec![ObjectKey::from("bowl_0")],
        relation: Some(Relation::In),
        part: "rim".to_owned(),
        motion: None,
        held_object: Some(ObjectKey::from("red_mug_0")),
        pose_goals: vec![Isometry3::from_parts(
            Translation3::new(0.4, -0.1, 0.123_456_789),
            UnitQuaternion::from_euler_angles(3.0, 0.2, -1.0),
        )],
        gripper_opening: 0.061,
        map_version: 9,
    }
}

#[test]
fn a_plan_hashes_the_same_after_the_wire() {
    let motion = PartMotion {
        effect: PartEffect::Open,
        anchor: Point3::new(0.61, -0.2, 0.3),
        direction: nalgebra::Vector3::new(-0.6, 0.8, 0.0),
        extent: 0.15,
        least: 0.1,
        corridor: 0.07,
    };
    let pull = SkillPlan { skill: Skill::HookPull, motion: Some(motion), ..plan() };
    for plan in [plan(), pull.clone()] {
        let (back, claimed) = plan_from_msg(&plan_to_msg(&plan, "link_base")).expect("valid");
        assert_eq!(back, plan);
        assert_eq!(back.hash(), claimed);
    }
    let farther = SkillPlan { motion: Some(PartMotion { extent: 0.16, ..motion }), ..pull.clone() };
    assert_ne!(farther.hash(), pull.hash());
    let mut other = plan();
    other.pose_goals[0].translation.x += 1e-12;
    assert_ne!(other.hash(), plan().hash());
}

#[test]
fn clouds_images_masks_survive_the_wire() {
    let cloud = PointCloud {
        points: vec![Point3::new(0.5, -0.25, 0.125), Point3::new(1.0, 2.0, 3.0)],
        colors: vec![[1, 2, 3], [250, 128, 0]],
    };
    assert_eq!(cloud_from_msg(&cloud_to_msg(&cloud, "f", 1.5)).expect("valid"), cloud);
    let image = ColorImage { width: 2, height: 1, pixels: vec![[9, 8, 7], [1, 2, 3]] };
    assert_eq!(color_image_from_msg(&color_image_to_msg(&image, "f", 0.0)).expect("valid"), image);
    let depth = DepthImage { width: 2, height: 2, millimetres: vec![0, 1, 500, 65535] };
    assert_eq!(depth_image_from_msg(&depth_image_to_msg(&depth, "f", 0.0)).expect("valid"), depth);
    let mask = Mask::from_indices(10, 10, &[11, 12, 21, 33]);
    assert_eq!(mask_from_msg(&mask_to_msg(&mask)).expect("valid"), mask);
    let filled = Mask::filled_box(10, 10, 2, 3, 4, 5);
    assert_eq!(mask_from_msg(&mask_to_msg(&filled)).expect("valid"), filled);
    let camera = Intrinsics { fx: 615.0, fy: 614.0, cx: 320.0, cy: 240.0, width: 640, height: 480 };
    assert_eq!(intrinsics_from_msg(&intrinsics_to_msg(&camera, "f", 0.0)).expect("valid"), camera);
}

#[test]
fn how_a_drawer_slides_survives_the_wire() {
    let cloud = PointCloud::from_points(vec![Point3::origin(), Point3::new(0.1, 0.2, 0.3)]);
    let bounds = OrientedBox::upright_around(&cloud.points).unwrap();
    let mut object = Object::unnamed(ObjectKey("drawer_0".into()), cloud, bounds);
    let wire = |object: &Object| object_from_msg(&object_to_msg(object, "map")).unwrap().slide;
    assert_eq!(wire(&object), None);
    object.slide = Some(Slide { way: -Vector3::x(), closed: -0.6 });
    assert_eq!(wire(&object), object.slide);
    let mut msg = object_to_msg(&object, "map");
    msg.closed = f64::NAN;
    assert!(matches!(object_from_msg(&msg), Err(ConvertError::NotFinite { .. })));
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    let nan_pose = geometry::Pose {
        position: geometry::Point { x: f64::NAN, ..Default::default() },
        ..Default::default()
    };
    assert!(matches!(pose_from_msg(&nan_pose), Err(ConvertError::NotFinite { .. })));
    let zero = geometry::Pose {
        orientation: geometry::Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 0.0 },
        ..Default::default()
    };
    assert!(matches!(pose_from_msg(&zero), Err(ConvertError::NotUnit { .. })));

    let mut cloud = cloud_to_msg(&PointCloud::from_points(vec![Point3::origin()]), "f", 0.0);
    cloud.width = 5;
    assert!(matches!(cloud_from_msg(&cloud), Err(ConvertError::Length { .. })));
    cloud.fields.clear();
    assert!(matches!(cloud_from_msg(&cloud), Err(ConvertError::Unsupported { .. })));

    let mut image = color_image_to_msg(&ColorImage::filled(4, 4, [0; 3]), "f", 0.0);
    image.data.pop();
    assert!(matches!(color_image_from_msg(&image), Err(ConvertError::Length { .. })));
    image.encoding = "yuv422".to_owned();
    assert!(matches!(color_image_from_msg(&image), Err(ConvertError::Unsupported { .. })));

    let outside =
        ours::Mask { image_width: 4, image_height: 4, x: 3, width: 2, height: 1, ..Default::default() };
    assert!(mask_from_msg(&outside).is_err());
    let huge = ours::Mask {
        image_width: u32::MAX,
        image_height: u32::MAX,
        width: u32::MAX,
        height: u32::MAX,
        ..Default::default()
    };
    assert!(mask_from_msg(&huge).is_err());
    assert!(intrinsics_from_msg(&sensor::CameraInfo::default()).is_err());
    assert!(plan_from_msg(&ours::SkillPlan::default()).is_err());
    assert_eq!(stamp(f64::NAN), Time::default());
}

#[test]
fn metres_as_floats_are_depth_too() {
    let values = [0.5_f32, f32::NAN, -1.0, 70.0];
    let msg = sensor::Image {
        width: 4,
        height: 1,
        step: 16,
        encoding: "32FC1".to_owned(),
        data: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ..Default::default()
    };
    assert_eq!(depth_image_from_msg(&msg).expect("valid").millimetres, vec![500, 0, 0, 0]);
}

#[test]
fn areas_are_four_finite_numbers_in_order_or_none() {
    assert_eq!(area(&[]).map_err(|error| error.to_string()), Ok(None));
    let found = area(&[0.2, -0.1, 0.3, 0.1]).expect("an area").expect("not none");
    assert_eq!(found.corners(), [0.2, -0.1, 0.3, 0.1]);
    for bad in
        [&[0.2][..], &[0.2, 0.0, 0.1, 0.1], &[0.2, f64::NAN, 0.3, 0.1], &[0.2, 0.0, f64::INFINITY, 0.1]]
    {
        assert!(area(bad).is_err(), "{bad:?}");
    }
}
