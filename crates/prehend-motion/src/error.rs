//! What can be wrong with a robot description and with a joint vector.

/// Why a URDF does not give a [`crate::RobotModel`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The text is not URDF.
    #[error("not a URDF: {message}")]
    Parse {
        /// What the parser says.
        message: String,
    },
    /// A link that is asked for is not in the description.
    #[error("the URDF has no link `{link}`")]
    UnknownLink {
        /// The name.
        link: String,
    },
    /// A joint that is asked for is not in the description.
    #[error("the URDF has no joint `{joint}`")]
    UnknownJoint {
        /// The name.
        joint: String,
    },
    /// A joint names a parent link that is not reachable from the base, or links form a cycle.
    #[error("link `{link}` is not connected to the base link")]
    Disconnected {
        /// The link.
        link: String,
    },
    /// The chain from base to tip has no joint that moves.
    #[error("no moving joint between `{base}` and `{tip}`")]
    EmptyChain {
        /// Base link of the group.
        base: String,
        /// Tip link of the group.
        tip: String,
    },
    /// A joint on the chain is of a kind that the model does not move, or follows another joint.
    #[error(
        "joint `{joint}` on the chain is {found}; only revolute, continuous and prismatic joints are moved"
    )]
    JointKind {
        /// The joint.
        joint: String,
        /// What it is.
        found: String,
    },
    /// An axis, origin, limit or size is not finite, zero where it must not be, or reversed.
    #[error("{what} of `{name}` is not usable")]
    BadNumber {
        /// Joint or link.
        name: String,
        /// The quantity.
        what: &'static str,
    },
}

/// Why a joint vector cannot be used with a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JointError {
    /// The vector has the wrong length.
    #[error("{found} joint values for {expected} joints")]
    Count {
        /// Joints of the group.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A value is NaN or infinite.
    #[error("joint {joint} is not a finite number")]
    NotFinite {
        /// Index of the joint in the group.
        joint: usize,
    },
    /// A value is outside the joint's limits.
    #[error("joint {joint} at {value:.4} is outside {lower:.4}..{upper:.4}")]
    OutOfLimits {
        /// Index of the joint in the group.
        joint: usize,
        /// The value, rad or m.
        value: f64,
        /// Lower limit.
        lower: f64,
        /// Upper limit.
        upper: f64,
    },
}
