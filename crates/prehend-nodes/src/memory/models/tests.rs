//! Models that answer, are silent, slow, or talk nonsense, over a memory in a file. What they say over HTTP is tested in `prehend-llm`.

use super::*;
use crate::memory::keeper::Kept;
use crate::memory::looks::tests::new_view;
use crate::memory::marks::marked;
use prehend_llm::AnswerFault;
use prehend_memory::record::Thing;
use prehend_memory::store::Forget;
use prehend_perception::{AreaQuestion, Proposals, Summary};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// No test waits for longer.
const LONGEST: Duration = Duration::from_secs(60);
const BUSY: AskError = AskError::Failing { status: 503, attempts: 1 };
const NONSENSE: AskError = AskError::Unusable(AnswerFault::UnknownRoom);

/// Answers what the script says, one after the other, the last one again and again; each takes a turn. Clones share it.
#[derive(Clone)]
struct Scripted<A>(Arc<Script<A>>);

struct Script<A> {
    answers: Mutex<VecDeque<Result<A, AskError>>>,
    turns: Semaphore,
    asked: Mutex<Vec<String>>,
}

impl<A: Clone> Scripted<A> {
    fn new(answers: &[Result<A, AskError>]) -> Self {
        Self(Arc::new(Script {
            answers: Mutex::new(answers.iter().cloned().collect()),
            turns: Semaphore::new(1000),
            asked: Mutex::default(),
        }))
    }

    async fn answer(&self, asked: String) -> Result<A, AskError> {
        locked(&self.0.asked).push(asked);
        self.0.turns.acquire().await.unwrap_or_else(|_| panic!("it is never closed")).forget();
        let mut answers = locked(&self.0.answers);
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.unwrap_or(Err(BUSY))
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.0.asked))
    }
}

impl AffordanceProposer for Scripted<Proposals> {
    type Error = AskError;

    async fn propose(&self, view: &MarkedView) -> Result<Proposals, AskError> {
        self.answer(view.things.iter().map(|thing| thing.name.as_str()).collect::<Vec<_>>().join(" ")).await
    }
}

impl Summariser for Scripted<Summary> {
    type Error = AskError;

    async fn summarise(&self, area: &AreaQuestion) -> Result<Summary, AskError> {
        self.answer(area.things.clone()).await
    }
}

/// Scores for the things of a view: pick of the first, and so on.
fn picks(scores: &[f64]) -> Result<Proposals, AskError> {
    let triplet = |(thing, score): (usize, &f64)| Triplet { thing, affordance: 0, score: *score };
    Ok(Proposals { triplets: scores.iter().enumerate().map(triplet).collect(), dropped: 0 })
}

fn sentence(text: &str) -> Result<Summary, AskError> {
    Ok(Summary { text: text.to_owned(), room: None })
}

type Tell = Box<dyn Fn(Said) + Send + Sync>;
type Scripts = Models<Scripted<Proposals>, Scripted<Summary>, Tell>;

/// A memory in a file, the models over it, and what they tell.
struct Bench {
    _folder: TempDir,
    keeper: Arc<Mutex<Keeper>>,
    waiting: Waiting,
    said: UnboundedReceiver<Said>,
    sender: UnboundedSender<Said>,
    time: f64,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let keeper = Arc::new(Mutex::new(Keeper::in_file(&folder.path().join("home.db"))));
        let (sender, said) = unbounded_channel();
        Self { _folder: folder, keeper, waiting: Waiting::default(), said, sender, time: 0.0 }
    }

    fn models(
        &self,
        proposer: Option<&Scripted<Proposals>>,
        summariser: Option<&Scripted<Summary>>,
    ) -> Scripts {
        let sender = self.sender.clone();
        Models {
            proposer: proposer.cloned(),
            summariser: summariser.cloned(),
            keeper: Arc::clone(&self.keeper),
            waiting: self.waiting.clone(),
            tell: Box::new(move |said| drop(sender.send(said))),
        }
    }

    /// A view of these things is kept, and waits to be asked about.
    fn see(&mut self, things: &[(&str, f64)]) -> Vec<Id> {
        self.time += 1.0;
        let mut view = new_view(things);
        let (kept, result) = locked(&self.keeper).observe(std::iter::once(&mut view.look), self.time);
        assert_eq!(result, Ok(()));
        let Kept { mut noted } = kept;
        let noted = noted.remove(0);
        let (marked, _) = marked(&view, 9).unwrap_or_else(|| panic!("nothing is shown"));
        self.waiting.kept(vec![Asked { view: noted.view, things: noted.things.clone(), marked }]);
        noted.things
    }

    fn thing(&self, id: Id) -> Option<Thing> {
        let mut keeper = locked(&self.keeper);
        let memory = keeper.memory().unwrap_or_else(|error| panic!("{error}"));
        memory.store().things(&[id]).unwrap_or_else(|error| panic!("{error}")).pop()
    }

    fn pick(&self, id: Id) -> f64 {
        self.thing(id).map_or(f64::NAN, |thing| thing.proposed[&Action::Pick])
    }

    fn summaries(&self) -> Vec<String> {
        let mut keeper = locked(&self.keeper);
        let memory = keeper.memory().unwrap_or_else(|error| panic!("{error}"));
        let areas = memory.store().areas_of("home").unwrap_or_else(|error| panic!("{error}"));
        areas.into_iter().map(|area| area.summary).collect()
    }

    /// Lines about trouble, of what was told so far.
    fn troubles(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(said) = self.said.try_recv() {
            if let Said::Changed(line) = said {
                lines.push(line);
            }
        }
        lines
    }
}

#[tokio::test]
async fn a_view_is_kept_at_once_and_what_the_model_says_comes_later() {
    let mut bench = Bench::new();
    let proposer = Scripted::new(&[picks(&[0.25])]);
    proposer.0.turns.forget_permits(1000);
    let running = tokio::spawn(bench.models(Some(&proposer), None).run());
    let mug = bench.see(&[("mug", 0.1)])[0];
    let by_rule = bench.pick(mug);
    assert!(by_rule > 0.5, "the rule's score stands while the model thinks: {by_rule}");
    proposer.0.turns.add_permits(1);
    let said = tokio::time::timeout(LONGEST, bench.said.recv()).await;
    assert!(matches!(said, Ok(Some(Said::Done("proposed", _)))), "{said:?}");
    assert!((bench.pick(mug) - (0.25 * by_rule).sqrt()).abs() < 1e-9);
    assert_eq!(proposer.asked(), ["mug"]);
    running.abort();
}

#[tokio::test]
async fn what_was_forgotten_while_the_model_thought_stays_forgotten() {
    let mut bench = Bench::new();
    let proposer = Scripted::new(&[picks(&[0.25, 0.25])]);
    let things = bench.see(&[("mug", 0.1), ("fork", 0.1)]);
    let fork = bench.pick(things[1]);
    {
        let mut keeper = locked(&bench.keeper);
        let memory = keeper.memory().unwrap_or_else(|error| panic!("{error}"));
        memory.forget(&Forget::Thing(things[0])).unwrap_or_else(|error| panic!("{error}"));
    }
    bench.models(Some(&proposer), None).views(&mut State::default()).await;
    assert_eq!(bench.thing(things[0]), None);
    assert!((bench.pick(things[1]) - (0.25 * fork).sqrt()).abs() < 1e-9, "the other one has its score");
}

#[tokio::test]
async fn a_server_that_fails_costs_a_line_when_it_begins_changes_and_ends() {
    let mut bench = Bench::new();
    let slow = AskError::TimedOut { seconds: 1.0 };
    let mut script = vec![Err(BUSY), Err(BUSY), Err(AskError::Failing { status: 500, attempts: 3 })];
    script.extend([Err(NONSENSE), Err(AskError::Unusable(AnswerFault::NoLine)), Err(slow)]);
    // One good answer among bad ones is no change.
    script.extend([picks(&[0.9]), Err(AskError::TimedOut { seconds: 1.0 }), picks(&[0.9])]);
    let proposer = Scripted::new(&script);
    let models = bench.models(Some(&proposer), None);
    let mut state = State::default();
    let mut lines = Vec::new();
    for number in 0..14 {
        let things = bench.see(&[("mug", 0.1)]);
        let before = bench.pick(things[0]);
        models.views(&mut state).await;
        assert_eq!(proposer.asked().len(), 1, "each view once");
        if number < 6 {
            assert_eq!(bench.pick(things[0]).to_bits(), before.to_bits(), "the rule's score stands");
        }
        lines.extend(bench.troubles());
    }
    assert_eq!(lines.len(), 4, "{lines:#?}");
    let parts = ["status 503", "cannot be used", "no answer within", "heard again, after 7 times"];
    assert!(lines.iter().zip(parts).all(|(line, part)| line.contains(part)), "{lines:#?}");
}

#[tokio::test]
async fn a_model_that_is_slower_than_views_come_is_asked_about_the_newest() {
    let mut bench = Bench::new();
    let names: Vec<String> = (0..WAITING + 12).map(|number| format!("thing{number}")).collect();
    for name in &names {
        bench.see(&[(name, 0.1)]);
    }
    let proposer = Scripted::new(&[picks(&[0.9])]);
    bench.models(Some(&proposer), None).views(&mut State::default()).await;
    assert_eq!(proposer.asked(), names[12..]);
    let lines = bench.troubles();
    assert!(lines.len() == 1 && lines[0].contains("; 12 keep"), "{lines:?}");
}

#[tokio::test]
async fn areas_are_told_once_and_asked_again_when_they_change() {
    let mut bench = Bench::new();
    let summariser = Scripted::new(&[sentence("Where tea is made.")]);
    let models = bench.models(None, Some(&summariser));
    let mut state = State::default();
    bench.see(&[("mug", 0.1)]);
    assert!(bench.summaries().iter().all(|summary| summary == "red mug"), "the rule's, until then");
    models.areas(&mut state).await;
    assert_eq!(summariser.asked(), ["red mug"], "zone, area and building have one list");
    assert!(bench.summaries().iter().all(|summary| summary == "Where tea is made."));
    bench.see(&[("mug", 0.1)]);
    models.areas(&mut state).await;
    assert_eq!(summariser.asked(), [""; 0], "nothing changed");
    assert!(bench.summaries().iter().all(|summary| summary == "Where tea is made."));
    bench.see(&[("mug", 0.1), ("fork", 0.1)]);
    models.areas(&mut state).await;
    assert_eq!(summariser.asked(), ["red mug, red fork"]);
    assert_eq!(bench.troubles(), [""; 0]);
}

#[tokio::test]
async fn nonsense_is_not_asked_for_again_and_a_server_that_is_away_is() {
    let mut bench = Bench::new();
    let summariser = Scripted::new(&[Err(NONSENSE), Err(BUSY), Err(BUSY), sentence("A place.")]);
    let models = bench.models(None, Some(&summariser));
    let mut state = State::default();
    bench.see(&[("mug", 0.1)]);
    models.areas(&mut state).await;
    models.areas(&mut state).await;
    assert_eq!(summariser.asked(), ["red mug"], "once is enough");
    bench.see(&[("mug", 0.1), ("fork", 0.1)]);
    models.areas(&mut state).await;
    models.areas(&mut state).await;
    assert!(bench.summaries().iter().all(|summary| summary == "red mug, red fork"), "the rule stands");
    assert_eq!(bench.troubles().len(), 2, "one for each kind of trouble");
    models.areas(&mut state).await;
    assert_eq!(summariser.asked(), ["red mug, red fork"; 3], "when something was kept, or it is asked again");
    assert!(bench.summaries().iter().all(|summary| summary == "A place."));
}

#[tokio::test]
async fn a_sentence_that_was_asked_for_before_something_was_forgotten_is_not_taken() {
    let mut bench = Bench::new();
    bench.see(&[("mug", 0.1)]);
    let mut keeper = locked(&bench.keeper);
    let (since, questions) = keeper.untold(&BTreeSet::new(), 9).unwrap_or_else(|error| panic!("{error}"));
    let told = |text: &str| -> Told {
        let summary = Summary { text: text.to_owned(), room: None };
        questions.iter().map(|question| (question.things.clone(), summary.clone())).collect()
    };
    let request = prehend_msgs::prehend_interfaces::srv::WriteMemory::Request {
        what: "forget_before".to_owned(),
        ..Default::default()
    };
    assert_eq!(keeper.write(&request, 9.0).error_message, "");
    assert_eq!(keeper.tell(since, told("It tells of what is gone.")), Ok(()));
    drop(keeper);
    assert!(bench.summaries().iter().all(|summary| summary == "red mug"));
    assert_eq!(locked(&bench.keeper).tell(since + 1, told("A place.")), Ok(()));
    assert!(bench.summaries().iter().all(|summary| summary == "A place."), "one that was asked for later is");
}
