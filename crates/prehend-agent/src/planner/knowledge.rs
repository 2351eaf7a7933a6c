//! What everything in the planner looks up.

use crate::language::Lexicon;
use crate::policy::{Policy, Workspace};

/// What the planner needs to know of the robot, and its margins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Where things may be put, map frame.
    pub workspace: Workspace,
    /// Greatest distance between the pads, metres.
    pub gripper_opening: f64,
    /// How far a `drop` lets things fall, metres.
    pub drop_height: f64,
    /// Least ratio of sizes that tells the largest from the second.
    pub size_ratio: f64,
    /// Retries of one step.
    pub retries: u32,
    /// Most things that one action puts aside to get at what it is about; 0 tells the person instead.
    pub clearings: u32,
    /// Most tool calls of one goal.
    pub step_limit: u32,
    /// Name of the survey pose that sees upright faces, if the robot has one.
    pub front_view: Option<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspace: Workspace { min: [0.08, -0.55, -0.05], max: [0.78, 0.55, 0.8] },
            gripper_opening: 0.085,
            drop_height: 0.10,
            size_ratio: 1.10,
            retries: 3,
            clearings: 3,
            step_limit: 150,
            front_view: None,
        }
    }
}

/// What everything in the planner looks up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge<'a> {
    pub(crate) lexicon: &'a Lexicon,
    pub(crate) policy: &'a Policy,
    pub(crate) settings: &'a Settings,
}
