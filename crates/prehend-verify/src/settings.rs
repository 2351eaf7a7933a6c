//! Thresholds of the judge, as data an operator can read.

use nalgebra::{Point3, Vector3};
use prehend_config::{Findings, Value};
use prehend_scene::EvidenceType;
use serde::{Deserialize, Serialize};

/// Parameters of the commit rule (AAH eq. 6 to 11, defaults of Table 4 and appendix 0.A).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitRule {
    /// Weight alpha of consistency omega (Table 4: 0.5).
    pub alpha: f64,
    /// Weight beta of stability zeta (Table 4: 0.3).
    pub beta: f64,
    /// Weight gamma of sufficiency sigma(mu) (Table 4: 0.2).
    pub gamma: f64,
    /// Acceptance threshold delta (Table 4: 0.8).
    pub delta: f64,
    /// Hard floor of omega (Table 4: 0.5); also the retry threshold of omega (eq. 15).
    pub omega_floor: f64,
    /// Retry threshold of zeta (0.7, eq. 14).
    pub zeta_floor: f64,
    /// Retry threshold of mu; the paper names none, 0.5 as for omega.
    pub mu_floor: f64,
    /// Base weights w_seg, w_det, w_dream, w_web (appendix 0.A.1).
    pub weights: [f64; 4],
}

impl Default for CommitRule {
    fn default() -> Self {
        Self {
            alpha: 0.5,
            beta: 0.3,
            gamma: 0.2,
            delta: 0.8,
            omega_floor: 0.5,
            zeta_floor: 0.7,
            mu_floor: 0.5,
            weights: [0.35, 0.30, 0.20, 0.15],
        }
    }
}

impl CommitRule {
    /// Base weight w_tau of an evidence type.
    pub fn weight(&self, kind: EvidenceType) -> f64 {
        match kind {
            EvidenceType::Seg => self.weights[0],
            EvidenceType::Det => self.weights[1],
            EvidenceType::Dream => self.weights[2],
            EvidenceType::Web => self.weights[3],
        }
    }
}

/// Where the tool may go, map frame, metres. There is no default: a safety limit is stated or nothing runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workspace {
    /// Least x, y, z of the tool centre point.
    pub low: [f64; 3],
    /// Greatest x, y, z of the tool centre point.
    pub high: [f64; 3],
    /// Least height of the tool centre point above the supporting plane.
    pub support_clearance: f64,
    /// Greatest opening of the gripper.
    pub max_opening: f64,
}

impl Workspace {
    /// How far a place is outside, metres; 0 inside. NaN for one that is no number.
    pub fn distance(&self, place: &Point3<f64>) -> f64 {
        let outside = |i: usize| {
            let beyond = (self.low[i] - place[i]).max(place[i] - self.high[i]);
            if beyond < 0.0 { 0.0 } else { beyond }
        };
        Vector3::from_fn(|i, _| outside(i)).norm()
    }
}

/// For which plans a person is asked, from the fewest to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Approval {
    /// For none.
    #[default]
    Never,
    /// Where the evidence, or the object's name, is accepted but not sure.
    Unsure,
    /// For the first plan of a goal that touches something or drives.
    First,
    /// For each plan, looks and ways home included.
    Each,
}

impl Approval {
    /// Every choice with its name in configuration.
    pub const ALL: [(&'static str, Self); 4] =
        [("never", Self::Never), ("unsure", Self::Unsure), ("first", Self::First), ("each", Self::Each)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, choice)| *choice == self).map_or("never", |(name, _)| name)
    }

    /// The choice of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, choice)| choice)
    }
}

/// Everything the judge needs to know in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The commit rule.
    pub commit: CommitRule,
    /// Workspace limits.
    pub workspace: Workspace,
    /// Life of an assessment of evidence, seconds.
    pub assessment_seconds: f64,
    /// Life of a permit, seconds.
    pub permit_seconds: f64,
    /// Least share of class votes for the object's name before it is touched, [0, 1].
    pub min_confidence: f64,
    /// Farthest a grasp's tool pose may be from the object's points, metres.
    pub grasp_reach: f64,
    /// For which plans a person is asked.
    pub approval: Approval,
    /// How long a person's answer is waited for, seconds; none in time is a no.
    pub approval_seconds: f64,
    /// Commit score v below which accepted evidence is not sure, [0, 1].
    pub sure_score: f64,
    /// Share of class votes below which an accepted name is not sure, [0, 1].
    pub sure_name: f64,
}

impl Settings {
    /// Reads the keys of `config/nodes/verifier.yaml`, all of them optional; the workspace is the robot's.
    pub fn read(root: &Value<'_>, workspace: Workspace) -> Option<Self> {
        root.map(|m| {
            let base = CommitRule::default();
            let commit = m.or("commit", base, |v| {
                v.map(|c| {
                    let unit = |v: Value<'_>| v.f64_in(0.0, 1.0);
                    let alpha = c.or("alpha", base.alpha, unit);
                    let beta = c.or("beta", base.beta, unit);
                    let gamma = c.or("gamma", base.gamma, unit);
                    let delta = c.or("delta", base.delta, unit);
                    let omega_floor = c.or("omega_floor", base.omega_floor, unit);
                    let zeta_floor = c.or("zeta_floor", base.zeta_floor, unit);
                    let mu_floor = c.or("mu_floor", base.mu_floor, unit);
                    let weights = c.or("weights", base.weights, |v| v.numbers::<4>());
                    Some(CommitRule {
                        alpha: alpha?,
                        beta: beta?,
                        gamma: gamma?,
                        delta: delta?,
                        omega_floor: omega_floor?,
                        zeta_floor: zeta_floor?,
                        mu_floor: mu_floor?,
                        weights: weights?,
                    })
                })
            });
            // A goal of many steps assesses a thing just before it is grasped; two minutes is longer than any skill takes.
            let assessment_seconds = m.or("assessment_seconds", 120.0, |v| v.f64_in(1.0, 3600.0));
            let permit_seconds = m.or("permit_seconds", 20.0, |v| v.f64_in(0.1, 300.0));
            let min_confidence = m.or("min_confidence", 0.5, |v| v.f64_in(0.0, 1.0));
            let grasp_reach = m.or("grasp_reach", 0.06, |v| v.f64_in(0.0, 0.5));
            let approval = m.or("approval", Approval::Never, |v| v.choice(&Approval::ALL));
            let approval_seconds = m.or("approval_seconds", 60.0, |v| v.f64_in(1.0, 3600.0));
            let sure_score = m.or("sure_score", 0.9, |v| v.f64_in(0.0, 1.0));
            let sure_name = m.or("sure_name", 0.75, |v| v.f64_in(0.0, 1.0));
            Some(Self {
                workspace,
                commit: commit?,
                assessment_seconds: assessment_seconds?,
                permit_seconds: permit_seconds?,
                min_confidence: min_confidence?,
                grasp_reach: grasp_reach?,
                approval: approval?,
                approval_seconds: approval_seconds?,
                sure_score: sure_score?,
                sure_name: sure_name?,
            })
        })
    }

    /// Reads the settings file at `path`.
    pub fn load(path: &std::path::Path, workspace: Workspace) -> Result<Self, Findings> {
        prehend_config::read_file(path, |root| Self::read(&root, workspace))
    }
}
