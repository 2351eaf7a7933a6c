//! How the robot sees: the wrist camera's noise and the imperfections of the simulated detector.

use serde::Serialize;

/// The RGB-D camera on the wrist. Intrinsics and mount are the robot's, not the scene's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CameraSpec {
    /// Frames per second of simulated time, positive.
    pub rate_hz: f64,
    /// Depth noise; `None` measures perfectly.
    pub depth_noise: Option<DepthNoise>,
    /// Standard deviation of the colour noise, in 8-bit steps; 0 is none.
    pub color_noise: f64,
}

/// Depth noise that grows with the square of the distance, as stereo's does, with holes at grazing edges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthNoise {
    /// Standard deviation in metres at 1 m; at distance z it is this times z squared.
    pub sigma_at_1m: f64,
    /// Angle between the view ray and the surface below which nothing is measured, radians.
    pub grazing: f64,
    /// Width, in pixels, of the strip at depth edges in which measurements drop out.
    pub edge_px: usize,
    /// Probability that a pixel of such a strip drops out, [0, 1].
    pub edge_dropout: f64,
    /// Probability that any pixel drops out, [0, 1].
    pub dropout: f64,
}

impl Default for DepthNoise {
    /// Like a D435i at 640 x 480 on matt things.
    fn default() -> Self {
        Self { sigma_at_1m: 0.002, grazing: 0.14, edge_px: 1, edge_dropout: 0.6, dropout: 0.002 }
    }
}

/// What the simulated detector gets wrong. Probabilities are per instance and frame, [0, 1].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DetectorSpec {
    /// Probability that a visible object is not detected.
    pub miss: f64,
    /// Probability that the class is another one: a class of `confusions` for the true class, or one of the scene.
    pub wrong_class: f64,
    /// Probability that an object comes as two instances.
    pub split: f64,
    /// Probability that two touching masks come as one.
    pub merge: f64,
    /// Pixels eroded from every mask's edge.
    pub erode_px: usize,
    /// Mean score of a detection with the right class.
    pub score: f64,
    /// Standard deviation of scores.
    pub score_noise: f64,
    /// Share of the errors that stay as long as the camera does not move (those of real detectors do), [0, 1].
    pub persistence: f64,
    /// Nearest and farthest distance, metres, at which anything is detected.
    pub range: [f64; 2],
    /// Fewest visible pixels that are detected.
    pub min_px: usize,
    /// What a class is taken for when it is taken for another.
    pub confusions: Vec<(String, Vec<String>)>,
}

impl DetectorSpec {
    /// What the detector of the demo gets wrong: about what a good open-vocabulary detector does.
    pub fn imperfect() -> Self {
        Self {
            miss: 0.06,
            wrong_class: 0.06,
            split: 0.03,
            merge: 0.03,
            erode_px: 1,
            score: 0.85,
            score_noise: 0.08,
            persistence: 0.3,
            ..Self::default()
        }
    }
}

impl Default for DetectorSpec {
    /// The perfect detector.
    fn default() -> Self {
        Self {
            miss: 0.0,
            wrong_class: 0.0,
            split: 0.0,
            merge: 0.0,
            erode_px: 0,
            score: 0.9,
            score_noise: 0.0,
            persistence: 0.0,
            range: [0.1, 3.0],
            min_px: 30,
            confusions: Vec::new(),
        }
    }
}
