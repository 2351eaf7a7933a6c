//! The transform tree of a node.
//!
//! Frames form a forest: every frame has one parent, told on `/tf` (moving, kept for ten seconds) or `/tf_static`.

use crate::backend::{Reader, Sample, Sink, decode};
use crate::clock::{nanoseconds, time_from_nanoseconds};
use crate::sync::lock;
use crate::{Clock, RosError};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tracing::warn;

/// How far back moving frames are remembered.
const MEMORY_NS: i64 = 10_000_000_000;

/// A longer way than this from a frame to its root is a loop.
const MAX_DEPTH: usize = 256;

/// Pose of `source` in `target`: takes points of `source` to `target`.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Time of the transform; zero when only fixed frames are between.
    pub stamp: Time,
    /// Origin of `source` in `target`, metres.
    pub translation: [f64; 3],
    /// Unit quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
}

impl Transform {
    /// The same as a rigid transform `target_from_source`.
    pub fn isometry(&self) -> Isometry3<f64> {
        let [x, y, z, w] = self.rotation;
        Isometry3::from_parts(
            Translation3::from(self.translation),
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        )
    }
}

/// Why there is no transform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TfError {
    /// A frame nobody has told of.
    #[error("unknown frame `{frame}`")]
    UnknownFrame {
        /// Its name.
        frame: String,
    },
    /// Both frames are known, but no chain of frames joins them.
    #[error("frames `{target}` and `{frame}` are not connected")]
    NotConnected {
        /// The frame to transform into.
        target: String,
        /// The frame to transform from.
        frame: String,
    },
    /// The time asked for is older than what is remembered of a frame.
    #[error("frame `{frame}` at that time: {seconds:.3} s older than the oldest known")]
    TooOld {
        /// The frame on the way that is the cause.
        frame: String,
        /// By how much.
        seconds: f64,
    },
    /// The time asked for is newer than what has arrived of a frame.
    #[error("frame `{frame}` at that time: {seconds:.3} s newer than the newest known")]
    TooNew {
        /// The frame on the way that is the cause.
        frame: String,
        /// By how much.
        seconds: f64,
    },
    /// A transform with NaN, a rotation that is none, an empty frame name, or a frame as its own parent; it was left out.
    #[error("the transform from `{child}` to `{parent}` is invalid: {reason}")]
    Invalid {
        /// Frame it is given in.
        parent: String,
        /// Frame it places.
        child: String,
        /// What is wrong.
        reason: &'static str,
    },
}

#[derive(Debug)]
struct Link {
    parent: String,
    /// Parent-from-child by nanoseconds, oldest first; one without time when fixed.
    poses: Poses,
}

#[derive(Debug)]
enum Poses {
    Fixed(Isometry3<f64>),
    Moving(VecDeque<(i64, Isometry3<f64>)>),
}

/// Frames and their parents, without any way to hear of them.
#[derive(Debug, Default)]
struct Tree {
    links: HashMap<String, Link>,
    jumps: u64,
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

impl Tree {
    fn insert(&mut self, message: &TransformStamped, fixed: bool, jumps: u64) -> Result<(), TfError> {
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
            while poses.front().is_some_and(|(oldest, _)| *oldest < newest - MEMORY_NS) {
                poses.pop_front();
            }
        }
        Ok(())
    }

    fn is_known(&self, frame: &str) -> bool {
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

    fn lookup(&self, target: &str, source: &str, time: &Time) -> Result<Transform, TfError> {
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

/// The transforms heard on `/tf` and `/tf_static`; clones are the same buffer.
#[derive(Clone)]
pub struct TfBuffer {
    shared: Arc<Shared>,
    _readers: Arc<[Reader; 2]>,
}

struct Shared {
    tree: Mutex<Tree>,
    /// How often time went back.
    jumps: Box<dyn Fn() -> u64 + Send + Sync>,
    changed: watch::Sender<()>,
}

impl fmt::Debug for TfBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = lock(&self.shared.tree).links.len();
        f.debug_struct("TfBuffer").field("frames", &frames).finish_non_exhaustive()
    }
}

impl Shared {
    fn sink(self: &Arc<Self>, fixed: bool) -> Sink {
        let shared = self.clone();
        Arc::new(move |sample: Sample| {
            let message: TFMessage = match decode(&sample.payload, sample.encoding) {
                Ok(message) => message,
                Err(error) => return warn!(%error, "a transform was left out"),
            };
            {
                let jumps = (shared.jumps)();
                let mut tree = lock(&shared.tree);
                for transform in &message.transforms {
                    if let Err(error) = tree.insert(transform, fixed, jumps) {
                        warn!(%error, "a transform was left out");
                    }
                }
            }
            shared.changed.send_replace(());
        })
    }
}

impl TfBuffer {
    /// `subscribe` makes the readers of `/tf` and `/tf_static`.
    pub(crate) fn new(
        clock: &Clock,
        subscribe: impl FnOnce(Sink, Sink) -> Result<[Reader; 2], RosError>,
    ) -> Result<Self, RosError> {
        let jumps = Box::new(clock.jump_counter());
        let shared = Arc::new(Shared { tree: Mutex::default(), jumps, changed: watch::Sender::new(()) });
        let readers = subscribe(shared.sink(false), shared.sink(true))?;
        Ok(Self { shared, _readers: Arc::new(readers) })
    }

    /// `target_from_source` at `time`, interpolated; at the newest time all frames between have when `time` is zero.
    ///
    /// Errors: [`TfError::UnknownFrame`], [`TfError::NotConnected`], [`TfError::TooOld`], [`TfError::TooNew`].
    pub fn lookup(&self, target: &str, source: &str, time: &Time) -> Result<Transform, TfError> {
        lock(&self.shared.tree).lookup(target, source, time)
    }

    /// As [`lookup`](Self::lookup), waiting for it at most `deadline` of wall time; then the last error.
    pub async fn wait(
        &self,
        target: &str,
        source: &str,
        time: &Time,
        deadline: Duration,
    ) -> Result<Transform, TfError> {
        let end = tokio::time::Instant::now() + deadline;
        let mut changed = self.shared.changed.subscribe();
        loop {
            match self.lookup(target, source, time) {
                Ok(transform) => return Ok(transform),
                // What is too old will not come any more.
                Err(error @ TfError::TooOld { .. }) => return Err(error),
                Err(error) => {
                    if !matches!(tokio::time::timeout_at(end, changed.changed()).await, Ok(Ok(()))) {
                        return Err(error);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
