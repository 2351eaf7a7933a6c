//! What the node remembers of looking at things (AAH 3.3): an episode waits until the verifier has seen what came of its use, and only
//! then is it learned from.

use prehend_harness::memory::{Appearance, Episode, Memory, Prior, Store};
use std::collections::VecDeque;

/// Most episodes that wait for their outcome; of evidence that nobody acts on none comes.
const WAITING: usize = 32;

/// The memory, the file it lasts in, and what waits.
#[derive(Default)]
pub(super) struct Recall {
    store: Option<Store>,
    memory: Memory,
    waiting: VecDeque<(String, Episode)>,
    /// Why the file is not used.
    unusable: Option<String>,
}

impl Recall {
    /// The memory in a file; without one nothing lasts. The second is what is to be told.
    pub(super) fn open(store: Option<Store>) -> (Self, Option<String>) {
        let Some(store) = store else { return (Self::default(), None) };
        match store.read() {
            Ok(memory) => (Self { store: Some(store), memory, ..Self::default() }, None),
            // What cannot be read is not written over.
            Err(error) => {
                let said = format!("what was learned before is not used: {error}");
                (Self { unusable: Some(error.to_string()), ..Self::default() }, Some(said))
            }
        }
    }

    /// What is remembered of such things.
    pub(super) fn of(&self, appearance: &Appearance) -> Prior {
        self.memory.recall(appearance)
    }

    /// Notes what is learned when the use of this assessment turns out well.
    pub(super) fn expect(&mut self, assessment: String, episode: Episode) {
        if self.waiting.len() >= WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((assessment, episode));
    }

    /// Learns from an outcome, if it is of something that waits; what to say about it.
    pub(super) fn learn(&mut self, assessment: &str, succeeded: bool) -> Option<String> {
        let place = self.waiting.iter().position(|(id, _)| id == assessment)?;
        let (_, episode) = self.waiting.remove(place)?;
        let of = match episode.appearance.part.as_str() {
            "" => episode.appearance.class.clone(),
            part => format!("{part} of {}", episode.appearance.class),
        };
        let change = |memory: &mut Memory| match succeeded {
            true => memory.keep(episode.clone()),
            false => memory.take_back(&episode.appearance),
        };
        let lost = match self.store.as_ref().map(|store| store.change(change)) {
            Some(Ok(memory)) => {
                self.memory = memory;
                None
            }
            failed => {
                change(&mut self.memory);
                failed.and_then(Result::err).map(|error| error.to_string()).or_else(|| self.unusable.clone())
            }
        };
        let what = if succeeded { "remembered" } else { "taken back" };
        let kept = self.memory.len();
        Some(match lost {
            None => format!("{of}: {what}, {kept} episodes"),
            Some(error) => format!("{of}: {what}, but only until the node ends: {error}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn episode(class: &str) -> Episode {
        let appearance = Appearance {
            class: class.to_owned(),
            part: "handle".to_owned(),
            sides: [0.1, 0.08, 0.08],
            colors: Vec::new(),
        };
        Episode { appearance, skills: BTreeMap::new(), producers: BTreeMap::new(), score: 0.9, episodes: 1 }
    }

    #[test]
    fn only_what_turned_out_well_is_learned_and_it_lasts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.json");
        let open = || Recall::open(Some(Store::new(&path)));
        let (mut recall, said) = open();
        assert_eq!(said, None);
        recall.expect("1".to_owned(), episode("mug"));
        recall.expect("2".to_owned(), episode("pan"));
        assert_eq!(recall.learn("7", true), None);
        assert_eq!(recall.learn("1", true).as_deref(), Some("handle of mug: remembered, 1 episodes"));
        assert_eq!(recall.learn("1", true), None, "an outcome counts once");
        let (mut again, _) = open();
        assert_eq!(again.memory.len(), 1);
        again.expect("3".to_owned(), episode("mug"));
        assert_eq!(again.learn("3", false).as_deref(), Some("handle of mug: taken back, 0 episodes"));
        assert!(open().0.memory.is_empty());
        for number in 0..2 * WAITING {
            again.expect(format!("{number}"), episode("mug"));
        }
        assert_eq!(again.waiting.len(), WAITING);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_and_costs_only_the_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.json");
        std::fs::write(&path, "{\"format\": 1, \"mem").expect("written");
        let (mut recall, said) = Recall::open(Some(Store::new(&path)));
        assert!(said.is_some_and(|said| said.contains("memory.json")));
        recall.expect("1".to_owned(), episode("mug"));
        assert!(recall.learn("1", true).is_some_and(|said| said.contains("only until the node ends")));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "{\"format\": 1, \"mem");
        // A folder stands where the file should be.
        let (mut recall, _) = Recall::open(Some(Store::new(folder.path().join("a/b.json"))));
        std::fs::write(folder.path().join("a"), "no folder").expect("written");
        recall.expect("1".to_owned(), episode("mug"));
        assert!(recall.learn("1", true).is_some_and(|said| said.contains("only until the node ends")));
        assert_eq!(recall.memory.len(), 1);
    }
}
