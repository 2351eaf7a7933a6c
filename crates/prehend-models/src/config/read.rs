//! Reading the file of the models, with every error at once.

use super::{
    DetectorFiles, Entry, Files, GroundingFiles, ModelsConfig, SamFiles, SentenceFiles, TowerFiles,
    WorldFiles,
};
use crate::detector::grounding_dino::GroundingSettings;
use crate::detector::prompts::parse;
use crate::detector::{DetectorSettings, InputSize, fastestdet, grounding_dino, yolo, yolo_world};
use crate::embedder::{Family, Likeness};
use crate::segmenter::SamFamily;
use prehend_config::{Map, Value};
use std::path::{Path, PathBuf};

/// Networks that are known, by what goes in and comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    FastestDet,
    Yolo,
    YoloWorld,
    GroundingDino,
    Sentence,
    Towers(Family),
    Sam(SamFamily),
}

/// Kinds by the names of the file.
const KINDS: [(&str, Kind); 9] = [
    ("fastestdet", Kind::FastestDet),
    ("yolo", Kind::Yolo),
    ("yolo_world", Kind::YoloWorld),
    ("grounding_dino", Kind::GroundingDino),
    ("sentence", Kind::Sentence),
    ("clip", Kind::Towers(Family::Clip)),
    ("siglip", Kind::Towers(Family::Siglip)),
    ("mobile_sam", Kind::Sam(SamFamily::MobileSam)),
    ("sam2", Kind::Sam(SamFamily::Sam2)),
];

/// Scale of OpenAI's CLIP models, all of which were trained up to the limit (Radford et al. 2021, 2.5).
const CLIP_SCALE: f64 = 100.0;

pub(super) fn models(root: &Value<'_>, folder: &Path) -> Option<ModelsConfig> {
    root.map(|map| {
        let models = map.req("models")?.map(|models| {
            let entries = models.entries();
            let read: Vec<Option<Entry>> =
                entries.iter().map(|(name, value)| value.map(|map| entry(name, map, folder))).collect();
            read.into_iter().collect::<Option<Vec<Entry>>>()
        })?;
        Some(ModelsConfig { models })
    })
}

fn entry(name: &str, map: &mut Map<'_>, folder: &Path) -> Option<Entry> {
    let Some(kind) = map.req("kind").and_then(|value| value.choice(&KINDS)) else {
        // Which keys belong to an unknown kind is unknown too.
        map.entries();
        return None;
    };
    let source = map.or("source", String::new(), |value| value.text());
    let files = match kind {
        Kind::FastestDet => detector(map, folder, fastestdet::SETTINGS).map(Files::FastestDet),
        Kind::Yolo => detector(map, folder, yolo::SETTINGS).map(Files::Yolo),
        Kind::YoloWorld => world(map, folder).map(Files::YoloWorld),
        Kind::GroundingDino => grounding(map, folder).map(Files::GroundingDino),
        Kind::Sentence => sentence(map, folder).map(Files::Sentence),
        Kind::Towers(family) => towers(map, folder, family).map(Files::Towers),
        Kind::Sam(family) => sam(map, folder, family).map(Files::Sam),
    };
    Some(Entry { name: name.to_owned(), source: source?, files: files? })
}

fn detector(map: &mut Map<'_>, folder: &Path, usual: DetectorSettings) -> Option<DetectorFiles> {
    let path = file(map, "path", folder);
    let classes = file(map, "classes", folder);
    let input_size = map.or("input_size", None, |value| size(&value).map(Some));
    let score = map.or("score", usual.score, |value| value.f64_in(0.0, 1.0));
    let iou = map.or("iou", usual.iou, |value| value.f64_in(0.0, 1.0));
    let settings = DetectorSettings { score: score?, iou: iou? };
    Some(DetectorFiles { path: path?, classes: classes?, input_size: input_size?, settings })
}

fn world(map: &mut Map<'_>, folder: &Path) -> Option<WorldFiles> {
    let usual = yolo_world::SETTINGS;
    let path = file(map, "path", folder);
    let text = file(map, "text", folder);
    let tokenizer = file(map, "tokenizer", folder);
    let pad_token = map.or("pad_token", Family::Clip.pad_token().to_owned(), |value| value.text());
    let prompts = prompts(map);
    let input_size = map.or("input_size", None, |value| size(&value).map(Some));
    let score = map.or("score", usual.score, |value| value.f64_in(0.0, 1.0));
    let iou = map.or("iou", usual.iou, |value| value.f64_in(0.0, 1.0));
    Some(WorldFiles {
        path: path?,
        text: text?,
        tokenizer: tokenizer?,
        pad_token: pad_token?,
        prompts: prompts?,
        input_size: input_size?,
        settings: DetectorSettings { score: score?, iou: iou? },
    })
}

fn grounding(map: &mut Map<'_>, folder: &Path) -> Option<GroundingFiles> {
    let usual = grounding_dino::SETTINGS;
    let path = file(map, "path", folder);
    let tokenizer = file(map, "tokenizer", folder);
    let prompts = prompts(map);
    let score = map.or("score", usual.score, |value| value.f64_in(0.0, 1.0));
    let text_score = map.or("text_score", usual.text_score, |value| value.f64_in(0.0, 1.0));
    let settings = GroundingSettings { score: score?, text_score: text_score? };
    Some(GroundingFiles { path: path?, tokenizer: tokenizer?, prompts: prompts?, settings })
}

fn sentence(map: &mut Map<'_>, folder: &Path) -> Option<SentenceFiles> {
    let path = file(map, "path", folder);
    let tokenizer = file(map, "tokenizer", folder);
    Some(SentenceFiles { path: path?, tokenizer: tokenizer? })
}

/// What a detector looks for when nobody says otherwise.
fn prompts(map: &mut Map<'_>) -> Option<Vec<String>> {
    let value = map.req("prompts")?;
    let texts = value.list(|item| item.text())?;
    match parse(texts.iter().map(String::as_str)) {
        Ok(prompts) => Some(prompts),
        Err(error) => {
            value.report(error.to_string());
            None
        }
    }
}

fn towers(map: &mut Map<'_>, folder: &Path, family: Family) -> Option<TowerFiles> {
    let image = file(map, "image", folder);
    let text = file(map, "text", folder);
    let tokenizer = file(map, "tokenizer", folder);
    let pad_token = map.or("pad_token", family.pad_token().to_owned(), |value| value.text());
    let input_size = map.or("input_size", None, |value| size(&value).map(Some));
    let scale = |value: Value<'_>| value.f64_in(0.1, 1000.0);
    let likeness = match family {
        Family::Clip => map.or("logit_scale", CLIP_SCALE, scale).map(|scale| Likeness::Softmax { scale }),
        // Every SigLIP has its own.
        Family::Siglip => {
            let scale = map.req("logit_scale").and_then(scale);
            let bias = map.req("logit_bias").and_then(|value| value.f64_in(-1000.0, 1000.0));
            scale.zip(bias).map(|(scale, bias)| Likeness::Sigmoid { scale, bias })
        }
    };
    Some(TowerFiles {
        family,
        image: image?,
        text: text?,
        tokenizer: tokenizer?,
        pad_token: pad_token?,
        input_size: input_size?,
        likeness: likeness?,
    })
}

fn sam(map: &mut Map<'_>, folder: &Path, family: SamFamily) -> Option<SamFiles> {
    let encoder = file(map, "encoder", folder);
    let decoder = file(map, "decoder", folder);
    Some(SamFiles { family, encoder: encoder?, decoder: decoder? })
}

fn file(map: &mut Map<'_>, key: &'static str, folder: &Path) -> Option<PathBuf> {
    let value = map.req(key)?;
    let text = value.text()?;
    if text.is_empty() {
        value.report("expected the path of a file");
        return None;
    }
    Some(folder.join(text))
}

/// Sides that a network can have: far above what any of these kinds is trained on.
const SIDES: std::ops::RangeInclusive<f64> = 16.0..=4096.0;

/// `[width, height]`, whole pixels.
fn size(value: &Value<'_>) -> Option<InputSize> {
    let [width, height] = value.numbers()?;
    if [width, height].iter().any(|side| !SIDES.contains(side) || side.fract() != 0.0) {
        value.report("expected width and height in whole pixels, 16 to 4096");
        return None;
    }
    Some(InputSize { width: width as usize, height: height as usize })
}
