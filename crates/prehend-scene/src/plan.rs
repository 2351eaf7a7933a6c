//! Skill plans and the permits bound to them.

use crate::{ObjectKey, PartMotion, Skill};
use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Where a held object shall go, relative to its targets. Directions are the robot's: it looks along +x, left is +y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// On top of the target.
    On,
    /// Inside the target.
    In,
    /// On the table close beside the target.
    NextTo,
    /// On the table to the left (+y) of the target.
    LeftOf,
    /// On the table to the right (-y) of the target.
    RightOf,
    /// On the table nearer to the robot (-x) than the target.
    InFrontOf,
    /// On the table farther from the robot (+x) than the target.
    Behind,
    /// On the table between two targets.
    Between,
    /// On the table, away from everything (no target), or from the targets.
    Away,
    /// Anywhere free on the table.
    Table,
}

impl Relation {
    /// Every relation with its name on the wire.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::On, "on"),
        (Self::In, "in"),
        (Self::NextTo, "next_to"),
        (Self::LeftOf, "left_of"),
        (Self::RightOf, "right_of"),
        (Self::InFrontOf, "in_front_of"),
        (Self::Behind, "behind"),
        (Self::Between, "between"),
        (Self::Away, "away"),
        (Self::Table, "table"),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match Self::ALL.iter().find(|(relation, _)| *relation == self) {
            Some((_, name)) => name,
            None => "table",
        }
    }

    /// The relation with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, n)| *n == name).map(|(relation, _)| relation)
    }
}

/// SHA-256 of a plan, lower-case hex.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanHash(pub String);

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What shall be done, immutable once made; its hash binds the permit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillPlan {
    /// The skill.
    pub skill: Skill,
    /// The object acted on (grasp, the skills on parts) or held (place, drop); empty for look and home.
    pub object: ObjectKey,
    /// Targets of the relation; may be empty.
    pub targets: Vec<ObjectKey>,
    /// Where to place; only for place and drop.
    pub relation: Option<Relation>,
    /// Part of the object that is grasped, pushed or pulled; empty when none.
    pub part: String,
    /// What becomes of the part; present exactly when the skill acts on a part.
    pub motion: Option<PartMotion>,
    /// What the plan assumes is held.
    pub held_object: Option<ObjectKey>,
    /// Tool poses to reach in order, `map_from_tool`.
    pub pose_goals: Vec<Isometry3<f64>>,
    /// Gripper opening before the contact, metres.
    pub gripper_opening: f64,
    /// Map version the plan was made from.
    pub map_version: u64,
}

impl SkillPlan {
    /// Hash over every field; floats enter by their bits, so equal plans have equal hashes in every process.
    pub fn hash(&self) -> PlanHash {
        let mut hasher = Sha256::new();
        let mut text = |part: &str| {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        text(self.skill.name());
        text(&self.object.0);
        text(&self.targets.len().to_string());
        for target in &self.targets {
            text(&target.0);
        }
        text(self.relation.map_or("", Relation::name));
        text(&self.part);
        text(self.held_object.as_ref().map_or("", |key| &key.0));
        for pose in &self.pose_goals {
            let t = pose.translation.vector;
            let q = pose.rotation.coords;
            for number in [t.x, t.y, t.z, q.x, q.y, q.z, q.w] {
                hasher.update(number.to_bits().to_le_bytes());
            }
        }
        if let Some(motion) = &self.motion {
            let name = motion.effect.name();
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            for number in motion.numbers() {
                hasher.update(number.to_bits().to_le_bytes());
            }
        }
        hasher.update(self.gripper_opening.to_bits().to_le_bytes());
        hasher.update(self.map_version.to_le_bytes());
        PlanHash(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Leave to execute one plan once, until it expires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Permit {
    /// Unique id.
    pub id: String,
    /// The only plan it is good for.
    pub plan_hash: PlanHash,
    /// The only map version it is good for.
    pub map_version: u64,
    /// Time after which it is void, seconds of the verifier's clock.
    pub expires: f64,
}
