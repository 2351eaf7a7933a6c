//! The parallel gripper as boxes.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// A box of the gripper with faces along the axes of the tool frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolBox {
    /// Least coordinates.
    pub low: Vector3<f64>,
    /// Greatest coordinates.
    pub high: Vector3<f64>,
}

/// Sizes of a parallel gripper. Tool frame: z the approach direction, x across the pads, pads open along y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GripperModel {
    /// Distance between the pads when fully open, metres.
    pub max_opening: f64,
    /// Widest object that is grasped, metres; less than `max_opening`, the rest is room for errors.
    pub usable_width: f64,
    /// Extent of pad and finger along x, metres.
    pub pad_width: f64,
    /// How far up from the tips the pads are meant to touch, metres.
    pub pad_length: f64,
    /// How far the pads reach beyond the tool origin, metres.
    pub tip_beyond_tool: f64,
    /// Thickness of a finger with its pad along y, metres.
    pub finger_thickness: f64,
    /// Distance from the tips to the linkage, metres.
    pub finger_length: f64,
    /// Linkage: half extent along x and y, and its end towards the flange along z, metres.
    pub linkage: [f64; 3],
    /// Housing behind the linkage: half extent along x and y, and its end along z, metres.
    pub housing: [f64; 3],
    /// What else sits on the wrist: centre and half extent, metres.
    pub camera: [[f64; 3]; 2],
}

impl Default for GripperModel {
    /// The xArm gripper of `urdf/xarm6.urdf` with the camera in front of it.
    fn default() -> Self {
        Self {
            max_opening: 0.085,
            usable_width: 0.078,
            pad_width: 0.022,
            pad_length: 0.040,
            tip_beyond_tool: 0.006,
            finger_thickness: 0.012,
            finger_length: 0.068,
            linkage: [0.023, 0.055, -0.102],
            housing: [0.035, 0.040, -0.172],
            camera: [[0.077, 0.0, -0.128], [0.015, 0.045, 0.018]],
        }
    }
}

impl GripperModel {
    /// Fingers, linkage, housing and camera at `opening` metres between the pads, in the tool frame.
    pub fn boxes(&self, opening: f64) -> [ToolBox; 5] {
        let inner = opening / 2.0;
        let outer = inner + self.finger_thickness;
        let tip = self.tip_beyond_tool;
        let root = tip - self.finger_length;
        let finger = |low: f64, high: f64| ToolBox {
            low: Vector3::new(-self.pad_width / 2.0, low, root),
            high: Vector3::new(self.pad_width / 2.0, high, tip),
        };
        let body = |[x, y, end]: [f64; 3], start: f64| ToolBox {
            low: Vector3::new(-x, -y, end),
            high: Vector3::new(x, y, start),
        };
        let [centre, half] = self.camera.map(Vector3::from);
        [
            finger(inner, outer),
            finger(-outer, -inner),
            body(self.linkage, root),
            body(self.housing, self.linkage[2]),
            ToolBox { low: centre - half, high: centre + half },
        ]
    }
}
