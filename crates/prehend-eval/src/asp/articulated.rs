//! What the further tasks are made of: doors, knobs, levers and switches, which the paper's list does not have.

use super::draft::{Draft, always, one_of};
use super::scene::{ANYWHERE, Area, Thing, distractors};
use super::score::Subject;
use super::task::TabletopTask;
use crate::goal::{GoalSpec, Predicate};
use rand::{Rng, RngExt};

/// Where what has a door stands, so that the door is in reach.
const BACK: Area = Area { x: [0.73, 0.76], y: [-0.10, 0.14] };
/// Where other things stand, clear of a door that swings.
const BESIDE: Area = Area { x: [0.27, 0.36], y: [-0.34, -0.20] };
/// Where a stove, a faucet or a switch stands.
const WITHIN: Area = Area { x: [0.38, 0.50], y: [-0.22, 0.22] };

/// What a task acts on.
struct Kind {
    noun: &'static str,
    model: &'static str,
    joint: &'static str,
    reach: f64,
    area: Area,
    yaw: f64,
    confusions: &'static str,
}

const MICROWAVE: Kind = Kind {
    noun: "microwave",
    model: "microwave",
    joint: "door",
    reach: 0.20,
    area: BACK,
    yaw: 0.12,
    confusions: "microwave: [cabinet], door: [box]",
};
const CUPBOARD: Kind =
    Kind { noun: "cabinet", model: "door_cabinet", confusions: "cabinet: [box], door: [box]", ..MICROWAVE };
const STOVE: Kind = Kind {
    noun: "stove",
    model: "flat_stove",
    joint: "knob",
    reach: 0.19,
    area: WITHIN,
    yaw: 0.5,
    confusions: "stove: [box]",
};
const FAUCET: Kind = Kind {
    noun: "faucet",
    model: "faucet",
    joint: "lever",
    reach: 0.14,
    yaw: 0.8,
    confusions: "faucet: [bottle]",
    ..STOVE
};
const SWITCH: Kind = Kind {
    noun: "switch",
    model: "switch",
    joint: "lever",
    reach: 0.07,
    yaw: 0.8,
    confusions: "switch: [box]",
    ..STOVE
};

/// A new table for a further task.
pub(super) fn draft(rng: &mut impl Rng, task: TabletopTask) -> Draft {
    let door = if rng.random_bool(0.5) { &MICROWAVE } else { &CUPBOARD };
    match task {
        TabletopTask::CloseDoor => made(
            rng,
            door,
            Some([0.7, 1.4]),
            "closed",
            &["close the {}", "shut the {}", "close the door of the {}"],
        ),
        TabletopTask::KnobOn => {
            made(rng, &STOVE, None, "on", &["turn on the {}", "switch on the {}", "turn the {} on"])
        }
        TabletopTask::KnobOff => made(
            rng,
            &STOVE,
            Some([0.9, 1.6]),
            "off",
            &["turn off the {}", "switch off the {}", "turn the {} off"],
        ),
        TabletopTask::LeverOn => {
            made(rng, &FAUCET, None, "on", &["turn on the {}", "turn on the tap", "turn the {} on"])
        }
        TabletopTask::LeverOff => made(
            rng,
            &FAUCET,
            Some([0.8, 1.4]),
            "off",
            &["turn off the {}", "turn off the tap", "turn the {} off"],
        ),
        TabletopTask::SwitchOn => made(
            rng,
            &SWITCH,
            None,
            "on",
            &["turn on the light", "flip the {}", "turn on the light {}", "flip the light {}"],
        ),
        TabletopTask::SwitchOff => made(
            rng,
            &SWITCH,
            Some([0.5, 0.5]),
            "off",
            &["turn off the light", "flip the {}", "switch off the light"],
        ),
        _ => made(rng, door, None, "open", &["open the {}", "open the door of the {}", "please open the {}"]),
    }
}

/// One thing with a joint, from where the joint stands to a state; `{}` in a sentence is the thing's noun.
fn made(rng: &mut impl Rng, kind: &Kind, from: Option<[f64; 2]>, state: &str, sentences: &[&str]) -> Draft {
    let mut thing = Thing::model(kind.noun, kind.model, kind.reach, kind.area, [-kind.yaw, kind.yaw]);
    if let Some([low, high]) = from {
        thing = thing.with(&format!("joints: {{{}: {{position: [{low}, {high}]}}}}", kind.joint));
    }
    let mut things = vec![thing];
    let count = rng.random_range(1..=2);
    let tall = ["bottle", "can", "box", "jar", "mug"];
    let area = if kind.joint == "door" { BESIDE } else { ANYWHERE };
    things.extend(distractors(rng, count, &tall, area));
    let object = format!("{}/{}", kind.noun, kind.joint);
    let predicate = Predicate::InState { object: object.clone(), state: state.to_owned() };
    Draft {
        things,
        confusions: kind.confusions.to_owned(),
        sentence: one_of(rng, sentences).replace("{}", kind.noun),
        spec: GoalSpec::world(vec![predicate]),
        subject: Subject { objects: vec![object], acted_on: true, ..Subject::default() },
        is_clear: always,
    }
}
