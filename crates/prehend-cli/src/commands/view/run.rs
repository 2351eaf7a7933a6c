//! What a run has left in its folder, where it was not recorded: its trace and its maps.

use super::event::read_event;
use super::place::{Place, on_the_floor};
use super::recorded::{Heard, Recorded, Samples};
use super::robot::Robot;
use crate::run_folder::{FIRST_MAP, LAST_MAP, MAPS, TRACE};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_recording::SavedMap;
use prehend_robots::joints::read_joints;
use prehend_scene::ObjectMap;
use prehend_viewer::Event;
use serde_json::Value;
use std::path::Path;

/// Least time between two events, nanoseconds: each is a step of its own, also where the clock did not tick.
const APART: i64 = 1_000_000;
/// How many places of each motion a plan tells; its motions follow each other.
const PLACES: usize = 4;

/// Reads the folder of a run that was not recorded. The arm stands where the last motion that is done ends by its plan, the base where its
/// last drive went.
///
/// Errors: what is wrong, in words.
pub(super) fn read(folder: &Path, robot: Robot) -> Result<Recorded, String> {
    let file = folder.join(TRACE);
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let path = folder.display();
        format!(
            "{path} is no run: {TRACE} cannot be read ({error}); give the folder that `prehend demo` has left"
        )
    })?;
    let events = events(&text);
    if events.is_empty() {
        return Err(format!("{} tells nothing: no line of it is an event", file.display()));
    }
    let mut heard = follow(&events, &robot);
    heard.maps = maps(&folder.join(MAPS), &events);
    heard.events = events;
    Ok(Recorded::new(robot, heard))
}

/// The events of a trace; a line that is none is left out, such as the last one of a process that was killed.
fn events(text: &str) -> Samples<Event> {
    let mut events: Samples<Event> = Vec::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let Some(seconds) = line["t"].as_f64().filter(|seconds| seconds.is_finite()) else { continue };
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let event = read_event(&TraceEvent {
            kind: word("kind"),
            name: word("name"),
            status: word("status"),
            message: word("message"),
            data: line["data"].to_string(),
            ..Default::default()
        });
        events.push(((seconds * 1e9) as i64, event));
    }
    // Nodes are heard one after the other, and not always in the order of their clocks.
    events.sort_by_key(|(at, _)| *at);
    let mut free = i64::MIN;
    for (at, _) in &mut events {
        *at = (*at).max(free);
        free = at.saturating_add(APART);
    }
    events
}

/// Where the arm and the base are by what the events say of them.
fn follow(events: &Samples<Event>, robot: &Robot) -> Heard {
    let config = &robot.config;
    let mut heard = Heard::default();
    let stand = |heard: &mut Heard, at: i64, arm: &[f64], drive: f64| {
        let mut state =
            JointState { name: config.arm.joints.clone(), position: arm.to_vec(), ..Default::default() };
        state.name.push(config.gripper.joint.clone());
        state.position.push(drive);
        heard.joints.extend(read_joints(&state, config).map(|joints| (at, joints)));
    };
    let (mut arm, mut drive) = (config.home.clone(), config.gripper.open);
    if let Some((began, _)) = events.first() {
        stand(&mut heard, *began, &arm, drive);
    }
    let mut planned: Vec<Vec<f64>> = Vec::new();
    let mut is_line = false;
    for (at, event) in events.iter().filter(|(_, event)| event.kind == "motion") {
        if let Some(plan) = &event.plan {
            planned.clone_from(&plan.joints);
        }
        match (event.name.as_str(), event.status.as_str()) {
            ("drive", "done") => {
                let base = event.places.first().copied().and_then(on_the_floor);
                heard.places.extend(base.and_then(|base| Some((*at, standing(robot, base)?))));
            }
            (_, "started") => is_line = event.message.contains(" points"),
            ("home", "done") => arm.clone_from(&config.home),
            (_, "done") if is_line => {
                let end = planned.get(PLACES - 1).cloned();
                planned.drain(..PLACES.min(planned.len()));
                arm = end.unwrap_or(arm);
                is_line = false;
            }
            ("close", "done") => drive = config.gripper.closed,
            ("open" | "release", "done") => drive = config.gripper.open,
            _ => continue,
        }
        stand(&mut heard, *at, &arm, drive);
    }
    heard
}

/// The robot with its base at a place.
fn standing(robot: &Robot, stage_from_base: nalgebra::Isometry3<f64>) -> Option<Place> {
    let base = &robot.config.navigation.as_ref()?.base;
    let arm_from_base = robot.link_pose(base, &robot.config.home, 0.0)?;
    let stage_from_arm = stage_from_base * arm_from_base.inverse();
    Some(Place { stage_from_arm, stage_from_base: Some(stage_from_base) })
}

/// The saved maps: that of the first look from that look on, that of the end from the last one on. One that is not there, or is damaged, is
/// told and not shown.
fn maps(folder: &Path, events: &Samples<Event>) -> Samples<ObjectMap> {
    let mut looks = events.iter().filter(|(_, event)| event.kind == "perception" && event.name == "update");
    let first = looks.next().or(events.first()).map(|(at, _)| *at);
    let last = looks.next_back().map(|(at, _)| *at).or(first);
    let read = |name: &str| match SavedMap::load(&folder.join(name)) {
        Ok(saved) => saved.scenes.into_iter().next().map(|scene| scene.map),
        Err(error) => {
            tracing::warn!("things are not shown: {error}");
            None
        }
    };
    [(first, FIRST_MAP), (last, LAST_MAP)]
        .into_iter()
        .filter_map(|(at, name)| Some((at?, read(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Point3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_perception::MapSettings;
    use prehend_recording::SavedScene;
    use prehend_scene::Object;

    const LINES: [&str; 7] = [
        r#"{"t":1.0,"kind":"goal","name":"started","status":"started","message":"take the mug"}"#,
        r#"{"t":2.0,"kind":"motion","name":"grasp/plan","status":"planned","message":"there","data":{"candidates":[],
            "chosen":{"position":[0.4,0,0.1],"rotation":[1,0,0,0],"opening":0.05},"joints":[[0,0,0,0,0,0],[0,0,0,0,0,0],
            [0,0,0,0,0,0],[1,0,0,0,0,0],[0,0,0,0,0,0],[0,0,0,0,0,0],[0,0,0,0,0,0],[2,0,0,0,0,0]]}}"#,
        r#"{"t":2.0,"kind":"motion","name":"open","status":"started","message":"open: gripper to 50 mm"}"#,
        r#"{"t":3.0,"kind":"motion","name":"open","status":"done","message":"open: done"}"#,
        r#"{"t":4.0,"kind":"motion","name":"transit","status":"started","message":"transit: 77 points, 1.6 s"}"#,
        r#"{"t":5.0,"kind":"motion","name":"transit","status":"done","message":"transit: done"}"#,
        r#"{"t":6.0,"kind":"goal","na"#,
    ];

    fn folder(lines: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let lines: Vec<String> = lines.iter().map(|line| line.replace('\n', " ")).collect();
        std::fs::write(folder.path().join(TRACE), lines.join("\n")).expect("written");
        folder
    }

    fn robot(name: &str) -> Robot {
        Robot::load(Path::new(&format!("config/robots/{name}.yaml"))).expect("a robot")
    }

    #[test]
    fn a_run_is_told_step_by_step_and_the_arm_goes_where_its_motions_end() {
        let folder = folder(&LINES);
        let mut run = read(folder.path(), robot("xarm6")).expect("a run");
        let steps = run.steps();
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "goal started",
                "motion grasp/plan planned",
                "motion open started",
                "motion open done",
                "motion transit started",
                "motion transit done"
            ]
        );
        assert!(steps.windows(2).all(|two| two[0].at < two[1].at), "{steps:?}");
        let shown: Vec<_> = steps.iter().map(|step| run.stage_at(step.at)).collect();
        assert_eq!(shown[0].panel[1].text, "take the mug");
        assert!(shown[0].ghost.is_empty() && !shown[1].ghost.is_empty());
        assert_eq!(shown[0].robot, shown[4].robot);
        let robot = robot("xarm6");
        let there = robot.solids(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], robot.config.gripper.open, false);
        assert!(!there.is_empty() && shown[5].robot == there, "the end of the first of two motions");
    }

    #[test]
    fn the_maps_are_those_of_the_first_and_the_last_look() {
        let look = |t: f64| {
            format!(r#"{{"t":{t},"kind":"perception","name":"update","status":"done","message":""}}"#)
        };
        let end = r#"{"t":9,"kind":"goal","name":"finished","status":"done","message":"there"}"#;
        let start = r#"{"t":0,"kind":"goal","name":"started","status":"started","message":"go"}"#;
        let folder = folder(&[start, end, &look(2.0), &look(4.0), &look(6.0)]);
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
        for (name, keys) in [(FIRST_MAP, ["mug_0", "cup_0"].as_slice()), (LAST_MAP, &["mug_0"])] {
            let cloud = || PointCloud::from_points(vec![Point3::origin()]);
            let objects = keys.iter().map(|key| Object::unnamed((*key).into(), cloud(), bounds)).collect();
            let map = ObjectMap { frame: "link_base".to_owned(), objects, ..ObjectMap::default() };
            let scene = SavedScene { name: name.to_owned(), map, views: Vec::new() };
            let (settings, embedder) = (MapSettings::default(), String::new());
            let saved = SavedMap { settings, embedder, scenes: vec![scene] };
            let path = folder.path().join(MAPS);
            std::fs::create_dir_all(&path).expect("a folder");
            saved.save(&path.join(name)).expect("saved");
        }
        let mut run = read(folder.path(), robot("xarm6")).expect("a run");
        let count = [1.0, 2.5, 5.0, 8.0].map(|at| run.stage_at(at).things.len());
        assert_eq!(count, [0, 2, 2, 1]);
        std::fs::remove_dir_all(folder.path().join(MAPS)).expect("gone");
        assert_eq!(read(folder.path(), robot("xarm6")).expect("a run").stage_at(8.0).things.len(), 0);
    }

    #[test]
    fn a_base_stands_where_it_was_driven() {
        let drive = r#"{"t":1,"kind":"motion","name":"drive","status":"done","message":"","data":{"places":[[3,4,0.5]]}}"#;
        let mut run = read(folder(&[drive]).path(), robot("ranger_xarm6")).expect("a run");
        let stage = run.stage_at(1.0);
        let at = stage.stands[0].stage_from_base.translation.vector;
        assert_eq!((at.x, at.y), (3.0, 4.0));
        let away =
            |solid: &prehend_viewer::Solid| (solid.stage_from_solid.translation.vector - at).xy().norm();
        let farthest = stage.robot.iter().map(away).fold(0.0, f64::max);
        assert!(!stage.robot.is_empty() && farthest < 1.2, "{} solids, {farthest} m", stage.robot.len());
    }

    #[test]
    fn what_is_no_run_is_told() {
        let empty = tempfile::tempdir().expect("a folder");
        for (path, expected) in
            [(empty.path(), "is no run"), (folder(&["no JSON", "{}"]).path(), "tells nothing")]
        {
            let told = read(path, robot("xarm6")).map(|_| ()).expect_err("no run");
            assert!(told.contains(expected), "{told}");
        }
    }
}
