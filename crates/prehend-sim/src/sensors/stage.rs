//! A scene as drawables: the meshes are made once, the poses are new in each frame.

use super::drawable::{Drawable, Surface};
use super::mesh::{Mesh, MeshError, Soup};
use crate::body::{Frame, Owner, PartName, PartShape, RenderItem};
use nalgebra::Isometry3;
use std::sync::Arc;

/// Everything of a scene that can be seen.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    pieces: Vec<Piece>,
    /// Named regions of objects; region `i` is label `i + 1` of a picture's parts.
    regions: Vec<(Owner, PartName)>,
}

#[derive(Clone, Debug)]
struct Piece {
    mesh: Arc<Mesh>,
    body: usize,
    color: [u8; 3],
    surface: Surface,
    owner: Owner,
    region: u16,
}

/// What makes parts one piece: owner, body, colour and region.
type Group = (Owner, usize, [u8; 3], u16);

/// A frame that does not belong to the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the frame has {found} body poses, but a piece belongs to body {body}")]
pub struct MissingBody {
    /// Body without a pose.
    pub body: usize,
    /// Number of poses there are.
    pub found: usize,
}

impl Stage {
    /// Makes the meshes. Parts of one body and colour become one mesh, smooth across the parts' seams.
    ///
    /// Errors: [`MeshError`] for a part with broken numbers.
    pub fn new(items: &[RenderItem]) -> Result<Self, MeshError> {
        let mut groups: Vec<(Group, Soup)> = Vec::new();
        let mut regions: Vec<(Owner, PartName)> = Vec::new();
        for item in items {
            let part = &item.part;
            let soup = match &part.shape {
                PartShape::Box { half } => Soup::cuboid((half * 2.0).into()),
                PartShape::Cylinder { radius, half_height } => Soup::cylinder(*radius, half_height * 2.0),
                PartShape::Sphere { radius } => Soup::capsule(*radius, 0.0),
                PartShape::Capsule { radius, half_height } => Soup::capsule(*radius, half_height * 2.0),
                PartShape::Hull(hull) => Soup::from_triangles(&hull.vertices, &hull.triangles)?,
            };
            let key = (item.owner, item.body, part.color.0, region_label(&mut regions, item));
            let group = match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, group)) => group,
                None => {
                    groups.push((key, Soup::default()));
                    match groups.last_mut() {
                        Some((_, group)) => group,
                        None => continue,
                    }
                }
            };
            group.add(&soup, &part.body_from_part);
        }
        let pieces = groups
            .into_iter()
            .map(|((owner, body, color, region), soup)| {
                let surface = match owner {
                    Owner::Floor => Surface::Tiles,
                    Owner::Table => Surface::Wood,
                    Owner::Furniture(_) | Owner::Robot(_) | Owner::Object(_) => Surface::Plain,
                };
                soup.check()?;
                let mesh = Arc::new(Mesh::smooth(soup.without_seams()));
                Ok(Piece { mesh, body, color, surface, owner, region })
            })
            .collect::<Result<Vec<_>, MeshError>>()?;
        Ok(Self { pieces, regions })
    }

    /// Class of every named region of an object; region `i` has the label `i + 1` in a picture's parts.
    pub fn region_classes(&self) -> Vec<String> {
        self.regions.iter().map(|(_, region)| region.class.to_string()).collect()
    }

    /// The drawables at one instant, in the frame's own frame (`link_base`).
    ///
    /// Errors: [`MissingBody`].
    pub fn drawables(&self, frame: &Frame) -> Result<Vec<Drawable>, MissingBody> {
        let found = frame.base_from_body.len();
        self.pieces
            .iter()
            .map(|piece| {
                let pose: &Isometry3<f64> =
                    frame.base_from_body.get(piece.body).ok_or(MissingBody { body: piece.body, found })?;
                Ok(Drawable {
                    mesh: Arc::clone(&piece.mesh),
                    world_from_mesh: *pose,
                    color: piece.color,
                    surface: piece.surface,
                    owner: piece.owner,
                    region: piece.region,
                })
            })
            .collect()
    }
}

/// Label of the region an item belongs to, a new one if it is new; 0 without a region.
fn region_label(regions: &mut Vec<(Owner, PartName)>, item: &RenderItem) -> u16 {
    let (Owner::Object(_), Some(region)) = (item.owner, &item.part.region) else { return 0 };
    let known = regions.iter().position(|(owner, other)| *owner == item.owner && other == region);
    let index = known.unwrap_or_else(|| {
        regions.push((item.owner, region.clone()));
        regions.len() - 1
    });
    u16::try_from(index + 1).unwrap_or(0)
}
