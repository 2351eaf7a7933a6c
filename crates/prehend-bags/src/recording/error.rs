//! What is wrong with a bag.

use crate::choose::ChooseError;
use crate::container::ContainerError;
use crate::picture::FrameFault;
use prehend_ros::TfError;
use std::path::PathBuf;

/// Why a bag gives no frames.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// Its files cannot be read.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Its topics are not found.
    #[error("{}: {error}", path.display())]
    Choose {
        /// The bag.
        path: PathBuf,
        /// Why not.
        error: ChooseError,
    },
    /// It has no messages.
    #[error("{} has no messages", path.display())]
    Empty {
        /// The bag.
        path: PathBuf,
    },
    /// No two pictures were taken together.
    #[error(
        "none of the {colors} pictures of {color} was taken within {seconds} s of one of the {depths} of {depth}; the nearest are \
         {nearest} s apart. A greater --tolerance allows that"
    )]
    NoPairs {
        /// Topic of colour.
        color: String,
        /// Its messages.
        colors: usize,
        /// Topic of depth.
        depth: String,
        /// Its messages.
        depths: usize,
        /// The tolerance, seconds.
        seconds: f64,
        /// Least difference, seconds.
        nearest: f64,
    },
    /// The map's frame and the camera's are not joined.
    #[error(
        "no chain of transforms leads from the camera's frame `{camera}` to `{map}`; tf knows {known}. Name \
         another --map-frame, or record /tf and /tf_static"
    )]
    NoChain {
        /// The map's frame.
        map: String,
        /// The camera's frame.
        camera: String,
        /// Frames that are known.
        known: String,
    },
    /// A transform between the camera and the map is none.
    #[error("{0}; mend what publishes it, or leave tf out and build a map without poses")]
    Transform(TfError),
    /// Every pair is before or after the transforms.
    #[error("tf has no pose of `{camera}` in `{map}` at the time of any of the {pairs} pictures: {last}")]
    NoPoses {
        /// The map's frame.
        map: String,
        /// The camera's frame.
        camera: String,
        /// Pairs of pictures.
        pairs: usize,
        /// What tf said to the last of them.
        last: TfError,
    },
    /// Depth was taken from elsewhere.
    #[error(
        "the depth of {depth} is seen from `{depth_frame}`, which is {metres:.3} m and {degrees:.1} degrees away from the colour \
         camera's `{color_frame}`; record depth that is aligned to colour"
    )]
    NotAligned {
        /// Topic of depth.
        depth: String,
        /// Its frame.
        depth_frame: String,
        /// Frame of colour.
        color_frame: String,
        /// Distance, metres.
        metres: f64,
        /// Angle, degrees.
        degrees: f64,
    },
    /// A frame cannot be used.
    #[error("{}, frame {frame}: {fault}", path.display())]
    Frame {
        /// The bag.
        path: PathBuf,
        /// Stamp of the frame, seconds.
        frame: String,
        /// Why not.
        fault: FrameFault,
    },
}
