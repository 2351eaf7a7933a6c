//! What was learned of looking at things (AAH 3.3, eq. 3 and 4): a common-sense bank that is made offline, and a test-time bank of
//! episodes that the verifier accepted and whose outcome was observed, which the paper could not ask for.
//!
//! An episode tells which skills helped and whose masks were right. What is retrieved for a thing steers the router and the fusion. The
//! oldest episodes are compressed into capsules: one of each kind of thing and part.

mod store;

pub use store::Store;

use crate::Gathered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Greatest size of the common-sense bank (AAH Table 4: C_cs).
pub const COMMON: usize = 1000;
/// Greatest size of the test-time bank (AAH Table 4: C_tt).
pub const EPISODES: usize = 80;
/// Entries that are retrieved (AAH Table 4: N).
const RETRIEVED: usize = 2;
/// A verifier's score that is this much greater says that a skill helped.
const HELPED: f64 = 0.02;
/// Least likeness of what is retrieved.
const LIKE: f64 = 0.6;

/// What things are recognised by (g of eq. 3): words, shape and colour, where no network gives features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Appearance {
    /// Class of the thing.
    pub class: String,
    /// Kind of the part that is looked for; empty for the whole thing.
    pub part: String,
    /// Sides of the thing's box, longest first, metres.
    pub sides: [f64; 3],
    /// Its colours with the share of each.
    pub colors: Vec<(String, f64)>,
}

impl Appearance {
    /// Likeness to another, [0, 1]; 0 of another kind of part.
    pub fn likeness(&self, other: &Self) -> f64 {
        if self.part != other.part {
            return 0.0;
        }
        let last = |class: &str| class.rsplit(' ').next().unwrap_or_default().to_owned();
        let word = match () {
            () if self.class == other.class => 1.0,
            () if last(&self.class) == last(&other.class) => 0.8,
            () => 0.0,
        };
        let apart: f64 = self
            .sides
            .iter()
            .zip(&other.sides)
            .map(|(a, b)| (a.max(1e-3) / b.max(1e-3)).ln().abs())
            .sum::<f64>()
            / 3.0;
        let share = |name: &str| {
            other.colors.iter().find(|(color, _)| color == name).map_or(0.0, |(_, share)| *share)
        };
        let color: f64 = self.colors.iter().map(|(name, own)| own.min(share(name))).sum();
        let likeness = 0.6 * word + 0.3 * (-apart).exp() + 0.1 * color.clamp(0.0, 1.0);
        if likeness.is_finite() { likeness.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// How well something helped, of how often it was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Sum of how well, each in [0, 1]: of a skill whether it made the verifier surer, of a producer its agreement with what is right.
    pub helped: f64,
    /// Times it was tried.
    pub tried: u32,
}

impl Tally {
    fn is_sound(self) -> bool {
        (0.0..=f64::from(self.tried)).contains(&self.helped)
    }

    fn plus(self, other: Self) -> Self {
        Self { helped: self.helped + other.helped, tried: self.tried.saturating_add(other.tried) }
    }

    /// Expected share of times that it helps; what was never tried is expected to.
    fn rate(self) -> f64 {
        ((self.helped + 1.0) / (f64::from(self.tried) + 1.0)).clamp(0.0, 1.0)
    }
}

/// One memory entry m of eq. 3; several episodes in one when it is a capsule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// What was looked at.
    pub appearance: Appearance,
    /// The skills that were called (u_1:T), and whether each made the verifier surer.
    pub skills: BTreeMap<String, Tally>,
    /// Whose masks agreed with what came out (psi of the evidence).
    pub producers: BTreeMap<String, Tally>,
    /// The verifier's score at the end (rho, eq. 9).
    pub score: f64,
    /// Episodes in it.
    pub episodes: u32,
}

impl Episode {
    /// What was learned from a look: which skills made the verifier surer. Whose masks are to be trusted is told by reference masks only,
    /// since a producer agrees with what it voted for.
    pub fn of(appearance: Appearance, gathered: &Gathered) -> Self {
        let mut skills: BTreeMap<String, Tally> = BTreeMap::new();
        let mut before = gathered.initial.score;
        for step in &gathered.steps {
            let tally = skills.entry(kind_of(&step.tool).to_owned()).or_default();
            tally.tried += 1;
            tally.helped += f64::from(u8::from(step.diagnostics.score > before + HELPED));
            before = step.diagnostics.score;
        }
        let (score, episodes) = (gathered.diagnostics.score, 1);
        Self { appearance, skills, producers: BTreeMap::new(), score, episodes }
    }
}

/// What is remembered of things like one: factors for the router and the fusion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    skills: BTreeMap<String, Tally>,
    producers: BTreeMap<String, Tally>,
}

impl Prior {
    /// Factor of a skill's expected gain, in (0, 1].
    pub fn promise(&self, skill: &str) -> f64 {
        self.skills.get(kind_of(skill)).map_or(1.0, |tally| tally.rate())
    }

    /// Factor of a producer's weight, in (0, 1].
    pub fn trust(&self, producer: &str) -> f64 {
        self.producers.get(producer).map_or(1.0, |tally| tally.rate())
    }
}

/// A skill without the view it looks at.
pub fn kind_of(skill: &str) -> &str {
    if skill.starts_with("view ") { "view" } else { skill }
}

/// The two banks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    common: Vec<Episode>,
    /// The oldest first.
    episodes: Vec<Episode>,
    capsules: Vec<Episode>,
    /// Greatest number of episodes.
    capacity: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self::with_capacity(EPISODES)
    }
}

impl Memory {
    /// Empty, with room for so many episodes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { common: Vec::new(), episodes: Vec::new(), capsules: Vec::new(), capacity }
    }

    /// The same with a common-sense bank made offline; what is beyond its greatest size is left out.
    pub fn with_common(mut self, common: impl IntoIterator<Item = Episode>) -> Self {
        self.common = common.into_iter().take(COMMON).collect();
        self
    }

    /// Whether it can have been made by this program.
    fn check(&self) -> Result<(), &'static str> {
        let all = || self.common.iter().chain(&self.episodes).chain(&self.capsules);
        let tallies = |episode: &Episode| {
            episode.skills.values().chain(episode.producers.values()).all(|t| t.is_sound())
        };
        if self.episodes.len() > self.capacity || self.common.len() > COMMON {
            return Err("more episodes than there is room for");
        }
        let sides = |episode: &Episode| episode.appearance.sides.iter().all(|side| side.is_finite());
        if !all().all(|episode| tallies(episode) && sides(episode)) {
            return Err("an episode of which more helped than was tried, or without a size");
        }
        Ok(())
    }

    /// Number of episodes that are kept one by one.
    pub fn len(&self) -> usize {
        self.episodes.len()
    }

    /// Whether nothing was remembered yet, besides common sense.
    pub fn is_empty(&self) -> bool {
        self.episodes.is_empty() && self.capsules.is_empty()
    }

    /// What is remembered of things that look like this one: the likest of each bank (eq. 4).
    pub fn recall(&self, appearance: &Appearance) -> Prior {
        let mut prior = Prior::default();
        let own: Vec<&Episode> = self.episodes.iter().rev().chain(&self.capsules).collect();
        for bank in [own, self.common.iter().collect()] {
            let like = bank.into_iter().map(|episode| (episode.appearance.likeness(appearance), episode));
            let mut like: Vec<(f64, &Episode)> = like.filter(|(likeness, _)| *likeness >= LIKE).collect();
            like.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, episode) in like.into_iter().take(RETRIEVED) {
                merge(&mut prior.skills, &episode.skills);
                merge(&mut prior.producers, &episode.producers);
            }
        }
        prior
    }

    /// Keeps an episode that the verifier accepted and whose outcome was observed. The oldest is compressed when there is no room.
    pub fn keep(&mut self, episode: Episode) {
        self.episodes.push(episode);
        while self.episodes.len() > self.capacity {
            let oldest = self.episodes.remove(0);
            let same = |capsule: &&mut Episode| {
                capsule.appearance.class == oldest.appearance.class
                    && capsule.appearance.part == oldest.appearance.part
            };
            match self.capsules.iter_mut().find(same) {
                Some(capsule) => capsule.take_in(&oldest),
                None => self.capsules.push(oldest),
            }
        }
    }

    /// Takes back what was learned of things like this one: its use had another outcome than was expected.
    pub fn take_back(&mut self, appearance: &Appearance) {
        let nearest = self
            .episodes
            .iter()
            .enumerate()
            .map(|(place, episode)| (episode.appearance.likeness(appearance), place));
        let nearest = nearest.filter(|(likeness, _)| *likeness >= LIKE).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, place)) = nearest {
            self.episodes.remove(place);
        }
    }
}

impl Episode {
    /// Sums the tallies of another; the shape becomes the mean.
    fn take_in(&mut self, other: &Self) {
        let (own, more) = (f64::from(self.episodes), f64::from(other.episodes));
        for (side, other) in self.appearance.sides.iter_mut().zip(&other.appearance.sides) {
            *side = (*side * own + other * more) / (own + more).max(1.0);
        }
        merge(&mut self.skills, &other.skills);
        merge(&mut self.producers, &other.producers);
        self.score = self.score.min(other.score);
        self.episodes = self.episodes.saturating_add(other.episodes);
    }
}

fn merge(into: &mut BTreeMap<String, Tally>, from: &BTreeMap<String, Tally>) {
    for (name, tally) in from {
        let sum = into.entry(name.clone()).or_default();
        *sum = sum.plus(*tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn look(class: &str, part: &str, side: f64) -> Appearance {
        Appearance {
            class: class.to_owned(),
            part: part.to_owned(),
            sides: [side, side, side],
            colors: vec![("red".to_owned(), 0.9)],
        }
    }

    pub(super) fn episode(class: &str, part: &str, skill: &str, helped: u32) -> Episode {
        Episode {
            appearance: look(class, part, 0.1),
            skills: [(skill.to_owned(), Tally { helped: f64::from(helped), tried: 1 })].into(),
            producers: BTreeMap::new(),
            score: 0.9,
            episodes: 1,
        }
    }

    #[test]
    fn who_was_wrong_about_such_things_is_trusted_less() {
        let mut wrong = episode("mug", "handle", "part geometry", 1);
        wrong.producers = [("geometry".to_owned(), Tally { helped: 0.4, tried: 4 })].into();
        let memory = Memory::default().with_common([wrong]);
        let prior = memory.recall(&look("mug", "handle", 0.1));
        assert!(
            (prior.trust("geometry") - 1.4 / 5.0).abs() < 1e-9 && (prior.trust("color") - 1.0).abs() < 1e-9
        );
        assert_eq!(memory.recall(&look("drawer", "handle", 0.1)).trust("geometry"), 1.0);
        assert!(memory.is_empty(), "common sense is no episode");
    }

    #[test]
    fn what_is_alike_is_recalled_and_nothing_else() {
        let mut memory = Memory::default();
        memory.keep(episode("mug", "handle", "part geometry", 0));
        memory.keep(episode("mug", "handle", "part geometry", 0));
        assert!(memory.recall(&look("red mug", "handle", 0.09)).promise("part geometry") < 0.5);
        for other in [look("mug", "knob", 0.1), look("cabinet", "handle", 0.1)] {
            assert_eq!(memory.recall(&other), Prior::default(), "{other:?}");
        }
        assert!((memory.recall(&look("mug", "handle", 0.1)).promise("part color") - 1.0).abs() < 1e-9);
        let mut broken = look("mug", "handle", f64::NAN);
        broken.colors[0].1 = f64::NAN;
        assert!(memory.recall(&broken).promise("part geometry").is_finite());
    }

    #[test]
    fn the_oldest_are_compressed_and_not_forgotten() {
        let mut memory = Memory::with_capacity(2);
        for number in 0..6 {
            memory.keep(episode("mug", "handle", if number < 4 { "part geometry" } else { "part color" }, 0));
        }
        assert_eq!((memory.len(), memory.capsules.len(), memory.capsules[0].episodes), (2, 1, 4));
        assert_eq!(memory.capsules[0].skills["part geometry"], Tally { helped: 0.0, tried: 4 });
    }

    #[test]
    fn what_led_astray_is_taken_back() {
        let mut memory = Memory::default();
        memory.keep(episode("mug", "handle", "part geometry", 0));
        memory.take_back(&look("cabinet", "handle", 0.1));
        assert_eq!(memory.len(), 1);
        memory.take_back(&look("mug", "handle", 0.1));
        assert!(memory.is_empty());
    }
}
