//! Physics settings that were measured to hold grasps by friction alone (600 of 600 runs; Rapier's defaults: 91 of 192).

use rapier3d::prelude::{
    CoefficientCombineRule, ColliderBuilder, FrictionModel, IntegrationParameters, SharedShape,
    SpringCoefficients,
};

/// Step of the simulation, seconds.
pub const STEP: f64 = 1.0 / 240.0;

/// Width of the skin of every collider, metres: two things rest with a gap of twice this.
pub const CONTACT_SKIN: f64 = 0.0005;

/// Parts in which a step is solved.
pub(crate) const SOLVER_ITERATIONS: usize = 4;

/// Angular damping of things that roll: there is no rolling resistance otherwise.
pub(crate) const ROLLING_DAMPING: f32 = 20.0;

/// Angular damping of everything else.
pub(crate) const TURNING_DAMPING: f32 = 2.0;

/// The solver's parameters.
pub(crate) fn integration_parameters() -> IntegrationParameters {
    IntegrationParameters {
        dt: STEP as f32,
        num_solver_iterations: SOLVER_ITERATIONS,
        num_internal_stabilization_iterations: 2,
        // 30 Hz, the default, lets 30 N press 10 to 30 mm deep; 200 Hz makes thin walls that were pressed into each other (a
        // bowl on a plate) buzz without end or fly off. Grasps hold at 50 as they do at 200.
        contact_softness: SpringCoefficients::new(50.0, 1.0),
        static_contact_softness: SpringCoefficients::new(400.0, 1.0),
        // Contacts that are kept because hand and thing move alike are stale when both turn: what is held creeps out of the hand by 5 mm
        // for each radian, at any speed.
        contact_recycling: false,
        normalized_prediction_distance: 0.005,
        contact_clustering: false,
        friction_model: FrictionModel::Coulomb,
        friction_in_bias_pass: false,
        max_ccd_substeps: 0,
        // What overlaps is pushed apart slowly; at 3 m/s, the default, it gains energy by that, at 0.5 balls slip out of the gripper.
        normalized_max_corrective_velocity: 1.5,
        length_unit: 1.0,
        ..IntegrationParameters::default()
    }
}

/// A collider with skin and the smaller friction of the two that touch.
pub(crate) fn collider(shape: SharedShape, friction: f64) -> ColliderBuilder {
    ColliderBuilder::new(shape)
        .contact_skin(CONTACT_SKIN as f32)
        .friction(friction as f32)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .restitution_combine_rule(CoefficientCombineRule::Min)
}
