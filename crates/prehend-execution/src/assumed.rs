//! What is taken to have been done before, where a skill is only planned.

use crate::hand::Held;
use prehend_scene::SkillPlan;

/// What is taken to have been done before a plan: a grasp that was planned.
#[derive(Clone, Debug)]
pub struct Before {
    /// The grasp.
    pub plan: SkillPlan,
    /// Distance between the pads when they hold, metres.
    pub grip_width: f64,
    /// Joints of the arm where its lift ends, radians or metres; `None` when it has no motion of this arm.
    pub arm: Option<Vec<f64>>,
}

/// What is taken to have been done before: the object is in the hand, and the arm is where its lift ends.
#[derive(Clone, Debug)]
pub(crate) struct Assumed {
    pub(crate) held: Held,
    /// Joints of the arm, radians or metres.
    pub(crate) arm: Vec<f64>,
    /// Distance between the pads, metres.
    pub(crate) opening: f64,
}
