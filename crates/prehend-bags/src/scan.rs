//! The first reading of a bag: what is in it and when.

use crate::container::{Bag, ContainerError, Halt, Item, Message};
use crate::message::decoded;
use crate::picture::{COMPRESSED, IMAGE, Kind, Picture};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::{TfError, TfTree, nanoseconds};
use std::collections::BTreeMap;

/// Types that a bag is searched for, besides pictures.
pub(crate) const INFO: &str = "sensor_msgs/msg/CameraInfo";
const TF: [&str; 2] = ["tf2_msgs/msg/TFMessage", "tf/msg/tfMessage"];

/// What is known of a topic with pictures.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    /// What its first picture is.
    pub(crate) kind: Kind,
    /// Frame of its first picture.
    pub(crate) frame: String,
    pub(crate) is_compressed: bool,
    /// When each was taken, in the order in which they are stored.
    pub(crate) stamps: Vec<i64>,
}

/// What is in a bag.
#[derive(Debug)]
pub(crate) struct Index {
    /// Type of every topic.
    pub(crate) topics: BTreeMap<String, String>,
    pub(crate) pictures: BTreeMap<String, Pictures>,
    /// Calibrations by topic: from when each holds, oldest first.
    pub(crate) infos: BTreeMap<String, Vec<(i64, CameraInfo)>>,
    pub(crate) tf: TfTree,
    /// Transforms that are none.
    pub(crate) invalid: Vec<TfError>,
    /// Messages in the bag.
    pub(crate) messages: u64,
    /// What ended the reading early.
    pub(crate) damage: Option<ContainerError>,
}

/// The time of a message: its header's stamp, or when it was recorded if nobody wrote one.
pub(crate) fn stamp_of(header: &Header, logged: i64) -> i64 {
    match nanoseconds(&header.stamp) {
        0 => logged,
        stamp => stamp,
    }
}

impl Index {
    /// Reads the bag; with `partial` up to its first damage.
    pub(crate) fn of(bag: &Bag, partial: bool) -> Result<Self, ContainerError> {
        let mut index = Self {
            topics: BTreeMap::new(),
            pictures: BTreeMap::new(),
            infos: BTreeMap::new(),
            tf: TfTree::unbounded(),
            invalid: Vec::new(),
            messages: 0,
            damage: None,
        };
        index.damage = bag.visit::<ContainerError>(partial, &mut |item| match item {
            Item::Topic(topic) => {
                index.topics.insert(topic.name.clone(), topic.type_name.clone());
                Ok(())
            }
            Item::Message(message) => index.take(&message).map_err(Halt::Container),
        })?;
        for infos in index.infos.values_mut() {
            infos.sort_by_key(|(stamp, _)| *stamp);
        }
        Ok(index)
    }

    fn take(&mut self, message: &Message<'_>) -> Result<(), ContainerError> {
        self.messages += 1;
        match message.topic.type_name.as_str() {
            IMAGE | COMPRESSED => self.take_picture(message),
            INFO => self.take_info(message),
            name if TF.contains(&name) => self.take_transforms(message),
            _ => Ok(()),
        }
    }

    fn take_picture(&mut self, message: &Message<'_>) -> Result<(), ContainerError> {
        let name = &message.topic.name;
        let header: Header = decoded(message)?;
        if !self.pictures.contains_key(name) {
            let picture = Picture::decoded(message)?;
            let is_compressed = matches!(picture, Picture::Compressed(_));
            let frame = header.frame_id.clone();
            let first = Pictures { kind: picture.kind(), frame, is_compressed, stamps: Vec::new() };
            self.pictures.insert(name.clone(), first);
        }
        if let Some(pictures) = self.pictures.get_mut(name) {
            pictures.stamps.push(stamp_of(&header, message.logged));
        }
        Ok(())
    }

    fn take_info(&mut self, message: &Message<'_>) -> Result<(), ContainerError> {
        let info: CameraInfo = decoded(message)?;
        let stamp = stamp_of(&info.header, message.logged);
        let infos = self.infos.entry(message.topic.name.clone()).or_default();
        let is_same = |old: &CameraInfo| CameraInfo { header: old.header.clone(), ..info.clone() } == *old;
        if !infos.last().is_some_and(|(_, last)| is_same(last)) {
            infos.push((stamp, info));
        }
        Ok(())
    }

    fn take_transforms(&mut self, message: &Message<'_>) -> Result<(), ContainerError> {
        let is_fixed = message.topic.name.ends_with("tf_static");
        let transforms: TFMessage = decoded(message)?;
        for transform in &transforms.transforms {
            if let Err(error) = self.tf.insert(transform, is_fixed)
                && !self.invalid.contains(&error)
            {
                self.invalid.push(error);
            }
        }
        Ok(())
    }
}
