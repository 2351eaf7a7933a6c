//! The second reading of a bag: the pictures of the keyframes.

use super::{BagError, Recording};
use crate::container::{ContainerError, Halt, Item, Message};
use crate::pairing::Side;
use crate::picture::{FrameFault, FrameParts, Picture, frame_of};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_recording::RecordedFrame;
use std::collections::{BTreeMap, HashMap};

impl Recording {
    /// Reads the keyframes in the order of their times and gives each to `take`; its name is its time in seconds. Stops at the first
    /// error. When what is before a damage is used, the damage is returned.
    ///
    /// Errors: [`BagError::Container`], [`BagError::Frame`], and those of `take`.
    pub fn frames<E: From<BagError>>(
        &self,
        mut take: impl FnMut(RecordedFrame) -> Result<(), E>,
    ) -> Result<Option<ContainerError>, E> {
        let mut reading = Reading::of(self);
        let visited = self.bag.visit::<Failed<E>>(self.partial, &mut |item| match item {
            Item::Topic(_) => Ok(()),
            Item::Message(message) => reading.message(&message, &mut take),
        });
        visited.map_err(|Failed(error)| error)
    }

    /// The calibration that holds at a time.
    fn info_at(&self, stamp: i64) -> Option<&CameraInfo> {
        let after = self.infos.partition_point(|(from, _)| *from <= stamp);
        self.infos.get(after.saturating_sub(1)).map(|(_, info)| info)
    }
}

/// The error of whoever takes the frames; what is wrong with the files becomes one by way of [`BagError`].
struct Failed<E>(E);

impl<E: From<BagError>> From<ContainerError> for Failed<E> {
    fn from(error: ContainerError) -> Self {
        Self(BagError::from(error).into())
    }
}

/// The second reading of a bag: pictures wait until both of a keyframe and all before it are there.
struct Reading<'a> {
    recording: &'a Recording,
    /// Keyframes by the number of their colour and depth message.
    wanted: [HashMap<usize, usize>; 2],
    /// Messages of colour and depth that have come.
    come: [usize; 2],
    waiting: BTreeMap<usize, [Option<Picture>; 2]>,
    /// The keyframe that is given next.
    next: usize,
}

impl<'a> Reading<'a> {
    fn of(recording: &'a Recording) -> Self {
        let numbered = || recording.keyframes.iter().enumerate();
        let wanted = [
            numbered().map(|(place, frame)| (frame.color, place)).collect(),
            numbered().map(|(place, frame)| (frame.depth, place)).collect(),
        ];
        Self { recording, wanted, come: [0; 2], waiting: BTreeMap::new(), next: 0 }
    }

    fn message<E: From<BagError>>(
        &mut self,
        message: &Message<'_>,
        take: &mut impl FnMut(RecordedFrame) -> Result<(), E>,
    ) -> Result<(), Halt<Failed<E>>> {
        let topics = &self.recording.topics;
        let side = match &message.topic.name {
            name if *name == topics.color => Side::Color,
            name if *name == topics.depth => Side::Depth,
            _ => return Ok(()),
        } as usize;
        let number = self.come[side];
        self.come[side] += 1;
        if let Some(place) = self.wanted[side].get(&number) {
            self.waiting.entry(*place).or_default()[side] = Some(Picture::decoded(message)?);
        }
        while let Some([Some(_), Some(_)]) = self.waiting.get(&self.next) {
            let Some([Some(color), Some(depth)]) = self.waiting.remove(&self.next) else { break };
            let frame = self.frame(&color, &depth).map_err(|error| Halt::Visitor(Failed(error.into())))?;
            self.next += 1;
            take(frame).map_err(|error| Halt::Visitor(Failed(error)))?;
        }
        Ok(())
    }

    fn frame(&self, color: &Picture, depth: &Picture) -> Result<RecordedFrame, BagError> {
        let keyframe = &self.recording.keyframes[self.next];
        let name = seconds(keyframe.stamp);
        let fault = |fault| BagError::Frame { path: self.recording.path.clone(), frame: name.clone(), fault };
        let info = self.recording.info_at(keyframe.stamp).ok_or(FrameFault::Matrix(0)).map_err(fault)?;
        let is_rectified = self.recording.topics.color.contains("rect");
        let parts = FrameParts { color, depth, info, is_rectified };
        frame_of(name.clone(), parts, keyframe.map_from_camera).map_err(fault)
    }
}

/// A time in seconds, to the nanosecond.
fn seconds(stamp: i64) -> String {
    format!("{}.{:09}", stamp.div_euclid(1_000_000_000), stamp.rem_euclid(1_000_000_000))
}
