//! Data of the domain: objects, affordances, the object map, symbolic state, evidence, verdicts and plans.
//!
//! For: what the nodes talk about, as plain values. Not for: how it is perceived, judged or moved.
//! Read [`ObjectMap`] first. Everything is in the map frame (the robot's base frame), metres and radians.

pub mod actions;
pub mod area;
pub mod compartment;
pub mod evidence;
pub mod furniture;
pub mod intent;
pub mod map;
pub mod merge;
pub mod object;
pub mod observation;
pub mod part_motion;
pub mod plan;
pub mod reason;
pub mod sighting;
pub mod skill;
pub mod spatial;
pub mod state;

pub use actions::{ActionRule, ActionTable, ActionWay, Direction, Makes, is_same_part};
pub use area::Area;
pub use compartment::Compartment;
pub use evidence::{Deficiency, Diagnostics, Evidence, EvidenceType, Gaps, Region};
pub use intent::Intent;
pub use map::{ObjectMap, ROOM_PREFIX, Scope};
pub use object::{Affordance, Crop, Object, ObjectKey, ObservedPart, PartView, Slide};
pub use observation::{Felt, Observation};
pub use part_motion::{PartEffect, PartMotion};
pub use plan::{Permit, PlanHash, Relation, SkillPlan};
pub use reason::Reason;
pub use sighting::Sighting;
pub use skill::Skill;
pub use state::SymbolicState;
