//! What was seen of a thing, and how its parts were moved.

use nalgebra::{Isometry3, Point3};
use serde::{Deserialize, Serialize};

/// A part that may move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovablePart {
    /// Its name, unique: a key of the object map.
    pub name: String,
    /// What it is called: drawer, door, lid.
    pub class: String,
}

/// One state of the thing, from however many frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// What was seen of the thing without its parts, map frame, metres.
    pub body: Vec<Point3<f64>>,
    /// What was seen of each part, in the order of [`Observation::parts`]; empty where it was not seen.
    pub parts: Vec<Vec<Point3<f64>>>,
}

/// How a hand that held a part moved, from one look towards the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Index of the part.
    pub part: usize,
    /// Index of the look before it; the next look is after it.
    pub after: usize,
    /// `map_from_hand`, in order.
    pub poses: Vec<Isometry3<f64>>,
    /// Whether the part came to a stop that was felt, at the end of the track.
    pub stopped: bool,
}

/// All that is known of one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Its name.
    pub name: String,
    /// What it is called.
    pub class: String,
    /// Its parts.
    pub parts: Vec<MovablePart>,
    /// Looks, in order of time; the first is how it was found.
    pub looks: Vec<Look>,
    /// Motions between looks.
    pub tracks: Vec<Track>,
    /// Where it was looked at from, map frame.
    pub eye: Point3<f64>,
}

/// Why an observation is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObservationError {
    /// Nothing was seen.
    #[error("{name} was not seen: at least {least} points of it are needed, there are {points}")]
    TooFew {
        /// The thing or part.
        name: String,
        /// How many points there are.
        points: usize,
        /// How many are needed.
        least: usize,
    },
    /// A number that is not finite.
    #[error("a point of look {look} is not finite")]
    NotFinite {
        /// Index of the look.
        look: usize,
    },
    /// A pose of a track that is not finite.
    #[error("a pose of track {track} is not finite, or names a part or look that there is not")]
    BadTrack {
        /// Index of the track.
        track: usize,
    },
    /// Looks with other parts than the observation.
    #[error("look {look} has {found} parts, the thing has {wanted}")]
    Parts {
        /// Index of the look.
        look: usize,
        /// How many it has.
        found: usize,
        /// How many there are.
        wanted: usize,
    },
}

/// Fewest points of a body or part from which anything is said.
pub(crate) const LEAST: usize = 30;

impl Observation {
    /// Whether it can be used.
    ///
    /// Errors: [`ObservationError`], the first there is.
    pub fn check(&self) -> Result<(), ObservationError> {
        let seen = self.looks.first().map_or(0, |look| look.body.len());
        if seen < LEAST {
            return Err(ObservationError::TooFew { name: self.name.clone(), points: seen, least: LEAST });
        }
        for (index, look) in self.looks.iter().enumerate() {
            if look.parts.len() != self.parts.len() {
                let (found, wanted) = (look.parts.len(), self.parts.len());
                return Err(ObservationError::Parts { look: index, found, wanted });
            }
            let finite = |point: &Point3<f64>| point.iter().copied().all(f64::is_finite);
            if !look.body.iter().chain(look.parts.iter().flatten()).all(finite) {
                return Err(ObservationError::NotFinite { look: index });
            }
        }
        for (index, track) in self.tracks.iter().enumerate() {
            let finite = |pose: &Isometry3<f64>| {
                pose.translation.vector.iter().chain(pose.rotation.coords.iter()).copied().all(f64::is_finite)
            };
            let named = track.part < self.parts.len() && track.after < self.looks.len();
            if !(named && track.poses.iter().all(finite)) {
                return Err(ObservationError::BadTrack { track: index });
            }
        }
        Ok(())
    }
}
