//! Interaction imagination (AAH 3.1, the skill *Dreamer*) by physics: before anything moves, the two fingers of a gripper close on what
//! the camera saw of a thing, or a fingertip presses on it.
//!
//! For: telling whether a hand gets around a part, holds it when it is pulled, or reaches it first. Not for: how the real thing will move;
//! what was not seen is not there, and mass and friction are assumed. Read [`imagine`] first.

mod grip;
mod hold;
mod press;

use nalgebra::{Point3, Vector3};

/// What is done to the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The fingers close on it and pull.
    Hold,
    /// A fingertip presses on it.
    Press,
}

/// What is seen of a thing, in one frame whose z is up, metres. Points that are not finite are left out.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Points of the thing.
    pub thing: &'a [Point3<f64>],
    /// Points of the part that is acted on.
    pub part: &'a [Point3<f64>],
    /// Outward direction of the part.
    pub outward: Vector3<f64>,
    /// Height of what the thing stands on.
    pub support: f64,
}

/// A parallel gripper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hand {
    /// Greatest distance between the pads, metres.
    pub max_opening: f64,
    /// Width of a pad across the closing direction, metres.
    pub pad_width: f64,
    /// Thickness of a finger along the closing direction, metres.
    pub finger_thickness: f64,
    /// Free length of a finger, metres.
    pub finger_length: f64,
    /// Force of the grip, newtons.
    pub force: f64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imagined {
    /// Share of the tries that went well, [0, 1].
    pub success: f64,
    /// Where the part was touched: the middle between the pads, or under the fingertip.
    pub at: Point3<f64>,
    /// Why it went as it did.
    pub end: End,
}

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// It was held; how far it slipped through the fingers, metres.
    Held(f64),
    /// It slipped out; how far, metres.
    Slipped(f64),
    /// The open fingers do not get around it.
    NoRoom,
    /// The fingers closed on nothing.
    Missed,
    /// The fingertip reaches the part first.
    Reached,
    /// The fingertip meets something else first.
    Blocked,
}

impl Hand {
    fn is_sound(&self) -> bool {
        [self.max_opening, self.pad_width, self.finger_thickness, self.finger_length, self.force]
            .iter()
            .all(|number| number.is_finite() && *number > 0.0)
    }
}

/// Plays an act on a part, by the ways that a hand could take; the best of them counts. `None` when nothing is seen of the part, or the
/// hand has no sizes.
pub fn imagine(seen: &Seen<'_>, hand: &Hand, act: Act) -> Option<Imagined> {
    if !hand.is_sound() || !seen.support.is_finite() {
        return None;
    }
    let finite = |points: &[Point3<f64>]| -> Vec<Point3<f64>> {
        points.iter().filter(|point| point.iter().all(|c| c.is_finite())).copied().collect()
    };
    let part = finite(seen.part);
    let outward = seen.outward.try_normalize(1e-9)?;
    if part.is_empty() || !outward.iter().all(|c| c.is_finite()) {
        return None;
    }
    // A part that belongs to nothing is played with alone.
    let thing: Vec<Point3<f64>> = finite(seen.thing).into_iter().chain(part.iter().copied()).collect();
    match act {
        Act::Hold => hold::best(&thing, &part, outward, seen.support, hand),
        Act::Press => press::play(&thing, &part, outward, hand),
    }
}

#[cfg(test)]
mod tests;
