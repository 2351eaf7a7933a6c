//! The first goal of a recording to the nodes again, up to the first motion.

use super::ReplayError;
use super::compare::{Row, rows};
use super::stage::{LOOK, Options, Stage};
use super::story::{Story, frames_of, is_motion, is_update};
use crate::node::NodeName;
use crate::trace;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_nodes::sim::still::StillRobot;
use std::time::{Duration, Instant};

/// Longest time for the decisions before the first motion.
const LONGEST: Duration = Duration::from_secs(90);
/// Silence of the trace after which nothing more is expected once everything was shown.
const SILENCE: Duration = Duration::from_secs(10);
/// Pause between two sayings of where the joints are: older than 1.5 s nobody believes them.
const JOINTS: Duration = Duration::from_millis(200);
/// Least pause between two frames of an update, and how much longer than in the recording one may take.
const FRAME: Duration = Duration::from_millis(400);
/// See [`FRAME`].
const SLOWER: f64 = 2.0;
/// Longest time until the agent says whether it takes the goal.
const SUBMIT: Duration = Duration::from_secs(20);
/// The decisions that come late are waited for.
const AFTERGLOW: Duration = Duration::from_millis(500);
/// Seed of the plans.
const SEED: u64 = 1;

/// What came of the goal.
#[derive(Clone, Debug)]
pub struct Played {
    /// The goal, in words.
    pub goal: String,
    /// Each decision.
    pub rows: Vec<Row>,
    /// How often something was to be moved, and was refused.
    pub refused: u64,
}

/// What is compared of a goal: what the nodes decide, and not how the arm moves.
fn is_decision(event: &TraceEvent) -> bool {
    let kinds = [
        TraceEvent::KIND_GOAL,
        TraceEvent::KIND_TOOL,
        TraceEvent::KIND_EVIDENCE,
        TraceEvent::KIND_VERDICT,
        TraceEvent::KIND_PERMIT,
        TraceEvent::KIND_PERCEPTION,
    ];
    kinds.contains(&event.kind.as_str()) || event.name.ends_with("/candidates")
}

/// The events of the first goal: from its start up to its first motion or its end.
fn first_goal(story: &Story) -> Option<(String, &[TraceEvent])> {
    let begins = |event: &TraceEvent| event.kind == TraceEvent::KIND_GOAL && event.name == "started";
    let start = story.events.iter().position(begins)?;
    let (text, goal_id) =
        (trace::data(&story.events[start])["text"].as_str()?.to_owned(), &story.events[start].goal_id);
    let events = &story.events[start..];
    let is_end = |event: &TraceEvent| {
        event.kind == TraceEvent::KIND_GOAL && event.name == "finished" && event.goal_id == *goal_id
    };
    let end = events.iter().position(|event| is_motion(event) || is_end(event));
    let end = end.map_or(events.len(), |end| end + usize::from(is_end(&events[end])));
    Some((text, &events[..end]))
}

/// Plays the first goal of `story`; `None` when none was recorded from its beginning.
///
/// Errors: [`ReplayError`].
pub async fn goal(story: &Story, options: &Options) -> Result<Option<Played>, ReplayError> {
    let Some((text, recorded)) = first_goal(story) else { return Ok(None) };
    let nodes: [(NodeName, &[&str]); 5] = [
        (NodeName::ObjectMap, &[]),
        (NodeName::Affordance, &[]),
        (NodeName::Verifier, &[]),
        // The robot that stands has no driver in front of it.
        (NodeName::Skills, &["arming:=off"]),
        (NodeName::Agent, &[]),
    ];
    let mut stage = Stage::start(options, &nodes, false).await?;
    let still = StillRobot::start(&stage.observer.node, &stage.robot, SEED);
    let played = match still {
        Ok(still) => {
            let told = play(story, &mut stage, &text, recorded).await;
            told.map(|told| {
                let decisions = recorded.iter().filter(|event| is_decision(event));
                Some(Played { goal: text, rows: rows(decisions, &told), refused: still.refused() })
            })
        }
        Err(error) => Err(error.into()),
    };
    stage.end().await;
    played
}

async fn play(
    story: &Story,
    stage: &mut Stage,
    text: &str,
    recorded: &[TraceEvent],
) -> Result<Vec<TraceEvent>, ReplayError> {
    let updates: Vec<&TraceEvent> = recorded.iter().filter(|event| is_update(event)).collect();
    // What is shown next: a frame, how long after the one before, and how many updates must have ended.
    let mut shows: Vec<(i64, Duration, usize)> = Vec::new();
    for (number, update) in updates.iter().enumerate() {
        let frames = frames_of(update);
        let seconds = trace::data(update)["seconds"].as_f64().unwrap_or(0.0).clamp(0.0, 10.0);
        let pause = Duration::from_secs_f64(SLOWER * seconds / frames.len().max(1) as f64).max(FRAME);
        shows.extend(frames.into_iter().map(|stamp| (stamp, pause, number)));
    }
    let start = recorded.first().map_or(0, |event| i64::from(event.stamp.sec) * 1_000_000_000);
    let first = shows.first().map_or(start, |(stamp, _, _)| *stamp);
    let mut now = first;
    stage.say_time(story.clock_before(first));
    stage.say_where(story, first);
    stage.say_joints(story, first);
    stage.wait(JOINTS).await;
    stage.told.clear();
    let client = stage.observer.goal.clone();
    let request = SubmitGoal::Request { text: text.to_owned() };
    let submission = tokio::spawn(async move { client.request(request, SUBMIT).await });
    let ends_in_motion =
        !recorded.iter().any(|event| event.kind == TraceEvent::KIND_GOAL && event.name == "finished");
    let mut shows = shows.into_iter().peekable();
    let begun = Instant::now();
    let (mut said, mut shown): (Option<Instant>, Option<Instant>) = (None, None);
    let (mut heard, mut heard_at) = (0, Instant::now());
    let end = |event: &TraceEvent| {
        is_motion(event) || (event.kind == TraceEvent::KIND_GOAL && event.name == "finished")
    };
    while begun.elapsed() < LONGEST && !stage.told.iter().any(end) {
        if said.is_none_or(|at| at.elapsed() >= JOINTS) {
            // The robot stands: what it said last is said again, and the clock stands with it.
            stage.say_joints(story, now);
            stage.say_time(story.clock_before(now));
            said = Some(Instant::now());
        }
        let done = stage.told.iter().filter(|event| is_update(event)).count();
        let is_due = |(_, pause, before): &(i64, Duration, usize)| {
            done >= *before && shown.is_none_or(|at| at.elapsed() >= *pause)
        };
        if let Some((stamp, _, number)) = shows.next_if(is_due) {
            if first_of(&updates, number) == Some(stamp) {
                now = stamp;
                stage.say_time(story.clock_before(stamp));
            }
            stage.say_where(story, stamp);
            stage.wait(LOOK).await;
            stage.show(story.frames.get(&stamp).map(Vec::as_slice).unwrap_or_default());
            shown = Some(Instant::now());
        }
        stage.wait(LOOK).await;
        if stage.told.len() > heard {
            (heard, heard_at) = (stage.told.len(), Instant::now());
        }
        if shows.peek().is_none() && heard_at.elapsed() > SILENCE {
            break;
        }
    }
    stage.wait(AFTERGLOW).await;
    submission.abort();
    // Whatever the agent would try next is of no interest: the recorded robot had moved.
    let cut =
        stage.told.iter().position(|event| ends_in_motion && is_motion(event)).unwrap_or(stage.told.len());
    Ok(stage.told[..cut].iter().filter(|event| is_decision(event)).cloned().collect())
}

/// The first frame of an update.
fn first_of(updates: &[&TraceEvent], number: usize) -> Option<i64> {
    updates.get(number).and_then(|update| frames_of(update).first().copied())
}
