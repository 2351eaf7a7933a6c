//! A Stretch through `stretch_driver`: runstop, homing, and the mode each kind of motion needs.
//!
//! In mode `position` the arm moves, in which the base may be one of its joints, in `navigation` the base follows velocities; each node takes its mode before it
//! moves. Nobody is homed or released here: homing moves the robot, and a runstop is a person's word.

use super::Use;
use super::config::StretchConfig;
use super::fault::ArmingFault;
use super::heard::{Heard, call};
use prehend_msgs::std_msgs::msg::{Bool, String as Text};
use prehend_msgs::std_srvs::srv::Trigger;
use prehend_ros::{Client, Node, QosProfile, RosError};
use std::time::Duration;

/// What the driver calls its modes.
const TRAJECTORY: &str = "trajectory";
const NAVIGATION: &str = "navigation";
const POSITION: &str = "position";
/// Mode while the runstop is pressed.
const RUNSTOPPED: &str = "runstopped";
/// Longest wait for a mode to be reported.
const SWITCHED: Duration = Duration::from_secs(3);
const START_DRIVER: &str = "start stretch_core's stretch_driver";

/// The way to one Stretch.
#[derive(Debug)]
pub(super) struct Stretch {
    mode: Heard<Text>,
    runstopped: Heard<Bool>,
    homed: Heard<Bool>,
    switch: Client<Trigger::Service>,
    switch_name: String,
    wanted: &'static str,
    leave: Client<Trigger::Service>,
    stop: Client<Trigger::Service>,
    config: StretchConfig,
}

/// What stands against moving, whatever moves.
pub(super) fn unmet(mode: &str, runstopped: bool, homed: bool) -> Option<ArmingFault> {
    if runstopped || mode == RUNSTOPPED {
        return Some(ArmingFault::Runstopped);
    }
    if !homed {
        return Some(ArmingFault::NotHomed);
    }
    if ![TRAJECTORY, NAVIGATION, POSITION].contains(&mode) {
        // Homing, stowing, a gamepad: it is somebody else's until that ends.
        return Some(ArmingFault::Mode { found: mode.to_owned(), wanted: POSITION.to_owned() });
    }
    None
}

impl Stretch {
    pub(super) fn new(
        node: &Node,
        config: &StretchConfig,
        used: Use,
        silence: f64,
    ) -> Result<Self, RosError> {
        let services = QosProfile::services();
        let (switch_name, wanted) = match used {
            Use::Arm => (&config.position_mode, POSITION),
            Use::Base => (&config.navigation_mode, NAVIGATION),
        };
        Ok(Self {
            mode: Heard::new(node, &config.mode, silence)?,
            runstopped: Heard::new(node, &config.runstopped, silence)?,
            homed: Heard::new(node, &config.homed, silence)?,
            switch: node.create_client(switch_name, services)?,
            switch_name: switch_name.clone(),
            wanted,
            leave: node.create_client(&config.position_mode, services)?,
            stop: node.create_client(&config.stop, services)?,
            config: config.clone(),
        })
    }

    fn unmet(&self) -> Option<ArmingFault> {
        let state = || Ok((self.mode.now()?, self.runstopped.now()?, self.homed.now()?));
        match state() {
            Ok((mode, runstopped, homed)) => unmet(&mode.data, runstopped.data, homed.data),
            Err(silent) => Some(silent),
        }
    }

    pub(super) async fn arm(&self) -> Result<(), ArmingFault> {
        tokio::try_join!(self.mode.next(), self.runstopped.next(), self.homed.next())?;
        if let Some(fault) = self.unmet() {
            return Err(fault);
        }
        for (client, name) in [(&self.switch, &self.switch_name), (&self.stop, &self.config.stop)] {
            if client.wait_available(SWITCHED).await.is_err() {
                return Err(ArmingFault::NoService { service: name.clone(), remedy: START_DRIVER });
            }
        }
        Ok(())
    }

    /// Completes when the robot may not be moved any more.
    pub(super) async fn lost(&self) -> ArmingFault {
        loop {
            let heard = tokio::select! {
                heard = self.mode.next() => heard.map(drop),
                heard = self.runstopped.next() => heard.map(drop),
                heard = self.homed.next() => heard.map(drop),
            };
            if let Some(fault) = heard.err().or_else(|| self.unmet()) {
                return fault;
            }
        }
    }

    /// Takes the mode in which this node's motions are executed.
    pub(super) async fn engage(&self) -> Result<(), ArmingFault> {
        if self.mode.now()?.data == self.wanted {
            return Ok(());
        }
        let answer = call(&self.switch, &self.switch_name, Trigger::Request::default(), START_DRIVER).await?;
        if !answer.success {
            let (service, message) = (self.switch_name.clone(), answer.message);
            return Err(ArmingFault::Refused { service, code: 0, message });
        }
        self.mode.until(SWITCHED, |mode| self.other(&mode.data)).await
    }

    fn other(&self, mode: &str) -> Option<ArmingFault> {
        (mode != self.wanted)
            .then(|| ArmingFault::Mode { found: mode.to_owned(), wanted: self.wanted.to_owned() })
    }

    /// Completes when the robot is not in the mode of this node's motions any more.
    pub(super) async fn disengaged(&self) -> ArmingFault {
        self.mode.violated(|mode| self.other(&mode.data)).await
    }

    /// Stops the robot and leaves it in the mode in which the driver starts.
    pub(super) async fn disarm(&self) -> Result<(), ArmingFault> {
        let mode = self.mode.now()?.data;
        if mode == self.wanted {
            // Leaving `navigation` ends a drive; the stop is for whatever moves in `position`.
            call(&self.leave, &self.config.position_mode, Trigger::Request::default(), START_DRIVER).await?;
            call(&self.stop, &self.config.stop, Trigger::Request::default(), START_DRIVER).await?;
        }
        Ok(())
    }
}
