//! How samples of a topic are kept and delivered.
//!
//! What the nodes of Prehend ask for, beside what drivers usually offer. A subscription matches when it asks for no more than is
//! offered, so best effort matches every driver of a sensor, and only topics that are latched by convention are asked for latched.
//!
//! | topic | usually offered | asked for here |
//! |---|---|---|
//! | colour, depth, camera_info; label images, detections | reliable or best effort, volatile | best effort, volatile, 5 |
//! | `joint_states` | reliable, volatile (joint_state_broadcaster) | best effort, volatile, 5 |
//! | `/tf` | reliable, volatile, 100 | best effort, volatile, 100 |
//! | `/tf_static` | reliable, transient local | reliable, transient local, 100 |
//! | `/clock` | reliable or best effort, volatile | best effort, volatile, 1 |
//! | costmap | reliable, transient local (Nav2) | reliable, transient local, 1 |
//! | maps, state, stop of Prehend itself | reliable, transient local, 1 | the same |
//! | heartbeats and claims of Prehend itself | reliable, volatile, 1 | best effort, volatile |
//!
//! `/rosout` is offered reliable and transient local, 1000; `/parameter_events` reliable, 1000; `/diagnostics` reliable, 10; services
//! are reliable, as rcl has them.

/// Whether lost samples are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Lost samples stay lost; a dead subscriber costs nothing.
    BestEffort,
    /// Lost samples are sent again.
    Reliable,
}

/// Whether a late subscriber receives earlier samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Only what is published from now on.
    Volatile,
    /// The newest sample of each publisher, too.
    TransientLocal,
}

/// Quality of service of a publisher or a subscription; history is keep-last everywhere.
///
/// A reliable subscription does not match a best-effort publisher, nor a transient-local one a volatile publisher.
///
/// ```
/// use prehend_ros::QosProfile;
/// let commands = QosProfile::default().depth(1);
/// assert_ne!(commands, QosProfile::sensor_data());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosProfile {
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// Whether a late subscriber receives earlier samples.
    pub durability: Durability,
    /// Samples a subscription keeps for a slow reader; older ones are dropped. At least 1.
    pub depth: usize,
}

impl Default for QosProfile {
    /// Reliable, volatile, depth 10: `rmw_qos_profile_default`.
    fn default() -> Self {
        Self { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 10 }
    }
}

impl QosProfile {
    /// Best effort, volatile, depth 5: images, clouds, joint states (`rmw_qos_profile_sensor_data`).
    pub const fn sensor_data() -> Self {
        Self { reliability: Reliability::BestEffort, durability: Durability::Volatile, depth: 5 }
    }

    /// Reliable, transient local, depth 1: state that late joiners must see.
    pub const fn transient_local() -> Self {
        Self { reliability: Reliability::Reliable, durability: Durability::TransientLocal, depth: 1 }
    }

    /// Reliable, volatile, depth 10: requests and answers (`rmw_qos_profile_services_default`). Readers have room for a burst.
    pub const fn services() -> Self {
        Self { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 10 }
    }

    /// With `depth` samples kept, at least one.
    #[must_use]
    pub const fn depth(mut self, depth: usize) -> Self {
        self.depth = if depth == 0 { 1 } else { depth };
        self
    }

    /// Without repetition of lost samples.
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.reliability = Reliability::BestEffort;
        self
    }

    /// With repetition of lost samples.
    #[must_use]
    pub const fn reliable(mut self) -> Self {
        self.reliability = Reliability::Reliable;
        self
    }
}
