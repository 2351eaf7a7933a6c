//! Sentences about a table whose truth is written out.

use super::*;
use crate::goal::Predicate;
use prehend_sim::scene::Shape;
use prehend_sim::world::ObjectTruth;
use std::sync::OnceLock;

fn words() -> &'static Vocabulary {
    static WORDS: OnceLock<Vocabulary> = OnceLock::new();
    WORDS.get_or_init(|| Vocabulary::built_in().unwrap())
}

fn object(name: &str, class: &str, color: &str, shape: Shape, [x, y]: [f64; 2]) -> ObjectTruth {
    let half = shape.half_extents();
    ObjectTruth {
        name: name.into(),
        class: class.into(),
        shape,
        color: prehend_sim::scene::named_color(color).unwrap().0,
        color_name: Some(color.into()),
        fixed: false,
        position: [x, y, half.z],
        orientation: [0.0, 0.0, 0.0, 1.0],
        half_extents: half.into(),
        speed: 0.0,
        touches: vec!["table".into()],
        inside: Vec::new(),
        on: Vec::new(),
        held: false,
        fallen: false,
    }
}

/// Two mugs, a bowl with a lemon in it, a plate, three apples, a bottle and a box that is too large.
fn table() -> Truth {
    let mug = Shape::Mug { radius: 0.038, height: 0.09, wall: 0.004, handle: 0.03 };
    let apple = |radius| Shape::Sphere { radius };
    let bowl = Shape::Bowl { radius: 0.085, foot: 0.045, height: 0.055, wall: 0.004 };
    let plate = Shape::Plate { radius: 0.095, foot: 0.06, height: 0.024, wall: 0.004 };
    let bottle = Shape::Bottle { radius: 0.03, height: 0.18, neck_radius: 0.013, neck_height: 0.04 };
    let mut lemon = object("L", "lemon", "yellow", Shape::Egg { radius: 0.025, height: 0.065 }, [0.5, 0.0]);
    lemon.position[2] = 0.04;
    lemon.touches = vec!["B".into()];
    lemon.inside = vec!["B".into()];
    let objects = vec![
        object("M1", "mug", "red", mug, [0.40, 0.20]),
        object("M2", "mug", "blue", mug, [0.40, -0.20]),
        object("B", "bowl", "white", bowl, [0.50, 0.0]),
        lemon,
        object("P", "plate", "light blue", plate, [0.52, -0.28]),
        object("A1", "apple", "red", apple(0.036), [0.33, 0.05]),
        object("A2", "apple", "green", apple(0.030), [0.33, -0.08]),
        object("A3", "apple", "green", apple(0.028), [0.55, 0.20]),
        object("F", "bottle", "green", bottle, [0.45, 0.32]),
        object("X", "box", "brown", Shape::Box { size: [0.14, 0.13, 0.12] }, [0.35, -0.33]),
    ];
    Truth {
        time: 1.0,
        joints: vec![0.0; 6],
        opening: 0.085,
        pad_force: 0.0,
        moving: false,
        mechanisms: Vec::new(),
        table_height: 0.0,
        base: None,
        objects,
    }
}

/// What a sentence means, as text: predicates, or the reasons of a refusal, or the answer.
fn meaning(sentence: &str) -> String {
    match ground(sentence, &table(), words()).expected {
        Expected::World(predicates) => {
            predicates.iter().map(crate::judge::describe).collect::<Vec<_>>().join(" and ")
        }
        Expected::Refusal(reasons) => {
            format!("refuse: {}", reasons.iter().map(|r| r.code()).collect::<Vec<_>>().join(" "))
        }
        Expected::Answer(answer) => format!("{answer:?}"),
        Expected::Carried => "carried".to_owned(),
    }
}

#[test]
fn sentences_mean_what_a_person_would_expect() {
    for (sentence, expected) in [
        ("put the red mug in the bowl", "M1 in B"),
        ("Please place the blue cup on the plate.", "M2 on P"),
        ("pick up the bottle", "F held"),
        ("grab the largest apple", "A1 held"),
        ("put the apple left of the bowl on the plate", "A3 on P"),
        ("put the leftmost mug in the bowl", "M1 in B"),
        ("put the lemon next to the bottle", "L next to F"),
        ("take the lemon out of the bowl", "L on the table"),
        ("move the red mug to the left of the blue mug", "M1 left of M2"),
        ("put the bottle between the bowl and the plate", "F between B and P"),
        ("put both green apples in the bowl", "A2 in B and A3 in B"),
        ("put all the apples on the plate", "A1 on P and A2 on P and A3 on P"),
        ("put two apples in the bowl", "2 of: A1 in B; A2 in B; A3 in B"),
        ("pick up a mug", "1 of: M1 held; M2 held"),
        ("put the banana or the bottle on the plate", "F on P"),
        ("put the red or the blue mug on the plate", "1 of: M1 on P; M2 on P"),
        ("put all the apples on the plate until it is full", "1 of: A1 on P; A2 on P; A3 on P"),
        ("put the red mug in the bowl and then put the bottle on the plate", "M1 in B and F on P"),
        ("pick up the red mug and put it on the plate", "M1 on P"),
        ("put the fruit in the bowl on the plate", "L on P"),
        ("pick up the mug nearest to the bottle", "M1 held"),
        ("put the red apple behind the red mug", "A1 behind M1"),
        ("take the bottle and the lemon and put them on the plate", "F on P and L on P"),
        ("put the lemon on the plate and the bottle next to it", "L on P and F next to L"),
        ("take the lemon out of the bowl and put it on the plate", "L on P"),
        // Refusals.
        ("put the mug in the bowl", "refuse: ambiguous"),
        ("pick up the banana", "refuse: not_found"),
        ("put the red mug in the basket", "refuse: not_found"),
        ("pick up the box", "refuse: infeasible no_grasp"),
        ("throw the red apple at the wall", "refuse: unsafe"),
        ("put the plate in the red mug", "refuse: infeasible no_place"),
        ("put the red mug on the red apple", "refuse: infeasible no_place"),
        ("glorp the snark", "refuse: not_understood"),
        ("open the bottle", "refuse: infeasible not_understood"),
        ("", "refuse: not_understood"),
        // Questions.
        ("how many apples are there?", "Count(3)"),
        ("how many green apples are there?", "Count(2)"),
        ("is there a banana?", "YesNo(false)"),
        ("is the lemon in the bowl?", "YesNo(true)"),
        ("is the bottle in the bowl?", "YesNo(false)"),
        ("go home", "carried"),
    ] {
        assert_eq!(meaning(sentence), expected, "`{sentence}`");
    }
}

/// A cabinet with two drawers, the lower one open, a push button, and an apple.
fn furniture() -> Truth {
    use prehend_sim::world::JointTruth;
    let tray = Shape::Tray { size: [0.2, 0.28, 0.06], wall: 0.006 };
    let apple = Shape::Sphere { radius: 0.027 };
    let at = |mut object: ObjectTruth, z: f64| {
        object.position[2] = z;
        object
    };
    let joint = |entity: &str, state: &str| JointTruth {
        object: entity.split('/').next().unwrap_or(entity).to_owned(),
        entity: entity.to_owned(),
        joint: "slide".to_owned(),
        kind: "prismatic".to_owned(),
        position: 0.0,
        velocity: 0.0,
        limits: [0.0, 0.15],
        reached: [0.0, 0.0],
        locked: false,
        broken: false,
        states: vec![state.to_owned()],
        held_states: vec![state.to_owned()],
    };
    let body = Shape::Box { size: [0.22, 0.3, 0.3] };
    let base = Shape::Box { size: [0.08, 0.08, 0.05] };
    Truth {
        objects: vec![
            ObjectTruth { fixed: true, ..object("C", "cabinet", "brown", body, [0.69, 0.0]) },
            at(object("C/upper", "drawer", "white", tray, [0.69, 0.0]), 0.2),
            at(object("C/lower", "drawer", "white", tray, [0.59, 0.0]), 0.1),
            object("R", "button", "red", base, [0.4, -0.3]),
            object("A", "apple", "red", apple, [0.33, 0.1]),
        ],
        mechanisms: vec![joint("C/upper", "closed"), joint("C/lower", "open"), joint("R", "released")],
        ..table()
    }
}

#[test]
fn actions_on_parts_are_judged_by_joints() {
    let meant = |sentence: &str| match ground(sentence, &furniture(), words()).expected {
        Expected::World(predicates) => {
            predicates.iter().map(crate::judge::describe).collect::<Vec<_>>().join(" and ")
        }
        Expected::Refusal(reasons) => {
            format!("refuse: {}", reasons.iter().map(|r| r.code()).collect::<Vec<_>>().join(" "))
        }
        Expected::Answer(answer) => format!("{answer:?}"),
        Expected::Carried => "carried".to_owned(),
    };
    for (sentence, expected) in [
        ("open the top drawer", "C/upper open"),
        ("pull out the top drawer of the cabinet", "C/upper open"),
        ("close the bottom drawer", "C/lower closed"),
        ("close the open drawer", "C/lower closed"),
        ("shut the second drawer", "C/lower closed"),
        ("press the red button", "R was pressed"),
        ("put the apple in the top drawer", "A in C/upper"),
        ("put the apple in the top drawer and close it", "A in C/upper and C/upper closed"),
        ("close the bottom drawer and open the top drawer", "C/lower closed and C/upper open"),
        ("open the drawer", "C/upper open"),
        ("close the drawer", "C/lower closed"),
        ("open the microwave", "refuse: not_found"),
        ("is the bottom drawer open?", "YesNo(true)"),
        ("is the top drawer open?", "YesNo(false)"),
    ] {
        assert_eq!(meant(sentence), expected, "`{sentence}`");
    }
    let spec = ground("put the apple in the top drawer", &furniture(), words());
    assert_eq!(spec.may_move, ["A", "C/upper"]);
}

#[test]
fn what_may_move_is_what_the_sentence_moves() {
    let spec = ground("put the red mug and the bottle on the plate", &table(), words());
    assert_eq!(spec.may_move, ["F", "M1"]);
    assert!(ground("pick up the banana", &table(), words()).may_move.is_empty());
}

#[test]
fn a_scene_without_objects_refuses() {
    let empty = Truth { objects: Vec::new(), ..table() };
    let spec = ground("put the mug in the bowl", &empty, words());
    assert_eq!(spec, GoalSpec::refusal(&[prehend_scene::Reason::NotFound]));
}

#[test]
fn pronouns_follow_the_last_thing_moved() {
    let spec = ground("put the lemon on the plate and then put it next to the bottle", &table(), words());
    let next_to = Predicate::NextTo { object: "L".into(), target: "F".into() };
    assert_eq!(spec.expected, Expected::World(vec![next_to]));
}

#[test]
fn a_room_is_known_by_its_furniture() {
    let mut truth = table();
    let furniture = |class: &str, at: [f64; 2]| ObjectTruth {
        fixed: true,
        ..object(class, class, "white", Shape::Box { size: [0.6, 1.6, 0.74] }, at)
    };
    let bowl = truth.objects[2].clone();
    let other = ObjectTruth { name: "B2".into(), position: [3.5, 0.0, 0.8], ..bowl };
    truth.objects.extend([furniture("counter", [3.6, 0.0]), furniture("desk", [0.9, 0.9]), other]);
    let at_a_table = ground("put the lemon in the bowl in the kitchen", &truth, words());
    assert!(matches!(at_a_table.expected, Expected::Refusal(_)), "{:?}", at_a_table.expected);
    truth.base =
        Some(prehend_sim::world::BaseTruth { pose: [0.0; 3], believed: [0.0; 3], moving: false, bumps: 0 });
    let target = |sentence: &str| format!("{:?}", ground(sentence, &truth, words()).expected);
    let kitchen = target("put the lemon in the bowl in the kitchen");
    assert!(kitchen.contains("B2") && !kitchen.contains("\"B\""), "{kitchen}");
    let unknown = ground("put the lemon in the bowl in the bathroom", &truth, words());
    assert!(matches!(unknown.expected, Expected::Refusal(_)), "{:?}", unknown.expected);
}

/// Things of many kinds, one of each, all of which can be grasped.
fn one_of_each() -> Truth {
    let cylinder = |radius, height| Shape::Cylinder { radius, height };
    let bowl = Shape::Bowl { radius: 0.085, foot: 0.045, height: 0.055, wall: 0.004 };
    let mug = Shape::Mug { radius: 0.038, height: 0.09, wall: 0.004, handle: 0.03 };
    let plate = Shape::Plate { radius: 0.095, foot: 0.06, height: 0.024, wall: 0.004 };
    let things = [
        ("banana", "yellow", cylinder(0.02, 0.15)),
        ("tomato", "red", Shape::Sphere { radius: 0.03 }),
        ("bowl", "white", bowl),
        ("mug", "blue", mug),
        ("plate", "grey", plate),
        ("can", "green", cylinder(0.033, 0.1)),
        ("screwdriver", "orange", cylinder(0.015, 0.15)),
        ("sponge", "pink", Shape::Box { size: [0.1, 0.06, 0.03] }),
        ("tape measure", "black", Shape::Box { size: [0.06, 0.06, 0.03] }),
    ];
    let objects = things.iter().enumerate().map(|(n, (class, color, shape))| {
        object(class, class, color, *shape, [0.3 + 0.1 * (n / 3) as f64, 0.2 * (n % 3) as f64 - 0.2])
    });
    Truth { objects: objects.collect(), ..table() }
}

/// The same words, each once: misspelled in every simple way.
fn misspelled(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let of = |letters: &[char]| letters.iter().collect::<String>();
    let mut all = vec![word.to_owned()];
    for place in 0..letters.len() {
        let (before, after) = letters.split_at(place);
        all.push(of(before) + &of(&after[1..]));
        all.push(of(before) + &of(&after[..1]) + &of(after));
        all.push(of(before) + "x" + &of(&after[1..]));
        if let [a, b, rest @ ..] = after {
            all.push(of(before) + &of(&[*b, *a]) + &of(rest));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// What the robot takes a sentence about one thing to name, on a map that shows everything as it is.
fn read_by_the_robot(sentence: &str, truth: &Truth) -> Option<Vec<String>> {
    use prehend_agent::language::{Head, Step};
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_scene::{Object, ObjectMap};
    let shown = truth.objects.iter().map(|thing| {
        let size = nalgebra::Vector3::from(thing.half_extents) * 2.0;
        let bounds = OrientedBox {
            pose: nalgebra::Isometry3::translation(thing.position[0], thing.position[1], 0.0),
            size,
        };
        Object {
            class_name: thing.class.clone(),
            color: thing.color,
            color_fractions: prehend_perception::color::fractions(std::iter::once(thing.color)),
            ..Object::unnamed(thing.name.as_str().into(), PointCloud::default(), bounds)
        }
    });
    let map = ObjectMap { objects: shown.collect(), ..ObjectMap::default() };
    let readings = parse(sentence, &words().lexicon).ok()?;
    let [Goal::Steps(steps)] = readings.as_slice() else { return None };
    let [Step::Pick { objects, .. }] = steps.as_slice() else { return None };
    let [phrase] = objects.as_slice() else { return None };
    let Head::Noun(noun) = &phrase.head else { return None };
    let attributes = phrase.attributes.iter().map(|attribute| attribute.word.as_str());
    let query = attributes.chain([noun.as_str()]).collect::<Vec<_>>().join(" ");
    let found = prehend_perception::retrieve(&map, &query, 0, &words().synonyms);
    Some(found.matches.into_iter().map(|found| found.key.0).collect())
}

/// Whatever the robot's reader accepts as naming one thing, the judge reads as the same thing.
#[test]
fn the_judge_forgives_what_the_robot_forgives() {
    let truth = one_of_each();
    let synonyms = include_str!("../../../../config/language/synonyms.yaml");
    let known = synonyms.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| {
        line.split([',', '[', ']', ':', '-']).map(|word| word.trim().trim_matches('"').to_owned())
    });
    let classes = truth.objects.iter().flat_map(|object| misspelled(&object.class));
    let colors = truth
        .objects
        .iter()
        .filter_map(|object| Some(format!("{} {}", object.color_name.as_ref()?, object.class)));
    let others = [
        "shiny bananna",
        "nice old tomatoe",
        "crimson tomato",
        "yelow banana",
        "navy blue mug",
        "charcoal tape measure",
    ];
    let nouns = known.chain(classes).chain(colors).chain(others.map(str::to_owned));
    let (mut accepted, mut wrong) = (0, Vec::new());
    for noun in nouns.filter(|noun| noun.chars().any(char::is_alphabetic)) {
        let sentence = format!("pick up the {noun}");
        let Some([one]) = read_by_the_robot(&sentence, &truth)
            .map(|found| <[String; 1]>::try_from(found).unwrap_or_default())
        else {
            continue;
        };
        let spec = ground(&sentence, &truth, words());
        if one.is_empty() || spec == GoalSpec::refusal(&[Reason::Unsafe]) {
            continue;
        }
        accepted += 1;
        if spec.expected != Expected::World(vec![Predicate::Held { object: one.clone() }]) {
            wrong.push(format!("`{sentence}`: {one}, judged as {:?}", spec.expected));
        }
    }
    assert!(wrong.is_empty(), "{} of {accepted}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accepted > 150, "only {accepted} phrases name one thing");
}

#[test]
fn a_misspelled_sentence_is_judged_by_what_it_means() {
    let truth = one_of_each();
    let meant = |sentence: &str| ground(sentence, &truth, words()).expected;
    let on_plate = Predicate::On { object: "banana".into(), target: "plate".into() };
    assert_eq!(meant("put teh bananna on the plate"), Expected::World(vec![on_plate]));
    // What is no misspelling of anything here is still not found.
    assert!(matches!(meant("pick up the umbrella"), Expected::Refusal(_)));
}
