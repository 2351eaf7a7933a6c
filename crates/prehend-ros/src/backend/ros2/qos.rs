//! Qualities of service as rcl has them.

use crate::{Durability, QosProfile, Reliability};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};

/// The profile as rcl has it.
pub(super) fn rcl_qos(qos: QosProfile) -> r2r::QosProfile {
    r2r::QosProfile {
        history: HistoryPolicy::KeepLast,
        depth: qos.depth.max(1),
        reliability: match qos.reliability {
            Reliability::Reliable => ReliabilityPolicy::Reliable,
            Reliability::BestEffort => ReliabilityPolicy::BestEffort,
        },
        durability: match qos.durability {
            Durability::TransientLocal => DurabilityPolicy::TransientLocal,
            Durability::Volatile => DurabilityPolicy::Volatile,
        },
        ..r2r::QosProfile::default()
    }
}
