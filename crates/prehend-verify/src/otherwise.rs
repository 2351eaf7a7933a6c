//! The other side of each rule: what would have had to be different for the opposite judgement.

use crate::diagnostics::{sigmoid, sigmoid_inverse};
use crate::{CommitRule, Finding};
use prehend_scene::Diagnostics;

impl CommitRule {
    /// By which numbers the commit rule (AAH eq. 9 and 10) would have said the opposite of these diagnostics, each with the others as they
    /// are: where omega, zeta or mu would have had to be. Empty when the rule holds and something else speaks against committing.
    pub fn otherwise(&self, found: &Diagnostics) -> Vec<String> {
        let holds = found.score >= self.delta && found.omega >= self.omega_floor;
        match (holds, found.committed) {
            (true, true) => self.lost_by(found),
            (true, false) => Vec::new(),
            (false, _) => self.won_by(found),
        }
    }

    fn lost_by(&self, found: &Diagnostics) -> Vec<String> {
        let to_spare = found.score - self.delta;
        let omega = (found.omega - to_spare / self.alpha).max(self.omega_floor);
        let mut ways = vec![format!("refused with omega below {omega:.2} (it is {:.2})", found.omega)];
        let zeta = found.zeta - to_spare / self.beta;
        if zeta > 0.0 {
            ways.push(format!("refused with zeta below {zeta:.2} (it is {:.2})", found.zeta));
        }
        let share = sigmoid(found.mu) - to_spare / self.gamma;
        if let Some(mu) = sigmoid_inverse(share).filter(|mu| *mu > 0.0) {
            ways.push(format!("refused with mu below {mu:.2} (it is {:.2})", found.mu));
        }
        ways
    }

    fn won_by(&self, found: &Diagnostics) -> Vec<String> {
        let short = (self.delta - found.score).max(0.0);
        let omega = (found.omega + short / self.alpha).max(self.omega_floor);
        let mut ways = Vec::new();
        if omega <= 1.0 {
            ways.push(format!("accepted with omega at {omega:.2} or more (it is {:.2})", found.omega));
        }
        // Below the hard floor of omega nothing else helps.
        if found.omega >= self.omega_floor {
            let zeta = found.zeta + short / self.beta;
            if zeta <= 1.0 {
                ways.push(format!("accepted with zeta at {zeta:.2} or more (it is {:.2})", found.zeta));
            }
            let mu = sigmoid_inverse(sigmoid(found.mu) + short / self.gamma);
            if let Some(mu) = mu.filter(|mu| *mu <= 1.0) {
                ways.push(format!("accepted with mu at {mu:.2} or more (it is {:.2})", found.mu));
            }
        }
        if ways.is_empty() {
            ways.push(format!(
                "no single number would have sufficed: the score lacks {short:.2}, and omega, zeta and mu together can still add {:.2}, {:.2} and {:.2}",
                self.alpha * (1.0 - found.omega),
                self.beta * (1.0 - found.zeta),
                self.gamma * (sigmoid(1.0) - sigmoid(found.mu))
            ));
        }
        ways
    }
}

impl Finding {
    /// What would have had to be different for this reason not to be there.
    pub fn otherwise(&self) -> String {
        match self {
            Self::NoMap => "a look before the plan".to_owned(),
            Self::StaleMap { current, .. } => format!("a plan made from map version {current}"),
            Self::UnknownObject { key } => format!("a map that has {key}"),
            Self::PoseNotFinite { .. } => "a pose of finite numbers".to_owned(),
            Self::PoseOutsideWorkspace { .. } => {
                "a pose within limits.workspace_low and workspace_high of the robot's file".to_owned()
            }
            Self::BelowSupport { limit, height, .. } => {
                format!("a pose {:.3} m higher: {limit:.3} m above the table or more", limit - height)
            }
            Self::PoseCount { .. } => "1 to 64 pose goals".to_owned(),
            Self::Opening { limit, .. } => format!("an opening between 0 and {limit:.3} m"),
            Self::HandNotEmpty { held } => format!("a hand that does not hold {held}"),
            Self::NotHeld { object } => format!("{object} in the hand"),
            Self::MissingTarget { needed, .. } => format!("{needed} target(s)"),
            Self::GraspAwayFromObject { limit, distance, .. } => {
                format!("a pose {:.3} m nearer: within {limit:.3} m of the object's points", distance - limit)
            }
            Self::UncertainName { class_name, limit, .. } => {
                format!("{limit:.2} of the votes or more for \"{class_name}\": more views that call it so")
            }
            Self::PartMotion { given: true, .. } => "no motion of a part in the plan".to_owned(),
            Self::PartMotion { given: false, .. } => "the motion of the part in the plan".to_owned(),
            Self::PartEffect { skill, .. } => format!("an effect that {} can have", skill.name()),
            Self::PartBounds { what, limit, .. } => format!("{what} of more than 0 and at most {limit:.3}"),
            Self::PartAwayFromObject { limit, distance, .. } => {
                format!("a part {:.3} m nearer: within {limit:.3} m of the object's points", distance - limit)
            }
            Self::PartLeavesWorkspace { beyond, corridor, .. } => {
                format!("a motion that ends {:.3} m nearer to the workspace", beyond - corridor)
            }
            Self::BasePoseCount { .. } => "exactly one pose of the base".to_owned(),
            Self::BaseNotLevel { .. } => "a level pose on the ground".to_owned(),
            Self::NoGround => "a costmap, from Nav2's topic of it".to_owned(),
            Self::OffTheGround { .. } => "a goal on ground that the costmap has".to_owned(),
            Self::GroundTaken { .. } => "known and free ground under the whole base".to_owned(),
            Self::NotAssessed { .. } => "an assessment of evidence about the object".to_owned(),
            Self::UnknownAssessment { .. } => "an assessment that this verifier made".to_owned(),
            Self::AssessedOther { planned, .. } => format!("an assessment of {planned}"),
            Self::AssessmentExpired { age, limit, .. } => {
                format!("a request {:.0} s earlier: the assessment at most {limit:.0} s old", age - limit)
            }
            Self::MovedSinceAssessed { object } => format!("{object} where it was assessed"),
            Self::Doubted { .. } => {
                "regions that lie on the object in the images in which the map saw it".to_owned()
            }
            Self::NotCommitted { .. } => {
                "omega, zeta and mu as the commit rule wants them (AAH eq. 9 and 10)".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_scene::Gaps;

    fn found(omega: f64, zeta: f64, mu: f64) -> Diagnostics {
        let rule = CommitRule::default();
        let score = rule.alpha * omega + rule.beta * zeta + rule.gamma * sigmoid(mu);
        let committed = score >= rule.delta && omega >= rule.omega_floor;
        Diagnostics { omega, zeta, mu, score, committed, deficiency: None, gaps: Gaps::default() }
    }

    /// The numbers of each way, put in place of what was found, must turn the judgement round.
    fn check(omega: f64, zeta: f64, mu: f64, ways: usize) {
        let before = found(omega, zeta, mu);
        let said = CommitRule::default().otherwise(&before);
        assert_eq!(said.len(), ways, "{said:?}");
        for way in said {
            let words: Vec<&str> = way.split(' ').collect();
            let number: f64 = words.iter().find_map(|word| word.parse().ok()).unwrap();
            // Two decimals are told: the other side of the rounding.
            let number = if before.committed { number - 0.006 } else { number + 0.006 };
            let after = match words[2] {
                "omega" => found(number, zeta, mu),
                "zeta" => found(omega, number, mu),
                _ => found(omega, zeta, number),
            };
            assert_ne!(before.committed, after.committed, "{way}");
        }
    }

    #[test]
    fn each_way_turns_the_judgement_round() {
        check(0.89, 0.0, 0.77, 1);
        check(0.89, 1.0, 0.82, 3);
        check(0.85, 0.7, 0.5, 3);
        check(0.45, 1.0, 0.9, 1);
        check(0.85, 0.65, 0.9, 3);
    }

    #[test]
    fn what_no_single_number_mends_is_said_so() {
        let said = CommitRule::default().otherwise(&found(0.5, 0.0, 0.1));
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("no single number"), "{said:?}");
        assert!(said[0].contains("lacks 0.55"), "{said:?}");
    }

    #[test]
    fn numbers_that_suffice_are_not_what_is_wrong() {
        let doubted = Diagnostics { committed: false, ..found(0.9, 0.9, 0.9) };
        assert!(CommitRule::default().otherwise(&doubted).is_empty());
    }

    #[test]
    fn a_limit_stands_in_what_would_have_helped() {
        let low = Finding::BelowSupport { index: 0, height: 0.004, limit: 0.015 };
        assert_eq!(low.otherwise(), "a pose 0.011 m higher: 0.015 m above the table or more");
        let rule = serde_json::to_value(&low).unwrap();
        assert_eq!(
            rule,
            serde_json::json!({"rule": "below_support", "index": 0, "height": 0.004, "limit": 0.015})
        );
    }
}
