//! Which topics of a bag are colour, depth and calibration.

use crate::picture::Kind;
use crate::scan::{Index, Pictures};

/// Topics by name; what is `None` is found by type, content and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicNames {
    /// Colour pictures.
    pub color: Option<String>,
    /// Depth pictures, aligned with colour.
    pub depth: Option<String>,
    /// Calibration of the colour camera.
    pub info: Option<String>,
}

/// Why the topics of a camera are not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    /// No topic has messages of this kind.
    #[error("no topic has {what}; there are {there}. Name it with {option}")]
    None {
        /// What is looked for.
        what: &'static str,
        /// The argument that names it.
        option: &'static str,
        /// Topics that are there, with their types.
        there: String,
    },
    /// Several topics could be meant.
    #[error("{what} could be {}; say which with {option}", candidates.join(" or "))]
    Ambiguous {
        /// What is looked for.
        what: &'static str,
        /// The argument that names it.
        option: &'static str,
        /// Names of the topics.
        candidates: Vec<String>,
    },
    /// A topic that was named has no messages of its kind.
    #[error("{option} {name}: no such topic with {what}; there are {there}")]
    Wrong {
        /// What is looked for.
        what: &'static str,
        /// The argument that names it.
        option: &'static str,
        /// The name.
        name: String,
        /// Topics that are there, with their types.
        there: String,
    },
}

/// The topics of one camera.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) color: String,
    pub(crate) depth: String,
    pub(crate) info: String,
}

/// One of the things that are looked for.
struct Search<'a> {
    index: &'a Index,
    what: &'static str,
    option: &'static str,
}

/// Finds the topics.
///
/// Colour: pictures with colour encodings; pictures of one grey only when there are no others. Depth: pictures with depth encodings; those
/// in the frame of the colour pictures before others, those whose name says that they are aligned before others. A picture before
/// its compressed form. Calibration: beside the colour pictures, else the only one, else the only one in their frame.
///
/// Errors: [`ChooseError`].
pub(crate) fn choose(index: &Index, names: &TopicNames) -> Result<Chosen, ChooseError> {
    let search = |what, option| Search { index, what, option };
    let color = search("colour pictures", "--color-topic");
    let color = match &names.color {
        Some(name) => color.named(name, index.pictures.contains_key(name))?,
        None => {
            let mut found = color.of_kind(Kind::Color);
            if found.is_empty() {
                found = color.of_kind(Kind::Grey);
            }
            // Depth that was coloured for people.
            prefer(&mut found, |(name, _)| !name.contains("depth"));
            color.only(found)?
        }
    };
    let frame = index.pictures.get(&color).map_or("", |pictures| pictures.frame.as_str());
    let depth = search("depth pictures (16UC1 or 32FC1)", "--depth-topic");
    let depth = match &names.depth {
        Some(name) => depth.named(name, index.pictures.contains_key(name))?,
        None => {
            let mut found = depth.of_kind(Kind::Depth);
            prefer(&mut found, |(_, pictures)| pictures.frame == frame);
            prefer(&mut found, |(name, _)| name.contains("aligned") || name.contains("registered"));
            depth.only(found)?
        }
    };
    let info = search("the calibration (sensor_msgs/msg/CameraInfo)", "--info-topic");
    let info = match &names.info {
        Some(name) => info.named(name, index.infos.contains_key(name))?,
        None => info.calibration(&color, frame)?,
    };
    Ok(Chosen { color, depth, info })
}

type Found<'a> = Vec<(&'a String, &'a Pictures)>;

/// Keeps those for which `is_better` holds, if there are any.
fn prefer<T>(found: &mut Vec<T>, is_better: impl Fn(&T) -> bool) {
    if found.iter().any(&is_better) {
        found.retain(is_better);
    }
}

/// The topic beside a topic of pictures that has their calibration, by the convention of `image_transport`.
fn beside(pictures: &str) -> impl Iterator<Item = String> + '_ {
    // `camera/image_raw` has `camera/camera_info`, and so has `camera/image_raw/compressed`.
    pictures.rmatch_indices('/').take(2).map(|(end, _)| format!("{}/camera_info", &pictures[..end]))
}

impl Search<'_> {
    fn there(&self) -> String {
        let topics: Vec<_> =
            self.index.topics.iter().map(|(name, type_name)| format!("{name} ({type_name})")).collect();
        if topics.is_empty() { "no topics".to_owned() } else { topics.join(", ") }
    }

    fn named(&self, name: &str, is_there: bool) -> Result<String, ChooseError> {
        if is_there {
            return Ok(name.to_owned());
        }
        Err(ChooseError::Wrong {
            what: self.what,
            option: self.option,
            name: name.to_owned(),
            there: self.there(),
        })
    }

    fn of_kind(&self, kind: Kind) -> Found<'_> {
        self.index.pictures.iter().filter(|(_, pictures)| pictures.kind == kind).collect()
    }

    /// The one topic that is left when the compressed forms of others are left out.
    fn only(&self, mut found: Found<'_>) -> Result<String, ChooseError> {
        let names: Vec<&String> = found.iter().map(|(name, _)| *name).collect();
        let is_copy = |name: &str| {
            name.rsplit_once('/').is_some_and(|(base, _)| names.iter().any(|other| *other == base))
        };
        found.retain(|(name, pictures)| !(pictures.is_compressed && is_copy(name)));
        self.one(found.into_iter().map(|(name, _)| name.clone()).collect())
    }

    fn one(&self, mut candidates: Vec<String>) -> Result<String, ChooseError> {
        let (what, option) = (self.what, self.option);
        match candidates.len() {
            0 => Err(ChooseError::None { what, option, there: self.there() }),
            1 => Ok(candidates.remove(0)),
            _ => Err(ChooseError::Ambiguous { what, option, candidates }),
        }
    }

    fn calibration(&self, color: &str, frame: &str) -> Result<String, ChooseError> {
        let infos = &self.index.infos;
        if let Some(own) = beside(color).find(|name| infos.contains_key(name)) {
            return Ok(own);
        }
        let mut found: Vec<_> = infos.iter().collect();
        prefer(&mut found, |(_, infos)| infos.iter().any(|(_, info)| info.header.frame_id == frame));
        self.one(found.into_iter().map(|(name, _)| name.clone()).collect())
    }
}
