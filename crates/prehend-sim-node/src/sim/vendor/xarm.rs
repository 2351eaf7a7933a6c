//! `xarm_api` as far as arming goes.

use super::Servers;
use crate::sim::driver::{Device, HAS_ERROR, READY, REFUSED, STOPPED, XArmState};
use prehend_convert::header;
use prehend_motion::RobotModel;
use prehend_msgs::xarm_msgs::msg::RobotMsg;
use prehend_msgs::xarm_msgs::srv::{
    Call, GetInt16, SetFloat32, SetFloat32List, SetInt16, SetInt16ById, SetInt16List, SetTcpLoad,
};
use prehend_robots::NodeError;
use prehend_robots::RobotConfig;
use prehend_robots::arming::XArmConfig;
use prehend_ros::QosProfile;

/// Number of the controller's error when the tool leaves the fence.
const BEYOND_FENCE: i16 = 35;
fn xarm(device: &mut Device, granted: bool, act: impl FnOnce(&mut XArmState) -> i16) -> i16 {
    match device {
        Device::XArm(state) if granted => act(state),
        _ => REFUSED,
    }
}

pub(super) fn serve(
    servers: &mut Servers<'_>,
    robot: &RobotConfig,
    config: &XArmConfig,
) -> Result<(), NodeError> {
    let config = config.resolved(servers.node);
    let name = |service: &str| format!("{}/{service}", config.services);
    let ok = String::new;
    for service in ["clean_error", "clean_warn"] {
        servers.service::<Call::Service>(&name(service), move |device, _, granted| {
            let ret = xarm(device, granted, |state| {
                state.error = 0;
                0
            });
            Call::Response { ret: ret.into(), message: ok() }
        })?;
    }
    type Set = fn(&mut XArmState, i16) -> i16;
    let settings: [(&str, Set); 5] = [
        ("set_mode", |state, data| {
            (state.state, state.mode) = (Some(STOPPED), data);
            0
        }),
        ("set_state", XArmState::set_state),
        ("set_fence_mode", |state, data| {
            state.fence_on = data;
            0
        }),
        ("set_reduced_mode", |state, data| {
            state.reduced = data;
            0
        }),
        ("set_collision_sensitivity", |state, data| {
            state.sensitivity = data;
            0
        }),
    ];
    for (service, set) in settings {
        servers.service::<SetInt16::Service>(&name(service), move |device, request, granted| {
            let ret = xarm(device, granted, |state| set(state, request.data));
            SetInt16::Response { ret, message: ok() }
        })?;
    }
    servers.service::<SetInt16ById::Service>(&name("motion_enable"), move |device, request, granted| {
        let ret = xarm(device, granted, |state| {
            state.enabled = if request.id == 8 && request.data == 1 { 0b11_1111 } else { 0 };
            if state.error == 0 { 0 } else { HAS_ERROR }
        });
        SetInt16ById::Response { ret, message: ok() }
    })?;
    servers.service::<SetInt16List::Service>(
        &name("set_reduced_tcp_boundary"),
        move |device, request, granted| {
            let ret = xarm(device, granted, |state| {
                // Limits count from when reduced mode is switched on.
                (state.boundary, state.reduced) = (request.datas.clone(), 0);
                0
            });
            SetInt16List::Response { ret, message: ok() }
        },
    )?;
    type SetFloat = fn(&mut XArmState, f32);
    let speeds: [(&str, SetFloat); 2] = [
        ("set_reduced_max_tcp_speed", |state, data| state.max_tcp_speed = data),
        ("set_reduced_max_joint_speed", |state, data| state.max_joint_speed = data),
    ];
    for (service, set) in speeds {
        servers.service::<SetFloat32::Service>(&name(service), move |device, request, granted| {
            let ret = xarm(device, granted, |state| {
                set(state, request.data);
                0
            });
            SetFloat32::Response { ret, message: ok() }
        })?;
    }
    servers.service::<SetFloat32List::Service>(
        &name("set_tcp_offset"),
        move |device, request, granted| {
            let ret = xarm(device, granted, |state| {
                state.offset.clone_from(&request.datas);
                state.unready();
                0
            });
            SetFloat32List::Response { ret, message: ok() }
        },
    )?;
    servers.service::<SetTcpLoad::Service>(&name("set_tcp_load"), move |device, request, granted| {
        let ret = xarm(device, granted, |state| {
            (state.load, state.load_center) = (request.weight, request.center_of_gravity.clone());
            state.unready();
            0
        });
        SetTcpLoad::Response { ret: ret.into(), message: ok() }
    })?;
    servers.service::<GetInt16::Service>(&name("get_reduced_mode"), move |device, _, granted| {
        let mut data = 0;
        let ret = xarm(device, granted, |state| {
            data = state.reduced;
            0
        });
        GetInt16::Response { ret, message: ok(), data }
    })?;
    report(servers, robot, &name("robot_states"))
}

/// Reports the state; an arm that is seen beyond the fence is stopped with an error.
fn report(servers: &mut Servers<'_>, robot: &RobotConfig, topic: &str) -> Result<(), NodeError> {
    let publisher = servers.node.create_publisher::<RobotMsg>(topic, QosProfile::default().depth(10))?;
    let unusable = |reason: String| NodeError::Start { node: "sim", reason };
    let text = std::fs::read_to_string(&robot.urdf)
        .map_err(|error| unusable(format!("cannot read {}: {error}", robot.urdf.display())))?;
    let model = RobotModel::from_urdf(&text, robot.group()).map_err(|error| unusable(error.to_string()))?;
    servers.reports(move |arm| {
        let joints = arm.state();
        let tool = model.tip_pose(&joints.positions).ok();
        let place = tool.map(|tool| tool.translation.vector * 1e3);
        let message = {
            let mut state = arm.vendor().lock();
            let Device::XArm(xarm) = &mut state.device else { return };
            if xarm.error == 0 && place.is_some_and(|p| xarm.is_beyond([p.x, p.y, p.z])) {
                xarm.fail(BEYOND_FENCE);
            }
            let moves = joints.moving && xarm.state() == READY;
            let mut offset = xarm.offset.clone();
            offset.resize(6, 0.0);
            RobotMsg {
                header: header("", joints.time),
                state: if moves { 1 } else { xarm.state() },
                mode: xarm.mode,
                mt_able: xarm.enabled,
                err: xarm.error,
                angle: joints.positions.iter().map(|angle| *angle as f32).collect(),
                pose: place.map_or(vec![0.0; 6], |p| vec![p.x as f32, p.y as f32, p.z as f32, 0.0, 0.0, 0.0]),
                offset,
                ..Default::default()
            }
        };
        arm.heed();
        if let Err(error) = publisher.publish(&message) {
            tracing::debug!("robot state not sent: {error}");
        }
    });
    Ok(())
}
