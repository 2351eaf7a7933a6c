//! What a robot is built like, as far as skills must know it.

use prehend_motion::RobotModel;

/// The sizes, limits and named poses of one robot. Lengths in metres, in the frame of the arm's base.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its kinematics.
    pub model: RobotModel,
    /// Joints from which the whole table is seen.
    pub home: Vec<f64>,
    /// Survey poses by name.
    pub looks: Vec<(String, Vec<f64>)>,
    /// Joints while the base drives; `None` for a base that stands.
    pub drive_pose: Option<Vec<f64>>,
    /// Link of the camera.
    pub camera: String,
    /// Distance between the pads when open.
    pub max_opening: f64,
    /// Least x, y, z of the tool centre point.
    pub workspace_low: [f64; 3],
    /// Greatest x, y, z of the tool centre point.
    pub workspace_high: [f64; 3],
    /// How far a base that drives reaches along x: no table is there. Negative infinity for a base that stands.
    pub chassis_edge: f64,
    /// Share of the joint velocity limits for free motions, (0, 1].
    pub velocity_scaling: f64,
    /// Share of the joint velocity limits near contact, (0, 1].
    pub contact_velocity_scaling: f64,
}
