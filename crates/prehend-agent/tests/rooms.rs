//! A robot that drives: goals over several places, in a scripted room.

mod scripted;

use nalgebra::{Isometry3, Point2, Point3, Vector3};
use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::tools::ToolOutput;
use prehend_agent::world::{
    ActionablePart, Arrival, Fault, Remembered, Retrieval, SkillOutcome, SkillRequest, World,
};
use prehend_agent::{Agent, Outcome, Report, Settings};
use prehend_scene::{
    ActionTable, Intent, Object, ObjectKey, ObjectMap, Reason, Relation, Scope, Skill, spatial,
};
use scripted::{Scripted, move_to, thing};
use std::sync::Arc;

/// What the arm reaches and the camera sees from where the base stands, metres.
const REACH: f64 = 1.3;
/// Distance at which go_to stops before an object, metres.
const STANDOFF: f64 = 0.85;

/// Truth in the map frame; the room map is what it was at the tour, the local map what it is now.
struct Room {
    truth: Vec<Object>,
    room: ObjectMap,
    local: Scripted,
    at: Option<Isometry3<f64>>,
    held: Option<String>,
    /// The key it was grasped by.
    in_hand: Option<ObjectKey>,
    /// What goes wrong at the next drives.
    drives: Vec<Option<Reason>>,
    /// Error of localisation, metres.
    drift: f64,
    /// Where the base is before the first drive.
    start: [f64; 3],
    story: Vec<String>,
    lives: usize,
    /// Where things are remembered to be, by the words for them, and how sure that is.
    memory: Vec<(&'static str, [f64; 3], f64)>,
    partial: bool,
    /// What a visit does not show although it is there.
    hidden: &'static str,
    /// What only a visit shows.
    late: &'static str,
    /// What only a visit shows well enough to be called by its name beside others that are.
    glimpsed: Vec<ObjectKey>,
    /// What only a visit shows to be what it is: until then most views call it something else.
    unsure: Vec<ObjectKey>,
    /// What the map of the room gets wrong.
    wrong: fn(&mut Vec<Object>),
}

impl Room {
    fn new(truth: Vec<Object>) -> Self {
        Self {
            truth,
            room: ObjectMap { frame: "map".into(), ..ObjectMap::default() },
            local: Scripted::new(Vec::new()),
            at: None,
            held: None,
            in_hand: None,
            drives: Vec::new(),
            drift: 0.0,
            start: [0.0; 3],
            story: Vec::new(),
            lives: 0,
            memory: Vec::new(),
            partial: false,
            hidden: "",
            late: "",
            glimpsed: Vec::new(),
            unsure: Vec::new(),
            wrong: |_| {},
        }
    }

    fn map_the_room(&mut self) {
        self.room.version += 1;
        self.room.objects = self.truth.clone();
        for object in &mut self.room.objects {
            object.key = ObjectKey(format!("room_{}", object.key.0));
            let views = if self.glimpsed.contains(&object.key) { 1.0 } else { 3.0 };
            object.class_votes = [(object.class_name.clone(), views)].into();
            object.confidence = if self.unsure.contains(&object.key) { 0.3 } else { 0.9 };
        }
        (self.wrong)(&mut self.room.objects);
    }

    /// What is seen from where the base stands, in the frame of the arm.
    fn look(&mut self) {
        let Some(at) = self.at else { return };
        self.local.map.version += 1;
        let lives = self.lives;
        let held = self.held.clone();
        self.local.map.objects = self
            .truth
            .iter()
            .filter(|object| Some(&object.key.0) != held.as_ref())
            .filter_map(|object| {
                let here = at.inverse() * spatial::centre(object);
                if here.x < 0.0 || here.coords.xy().norm() > REACH {
                    return None;
                }
                let mut seen = object.clone();
                // Another key at every place: none of them may be taken for one of another place.
                seen.key = ObjectKey(format!("{}_at{lives}", object.key.0));
                move_to(&mut seen, here.coords);
                Some(seen)
            })
            .collect();
    }

    fn truth_of(&mut self, key: &ObjectKey) -> &mut Object {
        let name = key.0.split("_at").next().unwrap_or_default().to_owned();
        self.truth.iter_mut().find(|object| object.key.0 == name).expect("a thing of the truth")
    }

    fn where_is(&self, key: &str) -> Point3<f64> {
        spatial::centre(self.truth.iter().find(|object| object.key.0 == key).expect("a thing"))
    }

    fn is_in(&self, key: &str, container: &str) -> bool {
        (self.where_is(key) - self.where_is(container)).xy().norm() < 0.05
    }
}

impl World for Room {
    fn settle(&mut self) -> Result<SkillOutcome, Fault> {
        Ok(SkillOutcome::default())
    }
    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.look();
        Ok(Arc::new(self.local.map.clone()))
    }
    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.update_map()
    }
    fn retrieve(&mut self, query: &str, k: u32, scope: Scope) -> Result<Retrieval, Fault> {
        match scope {
            Scope::Local => self.local.retrieve(query, k, scope),
            Scope::Room => {
                let mut found = Scripted::new(self.room.objects.clone()).retrieve(query, 0, scope)?;
                let (open, sure) = found
                    .keys
                    .into_iter()
                    .partition(|key| self.glimpsed.contains(key) || self.unsure.contains(key));
                found.keys = sure;
                found.doubtful.extend::<Vec<_>>(open);
                found.keys.truncate(if k == 0 { 3 } else { k as usize });
                Ok(found)
            }
        }
    }
    fn rooms(&self) -> bool {
        true
    }
    fn room_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(Arc::new(self.room.clone()))
    }
    fn explore(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.story.push("tour".to_owned());
        self.partial = false;
        self.map_the_room();
        let late = format!("room_{}", self.late);
        self.room.objects.retain(|object| object.key.0 != late);
        self.room_map()
    }
    fn visit(&mut self, places: &[[f64; 3]]) -> Result<Arc<ObjectMap>, Fault> {
        self.story.push(format!("visit {}", places.len()));
        self.partial |= self.room.version == 0;
        let known = std::mem::take(&mut self.room.objects);
        self.map_the_room();
        self.glimpsed.clear();
        self.unsure.clear();
        let hidden = format!("room_{}", self.hidden);
        self.room.objects.retain(|object| {
            if object.key.0 == hidden {
                return false;
            }
            let seen =
                |[x, y, _]: &[f64; 3]| (spatial::centre(object).xy() - Point2::new(*x, *y)).norm() < 1.0;
            known.iter().any(|other| other.key == object.key) || places.iter().any(seen)
        });
        self.room_map()
    }
    fn room_is_partial(&self) -> bool {
        self.partial
    }
    fn remembered(&mut self, description: &str) -> Vec<Remembered> {
        let fitting = self
            .memory
            .iter()
            .filter(|(words, ..)| description.trim_start_matches("the ").starts_with(words));
        let thing = |(words, center, still_there): &(&str, [f64; 3], f64)| Remembered {
            words: (*words).to_owned(),
            on: "shelf".to_owned(),
            room: String::new(),
            center: *center,
            ago: 7200.0,
            still_there: *still_there,
        };
        fitting.map(thing).collect()
    }
    fn go_to(&mut self, object: &ObjectKey, _intent: Option<&Intent>) -> Result<Arrival, Fault> {
        self.story.push(format!("go to {object}"));
        if let Some(Some(reason)) = (!self.drives.is_empty()).then(|| self.drives.remove(0)) {
            return Err(Fault::new(reason, "scripted"));
        }
        let target = spatial::centre(self.room.get(object).expect("an object of the room"));
        let near = self.at.is_some_and(|at| {
            let here = at.inverse() * target;
            here.x > 0.2 && here.coords.xy().norm() < 1.0
        });
        if !near {
            self.lives += 1;
            self.at = Some(Isometry3::translation(target.x - STANDOFF, target.y, 0.0));
            self.local.map.objects.clear();
        }
        let at = self.at.expect("somewhere");
        let believed = Isometry3::translation(self.drift, -self.drift, 0.0) * at;
        let p = believed.translation.vector;
        Ok(Arrival { moved: !near, pose: [p.x, p.y, 0.0], map_from_arm: believed })
    }
    fn detect_affordance(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault> {
        assert_eq!(object.scope(), Scope::Local);
        self.local.detect_affordance(object, intent)
    }
    fn execute(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        let targets: Vec<&str> = request.targets.iter().map(|key| key.0.as_str()).collect();
        let relation = request.relation.map_or("", Relation::name);
        if !matches!(request.skill, Skill::Look | Skill::Home) {
            let words = [request.skill.name(), &request.object.0, relation, &targets.join("+")];
            self.story.push(words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "));
        }
        match request.skill {
            Skill::Grasp => {
                self.held = Some(self.truth_of(&request.object).key.0.clone());
                self.in_hand = Some(request.object.clone());
            }
            Skill::Place | Skill::Drop => {
                let at = match request.targets.first() {
                    Some(target) => {
                        let target = self.truth_of(target);
                        let (centre, size) = (spatial::centre(target).coords, target.bounds.size);
                        match request.relation {
                            Some(Relation::In | Relation::On) => centre,
                            _ => centre - Vector3::new(0.0, 0.12 + size.y / 2.0, 0.0),
                        }
                    }
                    None => self.at.expect("somewhere").translation.vector + Vector3::new(0.5, 0.3, 0.05),
                };
                move_to(self.truth_of(&request.object), at);
                (self.held, self.in_hand) = (None, None);
            }
            _ => {}
        }
        Ok(SkillOutcome { held: self.in_hand.clone(), map_stale: false })
    }
    fn base_pose(&self) -> Option<[f64; 3]> {
        let driven = self.at.map(|at| [at.translation.x, at.translation.y, 0.0]);
        Some(driven.unwrap_or(self.start))
    }
    fn interrupted(&self) -> Option<Fault> {
        None
    }
    fn tool_called(&mut self, _name: &str, _arguments: &str) {}
    fn tool_answered(&mut self, _name: &str, _output: &ToolOutput) {}
}

fn agent() -> Agent {
    let read = |name: &str| {
        let path = format!("{}/../../config/language/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("a file of the repository")
    };
    let actions = ActionTable::from_yaml("actions", &read("actions")).expect("actions");
    let mut lexicon = Lexicon::from_yaml("lexicon", &read("lexicon")).expect("lexicon").with_actions(actions);
    lexicon.tables_are_things = true;
    Agent {
        lexicon,
        policy: Policy::from_yaml("policy", &read("policy")).expect("policy"),
        settings: Settings::default(),
    }
}

fn run(room: &mut Room, text: &str) -> Report {
    let agent = agent();
    match agent.understand(text) {
        Ok(readings) => agent.run(&readings, room, None),
        Err(fault) => panic!("{text}: {fault}"),
    }
}

const APPLE: [f64; 3] = [0.07, 0.07, 0.07];
const EGG: [f64; 3] = [0.045, 0.045, 0.045];
const BOWL: [f64; 3] = [0.16, 0.16, 0.06];

/// Three places, metres apart: a shelf with two apples, a table with a bowl, a counter with eggs, a tomato and a pan.
fn kitchen() -> Vec<Object> {
    vec![
        thing("shelf_0", "shelf", "brown", 3.0, 0.0, [0.4, 1.0, 0.6]),
        on(thing("apple_0", "apple", "red", 2.95, -0.2, APPLE), 0.6),
        on(thing("apple_1", "apple", "red", 2.95, 0.2, APPLE), 0.6),
        thing("bowl_0", "bowl", "white", -2.0, 1.0, BOWL),
        thing("apple_2", "apple", "green", -2.0, 1.4, APPLE),
        thing("egg_0", "egg", "white", 0.0, -3.0, EGG),
        thing("tomato_0", "tomato", "red", 0.08, -3.05, APPLE),
        thing("egg_1", "egg", "white", 0.0, -2.3, EGG),
        thing("pan_0", "pan", "black", 4.0, 4.0, [0.26, 0.26, 0.05]),
    ]
}

/// A cabinet with three drawers above each other.
fn chest() -> Vec<Object> {
    let drawer =
        |name: &str, height: f64| on(thing(name, "drawer", "brown", 2.79, 0.0, [0.02, 0.36, 0.16]), height);
    vec![
        thing("cabinet_0", "cabinet", "brown", 3.0, 0.0, [0.4, 0.4, 0.6]),
        drawer("drawer_0", 0.02),
        drawer("drawer_1", 0.22),
        drawer("drawer_2", 0.42),
    ]
}

fn on(mut object: Object, height: f64) -> Object {
    let at = spatial::centre(&object).coords + Vector3::new(0.0, 0.0, height);
    move_to(&mut object, at);
    object
}

fn drives(room: &Room) -> Vec<&str> {
    room.story.iter().filter_map(|line| line.strip_prefix("go to ")).collect()
}

#[test]
fn the_first_goal_maps_the_room_and_goes_where_things_are() {
    let mut room = Room::new(kitchen());
    let report = run(&mut room, "put the green apple in the bowl");
    assert_eq!((report.outcome, report.reason), (Outcome::Done, None), "{} {:?}", report.message, room.story);
    assert_eq!(room.story[0], "tour");
    assert!(room.is_in("apple_2", "bowl_0"));
    assert_eq!(report.state.at_object, Some("room_bowl_0".into()));
    assert!(report.state.base_pose.is_some());
    room.story.clear();
    let report = run(&mut room, "put the egg that is near the tomato in the pan");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert!(!room.story.contains(&"tour".to_owned()), "the room is known");
    assert!(room.is_in("egg_0", "pan_0") && !room.is_in("egg_1", "pan_0"));
    assert_eq!(drives(&room), ["room_egg_0", "room_pan_0"]);
}

const GREEN: (&str, [f64; 3], f64) = ("green apple", [-2.0, 1.4, 0.0], 0.9);
const THE_BOWL: (&str, [f64; 3], f64) = ("bowl", [-2.0, 1.0, 0.0], 0.9);

/// The looks round the room of a goal that was done.
fn looks(room: &mut Room, text: &str) -> Vec<String> {
    room.story.clear();
    let report = run(room, text);
    assert_eq!(report.outcome, Outcome::Done, "{text}: {} {:?}", report.message, room.story);
    room.story.iter().filter(|line| *line == "tour" || line.starts_with("visit")).cloned().collect()
}

#[test]
fn what_is_remembered_is_looked_for_where_it_was() {
    let errand = "put the green apple in the bowl";
    let remembering = |memory: &[(&'static str, [f64; 3], f64)]| {
        let mut room = Room::new(kitchen());
        room.memory = memory.to_vec();
        room
    };
    let mut room = remembering(&[GREEN, THE_BOWL]);
    assert_eq!(looks(&mut room, errand), ["visit 2"]);
    assert!(room.is_in("apple_2", "bowl_0"));
    // What nobody remembers needs the tour, also in a room of which a part is known; then all of it is.
    assert_eq!(looks(&mut room, "put the egg that is near the tomato in the pan"), ["tour"]);
    assert_eq!(looks(&mut room, "put the tomato in the pan"), Vec::<String>::new());
    // Not remembered, not likely there any more, or all of a kind: the tour at once.
    for memory in [vec![GREEN], vec![GREEN, ("bowl", [-2.0, 1.0, 0.0], 0.1)]] {
        assert_eq!(looks(&mut remembering(&memory), errand), ["tour"]);
    }
    let apples = [GREEN, THE_BOWL, ("apple", [-2.0, 1.4, 0.0], 0.9)];
    assert_eq!(looks(&mut remembering(&apples), "put all the apples in the bowl"), ["tour"]);
    // What is closest to something is seen where that is; what is largest may be anywhere.
    let eggs =
        [("egg", [0.0, -2.3, 0.0], 0.9), ("tomato", [0.08, -3.05, 0.0], 0.9), ("pan", [4.0, 4.0, 0.0], 0.9)];
    let mut room = remembering(&eggs);
    assert_eq!(looks(&mut room, "put the egg closest to the tomato in the pan"), ["visit 3"]);
    assert!(room.is_in("egg_0", "pan_0"));
    // Without the second egg, which the look does not show, the other one would be the closest.
    let both = [("egg", [0.0, -3.0, 0.0], 0.9), eggs[0], eggs[1], eggs[2]];
    let mut room = remembering(&both);
    room.hidden = "egg_0";
    assert_eq!(looks(&mut room, "put the egg closest to the tomato in the pan"), ["visit 4", "tour"]);
    assert!(room.is_in("egg_0", "pan_0"));
    let mut room = remembering(&eggs);
    run(&mut room, "put the largest egg in the pan");
    assert_eq!(room.story[0], "tour");
    // It is not there any more: one look more than without a memory.
    let mut room = remembering(&[("tomato", [3.0, 0.0, 0.6], 0.9), ("pan", [4.0, 4.0, 0.0], 0.9)]);
    assert_eq!(looks(&mut room, "put the tomato in the pan"), ["visit 2", "tour"]);
    assert!(room.is_in("tomato_0", "pan_0"));
    // A second errand in a room of which a part is known: where its own things were.
    let mut room =
        remembering(&[GREEN, THE_BOWL, ("tomato", [0.08, -3.05, 0.0], 0.9), ("pan", [4.0, 4.0, 0.0], 0.9)]);
    assert_eq!(looks(&mut room, errand), ["visit 2"]);
    assert_eq!(looks(&mut room, "put the tomato in the pan"), ["visit 2"]);
    // All of a kind are not all that was seen for another errand.
    assert_eq!(looks(&mut room, "put all the apples in the bowl"), ["tour"]);
    assert!(["apple_0", "apple_1", "apple_2"].iter().all(|apple| room.is_in(apple, "bowl_0")));
}

/// A second egg that no view showed well is driven to before one is chosen; once, and not for what it does not bear on.
#[test]
fn what_was_hardly_seen_is_looked_at_from_nearer() {
    let errand = "put the egg closest to the tomato in the pan";
    let glimpsing = |key: &str| {
        let mut room = Room::new(kitchen());
        room.glimpsed = vec![ObjectKey(format!("room_{key}"))];
        room
    };
    let mut room = glimpsing("egg_0");
    assert_eq!(looks(&mut room, errand), ["tour", "visit 1"]);
    assert!(room.is_in("egg_0", "pan_0"));
    assert!(!room.partial, "a look at a part of a room that is known leaves it known");
    assert_eq!(looks(&mut glimpsing("apple_0"), errand), ["tour"]);
    let mut room = Room::new(kitchen());
    room.unsure = vec!["room_egg_0".into()];
    assert_eq!(looks(&mut room, errand), ["tour", "visit 1"]);
    assert!(room.is_in("egg_0", "pan_0"));
    // A question moves nothing.
    let mut room = glimpsing("egg_0");
    looks(&mut room, "go to the pan");
    assert_eq!(looks(&mut room, "how many eggs are there?"), Vec::<String>::new());
}

/// "The middle drawer" presupposes a third one, "the top drawer" one with nothing above it: what the map does not show of them is looked
/// for from nearer.
#[test]
fn a_choice_that_fails_is_looked_at_from_nearer() {
    let seeing_late = |late: &'static str| {
        let mut room = Room::new(chest());
        room.late = late;
        room
    };
    let opened = |room: &Room| -> Vec<String> {
        room.story.iter().filter(|line| line.starts_with("hook_pull")).cloned().collect()
    };
    let cases = [
        ("open the middle drawer", "drawer_1", vec!["tour", "visit 2"], "hook_pull drawer_1_at1"),
        ("open the top drawer", "drawer_2", vec!["tour", "visit 2"], "hook_pull drawer_2_at1"),
        // The height of the cabinet tells that this is the middle one.
        ("open the middle drawer", "drawer_2", vec!["tour"], "hook_pull drawer_1_at1"),
        ("open the middle drawer", "", vec!["tour"], "hook_pull drawer_1_at1"),
    ];
    for (errand, late, looked, done) in cases {
        let mut room = seeing_late(late);
        assert_eq!(looks(&mut room, errand), looked, "{errand} without {late}");
        assert_eq!(opened(&room), [done], "{errand} without {late}: {:?}", room.story);
    }
}

/// Where the map of the room has two drawers as one and the third not at all, the words are followed where the drawers are.
#[test]
fn of_a_row_that_the_room_has_wrong_the_words_tell_near_by() {
    let mut room = Room::new(chest());
    room.wrong = |objects| {
        objects.retain(|object| !["room_drawer_1", "room_drawer_2"].contains(&object.key.0.as_str()));
        let Some(both) = objects.iter_mut().find(|object| object.key.0 == "room_drawer_0") else { return };
        let tall = on(thing("", "drawer", "brown", 2.79, 0.0, [0.02, 0.36, 0.36]), 0.02);
        *both = Object { key: both.key.clone(), confidence: 0.9, ..tall };
    };
    let report = run(&mut room, "open the top drawer");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert_eq!(room.story.last().map(String::as_str), Some("hook_pull drawer_2_at1"), "{:?}", room.story);
}

/// Before a person is asked which of two things is meant, those that may be one are looked at from nearer; not those that stand apart.
#[test]
fn what_may_be_seen_twice_is_looked_at_before_a_person_is_asked() {
    for (apart, looked) in [(0.06, vec!["tour", "visit 2"]), (0.4, vec!["tour"])] {
        let mut room = Room::new(vec![
            thing("egg_0", "egg", "white", 0.0, -3.0, EGG),
            thing("egg_1", "egg", "white", 0.0, -3.0 + apart, EGG),
            thing("pan_0", "pan", "black", 4.0, 4.0, [0.26, 0.26, 0.05]),
        ]);
        let report = run(&mut room, "put the egg in the pan");
        assert_eq!(report.reason, Some(Reason::Ambiguous), "{}", report.message);
        assert_eq!(room.story, looked, "{apart} m apart");
    }
    // What is above another is not it.
    let mut room = Room::new(chest());
    let report = run(&mut room, "open the drawer");
    assert_eq!(report.reason, Some(Reason::Ambiguous), "{}", report.message);
    assert_eq!(room.story, ["tour"]);
}

#[test]
fn of_a_room_that_was_seen_in_part_no_more_is_claimed() {
    let mut room = Room::new(kitchen());
    room.memory = vec![GREEN, THE_BOWL];
    let report = run(&mut room, "go to the bowl");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    let report = run(&mut room, "how many apples are there?");
    assert!(report.message.contains("not seen the whole room"), "{}", report.message);
    for question in ["what are you holding?", "what can you do?", "what color is the bowl?"] {
        let report = run(&mut room, question);
        assert!(!report.message.contains("not seen the whole room"), "{question}: {}", report.message);
    }
    // Where something is that was not seen is told from memory, without motion.
    room.memory.push(("pan", [4.0, 4.0, 0.0], 0.9));
    room.story.clear();
    let report = run(&mut room, "where is the pan?");
    assert!(report.message.contains("2 hours ago"), "{}", report.message);
    assert!(room.story.is_empty(), "{:?}", room.story);
    // Two that fit alike are both looked at, so that the person is asked.
    let mut room = Room::new(kitchen());
    room.memory =
        vec![("egg", [0.0, -3.0, 0.0], 0.9), ("egg", [0.0, -2.3, 0.0], 0.9), ("pan", [4.0, 4.0, 0.0], 0.9)];
    let report = run(&mut room, "put the egg in the pan");
    assert_eq!(report.reason, Some(Reason::Ambiguous), "{}", report.message);
    assert_eq!(room.story, ["visit 3"]);
}

#[test]
fn two_things_are_carried_one_after_the_other() {
    let mut room = Room::new(kitchen());
    let report = run(&mut room, "bring the two apples from the shelf to the bowl");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert!(room.is_in("apple_0", "bowl_0") && room.is_in("apple_1", "bowl_0"));
    assert_eq!(drives(&room), ["room_apple_0", "room_bowl_0", "room_apple_1", "room_bowl_0"]);
}

#[test]
fn a_thing_that_was_carried_is_found_where_it_was_put() {
    let mut room = Room::new(kitchen());
    let report = run(&mut room, "put the green apple next to the pan, then put it in the bowl");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert!(room.is_in("apple_2", "bowl_0"));
    assert_eq!(drives(&room), ["room_apple_2", "room_pan_0", "room_pan_0", "room_bowl_0"]);
}

/// A counter with a bowl, a desk with another, a shelf with two apples.
fn two_rooms() -> Vec<Object> {
    vec![
        thing("counter_0", "counter", "white", 0.0, 3.0, [1.6, 0.6, 0.74]),
        on(thing("bowl_0", "bowl", "white", 0.2, 3.0, BOWL), 0.74),
        thing("desk_0", "desk", "brown", 5.0, -3.0, [1.2, 0.7, 0.74]),
        on(thing("bowl_1", "bowl", "white", 5.0, -2.9, BOWL), 0.74),
        thing("shelf_0", "shelf", "brown", 3.0, 0.0, [0.4, 1.0, 0.6]),
        on(thing("apple_0", "apple", "red", 2.95, -0.2, APPLE), 0.6),
        on(thing("apple_1", "apple", "red", 2.95, 0.2, APPLE), 0.6),
    ]
}

#[test]
fn a_room_is_known_by_its_furniture() {
    for (name, bowl) in [("kitchen", "bowl_0"), ("office", "bowl_1")] {
        let mut room = Room::new(two_rooms());
        let report =
            run(&mut room, &format!("bring the two apples from the shelf to the bowl in the {name}"));
        assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
        assert!(room.is_in("apple_0", bowl) && room.is_in("apple_1", bowl), "{name}");
    }
    let mut room = Room::new(two_rooms());
    let report = run(&mut room, "bring the two apples to the bowl in the bedroom");
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::NotFound)),
        "{}",
        report.message
    );
    assert!(drives(&room).is_empty(), "{:?}", room.story);
}

/// Two tables and a counter; on one table a bowl with an egg, on the other an apple between two mugs in the room's x direction.
fn tables() -> Vec<Object> {
    vec![
        thing("table_0", "table", "brown", 2.0, 0.0, [0.8, 1.2, 0.7]),
        thing("table_1", "table", "brown", -2.0, 0.0, [0.8, 1.2, 0.7]),
        thing("counter_0", "counter", "white", 0.0, 3.0, [1.6, 0.6, 0.74]),
        on(thing("bowl_0", "bowl", "white", 1.8, 0.3, BOWL), 0.7),
        on(thing("egg_0", "egg", "white", 1.8, 0.3, EGG), 0.71),
        on(thing("apple_0", "apple", "red", -2.2, 0.0, APPLE), 0.7),
        on(thing("mug_0", "mug", "red", -2.2, 0.3, APPLE), 0.7),
        on(thing("mug_1", "mug", "blue", -2.2, -0.3, APPLE), 0.7),
    ]
}

#[test]
fn furniture_that_is_named_is_gone_to() {
    for (text, last) in [
        ("put the apple on the counter", "room_counter_0"),
        ("bring the apple to the counter", "room_counter_0"),
        // Of two tables the other one; out of a bowl the one where it stands.
        ("put the apple on the table", "room_table_0"),
        ("take the egg out of the bowl and put it on the table", "room_table_0"),
        ("take the apple from the table and put it on the counter", "room_counter_0"),
    ] {
        let mut room = Room::new(tables());
        let report = run(&mut room, text);
        assert_eq!(report.outcome, Outcome::Done, "{text}: {} {:?}", report.message, room.story);
        assert_eq!(drives(&room).last(), Some(&last), "{text}: {:?}", room.story);
        let placed = room.story.last().expect("a placement");
        assert!(placed.starts_with("place ") && placed.ends_with(" table"), "{text}: {placed}");
    }
    for text in ["put the apple on the desk", "put the two mugs on the table near the bowl tomorrow"] {
        let mut room = Room::new(tables());
        let refused = match agent().understand(text) {
            Ok(readings) => agent().run(&readings, &mut room, None).outcome == Outcome::Refused,
            Err(_) => true,
        };
        assert!(refused && !room.story.iter().any(|line| line.starts_with("grasp")), "{text}");
    }
}

#[test]
fn what_is_said_to_be_so_already_is_looked_at() {
    let text = "put the egg in the bowl";
    let mut room = Room::new(tables());
    let report = run(&mut room, text);
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert_eq!(room.story, ["tour", "go to room_egg_0"]);
    // It was taken out since: the map of the room is old.
    move_to(room.truth_of(&"egg_0".into()), Vector3::new(1.8, -0.3, 0.72));
    let report = run(&mut room, text);
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert!(room.is_in("egg_0", "bowl_0"), "{:?}", room.story);
    // Or carried off.
    move_to(room.truth_of(&"egg_0".into()), Vector3::new(8.0, 8.0, 0.7));
    let report = run(&mut room, text);
    assert_eq!(report.reason, Some(Reason::Stale), "{}", report.message);
}

#[test]
fn left_is_what_the_robot_sees_on_the_left() {
    // The mugs stand along y; seen from the east the red one is on the right, from the west on the left.
    for (start, mug) in [([0.0, 0.0, 0.0], "mug_1"), ([-4.0, 0.0, 0.0], "mug_0")] {
        for text in ["pick up the mug left of the apple", "pick up the left mug"] {
            let mut room = Room::new(tables());
            room.start = start;
            let report = run(&mut room, text);
            assert_eq!(report.outcome, Outcome::Done, "{text}: {} {:?}", report.message, room.story);
            assert_eq!(room.held.as_deref(), Some(mug), "{text} from {start:?}");
        }
    }
}

#[test]
fn going_somewhere_is_a_goal_of_its_own() {
    let mut room = Room::new(kitchen());
    let report = run(&mut room, "go to the shelf");
    assert_eq!((report.outcome, report.message.as_str()), (Outcome::Done, "I am at the brown shelf."));
    assert_eq!(room.story, ["tour", "go to room_shelf_0"]);
    let report = run(&mut room, "drive over to the pan and pick up the white egg near the tomato");
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert_eq!(room.held.as_deref(), Some("egg_0"));
}

#[test]
fn errors_of_localisation_do_not_swap_neighbours() {
    for drift in [-0.06, 0.06] {
        let mut room = Room::new(kitchen());
        room.drift = drift;
        let report = run(&mut room, "put the egg that is near the tomato in the pan");
        assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
        assert!(room.is_in("egg_0", "pan_0"));
    }
}

#[test]
fn what_is_gone_is_stale_and_another_that_fits_is_taken() {
    let mut room = Room::new(kitchen());
    room.map_the_room();
    // Carried off since the tour.
    move_to(room.truth_of(&"bowl_0".into()), Vector3::new(9.0, 9.0, 0.03));
    let report = run(&mut room, "put the green apple in the bowl");
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::Stale)), "{}", report.message);
    assert!(report.message.contains("bowl"), "{}", report.message);

    let mut room = Room::new(kitchen());
    room.map_the_room();
    move_to(room.truth_of(&"apple_0".into()), Vector3::new(9.0, 9.0, 0.03));
    move_to(room.truth_of(&"apple_1".into()), Vector3::new(8.0, 9.0, 0.03));
    let report = run(&mut room, "put an apple in the bowl");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
    assert!(room.is_in("apple_2", "bowl_0"));
}

#[test]
fn a_thing_moved_about_its_place_is_found() {
    let mut room = Room::new(kitchen());
    room.map_the_room();
    move_to(room.truth_of(&"apple_2".into()), Vector3::new(-2.2, 0.6, 0.035));
    let report = run(&mut room, "put the green apple in the bowl");
    assert_eq!(report.outcome, Outcome::Done, "{} {:?}", report.message, room.story);
}

#[test]
fn a_drive_that_fails_ends_typed() {
    for (reason, retried) in
        [(Reason::ControlFailed, true), (Reason::PeerLost, false), (Reason::Stopped, false)]
    {
        let mut room = Room::new(kitchen());
        room.drives = vec![Some(reason)];
        let report = run(&mut room, "put the green apple in the bowl");
        let expected = if retried { None } else { Some(reason) };
        assert_eq!(report.reason, expected, "{}", report.message);
        room.drives = vec![Some(reason); 8];
        let report = run(&mut room, "put the green apple in the pan");
        assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(reason)));
    }
}

#[test]
fn questions_do_not_start_a_tour() {
    let mut room = Room::new(kitchen());
    let report = run(&mut room, "how many apples are there?");
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Infeasible)));
    room.map_the_room();
    let report = run(&mut room, "how many apples are there?");
    assert_eq!(report.message, "There are 3 apples.");
    assert!(room.story.is_empty(), "{:?}", room.story);
}

#[test]
fn a_fixed_arm_refuses_to_drive() {
    let agent = agent();
    let mut world = Scripted::new(vec![thing("bowl_0", "bowl", "white", 0.4, 0.0, BOWL)]);
    let readings = agent.understand("go to the bowl").expect("understood");
    let report = agent.run(&readings, &mut world, None);
    assert_eq!((report.outcome, report.reason), (Outcome::Refused, Some(Reason::Infeasible)));
}
