//! Every judgement: evidence diagnostics, the commit gate, permits, and outcome checks.
//!
//! For: deciding whether the robot may act and whether it did what it was told. Not for: finding objects, choosing
//! grasps or talking to anyone. It shares nothing with skills and agent but the data of the domain, so it stays an
//! independent judge. Read [`gate::judge`] first.
//!
//! A judgement is data ([`Finding`], [`outcome::Outcome`]); time is an argument.

pub mod approval;
pub mod assessment;
mod context;
pub mod diagnostics;
mod drive;
mod finding;
pub mod gate;
mod ground;
pub mod ledger;
mod otherwise;
pub mod outcome;
pub mod settings;

pub use approval::{ApprovalError, Approvals, Claim};
pub use assessment::{Assessment, Assessments, Doubt, Judged, Scene, Sightings, assess};
pub use context::GateContext;
pub use diagnostics::diagnose;
pub use finding::{Finding, Verdict};
pub use ground::Ground;
pub use ledger::{Ledger, RedeemError};
pub use outcome::{Outcome, check_outcome, keep_needed};
pub use settings::{Approval, CommitRule, Settings, Workspace};
