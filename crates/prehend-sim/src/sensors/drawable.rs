//! What pictures are drawn of.

use super::mesh::Mesh;
use crate::body::Owner;
use nalgebra::Isometry3;
use std::sync::Arc;

/// Something that can be seen.
#[derive(Clone, Debug)]
pub struct Drawable {
    /// Its surface.
    pub mesh: Arc<Mesh>,
    /// Where it is.
    pub world_from_mesh: Isometry3<f64>,
    /// Colour in full light.
    pub color: [u8; 3],
    /// Pattern over the colour.
    pub surface: Surface,
    /// Whose it is.
    pub owner: Owner,
    /// Label of the named region it shows; 0 is none.
    pub region: u16,
}

/// Pattern of a surface, laid on along the mesh's own x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// One colour.
    Plain,
    /// Planks along x.
    Wood,
    /// Tiles with joints.
    Tiles,
}
