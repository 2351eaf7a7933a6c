//! What a recording tells: decisions, and what the nodes saw when they made them.

use super::ReplayError;
use crate::trace;
use prehend_bags::{ContainerError, StoredMessage, stored_messages};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ObjectMap, TraceEvent};
use prehend_msgs::rosgraph_msgs::msg::Clock;
use prehend_msgs::sensor_msgs::msg::{Image, JointState};
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_msgs::vision_msgs::msg::Detection2DArray;
use prehend_robots::RobotConfig;
use prehend_ros::{RosError, from_cdr, nanoseconds, to_cdr};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Transforms this far around a frame go with it, nanoseconds: whether the camera rested is looked up 0.12 s before.
const AROUND: i64 = 400_000_000;

/// A message of the robot side, to be sent as it was.
#[derive(Clone, Debug)]
pub struct Sensed {
    /// Its topic.
    pub topic: String,
    /// `PACKAGE/msg/NAME`.
    pub type_name: String,
    /// As it is stored.
    pub data: Vec<u8>,
}

/// What was recorded of a run.
#[derive(Debug, Default)]
pub struct Story {
    /// Trace events in the order of their recording.
    pub events: Vec<TraceEvent>,
    /// Messages of what was in the hand: before which event each was recorded, and the keys in it.
    pub in_hand: Vec<(usize, BTreeSet<String>, Vec<u8>)>,
    /// Fixed transforms, all in one.
    pub fixed: TFMessage,
    /// Camera and detector messages of the frames that were taken into a map, by stamp.
    pub frames: BTreeMap<i64, Vec<Sensed>>,
    /// Frames that were taken into a map and were not recorded whole: those are not in [`frames`](Self::frames).
    pub torn: usize,
    /// Why reading ended early.
    pub damage: Option<ContainerError>,
    moving: Vec<(i64, TFMessage)>,
    joints: Vec<(i64, Vec<u8>)>,
    clocks: Vec<i64>,
}

/// Stamps of the frames that an event says were taken.
pub fn frames_of(event: &TraceEvent) -> Vec<i64> {
    let data = trace::data(event);
    let frames = data["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
    frames.iter().filter_map(Value::as_i64).collect()
}

/// Stamps of the frames that an event says were taken with what a detector of parts saw; `None` when it does not say.
fn with_parts_of(event: &TraceEvent) -> Option<Vec<i64>> {
    let data = trace::data(event);
    Some(data["with_parts"].as_array()?.iter().filter_map(Value::as_i64).collect())
}

/// Whether an event tells of an update of a map.
pub fn is_update(event: &TraceEvent) -> bool {
    event.kind == TraceEvent::KIND_PERCEPTION && event.name == "update" && event.status == "done"
}

/// Whether an event tells of a retrieval.
pub fn is_retrieval(event: &TraceEvent) -> bool {
    event.kind == TraceEvent::KIND_PERCEPTION && event.name == "retrieve"
}

/// Keys of what was in the hand when an event happened; `None` when it does not say.
pub fn in_hand_of(event: &TraceEvent) -> Option<BTreeSet<String>> {
    let data = trace::data(event);
    Some(data["in_hand"].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Whether an event tells that something begins to move.
pub fn is_motion(event: &TraceEvent) -> bool {
    event.kind == TraceEvent::KIND_MOTION && event.status == "started"
}

impl Story {
    /// Reads a recording of `robot`; with `partial` up to its first damage.
    ///
    /// Errors: [`ReplayError::Container`].
    pub fn read(path: &Path, robot: &RobotConfig, partial: bool) -> Result<Self, ReplayError> {
        let mut story = Self::default();
        let mut broken: Option<String> = None;
        let damage = stored_messages(path, partial, &mut |message| {
            let read = take(&mut story, robot, &message);
            broken =
                read.err().map(|error| format!("a message of {} cannot be read: {error}", message.topic));
            broken.is_none()
        })?;
        if let Some(broken) = broken {
            return Err(ReplayError::Nothing(broken));
        }
        story.damage = damage;
        story.read_frames(path, robot, partial)?;
        Ok(story)
    }

    /// Reads the frames that events tell of.
    fn read_frames(&mut self, path: &Path, robot: &RobotConfig, partial: bool) -> Result<(), ReplayError> {
        let wanted: BTreeSet<i64> =
            self.events.iter().filter(|event| is_update(event)).flat_map(frames_of).collect();
        let cameras = cameras_of(robot);
        let frames = &mut self.frames;
        stored_messages(path, partial, &mut |message| {
            if cameras.contains(message.topic)
                && let Ok(header) = from_cdr::<Header>(message.data)
                && wanted.contains(&nanoseconds(&header.stamp))
            {
                frames.entry(nanoseconds(&header.stamp)).or_default().push(Sensed {
                    topic: message.topic.to_owned(),
                    type_name: message.type_name.to_owned(),
                    data: message.data.to_vec(),
                });
            }
            true
        })?;
        // A topic of which nothing was recorded is one that the robot does not have.
        let there: BTreeSet<String> =
            self.frames.values().flatten().map(|sensed| sensed.topic.clone()).collect();
        let parts = robot.detector.parts.as_ref();
        let awaited = there.into_iter().filter(|topic| {
            !parts.is_some_and(|parts| *topic == parts.label_image || *topic == parts.detections)
        });
        let awaited: Vec<String> = awaited.collect();
        self.frames
            .retain(|_, frame| awaited.iter().all(|topic| frame.iter().any(|sensed| sensed.topic == *topic)));
        if let Some(parts) = parts {
            let updates = self.events.iter().filter(|event| is_update(event));
            let told: Option<Vec<Vec<i64>>> = updates.map(with_parts_of).collect();
            let told = told.map(|told| told.into_iter().flatten().collect::<BTreeSet<i64>>());
            let labels = &robot.detector.label_image;
            self.frames.retain(|stamp, frame| {
                let is_told = told.as_ref().map(|told| told.contains(stamp));
                settle_parts(frame, labels, [&parts.label_image, &parts.detections], is_told)
            });
        }
        self.torn = wanted.len() - self.frames.len();
        Ok(())
    }

    /// Transforms around a time, all in one.
    pub fn transforms_around(&self, stamp: i64) -> TFMessage {
        let near = self.moving.iter().filter(|(at, _)| (at - stamp).abs() <= AROUND);
        TFMessage { transforms: near.flat_map(|(_, message)| message.transforms.clone()).collect() }
    }

    /// The newest joint state at a time, as it is stored; else the oldest.
    pub fn joints_at(&self, stamp: i64) -> Option<&[u8]> {
        let before = self.joints.iter().rev().find(|(at, _)| *at <= stamp);
        before.or(self.joints.first()).map(|(_, data)| data.as_slice())
    }

    /// The newest time of the clock before a time, nanoseconds.
    pub fn clock_before(&self, stamp: i64) -> i64 {
        self.clocks.iter().copied().filter(|at| *at < stamp).max().unwrap_or(stamp - 1_000_000)
    }

    /// What was in the hand at an event: what it says itself, else what was recorded last before it. The recording hears what is in the hand and
    /// what happens from two nodes, and not always in the order in which a third one did.
    pub fn in_hand_at(&self, event: usize) -> Option<&[u8]> {
        let before = self.in_hand.iter().take_while(|(number, _, _)| *number <= event).count();
        let (earlier, later) = self.in_hand.split_at(before);
        let found = match self.events.get(event).and_then(in_hand_of) {
            Some(keys) => earlier.iter().rev().chain(later).find(|(_, held, _)| *held == keys),
            None => earlier.last(),
        };
        found.map(|(_, _, data)| data.as_slice())
    }

    /// What lacks for a replay, for people; empty when nothing does.
    pub fn lacks(&self) -> Vec<String> {
        let mut lacks = Vec::new();
        let mut lack = |is_missing: bool, what: &str| {
            if is_missing {
                lacks.push(what.to_owned());
            }
        };
        lack(self.events.is_empty(), "no trace");
        let looked = self.events.iter().any(is_update);
        lack(looked && self.frames.is_empty(), "no frame that was taken into a map");
        lack(self.fixed.transforms.is_empty() && self.moving.is_empty(), "no transforms");
        lack(self.joints.is_empty(), "no joint states");
        lacks
    }
}

/// Makes what a detector of parts saw in a frame what it was when the frame was taken: nothing when it was taken without, by `is_told`, else
/// both messages on `topics`. Whether the frame is whole; a recording that does not tell how it was is taken at what it holds.
fn settle_parts(frame: &mut Vec<Sensed>, labels: &str, topics: [&String; 2], is_told: Option<bool>) -> bool {
    let is_there = topics.iter().all(|topic| frame.iter().any(|sensed| sensed.topic == **topic));
    if is_there && is_told != Some(false) {
        return true;
    }
    frame.retain(|sensed| !topics.contains(&&sensed.topic));
    is_told != Some(true)
        && nothing_seen(frame, labels, topics).is_some_and(|nothing| {
            frame.extend(nothing);
            true
        })
}

/// Messages of a detector of parts that saw none, for a frame with a label image on topic `labels`.
fn nothing_seen(frame: &[Sensed], labels: &str, [image, detections]: [&String; 2]) -> Option<[Sensed; 2]> {
    let labels = frame.iter().find(|sensed| sensed.topic == labels)?;
    let mut blank: Image = from_cdr(&labels.data).ok()?;
    blank.data.fill(0);
    let none = Detection2DArray { header: blank.header.clone(), ..Default::default() };
    let sensed = |topic: &String, type_name: &str, data: Result<Vec<u8>, RosError>| {
        Some(Sensed { topic: topic.clone(), type_name: type_name.to_owned(), data: data.ok()? })
    };
    Some([
        sensed(image, "sensor_msgs/msg/Image", to_cdr(&blank))?,
        sensed(detections, "vision_msgs/msg/Detection2DArray", to_cdr(&none))?,
    ])
}

/// Topics of cameras and detectors.
fn cameras_of(robot: &RobotConfig) -> BTreeSet<&str> {
    let (camera, detector) = (&robot.camera, &robot.detector);
    let parts = detector.parts.iter().flat_map(|parts| [&parts.label_image, &parts.detections]);
    let topics = [&camera.color, &camera.depth, &camera.info, &detector.label_image, &detector.detections];
    topics.into_iter().chain(parts).map(String::as_str).collect()
}

fn take(story: &mut Story, robot: &RobotConfig, message: &StoredMessage<'_>) -> Result<(), RosError> {
    match message.topic {
        topic if names::is_name(topic, names::TRACE) => story.events.push(from_cdr(message.data)?),
        topic if names::is_name(topic, names::IN_HAND) => {
            let map: ObjectMap = from_cdr(message.data)?;
            let keys = map.objects.into_iter().map(|object| object.key).collect();
            story.in_hand.push((story.events.len(), keys, message.data.to_vec()))
        }
        "/tf_static" => story.fixed.transforms.extend(from_cdr::<TFMessage>(message.data)?.transforms),
        "/tf" => {
            let transforms: TFMessage = from_cdr(message.data)?;
            let newest = transforms.transforms.iter().map(|t| nanoseconds(&t.header.stamp)).max();
            story.moving.extend(newest.map(|at| (at, transforms)));
        }
        "/clock" => story.clocks.push(nanoseconds(&from_cdr::<Clock>(message.data)?.clock)),
        topic if topic == robot.joint_states => {
            let state: JointState = from_cdr(message.data)?;
            story.joints.push((nanoseconds(&state.header.stamp), message.data.to_vec()));
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: &str = "/labels";

    fn frame(topics: &[&str]) -> Vec<Sensed> {
        let image = Image { width: 2, height: 1, data: vec![1, 0, 2, 0], ..Default::default() };
        let data = to_cdr(&image).expect("bytes");
        let sensed = |topic: &&str| Sensed {
            topic: (*topic).to_owned(),
            type_name: "sensor_msgs/msg/Image".to_owned(),
            data: data.clone(),
        };
        topics.iter().map(sensed).collect()
    }

    #[test]
    fn what_was_in_the_hand_is_what_the_event_says() {
        let asked = |in_hand: Option<&[&str]>| TraceEvent {
            data: in_hand.map_or_else(String::new, |keys| serde_json::json!({ "in_hand": keys }).to_string()),
            ..Default::default()
        };
        let held = |before: usize, keys: &[&str], byte: u8| {
            (before, keys.iter().map(|key| (*key).to_owned()).collect(), vec![byte])
        };
        let story = Story {
            events: vec![
                asked(None),
                asked(Some(&["cup_0"])),
                asked(Some(&[])),
                asked(None),
                asked(Some(&["x"])),
            ],
            in_hand: vec![held(0, &[], 0), held(2, &["cup_0"], 1), held(2, &[], 2)],
            ..Default::default()
        };
        let found: Vec<Option<&[u8]>> = (0..5).map(|event| story.in_hand_at(event)).collect();
        // Of the second one the message was recorded after it; of the last one none was.
        assert_eq!(found, [Some(&[0][..]), Some(&[1]), Some(&[2]), Some(&[2]), None]);
    }

    #[test]
    fn a_frame_is_shown_with_the_parts_that_it_was_taken_with() {
        let (image, detections) = ("/parts/labels".to_owned(), "/parts/detections".to_owned());
        let whole = [LABELS, &image, &detections];
        let half = [LABELS, &image];
        for (there, is_told, is_whole, is_blank) in [
            (&whole[..], Some(true), true, false),
            (&whole, None, true, false),
            (&whole, Some(false), true, true),
            (&half, Some(false), true, true),
            (&half, None, true, true),
            (&half, Some(true), false, true),
        ] {
            let mut settled = frame(there);
            let found = settle_parts(&mut settled, LABELS, [&image, &detections], is_told);
            assert_eq!(found, is_whole, "{there:?} {is_told:?}");
            if !is_whole {
                continue;
            }
            assert_eq!(settled.len(), 3);
            let parts = settled.iter().find(|sensed| sensed.topic == image).expect("the parts' labels");
            let parts: Image = from_cdr(&parts.data).expect("an image");
            assert_eq!((parts.width, parts.height), (2, 1));
            assert_eq!(parts.data.iter().all(|byte| *byte == 0), is_blank, "{there:?} {is_told:?}");
        }
        assert!(!settle_parts(&mut frame(&[]), LABELS, [&image, &detections], None), "of what size?");
    }
}
