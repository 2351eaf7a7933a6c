//! The first goal of a recording to the nodes again, up to the first motion.

use super::ReplayError;
use super::compare::{Row, rows};
use super::stage::{LOOK, Options, Stage};
use super::story::{Story, frames_of, is_motion, is_update};
use crate::node::NodeName;
use crate::trace;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_sim_node::sim::still::StillRobot;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Longest time for the decisions before the first motion.
const LONGEST: Duration = Duration::from_secs(90);
/// Silence of the trace after which nothing more is expected once everything was shown.
const SILENCE: Duration = Duration::from_secs(10);
/// Pause between two sayings of where the joints are: older than 1.5 s nobody believes them.
const JOINTS: Duration = Duration::from_millis(200);
/// After this time a frame that was not taken is shown again: it may have been lost, or nobody asked yet.
const AGAIN: Duration = Duration::from_secs(3);
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
    // Questions about the goal are none of it; how several things compare is told by the map and the tools, too.
    let is_beside = ["asked", "answered", "comparison"].contains(&event.name.as_str());
    !is_beside && (kinds.contains(&event.kind.as_str()) || event.name.ends_with("/candidates"))
}

/// Whether an event tells what the verifier said to a motion.
fn is_permission(event: &TraceEvent) -> bool {
    [TraceEvent::KIND_VERDICT, TraceEvent::KIND_PERMIT].contains(&event.kind.as_str())
}

/// The events of the first goal: from its start up to its first motion or its end.
fn first_goal(story: &Story) -> Option<(String, Vec<TraceEvent>)> {
    let begins = |event: &TraceEvent| event.kind == TraceEvent::KIND_GOAL && event.name == "started";
    let start = story.events.iter().position(begins)?;
    let (text, goal_id) =
        (trace::data(&story.events[start])["text"].as_str()?.to_owned(), &story.events[start].goal_id);
    let mut events = story.events[start..].to_vec();
    // Nodes are heard in another order than they spoke in: a motion comes after what permitted it.
    events.sort_by_key(|event| (event.stamp.sec, event.stamp.nanosec, is_motion(event)));
    let is_end = |event: &TraceEvent| {
        event.kind == TraceEvent::KIND_GOAL && event.name == "finished" && event.goal_id == *goal_id
    };
    let end = events.iter().position(|event| is_motion(event) || is_end(event));
    events.truncate(end.map_or(events.len(), |end| end + usize::from(is_end(&events[end]))));
    Some((text, events))
}

/// Plays the first goal of `story`; `None` when none was recorded from its beginning.
///
/// Errors: [`ReplayError`].
pub async fn goal(story: &Story, options: &Options) -> Result<Option<Played>, ReplayError> {
    let Some((text, recorded)) = first_goal(story) else { return Ok(None) };
    let nodes: [(NodeName, &[&str]); 5] = [
        (NodeName::ObjectMap, &["replay:=true"]),
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
            let told = play(story, &mut stage, &text, &recorded).await;
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

/// A frame to be shown.
#[derive(Clone, Copy, Debug)]
struct Show {
    stamp: i64,
    /// How many updates must have ended before.
    after: usize,
}

async fn play(
    story: &Story,
    stage: &mut Stage,
    text: &str,
    recorded: &[TraceEvent],
) -> Result<Vec<TraceEvent>, ReplayError> {
    let mut shows: VecDeque<Show> = VecDeque::new();
    for (number, update) in recorded.iter().filter(|event| is_update(event)).enumerate() {
        // What was not recorded whole is left out.
        let stamps = frames_of(update).into_iter().filter(|stamp| story.frames.contains_key(stamp));
        shows.extend(stamps.map(|stamp| Show { stamp, after: number }));
    }
    let start = recorded.first().map_or(0, |event| i64::from(event.stamp.sec) * 1_000_000_000);
    let first = shows.front().map_or(start, |show| show.stamp);
    // Joints and transforms are those of the time of the frame that is shown (`now`). The clock stands before that frame, because a
    // request takes only frames that are newer than itself. And it never stands before the last frame that was taken: no request may
    // get that frame again.
    let (mut now, mut clock) = (first, story.clock_before(first));
    stage.say_time(clock);
    stage.say_where(story, first);
    stage.say_joints(story, first);
    stage.wait(JOINTS).await;
    stage.told.clear();
    let client = stage.observer.goal.clone();
    let request = SubmitGoal::Request { text: text.to_owned(), ..Default::default() };
    let submission = tokio::spawn(async move { client.request(request, SUBMIT).await });
    let ends_in_motion =
        !recorded.iter().any(|event| event.kind == TraceEvent::KIND_GOAL && event.name == "finished");
    let begun = Instant::now();
    let mut said: Option<Instant> = None;
    let mut shown: Option<(i64, Instant)> = None;
    let (mut heard, mut heard_at) = (0, Instant::now());
    let end = |event: &TraceEvent| {
        is_motion(event) || (event.kind == TraceEvent::KIND_GOAL && event.name == "finished")
    };
    while begun.elapsed() < LONGEST && !stage.told.iter().any(end) {
        if said.is_none_or(|at| at.elapsed() >= JOINTS) {
            // The robot stands: what it said last is said again, and the clock stands with it.
            stage.say_joints(story, now);
            stage.say_where(story, now);
            stage.say_time(clock);
            said = Some(Instant::now());
        }
        let done = stage.told.iter().filter(|event| is_update(event)).count();
        // The next frame comes when the last one was taken: none is passed over, however slow the machine is.
        while let Some(show) =
            shows.pop_front_if(|show| show.after < done || stage.taken.contains(&show.stamp))
        {
            clock = clock.max(show.stamp);
        }
        if let Some(&Show { stamp, after }) = shows.front() {
            let is_shown = shown.is_some_and(|(last, at)| last == stamp && at.elapsed() < AGAIN);
            if done >= after && !is_shown {
                now = stamp;
                clock = clock.max(story.clock_before(stamp));
                stage.say_time(clock);
                stage.say_where(story, stamp);
                stage.wait(LOOK).await;
                stage.show(story.frames.get(&stamp).map(Vec::as_slice).unwrap_or_default()).await;
                shown = Some((stamp, Instant::now()));
            }
        }
        stage.wait(LOOK).await;
        if stage.told.len() > heard {
            (heard, heard_at) = (stage.told.len(), Instant::now());
        }
        if shows.is_empty() && heard_at.elapsed() > SILENCE {
            break;
        }
    }
    stage.wait(AFTERGLOW).await;
    submission.abort();
    // Whatever the agent would try next is of no interest: the recorded robot had moved. What another node decided before the motion
    // may be heard after it.
    let told = &stage.told;
    let cut = told.iter().position(|event| ends_in_motion && is_motion(event)).unwrap_or(told.len());
    let mut kept: Vec<TraceEvent> = told[..cut].iter().filter(|event| is_decision(event)).cloned().collect();
    for event in told[cut..].iter().filter(|event| is_permission(event)) {
        let alike = |other: &&TraceEvent| other.kind == event.kind && other.name == event.name;
        if kept.iter().filter(alike).count() < recorded.iter().filter(alike).count() {
            kept.push(event.clone());
        }
    }
    Ok(kept)
}
