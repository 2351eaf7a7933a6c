//! Rosbags as recorded frames: rosbag2 in MCAP and SQLite.
//!
//! For:
//!
//! - reading the colour, depth, calibration and transforms of a camera out of a bag ([`Recording`]);
//! - the steps of this that live topics need, too: pairing messages by time ([`Pairing`]), choosing keyframes by motion
//!   ([`KeyframeChoice`]), making frames of messages ([`frame_of`]);
//! - writing topics as rosbag2 does ([`Recorder`], [`BagWriter`]), and reading them back ([`stored_messages`]);
//! - what a bag holds, as `ros2 bag info` tells it ([`contents`]).
//!
//! Not for: what a frame shows, maps (`prehend-recording`). Read [`Recording`] first.
//!
//! A bag is read twice, from its beginning to its end: first the stamps of the pictures, the calibrations and the transforms, then the
//! pictures that were chosen. So no more than a few frames are in memory, and a bag without its index is no special case.
//!
//! Times are nanoseconds since the epoch, as in the messages; poses are `map_from_camera` in metres, camera axes x right, y down, z
//! forward.

mod choose;
mod container;
mod contents;
mod keyframes;
mod message;
mod pairing;
mod picture;
mod recording;
mod scan;
mod stored;
mod write;

pub use choose::{ChooseError, TopicNames};
pub use container::{ContainerError, Place, is_bag};
pub use contents::{Contents, StoredFile, StoredTopic, contents};
pub use keyframes::{KeyframeChoice, Select};
pub use pairing::{Pairing, Side};
pub use picture::{FrameFault, FrameParts, Picture, frame_of};
pub use recording::{BagError, Options, Recording, Summary};
pub use stored::{StoredMessage, notes, stored_messages};
pub use write::{
    BagOptions, BagWriter, NewTopic, Progress, RecordError, RecordOptions, Recorded, Recorder, TopicId,
    Topics, WriteError, Written,
};
