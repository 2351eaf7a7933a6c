//! An xArm through `xarm_api`'s services: what is set, in which order, and what the arm must report then.
//!
//! Its units are millimetres, radians and kilograms. Reduced mode comes after its limits, because switching it on is what makes them take
//! effect; mode and state come last, because other settings take the arm out of its ready state. The services give back reduced
//! mode, the topic `robot_states` mode, state, errors, enabled joints and the tool's offset; fence, speeds, sensitivity and load
//! have no reading service, so that their answers are all that confirms them.

use super::config::{XArmConfig, boundary};
use super::fault::ArmingFault;
use super::heard::{Heard, call};
use crate::RobotConfig;
use prehend_msgs::Service;
use prehend_msgs::xarm_msgs::msg::RobotMsg;
use prehend_msgs::xarm_msgs::srv::{
    Call, GetInt16, SetFloat32, SetFloat32List, SetInt16, SetInt16ById, SetInt16List, SetTcpLoad,
};
use prehend_ros::{Client, Node, QosProfile};
use std::time::Duration;

/// Joint number that means all of them.
const ALL_JOINTS: i16 = 8;
/// State that readies the arm, and the one that stops it.
const READY: i16 = 0;
const STOPPED: i16 = 4;
/// The greatest state in which it moves: 1 moves, 2 stands ready.
const MOVES: i16 = 2;
/// How far the reported tool offset may be off: millimetres, radians.
const OFFSET_SLACK: [f32; 2] = [0.5, 0.005];
/// Answer of a command that was carried out while a warning is pending.
const WARNING: i32 = 2;
/// Longest wait for the arm to report what was set.
const CONFIRM: Duration = Duration::from_secs(3);
/// What to do about a missing service; `xarm_api` offers few of them unless told so.
const SWITCH_ON: &str =
    "switch it on under `ufactory_driver.ros__parameters.services` in xarm_user_params.yaml";

/// One call, with its arguments in `xarm_api`'s units.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Clean(&'static str),
    Enable,
    Int16(&'static str, i16),
    Int16s(&'static str, [i16; 6]),
    Float32(&'static str, f32),
    Float32s(&'static str, [f32; 6]),
    Load { kilograms: f32, millimetres: [f32; 3] },
}

impl Step {
    pub(super) fn service(&self) -> &'static str {
        match self {
            Self::Clean(service)
            | Self::Int16(service, _)
            | Self::Int16s(service, _)
            | Self::Float32(service, _)
            | Self::Float32s(service, _) => service,
            Self::Enable => "motion_enable",
            Self::Load { .. } => "set_tcp_load",
        }
    }
}

/// The tool's offset in the controller's units: millimetres, radians.
fn offset(config: &XArmConfig) -> [f32; 6] {
    std::array::from_fn(|i| (config.tcp_offset[i] * if i < 3 { 1e3 } else { 1.0 }) as f32)
}

/// What is called to arm, in order; errors are cleared only when a person asked for it.
pub(super) fn steps(config: &XArmConfig, fence: [i16; 6], clear: bool) -> Vec<Step> {
    let clean: &[Step] = if clear && config.clear_errors {
        &[Step::Clean("clean_error"), Step::Clean("clean_warn")]
    } else {
        &[]
    };
    let millimetres = |metres: f64| (metres * 1e3) as f32;
    let set = [
        Step::Enable,
        Step::Float32s("set_tcp_offset", offset(config)),
        Step::Load { kilograms: config.load_mass as f32, millimetres: config.load_center.map(millimetres) },
        Step::Float32("set_reduced_max_tcp_speed", millimetres(config.max_tcp_speed)),
        Step::Float32("set_reduced_max_joint_speed", config.max_joint_speed as f32),
        Step::Int16s("set_reduced_tcp_boundary", fence),
        Step::Int16("set_fence_mode", 1),
        Step::Int16("set_reduced_mode", 1),
        Step::Int16("set_collision_sensitivity", config.collision_sensitivity),
        Step::Int16("set_mode", config.mode),
        Step::Int16("set_state", READY),
    ];
    clean.iter().cloned().chain(set).collect()
}

/// What in a report is not as it must be for the arm to move.
pub(super) fn unmet(config: &XArmConfig, joints: usize, report: &RobotMsg) -> Option<ArmingFault> {
    if report.err != 0 {
        return Some(ArmingFault::Error { code: report.err });
    }
    if report.mode != config.mode {
        return Some(ArmingFault::Mode { found: report.mode.to_string(), wanted: config.mode.to_string() });
    }
    if !(0..=MOVES).contains(&report.state) {
        return Some(ArmingFault::State { state: report.state });
    }
    let all = (1_i32 << joints.min(15)) - 1;
    if i32::from(report.mt_able) & all != all {
        let (found, wanted) = (format!("{:b}", report.mt_able), format!("{all:b}"));
        return Some(ArmingFault::Unconfirmed { what: "the set of enabled joints", found, wanted });
    }
    let wanted = offset(config);
    let near = |i: usize| report.offset.get(i).is_some_and(|o| (o - wanted[i]).abs() <= OFFSET_SLACK[i / 3]);
    if !(0..6).all(near) {
        let (found, wanted) = (format!("{:?}", report.offset), format!("{wanted:?} (mm, rad)"));
        return Some(ArmingFault::Unconfirmed { what: "the tool's offset", found, wanted });
    }
    None
}

/// What an answer means.
fn judged(service: &str, code: i32, message: String) -> Result<(), ArmingFault> {
    match code {
        0 | WARNING => Ok(()),
        code => Err(ArmingFault::Refused { service: service.to_owned(), code, message }),
    }
}

/// The way to one xArm.
#[derive(Debug)]
pub(super) struct XArm {
    config: XArmConfig,
    fence: [i16; 6],
    joints: usize,
    reports: Heard<RobotMsg>,
    node: Node,
    calls: Calls,
}

/// One client a service, by its name.
#[derive(Debug)]
struct Calls {
    clean: Vec<(&'static str, Client<Call::Service>)>,
    int16: Vec<(&'static str, Client<SetInt16::Service>)>,
    float32: Vec<(&'static str, Client<SetFloat32::Service>)>,
    enable: Client<SetInt16ById::Service>,
    boundary: Client<SetInt16List::Service>,
    offset: Client<SetFloat32List::Service>,
    load: Client<SetTcpLoad::Service>,
    reduced: Client<GetInt16::Service>,
}

impl XArm {
    pub(super) fn new(
        node: &Node,
        robot: &RobotConfig,
        config: &XArmConfig,
    ) -> Result<Self, prehend_ros::RosError> {
        let config = config.resolved(node);
        let name = |service: &str| format!("{}/{service}", config.services);
        let services = QosProfile::services();
        let fence = boundary(&robot.limits, config.fence_margin).unwrap_or_default();
        let mut calls = Calls {
            clean: Vec::new(),
            int16: Vec::new(),
            float32: Vec::new(),
            enable: node.create_client(&name("motion_enable"), services)?,
            boundary: node.create_client(&name("set_reduced_tcp_boundary"), services)?,
            offset: node.create_client(&name("set_tcp_offset"), services)?,
            load: node.create_client(&name("set_tcp_load"), services)?,
            reduced: node.create_client(&name("get_reduced_mode"), services)?,
        };
        for step in steps(&config, fence, true) {
            let service = step.service();
            match step {
                Step::Clean(_) => calls.clean.push((service, node.create_client(&name(service), services)?)),
                Step::Int16(..) => calls.int16.push((service, node.create_client(&name(service), services)?)),
                Step::Float32(..) => {
                    calls.float32.push((service, node.create_client(&name(service), services)?))
                }
                Step::Enable | Step::Int16s(..) | Step::Float32s(..) | Step::Load { .. } => {}
            }
        }
        let reports = Heard::new(node, &name("robot_states"), robot.limits.peer_silence)?;
        let joints = robot.arm.joints.len();
        Ok(Self { fence, joints, reports, node: node.clone(), calls, config })
    }

    /// Sets everything and waits until the arm reports it. `clear`: a person asked for it.
    pub(super) async fn arm(&self, clear: bool) -> Result<(), ArmingFault> {
        let report = self.reports.next().await?;
        if report.err != 0 && !(clear && self.config.clear_errors) {
            return Err(ArmingFault::Error { code: report.err });
        }
        for step in steps(&self.config, self.fence, clear) {
            self.take(&step).await?;
        }
        let name = self.name("get_reduced_mode");
        let answer = call(&self.calls.reduced, &name, GetInt16::Request::default(), SWITCH_ON).await?;
        judged(&name, answer.ret.into(), answer.message)?;
        if answer.data != 1 {
            let (found, wanted) = (answer.data.to_string(), "1".to_owned());
            return Err(ArmingFault::Unconfirmed { what: "reduced mode", found, wanted });
        }
        self.reports.until(CONFIRM, |report| unmet(&self.config, self.joints, report)).await
    }

    /// Completes when the arm is not as it was armed, or is silent.
    pub(super) async fn lost(&self) -> ArmingFault {
        self.reports.violated(|report| unmet(&self.config, self.joints, report)).await
    }

    /// Stops the arm; fence, reduced mode, sensitivity, speeds and load stay on.
    pub(super) async fn disarm(&self) -> Result<(), ArmingFault> {
        self.take(&Step::Int16("set_state", STOPPED)).await
    }

    fn name(&self, service: &str) -> String {
        format!("{}/{service}", self.config.services)
    }

    async fn take(&self, step: &Step) -> Result<(), ArmingFault> {
        let (calls, service) = (&self.calls, step.service());
        let name = self.name(service);
        let (code, message) = match step {
            Step::Clean(_) => {
                let answer =
                    call(find(&calls.clean, service, &name)?, &name, Call::Request::default(), SWITCH_ON)
                        .await?;
                (answer.ret, answer.message)
            }
            Step::Enable => {
                let request = SetInt16ById::Request { id: ALL_JOINTS, data: 1 };
                let answer = call(&calls.enable, &name, request, SWITCH_ON).await?;
                (answer.ret.into(), answer.message)
            }
            Step::Int16(_, data) => {
                let request = SetInt16::Request { data: *data };
                let answer = call(find(&calls.int16, service, &name)?, &name, request, SWITCH_ON).await?;
                (answer.ret.into(), answer.message)
            }
            Step::Int16s(_, datas) => {
                let request = SetInt16List::Request { datas: datas.to_vec() };
                let answer = call(&calls.boundary, &name, request, SWITCH_ON).await?;
                (answer.ret.into(), answer.message)
            }
            Step::Float32(_, data) => {
                let request = SetFloat32::Request { data: *data };
                let answer = call(find(&calls.float32, service, &name)?, &name, request, SWITCH_ON).await?;
                (answer.ret.into(), answer.message)
            }
            Step::Float32s(_, datas) => {
                let request = SetFloat32List::Request { datas: datas.to_vec() };
                let answer = call(&calls.offset, &name, request, SWITCH_ON).await?;
                (answer.ret.into(), answer.message)
            }
            Step::Load { kilograms, millimetres } => {
                let request =
                    SetTcpLoad::Request { weight: *kilograms, center_of_gravity: millimetres.to_vec() };
                let answer = call(&calls.load, &name, request, SWITCH_ON).await?;
                (answer.ret, answer.message)
            }
        };
        // Clearing and enabling answer 1 as long as the error was there; what counts is reported afterwards.
        let code = match step {
            Step::Clean(_) | Step::Enable if code == 1 => 0,
            _ => code,
        };
        tracing::debug!(node = self.node.fully_qualified_name(), "{name}: {step:?}: {code}");
        judged(&name, code, message)
    }
}

fn find<'a, S: Service>(
    clients: &'a [(&'static str, Client<S>)],
    service: &str,
    name: &str,
) -> Result<&'a Client<S>, ArmingFault> {
    let missing = || ArmingFault::NoService { service: name.to_owned(), remedy: SWITCH_ON };
    clients.iter().find(|(known, _)| *known == service).map(|(_, client)| client).ok_or_else(missing)
}
