//! How a robot file is read: every mistake is told at its place.

use super::{
    Arm, CameraTopics, DetectorTopics, Distribution, Frames, Gripper, MoveItNames, Navigation, PartTopics,
    RobotConfig,
};
use crate::arming::ArmingConfig;
use crate::limits::Limits;
use crate::stretch::StretchDriver;
use prehend_config::{Map, Value};
use prehend_navigation::Footprint;
use prehend_navigation::footprint::FootprintError;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_verify::Approval;
use std::path::Path;

impl RobotConfig {
    pub(super) fn read(root: &Value<'_>) -> Option<Self> {
        root.map(|m| {
            let name = text(m, "name");
            let urdf = text(m, "urdf").map(|urdf| prehend_config::share::resolve(Path::new(&urdf)));
            let frames = m.req("frames").and_then(|v| {
                v.map(|m| {
                    let (base, tool, camera) = (text(m, "base"), text(m, "tool"), text(m, "camera"));
                    Some(Frames { base: base?, tool: tool?, camera: camera? })
                })
            });
            let camera = m.req("camera").and_then(|v| {
                v.map(|m| {
                    let (color, depth, info) = (text(m, "color"), text(m, "depth"), text(m, "info"));
                    Some(CameraTopics { color: color?, depth: depth?, info: info? })
                })
            });
            let detector = m.req("detector").and_then(|v| v.map(read_detector));
            let joint_states = text(m, "joint_states");
            let moveit = m.req("moveit").and_then(|v| v.map(read_moveit));
            let arm = m.req("arm").and_then(|v| v.map(read_arm));
            let gripper = m.req("gripper").and_then(|v| v.map(read_gripper));
            let joints = arm.as_ref().map_or(0, |arm| arm.joints.len());
            let poses = m.req("poses").and_then(|v| {
                v.map(|m| {
                    let home = m.req("home").and_then(|v| joint_pose(&v, joints));
                    let looks = m.req("looks").and_then(|v| {
                        v.map(|m| {
                            let all = m.entries();
                            let read: Vec<_> = all
                                .into_iter()
                                .map(|(name, v)| joint_pose(&v, joints).map(|pose| (name, pose)))
                                .collect();
                            read.into_iter().collect::<Option<Vec<_>>>()
                        })
                    });
                    Some((home?, looks?))
                })
            });
            let limits = m.req("limits").and_then(|v| v.map(read_limits));
            let navigation = match m.opt("navigation") {
                Some(v) => Some(v.map(|m| read_navigation(m, joints))?),
                None => None,
            };
            let arming = match m.opt("arming") {
                Some(v) => Some(ArmingConfig::read(&v, limits.as_ref())?),
                None => None,
            };
            let driver = match m.opt("driver") {
                Some(v) => Some(v.map(StretchDriver::read)?),
                None => None,
            };
            let (home, looks) = poses?;
            Some(Self {
                name: name?,
                urdf: urdf?,
                frames: frames?,
                camera: camera?,
                detector: detector?,
                joint_states: joint_states?,
                moveit: moveit?,
                arm: arm?,
                gripper: gripper?,
                home,
                looks,
                limits: limits?,
                navigation,
                arming,
                driver,
            })
        })
    }
}

fn text(m: &mut Map<'_>, key: &'static str) -> Option<String> {
    m.req(key).and_then(|v| v.text())
}

fn number(m: &mut Map<'_>, key: &'static str, low: f64, high: f64) -> Option<f64> {
    m.req(key).and_then(|v| v.f64_in(low, high))
}

fn joint_pose(value: &Value<'_>, count: usize) -> Option<Vec<f64>> {
    let pose = value.list(|v| v.f64_in(-7.0, 7.0))?;
    if count != 0 && pose.len() != count {
        value.report(format!("expected {count} joint positions, found {}", pose.len()));
        return None;
    }
    Some(pose)
}

fn read_detector(m: &mut Map<'_>) -> Option<DetectorTopics> {
    let (label_image, detections) = (text(m, "label_image"), text(m, "detections"));
    let part_label_image = m.opt("part_label_image").map(|v| v.text());
    let part_detections = m.opt("part_detections").map(|v| v.text());
    let parts = match (part_label_image, part_detections) {
        (None, None) => None,
        (Some(label_image), Some(detections)) => {
            Some(PartTopics { label_image: label_image?, detections: detections? })
        }
        _ => {
            m.report("a detector of parts needs both `part_label_image` and `part_detections`");
            return None;
        }
    };
    Some(DetectorTopics { label_image: label_image?, detections: detections?, parts })
}

/// `humble`, `jazzy`, or that of the ROS 2 around this process (`installed`).
fn distribution(m: &mut Map<'_>) -> Option<Distribution> {
    let named = m.opt("distribution").map_or(Some(None), |v| {
        let choices = [Distribution::Humble, Distribution::Jazzy].map(Some);
        v.choice(&[("humble", choices[0]), ("jazzy", choices[1]), ("installed", None)])
    })?;
    Some(named.unwrap_or_else(|| Distribution::of(prehend_ros::BACKEND.distro().as_deref())))
}

fn read_moveit(m: &mut Map<'_>) -> Option<MoveItNames> {
    let distribution = distribution(m);
    let group = text(m, "group");
    let move_action = text(m, "move_action");
    let execute_trajectory = text(m, "execute_trajectory");
    let cartesian_path = text(m, "cartesian_path");
    let inverse_kinematics = text(m, "inverse_kinematics");
    let apply_planning_scene = text(m, "apply_planning_scene");
    let pipeline = m.opt("pipeline").map_or(Some(String::new()), |v| v.text());
    let planner = m.opt("planner").map_or(Some(String::new()), |v| v.text());
    let touch_links = m.opt("touch_links").map_or(Some(Vec::new()), |v| v.list(|v| v.text()));
    Some(MoveItNames {
        distribution: distribution?,
        group: group?,
        pipeline: pipeline?,
        planner: planner?,
        move_action: move_action?,
        execute_trajectory: execute_trajectory?,
        cartesian_path: cartesian_path?,
        inverse_kinematics: inverse_kinematics?,
        apply_planning_scene: apply_planning_scene?,
        touch_links: touch_links?,
    })
}

fn read_arm(m: &mut Map<'_>) -> Option<Arm> {
    let controller = text(m, "controller");
    let joints = m.req("joints").and_then(|v| v.list(|v| v.text()));
    let velocity_scaling = number(m, "velocity_scaling", 0.01, 1.0);
    let acceleration_scaling = number(m, "acceleration_scaling", 0.01, 1.0);
    let contact_velocity_scaling = number(m, "contact_velocity_scaling", 0.01, 1.0);
    Some(Arm {
        controller: controller?,
        joints: joints?,
        velocity_scaling: velocity_scaling?,
        acceleration_scaling: acceleration_scaling?,
        contact_velocity_scaling: contact_velocity_scaling?,
    })
}

fn read_gripper(m: &mut Map<'_>) -> Option<Gripper> {
    let (action, joint) = (text(m, "action"), text(m, "joint"));
    let open = number(m, "open", -4.0, 4.0);
    let closed = number(m, "closed", -4.0, 4.0);
    let max_opening = number(m, "max_opening", 0.001, 0.5);
    let grip_force = number(m, "grip_force", 0.1, 500.0);
    let (open, closed) = (open?, closed?);
    if (open - closed).abs() < 1e-6 {
        m.report("the gripper's open and closed positions must differ");
        return None;
    }
    Some(Gripper {
        action: action?,
        joint: joint?,
        open,
        closed,
        max_opening: max_opening?,
        grip_force: grip_force?,
    })
}

fn read_limits(m: &mut Map<'_>) -> Option<Limits> {
    let low = m.req("workspace_low").and_then(|v| v.numbers::<3>());
    let high = m.req("workspace_high").and_then(|v| v.numbers::<3>());
    let support_clearance = number(m, "support_clearance", -0.05, 0.2);
    let contact_force = number(m, "contact_force", 1.0, 500.0);
    let peer_silence = number(m, "peer_silence", 0.2, 10.0);
    let approval = m.or("approval", Approval::Never, |v| v.choice(&Approval::ALL));
    let (low, high) = (low?, high?);
    if (0..3).any(|i| low[i] >= high[i]) {
        m.report("workspace_low must be below workspace_high on every axis");
        return None;
    }
    Some(Limits {
        workspace_low: low,
        workspace_high: high,
        support_clearance: support_clearance?,
        contact_force: contact_force?,
        peer_silence: peer_silence?,
        approval: approval?,
    })
}

fn read_navigation(m: &mut Map<'_>, joints: usize) -> Option<Navigation> {
    let (action, map, costmap) = (text(m, "action"), text(m, "map"), text(m, "costmap"));
    let distribution = distribution(m);
    let navigator = m.opt("navigator").map_or(Some("/bt_navigator".to_owned()), |v| v.text());
    let (scan, odometry, pose) = (text(m, "scan"), text(m, "odometry"), text(m, "pose"));
    let (frame, odom, base, laser) = (text(m, "frame"), text(m, "odom"), text(m, "base"), text(m, "laser"));
    let footprint = match (m.opt("footprint"), m.opt("radius")) {
        (Some(v), None) => v
            .list(|corner| corner.numbers::<2>())
            .and_then(|corners| outline(&v, Footprint::polygon(&corners))),
        (None, Some(v)) => v.f64_in(0.05, 2.0).and_then(|radius| outline(&v, Footprint::circle(radius))),
        _ => {
            m.report("give the base's outline: either `footprint` or `radius`");
            None
        }
    };
    let max_speed = number(m, "max_speed", 0.01, 5.0);
    let max_turn = number(m, "max_turn", 0.01, 10.0);
    let tolerance = m.req("goal_tolerance").and_then(|v| {
        v.map(|m| {
            let (xy, yaw) = (number(m, "xy", 0.005, 1.0), number(m, "yaw", 0.005, 1.6));
            Some((xy?, yaw?))
        })
    });
    let facing = m.opt("facing").map_or(Some(0.0), |v| v.f64_in(-3.2, 3.2));
    let usual = ViewPoseParams::default();
    let reach = m.opt("reach").map_or(Some([usual.radius, usual.relax_max]), |v| {
        let reach @ [first, most] = v.numbers::<2>()?;
        if first.is_finite() && most.is_finite() && 0.05 <= first && first <= most && most <= 3.0 {
            return Some(reach);
        }
        v.report("expected two distances from 0.05 to 3 m, the first not greater than the second");
        None
    });
    let drive_pose = m.req("drive_pose").and_then(|v| joint_pose(&v, joints));
    let (goal_tolerance_xy, goal_tolerance_yaw) = tolerance?;
    Some(Navigation {
        action: action?,
        distribution: distribution?,
        navigator: navigator?,
        map: map?,
        costmap: costmap?,
        scan: scan?,
        odometry: odometry?,
        pose: pose?,
        frame: frame?,
        odom: odom?,
        base: base?,
        laser: laser?,
        footprint: footprint?,
        max_speed: max_speed?,
        max_turn: max_turn?,
        goal_tolerance_xy,
        goal_tolerance_yaw,
        facing: facing?,
        reach: reach?,
        drive_pose: drive_pose?,
    })
}

/// The outline, or its error at its place.
fn outline(place: &Value<'_>, read: Result<Footprint, FootprintError>) -> Option<Footprint> {
    match read {
        Ok(footprint) => Some(footprint),
        Err(error) => {
            place.report(error.to_string());
            None
        }
    }
}
