//! The held object as cells around the tool, upright as it was grasped.

use crate::columns::{Columns, Fill};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

/// Side of a cell, metres.
const CELL: f64 = 0.005;

/// What is in the hand: horizontal offsets from the tool origin in map axes at the grasp, and heights relative to it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldShape {
    /// `[n]` cells as (dx, dy, top), metres relative to the tool origin at the grasp.
    pub cells: Vec<[f64; 3]>,
    /// Underside relative to the tool origin, metres; negative when the object hangs below it.
    pub bottom: f64,
    /// Horizontal offset of the middle of its volume.
    pub middle: [f64; 2],
    /// Orientation of the tool at the grasp.
    pub map_from_tool: UnitQuaternion<f64>,
    /// Direction from the base to the grasp, radians.
    pub azimuth: f64,
    /// Distance between the pads while holding, metres.
    pub opening: f64,
}

impl HeldShape {
    /// From the object's cloud before it was grasped, the tool pose at the grasp, the height of what it stood on, and
    /// the measured opening. `None` when no point is finite or the pose is not.
    pub fn new(
        cloud: &[Point3<f64>],
        map_from_tool: &Isometry3<f64>,
        stood_on: f64,
        opening: f64,
    ) -> Option<Self> {
        let t = map_from_tool.translation.vector;
        if !t.iter().chain(map_from_tool.rotation.coords.iter()).all(|c| c.is_finite())
            || !stood_on.is_finite()
            || !opening.is_finite()
        {
            return None;
        }
        let columns = Columns::new(CELL, [(0, cloud, Fill::To(stood_on))]);
        let (mut cells, mut sum, mut weight) = (Vec::new(), [0.0, 0.0], 0.0);
        for (x, y, low, top) in columns.occupied() {
            let (dx, dy, w) = (x - t.x, y - t.y, (top - low).max(1e-4));
            cells.push([dx, dy, top - t.z]);
            sum = [sum[0] + dx * w, sum[1] + dy * w];
            weight += w;
        }
        (weight > 0.0).then(|| Self {
            cells,
            bottom: stood_on - t.z,
            middle: [sum[0] / weight, sum[1] / weight],
            map_from_tool: map_from_tool.rotation,
            azimuth: t.y.atan2(t.x),
            opening,
        })
    }

    /// Height of the object, metres.
    pub fn height(&self) -> f64 {
        self.cells.iter().map(|c| c[2]).fold(f64::NEG_INFINITY, f64::max) - self.bottom
    }

    /// The footprint turned by `yaw` about the vertical.
    pub(crate) fn turned(&self, yaw: f64) -> Footprint {
        let (s, c) = yaw.sin_cos();
        let turn = |[x, y]: [f64; 2]| [c * x - s * y, s * x + c * y];
        let middle = turn(self.middle);
        let cells: Vec<[f64; 2]> = self
            .cells
            .iter()
            .map(|[x, y, _]| {
                let [x, y] = turn([*x, *y]);
                [x - middle[0], y - middle[1]]
            })
            .collect();
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for cell in &cells {
            for axis in 0..2 {
                low[axis] = low[axis].min(cell[axis] - CELL / 2.0);
                high[axis] = high[axis].max(cell[axis] + CELL / 2.0);
            }
        }
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * self.map_from_tool;
        Footprint { yaw, cells, low, high, tool_from_middle: [-middle[0], -middle[1]], rotation }
    }
}

/// A footprint around the middle of the held object.
pub(crate) struct Footprint {
    pub(crate) yaw: f64,
    pub(crate) cells: Vec<[f64; 2]>,
    pub(crate) low: [f64; 2],
    pub(crate) high: [f64; 2],
    /// Where the tool is, seen from the middle.
    pub(crate) tool_from_middle: [f64; 2],
    pub(crate) rotation: UnitQuaternion<f64>,
}
