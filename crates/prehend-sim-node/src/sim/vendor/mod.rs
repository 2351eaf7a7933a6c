//! The vendor's driver between the controllers and the robot: `xarm_api` or `stretch_driver` by their real names and types, as far as
//! arming goes, and as unwilling: nothing moves before it was readied, nor after an error or a runstop.
//!
//! These are its services and topics; how it is, and its faults, are in `driver`.

mod stretch;
mod xarm;

use super::arm_handle::ArmHandle;
use super::driver::Device;
use prehend_msgs::Service;
use prehend_robots::arming::ArmingConfig;
use prehend_robots::{NodeError, RobotConfig};
use prehend_ros::{Node, QosProfile, RosError};
use std::time::Duration;
use tokio::task::JoinSet;

/// Wall time between two reports of the driver.
const REPORT_PERIOD: Duration = Duration::from_millis(50);

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
