//! `prehend detect`: what a detector sees in a picture.

use super::models;
use crate::args::DetectArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_drawing::overlay::{self, Annotation, PALETTE};
use prehend_geometry::ColorImage;
use prehend_models::sight::{SightError, choose};
use prehend_models::{ModelError, Runtime, RuntimeError};
use prehend_nodes::pictures::{self, PictureError};
use prehend_perception::traits::{InferenceError, Instance};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why nothing was detected.
#[derive(Debug, thiserror::Error)]
enum DetectError {
    /// The file of the models is wrong.
    #[error("{0}")]
    Config(#[from] prehend_config::Findings),
    /// No model of this name, or prompts that it does not take.
    #[error(transparent)]
    Choice(#[from] SightError),
    /// The model is no detector.
    #[error("`{name}` is no detector; see the kinds in {}", file.display())]
    NoDetector {
        /// The name.
        name: String,
        /// The file of the models.
        file: PathBuf,
    },
    /// The picture cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Picture {
        /// The picture.
        path: PathBuf,
        /// What the decoder said.
        error: image::ImageError,
    },
    /// There is no runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The model cannot be used.
    #[error("{0}\n`prehend doctor --models` says what is missing")]
    Model(#[from] ModelError),
    /// The model gave no answer.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The picture with the boxes cannot be written.
    #[error(transparent)]
    Out(#[from] PictureError),
}

impl DetectError {
    fn code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Choice(_) | Self::NoDetector { .. } | Self::Picture { .. } => {
                exit::BAD_INPUT
            }
            Self::Runtime(_) | Self::Model(_) => exit::NOT_READY,
            Self::Inference(_) | Self::Out(_) => exit::FAILED,
        }
    }
}

/// What was seen, and how long it took.
struct Seen {
    image: ColorImage,
    instances: Vec<Instance>,
    load_ms: f64,
    detect_ms: f64,
}

pub(super) fn run(args: &DetectArgs) -> u8 {
    let seen = match detect(args).and_then(|seen| draw(args, &seen).map(|()| seen)) {
        Ok(seen) => seen,
        Err(error) => {
            eprintln!("{error}");
            return error.code();
        }
    };
    show(args, &seen);
    exit::DONE
}

fn detect(args: &DetectArgs) -> Result<Seen, DetectError> {
    let config = models::config(&args.which)?;
    let mut entries = choose(&config, std::slice::from_ref(&args.model), args.prompt.as_slice())?;
    let no_detector =
        || DetectError::NoDetector { name: args.model.clone(), file: args.which.config.clone() };
    let entry = entries.pop().ok_or_else(no_detector)?;
    let entry = args.score.map_or_else(|| entry.clone(), |score| entry.with_score(score));
    let image = read(&args.image)?;
    let runtime = Runtime::open(args.which.runtime.as_deref())?;
    let start = Instant::now();
    let detector = entry.detector(&runtime).ok_or_else(no_detector)??;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut times = Vec::new();
    let mut instances = Vec::new();
    for _ in 0..args.repeat {
        let start = Instant::now();
        instances = detector.detect(&[&image])?.pop().unwrap_or_default();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Seen { image, instances, load_ms, detect_ms: times[times.len() / 2] })
}

fn read(path: &Path) -> Result<ColorImage, DetectError> {
    let unreadable = |error| DetectError::Picture { path: path.to_path_buf(), error };
    let image = image::open(path).map_err(unreadable)?.to_rgb8();
    Ok(ColorImage {
        width: image.width() as usize,
        height: image.height() as usize,
        pixels: image.pixels().map(|pixel| pixel.0).collect(),
    })
}

/// Writes the picture with the boxes, when one is wanted.
fn draw(args: &DetectArgs, seen: &Seen) -> Result<(), DetectError> {
    let Some(path) = &args.out else { return Ok(()) };
    let mut image = seen.image.clone();
    let marks: Vec<Annotation> = seen
        .instances
        .iter()
        .enumerate()
        .map(|(index, instance)| {
            let bounds = instance.bounds.clipped(image.width, image.height);
            let [left, top, right, bottom] = [bounds.left, bounds.top, bounds.right, bounds.bottom];
            let corners = vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
            Annotation {
                label: format!("{} {:.2}", instance.class_name, instance.score),
                color: PALETTE[index % PALETTE.len()],
                lines: vec![corners],
                dots: Vec::new(),
                mask: instance.mask.clone(),
            }
        })
        .collect();
    overlay::annotate(&mut image, &marks);
    Ok(pictures::save(&image, path)?)
}

fn show(args: &DetectArgs, seen: &Seen) {
    let screen = Screen::new(args.json);
    if args.json {
        let detections: Vec<serde_json::Value> = seen
            .instances
            .iter()
            .map(|instance| {
                let bounds = instance.bounds;
                json!({
                    "class": instance.class_name,
                    "score": instance.score,
                    "box": [bounds.left, bounds.top, bounds.right, bounds.bottom],
                })
            })
            .collect();
        print_json(&json!({
            "model": args.model,
            "image": args.image,
            "width": seen.image.width,
            "height": seen.image.height,
            "milliseconds": {"load": seen.load_ms, "detect": seen.detect_ms},
            "detections": detections,
        }));
    } else {
        screen.line(format!(
            "{:<16} {:>5}  {:>7} {:>7} {:>7} {:>7}",
            "class", "score", "left", "top", "right", "bottom"
        ));
        for Instance { class_name, score, bounds, .. } in &seen.instances {
            screen.line(format!(
                "{class_name:<16} {score:>5.2}  {:>7.1} {:>7.1} {:>7.1} {:>7.1}",
                bounds.left, bounds.top, bounds.right, bounds.bottom
            ));
        }
    }
    let median = if args.repeat > 1 { format!(" (median of {})", args.repeat) } else { String::new() };
    screen.line(format!("loaded in {:.0} ms, looked in {:.1} ms{median}", seen.load_ms, seen.detect_ms));
    if let Some(out) = &args.out {
        screen.line(out.display().to_string());
    }
}
