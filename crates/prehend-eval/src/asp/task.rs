//! The tasks of the tabletop benchmark by their codes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A task of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TabletopTask {
    /// Ring the desk bell.
    RingBell,
    /// Remove the thumbtack.
    RemoveThumbtack,
    /// Unplug the power adapter.
    Unplug,
    /// Press the space bar.
    PressSpaceBar,
    /// Open a drawer with a bar handle.
    OpenDrawerByBar,
    /// Open a drawer with a knob.
    OpenDrawerByKnob,
    /// Close the drawer that is open.
    CloseDrawer,
    /// Pick the left or the right one of several toys.
    PickSide,
    /// Pick the largest of several toys.
    PickLargest,
    /// Pick the smallest of several toys.
    PickSmallest,
    /// Pick a mug by its handle.
    MugByHandle,
    /// Pick a pan by its handle.
    PanByHandle,
    /// Put something into a container.
    PutIn,
    /// Put something to the left of another thing.
    PutLeftOf,
    /// Stack one block on another.
    Stack,
    /// Open a hinged door.
    OpenDoor,
    /// Close a hinged door.
    CloseDoor,
    /// Turn on a stove by its knob.
    KnobOn,
    /// Turn it off.
    KnobOff,
    /// Turn on a faucet by its lever.
    LeverOn,
    /// Turn it off.
    LeverOff,
    /// Throw a toggle switch that is off.
    SwitchOn,
    /// Throw one that is on.
    SwitchOff,
}

impl TabletopTask {
    /// Every task of the paper's list with its code in reports.
    pub const ALL: [(Self, &'static str); 15] = [
        (Self::RingBell, "ring_bell"),
        (Self::RemoveThumbtack, "remove_thumbtack"),
        (Self::Unplug, "unplug"),
        (Self::PressSpaceBar, "press_space_bar"),
        (Self::OpenDrawerByBar, "open_drawer_bar"),
        (Self::OpenDrawerByKnob, "open_drawer_knob"),
        (Self::CloseDrawer, "close_drawer"),
        (Self::PickSide, "pick_left_right"),
        (Self::PickLargest, "pick_largest"),
        (Self::PickSmallest, "pick_smallest"),
        (Self::MugByHandle, "mug_by_handle"),
        (Self::PanByHandle, "pan_by_handle"),
        (Self::PutIn, "put_in"),
        (Self::PutLeftOf, "put_left_of"),
        (Self::Stack, "stack"),
    ];

    /// Further tasks on things with joints, which count to no figure of the benchmark.
    pub const FURTHER: [(Self, &'static str); 8] = [
        (Self::OpenDoor, "open_door"),
        (Self::CloseDoor, "close_door"),
        (Self::KnobOn, "turn_knob_on"),
        (Self::KnobOff, "turn_knob_off"),
        (Self::LeverOn, "turn_lever_on"),
        (Self::LeverOff, "turn_lever_off"),
        (Self::SwitchOn, "flip_switch_on"),
        (Self::SwitchOff, "flip_switch_off"),
    ];

    /// The code in reports.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().chain(&Self::FURTHER).find(|(task, _)| *task == self).map_or("", |(_, code)| code)
    }
}

impl fmt::Display for TabletopTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
