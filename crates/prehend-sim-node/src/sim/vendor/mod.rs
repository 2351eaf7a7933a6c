//! The vendor's driver between the controllers and the robot: `xarm_api` or `stretch_driver` by their real names and types, as far as
//! arming goes, and as unwilling: nothing moves before it was readied, nor after an error or a runstop.
//!
//! Read [`Vendor`] first. Its faults are set through the judge's channel.

mod stretch;
mod xarm;

use super::arm_handle::ArmHandle;
use prehend_msgs::Service;
use prehend_robots::arming::ArmingConfig;
use prehend_robots::{NodeError, RobotConfig};
use prehend_ros::{Node, QosProfile, RosError};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stretch::StretchState;
use tokio::task::JoinSet;
use xarm::XArmState;

/// Wall time between two reports of the driver.
const REPORT_PERIOD: Duration = Duration::from_millis(50);

/// The driver.
#[derive(Debug)]
pub(super) struct Vendor {
    state: Mutex<State>,
    without: String,
}

#[derive(Debug)]
struct State {
    device: Device,
    refuse: String,
    mute: String,
    silent: bool,
    /// Services in the order in which they were called.
    calls: Vec<String>,
}

#[derive(Debug)]
enum Device {
    None,
    XArm(XArmState),
    Stretch(StretchState),
}

/// What the judge changes; absent keys stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    refuse: Option<String>,
    mute: Option<String>,
    silent: Option<bool>,
    error: Option<i16>,
    state: Option<i16>,
    runstop: Option<bool>,
    homed: Option<bool>,
    mode: Option<String>,
}

impl Vendor {
    /// The driver that a robot file's section means; `without` is a service that it does not offer.
    pub(super) fn new(config: Option<&ArmingConfig>, without: &str) -> Self {
        let device = match config {
            None => Device::None,
            Some(ArmingConfig::XArm(_)) => Device::XArm(XArmState::default()),
            Some(ArmingConfig::Stretch(_)) => Device::Stretch(StretchState::default()),
        };
        let (refuse, mute) = (String::new(), String::new());
        let state = State { device, refuse, mute, silent: false, calls: Vec::new() };
        Self { state: Mutex::new(state), without: without.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether arm and gripper may move; else why not.
    pub(super) fn arm_may_move(&self) -> Result<(), String> {
        match &self.lock().device {
            Device::None => Ok(()),
            Device::XArm(xarm) => xarm.may_move(),
            Device::Stretch(stretch) => stretch.may_move("position"),
        }
    }

    /// Whether the base may move; else why not.
    pub(super) fn base_may_move(&self) -> Result<(), String> {
        match &self.lock().device {
            Device::None | Device::XArm(_) => Ok(()),
            Device::Stretch(stretch) => stretch.may_move("navigation"),
        }
    }

    /// Changes what the judge asks for, and says how the driver is.
    pub(super) fn change(&self, change: Change) -> Value {
        let mut state = self.lock();
        let State { device, refuse, mute, silent, calls } = &mut *state;
        *refuse = change.refuse.unwrap_or_else(|| std::mem::take(refuse));
        *mute = change.mute.unwrap_or_else(|| std::mem::take(mute));
        *silent = change.silent.unwrap_or(*silent);
        let mut told = match device {
            Device::None => serde_json::json!({}),
            Device::XArm(xarm) => {
                xarm.change(change.error, change.state);
                xarm.tell()
            }
            Device::Stretch(stretch) => {
                stretch.change(change.runstop, change.homed, change.mode);
                stretch.tell()
            }
        };
        told["calls"] = serde_json::json!(calls);
        told
    }
}

/// Creates the driver's services and topics and serves them until the returned set is dropped.
///
/// Errors: [`NodeError::Start`] when the robot description cannot be used, [`NodeError::Ros`].
pub(super) fn start(node: &Node, robot: &RobotConfig, arm: ArmHandle) -> Result<JoinSet<()>, NodeError> {
    let mut servers = Servers { node, arm: arm.clone(), tasks: JoinSet::new() };
    let is_off = matches!(arm.vendor().lock().device, Device::None);
    match &robot.arming {
        _ if is_off => {}
        None => {}
        Some(ArmingConfig::XArm(config)) => xarm::serve(&mut servers, robot, config)?,
        Some(ArmingConfig::Stretch(config)) => stretch::serve(&mut servers, config)?,
    }
    Ok(servers.tasks)
}

/// What makes the servers.
struct Servers<'a> {
    node: &'a Node,
    arm: ArmHandle,
    tasks: JoinSet<()>,
}

impl Servers<'_> {
    /// Serves one service. `act` changes the driver; with `false` it shall only answer that it refuses.
    fn service<S: Service>(
        &mut self,
        name: &str,
        act: impl Fn(&mut Device, &S::Request, bool) -> S::Response + Send + 'static,
    ) -> Result<(), RosError> {
        let short = name.rsplit('/').next().unwrap_or_default().to_owned();
        if short == self.arm.vendor().without {
            return Ok(());
        }
        let mut requests = self.node.create_service::<S>(name, QosProfile::services())?;
        let arm = self.arm.clone();
        self.tasks.spawn(async move {
            use futures::StreamExt;
            while let Some(request) = requests.next().await {
                let response = {
                    let mut state = arm.vendor().lock();
                    state.calls.push(short.clone());
                    if state.mute == short {
                        continue;
                    }
                    let granted = state.refuse != short;
                    act(&mut state.device, &request.message, granted)
                };
                arm.heed();
                if let Err(error) = request.respond(response) {
                    tracing::warn!("{short} not answered: {error}");
                }
            }
        });
        Ok(())
    }

    /// Calls `report` again and again, but for the time the judge has the driver silent.
    fn reports(&mut self, report: impl Fn(&ArmHandle) + Send + 'static) {
        let arm = self.arm.clone();
        self.tasks.spawn(async move {
            let mut interval = tokio::time::interval(REPORT_PERIOD);
            loop {
                interval.tick().await;
                if !arm.vendor().lock().silent {
                    report(&arm);
                }
            }
        });
    }
}
