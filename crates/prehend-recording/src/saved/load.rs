//! Reading a map: everything is checked before anything is believed.

use super::manifest::{Entry, FILE, FORMAT, Head, Manifest};
use super::record::{CropRecord, MapRecord, ObjectRecord, SceneRecord, ViewRecord};
use super::{SavedMap, SavedScene, SavedView, VERSION, left_out_file, object_file, ply, view_file};
use crate::picture::{decode_color, decode_grey16, decode_mask};
use prehend_geometry::{ColorImage, DepthImage, Mask};
use prehend_perception::segment::{LeftOut, Reason};
use prehend_scene::{Crop, Object, ObjectKey, ObjectMap};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why a map was not read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no manifest.
    #[error("{} is not a map: it has no {FILE}; `prehend map build` makes one", path.display())]
    NotAMap {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// A newer program wrote it.
    #[error("{} has version {found} of the format; this program reads up to {VERSION}: update it", path.display())]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A file is missing.
    #[error("{} is missing; the map is not whole, build it anew", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file has another size than when it was written.
    #[error("{} has {found} bytes, {expected} were written; the map is not whole, build it anew", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes by the manifest.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A file has other bytes than when it was written.
    #[error("{} was changed or damaged: its checksum is wrong; build the map anew", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
    },
    /// A file says what no map says.
    #[error("{}: {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
}

/// A folder whose manifest was read.
struct Folder {
    path: PathBuf,
    manifest: Manifest,
}

impl Folder {
    fn open(path: &Path) -> Result<Self, LoadError> {
        let file = path.join(FILE);
        let bytes = std::fs::read(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                LoadError::NotAMap { path: path.to_owned() }
            }
            _ => LoadError::Read { path: file.clone(), error },
        })?;
        let wrong = |error: String| LoadError::Content { path: file.clone(), error };
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if head.format != FORMAT {
            return Err(wrong(format!("the format is {:?}, not {FORMAT:?}", head.format)));
        }
        if head.version > VERSION {
            return Err(LoadError::Newer { path: file, found: head.version });
        }
        let manifest = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { path: path.to_owned(), manifest })
    }

    /// The bytes of a file, as they were written.
    fn read(&self, name: &str) -> Result<Vec<u8>, LoadError> {
        let path = self.path.join(name);
        let Some(entry) = self.manifest.files.get(name) else { return Err(LoadError::Missing { path }) };
        let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => LoadError::Missing { path: path.clone() },
            _ => LoadError::Read { path: path.clone(), error },
        })?;
        let found = Entry::of(&bytes);
        if found.bytes != entry.bytes {
            return Err(LoadError::Size { path, expected: entry.bytes, found: found.bytes });
        }
        if found != *entry {
            return Err(LoadError::Checksum { path });
        }
        Ok(bytes)
    }

    fn wrong(&self, name: &str, error: impl ToString) -> LoadError {
        LoadError::Content { path: self.path.join(name), error: error.to_string() }
    }

    fn scene(&self, scene: usize, record: SceneRecord) -> Result<SavedScene, LoadError> {
        let views = record.views.into_iter().enumerate();
        let views = views.map(|(number, view)| self.view(scene, number, view)).collect::<Result<_, _>>()?;
        let objects = record.objects.into_iter().enumerate();
        let objects = objects.map(|(number, object)| self.object(scene, number, object));
        let map = ObjectMap {
            frame: record.frame,
            version: record.version,
            stamp: record.stamp,
            objects: objects.collect::<Result<_, _>>()?,
            support_plane: record.support_plane,
        };
        Ok(SavedScene { name: record.name, map, views })
    }

    fn view(&self, scene: usize, number: usize, record: ViewRecord) -> Result<SavedView, LoadError> {
        let name = view_file(scene, number);
        let color = decode_color(&self.read(&name)?).map_err(|error| self.wrong(&name, error))?;
        let ViewRecord { name, stamp, intrinsics, map_from_camera, left_out } = record;
        let left_out = self.left_out(&left_out_file(scene, number), left_out, &color)?;
        Ok(SavedView { name, stamp, color, intrinsics, map_from_camera, left_out })
    }

    /// What is no thing in a picture.
    fn left_out(
        &self,
        name: &str,
        reasons: Vec<Reason>,
        color: &ColorImage,
    ) -> Result<Vec<LeftOut>, LoadError> {
        if reasons.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = decode_grey16(&self.read(name)?).map_err(|error| self.wrong(name, error))?;
        let size = [numbers.width, numbers.height];
        if size != [color.width, color.height] {
            let error = format!("{size:?} pixels, its picture has {} x {}", color.width, color.height);
            return Err(self.wrong(name, error));
        }
        let mut pixels = vec![Vec::new(); reasons.len()];
        for (index, number) in numbers.values.iter().enumerate().filter(|(_, number)| **number > 0) {
            let piece = pixels.get_mut(usize::from(*number) - 1);
            piece.ok_or_else(|| self.wrong(name, format!("no reason has the number {number}")))?.push(index);
        }
        let mask = |pixels: Vec<usize>| Mask::from_indices(color.width, color.height, &pixels);
        Ok(reasons
            .into_iter()
            .zip(pixels)
            .map(|(reason, pixels)| LeftOut { reason, mask: mask(pixels) })
            .collect())
    }

    fn object(&self, scene: usize, number: usize, record: ObjectRecord) -> Result<Object, LoadError> {
        let name = object_file(scene, number, "cloud.ply");
        let cloud = ply::decode(&self.read(&name)?).map_err(|error| self.wrong(&name, error))?;
        if cloud.is_empty() || cloud.len() != record.points {
            let error = format!("{} points, {} are announced", cloud.len(), record.points);
            return Err(self.wrong(&name, error));
        }
        let crops = record.crops.into_iter().enumerate();
        let crops = crops
            .map(|(place, crop)| {
                self.crop(&|kind| object_file(scene, number, &format!("crop_{place}.{kind}.png")), crop)
            })
            .collect::<Result<_, _>>()?;
        Ok(Object {
            class_name: record.class_name,
            confidence: record.confidence,
            class_votes: record.class_votes,
            color: record.color,
            color_fractions: record.color_fractions,
            features: record.features,
            crops,
            affordances: record.affordances,
            parts: record.parts,
            view_count: record.view_count,
            touches_border: record.touches_border,
            last_seen: record.last_seen,
            probability: record.probability,
            slide: record.slide,
            ..Object::unnamed(ObjectKey(record.key), cloud, record.bounds)
        })
    }

    fn crop(&self, file: &dyn Fn(&str) -> String, record: CropRecord) -> Result<Crop, LoadError> {
        let name = file("color");
        let color = decode_color(&self.read(&name)?).map_err(|error| self.wrong(&name, error))?;
        let name = file("depth");
        let depth = decode_grey16(&self.read(&name)?).map_err(|error| self.wrong(&name, error))?;
        let [image_width, image_height] = record.picture;
        let [x, y, width, height] = record.mask;
        let bits = match width.saturating_mul(height) {
            0 => Vec::new(),
            area => {
                let name = file("mask");
                let bits = decode_mask(&self.read(&name)?).map_err(|error| self.wrong(&name, error))?;
                if bits.len() != area {
                    return Err(
                        self.wrong(&name, format!("{} pixels, {width} x {height} are announced", bits.len()))
                    );
                }
                bits
            }
        };
        Ok(Crop {
            view: record.view,
            color,
            depth: DepthImage { width: depth.width, height: depth.height, millimetres: depth.values },
            mask: Mask { image_width, image_height, x, y, width, height, bits },
            x: record.at[0],
            y: record.at[1],
            intrinsics: record.intrinsics,
            map_from_camera: record.map_from_camera,
            producer: record.producer,
            label: record.label,
            score: record.score,
            stamp: record.stamp,
            rank: record.rank,
        })
    }
}

impl SavedMap {
    /// Reads the map in a folder.
    ///
    /// Errors: [`LoadError`]; nothing is given of a map of which a part is missing or damaged.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        const NAME: &str = "map.json";
        let folder = Folder::open(folder)?;
        for name in folder.manifest.files.keys() {
            folder.read(name)?;
        }
        let record: MapRecord =
            serde_json::from_slice(&folder.read(NAME)?).map_err(|error| folder.wrong(NAME, error))?;
        let mut keys = BTreeSet::new();
        let mut objects = record.scenes.iter().flat_map(|scene| &scene.objects);
        if let Some(twice) = objects.find(|object| !keys.insert(object.key.as_str())) {
            return Err(folder.wrong(NAME, format!("two objects have the key {}", twice.key)));
        }
        let scenes = record.scenes.into_iter().enumerate().map(|(number, scene)| folder.scene(number, scene));
        let scenes = scenes.collect::<Result<_, _>>()?;
        Ok(Self { settings: record.parameters, embedder: record.embedder, scenes })
    }
}
