//! Which frames of a long recording become keyframes.

use nalgebra::Isometry3;

/// Way of the camera from one keyframe to the next, metres.
pub(crate) const METRES: f64 = 0.1;
/// Turn of the camera from one keyframe to the next, degrees.
pub(crate) const DEGREES: f64 = 10.0;
/// Greatest number of frames without poses that are taken when nothing is asked for: each becomes a scene of its own.
pub(crate) const MOST_UNPOSED: usize = 100;

/// The rule by which keyframes are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Select {
    /// When the camera has moved or turned that far since the last keyframe; frames without poses are all taken.
    Motion {
        /// Way, metres.
        metres: f64,
        /// Turn, radians.
        radians: f64,
    },
    /// Every nth frame, beginning with the first; 1 takes all, 0 is taken for 1.
    Every(usize),
}

impl Default for Select {
    fn default() -> Self {
        Self::Motion { metres: METRES, radians: DEGREES.to_radians() }
    }
}

/// Chooses keyframes one after the other.
#[derive(Debug)]
pub struct KeyframeChoice {
    select: Select,
    seen: usize,
    last: Option<Isometry3<f64>>,
}

impl KeyframeChoice {
    /// Nothing is chosen yet.
    pub fn new(select: Select) -> Self {
        Self { select, seen: 0, last: None }
    }

    /// Whether the next frame, seen from `map_from_camera`, is a keyframe. The first is.
    pub fn take(&mut self, map_from_camera: Option<&Isometry3<f64>>) -> bool {
        let number = self.seen;
        self.seen += 1;
        let is_chosen = match (self.select, map_from_camera, &self.last) {
            (Select::Every(n), ..) => number.is_multiple_of(n.max(1)),
            (Select::Motion { metres, radians }, Some(now), Some(last)) => {
                let way = last.inverse() * now;
                way.translation.vector.norm() >= metres || way.rotation.angle() >= radians
            }
            (Select::Motion { .. }, ..) => true,
        };
        if is_chosen {
            self.last = map_from_camera.copied();
        }
        is_chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn chosen(select: Select, poses: &[Option<Isometry3<f64>>]) -> Vec<usize> {
        let mut choice = KeyframeChoice::new(select);
        (0..poses.len()).filter(|number| choice.take(poses[*number].as_ref())).collect()
    }

    #[test]
    fn motion_is_counted_from_the_last_keyframe() {
        let moved = |x: f64, turn: f64| Some(Isometry3::new(Vector3::x() * x, Vector3::z() * turn));
        let select = Select::Motion { metres: 0.1, radians: 0.2 };
        let way: Vec<_> = (0..10).map(|step| moved(f64::from(step) * 0.04, 0.0)).collect();
        assert_eq!(chosen(select, &way), [0, 3, 6, 9]);
        let turns = [0.0, 0.15, 0.3, 0.3].map(|turn| moved(0.0, turn));
        assert_eq!(chosen(select, &turns), [0, 2]);
        assert_eq!(chosen(select, &[None, None]), [0, 1]);
    }

    #[test]
    fn every_nth() {
        assert_eq!(chosen(Select::Every(3), &[None; 7]), [0, 3, 6]);
        assert_eq!(chosen(Select::Every(0), &[None; 2]), [0, 1]);
    }
}
