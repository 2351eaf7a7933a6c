//! A room for a robot that drives: floor, walls, where the robot starts, how well it knows where it is.

use super::{Color, FurnitureSpec, TableSpec};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde::Serialize;

/// A rectangular room. Its frame is `map`: origin in a corner on the floor, x and y along the walls, z up. Metres.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoomSpec {
    /// Lengths of the floor between the walls, along x and y.
    pub size: [f64; 2],
    /// Walls within the room; the four around it come besides.
    pub walls: Vec<WallSpec>,
    /// Height of all walls.
    pub wall_height: f64,
    /// Thickness of all walls.
    pub wall_thickness: f64,
    /// Colour of all walls.
    pub wall_color: Color,
    /// Colour of the floor.
    pub floor_color: Color,
    /// Where the base starts: x, y in metres, yaw in radians.
    pub start: [f64; 3],
    /// How well the base knows where it is.
    pub localisation: LocalisationSpec,
}

/// A straight wall within a room.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WallSpec {
    /// One end of its middle line.
    pub from: [f64; 2],
    /// The other end.
    pub to: [f64; 2],
}

/// Errors of the localisation and the odometry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LocalisationSpec {
    /// Standard deviation of the position, metres; it changes only while the base moves.
    pub sigma_xy: f64,
    /// Standard deviation of the yaw, radians.
    pub sigma_yaw: f64,
    /// Share by which the odometry misjudges ways and turns, at most.
    pub drift: f64,
}

impl Default for LocalisationSpec {
    /// As of AMCL with a good laser in a furnished room.
    fn default() -> Self {
        Self { sigma_xy: 0.015, sigma_yaw: 0.008, drift: 0.02 }
    }
}

impl RoomSpec {
    /// The floor as what things stand on.
    pub(super) fn floor(&self) -> TableSpec {
        let [x, y] = self.size;
        TableSpec {
            size: self.size,
            thickness: 0.1,
            height: 0.0,
            center: [x / 2.0, y / 2.0],
            yaw: 0.0,
            color: self.floor_color,
            friction: 0.8,
        }
    }

    /// All walls as boxes.
    pub(super) fn wall_boxes(&self) -> Vec<FurnitureSpec> {
        let [x, y] = self.size;
        let half = self.wall_thickness / 2.0;
        let around = [
            WallSpec { from: [-half, -half], to: [x + half, -half] },
            WallSpec { from: [x + half, -half], to: [x + half, y + half] },
            WallSpec { from: [x + half, y + half], to: [-half, y + half] },
            WallSpec { from: [-half, y + half], to: [-half, -half] },
        ];
        around.iter().chain(&self.walls).enumerate().map(|(index, wall)| self.wall_box(index, wall)).collect()
    }

    fn wall_box(&self, index: usize, wall: &WallSpec) -> FurnitureSpec {
        let (dx, dy) = (wall.to[0] - wall.from[0], wall.to[1] - wall.from[1]);
        let middle = [(wall.from[0] + wall.to[0]) / 2.0, (wall.from[1] + wall.to[1]) / 2.0];
        FurnitureSpec {
            name: format!("wall {}", index + 1),
            size: Vector3::new(dx.hypot(dy) + self.wall_thickness, self.wall_thickness, self.wall_height),
            pose: Isometry3::from_parts(
                Translation3::new(middle[0], middle[1], self.wall_height / 2.0),
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), dy.atan2(dx)),
            ),
            color: self.wall_color,
        }
    }
}
