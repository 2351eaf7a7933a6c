//! The story of a goal, as the panel tells it.

use crate::stage::{Candidate, PanelLine, Tone};
use prehend_scene::{Diagnostics, SymbolicState};

/// What a skill is going to do, before it moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What was found; one of them is chosen.
    pub candidates: Vec<Candidate>,
    /// Joint positions along the way, the last at its end: in the order of the robot's arm, rad or m.
    pub joints: Vec<Vec<f64>>,
}

/// One event of the graph's trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// What it is about: `goal`, `evidence`, `verdict`, `permit`, `motion`; others say nothing here.
    pub kind: String,
    /// Which of them, such as `started`, or the tool that gave evidence.
    pub name: String,
    /// What became of it, such as `granted`.
    pub status: String,
    /// What happened, in words.
    pub message: String,
    /// The diagnostics that it told, if any.
    pub diagnostics: Option<Diagnostics>,
    /// The plan that it told, if any.
    pub plan: Option<Plan>,
    /// Poses of the base that it is about: x, y in metres and the heading in radians, frame of the map of the building.
    pub places: Vec<[f64; 3]>,
}

/// What was heard of the newest goal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    sentence: Option<PanelLine>,
    evidence: Vec<(String, Diagnostics)>,
    verdict: Option<PanelLine>,
    permit: Option<PanelLine>,
    motion: Option<PanelLine>,
    plan: Option<Plan>,
    stops: Vec<[f64; 3]>,
    heading_for: Option<[f64; 3]>,
}

/// How many steps of evidence are told, the newest ones.
const STEPS: usize = 8;

impl Story {
    /// Takes the next event; whether it changed what is told. A new goal forgets the one before.
    pub fn take(&mut self, event: &Event) -> bool {
        let line = |tone| Some(PanelLine::new(tone, &event.message));
        let tone = match event.status.as_str() {
            "refused" | "failed" | "error" | "aborted" | "lost" | "stopped" | "timeout" | "expired" => {
                Tone::Bad
            }
            "granted" | "redeemed" | "succeeded" | "done" => Tone::Good,
            _ => Tone::Plain,
        };
        match (event.kind.as_str(), event.name.as_str()) {
            ("goal", "started") => *self = Self { sentence: line(Tone::Plain), ..Self::default() },
            ("goal", "finished") => {
                self.motion = line(tone);
                self.plan = None;
                self.stops.clear();
                self.heading_for = None;
            }
            ("evidence", name) => {
                let Some(diagnostics) = event.diagnostics else { return false };
                self.evidence.push((name.to_owned(), diagnostics));
            }
            // What became of a plan is told; it is over, and the evidence for it is used up.
            ("verdict", "outcome") => {
                self.verdict = line(tone);
                self.evidence.clear();
                self.plan = None;
            }
            ("verdict", _) => self.verdict = line(tone),
            ("permit", _) => self.permit = line(tone),
            ("motion", name) => {
                self.motion = line(tone);
                self.drive(name, event);
                if let Some(plan) = &event.plan {
                    self.plan = Some(plan.clone());
                }
            }
            _ => return false,
        }
        true
    }

    /// The newest plan, until it is known what became of it.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// What an event says of where the base goes.
    fn drive(&mut self, name: &str, event: &Event) {
        match (name, event.status.as_str()) {
            ("go_to/tour" | "go_to/visit", "started") => self.stops.clone_from(&event.places),
            ("drive", "started") | ("go_to/pose", _) => self.heading_for = event.places.first().copied(),
            ("drive", _) => self.heading_for = None,
            ("go_to/done", _) => {
                self.stops.clear();
                self.heading_for = None;
            }
            _ => {}
        }
    }

    /// Where the base will look round from, until it has: x, y, heading as [`Event::places`].
    pub fn stops(&self) -> &[[f64; 3]] {
        &self.stops
    }

    /// Where the base is to go, before it goes and while it does: x, y, heading as [`Event::places`].
    pub fn heading_for(&self) -> Option<[f64; 3]> {
        self.heading_for
    }

    /// A plan that waits and of which nothing was heard when it was made: shown as long as nothing else is.
    pub fn expect(&mut self, plan: Option<Plan>, heading_for: Option<[f64; 3]>) {
        self.plan = self.plan.take().or(plan);
        self.heading_for = self.heading_for.or(heading_for);
    }

    /// The panel: the sentence, the robot's state, the evidence as it grew, verdict and permit, and what moves.
    pub fn panel(&self, state: Option<&SymbolicState>) -> Vec<PanelLine> {
        let mut lines = Vec::new();
        let title = |text: &str| PanelLine::new(Tone::Title, text);
        if let Some(sentence) = &self.sentence {
            lines.extend([title("Goal"), sentence.clone()]);
        }
        if let Some(state) = state {
            let held = state.held_object.as_ref().map_or("nothing", |key| key.0.as_str());
            let inventory: Vec<&str> = state.inventory.iter().map(|key| key.0.as_str()).collect();
            lines.push(title("State"));
            lines.push(PanelLine::new(Tone::Plain, format!("holds {held}")));
            if !inventory.is_empty() {
                lines.push(PanelLine::new(Tone::Plain, format!("inventory {}", inventory.join(", "))));
            }
        }
        if !self.evidence.is_empty() {
            lines.push(title("Evidence: omega, zeta, mu, v"));
            for (tool, d) in self.evidence.iter().skip(self.evidence.len().saturating_sub(STEPS)) {
                let text = format!("{:.2}  {:.2}  {:.2}  {:.2}  {tool}", d.omega, d.zeta, d.mu, d.score);
                lines.push(PanelLine::new(if d.committed { Tone::Good } else { Tone::Plain }, text));
            }
        }
        for (name, line) in [("Verdict", &self.verdict), ("Permit", &self.permit), ("Motion", &self.motion)] {
            if let Some(line) = line {
                lines.extend([title(name), line.clone()]);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_scene::Gaps;

    fn event(kind: &str, name: &str, status: &str, message: &str) -> Event {
        let text = str::to_owned;
        Event {
            kind: text(kind),
            name: text(name),
            status: text(status),
            message: text(message),
            ..Event::default()
        }
    }

    fn evidence(omega: f64, committed: bool) -> Event {
        let diagnostics = Diagnostics {
            omega,
            zeta: 0.5,
            mu: 0.25,
            score: 0.6,
            committed,
            deficiency: None,
            gaps: Gaps::default(),
        };
        Event { diagnostics: Some(diagnostics), ..event("evidence", "detector", "added", "one record") }
    }

    fn texts(lines: &[PanelLine]) -> Vec<(&str, Tone)> {
        lines.iter().map(|line| (line.text.as_str(), line.tone)).collect()
    }

    #[test]
    fn the_panel_tells_the_goal_from_the_sentence_to_the_motion() {
        let mut story = Story::default();
        for heard in [
            event("goal", "started", "started", "open the drawer"),
            evidence(0.5, false),
            evidence(0.9, true),
            event("verdict", "pinch_pull", "refused", "zeta is too low"),
            event("permit", "redeem", "redeemed", "permit 7 redeemed"),
            event("motion", "approach", "started", "approach: 42 points"),
        ] {
            assert!(story.take(&heard), "{heard:?}");
        }
        assert!(!story.take(&event("perception", "update", "ok", "a keyframe")));
        assert!(!story.take(&event("evidence", "memory", "kept", "without diagnostics")));
        let state = SymbolicState { held_object: Some("mug_0".into()), ..Default::default() };
        let panel = story.panel(Some(&state));
        assert_eq!(
            texts(&panel),
            [
                ("Goal", Tone::Title),
                ("open the drawer", Tone::Plain),
                ("State", Tone::Title),
                ("holds mug_0", Tone::Plain),
                ("Evidence: omega, zeta, mu, v", Tone::Title),
                ("0.50  0.50  0.25  0.60  detector", Tone::Plain),
                ("0.90  0.50  0.25  0.60  detector", Tone::Good),
                ("Verdict", Tone::Title),
                ("zeta is too low", Tone::Bad),
                ("Permit", Tone::Title),
                ("permit 7 redeemed", Tone::Good),
                ("Motion", Tone::Title),
                ("approach: 42 points", Tone::Plain),
            ]
        );
    }

    #[test]
    fn a_new_goal_forgets_the_one_before_and_an_outcome_its_evidence() {
        let mut story = Story::default();
        story.take(&evidence(0.5, true));
        story.take(&event("verdict", "outcome", "succeeded", "it is open"));
        assert_eq!(texts(&story.panel(None)), [("Verdict", Tone::Title), ("it is open", Tone::Good)]);
        story.take(&event("goal", "started", "started", "close it"));
        assert_eq!(texts(&story.panel(None)), [("Goal", Tone::Title), ("close it", Tone::Plain)]);
    }

    #[test]
    fn a_plan_is_shown_until_it_is_known_what_became_of_it() {
        let plan = Plan { joints: vec![vec![1.0; 6]], ..Plan::default() };
        let planned = Event { plan: Some(plan.clone()), ..event("motion", "grasp/plan", "planned", "there") };
        for end in [
            event("verdict", "outcome", "succeeded", "it is held"),
            event("goal", "finished", "failed", "no way"),
            event("goal", "started", "started", "another"),
        ] {
            let mut story = Story::default();
            story.take(&planned);
            story.take(&event("motion", "transit", "started", "on the way"));
            assert_eq!(story.plan(), Some(&plan));
            story.take(&end);
            assert_eq!(story.plan(), None, "{end:?}");
        }
    }

    #[test]
    fn where_the_base_goes_is_known_until_it_is_there() {
        let at = |x: f64| [x, 0.5, 0.1];
        let told = |name: &str, status: &str, places: &[[f64; 3]]| Event {
            places: places.to_vec(),
            ..event("motion", name, status, "")
        };
        let mut story = Story::default();
        story.take(&told("go_to/tour", "started", &[at(1.0), at(2.0)]));
        story.take(&told("drive", "started", &[at(1.0)]));
        assert_eq!((story.stops().len(), story.heading_for()), (2, Some(at(1.0))));
        story.take(&told("drive", "done", &[at(1.0)]));
        assert_eq!((story.stops().len(), story.heading_for()), (2, None));
        story.take(&told("go_to/done", "done", &[]));
        assert_eq!(story.stops().len(), 0);
        story.take(&told("go_to/pose", "done", &[at(3.0)]));
        assert_eq!(story.heading_for(), Some(at(3.0)), "before the verifier is asked");
        story.take(&event("goal", "finished", "failed", "no way"));
        assert_eq!(story.heading_for(), None);
    }

    #[test]
    fn the_newest_steps_of_much_evidence_are_told() {
        let mut story = Story::default();
        for step in 0..20 {
            story.take(&evidence(f64::from(step) / 100.0, false));
        }
        let panel = story.panel(None);
        assert_eq!(panel.len(), 1 + STEPS);
        assert!(panel[STEPS].text.starts_with("0.19"), "{panel:?}");
    }
}
