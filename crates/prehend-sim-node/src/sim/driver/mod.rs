//! How the vendor's driver is between the controllers and the robot: what it was told, and whether it lets the robot move. Nothing
//! moves before it was readied, nor after an error or a runstop.
//!
//! Read [`Vendor`] first. Its faults are set through the judge's channel; its services and topics are in `vendor`.

mod stretch;
mod xarm;

pub(super) use stretch::StretchState;
pub(super) use xarm::{HAS_ERROR, READY, REFUSED, STOPPED, XArmState};

use prehend_robots::arming::ArmingConfig;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The driver.
#[derive(Debug)]
pub(super) struct Vendor {
    state: Mutex<State>,
    pub(super) without: String,
}

/// How it is, and how the judge has it behave.
#[derive(Debug)]
pub(super) struct State {
    pub(super) device: Device,
    pub(super) refuse: String,
    pub(super) mute: String,
    pub(super) silent: bool,
    /// Services in the order in which they were called.
    pub(super) calls: Vec<String>,
}

/// Whose driver it is.
#[derive(Debug)]
pub(super) enum Device {
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

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
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
