//! Frames and their parents, and transforms between them.

use super::{TfError, Transform};
use crate::clock::{nanoseconds, time_from_nanoseconds};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use std::collections::{HashMap, VecDeque};

/// How far back moving frames are remembered.
const MEMORY_NS: i64 = 10_000_000_000;

/// A longer way than this from a frame to its root is a loop.
const MAX_DEPTH: usize = 256;

#[derive(Debug)]
pub(super) struct Link {
    parent: String,
    /// Parent-from-child by nanoseconds, oldest first; one without time when fixed.
    poses: Poses,
}

#[derive(Debug)]
enum Poses {
    Fixed(Isometry3<f64>),
    Moving(VecDeque<(i64, Isometry3<f64>)>),
}

/// Frames and their parents, without any way to hear of them: a node's are in a [`TfBuffer`](super::TfBuffer), those of a
/// recording are put in by its reader.
#[derive(Debug)]
pub struct TfTree {
    pub(super) links: HashMap<String, Link>,
    jumps: u64,
    /// How far back moving frames are remembered.
    memory_ns: i64,
}

impl Default for TfTree {
    fn default() -> Self {
        Self { links: HashMap::new(), jumps: 0, memory_ns: MEMORY_NS }
    }
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

impl Link {
    fn at(&self, frame: &str, time: i64) -> Result<Isometry3<f64>, TfError> {
        let poses = match &self.poses {
            Poses::Fixed(pose) => return Ok(*pose),
            Poses::Moving(poses) => poses,
        };
        let after = poses.partition_point(|(stamp, _)| *stamp < time);
        match (after.checked_sub(1).and_then(|index| poses.get(index)), poses.get(after)) {
            (_, Some((stamp, pose))) if *stamp == time => Ok(*pose),
            (Some((before, from)), Some((then, to))) => {
                let part = (time - before) as f64 / (then - before) as f64;
                let rotation = from.rotation.try_slerp(&to.rotation, part, 1e-9).unwrap_or(if part < 0.5 {
                    from.rotation
                } else {
                    to.rotation
                });
                let translation = from.translation.vector.lerp(&to.translation.vector, part);
                Ok(Isometry3::from_parts(translation.into(), rotation))
            }
            (Some((newest, _)), None) => {
                Err(TfError::TooNew { frame: frame.to_owned(), seconds: seconds(time - newest) })
            }
            (None, Some((oldest, _))) => {
                Err(TfError::TooOld { frame: frame.to_owned(), seconds: seconds(oldest - time) })
            }
            (None, None) => Err(TfError::UnknownFrame { frame: frame.to_owned() }),
        }
    }

    fn newest(&self) -> Option<i64> {
        match &self.poses {
            Poses::Fixed(_) => None,
            Poses::Moving(poses) => poses.back().map(|(stamp, _)| *stamp),
        }
    }
}

/// Frame names as tf2 has them: no leading slash.
fn plain(frame: &str) -> &str {
    frame.strip_prefix('/').unwrap_or(frame)
}

fn pose_of(message: &TransformStamped) -> Result<(String, String, Isometry3<f64>), TfError> {
    let parent = plain(&message.header.frame_id).to_owned();
    let child = plain(&message.child_frame_id).to_owned();
    let (t, r) = (&message.transform.translation, &message.transform.rotation);
    let norm = (r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w).sqrt();
    let finite = [t.x, t.y, t.z, norm].iter().all(|number| number.is_finite());
    let reason = if parent.is_empty() || child.is_empty() {
        "a frame name is empty"
    } else if parent == child {
        "a frame is its own parent"
    } else if !finite {
        "a number is not finite"
    } else if (norm - 1.0).abs() > 0.01 {
        "the quaternion is not of length one"
    } else {
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(r.w, r.x, r.y, r.z));
        return Ok((parent, child, Isometry3::from_parts(Vector3::new(t.x, t.y, t.z).into(), rotation)));
    };
    Err(TfError::Invalid { parent, child, reason })
}

impl TfTree {
    /// A tree that forgets nothing.
    pub fn unbounded() -> Self {
        Self { memory_ns: i64::MAX, ..Self::default() }
    }

    /// Takes a transform; a `fixed` one (of `/tf_static`) holds at all times.
    ///
    /// Errors: [`TfError::Invalid`]; the tree is as it was.
    pub fn insert(&mut self, message: &TransformStamped, fixed: bool) -> Result<(), TfError> {
        self.insert_after(message, fixed, self.jumps)
    }

    /// As [`insert`](Self::insert), after time went back `jumps` times.
    pub(super) fn insert_after(
        &mut self,
        message: &TransformStamped,
        fixed: bool,
        jumps: u64,
    ) -> Result<(), TfError> {
        let (parent, child, pose) = pose_of(message)?;
        if jumps != self.jumps {
            // Time went back: what is remembered is of a future that will not be.
            self.jumps = jumps;
            self.links.retain(|_, link| matches!(link.poses, Poses::Fixed(_)));
        }
        let poses = if fixed { Poses::Fixed(pose) } else { Poses::Moving(VecDeque::new()) };
        let link = self.links.entry(child).or_insert_with(|| Link { parent: parent.clone(), poses });
        let moved = link.parent != parent;
        link.parent = parent;
        if fixed {
            link.poses = Poses::Fixed(pose);
            return Ok(());
        }
        if moved || matches!(link.poses, Poses::Fixed(_)) {
            link.poses = Poses::Moving(VecDeque::new());
        }
        if let Poses::Moving(poses) = &mut link.poses {
            let stamp = nanoseconds(&message.header.stamp);
            let index = poses.partition_point(|(other, _)| *other < stamp);
            match poses.get_mut(index) {
                Some(entry) if entry.0 == stamp => entry.1 = pose,
                _ => poses.insert(index, (stamp, pose)),
            }
            let newest = poses.back().map_or(stamp, |(stamp, _)| *stamp);
            while poses.front().is_some_and(|(oldest, _)| *oldest < newest.saturating_sub(self.memory_ns)) {
                poses.pop_front();
            }
        }
        Ok(())
    }

    /// Whether anything was told of `frame`.
    pub fn is_known(&self, frame: &str) -> bool {
        let frame = plain(frame);
        self.links.contains_key(frame) || self.links.values().any(|link| link.parent == frame)
    }

    /// `frame` and its ancestors up to the root.
    fn ancestors<'a>(&'a self, frame: &'a str) -> Vec<&'a str> {
        let mut chain = vec![frame];
        let mut last = frame;
        while let Some(link) = self.links.get(last) {
            last = &link.parent;
            chain.push(last);
            if chain.len() > MAX_DEPTH {
                break;
            }
        }
        chain
    }

    /// Every frame that was told of, in the order of the names.
    pub fn frames(&self) -> Vec<&str> {
        let both = self.links.iter().flat_map(|(child, link)| [child.as_str(), link.parent.as_str()]);
        let mut frames: Vec<&str> = both.collect();
        frames.sort_unstable();
        frames.dedup();
        frames
    }

    /// `frame`, its parent, and so on up to the root; when frames form a loop, some of its rounds.
    pub fn line<'a>(&'a self, frame: &'a str) -> Vec<&'a str> {
        self.ancestors(plain(frame))
    }

    /// Whether `frame` moves in its parent.
    pub fn is_moving(&self, frame: &str) -> bool {
        self.links.get(plain(frame)).is_some_and(|link| matches!(link.poses, Poses::Moving(_)))
    }

    /// `target_from_source` at `time`, interpolated; at the newest time all frames between have when `time` is zero.
    ///
    /// Errors: [`TfError::UnknownFrame`], [`TfError::NotConnected`], [`TfError::TooOld`], [`TfError::TooNew`].
    pub fn lookup(&self, target: &str, source: &str, time: &Time) -> Result<Transform, TfError> {
        let (target, source) = (plain(target), plain(source));
        for frame in [target, source] {
            if !self.is_known(frame) {
                return Err(TfError::UnknownFrame { frame: frame.to_owned() });
            }
        }
        let (up, down) = (self.ancestors(source), self.ancestors(target));
        let common = up
            .iter()
            .position(|frame| down.contains(frame))
            .and_then(|rise| Some((rise, down.iter().position(|frame| *frame == up[rise])?)));
        let Some((rise, fall)) = common else {
            return Err(TfError::NotConnected { target: target.to_owned(), frame: source.to_owned() });
        };
        let (up, down) = (&up[..rise], &down[..fall]);
        let time = match nanoseconds(time) {
            0 => {
                let newest = up.iter().chain(down).filter_map(|frame| self.links.get(*frame)?.newest());
                newest.min().unwrap_or(0)
            }
            time => time,
        };
        let common_from = |frames: &[&str]| -> Result<Isometry3<f64>, TfError> {
            let mut pose = Isometry3::identity();
            for frame in frames {
                if let Some(link) = self.links.get(*frame) {
                    pose = link.at(frame, time)? * pose;
                }
            }
            Ok(pose)
        };
        let target_from_source = common_from(down)?.inverse() * common_from(up)?;
        let moving = up
            .iter()
            .chain(down)
            .any(|frame| self.links.get(*frame).is_some_and(|link| link.newest().is_some()));
        let rotation = target_from_source.rotation.coords;
        Ok(Transform {
            stamp: if moving { time_from_nanoseconds(time) } else { Time::default() },
            translation: target_from_source.translation.vector.into(),
            rotation: [rotation.x, rotation.y, rotation.z, rotation.w],
        })
    }
}
