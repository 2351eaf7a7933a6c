//! What a world loses on its way into Gazebo.

/// Something that is not as it is in the embedded simulator. Forces in newtons or newton metres.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Loss {
    /// SDF has no catches.
    #[error(
        "{object}: the catch of `{joint}` ({force} at {at}) is left out; nothing holds it there but friction"
    )]
    Latch {
        /// The object.
        object: String,
        /// The joint.
        joint: String,
        /// Extra friction.
        force: f64,
        /// Where, metres or radians.
        at: f64,
    },
    /// SDF has no joints that break.
    #[error("{object}: `{joint}` does not come off at {force}; it is fixed")]
    Breaking {
        /// The object.
        object: String,
        /// The joint.
        joint: String,
        /// The force that takes it off here.
        force: f64,
    },
    /// Gazebo damps no turning, and has no rolling resistance.
    #[error("{object}: it rolls without resistance")]
    Rolling {
        /// The object.
        object: String,
    },
    /// Links of one model pass through each other in Gazebo; here only those do that a joint connects or that start in each other.
    #[error("{object}: its {links} links do not touch each other")]
    OwnContacts {
        /// The object.
        object: String,
        /// Number of links.
        links: usize,
    },
    /// A label map has bytes only.
    #[error(
        "{count} handles, keys and the like have no label of their own: a label map has {} values",
        super::MAX_LABELS
    )]
    Parts {
        /// Parts without a label.
        count: usize,
    },
}
