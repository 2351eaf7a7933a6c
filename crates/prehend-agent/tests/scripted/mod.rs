//! A world without robot: objects are boxes, skills move them, faults come from a script.

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_agent::tools::ToolOutput;
use prehend_agent::words::{Lesson, PAGE, Seen, Testimony, Words};
use prehend_agent::world::{
    ActionablePart, Comparison, Fault, PlannedStep, Rejected, Retrieval, SkillOutcome, SkillRequest, World,
};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::{Intent, Object, ObjectKey, ObjectMap, Reason, Relation, Scope, Skill};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Kinds the words of the scripted perception know.
const KINDS: [(&str, &[&str]); 2] =
    [("fruit", &["apple", "pear", "banana"]), ("dish", &["bowl", "plate", "mug"])];

pub(crate) fn thing(key: &str, class: &str, color: &str, x: f64, y: f64, size: [f64; 3]) -> Object {
    let at = Vector3::new(x, y, size[2] / 2.0);
    let mut object = Object {
        class_name: class.to_owned(),
        confidence: 1.0,
        class_votes: vec![(class.to_owned(), 1.0)],
        color_fractions: vec![(color.to_owned(), 1.0)],
        view_count: 1,
        ..Object::unnamed(
            key.into(),
            PointCloud::default(),
            OrientedBox { pose: Isometry3::translation(at.x, at.y, at.z), size: Vector3::from(size) },
        )
    };
    move_to(&mut object, at);
    object
}

pub(crate) fn move_to(object: &mut Object, at: Vector3<f64>) {
    object.bounds.pose = Isometry3::translation(at.x, at.y, at.z);
    let half = object.bounds.size / 2.0;
    object.cloud = PointCloud::from_points(
        (0..11 * 11)
            .map(|i| {
                let along = |n: usize| n as f64 / 5.0 - 1.0;
                Point3::from(at + Vector3::new(half.x * along(i % 11), half.y * along(i / 11), half.z))
            })
            .collect(),
    );
}

/// Words with a script: what is known, what witnesses say, what is kept.
#[derive(Default)]
pub(crate) struct ScriptedWords {
    pub(crate) says: Vec<(&'static str, &'static str)>,
    pub(crate) kept: HashMap<String, Lesson>,
    /// The words that were asked about, with the classes seen.
    pub(crate) asked: Vec<(String, usize)>,
    pub(crate) disk_full: bool,
}

impl Words for ScriptedWords {
    fn is_known(&self, word: &str) -> bool {
        ["bottle", "plate", "knife", "bowl", "banana", "block"]
            .contains(&word.rsplit(' ').next().unwrap_or(word))
    }

    fn lesson(&mut self, word: &str) -> Option<Lesson> {
        self.kept.get(word).cloned()
    }

    fn ask(&mut self, word: &str, seen: &[Seen], _: Option<&[u8]>) -> Result<Vec<Testimony>, Fault> {
        self.asked.push((word.to_owned(), seen.len()));
        let said = |(witness, label): &(&str, &str)| Testimony {
            witness: (*witness).to_owned(),
            weight: PAGE,
            label: (*label).to_owned(),
        };
        Ok(self.says.iter().map(said).collect())
    }

    fn keep(&mut self, lesson: &Lesson) -> Result<(), String> {
        if self.disk_full {
            return Err("no space left on device".to_owned());
        }
        self.kept.insert(lesson.word.clone(), lesson.clone());
        Ok(())
    }

    fn forget(&mut self, word: &str) -> Result<(), String> {
        self.kept.remove(word);
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Scripted {
    /// Who knows words.
    pub(crate) words: Option<Box<ScriptedWords>>,
    pub(crate) map: ObjectMap,
    pub(crate) held: Option<ObjectKey>,
    /// Whether a goal that failed has left it in the hand.
    pub(crate) left_over: bool,
    /// Answers to the next skills: `Some` is a fault, with whether it left the map stale.
    pub(crate) script: VecDeque<Option<(Reason, bool)>>,
    /// Between which things there is no grasp, and what is in its way: both by key.
    pub(crate) crowded: Vec<(ObjectKey, Vec<ObjectKey>)>,
    /// After so many skills this thing cannot be grasped for that one.
    pub(crate) crowd_after: Option<(usize, ObjectKey, ObjectKey)>,
    /// Whether a grasp that fails leaves the object between the pads.
    pub(crate) grasp_stays: bool,
    /// The next placement is done, but the object gets this key and the outcome is not observed.
    pub(crate) rekey: Option<ObjectKey>,
    /// How far beyond the place that was aimed at things come to stand, metres.
    pub(crate) misses: f64,
    /// What goes wrong before the next goal.
    pub(crate) settling: Option<Fault>,
    /// After so many placements into something there is no room in it.
    pub(crate) no_room_after: Option<usize>,
    /// Every skill that was executed, in words.
    pub(crate) skills: Vec<String>,
    /// Whether there is a camera's picture: a byte that counts the skills so far.
    pub(crate) has_picture: bool,
    /// Whether skills only plan, and the steps that were told to be planned.
    pub(crate) rehearses: bool,
    pub(crate) steps: Vec<String>,
    /// What was compared.
    pub(crate) compared: Vec<Comparison>,
    /// Every tool call, in words.
    pub(crate) calls: Vec<String>,
    pub(crate) updates: u32,
    pub(crate) interrupt_after_skills: Option<(usize, Fault)>,
    /// What the map shows from so many updates on.
    pub(crate) seen_later: Option<(u32, Vec<Object>)>,
    /// What no look shows but one that is aimed at it: the map keeps it as it was.
    pub(crate) out_of_view: Vec<ObjectKey>,
    /// What a look that is aimed at an object makes of the map.
    pub(crate) shown_by_look: Vec<(ObjectKey, Vec<Object>)>,
    /// An object whose name views dispute until so many updates were made, and its true name.
    pub(crate) disputed: Option<(ObjectKey, u32, &'static str)>,
}

impl Scripted {
    pub(crate) fn new(objects: Vec<Object>) -> Self {
        let map = ObjectMap {
            frame: "link_base".into(),
            version: 1,
            stamp: 0.0,
            objects,
            support_plane: Some([0.0, 0.0, 1.0, 0.0]),
        };
        Self { map, ..Self::default() }
    }

    /// A frame: all but what is out of view is seen now, and what the look was aimed at.
    fn see(&mut self, aimed_at: Option<&ObjectKey>) {
        self.map.stamp += 1.0;
        for object in &mut self.map.objects {
            if !self.out_of_view.contains(&object.key) || aimed_at == Some(&object.key) {
                object.last_seen = self.map.stamp;
            }
        }
    }

    fn place(&mut self, request: &SkillRequest) {
        let target = request.targets.first().and_then(|key| self.map.get(key)).cloned();
        let Some(object) = self.map.objects.iter_mut().find(|o| o.key == request.object) else { return };
        let half = object.bounds.size.z / 2.0;
        let at = match (request.relation, target) {
            (Some(Relation::On), Some(t)) => {
                let c = t.bounds.pose.translation.vector;
                Vector3::new(c.x, c.y, t.bounds.top() + half)
            }
            (Some(Relation::In), Some(t)) => {
                let c = t.bounds.pose.translation.vector;
                Vector3::new(c.x, c.y, c.z - t.bounds.size.z / 2.0 + 0.005 + half)
            }
            (Some(Relation::LeftOf), Some(t)) => {
                let c = t.bounds.pose.translation.vector;
                Vector3::new(c.x, c.y + 0.15, half)
            }
            (_, Some(t)) => {
                let c = t.bounds.pose.translation.vector;
                Vector3::new(c.x, c.y - 0.12, half)
            }
            (_, None) => {
                let [x, y] = request.area.map_or([0.3, 0.35], |area| area.middle());
                Vector3::new(x + self.misses, y, half)
            }
        };
        move_to(object, at);
    }
}

impl World for Scripted {
    fn picture(&mut self) -> Option<Vec<u8>> {
        self.has_picture.then(|| vec![self.skills.len() as u8])
    }

    fn words(&mut self) -> Option<&mut dyn Words> {
        self.words.as_deref_mut().map(|words| words as &mut dyn Words)
    }

    fn settle(&mut self) -> Result<SkillOutcome, Fault> {
        assert!(!self.rehearses, "what is only planned brings nothing anywhere");
        match self.settling.take() {
            Some(fault) => Err(fault),
            None => Ok(SkillOutcome { held: self.held.clone(), map_stale: false }),
        }
    }

    fn was_asked_to_hold(&self) -> bool {
        !self.left_over
    }

    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.updates += 1;
        self.map.version += 1;
        self.see(None);
        if let Some((_, objects)) = self.seen_later.take_if(|(updates, _)| *updates <= self.updates) {
            self.map.objects = objects;
        }
        if let Some((key, _, name)) = self.disputed.take_if(|(_, updates, _)| *updates <= self.updates)
            && let Some(object) = self.map.objects.iter_mut().find(|object| object.key == key)
        {
            object.class_name = name.to_owned();
        }
        Ok(Arc::new(self.map.clone()))
    }

    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(Arc::new(self.map.clone()))
    }

    fn retrieve(&mut self, query: &str, k: u32, _scope: Scope) -> Result<Retrieval, Fault> {
        let words: Vec<&str> = query.split(' ').collect();
        let Some((noun, attributes)) = words.split_last() else { return Ok(Retrieval::default()) };
        let singular = noun
            .strip_suffix("es")
            .filter(|n| n.ends_with("sh"))
            .unwrap_or(noun.strip_suffix('s').unwrap_or(noun));
        let mut found = Retrieval::default();
        for object in &self.map.objects {
            let class = &object.class_name;
            let kind = KINDS.iter().any(|(kind, of)| *kind == singular && of.contains(&class.as_str()));
            let named = ["object", "thing"].contains(&singular)
                || kind
                || class == singular
                || class == noun
                || class.ends_with(&format!(" {singular}"))
                || class == &words.join(" ");
            let color = &object.color_fractions[0].0;
            let wrong = attributes.iter().find(|a| !class.split(' ').any(|w| w == **a) && *a != color);
            match (named, wrong) {
                (true, None) => found.keys.push(object.key.clone()),
                (true, Some(a)) => found
                    .rejected
                    .push(Rejected { key: object.key.clone(), reason: format!("it is {color}, not {a}") }),
                (false, _) => found
                    .rejected
                    .push(Rejected { key: object.key.clone(), reason: format!("it is {class}") }),
            }
        }
        found.doubtful.extend(self.disputed.iter().map(|(key, ..)| key.clone()));
        found.keys.truncate(if k == 0 { 3 } else { k as usize });
        found.rejected.sort_by_key(|r| !r.reason.contains("not"));
        Ok(found)
    }

    fn detect_affordance(
        &mut self,
        _object: &ObjectKey,
        intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault> {
        let part = |name: &str, skill| ActionablePart { name: name.into(), skill, score: 0.9 };
        // What can be pulled or pushed; which of them serves the verb is for the table of actions to say.
        if matches!(intent, Intent::Act { .. }) {
            return Ok(vec![
                part("handle", Skill::HookPull),
                part("front", Skill::TipPush),
                part("button", Skill::TipPush),
            ]);
        }
        Ok(vec![part("handle", Skill::Grasp), part("rim", Skill::Grasp)])
    }

    fn execute(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        let targets: Vec<&str> = request.targets.iter().map(|t| t.0.as_str()).collect();
        let relation = request.relation.map_or("", Relation::name);
        let around = request.area.map_or_else(String::new, |area| {
            let [x, y] = area.middle();
            format!("around {x:.2} {y:.2}")
        });
        let words =
            [request.skill.name(), &request.object.0, relation, &targets.join("+"), &around, &request.part];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        self.skills.push(words.join(" "));
        if let Some(Some((reason, map_stale))) = self.script.pop_front() {
            if self.grasp_stays && matches!(request.skill, Skill::Grasp | Skill::GraspPart) {
                self.held = Some(request.object.clone());
            }
            let after = SkillOutcome { held: self.held.clone(), map_stale };
            return Err(Fault {
                after: Some(after),
                ..Fault::new(reason, format!("scripted {}", reason.code()))
            });
        }
        if let Some((_, key, by)) = self.crowd_after.take_if(|(skills, ..)| self.skills.len() > *skills) {
            self.crowded.push((key, vec![by]));
        }
        let crowd = self.crowded.iter().find(|(key, _)| *key == request.object);
        if let Some((_, in_the_way)) = crowd.filter(|_| request.skill == Skill::Grasp) {
            let in_the_way = in_the_way.clone();
            let after = Some(SkillOutcome { held: None, map_stale: false });
            return Err(Fault {
                in_the_way,
                after,
                ..Fault::new(Reason::NoGrasp, "other objects are in the way")
            });
        }
        if request.relation == Some(Relation::In)
            && self.no_room_after.as_mut().is_some_and(|left| *left == 0)
        {
            let after = Some(SkillOutcome { held: self.held.clone(), map_stale: false });
            return Err(Fault { after, ..Fault::new(Reason::NoPlace, "no room") });
        }
        if let Some(left) = self.no_room_after.as_mut().filter(|_| request.relation == Some(Relation::In)) {
            *left -= 1;
        }
        if self.rehearses {
            let holds = matches!(request.skill, Skill::Grasp | Skill::GraspPart);
            let held = holds.then(|| request.object.clone());
            return Ok(SkillOutcome { held, map_stale: false });
        }
        match request.skill {
            Skill::Grasp => self.held = Some(request.object.clone()),
            Skill::Place | Skill::Drop => {
                self.place(request);
                // Who stood in the way stands elsewhere now.
                self.crowded.iter_mut().for_each(|(_, by)| by.retain(|key| *key != request.object));
                self.crowded.retain(|(_, by)| !by.is_empty());
                self.held = None;
                if let Some(new) = self.rekey.take() {
                    if let Some(object) = self.map.objects.iter_mut().find(|o| o.key == request.object) {
                        object.key = new;
                    }
                    let message = "not seen where it was put".to_owned();
                    let after = Some(SkillOutcome { held: None, map_stale: false });
                    return Err(Fault { after, ..Fault::new(Reason::OutcomeNotObserved, message) });
                }
            }
            Skill::GraspPart => self.held = Some(request.object.clone()),
            Skill::Look => {
                let shown = self.shown_by_look.iter().position(|(key, _)| *key == request.object);
                if let Some((_, objects)) = shown.map(|place| self.shown_by_look.remove(place)) {
                    self.map.objects = objects;
                }
                self.see(Some(&request.object));
            }
            Skill::Home | Skill::TipPush | Skill::PinchPull | Skill::HookPull | Skill::GoTo => {}
        }
        self.map.version += 1;
        Ok(SkillOutcome { held: self.held.clone(), map_stale: false })
    }

    fn interrupted(&self) -> Option<Fault> {
        let (after, fault) = self.interrupt_after_skills.as_ref()?;
        (self.skills.len() >= *after).then(|| fault.clone())
    }

    fn compared(&mut self, comparison: &Comparison) {
        self.compared.push(comparison.clone());
    }

    fn step_planned(&mut self, step: &PlannedStep) {
        let detail = if step.detail.is_empty() { String::new() } else { format!(" ({})", step.detail) };
        self.steps.push(format!("{}: {}{detail}", step.status.name(), step.words));
    }

    fn tool_called(&mut self, name: &str, arguments: &str) {
        self.calls.push(format!("{name}({arguments})"));
    }

    fn tool_answered(&mut self, _name: &str, _output: &ToolOutput) {}
}
