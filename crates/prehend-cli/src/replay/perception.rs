//! The frames of a recording to the object_map node again, and the questions that it was asked.

use super::ReplayError;
use super::compare::{Row, rows};
use super::stage::{LOOK, Options, Stage};
use super::story::{Story, frames_of, in_hand_of, is_retrieval, is_update};
use crate::node::NodeName;
use crate::trace;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{RetrieveObjects, UpdateMap};
use prehend_msgs::{Service, names};
use prehend_ros::{Client, QosProfile, RosError};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(20);
/// How long the node may wait for a frame that was sent, seconds: then it did not arrive, and is sent again.
const FRAME: f64 = 2.0;
/// How often a frame is sent.
const ATTEMPTS: usize = 8;
/// Until what is in the hand is heard.
const HEARD: Duration = Duration::from_millis(200);

/// Plays every update and retrieval of `story`; gives what came of each.
///
/// Errors: [`ReplayError`].
pub async fn perception(story: &Story, options: &Options) -> Result<Vec<Row>, ReplayError> {
    // One frame for each request: then every frame is the one that was taken, however fast anything is.
    let nodes: [(NodeName, &[&str]); 1] = [(NodeName::ObjectMap, &["frames_per_update:=1", "replay:=true"])];
    let mut stage = Stage::start(options, &nodes, true).await?;
    let played = play(story, &mut stage).await;
    stage.end().await;
    played
}

async fn play(story: &Story, stage: &mut Stage) -> Result<Vec<Row>, ReplayError> {
    let node = &stage.observer.node;
    let services = QosProfile::services();
    let update = node.create_client::<UpdateMap::Service>(names::OBJECT_MAP_UPDATE, services)?;
    let retrieve = node.create_client::<RetrieveObjects::Service>(names::OBJECT_MAP_RETRIEVE, services)?;
    let (mut recorded, mut replayed) = (Vec::new(), Vec::new());
    let mut said: Option<&[u8]> = None;
    for (number, event) in story.events.iter().enumerate() {
        if !is_update(event) && !is_retrieval(event) {
            continue;
        }
        let in_hand = story.in_hand_at(number);
        if in_hand != said {
            say_in_hand(stage, in_hand).await;
            said = in_hand;
        }
        recorded.push(essence(event));
        let mut attempt = 0;
        let came = loop {
            attempt += 1;
            let heard = stage.told.len();
            let asked = if is_update(event) {
                take_frames(story, stage, event, &update).await.map(Some)
            } else {
                ask(stage, event, &retrieve).await.map(|()| None)
            };
            let told = match asked {
                Ok(last) => line(stage, event, last, heard).await,
                Err(error) => {
                    tracing::warn!("{} was not replayed: {error}", event.message);
                    break None;
                }
            };
            // What is in the hand may have been heard after the question, which changes nothing and can be asked again.
            let is_late =
                |told: &TraceEvent| in_hand_of(event).is_some_and(|keys| in_hand_of(told) != Some(keys));
            if attempt == ATTEMPTS || !told.as_ref().is_some_and(is_late) || is_update(event) {
                break told;
            }
            say_in_hand(stage, in_hand).await;
        };
        replayed.extend(came.as_ref().map(essence));
    }
    Ok(rows(&recorded, &replayed))
}

/// Says what is in the hand, and gives it time to be heard.
async fn say_in_hand(stage: &mut Stage, in_hand: Option<&[u8]>) {
    if let Some(in_hand) = in_hand {
        stage.say_in_hand(in_hand);
        stage.wait(HEARD).await;
    }
}

/// The line about `event` among those that are heard after the first `heard`: it may come after its answer.
async fn line(stage: &mut Stage, event: &TraceEvent, last: Option<i64>, heard: usize) -> Option<TraceEvent> {
    let begun = Instant::now();
    loop {
        match line_of(event, last, stage.told.get(heard..).unwrap_or_default()) {
            Some(told) => return Some(told.clone()),
            None if begun.elapsed() > ANSWER => return None,
            None => stage.wait(LOOK).await,
        }
    }
}

/// The line that tells what came of `event`: of an update the one about its last frame, since each of its frames has a line.
fn line_of<'a>(event: &TraceEvent, last: Option<i64>, told: &'a [TraceEvent]) -> Option<&'a TraceEvent> {
    let is_last = |told: &TraceEvent| last.is_none_or(|stamp| frames_of(told).last() == Some(&stamp));
    told.iter().find(|told| told.kind == event.kind && told.name == event.name && is_last(told))
}

/// What an update or a retrieval comes to, however many frames went into it at once.
fn essence(event: &TraceEvent) -> TraceEvent {
    let data = trace::data(event);
    let keys: &[&str] = if is_update(event) { &["scope", "objects"] } else { &["query", "keys", "rejected"] };
    let kept: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), data.get(*key).cloned().unwrap_or(Value::Null))).collect();
    TraceEvent { data: json!(kept).to_string(), ..event.clone() }
}

/// Asks, and listens to the trace until the answer is there.
async fn request<S: Service>(
    stage: &mut Stage,
    client: &Client<S>,
    request: S::Request,
) -> Result<S::Response, RosError> {
    let mut answer = std::pin::pin!(client.request(request, ANSWER));
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            () = stage.wait(LOOK) => {}
        }
    }
}

/// Gives the frames of an update one after the other; the stamp of the last one that was taken.
async fn take_frames(
    story: &Story,
    stage: &mut Stage,
    event: &TraceEvent,
    client: &Client<UpdateMap::Service>,
) -> Result<i64, String> {
    let data = trace::data(event);
    let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let mut taken = None;
    for stamp in frames_of(event) {
        // What was not recorded whole is left out.
        let Some(frame) = story.frames.get(&stamp) else { continue };
        let asked = UpdateMap::Request {
            reset: taken.is_none() && data["reset"].as_bool().unwrap_or(false),
            view: text("view"),
            timeout: FRAME,
            scope: text("scope"),
            gripped: text("gripped"),
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            // The clock stands before the frame, so that the frame is newer than the request whichever comes first.
            stage.say_time(story.clock_before(stamp));
            stage.say_where(story, stamp);
            stage.wait(LOOK).await;
            stage.show(frame).await;
            let answer = request(stage, client, asked.clone()).await.map_err(|error| error.to_string())?;
            let again = [ErrorCode::MAP_NO_FRAME, ErrorCode::MAP_NO_TRANSFORM].contains(&answer.error_code);
            match answer.error_code {
                ErrorCode::SUCCESS => break,
                _ if again && attempt < ATTEMPTS => {}
                _ => return Err(answer.error_message),
            }
        }
        taken = Some(stamp);
    }
    taken.ok_or_else(|| "none of its frames was recorded whole".to_owned())
}

async fn ask(
    stage: &mut Stage,
    event: &TraceEvent,
    client: &Client<RetrieveObjects::Service>,
) -> Result<(), String> {
    let data = trace::data(event);
    let asked = RetrieveObjects::Request {
        query: data["query"].as_str().unwrap_or_default().to_owned(),
        k: data["k"].as_u64().and_then(|k| u32::try_from(k).ok()).unwrap_or(0),
        scope: data["scope"].as_str().unwrap_or_default().to_owned(),
    };
    request(stage, client, asked).await.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(frames: &[i64], node: &str) -> TraceEvent {
        TraceEvent {
            node: node.to_owned(),
            kind: TraceEvent::KIND_PERCEPTION.into(),
            name: "update".into(),
            status: "done".into(),
            data: json!({ "frames": frames }).to_string(),
            ..Default::default()
        }
    }

    /// The answer to the third frame is there and its line is not: that of the second one tells of another map.
    #[test]
    fn the_line_of_an_update_is_that_of_its_last_frame() {
        let recorded = update(&[10, 20, 30], "recorded");
        let mut told = vec![update(&[10], "first"), update(&[20], "second")];
        assert_eq!(line_of(&recorded, Some(30), &told), None);
        told.push(TraceEvent { name: "retrieve".into(), ..update(&[], "another") });
        assert_eq!(line_of(&recorded, Some(30), &told), None);
        told.push(update(&[30], "third"));
        assert_eq!(line_of(&recorded, Some(30), &told).map(|line| line.node.as_str()), Some("third"));
        let asked = TraceEvent { name: "retrieve".into(), ..update(&[], "recorded") };
        assert_eq!(line_of(&asked, None, &told).map(|line| line.node.as_str()), Some("another"));
    }
}
