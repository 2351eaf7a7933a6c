//! How fast the joints may move.

/// Greatest speed, acceleration and jerk of each joint.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionLimits {
    /// rad/s (m/s for prismatic joints), positive.
    pub velocity: Vec<f64>,
    /// rad/s², positive.
    pub acceleration: Vec<f64>,
    /// rad/s³, positive.
    pub jerk: Vec<f64>,
}

/// Why limits cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// A list has another length than the robot has joints.
    #[error("{found} {what} limits for {expected} joints")]
    Count {
        /// Which list.
        what: &'static str,
        /// Joints.
        expected: usize,
        /// Entries.
        found: usize,
    },
    /// A limit is not positive and finite.
    #[error("{what} limit of joint {joint} is {value}, must be positive")]
    NotPositive {
        /// Which list.
        what: &'static str,
        /// Index of the joint.
        joint: usize,
        /// The entry.
        value: f64,
    },
}

impl MotionLimits {
    /// The same limits for every joint.
    pub fn uniform(dof: usize, velocity: f64, acceleration: f64, jerk: f64) -> Self {
        Self { velocity: vec![velocity; dof], acceleration: vec![acceleration; dof], jerk: vec![jerk; dof] }
    }

    /// Slower by factors on speed and acceleration, as MoveIt's scaling factors: a factor outside (0, 1] (0 is "not given") means 1.
    ///
    /// The jerk is scaled as the acceleration.
    pub fn scaled(&self, velocity: f64, acceleration: f64) -> Self {
        let factor = |value: f64| if value > 0.0 && value <= 1.0 { value } else { 1.0 };
        let times = |list: &[f64], factor: f64| list.iter().map(|value| value * factor).collect();
        Self {
            velocity: times(&self.velocity, factor(velocity)),
            acceleration: times(&self.acceleration, factor(acceleration)),
            jerk: times(&self.jerk, factor(acceleration)),
        }
    }

    /// Checks lengths and values.
    ///
    /// Errors: every [`LimitsError`].
    pub fn validate(&self, dof: usize) -> Result<(), LimitsError> {
        let lists =
            [("velocity", &self.velocity), ("acceleration", &self.acceleration), ("jerk", &self.jerk)];
        for (what, list) in lists {
            if list.len() != dof {
                return Err(LimitsError::Count { what, expected: dof, found: list.len() });
            }
            if let Some(joint) = list.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(LimitsError::NotPositive { what, joint, value: list[joint] });
            }
        }
        Ok(())
    }
}
