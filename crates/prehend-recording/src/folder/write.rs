//! Frames into folders.

use super::RecordedFrame;
use super::instances::list_of;
use crate::picture::{encode_color, encode_grey16};
use image::ImageError;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Why a frame was not written; some of its files may be there.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file or folder cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A picture cannot be encoded: its number of pixels is not what its size says.
    #[error("cannot encode {}: {error}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        error: ImageError,
    },
}

impl RecordedFrame {
    /// Writes the frame into a folder of its own, which is made when it is not there, so that
    /// [`FrameFiles::read`](super::FrameFiles::read) gives it again.
    ///
    /// Errors: [`WriteError`].
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| WriteError::Write { path: folder.to_owned(), error })?;
        let (width, height) = (self.depth.width, self.depth.height);
        put_picture(folder.join("color.png"), encode_color(&self.color))?;
        put_picture(folder.join("depth.png"), encode_grey16(width, height, &self.depth.millimetres))?;
        put_json(folder.join("intrinsics.json"), serde_json::to_vec(&self.intrinsics))?;
        if let Some(pose) = &self.map_from_camera {
            let (t, q) = (pose.translation.vector, pose.rotation.coords);
            let pose = json!({ "position": [t.x, t.y, t.z], "quaternion": [q.x, q.y, q.z, q.w] });
            put_json(folder.join("pose.json"), serde_json::to_vec(&pose))?;
        }
        if let Some(instances) = &self.instances {
            let picture = folder.join("instances.png");
            let labels = &instances.labels;
            put_json(list_of(&picture), instances.json())?;
            put_picture(picture, encode_grey16(labels.width, labels.height, &labels.labels))?;
        }
        Ok(())
    }
}

fn put_picture(path: PathBuf, encoded: Result<Vec<u8>, ImageError>) -> Result<(), WriteError> {
    match encoded {
        Ok(bytes) => put(path, &bytes),
        Err(error) => Err(WriteError::Encode { path, error }),
    }
}

fn put_json(path: PathBuf, text: serde_json::Result<Vec<u8>>) -> Result<(), WriteError> {
    match text {
        Ok(bytes) => put(path, &bytes),
        Err(error) => Err(WriteError::Write { path, error: error.into() }),
    }
}

fn put(path: PathBuf, bytes: &[u8]) -> Result<(), WriteError> {
    std::fs::write(&path, bytes).map_err(|error| WriteError::Write { path, error })
}
