//! `stretch_driver` as far as arming goes.

use super::Servers;
use crate::sim::driver::Device;
use prehend_msgs::std_msgs::msg::{Bool, String as Text};
use prehend_msgs::std_srvs::srv::Trigger;
use prehend_robots::NodeError;
use prehend_robots::arming::StretchConfig;
use prehend_ros::QosProfile;

pub(super) fn serve(servers: &mut Servers<'_>, config: &StretchConfig) -> Result<(), NodeError> {
    let modes = [(&config.navigation_mode, "navigation"), (&config.position_mode, "position")];
    for (service, mode) in modes {
        servers.service::<Trigger::Service>(service, move |device, _, granted| {
            if let (Device::Stretch(state), true) = (device, granted) {
                // As the driver does it, runstop or not.
                state.mode = mode.to_owned();
            }
            Trigger::Response { success: granted, message: format!("mode {mode}: {granted}") }
        })?;
    }
    let arm = servers.arm.clone();
    servers.service::<Trigger::Service>(&config.stop, move |device, _, granted| {
        // In trajectory mode the driver does not pass it on.
        let passed = matches!(device, Device::Stretch(state) if state.mode != "trajectory");
        if granted && passed {
            // An error means that the simulation has ended.
            let _ = (arm.stop(), arm.brake());
        }
        Trigger::Response { success: granted, message: "Stopped the robot.".to_owned() }
    })?;
    let qos = QosProfile::default().depth(1);
    let mode = servers.node.create_publisher::<Text>(&config.mode, qos)?;
    let runstopped = servers.node.create_publisher::<Bool>(&config.runstopped, qos)?;
    let homed = servers.node.create_publisher::<Bool>(&config.homed, qos)?;
    servers.reports(move |arm| {
        let state = match &arm.vendor().lock().device {
            Device::Stretch(state) => state.clone(),
            Device::None | Device::XArm(_) => return,
        };
        let sent = [
            runstopped.publish(&Bool { data: state.runstopped }),
            homed.publish(&Bool { data: state.homed }),
            mode.publish(&Text { data: state.mode }),
        ];
        for error in sent.into_iter().filter_map(Result::err) {
            tracing::debug!("driver's state not sent: {error}");
        }
    });
    Ok(())
}
