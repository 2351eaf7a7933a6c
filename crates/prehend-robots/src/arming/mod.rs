//! Arming: the vendor's own safety functions are on and confirmed before anything moves, and the robot is left stopped.
//!
//! What there is to arm stands in the robot file's section `arming`; without it there is nothing (a simulator without the vendor's
//! driver). A node that moves the robot starts `Arming`; its motions ask `Arming::engage` first and end with `Arming::lost`.
//! A loss that a person must see to (an error of the controller, a mode that somebody else took) stays until the stop is
//! cleared; a driver that was started again, a released runstop are armed again by themselves, and no motion is resumed.

mod config;
mod fault;
mod heard;
mod stretch;
#[cfg(test)]
mod tests;
mod xarm;

pub use config::{ArmingConfig, StretchConfig, XArmConfig};
pub use fault::ArmingFault;

use crate::shell::{NodeError, Peers, Shell, Trace};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use stretch::Stretch;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use xarm::XArm;

/// Pause after an attempt that failed.
const AGAIN: Duration = Duration::from_millis(500);
/// Longest wait for arming that is under way when a skill is asked for: a driver starts within seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time for disarming: the process is about to be killed.
const LAST: Duration = Duration::from_millis(1500);

/// What a node moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The arm and the gripper.
    Arm,
    /// The base.
    Base,
}

#[derive(Debug)]
enum Device {
    XArm(Box<XArm>),
    Stretch(Box<Stretch>),
}

impl Device {
    async fn arm(&self, clear: bool) -> Result<(), ArmingFault> {
        match self {
            Self::XArm(xarm) => xarm.arm(clear).await,
            Self::Stretch(stretch) => stretch.arm().await,
        }
    }

    async fn lost(&self) -> ArmingFault {
        match self {
            Self::XArm(xarm) => xarm.lost().await,
            Self::Stretch(stretch) => stretch.lost().await,
        }
    }
}

/// Whether the robot is armed, kept up to date by a task of its own.
#[derive(Debug)]
pub struct Arming {
    device: Option<Arc<Device>>,
    state: watch::Sender<Result<(), ArmingFault>>,
    /// How often a person asked.
    asked: watch::Sender<u64>,
    trace: Trace,
    keeper: Option<AbortHandle>,
}

impl Drop for Arming {
    fn drop(&mut self) {
        if let Some(keeper) = &self.keeper {
            keeper.abort();
        }
    }
}

impl Arming {
    /// Begins to arm what the robot file says. The parameter `arming` set to `off` says that there is nothing to arm: a simulator.
    pub fn start(node: &'static str, shell: &Shell, used: Use) -> Result<Self, NodeError> {
        let parameters = shell.node.parameters();
        let asked = parameters.string_or("arming", "robot")?;
        parameters.describe(
            "arming",
            "robot: the robot's own safety is armed first; off: there is none, as in a simulator.",
        );
        let wanted = match asked.as_str() {
            "robot" => shell.robot.arming.as_ref(),
            "off" => None,
            other => {
                let reason = format!("parameter `arming` is `{other}`; robot or off");
                return Err(NodeError::Start { node, reason });
            }
        };
        let silence = shell.robot.limits.peer_silence;
        let device = match (wanted, used) {
            (Some(ArmingConfig::XArm(config)), Use::Arm) => {
                Some(Device::XArm(Box::new(XArm::new(&shell.node, &shell.robot, config)?)))
            }
            // The base under an xArm is not the arm's.
            (Some(ArmingConfig::XArm(_)), Use::Base) | (None, _) => None,
            (Some(ArmingConfig::Stretch(config)), used) => {
                Some(Device::Stretch(Box::new(Stretch::new(&shell.node, config, used, silence)?)))
            }
        };
        let device = device.map(Arc::new);
        let armed = if device.is_some() { Err(ArmingFault::Pending) } else { Ok(()) };
        let (state, asked) = (watch::Sender::new(armed), watch::Sender::new(0));
        let mut arming = Self { device, state, asked, trace: shell.trace.clone(), keeper: None };
        match &arming.device {
            Some(device) => {
                let keeper = Keeper {
                    device: Arc::clone(device),
                    state: arming.state.clone(),
                    asked: arming.asked.subscribe(),
                    trace: shell.trace.clone(),
                    peers: shell.peers.clone(),
                };
                arming.keeper = Some(tokio::spawn(keeper.keep()).abort_handle());
            }
            None if shell.robot.arming.is_some() && used == Use::Arm => {
                tell(
                    &shell.trace,
                    "off",
                    "not armed: the parameter `arming` is off, the robot's own safety is not asked for",
                );
            }
            None => {}
        }
        Ok(arming)
    }

    /// A person cleared the stop: whatever kept the robot unarmed is taken for seen to.
    pub fn ask_again(&self) {
        if self.device.is_none() {
            return;
        }
        self.state.send_if_modified(|state| {
            let again = state.as_ref().is_err_and(|fault| *fault != ArmingFault::Ending);
            if again {
                *state = Err(ArmingFault::Pending);
            }
            again
        });
        self.asked.send_modify(|asked| *asked += 1);
    }

    /// Whether the robot is armed now.
    pub fn check(&self) -> Result<(), ArmingFault> {
        self.state.borrow().clone()
    }

    /// Waits for arming that is under way.
    pub async fn armed(&self) -> Result<(), ArmingFault> {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| state.as_ref().err().is_none_or(|fault| !fault.may_pass()));
        match tokio::time::timeout(PATIENCE, settled).await {
            Ok(Ok(state)) => state.clone(),
            Ok(Err(_)) | Err(_) => self.check(),
        }
    }

    /// Readies the robot for a motion of this node.
    pub async fn engage(&self) -> Result<(), ArmingFault> {
        self.armed().await?;
        match self.device.as_deref() {
            Some(Device::Stretch(stretch)) => stretch.engage().await,
            Some(Device::XArm(_)) | None => Ok(()),
        }
    }

    /// Completes when a motion of this node must end.
    pub async fn lost(&self) -> ArmingFault {
        let mut state = self.state.subscribe();
        let unarmed = async {
            match state.wait_for(Result::is_err).await {
                Ok(state) => state.clone().err().unwrap_or(ArmingFault::Pending),
                Err(_) => ArmingFault::Ending,
            }
        };
        match self.device.as_deref() {
            Some(Device::Stretch(stretch)) => {
                tokio::select! {
                    // A runstop changes the mode, too: it is the better word.
                    biased;
                    fault = unarmed => fault,
                    fault = stretch.disengaged() => match fault {
                        ArmingFault::Mode { .. } => self.check().err().unwrap_or(fault),
                        other => other,
                    },
                }
            }
            Some(Device::XArm(_)) | None => unarmed.await,
        }
    }

    /// Stops the robot before the node ends. What protects people stays on.
    pub async fn disarm(&self) {
        let Some(device) = self.device.as_deref() else { return };
        if self.state.send_replace(Err(ArmingFault::Ending)).is_err() {
            return;
        }
        let disarmed = async {
            match device {
                Device::XArm(xarm) => xarm.disarm().await,
                Device::Stretch(stretch) => stretch.disarm().await,
            }
        };
        match tokio::time::timeout(LAST, disarmed).await {
            Ok(Ok(())) => {
                tell(&self.trace, "disarmed", "disarmed: the robot is stopped, what protects people stays on")
            }
            Ok(Err(fault)) => tell(&self.trace, fault.status(), &format!("not disarmed: {fault}")),
            Err(_) => tell(&self.trace, "no_answer", "not disarmed: no answer in time"),
        }
    }
}

fn tell(trace: &Trace, status: &str, message: &str) {
    trace.event("", TraceEvent::KIND_MOTION, "arming", status, message, json!({}));
}

/// Arms, watches, and arms again.
struct Keeper {
    device: Arc<Device>,
    state: watch::Sender<Result<(), ArmingFault>>,
    asked: watch::Receiver<u64>,
    trace: Trace,
    peers: Peers,
}

impl Keeper {
    async fn keep(mut self) {
        let mut by_request = false;
        loop {
            // Arming stops the arm for a moment: not while this node is inactive, nor when it is another Prehend's.
            if self.peers.settled(AGAIN).await.is_err() {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            match self.device.arm(by_request).await {
                Ok(()) => {
                    self.set(Ok(()));
                    let fault = self.device.lost().await;
                    let person = fault.needs_a_person();
                    self.asked.mark_unchanged();
                    self.set(Err(fault));
                    if person && self.asked.changed().await.is_err() {
                        return;
                    }
                    by_request = person;
                }
                // What was found before a person asked is not the answer to it.
                Err(_) if self.asked.has_changed().unwrap_or(false) => {
                    self.asked.mark_unchanged();
                    by_request = true;
                }
                Err(fault) => {
                    self.set(Err(fault));
                    // Refused once, it may be granted when somebody has changed the driver's settings.
                    by_request = match tokio::time::timeout(AGAIN, self.asked.changed()).await {
                        Ok(Ok(())) => true,
                        Ok(Err(_)) => return,
                        Err(_) => false,
                    };
                }
            }
        }
    }

    /// Tells a change once.
    fn set(&self, armed: Result<(), ArmingFault>) {
        let changed = self.state.send_if_modified(|state| {
            let changes = *state != armed && *state != Err(ArmingFault::Ending);
            if changes {
                *state = armed.clone();
            }
            changes
        });
        match armed {
            _ if !changed => {}
            Ok(()) => tell(&self.trace, "armed", "armed: the robot has confirmed its own safety"),
            Err(fault) => tell(&self.trace, fault.status(), &format!("not armed: {fault}")),
        }
    }
}
