//! Worlds for Gazebo: what is read back of the SDF is what physics here has, for every scene of the repository and some others.

#[path = "sdf/compare.rs"]
mod compare;
#[path = "sdf/peer.rs"]
mod peer;
mod rig;
#[path = "sdf/tree.rs"]
mod tree;

use compare::findings;
use nalgebra::{Matrix3, Vector3};
use prehend_sim::body::{ConvexPart, PartShape};
use prehend_sim::scene::PlacedScene;
use prehend_sim::sdf::{Loss, MeshFile, SdfError, SdfWorld};
use prehend_sim::world::ArmModel;
use prehend_sim::{Scene, World};
use prehend_testing::{Needs, skipped};
use rig::{HOME, model, repository};
use std::collections::HashSet;
use std::path::Path;
use tree::{Element, models};

const SEEDS: [u64; 3] = [1, 7, 4242];

fn world_of(placed: &PlacedScene) -> World {
    let arm = if placed.scene.room.is_some() {
        let urdf = std::fs::read_to_string(repository().join("urdf/ranger_xarm6.urdf")).expect("a URDF");
        ArmModel::from_urdf(&urdf).expect("a model")
    } else {
        model()
    };
    World::new(placed, &arm, &HOME).expect("a world")
}

/// Every scene of the repository with some seeds.
fn worlds() -> impl Iterator<Item = (String, World)> {
    let mut files: Vec<_> = std::fs::read_dir(repository().join("config/scenes"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files.into_iter().flat_map(|file| {
        let scene = Scene::load(&file).unwrap_or_else(|findings| panic!("{findings}"));
        SEEDS.map(|seed| {
            let placed = scene.instantiate(seed).unwrap_or_else(|error| panic!("{file:?} {seed}: {error}"));
            (format!("{}_{seed}", scene.name), world_of(&placed))
        })
    })
}

fn sdf_of(world: &World) -> SdfWorld {
    SdfWorld::of(world, "meshes").expect("an SDF")
}

fn parse(objects: &str) -> World {
    rig::world(objects, 1)
}

#[test]
fn every_scene_is_read_back_as_physics_has_it() {
    let (mut joints, mut seen) = (0, HashSet::new());
    for (name, world) in worlds() {
        let sdf = sdf_of(&world);
        let read = models(&sdf.sdf);
        assert_eq!(findings(&world, &read), Vec::<String>::new(), "{name}");
        let movable = |model: &&tree::ReadModel| model.joints.iter().any(|joint| joint.kind != "fixed");
        joints += read.iter().filter(movable).count();
        seen.insert(sdf.sdf);
    }
    assert!(joints > 20, "only {joints} things with joints");
    assert!(seen.len() > 20, "seeds change nothing");
}

#[test]
fn poses_and_masses_are_those_of_the_scene_too() {
    for (name, world) in worlds() {
        let sdf = sdf_of(&world);
        let read = models(&sdf.sdf);
        let objects = world.objects();
        for ((object, pose), model) in
            objects.iter().zip(world.object_poses()).zip(&read[read.len() - objects.len()..])
        {
            let off = (model.links[0].pose.translation.vector - pose.translation.vector).norm();
            assert!(off < 1e-6, "{name}: {} is off by {off}", object.spec.name);
            let placed = (object.pose.translation.vector - pose.translation.vector).norm();
            assert!(placed < 0.02, "{name}: {} moved by {placed} before the start", object.spec.name);
            let masses: Vec<f64> = match &object.spec.model {
                Some(known) => known.links.iter().map(|link| link.mass).collect(),
                None => vec![object.spec.mass],
            };
            for (link, mass) in model.links.iter().zip(masses) {
                let share = (link.mass - mass).abs() / mass;
                // Physics takes the volume of the hull, the scene's density that of the faces.
                assert!(
                    share < 1e-3,
                    "{name}: {}/{} has {} kg, not {mass}",
                    model.name,
                    link.name,
                    link.mass
                );
            }
        }
    }
}

#[test]
fn inertia_is_that_of_textbooks() {
    let world = parse(
        "  - {name: brick, class: block, shape: box, size: [0.04, 0.06, 0.08], color: red, mass: 0.5, pose: {xy: [0.4, -0.2], yaw: 0.0}}
  - {name: ball, class: ball, shape: sphere, size: {radius: 0.03}, color: blue, mass: 0.2, pose: {xy: [0.4, 0.0], yaw: 0.0}}
  - {name: rod, class: rod, shape: cylinder, size: {radius: 0.02, height: 0.1}, color: green, mass: 0.3, pose: {xy: [0.4, 0.2], yaw: 0.0}}
",
    );
    let read = models(&sdf_of(&world).sdf);
    let of = |name: &str| read.iter().find(|model| model.name == name).expect("a model").links[0].inertia;
    let brick =
        Vector3::new(0.06_f64.powi(2) + 0.08_f64.powi(2), 0.04_f64.powi(2) + 0.08_f64.powi(2), 0.0052)
            * (0.5 / 12.0);
    let ball = Vector3::repeat(0.4 * 0.2 * 0.03_f64.powi(2));
    let across = 0.3 / 12.0 * (3.0 * 0.02_f64.powi(2) + 0.1_f64.powi(2));
    let rod = Vector3::new(across, across, 0.5 * 0.3 * 0.02_f64.powi(2));
    for (name, expected) in [("brick", brick), ("ball", ball), ("rod", rod)] {
        let off = (of(name) - Matrix3::from_diagonal(&expected)).norm() / expected.norm();
        assert!(off < 1e-5, "{name}: {} for {expected}", of(name));
    }
}

/// Volume and middle of an OBJ.
fn volume(file: &MeshFile) -> f64 {
    let (mut vertices, mut volume) = (Vec::new(), 0.0);
    for line in file.obj.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "v" => vertices.push(Vector3::from_iterator(
                words[1..].iter().map(|word| word.parse::<f64>().expect("a number")),
            )),
            "f" => {
                let corner = |word: &str| -> Vector3<f64> {
                    let index: usize = word.split('/').next().expect("an index").parse().expect("a number");
                    vertices[index - 1]
                };
                volume += corner(words[1]).dot(&corner(words[2]).cross(&corner(words[3]))) / 6.0;
            }
            "vn" => {}
            other => panic!("a line of `{other}`"),
        }
    }
    volume
}

/// Size of a collision shape, of whichever kind.
fn size_of(collision: &Element, meshes: &[MeshFile]) -> f64 {
    use std::f64::consts::PI;
    let number = |path: &str| collision.numbers(&format!("geometry/{path}"))[0];
    let kind = collision.find("geometry").expect("a geometry").children[0].tag.as_str();
    match kind {
        "box" => collision.numbers("geometry/box/size").iter().product(),
        "sphere" => 4.0 / 3.0 * PI * number("sphere/radius").powi(3),
        "cylinder" => PI * number("cylinder/radius").powi(2) * number("cylinder/length"),
        "capsule" => {
            let radius = number("capsule/radius");
            PI * radius * radius * (number("capsule/length") + 4.0 / 3.0 * radius)
        }
        "mesh" => {
            let uri = &collision.find("geometry/mesh/uri").expect("a file").text;
            volume(meshes.iter().find(|file| file.path == *uri).unwrap_or_else(|| panic!("no file {uri}")))
        }
        other => panic!("a {other}"),
    }
}

#[test]
fn shapes_colours_friction_and_labels_are_those_of_the_parts() {
    for (name, world) in worlds() {
        let sdf = sdf_of(&world);
        let root = Element::parse(&sdf.sdf);
        let all: Vec<&Element> = root.find("world").expect("a world").all("model").collect();
        let objects = world.objects();
        let ids: HashSet<u8> = sdf.labels.iter().map(|label| label.id).collect();
        assert_eq!(ids.len(), sdf.labels.len(), "{name}: labels twice");
        assert!(!ids.contains(&0) && !ids.contains(&255), "{name}");
        let mut used = HashSet::new();
        for (object, element) in objects.iter().zip(&all[all.len() - objects.len()..]) {
            let spec = &object.spec;
            let links: Vec<(Vec<ConvexPart>, f64)> = match &spec.model {
                Some(model) => model.links.iter().map(|link| (link.parts.clone(), link.friction)).collect(),
                None => vec![(object.parts(), spec.friction)],
            };
            for (link, (parts, friction)) in element.all("link").zip(&links) {
                let felt = parts.iter().filter(|part| !part.only_seen);
                for (collision, part) in link.all("collision").zip(felt) {
                    let (size, expected) = (size_of(collision, &sdf.meshes), part.shape.volume());
                    assert!(
                        (size - expected).abs() < 1e-6 * expected,
                        "{name}: a part of {} has {size} m³, expected {expected}",
                        spec.name
                    );
                    let mu = collision.numbers("surface/friction/ode/mu")[0];
                    assert!((mu - friction).abs() < 1e-6, "{name}: {} rubs with {mu}", spec.name);
                }
                let shown: HashSet<Vec<i64>> = link
                    .all("visual")
                    .map(|visual| {
                        let rgba = visual.numbers("material/diffuse");
                        rgba[..3].iter().map(|channel| (channel * 255.0).round() as i64).collect()
                    })
                    .collect();
                let colours = parts.iter().map(|part| part.color.0.map(i64::from).to_vec()).collect();
                assert_eq!(shown, colours, "{name}: colours of {}", spec.name);
                for visual in link.all("visual") {
                    let id: u8 = visual.numbers("plugin/label")[0] as u8;
                    let label = sdf.labels.iter().find(|label| label.id == id).expect("a label");
                    let of_this =
                        label.thing == spec.name || label.thing.starts_with(&format!("{}/", spec.name));
                    assert!(of_this, "{name}: {} is labelled {}", spec.name, label.thing);
                    used.insert(id);
                }
                let handles = parts.iter().filter_map(|part| part.region.as_ref()).count();
                let hulls = parts.iter().any(|part| matches!(part.shape, PartShape::Hull(_)));
                assert!(handles == 0 || hulls || link.all("visual").count() >= handles);
            }
        }
        // A thing of regions only, such as a plug that is all handle, does not show its own value.
        let shown =
            |thing: &str| sdf.labels.iter().any(|label| label.thing == thing && used.contains(&label.id));
        for label in &sdf.labels {
            let is_shown = used.contains(&label.id) || label.part.is_none() && shown(&label.thing);
            assert!(is_shown, "{name}: nothing shows {label:?}");
        }
        let entities: HashSet<&str> = world.entities().iter().map(|entity| entity.name.as_str()).collect();
        let labelled: HashSet<&str> = sdf.labels.iter().map(|label| label.thing.as_str()).collect();
        assert_eq!(labelled, entities, "{name}");
    }
}

/// A clean world, one thing broken, and exactly that is found.
#[test]
fn whatever_is_wrong_in_an_sdf_is_found() {
    let placed = Scene::load(&repository().join("config/scenes/drawers.yaml"))
        .unwrap_or_else(|findings| panic!("{findings}"))
        .instantiate(1)
        .expect("placed");
    let world = world_of(&placed);
    let clean = sdf_of(&world).sdf;
    assert_eq!(findings(&world, &models(&clean)), Vec::<String>::new());
    let objects = clean.find("<label>").expect("an object");
    // Changes the first of `what` behind the fixtures, from its beginning to `end`.
    let broken = |what: &str, end: &str, instead: &str| {
        let model = clean[..objects].rfind("<model").expect("its model");
        let start = model + clean[model..].find(what).unwrap_or_else(|| panic!("no {what}"));
        let stop = start + clean[start..].find(end).expect("its end") + end.len();
        format!("{}{instead}{}", &clean[..start], &clean[stop..])
    };
    let cases = [
        ("<inertial>", "</inertial>", "", "mass"),
        ("<inertia>", "</inertia>", "", "inertia"),
        ("<ixx>", "</ixx>", "<ixx>1</ixx>", "inertia"),
        ("<mass>", "</mass>", "<mass>1.2345</mass>", "mass"),
        ("<pose", "</pose>", "", "pose"),
        ("<collision", "</collision>", "", "collisions"),
        ("<lower>", "</lower>", "<lower>-1</lower>", "limit"),
        ("<upper>", "</upper>", "", "limit"),
        ("<damping>", "</damping>", "<damping>77</damping>", "damping"),
        ("type=\"prismatic\"", "\"prismatic\"", "type=\"revolute\"", "revolute"),
        ("<xyz>", "</xyz>", "<xyz>0.6 0.8 0</xyz>", "axis"),
        ("<axis>", "</axis>", "", "axis"),
        ("<joint", "</joint>", "", "joints"),
        ("<link", "</link>", "", "links"),
    ];
    for (what, end, instead, named) in cases {
        let found = findings(&world, &models(&broken(what, end, instead)));
        assert!(found.iter().any(|finding| finding.contains(named)), "{what}: {found:?}");
        let first =
            found[0].split('/').next().expect("an object").split(':').next().expect("a name").to_owned();
        assert!(found.iter().all(|finding| finding.starts_with(&first)), "{what}: {found:?}");
    }
}

#[test]
fn what_gazebo_cannot_do_is_said() {
    let mut said = Vec::new();
    for (_, world) in worlds() {
        let sdf = sdf_of(&world);
        for object in world.objects() {
            let joints = object.spec.model.iter().flat_map(|model| &model.joints);
            for joint in
                joints.filter(|joint| joint.latch.is_some() && !joint.locked && joint.breaks_at.is_none())
            {
                let told = |loss: &Loss| matches!(loss, Loss::Latch { object: of, joint: at, .. } if *of == object.spec.name && *at == joint.name);
                assert!(sdf.losses.iter().any(told), "{}: {}", object.spec.name, joint.name);
            }
        }
        said.extend(sdf.losses);
    }
    assert!(said.iter().any(|loss| matches!(loss, Loss::Latch { .. })));
    assert!(said.iter().any(|loss| matches!(loss, Loss::Rolling { .. })));
    let brick = parse(
        "  - {name: brick, class: block, shape: box, size: [0.04, 0.06, 0.08], color: red, pose: {xy: [0.4, 0.0], yaw: 0.0}}\n",
    );
    assert_eq!(sdf_of(&brick).losses, Vec::new());
}

#[test]
fn names_that_sdf_reserves_and_text_that_xml_does_are_written_as_others() {
    let world = parse(
        "  - {name: world, class: block, shape: box, size: [0.04, 0.04, 0.04], color: red, pose: {xy: [0.4, -0.2], yaw: 0.0}}
  - {name: \"<a> & 'b'\", class: \"<c> & d\", shape: box, size: [0.04, 0.04, 0.04], color: red, pose: {xy: [0.4, 0.0], yaw: 0.0}}
  - {name: \"a::b\", class: bowl, shape: bowl, size: {radius: 0.06, foot: 0.03, height: 0.05, wall: 0.005}, color: red, pose: {xy: [0.4, 0.2], yaw: 0.0}}
",
    );
    let sdf = sdf_of(&world);
    assert_eq!(findings(&world, &models(&sdf.sdf)), Vec::<String>::new());
    let names: Vec<String> = models(&sdf.sdf).into_iter().map(|model| model.name).collect();
    assert_eq!(names, ["floor", "table", "world_1", "a_____b", "a__b"]);
    assert_eq!(sdf.labels[1].thing, "<a> & 'b'", "labels keep the scene's words");
    let safe = |file: &MeshFile| file.path.chars().all(|c| c.is_ascii_alphanumeric() || "_-/.".contains(c));
    assert!(!sdf.meshes.is_empty() && sdf.meshes.iter().all(safe), "{:?}", sdf.meshes[0].path);
}

#[test]
fn more_things_than_labels_are_an_error() {
    let mut objects = String::new();
    for index in 0..255 {
        let (x, y) = (0.20 + 0.03 * f64::from(index % 16), -0.4 + 0.03 * f64::from(index / 16));
        objects.push_str(&format!(
            "  - {{name: cube {index}, class: cube, shape: box, size: [0.01, 0.01, 0.01], color: red, pose: {{xy: [{x}, {y}], yaw: 0.0}}}}\n"
        ));
    }
    assert_eq!(SdfWorld::of(&parse(&objects), "meshes"), Err(SdfError::TooMany { count: 255 }));
}

/// libsdformat reads the same, without an error and without a warning.
#[test]
fn libsdformat_reads_what_physics_has() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdf");
    std::fs::create_dir_all(&folder).expect("a folder");
    let Some(program) = peer::build(&folder) else {
        skipped(
            Needs::Sdformat,
            "libsdformat is not installed (apt-get install libsdformat-dev g++ pkg-config)",
        );
        return;
    };
    for (name, world) in worlds() {
        let file = folder.join(format!("{name}.sdf"));
        std::fs::write(&file, sdf_of(&world).sdf).expect("written");
        let read = peer::read(&program, &file);
        assert_eq!(findings(&world, &read), Vec::<String>::new(), "{name}");
    }
}
