//! Camera and detector messages of one moment, joined by their stamps.

use prehend_convert as convert;
use prehend_convert::ConvertError;
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_msgs::vision_msgs::msg::Detection2DArray;
use prehend_perception::{Detection, LabelImage, names};
use prehend_ros::nanoseconds;
use std::collections::BTreeMap;

/// Incomplete frames that are kept; older ones lost a message.
const KEPT: usize = 8;

/// One message of the camera or the detector.
pub(super) enum FrameMessage {
    Color(Image),
    Depth(Image),
    Info(CameraInfo),
    Labels(Image),
    Detections(Detection2DArray),
    /// Masks of parts.
    RegionLabels(Image),
    RegionDetections(Detection2DArray),
}

/// Messages with one stamp: three of the camera, and two of the detector if there is one. Those of a detector of parts are here if they came
/// before the others. Nobody waits for them, since things are known without their parts.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) stamp: Time,
    pub(super) color: Image,
    pub(super) depth: Image,
    pub(super) info: CameraInfo,
    /// What the detector says, on a robot that has one.
    pub(super) detected: Option<(Image, Detection2DArray)>,
    pub(super) parts: Option<(Image, Detection2DArray)>,
}

#[derive(Default)]
struct Partial {
    color: Option<Image>,
    depth: Option<Image>,
    info: Option<CameraInfo>,
    labels: Option<Image>,
    detections: Option<Detection2DArray>,
    part_labels: Option<Image>,
    part_detections: Option<Detection2DArray>,
}

/// Joins messages to frames.
#[derive(Default)]
pub(super) struct Joiner {
    partial: BTreeMap<i64, Partial>,
    /// Whether frames are whole without a detector's messages.
    without_detector: bool,
    /// Whether frames are whole only with the messages of a detector of parts.
    with_parts: bool,
    /// Number of messages so far: colour, depth, info, labels, detections, part labels, part detections.
    pub(super) heard: [u64; 7],
}

impl Joiner {
    /// Waits for the camera's messages, and for those of a detector when there is one.
    pub(super) fn new(has_detector: bool) -> Self {
        Self { without_detector: !has_detector, ..Self::default() }
    }

    /// Waits for the messages of a detector of parts, too.
    pub(super) fn with_parts(self) -> Self {
        Self { with_parts: true, ..self }
    }

    /// Takes a message; gives the frame it completes.
    pub(super) fn take(&mut self, part: FrameMessage) -> Option<Frame> {
        let (slot, stamp) = match &part {
            FrameMessage::Color(m) => (0, m.header.stamp.clone()),
            FrameMessage::Depth(m) => (1, m.header.stamp.clone()),
            FrameMessage::Info(m) => (2, m.header.stamp.clone()),
            FrameMessage::Labels(m) => (3, m.header.stamp.clone()),
            FrameMessage::Detections(m) => (4, m.header.stamp.clone()),
            FrameMessage::RegionLabels(m) => (5, m.header.stamp.clone()),
            FrameMessage::RegionDetections(m) => (6, m.header.stamp.clone()),
        };
        self.heard[slot] += 1;
        let key = nanoseconds(&stamp);
        let partial = self.partial.entry(key).or_default();
        match part {
            FrameMessage::Color(m) => partial.color = Some(m),
            FrameMessage::Depth(m) => partial.depth = Some(m),
            FrameMessage::Info(m) => partial.info = Some(m),
            FrameMessage::Labels(m) => partial.labels = Some(m),
            FrameMessage::Detections(m) => partial.detections = Some(m),
            FrameMessage::RegionLabels(m) => partial.part_labels = Some(m),
            FrameMessage::RegionDetections(m) => partial.part_detections = Some(m),
        }
        let complete = partial.color.is_some()
            && partial.depth.is_some()
            && partial.info.is_some()
            && (self.without_detector || partial.labels.is_some() && partial.detections.is_some())
            && (!self.with_parts || partial.part_labels.is_some() && partial.part_detections.is_some());
        if !complete {
            while self.partial.len() > KEPT {
                self.partial.pop_first();
            }
            return None;
        }
        let whole = self.partial.remove(&key)?;
        // What is older and not complete by now never will be.
        self.partial.retain(|other, _| *other > key);
        Some(Frame {
            stamp,
            color: whole.color?,
            depth: whole.depth?,
            info: whole.info?,
            detected: whole.labels.zip(whole.detections),
            parts: whole.part_labels.zip(whole.part_detections),
        })
    }

    /// Which of the kinds of messages never came since `before`; `topics` are in the order of [`Joiner::heard`].
    pub(super) fn silent(&self, before: &[u64; 7], topics: &[&str]) -> Vec<String> {
        let silent = topics.iter().enumerate().filter(|(i, _)| self.heard.get(*i) == before.get(*i));
        silent.map(|(_, topic)| (*topic).to_owned()).collect()
    }
}

/// Label image of a message.
pub(super) fn label_image(msg: &Image) -> Result<LabelImage, ConvertError> {
    Ok(LabelImage {
        width: msg.width as usize,
        height: msg.height as usize,
        labels: convert::u16_image_from_msg(msg)?,
    })
}

/// Detections of a message; those whose id is no label are left out, and what is no name counts as none (see [`names::clean`]).
pub(super) fn detections(msg: &Detection2DArray) -> Vec<Detection> {
    msg.detections
        .iter()
        .filter_map(|detection| {
            let label: u16 = detection.id.trim().parse().ok()?;
            let best = detection
                .results
                .iter()
                .filter(|r| r.hypothesis.score.is_finite())
                .max_by(|a, b| a.hypothesis.score.total_cmp(&b.hypothesis.score));
            let (class_name, score) = best.map_or((String::new(), 0.0), |r| {
                let hypothesis = &r.hypothesis;
                (names::clean(&hypothesis.class_id), hypothesis.score)
            });
            (label > 0).then_some(Detection { label, class_name, score })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::std_msgs::msg::Header;

    fn header(sec: i32) -> Header {
        Header { stamp: Time { sec, nanosec: 0 }, frame_id: "camera".to_owned() }
    }

    fn parts(sec: i32) -> Vec<FrameMessage> {
        let image = || Image { header: header(sec), ..Default::default() };
        vec![
            FrameMessage::Detections(Detection2DArray { header: header(sec), ..Default::default() }),
            FrameMessage::Color(image()),
            FrameMessage::Labels(image()),
            FrameMessage::Info(CameraInfo { header: header(sec), ..Default::default() }),
            FrameMessage::Depth(image()),
        ]
    }

    #[test]
    fn a_frame_is_complete_with_its_fifth_message_in_any_order() {
        let mut joiner = Joiner::default();
        let mut late = parts(1);
        let last = late.pop();
        assert!(late.into_iter().all(|part| joiner.take(part).is_none()));
        let stamps: Vec<i32> =
            parts(2).into_iter().filter_map(|part| joiner.take(part)).map(|frame| frame.stamp.sec).collect();
        assert_eq!(stamps, [2]);
        assert!(last.and_then(|part| joiner.take(part)).is_none(), "the older frame was given up");
    }

    #[test]
    fn without_a_detector_the_cameras_messages_are_a_frame() {
        let mut joiner = Joiner::new(false);
        let camera = parts(1)
            .into_iter()
            .filter(|part| !matches!(part, FrameMessage::Labels(_) | FrameMessage::Detections(_)));
        let frames: Vec<Frame> = camera.filter_map(|part| joiner.take(part)).collect();
        assert_eq!(frames.len(), 1);
        assert!(frames[0].detected.is_none());
    }

    #[test]
    fn parts_go_with_a_frame_when_they_came_first_and_are_not_waited_for() {
        let mut joiner = Joiner::default();
        let labels = Image { header: header(1), ..Default::default() };
        assert!(joiner.take(FrameMessage::RegionLabels(labels)).is_none());
        let detections = Detection2DArray { header: header(1), ..Default::default() };
        assert!(joiner.take(FrameMessage::RegionDetections(detections)).is_none());
        let with: Vec<bool> = parts(1)
            .into_iter()
            .chain(parts(2))
            .filter_map(|part| joiner.take(part))
            .map(|frame| frame.parts.is_some())
            .collect();
        assert_eq!(with, [true, false]);
    }

    #[test]
    fn a_replay_waits_for_the_parts_whenever_they_come() {
        let mut joiner = Joiner::new(true).with_parts();
        assert!(parts(1).into_iter().all(|part| joiner.take(part).is_none()));
        let labels = Image { header: header(1), ..Default::default() };
        assert!(joiner.take(FrameMessage::RegionLabels(labels)).is_none());
        let detections = Detection2DArray { header: header(1), ..Default::default() };
        let frame = joiner.take(FrameMessage::RegionDetections(detections)).expect("whole");
        assert!(frame.parts.is_some());
    }

    #[test]
    fn incomplete_frames_do_not_pile_up_and_silence_is_named() {
        let mut joiner = Joiner::default();
        let before = joiner.heard;
        for sec in 0..100 {
            for part in parts(sec).into_iter().skip(1) {
                assert!(joiner.take(part).is_none());
            }
        }
        assert!(joiner.partial.len() <= KEPT);
        assert_eq!(joiner.silent(&before, &["c", "d", "i", "l", "detections"]), ["detections"]);
    }
}
