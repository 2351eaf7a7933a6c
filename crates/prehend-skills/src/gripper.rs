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

/// Sizes of a parallel gripper. Tool frame: origin between the pad tips, z the approach direction, pads open along y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GripperModel {
    /// Distance between the pads when fully open, metres.
    pub max_opening: f64,
    /// Widest object that is grasped, metres; less than `max_opening`, the rest is room for errors.
    pub usable_width: f64,
    /// Pad extent along x, metres.
    pub pad_width: f64,
    /// Pad extent along z, from the tips up, metres.
    pub pad_length: f64,
    /// How far the pads reach beyond the tool origin, metres.
    pub tip_beyond_tool: f64,
    /// Thickness of a finger with its pad along y, metres.
    pub finger_thickness: f64,
    /// Finger extent along x, metres.
    pub finger_width: f64,
    /// Distance from the tips to the palm, metres.
    pub finger_length: f64,
    /// Palm extent along x, metres.
    pub palm_width: f64,
    /// Palm extent along y, metres.
    pub palm_breadth: f64,
    /// Distance from the tool origin to the flange, metres.
    pub flange_distance: f64,
}

impl Default for GripperModel {
    /// The xArm gripper: opening 85 mm, tool 172 mm beyond the flange.
    fn default() -> Self {
        Self {
            max_opening: 0.085,
            usable_width: 0.078,
            pad_width: 0.020,
            pad_length: 0.040,
            tip_beyond_tool: 0.0,
            finger_thickness: 0.016,
            finger_width: 0.024,
            finger_length: 0.075,
            palm_width: 0.070,
            palm_breadth: 0.130,
            flange_distance: 0.172,
        }
    }
}

impl GripperModel {
    /// Pads, fingers and palm at `opening` metres between the pads, in the tool frame.
    pub fn boxes(&self, opening: f64) -> [ToolBox; 5] {
        let inner = opening / 2.0;
        let outer = inner + self.finger_thickness;
        let tip = self.tip_beyond_tool;
        let side = |sign: f64, half_x: f64, z0: f64, z1: f64| {
            let (a, b) = (sign * inner, sign * outer);
            ToolBox {
                low: Vector3::new(-half_x, a.min(b), z0),
                high: Vector3::new(half_x, a.max(b), z1),
            }
        };
        let pad_top = tip - self.pad_length;
        let palm_z = tip - self.finger_length;
        [
            side(1.0, self.pad_width / 2.0, pad_top, tip),
            side(-1.0, self.pad_width / 2.0, pad_top, tip),
            side(1.0, self.finger_width / 2.0, palm_z, pad_top),
            side(-1.0, self.finger_width / 2.0, palm_z, pad_top),
            ToolBox {
                low: Vector3::new(-self.palm_width / 2.0, -self.palm_breadth / 2.0, -self.flange_distance),
                high: Vector3::new(self.palm_width / 2.0, self.palm_breadth / 2.0, palm_z),
            },
        ]
    }
}
