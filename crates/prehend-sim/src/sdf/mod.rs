//! The same world for another simulator: SDF 1.9, as Gazebo Harmonic and later read it.
//!
//! For: worlds with the bodies and joints that physics here has, where they are now. Not for: the robot, which has a URDF of its own.
//! Read [`SdfWorld::of`] first. Masses, inertia, friction and joints are asked of [`World`], never computed a second time; what SDF or
//! Gazebo cannot say is a [`Loss`]. Frame of the world: `link_base`, in a room `map`.

mod labels;
mod loss;
mod meshes;
mod model;
mod names;
mod setting;
mod shapes;
mod xml;

pub use labels::{Label, PartLabel};
pub use loss::Loss;
pub use meshes::MeshFile;

use crate::World;
use labels::Labels;
use meshes::Meshes;
use names::Names;
use xml::Xml;

/// Version of SDF that is written.
pub const VERSION: &str = "1.9";
/// Largest number of labels: Gazebo's are bytes, 0 is the background, and 255 was it once.
pub const MAX_LABELS: usize = 254;

/// A world as files.
#[derive(Clone, Debug, PartialEq)]
pub struct SdfWorld {
    /// Name of the world, which is in the names of Gazebo's services.
    pub name: String,
    /// The SDF. It names its meshes relative to the folder that it is in.
    pub sdf: String,
    /// Hulls, which SDF has as files only.
    pub meshes: Vec<MeshFile>,
    /// What each value of a segmentation camera's label map is.
    pub labels: Vec<Label>,
    /// What is not as it is here.
    pub losses: Vec<Loss>,
}

/// A world that SDF cannot hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SdfError {
    /// A body that moves has no mass or no inertia.
    #[error("`{name}` moves and has a mass of {mass} kg or no inertia")]
    Massless {
        /// The object or link.
        name: String,
        /// Its mass, kg.
        mass: f64,
    },
    /// There are more things than a label map has values.
    #[error("{count} things are to be told apart; a label map has room for {MAX_LABELS}")]
    TooMany {
        /// Things.
        count: usize,
    },
}

impl SdfWorld {
    /// The world as it is now, without its robot. Meshes are in `mesh_folder`, a path relative to the SDF's own folder.
    ///
    /// Where a joint is now is its zero in SDF, so its limits and its spring are shifted: SDF has no start positions.
    ///
    /// Errors: [`SdfError`].
    pub fn of(world: &World, mesh_folder: &str) -> Result<Self, SdfError> {
        let mut losses = Vec::new();
        let labels = Labels::of(world, &mut losses)?;
        let mut meshes = Meshes::new(mesh_folder);
        let mut names = Names::default();
        let name = names.unique(&world.scene().scene.name);
        // Models may be called like their world.
        let mut names = Names::default();
        let mut xml = Xml::new();
        let mut result = Ok(());
        xml.element("sdf", &[("version", VERSION)], |xml| {
            xml.element("world", &[("name", &name)], |xml| {
                setting::write(xml);
                model::fixtures(xml, world, &mut names, &mut meshes);
                result = model::objects(xml, world, &labels, &mut names, &mut meshes, &mut losses);
            });
        });
        result?;
        Ok(Self { name, sdf: xml.finish(), meshes: meshes.files, labels: labels.all, losses })
    }
}
