//! What a world needs besides its bodies: physics, Gazebo's systems, light.

use super::xml::Xml;

/// Step of Gazebo's physics, seconds: its usual one. The embedded simulator's is 1/240.
const STEP: f64 = 0.001;

/// What DART finds the forces of contacts with: projected Gauss-Seidel. With its default, Dantzig's, a block that two pads hold slides out
/// of the hand while the arm moves fast.
const SOLVER: &str = "pgs";

/// Systems of Gazebo Harmonic, with their libraries.
const SYSTEMS: [(&str, &str); 5] = [
    ("gz-sim-physics-system", "gz::sim::systems::Physics"),
    ("gz-sim-user-commands-system", "gz::sim::systems::UserCommands"),
    ("gz-sim-scene-broadcaster-system", "gz::sim::systems::SceneBroadcaster"),
    ("gz-sim-contact-system", "gz::sim::systems::Contact"),
    ("gz-sim-sensors-system", "gz::sim::systems::Sensors"),
];

pub(super) fn write(xml: &mut Xml) {
    // Gazebo takes its engine by its own setting; `ignored` is the type that says so.
    xml.element("physics", &[("name", "physics"), ("type", "ignored")], |xml| {
        xml.number("max_step_size", STEP);
        xml.number("real_time_factor", 1.0);
        xml.element("dart", &[], |xml| {
            xml.element("solver", &[], |xml| xml.text("solver_type", SOLVER));
        });
    });
    for (library, system) in SYSTEMS {
        xml.element("plugin", &[("filename", library), ("name", system)], |xml| {
            if library == "gz-sim-sensors-system" {
                // The segmentation camera draws with this one only.
                xml.text("render_engine", "ogre2");
            }
        });
    }
    xml.text("gravity", "0 0 -9.81");
    xml.element("scene", &[], |xml| {
        xml.text("ambient", "0.5 0.5 0.5 1");
        xml.text("background", "0.75 0.78 0.82 1");
        xml.text("shadows", "true");
    });
    xml.element("light", &[("name", "sun"), ("type", "directional")], |xml| {
        xml.text("cast_shadows", "true");
        xml.text("pose", "0 0 10 0 0 0");
        xml.text("diffuse", "0.8 0.8 0.8 1");
        xml.text("specular", "0.2 0.2 0.2 1");
        xml.text("direction", "-0.4 0.3 -0.9");
    });
}
