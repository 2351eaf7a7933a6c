//! What is asked of inverse kinematics: how hard to search, when to be content, and which goals are as good.

use std::f64::consts::TAU;

/// Which turns of the tool about its own z are as good as the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ToolSymmetry {
    /// None: the goal as it is.
    #[default]
    None,
    /// Half a turn: two equal fingers may change places.
    HalfTurn,
    /// Any of `n` equally spaced turns (suction, poking, pushing with a round thing).
    Turns(u8),
}

impl ToolSymmetry {
    /// Turns about the tool's z, rad, that give an equally good goal; the first is 0.
    pub fn turns(self) -> impl Iterator<Item = f64> {
        let count = match self {
            Self::None => 1,
            Self::HalfTurn => 2,
            Self::Turns(count) => count.max(1),
        };
        (0..count).map(move |turn| TAU * f64::from(turn) / f64::from(count))
    }
}

/// How hard to search, and when to be content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkOptions {
    /// Starts that are tried for each equivalent goal; the first is the seed, the others are random.
    pub attempts: usize,
    /// Stops when so many distinct solutions are found for an equivalent goal.
    pub solutions: usize,
    /// Steps of one attempt.
    pub iterations: usize,
    /// Greatest error of position, m.
    pub position_tolerance: f64,
    /// Greatest error of orientation, rad.
    pub rotation_tolerance: f64,
    /// Equivalent goals.
    pub symmetry: ToolSymmetry,
}

impl Default for IkOptions {
    fn default() -> Self {
        Self {
            attempts: 24,
            solutions: 4,
            iterations: 60,
            position_tolerance: 1e-5,
            rotation_tolerance: 1e-4,
            symmetry: ToolSymmetry::None,
        }
    }
}
