use super::{Placement, Scene, Shape, named_color, named_colors};

fn findings(text: &str) -> Vec<String> {
    match Scene::parse("s.yaml", text) {
        Ok(_) => Vec::new(),
        Err(findings) => findings.items().iter().map(ToString::to_string).collect(),
    }
}

fn object(rest: &str) -> String {
    format!("name: s\nobjects:\n- {{name: a, class: thing, shape: box, color: red, {rest}}}\n")
}

/// The scene has exactly these findings.
fn check(text: &str, expected: &[&str]) {
    assert_eq!(findings(text), expected, "{text}");
}

#[test]
fn every_mistake_is_reported_at_once_with_its_line_and_the_nearest_word() {
    check(
        "nam: s\ntable: {hight: 0.1, color: bage}\nobjects:\n- {name: a, class: cup, shape: mugg, color: rad, mass: -1, \
         pose: {xy: [0.4, 0]}}\n- {name: b, class: cup, shape: mug, colour: red, pose: {xy: [0.5, 0.1, 0]}}\n",
        &[
            "s.yaml:1:1: missing key `name`",
            "s.yaml:1:1: unknown key `nam`; did you mean `name`?",
            "s.yaml:2:9: table: unknown key `hight`; did you mean `height`?",
            "s.yaml:2:28: table.color: unknown colour `bage`; did you mean `beige`? (or [r, g, b])",
            "s.yaml:4:32: objects[0].shape: unknown value `mugg`; did you mean `mug`?",
            "s.yaml:4:45: objects[0].color: unknown colour `rad`; did you mean `red`? (or [r, g, b])",
            "s.yaml:4:56: objects[0].mass: `-1` is outside 0.001 to 50",
            "s.yaml:5:3: objects[1]: missing key `color`",
            "s.yaml:5:37: objects[1]: unknown key `colour`; did you mean `color`?",
            "s.yaml:5:61: objects[1].pose.xy: expected 2 numbers, found 3",
        ],
    );
}

#[test]
fn sizes_and_places_are_checked() {
    let one = |rest: &str, message: &str| {
        let found = findings(&object(rest));
        assert!(found.len() == 1 && found[0].contains(message), "{rest}: {found:?}");
    };
    check(&object("pose: {xy: [0.4, 0.0]}"), &[]);
    one("size: [0.1, -0.1, 0.1], pose: {xy: [0.4, 0.0]}", "are not lengths");
    one("size: {x: 0.1, w: 0.1}, pose: {xy: [0.4, 0.0]}", "unknown key `w`");
    one("size: [0.1, 0.1, 2.0], pose: {xy: [0.4, 0.0]}", "are not lengths");
    one("mass: .nan, pose: {xy: [0.4, 0.0]}", "finite");
    one("mass: 1", "where is it?");
    one("pose: {xy: [0.4, 0.0]}, region: {x: [0.3, 0.4], y: [0, 0.1]}", "only one of");
    one("pose: {xy: [1.4, 0.0]}", "is not on the table");
    one("pose: {xyz: [0.4, 0.0, 0.0]}", "25 mm into the table");
    one("pose: {xyz: [0.4, 0.0, 0.1], yaw: 1, rpy: [0, 0, 1]}", "not both");
    one("pose: {}", "give `xy`");
    one("region: {x: [0.5, 0.4], y: [0, 0.1]}", "is not a range");
    one("region: {x: [2, 3], y: [0, 0.1]}", "is not on the table");
    one("on: nothing", "there is no object `nothing`");
    one("on: a", "in a circle");
    one("second_color: [1, 2], pose: {xy: [0.4, 0.0]}", "expected 3 numbers");
    one("second_color: [1, 2, 300], pose: {xy: [0.4, 0.0]}", "outside 0 to 255");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let two = |first: &str, second: &str| {
        format!(
            "name: s\nobjects:\n- {{class: x, color: red, {first}}}\n- {{class: y, color: blue, {second}}}\n"
        )
    };
    let bowl = "name: b, shape: bowl, pose: {xy: [0.5, 0.0]}";
    for (first, second, message) in [
        (bowl, "name: b, shape: box, pose: {xy: [0.5, 0.3]}", "the name `b` is used twice"),
        (bowl, "name: c, shape: box, pose: {xy: [0.52, 0.02], yaw: 0}", "`c` overlaps `b`"),
        (bowl, "name: c, shape: box, size: [0.2, 0.2, 0.2], in: b", "does not fit into `b`"),
        (bowl, "name: c, shape: box, in: bb", "there is no object `bb`"),
        ("name: b, shape: box, pose: {xy: [0.5, 0.0]}", "name: c, shape: ball, in: b", "a box has no inside"),
        ("name: b, shape: box, on: c", "name: c, shape: box, on: b", "in a circle"),
        (
            "name: b, shape: capsule, size: {radius: 0.05, height: 0.06}, pose: {xy: [0.5, 0]}",
            "name: c, shape: box, pose: {xy: [0.5, 0.3]}",
            "twice its radius",
        ),
        (
            "name: b, shape: mug, size: {wall: 0.03}, pose: {xy: [0.5, 0]}",
            "name: c, shape: box, pose: {xy: [0.5, 0.3]}",
            "leave no hollow",
        ),
        (
            "name: b, shape: bottle, size: {neck_radius: 0.05}, pose: {xy: [0.5, 0]}",
            "name: c, shape: box, pose: {xy: [0.5, 0.3]}",
            "neck is thinner",
        ),
    ] {
        let found = findings(&two(first, second));
        assert!(
            !found.is_empty() && found.iter().all(|finding| finding.contains(message)),
            "{message}: {found:?}"
        );
    }
}

#[test]
fn texts_that_are_no_scene_are_findings_not_panics() {
    for text in [
        "",
        "[]",
        "3",
        "name: x",
        "name: x\nobjects: 3",
        "name: x\nobjects: [3, {}]",
        "a: [",
        "name: ''\nobjects: []",
    ] {
        assert!(!findings(text).is_empty(), "{text}");
    }
    assert_eq!(findings("name: empty\nobjects: []"), Vec::<String>::new());
}

#[test]
fn every_shape_stands_alone_on_its_defaults() {
    for shape in [
        "box",
        "cylinder",
        "can",
        "sphere",
        "ball",
        "capsule",
        "egg",
        "mug",
        "cup",
        "bowl",
        "plate",
        "pan",
        "bottle",
        "tray",
        "container",
        "basket",
    ] {
        let text = format!(
            "name: s\nobjects:\n- {{name: a, class: my thing, shape: {shape}, color: light blue, pose: {{xy: [0.45, 0]}}}}"
        );
        let scene = Scene::parse("s.yaml", &text).unwrap_or_else(|findings| panic!("{findings}"));
        let object = &scene.objects[0];
        assert_eq!(object.class, "my thing");
        assert_eq!(object.color_name.as_deref(), Some("light blue"));
        assert!((0.02..1.0).contains(&object.mass), "{shape}: {} kg", object.mass);
        let parts = crate::body::object_parts(&object.shape, object.color, object.second_color);
        let volume: f64 = parts.iter().map(|part| part.shape.volume()).sum();
        let meshed: f64 = parts.iter().map(|part| part.shape.mesh().volume()).sum();
        assert!((meshed / volume - 1.0).abs() < 0.03, "{shape}: mesh of {meshed}, volume {volume}");
    }
}

#[test]
fn a_layout_is_a_function_of_the_seed_without_overlap_and_within_the_regions() {
    let mut text = String::from("name: s\nobjects:\n");
    for index in 0..10 {
        text += &format!(
            "- {{name: o{index}, class: block, shape: box, color: red, region: {{x: [0.32, 0.58], y: [-0.3, 0.3]}}}}\n"
        );
    }
    let scene = Scene::parse("s.yaml", &text).expect("scene");
    let mut layouts = Vec::new();
    for seed in 0..20 {
        let placed = scene.instantiate(seed).expect("room");
        assert_eq!(placed, scene.instantiate(seed).expect("room"));
        for (index, object) in placed.objects.iter().enumerate() {
            let Placement::Region { x, y, .. } = &object.spec.placement else { panic!("a region") };
            let at = object.pose.translation.vector;
            assert!((x[0]..=x[1]).contains(&at.x) && (y[0]..=y[1]).contains(&at.y), "{at}");
            for other in &placed.objects[..index] {
                // Blocks of 5 cm with a gap of 12 mm at least.
                let apart = (at - other.pose.translation.vector).xy().norm();
                assert!(apart > 0.0615, "seed {seed}: {apart}");
            }
        }
        layouts.push(placed.objects[0].pose.translation.vector);
    }
    layouts.dedup_by(|a, b| (*a - *b).norm() < 1e-9);
    assert_eq!(layouts.len(), 20, "every seed has its layout");
}

#[test]
fn a_scene_that_is_too_full_says_which_object_has_no_room() {
    let mut text = String::from("name: s\nobjects:\n");
    for index in 0..5 {
        text += &format!(
            "- {{name: o{index}, class: block, shape: box, color: red, region: {{x: [0.4, 0.42], y: [0.0, 0.02]}}}}\n"
        );
    }
    let error = Scene::parse("s.yaml", &text).expect("scene").instantiate(1).expect_err("full");
    assert!(error.to_string().contains("no room for `o1`"), "{error}");
}

#[test]
fn the_colour_table_is_valid_and_names_are_unique() {
    let names: Vec<&str> = named_colors().iter().map(|entry| entry.name.as_str()).collect();
    assert!(names.len() >= 20, "{names:?}");
    assert!(names.iter().enumerate().all(|(index, name)| !names[..index].contains(name)));
    assert!(named_color("red").is_some() && named_color("reddish").is_none());
}

#[test]
fn containers_have_a_hollow_below_their_rim() {
    for (shape, holds) in [
        (Shape::Bowl { radius: 0.08, foot: 0.04, height: 0.06, wall: 0.004 }, true),
        (Shape::Tray { size: [0.2, 0.1, 0.05], wall: 0.005 }, true),
        (Shape::Can { radius: 0.03, height: 0.1 }, false),
    ] {
        let hollow = shape.hollow();
        assert_eq!(hollow.is_some(), holds, "{shape:?}");
        assert!(hollow.is_none_or(|hollow| hollow.floor < 0.0 && hollow.half[0] < shape.half_extents().x));
    }
}

const SLIDER: &str = "name: s\nmodels:\n  slider:\n    class: chest\n    color: wood\n    parameters: {width: [0.2, 0.3]}\n    links:\n    - {name: body, pieces: [{shape: box, size: [0.1, width, 0.02]}]}\n    - {name: drawer, class: drawer, pieces: [{shape: tray, size: [0.1, width - 0.02, 0.05], at: [0, 0, 0.05]}]}\n    joints:\n    - {name: slide, type: prismatic, child: drawer, axis: [-1, 0, 0], limits: [0, 0.1]}\n    states:\n    - {state: open, joint: slide, above: 0.05}\n";

#[test]
fn models_are_read_drawn_and_changed_by_the_scene() {
    let text = format!(
        "{SLIDER}objects:\n- {{name: a, model: slider, joints: {{slide: [0.02, 0.08]}}, pose: {{xy: [0.5, 0.0], yaw: 0}}}}\n\
         - {{name: b, model: slider, color: red, parameters: {{width: 0.21}}, joints: {{slide: {{locked: true}}}}, \
         pose: {{xy: [0.5, 0.35], yaw: 0}}}}\n"
    );
    let scene = Scene::parse("s.yaml", &text).unwrap_or_else(|findings| panic!("{findings}"));
    let mut widths = Vec::new();
    for seed in 0..8 {
        let placed = scene.instantiate(seed).expect("placed");
        assert_eq!(placed, scene.instantiate(seed).expect("again"));
        let [a, b] = [0, 1].map(|index| placed.objects[index].spec.clone());
        let (model, other) = (a.model.expect("model"), b.model.expect("model"));
        assert!((0.02..=0.08).contains(&model.joints[0].position) && !model.joints[0].locked);
        assert!(other.joints[0].locked && other.joints[0].position == 0.0);
        assert_eq!((a.class.as_str(), b.color_name.as_deref()), ("chest", Some("red")));
        let Shape::Tray { size, .. } = model.links[1].shape else { panic!("{:?}", model.links[1].shape) };
        let Shape::Box { size: [_, width, _] } = a.shape else { panic!("{:?}", a.shape) };
        assert!((size[1] - (width - 0.02)).abs() < 1e-9 && (0.2..=0.3).contains(&width));
        assert_eq!(b.shape, Shape::Box { size: [0.1, 0.21, 0.02] });
        assert!(model.states[0].holds(0.06) && !model.states[0].holds(0.04));
        widths.push(width);
    }
    widths.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    assert_eq!(widths.len(), 8, "every seed has its sizes");
}

#[test]
fn what_is_wrong_with_a_model_is_said_with_its_place() {
    let with = |object: &str| {
        format!("{SLIDER}objects:\n- {{name: a, {object}, pose: {{xy: [0.5, 0.0], yaw: 0}}}}\n")
    };
    let one = |text: &str, message: &str| {
        let found = findings(text);
        assert!(found.len() == 1 && found[0].contains(message), "{message}: {found:?}");
    };
    one(
        &with("model: slidder"),
        "s.yaml:15:20: objects[0].model: there is no model `slidder`; did you mean `slider`?",
    );
    one(&with("model: slider, parameters: {widht: 0.2}"), "no parameter `widht`; did you mean `width`?");
    one(&with("model: slider, joints: {slid: 0.2}"), "no joint `slid`; did you mean `slide`?");
    one(&with("model: slider, mass: 3"), "unknown key `mass`");
    let broken = |from: &str, to: &str| with("model: slider").replace(from, to);
    one(&broken("width - 0.02", "widht - 0.02"), "s.yaml:9:");
    one(&broken("width - 0.02", "widht - 0.02"), "unknown parameter `widht`; did you mean `width`?");
    one(&broken("child: drawer,", "child: drawr,"), "there is no link `drawr`; did you mean `drawer`?");
    one(&broken("joint: slide,", "joint: slid,"), "there is no joint `slid`; did you mean `slide`?");
    one(&broken("limits: [0, 0.1]", "limits: [0.1, 0]"), "is not a range");
    one(&broken("axis: [-1, 0, 0]", "axis: [0, 0, 0]"), "an axis is not [0, 0, 0]");
    one(&broken("prismatic", "prismatik"), "did you mean `prismatic`?");
    one(&broken("name: drawer,", "name: body,"), "two links are called `body`");
    one(&broken(", above: 0.05", ""), "when does it hold?");
    one(&broken("child: drawer", "child: body"), "behind its parent");
    // Right for middle sizes, wrong for the largest.
    one(&broken("0.05], at", "0.55 - 2 * width], at"), "are not lengths");
}

#[test]
fn every_model_of_the_catalogue_is_valid() {
    let mut library = super::Library::default();
    library.add_folder(&super::objects_folder()).unwrap_or_else(|findings| panic!("{findings}"));
    let names: Vec<String> = library.names().map(str::to_owned).collect();
    assert!(names.iter().any(|name| name == "drawer_cabinet"), "{names:?}");
    for name in names {
        let text =
            format!("name: s\nobjects:\n- {{name: it, model: {name}, pose: {{xy: [0.5, 0.0], yaw: 0}}}}");
        let scene = Scene::parse("s.yaml", &text).unwrap_or_else(|findings| panic!("{name}: {findings}"));
        for seed in 0..4 {
            scene.instantiate(seed).unwrap_or_else(|error| panic!("{name} seed {seed}: {error}"));
        }
    }
}

fn room(rest: &str) -> String {
    format!("name: s\nrobot: {{xy: [1, 1]}}\nroom: {{size: [4, 3]}}\n{rest}")
}

#[test]
fn rooms_are_checked_as_tables_are() {
    check(&room("objects: []\n"), &[]);
    let one = |text: &str, message: &str| {
        let found = findings(text);
        assert!(found.len() == 1 && found[0].contains(message), "{message}: {found:?}");
    };
    one(&room("table: {height: 0.1}\nobjects: []\n"), "a room has no `table`");
    one("name: s\nroom: {size: [4, 3]}\nobjects: []\n", "missing key `robot`");
    one(&room("objects: []\n").replace("[1, 1]", "[1, 3.5]"), "is not in the room");
    one(&room("objects: []\n").replace("[4, 3]", "[4, -3]"), "are not lengths");
    one(&room("objects: []\n").replace("size", "sise").replace("[4, 3]", "[4, 3], size: [4, 3]"), "`sise`");
    one(&room("localisation: {sigma: 0.1}\nobjects: []\n"), "did you mean `sigma_xy`?");
    let wall = |wall: &str| {
        format!("name: s\nrobot: {{xy: [1, 1]}}\nroom: {{size: [4, 3], walls: [{wall}]}}\nobjects: []\n")
    };
    check(&wall("{from: [2, 0], to: [2, 1]}"), &[]);
    one(&wall("{from: [2, 0], to: [2, 0]}"), "from one place of the room to another");
    let thing = |rest: &str| {
        room(&format!(
            "objects:\n- {{name: desk, model: table, pose: {{xy: [3, 1.5], yaw: 0}}}}\n\
             - {{name: a, class: thing, shape: box, color: red, {rest}}}\n"
        ))
    };
    check(&thing("on: desk, region: {x: [-0.1, 0.1], y: [-0.2, 0.2]}"), &[]);
    one(&thing("on: dekc, region: {x: [-0.1, 0.1], y: [-0.2, 0.2]}"), "did you mean `desk`?");
    one(&thing("on: desk, region: {x: [0.1, -0.1], y: [-0.2, 0.2]}"), "is not a range");
    one(&thing("pose: {xy: [9, 1]}"), "is not in the room");
    one(&thing("in: desk, region: {x: [-0.1, 0.1], y: [-0.2, 0.2]}"), "give only one of");
    // The keys of a room are no keys of a table.
    one("name: s\nrobot: {xy: [1, 1]}\nobjects: []\n", "robot");
}

#[test]
fn what_is_on_furniture_stands_within_its_region() {
    let text = room(
        "objects:\n- {name: desk, model: shelf, pose: {xy: [3, 1.5], yaw: 2.0}}\n\
         - {name: up, class: thing, shape: box, color: red, on: desk, region: {x: [-0.1, 0.1], y: [-0.3, 0.3]}}\n\
         - {name: down, class: thing, shape: box, color: red, on: desk, region: {x: [-0.1, 0.0], y: [-0.3, 0.3], z: 0.4}}\n\
         - {name: other, class: thing, shape: ball, color: red, on: desk, region: {x: [-0.1, 0.1], y: [-0.3, 0.3]}}\n",
    );
    let scene = Scene::parse("s.yaml", &text).unwrap_or_else(|findings| panic!("{findings}"));
    let mut places = Vec::new();
    for seed in 0..8 {
        let placed = scene.instantiate(seed).expect("room");
        assert_eq!(placed, scene.instantiate(seed).expect("room"));
        let [desk, up, down, other] = [0, 1, 2, 3].map(|index| placed.objects[index].pose);
        for (thing, height) in [(up, 0.805), (down, 0.325), (other, 0.815)] {
            let local = (desk.inverse() * thing).translation.vector;
            assert!(local.x.abs() <= 0.1 && local.y.abs() <= 0.3, "{local}");
            assert!((local.z - height).abs() < 0.004, "{local}");
        }
        assert!((up.translation.vector - other.translation.vector).norm() > 0.06);
        places.push(up.translation.vector);
    }
    places.dedup_by(|a, b| (*a - *b).norm() < 1e-9);
    assert_eq!(places.len(), 8, "every seed has its layout");
}
