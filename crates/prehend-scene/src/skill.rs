//! What the robot can do.

use serde::{Deserialize, Serialize};

/// One thing the robot can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skill {
    /// Move the camera to a survey pose.
    Look,
    /// Move the arm to its home pose.
    Home,
    /// Grasp an object anywhere (ASP IV-C).
    Grasp,
    /// Place the held object (ASP IV-C).
    Place,
    /// Let the held object fall a short way onto or into a target (ASP IV-C).
    Drop,
    /// Grasp one part of an object, such as a handle (ASP IV-C).
    GraspPart,
    /// Push on a part with the tips of the closed gripper (ASP IV-C).
    TipPush,
    /// Pinch a part between the pads and pull (ASP IV-C).
    PinchPull,
    /// Hook a part from above and pull (ASP IV-C).
    HookPull,
    /// Drive the base to where an object can be acted on (ASP III-D). The plan's only pose goal is the base's, in the map
    /// frame.
    GoTo,
}

impl Skill {
    /// Every skill with its name on the wire.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Look, "look"),
        (Self::Home, "home"),
        (Self::Grasp, "grasp"),
        (Self::Place, "place"),
        (Self::Drop, "drop"),
        (Self::GraspPart, "grasp_part"),
        (Self::TipPush, "tip_push"),
        (Self::PinchPull, "pinch_pull"),
        (Self::HookPull, "hook_pull"),
        (Self::GoTo, "go_to"),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Home => "home",
            Self::Grasp => "grasp",
            Self::Place => "place",
            Self::Drop => "drop",
            Self::GraspPart => "grasp_part",
            Self::TipPush => "tip_push",
            Self::PinchPull => "pinch_pull",
            Self::HookPull => "hook_pull",
            Self::GoTo => "go_to",
        }
    }

    /// Whether the skill acts on one part of an object, so that its plan has a [`PartMotion`](crate::PartMotion).
    pub fn acts_on_part(self) -> bool {
        match self {
            Self::GraspPart | Self::TipPush | Self::PinchPull | Self::HookPull => true,
            Self::Look | Self::Home | Self::Grasp | Self::Place | Self::Drop | Self::GoTo => false,
        }
    }

    /// Whether the skill is the moment the robot commits to an object or a part, for which evidence is needed
    /// (AAH eq. 10).
    pub fn needs_evidence(self) -> bool {
        self == Self::Grasp || self.acts_on_part()
    }

    /// The skill with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, n)| *n == name).map(|(skill, _)| skill)
    }
}
