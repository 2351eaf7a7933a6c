//! A described thing as a scene of the embedded simulator.

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_articulation::{Iteration, Joint, JointKind, Link, Shape, Solid};
use std::fmt::Write;

/// Share of the range of a joint from which it is open, and up to which it is closed.
const OPEN: f64 = 0.5;
const CLOSED: f64 = 0.08;
/// A solid with at most this share of the area of a link's face, seen along the face's normal, is what one holds.
const HELD: f64 = 0.35;

/// The scene: the thing stands where it was found, all its joints at the positions at which they were found.
pub(super) fn scene(best: &Iteration, name: &str, class: &str) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_scene(&mut text, best, name, class);
    text
}

fn write_scene(text: &mut String, best: &Iteration, name: &str, class: &str) -> std::fmt::Result {
    let at = best.map_from_model;
    let (_, _, yaw) = at.rotation.euler_angles();
    writeln!(text, "# {name} as it was described; prehend up --scene THIS FILE")?;
    writeln!(text, "name: {}\nobjects:\n- name: {}", quoted(name), quoted(name))?;
    writeln!(text, "  pose: {{xyz: {}, yaw: {}}}", list(&at.translation.vector), number(yaw))?;
    let class = if class.is_empty() { "thing" } else { class };
    writeln!(
        text,
        "  model:\n    class: {}\n    color: wood\n    second_color: cream\n    fixed: true\n    links:",
        quoted(class)
    )?;
    let middle = best.model.links.first().map_or_else(Point3::origin, Link::middle);
    for (index, link) in best.model.links.iter().enumerate() {
        let face =
            link.solids.first().map_or_else(Point3::origin, |face| face.pose.translation.vector.into());
        let off = best.model.joint_of(index).map(|joint| joint.at(0.0) * face - middle);
        write_link(text, link, off)?;
    }
    let moving: Vec<&Joint> = best.model.joints.iter().collect();
    if !moving.is_empty() {
        writeln!(text, "    joints:")?;
    }
    for joint in &moving {
        write_joint(text, joint, &best.model.links)?;
    }
    let ranged: Vec<&&Joint> = moving.iter().filter(|joint| joint.kind != JointKind::Fixed).collect();
    if !ranged.is_empty() {
        writeln!(text, "    states:")?;
    }
    for joint in ranged {
        let [low, high] = limits(joint);
        let at = |share: f64| number(low + share * (high - low));
        writeln!(text, "    - {{state: open, joint: {}, above: {}}}", quoted(&joint.name), at(OPEN))?;
        writeln!(text, "    - {{state: closed, joint: {}, below: {}}}", quoted(&joint.name), at(CLOSED))?;
    }
    Ok(())
}

/// `off` is where the face of a part is from the middle of the whole.
fn write_link(text: &mut String, link: &Link, off: Option<Vector3<f64>>) -> std::fmt::Result {
    writeln!(text, "    - name: {}", quoted(&link.name))?;
    if off.is_some() && !link.class.is_empty() {
        writeln!(text, "      class: {}", quoted(&link.class.to_lowercase()))?;
    }
    writeln!(text, "      pieces:")?;
    for (index, solid) in link.solids.iter().enumerate() {
        let shape = match solid.shape {
            Shape::Box(size) => format!("shape: box, size: {}", list(&size)),
            Shape::Cylinder { radius, length } => {
                let [radius, length] = [radius, length].map(number);
                format!("shape: cylinder, size: {{radius: {radius}, height: {length}}}")
            }
        };
        let more = match off {
            Some(off) if is_held(link, index, &off) => ", color: dark grey, part: handle",
            Some(_) => ", color: second",
            None => "",
        };
        writeln!(text, "      - {{{shape}, {}{more}}}", placed(&solid.pose))?;
    }
    Ok(())
}

/// Whether a solid is what one holds of a moving link: a small one before its face, on the side away from the middle of the whole.
fn is_held(link: &Link, index: usize, off: &Vector3<f64>) -> bool {
    let (Some(face), Some(solid)) = (link.solids.first(), link.solids.get(index)) else { return false };
    let half = face.half();
    let normal = half.imin();
    let area = |solid: &Solid| {
        let half = solid.half();
        (0..3).filter(|axis| *axis != normal).map(|axis| half[axis]).product::<f64>()
    };
    let before =
        (solid.pose.translation.vector[normal] - face.pose.translation.vector[normal]) * off[normal].signum();
    index > 0 && before > half[normal] && area(solid) <= HELD * area(face)
}

fn write_joint(text: &mut String, joint: &Joint, links: &[Link]) -> std::fmt::Result {
    let name = |link: usize| links.get(link).map(|link| quoted(&link.name)).unwrap_or_default();
    let (kind, locked) = match joint.kind {
        JointKind::Prismatic => ("prismatic", false),
        JointKind::Revolute | JointKind::Continuous => ("revolute", false),
        JointKind::Fixed => ("prismatic", true),
    };
    let [low, high] = limits(joint);
    writeln!(
        text,
        "    - {{name: {}, type: {kind}, parent: {}, child: {}, at: {}, axis: {}, limits: [{}, {}], position: {}, friction: {}, damping: {}{}}}",
        quoted(&joint.name),
        name(joint.parent),
        name(joint.child),
        list(&joint.origin.coords),
        list(&joint.axis),
        number(low),
        number(high),
        number(0.0_f64.clamp(low, high)),
        if joint.kind.turns() { "0.25" } else { "2.5" },
        if joint.kind.turns() { "0.3" } else { "6" },
        if locked { ", locked: true" } else { "" },
    )
}

/// Its range; of what turns without end once around, of what does not move hardly anything.
fn limits(joint: &Joint) -> [f64; 2] {
    match joint.kind {
        JointKind::Prismatic | JointKind::Revolute => joint.limits,
        JointKind::Continuous => [-std::f64::consts::PI, std::f64::consts::PI],
        JointKind::Fixed => [0.0, 0.001],
    }
}

fn placed(pose: &Isometry3<f64>) -> String {
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    let at = list(&pose.translation.vector);
    if [roll, pitch, yaw].iter().all(|angle| angle.abs() < 1e-6) {
        return format!("at: {at}");
    }
    format!("at: {at}, rpy: {}", list(&Vector3::new(roll, pitch, yaw)))
}

fn list(vector: &Vector3<f64>) -> String {
    let [x, y, z] = [vector.x, vector.y, vector.z].map(number);
    format!("[{x}, {y}, {z}]")
}

fn number(value: f64) -> String {
    // Without a minus before nothing.
    let rounded = (value * 1e5).round() / 1e5;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// A JSON string is one of YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_articulation::{Look, MovablePart, Observation, Thresholds, describe};
    use prehend_sim::Scene;

    /// Points of a board between two corners.
    fn board(low: [f64; 3], high: [f64; 3]) -> Vec<nalgebra::Point3<f64>> {
        const STEPS: usize = 24;
        let mut points = Vec::new();
        for a in 0..=STEPS {
            for b in 0..=STEPS {
                let thin = (0..3)
                    .min_by(|x, y| (high[*x] - low[*x]).total_cmp(&(high[*y] - low[*y])))
                    .unwrap_or_default();
                let mut shares = [a, b].into_iter().map(|step| step as f64 / STEPS as f64);
                let mut point = low;
                for axis in (0..3).filter(|axis| *axis != thin) {
                    point[axis] += shares.next().unwrap_or_default() * (high[axis] - low[axis]);
                }
                points.push(point.into());
            }
        }
        points
    }

    #[test]
    fn a_described_thing_is_a_scene_of_the_simulator() {
        let mut body = board([0.6, -0.2, 0.3], [0.9, 0.2, 0.3]);
        body.extend(board([0.6, 0.2, 0.0], [0.9, 0.2, 0.3]));
        body.extend(board([0.6, -0.2, 0.0], [0.9, -0.2, 0.3]));
        // With a room behind its face.
        let mut drawer = board([0.59, -0.18, 0.02], [0.59, 0.18, 0.28]);
        drawer.extend(board([0.55, -0.06, 0.14], [0.55, 0.06, 0.16]));
        let observation = Observation {
            name: "chest \"0\": odd".to_owned(),
            class: "chest".to_owned(),
            parts: vec![MovablePart { name: "drawer_0".to_owned(), class: "drawer".to_owned() }],
            looks: vec![Look { body, parts: vec![drawer] }],
            tracks: Vec::new(),
            eye: nalgebra::Point3::new(0.0, 0.0, 0.5),
        };
        let described = describe(&observation, Thresholds::default()).expect("described");
        let text = scene(described.best(), &observation.name, &observation.class);
        let scene =
            Scene::parse("described.yaml", &text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        let placed = scene.instantiate(1).expect("placed");
        let object = placed.objects.first().expect("an object");
        let model = object.spec.model.as_ref().expect("a model");
        assert_eq!((model.links.len(), model.joints.len()), (2, 1), "{text}");
        assert_eq!(text.matches("part: handle").count(), 1, "{text}");
        let opens = object.pose.rotation * model.joints[0].axis;
        assert!(opens.x < -0.99 && model.joints[0].limits[1] > 0.1, "{text}");
    }
}
