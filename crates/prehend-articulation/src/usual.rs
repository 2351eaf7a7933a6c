//! How parts of a kind usually move: what is expected of one that nobody moved yet.

use prehend_skills::joint::Expected;

/// How things of a class move, before they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// Out of its whole.
    Drawer,
    /// About an upright edge.
    Door,
    /// About a level edge.
    Lid,
    /// Sideways along its face.
    Sliding,
    /// About its own middle.
    Knob,
    /// About the end at which it is fixed.
    Lever,
    /// Nobody knows.
    Unknown,
}

impl Usual {
    /// By the words of a class.
    pub(crate) fn of(class: &str) -> Self {
        let mut words = class.split([' ', '_']);
        let slides = words.clone().any(|word| word == "sliding");
        match words.next_back().unwrap_or_default() {
            _ if slides => Self::Sliding,
            "drawer" | "layer" | "tray" => Self::Drawer,
            "door" | "gate" | "shutter" => Self::Door,
            "lid" | "flap" | "hatch" | "cover" | "leaf" => Self::Lid,
            "window" | "slider" => Self::Sliding,
            "knob" | "dial" | "wheel" => Self::Knob,
            "lever" | "switch" | "tap" => Self::Lever,
            _ => Self::Unknown,
        }
    }

    /// The same for who follows a hand's way.
    pub(crate) fn expected(self) -> Expected {
        match self.turns() {
            Some(true) => Expected::Turn,
            Some(false) => Expected::Slide,
            None => Expected::Unknown,
        }
    }

    /// Whether such parts turn; `None` when nobody knows.
    pub(crate) fn turns(self) -> Option<bool> {
        match self {
            Self::Drawer | Self::Sliding => Some(false),
            Self::Door | Self::Lid | Self::Knob | Self::Lever => Some(true),
            Self::Unknown => None,
        }
    }
}
