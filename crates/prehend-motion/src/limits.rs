//! How fast the joints may move.

use prehend_config::{Findings, Map, Value};

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

    /// Reads a file in the layout of MoveIt's `joint_limits.yaml`; `joints` gives the order.
    ///
    /// Every joint must have `max_velocity`, `max_acceleration` and `max_jerk`, all positive: there are no defaults.
    /// Errors: every finding of the file at once.
    pub fn from_yaml(file: &str, text: &str, joints: &[String]) -> Result<Self, Findings> {
        prehend_config::read(file, text, |root| {
            root.map(|top| top.req("joint_limits")?.map(|map| Self::read(map, joints)))
        })
    }

    fn read(map: &mut Map<'_>, joints: &[String]) -> Option<Self> {
        let entries = map.entries();
        let mut limits = Self { velocity: Vec::new(), acceleration: Vec::new(), jerk: Vec::new() };
        let mut complete = true;
        for (name, value) in &entries {
            if !joints.contains(name) {
                let near = prehend_config::nearest(name, joints.iter().map(String::as_str));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                value.report(format!("the robot has no joint `{name}`{hint}"));
            }
        }
        for joint in joints {
            let Some((_, value)) = entries.iter().find(|(name, _)| name == joint) else {
                map.report(format!("no limits for joint `{joint}`"));
                complete = false;
                continue;
            };
            let Some([velocity, acceleration, jerk]) = value.map(read_joint) else {
                complete = false;
                continue;
            };
            limits.velocity.push(velocity);
            limits.acceleration.push(acceleration);
            limits.jerk.push(jerk);
        }
        complete.then_some(limits)
    }

    /// Slower by one factor in time: a path timed with these takes `1 / factor` as long. A factor outside (0, 1] means 1.
    pub fn slowed(&self, factor: f64) -> Self {
        let factor = if factor > 0.0 && factor <= 1.0 { factor } else { 1.0 };
        let times = |list: &[f64], factor: f64| list.iter().map(|value| value * factor).collect();
        Self {
            velocity: times(&self.velocity, factor),
            acceleration: times(&self.acceleration, factor * factor),
            jerk: times(&self.jerk, factor * factor * factor),
        }
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

fn read_joint(map: &mut Map<'_>) -> Option<[f64; 3]> {
    let positive = |value: Value<'_>| value.f64_in(1e-6, 1e6);
    let velocity = map.req("max_velocity").and_then(positive);
    let acceleration = map.req("max_acceleration").and_then(positive);
    let jerk = map.req("max_jerk").and_then(positive);
    Some([velocity?, acceleration?, jerk?])
}
