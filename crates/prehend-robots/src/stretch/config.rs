//! The section `driver` of Stretch's robot file: the interface that `stretch_driver` itself has. Nothing in it has a default.

use prehend_config::Map;

/// How `stretch_driver` is spoken to; its odometry stands in `navigation`, its mode and its stop in `arming`.
#[derive(Clone, Debug, PartialEq)]
pub struct StretchDriver {
    /// `control_msgs/action/FollowJointTrajectory`: the driver's own, in mode `position`.
    pub controller: String,
    /// `sensor_msgs/JointState`: the driver's own, without the base and with the fingers' angles.
    pub joint_states: String,
    /// The driver's frame of the base that moves; a link of the URDF has the same name.
    pub base: String,
    /// Distance of the fingers' tips from their joints, metres: by it the driver makes angles of an aperture.
    pub finger_length: f64,
}

impl StretchDriver {
    pub(crate) fn read(m: &mut Map<'_>) -> Option<Self> {
        let mut text = |key| m.req(key).and_then(|v| v.text());
        let (controller, joint_states, base) = (text("controller"), text("joint_states"), text("base"));
        let finger_length = m.req("finger_length").and_then(|v| v.f64_in(0.05, 0.5));
        Some(Self {
            controller: controller?,
            joint_states: joint_states?,
            base: base?,
            finger_length: finger_length?,
        })
    }

    /// Distance between the pads, metres, for a finger's angle, radians (`GripperConversion.finger_rad_to_aperture`).
    pub(super) fn aperture(&self, finger: f64) -> f64 {
        2.0 * finger * self.finger_length
    }
}
