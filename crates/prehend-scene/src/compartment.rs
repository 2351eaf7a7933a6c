//! One of the rooms of a divided container, named by where it lies in it.

use serde::{Deserialize, Serialize};

/// A room of a divided container, by its side as the robot sees it: it looks along +x, left is +y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compartment {
    /// At +y.
    Left,
    /// At -y.
    Right,
    /// At -x, nearer to the robot.
    Front,
    /// At +x, farther from the robot.
    Back,
}

/// Least offset towards its side of what is in a compartment, as a share of half of the container.
const ASIDE: f64 = 0.2;

impl Compartment {
    /// Every compartment with its name on the wire, as the part of a plan.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Left, "left compartment"),
        (Self::Right, "right compartment"),
        (Self::Front, "front compartment"),
        (Self::Back, "back compartment"),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(compartment, _)| *compartment == self).map_or("", |(_, name)| name)
    }

    /// The compartment with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, n)| *n == name).map(|(compartment, _)| compartment)
    }

    /// Unit vector (x, y) to its side, in the robot's base frame.
    pub fn direction(self) -> [f64; 2] {
        match self {
            Self::Left => [0.0, 1.0],
            Self::Right => [0.0, -1.0],
            Self::Front => [-1.0, 0.0],
            Self::Back => [1.0, 0.0],
        }
    }

    /// How much a place is at this side of a container rather than at another: its offset from the container's middle towards the
    /// side, less that across, each as a share of half of the container. `None` when it is not at this side.
    ///
    /// `offset` and `half` along x and y of the robot's base, metres.
    pub fn fit(self, offset: [f64; 2], half: [f64; 2]) -> Option<f64> {
        let share = [0, 1].map(|axis| offset[axis] / half[axis].max(1e-3));
        let [dx, dy] = self.direction();
        let along = share[0] * dx + share[1] * dy;
        let across = (share[0] * dy - share[1] * dx).abs();
        (along >= ASIDE && along >= across).then_some(along - across)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_places_are_at_one_side() {
        for (compartment, name) in Compartment::ALL {
            assert_eq!(Compartment::parse(name), Some(compartment));
            assert_eq!(compartment.name(), name);
            let [x, y] = compartment.direction().map(|part| part * 0.06);
            for (other, _) in Compartment::ALL {
                assert_eq!(other.fit([x, y], [0.1, 0.1]).is_some(), other == compartment, "{name}");
            }
            assert_eq!(compartment.fit([0.0, 0.0], [0.1, 0.1]), None);
        }
        assert_eq!(Compartment::parse("upper compartment"), None);
    }
}
