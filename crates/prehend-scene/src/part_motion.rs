//! What a skill does with a part: its direction, how far, and the corridor it may not leave.

use crate::Skill;
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

/// What shall become of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartEffect {
    /// The part is held, and the object is lifted by it.
    Hold,
    /// The part comes out along its joint and stays: a drawer, a door.
    Open,
    /// The part goes in along its joint until it stops.
    Close,
    /// The part gives way and is let go again: a button, a key, a bell.
    Press,
    /// The part is moved along its joint to another position and stays there: a lever, a switch.
    Turn,
    /// The part leaves what it sticks in and is held: a plug, a thumbtack.
    TakeOut,
}

impl PartEffect {
    /// Every effect with its name on the wire.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Hold, "hold"),
        (Self::Open, "open"),
        (Self::Close, "close"),
        (Self::Press, "press"),
        (Self::Turn, "turn"),
        (Self::TakeOut, "take_out"),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Open => "open",
            Self::Close => "close",
            Self::Press => "press",
            Self::Turn => "turn",
            Self::TakeOut => "take_out",
        }
    }

    /// The effect with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, n)| *n == name).map(|(effect, _)| effect)
    }

    /// What a skill does with a part when nothing else is said; `None` for skills that act on no part.
    pub fn usual(skill: Skill) -> Option<Self> {
        match skill {
            Skill::GraspPart => Some(Self::Hold),
            Skill::TipPush => Some(Self::Press),
            Skill::PinchPull | Skill::HookPull => Some(Self::Open),
            Skill::Look | Skill::Home | Skill::Grasp | Skill::Place | Skill::Drop | Skill::GoTo => None,
        }
    }

    /// Whether a skill can have this effect.
    pub fn fits(self, skill: Skill) -> bool {
        match skill {
            Skill::GraspPart => self == Self::Hold,
            Skill::TipPush => matches!(self, Self::Press | Self::Close | Self::Open | Self::Turn),
            Skill::PinchPull => matches!(self, Self::Open | Self::Close | Self::Turn | Self::TakeOut),
            Skill::HookPull => matches!(self, Self::Open | Self::Turn),
            Skill::Look | Skill::Home | Skill::Grasp | Skill::Place | Skill::Drop | Skill::GoTo => false,
        }
    }

    /// Whether the part is in the gripper afterwards.
    pub fn ends_held(self) -> bool {
        match self {
            Self::Hold | Self::TakeOut => true,
            Self::Open | Self::Close | Self::Press | Self::Turn => false,
        }
    }
}

/// The motion of a part that a plan asks for, and its bounds. Map frame, metres.
///
/// Where the joint is hidden, nobody knows the path before the part moves. So the permit is given for bounds. While the tool
/// touches the part, it stays within `corridor` of the straight line of length `extent` along `direction`, and moves the part
/// no farther than `extent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartMotion {
    /// What shall become of the part.
    pub effect: PartEffect,
    /// Middle of the part before it is moved.
    pub anchor: Point3<f64>,
    /// Unit vector in which the part moves first.
    pub direction: Vector3<f64>,
    /// Farthest the part is moved along its path; positive.
    pub extent: f64,
    /// Least motion of the part that counts as the effect; positive, at most `extent`.
    pub least: f64,
    /// Farthest the tool may be from the line, measured from where it touched; positive.
    pub corridor: f64,
}

impl PartMotion {
    /// Every number, in the order in which a plan's hash takes them.
    pub fn numbers(&self) -> [f64; 9] {
        let (a, d) = (self.anchor, self.direction);
        [a.x, a.y, a.z, d.x, d.y, d.z, self.extent, self.least, self.corridor]
    }

    /// Whether a tool that touched the part at `start` may go to `point`.
    pub fn holds(&self, start: &Point3<f64>, point: &Point3<f64>) -> bool {
        let offset = point - start;
        let along = offset.dot(&self.direction).clamp(0.0, self.extent);
        let aside = (offset - self.direction * along).norm();
        // A comparison with NaN is false: what is no number is outside.
        aside <= self.corridor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_come_back() {
        for (effect, name) in PartEffect::ALL {
            assert_eq!(effect.name(), name);
            assert_eq!(PartEffect::parse(name), Some(effect));
        }
        assert_eq!(PartEffect::parse("explode"), None);
        for (skill, _) in Skill::ALL {
            let usual = PartEffect::usual(skill);
            assert_eq!(usual.is_some(), skill.acts_on_part());
            assert!(usual.is_none_or(|effect| effect.fits(skill)), "{skill:?}");
        }
    }

    #[test]
    fn the_corridor_is_a_capsule_and_holds_nothing_that_is_no_number() {
        let motion = PartMotion {
            effect: PartEffect::Open,
            anchor: Point3::origin(),
            direction: -Vector3::x(),
            extent: 0.2,
            least: 0.1,
            corridor: 0.05,
        };
        let start = Point3::new(0.6, 0.1, 0.2);
        let check = |x: f64, y: f64, inside: bool| {
            assert_eq!(motion.holds(&start, &Point3::new(x, y, 0.2)), inside, "{x} {y}");
        };
        check(0.6, 0.1, true);
        check(0.4, 0.14, true);
        check(0.36, 0.1, true);
        check(0.34, 0.1, false);
        check(0.5, 0.16, false);
        check(0.66, 0.1, false);
        check(f64::NAN, 0.1, false);
    }
}
