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
