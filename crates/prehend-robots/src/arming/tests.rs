//! What is called to arm an xArm, in its units and order; what in its reports stands against moving; the same of Stretch.

use super::config::boundary;
use super::xarm::{Step, steps, unmet};
use super::{ArmingConfig, ArmingFault, XArmConfig, stretch};
use crate::RobotConfig;
use prehend_motion::RobotModel;
use prehend_msgs::xarm_msgs::msg::RobotMsg;
use std::path::Path;

fn robot(name: &str) -> RobotConfig {
    RobotConfig::load(Path::new(name)).unwrap_or_else(|findings| panic!("{findings}"))
}

fn xarm(robot: &RobotConfig) -> XArmConfig {
    match &robot.arming {
        Some(ArmingConfig::XArm(config)) => config.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_fence_is_the_workspace_in_millimetres_greatest_first() {
    let robot = robot("xarm6");
    assert_eq!(boundary(&robot.limits, 0.05), Ok([830, 30, 600, -600, 850, -100]));
    // Rounded outwards.
    assert_eq!(boundary(&robot.limits, 0.0504).map(|fence| [fence[0], fence[1]]), Ok([831, 29]));
    let mut limits = robot.limits;
    limits.workspace_high[2] = 40.0;
    assert!(boundary(&limits, 0.0).is_err_and(|fault| fault.contains("32767 mm")));
}

#[test]
fn an_xarm_is_armed_in_its_order_and_units() {
    let robot = robot("xarm6");
    let config = xarm(&robot);
    let fence = boundary(&robot.limits, config.fence_margin).expect("fits");
    let found = steps(&config, fence, false);
    assert_eq!(
        found,
        [
            Step::Enable,
            Step::Float32s("set_tcp_offset", [0.0, 0.0, 172.0, 0.0, 0.0, 0.0]),
            Step::Load { kilograms: 0.82, millimetres: [0.0, 0.0, 48.0] },
            Step::Float32("set_reduced_max_tcp_speed", 1000.0),
            Step::Float32("set_reduced_max_joint_speed", 1.3),
            Step::Int16s("set_reduced_tcp_boundary", [830, 30, 600, -600, 850, -100]),
            Step::Int16("set_fence_mode", 1),
            Step::Int16("set_reduced_mode", 1),
            Step::Int16("set_collision_sensitivity", 3),
            Step::Int16("set_mode", 1),
            Step::Int16("set_state", 0),
        ]
    );
    // An error is cleared only when a person asked, and the robot file permits it.
    let cleared = steps(&config, fence, true);
    assert_eq!(cleared[..2], [Step::Clean("clean_error"), Step::Clean("clean_warn")]);
    assert_eq!(cleared[2..], found);
    let never = XArmConfig { clear_errors: false, ..config };
    assert_eq!(steps(&never, fence, true), found);
}

#[test]
fn an_xarm_moves_only_when_it_reports_what_was_set() {
    let config = xarm(&robot("xarm6"));
    let good = RobotMsg {
        state: 2,
        mode: 1,
        mt_able: 0b111_1111,
        offset: vec![0.0, 0.0, 172.0, 0.0, 0.0, 0.0],
        ..Default::default()
    };
    assert_eq!(unmet(&config, 6, &good), None);
    assert_eq!(unmet(&config, 6, &RobotMsg { state: 1, ..good.clone() }), None, "it moves");
    let broken = |change: fn(&mut RobotMsg)| {
        let mut report = good.clone();
        change(&mut report);
        unmet(&config, 6, &report).expect("not as set")
    };
    assert_eq!(broken(|r| r.err = 31), ArmingFault::Error { code: 31 });
    assert_eq!(broken(|r| r.state = 4), ArmingFault::State { state: 4 });
    assert_eq!(broken(|r| r.state = 5), ArmingFault::State { state: 5 });
    assert_eq!(broken(|r| r.mode = 2), ArmingFault::Mode { found: "2".into(), wanted: "1".into() });
    let changes: [fn(&mut RobotMsg); 4] = [
        |r| r.mt_able = 0b01_1111,
        // The flange instead of the tool: the fence would stand elsewhere.
        |r| r.offset = vec![0.0; 6],
        |r| r.offset = Vec::new(),
        |r| r.offset[2] = f32::NAN,
    ];
    for change in changes {
        assert!(matches!(broken(change), ArmingFault::Unconfirmed { .. }));
    }
}

/// The fence must not stop the arm where the robot file itself sends it.
#[test]
fn every_pose_of_the_robot_files_is_within_the_fence() {
    for name in ["xarm6", "ranger_xarm6"] {
        let robot = robot(name);
        let fence = boundary(&robot.limits, xarm(&robot).fence_margin).expect("fits").map(f64::from);
        let text = std::fs::read_to_string(&robot.urdf).expect("urdf");
        let model = RobotModel::from_urdf(&text, robot.group()).expect("a robot");
        let drive = robot.navigation.as_ref().map(|navigation| ("drive_pose", &navigation.drive_pose));
        let looks = robot.looks.iter().map(|(name, pose)| (name.as_str(), pose));
        for (pose, joints) in looks.chain([("home", &robot.home)]).chain(drive) {
            let place = model.tip_pose(joints).expect("joints").translation.vector * 1e3;
            let inside = (0..3).all(|axis| (fence[axis * 2 + 1]..=fence[axis * 2]).contains(&place[axis]));
            assert!(inside, "{name}: {pose} has the tool at {place} mm, the fence is {fence:?}");
        }
    }
}

#[test]
fn mistakes_in_the_section_are_told() {
    let file = prehend_config::share::share_dir().join("config/robots/xarm6.yaml");
    let text = std::fs::read_to_string(file).expect("the file");
    for (from, to, message) in [
        ("collision_sensitivity: 3", "collision_sensitivity: 0", "0 would switch it off"),
        ("max_tcp_speed: 1.0", "max_tcp_speed: 1000.0", "outside"),
        ("tcp_offset: [0.0, 0.0, 0.172", "tcp_offset: [0.0, 0.0, 172", "at most"),
        ("clear_errors:", "clear_error:", "did you mean `clear_errors`?"),
        ("services: /xarm", "services: xarm", "from the root"),
        ("    mode: servo\n", "", "mode"),
        ("  xarm:\n", "  panda:\n", "either `xarm` or `stretch`"),
    ] {
        assert!(text.contains(from), "{from}");
        let found =
            RobotConfig::parse("robot.yaml", &text.replacen(from, to, 1)).expect_err(message).to_string();
        assert!(found.contains(message), "{message}: {found}");
    }
}

#[test]
fn a_stretch_moves_only_when_released_homed_and_nobody_elses() {
    assert_eq!(stretch::unmet("position", false, true), None);
    assert_eq!(stretch::unmet("trajectory", true, true), Some(ArmingFault::Runstopped));
    assert_eq!(stretch::unmet("runstopped", false, true), Some(ArmingFault::Runstopped));
    assert_eq!(stretch::unmet("position", false, false), Some(ArmingFault::NotHomed));
    for mode in ["homing", "stowing", "gamepad", ""] {
        assert!(matches!(stretch::unmet(mode, false, true), Some(ArmingFault::Mode { .. })), "{mode}");
    }
}
