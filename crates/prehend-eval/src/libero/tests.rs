use super::*;
use crate::goal::{Expected, Predicate};

/// A task in the files' form, with drawers, a stove, nesting and two sentences.
const LINE: &str = r#"{"suite": "libero_test", "file": "put_the_bowl_away.bddl", "language": "Put the bowl in the top layer of the drawer",
 "benchmark_language": "put the bowl in the top drawer",
 "fixtures": {"main_table": "table", "cabinet_1": "wooden_cabinet", "stove_1": "flat_stove"},
 "objects": {"bowl_1": "akita_black_bowl", "cheese_1": "cream_cheese", "plate_1": "plate"},
 "objects_of_interest": ["bowl_1"],
 "regions": {"bowl_region": {"target": "main_table", "region": "bowl_region", "ranges": [[-0.1, -0.01, -0.08, 0.01]]},
  "plate_region": {"target": "main_table", "region": "plate_region", "ranges": [[0.06, 0.19, 0.08, 0.21]]},
  "cabinet_region": {"target": "main_table", "region": "cabinet_region", "ranges": [[0.02, -0.28, 0.04, -0.26]], "yaw": [[3.1, 3.1]]},
  "stove_region": {"target": "main_table", "region": "stove_region", "ranges": [[-0.42, 0.2, -0.4, 0.22]]},
  "cabinet_1_top_region": {"target": "cabinet_1", "region": "top_region"},
  "stove_1_cook_region": {"target": "stove_1", "region": "cook_region"}},
 "init": [["On", "bowl_1", "bowl_region"], ["On", "plate_1", "plate_region"], ["On", "cheese_1", "plate_1"],
  ["On", "cabinet_1", "cabinet_region"], ["On", "stove_1", "stove_region"], ["Open", "cabinet_1_top_region"]],
 "goal": [["In", "bowl_1", "cabinet_1_top_region"], ["Close", "cabinet_1_top_region"], ["Turnon", "stove_1"],
  ["On", "plate_1", "stove_1_cook_region"], ["On", "cheese_1", "bowl_region"]]}"#;

fn task() -> Task {
    tasks(&LINE.replace('\n', " ")).unwrap().remove(0)
}

#[test]
fn a_task_has_two_sentences_when_they_differ() {
    let mut task = task();
    assert_eq!(task.sentence(Language::File), Some("Put the bowl in the top layer of the drawer"));
    assert_eq!(task.sentence(Language::Benchmark), Some("put the bowl in the top drawer"));
    task.benchmark_language = Some(task.language.clone());
    assert_eq!(task.sentence(Language::Benchmark), None);
    assert_eq!(task.name(), "put_the_bowl_away");
}

#[test]
fn goal_predicates_become_those_of_the_judge() {
    let scenario = task().scenario("put it away", 3, &|_| Ok(())).unwrap();
    let Expected::World(predicates) = &scenario.spec.expected else { panic!("{:?}", scenario.spec) };
    let state = |object: &str, state: &str| Predicate::InState { object: object.into(), state: state.into() };
    assert_eq!(
        predicates[0],
        Predicate::In { object: "bowl_1".into(), target: "cabinet_1/top drawer".into() }
    );
    assert_eq!(predicates[1], state("cabinet_1/top drawer", "closed"));
    assert_eq!(predicates[2], state("stove_1", "on"));
    assert_eq!(predicates[3], Predicate::On { object: "plate_1".into(), target: "stove_1".into() });
    let Predicate::InArea { object, x, y } = &predicates[4] else { panic!("{predicates:?}") };
    assert_eq!(object, "cheese_1");
    assert!(x[0] < x[1] && x[0] > 0.3 && y[0] < 0.0 && y[1] > 0.0, "{x:?} {y:?}");
    assert_eq!((scenario.group.as_str(), scenario.seed), ("libero_test", 3));
}

#[test]
fn a_region_named_after_a_side_of_one_thing_is_that_side_of_it() {
    let goal = |region: &str| {
        let text = LINE
            .replace('\n', " ")
            .replace(r#""region": "bowl_region""#, &format!(r#""region": "{region}""#));
        let scenario = tasks(&text).unwrap().remove(0).scenario("", 1, &|_| Ok(())).unwrap();
        let Expected::World(mut predicates) = scenario.spec.expected else { panic!("{:?}", scenario.spec) };
        predicates.pop().unwrap()
    };
    let (object, plate, stove) = ("cheese_1".to_owned(), "plate_1".to_owned(), "stove_1".to_owned());
    assert_eq!(
        goal("plate_right_region"),
        Predicate::RightOf { object: object.clone(), target: plate.clone() }
    );
    assert_eq!(goal("stove_front_region"), Predicate::InFrontOf { object: object.clone(), target: stove });
    assert!(matches!(goal("table_center"), Predicate::InArea { .. }));
    assert!(matches!(goal("cheese_left_region"), Predicate::InArea { .. }), "not beside itself");
}

#[test]
fn the_scene_has_everything_where_it_was_and_fixtures_where_they_can_be_used() {
    let task = task();
    let of = |seed| task.scenario("", seed, &|_| Ok(())).unwrap().scene_yaml;
    let scene = of(1);
    assert_eq!(scene, of(1));
    assert_ne!(scene, of(2));
    let line =
        |name: &str| scene.lines().find(|line| line.contains(&format!("name: {name},"))).unwrap().to_owned();
    assert!(line("cheese_1").contains("model: cream_cheese, on: plate_1"), "{scene}");
    assert!(line("cabinet_1").contains("joints: {top: 0.14}"), "{scene}");
    let xy = |name: &str| -> Vec<f64> {
        let line = line(name);
        let text = line.split("xy: [").nth(1).unwrap().split(']').next().unwrap();
        text.split(',').map(|number| number.trim().parse().unwrap()).collect()
    };
    let (bowl, plate, cabinet, stove) = (xy("bowl_1"), xy("plate_1"), xy("cabinet_1"), xy("stove_1"));
    assert!(bowl[0] > plate[0] && bowl[1] > plate[1], "turned by half a turn");
    assert!((0.70..=0.76).contains(&cabinet[0]) && cabinet[1] > 0.0, "{cabinet:?}");
    assert!(stove[0] <= 0.58 && stove[1] < 0.0, "{stove:?}");
    let free = |at: &[f64], x: f64, y: f64| (at[0] - cabinet[0]).abs() > x || (at[1] - cabinet[1]).abs() > y;
    assert!(free(&stove, 0.32, 0.16) && free(&bowl, 0.32, 0.16), "the drawers open");
    assert!(
        (stove[0] - bowl[0]).abs() > 0.12 || (stove[1] - bowl[1]).abs() > 0.12,
        "the bowl's region is free"
    );
}

#[test]
fn what_cannot_be_said_here_is_an_error_with_a_name() {
    let broken = |from: &str, to: &str| {
        let task = tasks(&LINE.replace('\n', " ").replacen(from, to, 1)).unwrap().remove(0);
        task.scenario("", 1, &|_| Ok(())).unwrap_err()
    };
    assert_eq!(
        broken(r#"["Turnon", "stove_1"]"#, r#"["Melt", "stove_1"]"#),
        SceneError::Predicate { text: "Melt stove_1".into() }
    );
    assert_eq!(
        broken(r#"["On", "bowl_1", "bowl_region"], "#, ""),
        SceneError::NoPlace { name: "bowl_1".into() }
    );
    assert_eq!(
        broken(r#""cheese_1": "cream_cheese""#, r#""cheese_1": "blue_cheese""#),
        SceneError::Category { name: "cheese_1".into(), category: "blue_cheese".into() }
    );
    let why = task().scenario("", 1, &|_| Err("no model `spork`".into())).unwrap_err();
    assert_eq!(why, SceneError::Scene { why: "no model `spork`".into() });
    assert!(matches!(tasks(""), Err(TaskError::Empty)));
    let mut bare = task();
    bare.init.push(Vec::new());
    assert!(bare.scenario("", 1, &|_| Ok(())).is_ok(), "an empty predicate places nothing");
    let garbage = LINE.replace('\n', " ") + "\n\n{\"suite\": 3}";
    assert!(matches!(tasks(&garbage), Err(TaskError::Line { line: 3, .. })));
}
