//! Models that are asked beside everything else. What they say comes when it comes; nothing waits for it, and without it what the rules
//! said stands.

use super::keeper::Keeper;
use super::locked;
use prehend_llm::AskError;
use prehend_memory::Action;
use prehend_memory::areas::Told;
use prehend_memory::memory::Proposed;
use prehend_memory::record::Id;
use prehend_perception::{AffordanceProposer, MarkedView, Summariser, Triplet};
use std::collections::{BTreeSet, VecDeque};
use std::mem::Discriminant;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Most views that wait for a model; of more, the oldest keep what the rule said.
const WAITING: usize = 8;
/// Areas whose sentences are written together: each writing orders the whole building anew.
const TOGETHER: usize = 8;
/// Good answers after which trouble is over: a model that talks nonsense now and then is not told of each time.
const STEADY: u32 = 3;
/// Most lists that are kept in mind because the model's answers to them could not be used.
const PASSED: usize = 1000;

/// A view that was kept, on its way to the model.
pub(super) struct Asked {
    pub(super) view: Id,
    /// The thing of each number.
    pub(super) things: Vec<Id>,
    pub(super) marked: MarkedView,
}

/// What waits for the models; clones share it.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Inner>);

#[derive(Default)]
struct Inner {
    views: Mutex<Views>,
    news: Notify,
}

#[derive(Default)]
struct Views {
    waiting: VecDeque<Asked>,
    /// Left out, and not told of yet.
    dropped: u64,
    /// Whether it was told of some since the queue was empty.
    is_told: bool,
}

impl Waiting {
    /// Views were kept: these wait to be asked about, and areas may have changed. Waits for nothing.
    pub(super) fn kept(&self, asked: Vec<Asked>) {
        let mut views = locked(&self.0.views);
        views.waiting.extend(asked);
        while views.waiting.len() > WAITING {
            views.waiting.pop_front();
            views.dropped += 1;
        }
        drop(views);
        self.0.news.notify_one();
    }

    /// The oldest view, and of how many that were left out it is time to tell: when it begins, and all others when it ends.
    fn next(&self) -> Option<(Asked, u64)> {
        let mut views = locked(&self.0.views);
        let asked = views.waiting.pop_front()?;
        let is_last = views.waiting.is_empty();
        let dropped = if is_last || !views.is_told { std::mem::take(&mut views.dropped) } else { 0 };
        views.is_told = !is_last && (views.is_told || dropped > 0);
        Some((asked, dropped))
    }
}

/// What there is to tell people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// What a model said is remembered.
    Done(&'static str, String),
    /// From here on the rules alone decide, and why; or it is so no more.
    Changed(String),
}

/// Why a model's word is not remembered, as far as it is told apart.
#[derive(PartialEq)]
enum Trouble {
    Model(Discriminant<AskError>),
    Store(String),
}

/// Tells of trouble when it begins, when it becomes another one and when it ends, and not each time.
struct Voice {
    what: &'static str,
    trouble: Option<Trouble>,
    /// Times without a word since it began, and good answers in a row.
    count: u64,
    good: u32,
}

impl Voice {
    fn new(what: &'static str) -> Self {
        Self { what, trouble: None, count: 0, good: 0 }
    }

    fn well(&mut self) -> Option<Said> {
        self.good += 1;
        if self.good < STEADY {
            return None;
        }
        self.trouble.take()?;
        let count = std::mem::take(&mut self.count);
        Some(Said::Changed(format!("{}: the model is heard again, after {count} times without", self.what)))
    }

    fn trouble(&mut self, trouble: Trouble, why: &str) -> Option<Said> {
        self.count += 1;
        self.good = 0;
        if self.trouble.as_ref() == Some(&trouble) {
            return None;
        }
        self.trouble = Some(trouble);
        Some(Said::Changed(format!("{}: the rule alone decides: {why}", self.what)))
    }
}

/// What goes on from one question to the next.
struct State {
    proposing: Voice,
    describing: Voice,
    /// Lists that the model answered nonsense to.
    passed: BTreeSet<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            proposing: Voice::new("what can be done with things"),
            describing: Voice::new("what areas are"),
            passed: BTreeSet::new(),
        }
    }
}

/// Asks the models one question after the other.
pub(super) struct Models<P, S, T> {
    pub(super) proposer: Option<P>,
    pub(super) summariser: Option<S>,
    pub(super) keeper: Arc<Mutex<Keeper>>,
    pub(super) waiting: Waiting,
    /// Takes what there is to tell.
    pub(super) tell: T,
}

impl<P, S, T> Models<P, S, T>
where
    P: AffordanceProposer<Error = AskError>,
    S: Summariser<Error = AskError>,
    T: Fn(Said),
{
    /// Asks whenever views were kept, until it is dropped.
    pub(super) async fn run(self) {
        let mut state = State::default();
        loop {
            self.waiting.0.news.notified().await;
            self.views(&mut state).await;
            self.areas(&mut state).await;
        }
    }

    /// Asks about the views that wait.
    async fn views(&self, state: &mut State) {
        let Some(proposer) = &self.proposer else { return };
        let voice = &mut state.proposing;
        while let Some((asked, dropped)) = self.waiting.next() {
            if dropped > 0 {
                let (what, said) = (voice.what, "views came faster than the model answers");
                (self.tell)(Said::Changed(format!("{what}: {said}; {dropped} keep what the rule said")));
            }
            let proposals = match proposer.propose(&asked.marked).await {
                Ok(proposals) => proposals,
                Err(error) => {
                    self.trouble(voice, &error);
                    continue;
                }
            };
            let said: Vec<Proposed> =
                proposals.triplets.iter().filter_map(|one| proposed(one, &asked)).collect();
            let view = asked.view;
            match self.with_keeper(move |keeper| keeper.propose(view, &said)).await {
                Ok(changed) => {
                    voice.well().into_iter().for_each(&self.tell);
                    let dropped = proposals.dropped;
                    let message = format!(
                        "view {view}: {changed} scores with the model's, {dropped} of its entries left out"
                    );
                    (self.tell)(Said::Done("proposed", message));
                }
                Err(why) => self.store_trouble(voice, why),
            }
        }
    }

    /// Asks about the areas that a model has said nothing of, lowest level first, until all are told or the model does not answer. What
    /// it answers nonsense to is not asked again. Views go before.
    async fn areas(&self, state: &mut State) {
        let Some(summariser) = &self.summariser else { return };
        // Each list once, whatever others do to the memory meanwhile.
        let mut asked = state.passed.clone();
        loop {
            let known = asked.clone();
            let untold = self.with_keeper(move |keeper| keeper.untold(&known, TOGETHER)).await;
            let (since, questions) = match untold {
                Ok(untold) => untold,
                Err(why) => return self.store_trouble(&mut state.describing, why),
            };
            if questions.is_empty() {
                return;
            }
            let mut told = Told::new();
            let mut is_lost = false;
            for question in questions {
                self.views(state).await;
                asked.insert(question.things.clone());
                match summariser.summarise(&question).await {
                    Ok(summary) => drop(told.insert(question.things, summary)),
                    Err(error) => {
                        self.trouble(&mut state.describing, &error);
                        is_lost = !matches!(error, AskError::Unusable(_));
                        if is_lost {
                            break;
                        }
                        if state.passed.len() >= PASSED {
                            state.passed.clear();
                        }
                        state.passed.insert(question.things);
                    }
                }
            }
            let count = told.len();
            if count > 0 {
                match self.with_keeper(move |keeper| keeper.tell(since, told)).await {
                    Ok(()) if is_lost => {}
                    Ok(()) => {
                        state.describing.well().into_iter().for_each(&self.tell);
                        (self.tell)(Said::Done("told", format!("{count} areas are described by the model")));
                    }
                    Err(why) => return self.store_trouble(&mut state.describing, why),
                }
            }
            if is_lost {
                return;
            }
        }
    }

    fn trouble(&self, voice: &mut Voice, error: &AskError) {
        let why = format!("the vision-language model gives no answer: {error}");
        voice.trouble(Trouble::Model(std::mem::discriminant(error)), &why).into_iter().for_each(&self.tell);
    }

    fn store_trouble(&self, voice: &mut Voice, why: String) {
        let said = voice.trouble(Trouble::Store(why.clone()), &why);
        said.into_iter().for_each(&self.tell);
    }

    /// Uses the memory on a thread that may wait for the store.
    async fn with_keeper<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Keeper) -> Result<R, String> + Send + 'static,
    ) -> Result<R, String> {
        let keeper = Arc::clone(&self.keeper);
        let done = tokio::task::spawn_blocking(move || work(&mut locked(&keeper))).await;
        done.unwrap_or_else(|_| Err("keeping ended without a result".to_owned()))
    }
}

/// A triplet about the thing that has the number.
fn proposed(triplet: &Triplet, asked: &Asked) -> Option<Proposed> {
    let thing = *asked.things.get(triplet.thing)?;
    let name = asked.marked.affordances.get(triplet.affordance)?;
    Some(Proposed { thing, action: Action::parse(name).ok()?, score: triplet.score })
}

#[cfg(test)]
mod tests;
