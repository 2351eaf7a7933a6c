//! A bag as the recording of one camera.

mod error;
mod poses;
mod reading;

use crate::choose::{Chosen, TopicNames, choose};
use crate::container::Bag;
use crate::keyframes::{KeyframeChoice, MOST_UNPOSED, Select};
use crate::scan::Index;
pub use error::BagError;
use nalgebra::Isometry3;
use poses::{check_alignment, pairs_of, poses_of};
use prehend_msgs::sensor_msgs::msg::CameraInfo;
use std::path::{Path, PathBuf};

/// What is read of a bag.
#[derive(Clone, Debug)]
pub struct Options {
    /// Topics of the camera.
    pub topics: TopicNames,
    /// Frame of the map, z up; without it the root of the camera's frames.
    pub map_frame: Option<String>,
    /// Greatest difference between the stamps of colour and depth, nanoseconds.
    pub tolerance_ns: i64,
    /// Which frames are taken.
    pub select: Select,
    /// Whether what is before a damage is used.
    pub partial: bool,
}

impl Default for Options {
    /// Topics and frame by what is found, half a picture of a camera of 30 Hz as tolerance, keyframes by motion, nothing partial.
    fn default() -> Self {
        Self {
            topics: TopicNames::default(),
            map_frame: None,
            tolerance_ns: 17_000_000,
            select: Select::default(),
            partial: false,
        }
    }
}

/// What was found in a bag, and what was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Messages in the bag.
    pub messages: u64,
    /// Topics of colour, depth and calibration.
    pub topics: [String; 3],
    /// Colour and depth messages.
    pub pictures: [usize; 2],
    /// Colour and depth messages without a counterpart.
    pub unpaired: [u64; 2],
    /// Frame of the map; none when the frames have no poses.
    pub map_frame: Option<String>,
    /// Pairs of pictures at whose time tf has no pose.
    pub without_pose: usize,
    /// Keyframes.
    pub keyframes: usize,
    /// What a user should know: why there are no poses, where the bag is damaged.
    pub remarks: Vec<String>,
}

/// A keyframe that is to be read.
#[derive(Clone, Debug)]
struct Keyframe {
    stamp: i64,
    /// Which of the messages of their topics.
    color: usize,
    depth: usize,
    map_from_camera: Option<Isometry3<f64>>,
}

/// A bag of which the keyframes are known.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    bag: Bag,
    partial: bool,
    topics: Chosen,
    infos: Vec<(i64, CameraInfo)>,
    keyframes: Vec<Keyframe>,
    summary: Summary,
}

/// A pair of pictures: stamp of colour, numbers of colour and depth in their topics.
type Pair = (i64, usize, usize);

impl Recording {
    /// Reads a bag's stamps, calibrations and transforms, and chooses the keyframes.
    ///
    /// `path` is a file (`.mcap`, `.db3`) or a folder with `metadata.yaml` or such files. Without any transforms in the bag the frames
    /// have no poses. Without `map_frame` the map's frame is the root of the camera's; frames have no poses when that root is neither a
    /// frame that is known to be fixed nor one in which the camera moves.
    ///
    /// Errors: [`BagError`] but [`BagError::Frame`].
    pub fn scan(path: &Path, options: &Options) -> Result<Self, BagError> {
        let bag = Bag::find(path)?;
        let mut index = Index::of(&bag, options.partial)?;
        if index.messages == 0 && index.damage.is_none() {
            return Err(BagError::Empty { path: path.to_owned() });
        }
        let topics = choose(&index, &options.topics)
            .map_err(|error| BagError::Choose { path: path.to_owned(), error })?;
        let mut summary = Summary { messages: index.messages, ..Summary::default() };
        summary.topics = [topics.color.clone(), topics.depth.clone(), topics.info.clone()];
        summary.remarks.extend(index.damage.take().map(|damage| format!("only a part is used: {damage}")));
        check_alignment(&index, &topics)?;
        let pairs = pairs_of(&index, &topics, options.tolerance_ns, &mut summary)?;
        let posed = poses_of(&index, &topics, pairs, options.map_frame.as_deref(), &mut summary)?;
        let select = match (options.select, &summary.map_frame) {
            (Select::Motion { .. }, None) if posed.len() > MOST_UNPOSED => {
                let every = posed.len().div_ceil(MOST_UNPOSED);
                summary
                    .remarks
                    .push(format!("frames without poses: one in {every} is taken; --every says otherwise"));
                Select::Every(every)
            }
            (select, _) => select,
        };
        let mut choice = KeyframeChoice::new(select);
        let keyframes: Vec<Keyframe> =
            posed.into_iter().filter(|frame| choice.take(frame.map_from_camera.as_ref())).collect();
        summary.keyframes = keyframes.len();
        let infos = index.infos.remove(&topics.info).unwrap_or_default();
        Ok(Self { path: path.to_owned(), bag, partial: options.partial, topics, infos, keyframes, summary })
    }

    /// What was found.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}
