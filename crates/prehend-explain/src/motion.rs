//! Motions: the phases of a skill, and what became of it.

use super::seen::Things;
use super::{Came, Decision, Event, Kind};

/// A skill under way.
#[derive(Debug, Default)]
pub(super) struct Skill {
    skill: String,
    object: String,
    permit: String,
    since: f64,
    until: f64,
    phases: Vec<String>,
    begun: Option<(String, f64)>,
    fault: Option<String>,
}

/// What a motion event tells.
pub(super) enum Told {
    /// A phase of a skill: taken in.
    Phase,
    /// The skill has ended.
    Ended(Box<Decision>),
    /// It has nothing of a motion.
    Other,
}

impl Skill {
    /// Takes in an event of a motion.
    pub(super) fn take(&mut self, event: &Event, things: &Things) -> Told {
        let permit = event.text("permit");
        if !permit.is_empty() {
            self.phase(event, permit);
            return Told::Phase;
        }
        match event.name.split_once('/') {
            Some((skill, "done")) => {
                event.text("object").clone_into(&mut self.object);
                let mut decision =
                    self.end(things).unwrap_or_else(|| Decision::new(event.t, Kind::Motion, ""));
                let name = if event.text("object").is_empty() {
                    String::new()
                } else {
                    format!(" {}", things.name(event.text("object")))
                };
                // What did not move has told nothing of it before.
                if decision.objects.is_empty() && !event.text("object").is_empty() {
                    decision.objects.push(event.text("object").to_owned());
                }
                if event.status == "done" {
                    decision.what = format!("{skill}{name}: {}", event.message);
                    decision.came = Came::Well;
                } else {
                    let code = event.status.replace('_', " ");
                    decision.what = format!("{skill}{name} did not work ({code}): {}", event.message);
                    decision.came = Came::Badly;
                }
                Told::Ended(Box::new(decision))
            }
            _ => Told::Other,
        }
    }

    fn phase(&mut self, event: &Event, permit: &str) {
        if self.permit != permit && self.phases.is_empty() {
            self.since = event.t;
        }
        permit.clone_into(&mut self.permit);
        // A skill may end with the way home, which has a permit of its own.
        if self.skill.is_empty() {
            event.text("skill").clone_into(&mut self.skill);
        }
        self.until = event.t;
        match event.status.as_str() {
            "started" => self.begun = Some((event.name.clone(), event.t)),
            "done" => {
                let since =
                    self.begun.take().filter(|(name, _)| *name == event.name).map_or(event.t, |(_, t)| t);
                self.phases.push(format!("{} ({:.1} s)", event.name, event.t - since));
            }
            status => {
                self.begun = None;
                self.phases.push(format!("{}: {status}", event.name));
                self.fault = Some(event.message.clone());
            }
        }
    }

    /// The motion so far as a decision; `None` when nothing moved.
    pub(super) fn end(&mut self, things: &Things) -> Option<Decision> {
        let Self { skill, object, permit, since, until, mut phases, begun, fault } = std::mem::take(self);
        if permit.is_empty() {
            return None;
        }
        if let Some((phase, _)) = &begun {
            phases.push(format!("{phase}: its end is not recorded"));
        }
        let name = if object.is_empty() { String::new() } else { format!(" {}", things.name(&object)) };
        let mut decision =
            Decision::new(since, Kind::Motion, format!("{skill}{name}, in {:.1} s", until - since));
        decision.objects = if object.is_empty() { Vec::new() } else { vec![object] };
        decision.came = if fault.is_some() || begun.is_some() { Came::Badly } else { Came::Well };
        decision.because.push(format!("by permit {permit}: {}", phases.join(", ")));
        decision.because.extend(fault);
        Some(decision)
    }
}
