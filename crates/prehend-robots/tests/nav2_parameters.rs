//! `config/nav2/ROBOT.yaml` says what `config/robots/ROBOT.yaml` says.

use prehend_robots::RobotConfig;
use std::path::Path;

/// Every value of a key, wherever it stands.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let of = |line: &'a str| line.trim().strip_prefix(key)?.strip_prefix(": ");
    let found: Vec<&str> = text.lines().filter_map(of).map(|value| value.trim_matches('"')).collect();
    assert!(!found.is_empty(), "no `{key}`");
    found
}

#[test]
fn navs_parameters_are_those_of_the_robot_file() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
    for robot in ["ranger_xarm6", "stretch"] {
        let names = RobotConfig::load(&config.join("robots").join(format!("{robot}.yaml"))).expect("a robot");
        let names = names.navigation.expect("it drives");
        let file = config.join("nav2").join(format!("{robot}.yaml"));
        let text = std::fs::read_to_string(&file).expect("Nav2's parameters");

        let frames = [
            ("robot_base_frame", &names.base),
            ("base_frame_id", &names.base),
            ("odom_frame_id", &names.odom),
            ("local_frame", &names.odom),
            ("global_frame_id", &names.frame),
            ("scan_topic", &names.scan),
            ("topic", &names.scan),
            ("map_topic", &names.map),
            ("odom_topic", &names.odometry),
        ];
        for (key, expected) in frames {
            assert!(values(&text, key).iter().all(|value| value == expected), "{robot}: {key}");
        }
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for footprint in values(&text, "footprint") {
            let corners: Vec<[f64; 2]> = serde_json::from_str(footprint).expect("corners");
            let known = names.footprint.corners();
            assert_eq!(corners.len(), known.len(), "{robot}");
            let is_known = |[x, y]: &[f64; 2]| known.iter().any(|k| near(k[0], *x) && near(k[1], *y));
            assert!(corners.iter().all(is_known), "{robot}: {footprint}");
        }
        let number = |key: &str| values(&text, key)[0].parse::<f64>().expect("a number");
        assert!(near(number("desired_linear_vel"), names.max_speed), "{robot}");
        let [linear, _, angular]: [f64; 3] =
            serde_json::from_str(values(&text, "max_velocity")[0]).expect("three speeds");
        assert!(near(linear, names.max_speed) && near(angular, names.max_turn), "{robot}");
        // Nav2 stops by where it believes to be; who asks looks a moment later.
        assert!(number("xy_goal_tolerance") < names.goal_tolerance_xy, "{robot}");
        assert!(number("yaw_goal_tolerance") < names.goal_tolerance_yaw, "{robot}");
    }
}
