//! The policy on a finished plan.

use super::{Policy, Violation};
use nalgebra::Point3;
use serde::{Deserialize, Serialize};

/// Where the robot may put things, frame `link_base`, metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    /// Least x, y, z.
    pub min: [f64; 3],
    /// Greatest x, y, z.
    pub max: [f64; 3],
}

impl Workspace {
    /// Whether a point is inside, `margin` metres away from the sides in x and y.
    pub fn contains(&self, point: &Point3<f64>, margin: f64) -> bool {
        (0..2).all(|axis| point[axis] >= self.min[axis] + margin && point[axis] <= self.max[axis] - margin)
            && point.z <= self.max[2]
    }
}

impl Policy {
    /// Whether a target of a placement lies where things may be put; `what` names the step.
    pub fn check_target(&self, what: &str, target: &Point3<f64>, workspace: &Workspace) -> Option<Violation> {
        (!workspace.contains(target, self.workspace_margin)).then(|| Violation {
            rule: "outside_the_workspace".to_owned(),
            why: "what is put beside the table falls".to_owned(),
            what: what.to_owned(),
        })
    }

    /// Whether letting go `height` metres above the support is allowed; `what` names the step.
    pub fn check_drop(&self, what: &str, height: f64) -> Option<Violation> {
        (height.is_nan() || height > self.max_drop_height).then(|| Violation {
            rule: "drop_from_height".to_owned(),
            why: format!("nothing falls farther than {:.2} m", self.max_drop_height),
            what: what.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_heights() {
        let policy = Policy { max_drop_height: 0.15, ..Policy::default() };
        let workspace = Workspace { min: [0.1, -0.4, -0.1], max: [0.7, 0.4, 0.8] };
        assert_eq!(policy.check_target("x", &Point3::new(0.4, 0.0, 0.0), &workspace), None);
        let outside = policy.check_target("x", &Point3::new(0.4, 0.5, 0.0), &workspace);
        assert_eq!(outside.map(|v| v.rule).as_deref(), Some("outside_the_workspace"));
        assert_eq!(policy.check_drop("x", 0.1), None);
        assert!(policy.check_drop("x", 0.3).is_some() && policy.check_drop("x", f64::NAN).is_some());
    }
}
