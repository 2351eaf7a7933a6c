//! Mass and inertia of links, each solid as the box around it.

use crate::model::Link;
use nalgebra::{Matrix3, Vector3};

/// Mass of what links are made of, kg/m³: furniture is mostly air between boards.
const DENSITY: f64 = 300.0;
/// Least mass, kg, and least moment of inertia, kg m²: physics takes none of nothing.
const LEAST: (f64, f64) = (0.01, 1e-6);

/// Of one link, in its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertia {
    /// Kilogrammes.
    pub(crate) mass: f64,
    /// Centre of mass.
    pub(crate) middle: Vector3<f64>,
    /// About that centre, along the link's axes, kg m².
    pub(crate) about_middle: Matrix3<f64>,
}

/// Of a link; of a link of nothing the least there is.
pub(crate) fn inertia(link: &Link) -> Inertia {
    let masses: Vec<f64> = link.solids.iter().map(|solid| DENSITY * solid.volume()).collect();
    let total: f64 = masses.iter().sum();
    if total <= 0.0 {
        let about_middle = Matrix3::identity() * LEAST.1;
        return Inertia { mass: LEAST.0, middle: Vector3::zeros(), about_middle };
    }
    let weighted = link.solids.iter().zip(&masses).map(|(solid, mass)| solid.pose.translation.vector * *mass);
    let middle = weighted.sum::<Vector3<f64>>() / total;
    let mut inertia = Matrix3::zeros();
    for (solid, mass) in link.solids.iter().zip(&masses) {
        let size = 2.0 * solid.half();
        let squares = size.component_mul(&size);
        let own =
            Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y) * (mass / 12.0);
        let turn = solid.pose.rotation.to_rotation_matrix();
        let off = solid.pose.translation.vector - middle;
        inertia += turn * Matrix3::from_diagonal(&own) * turn.inverse()
            + (Matrix3::identity() * off.norm_squared() - off * off.transpose()) * *mass;
    }
    let scale = (LEAST.0 / total).max(1.0);
    let mut about_middle = inertia * scale;
    (0..3).for_each(|axis| about_middle[(axis, axis)] = about_middle[(axis, axis)].max(LEAST.1));
    Inertia { mass: total * scale, middle, about_middle }
}
