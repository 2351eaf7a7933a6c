//! YOLO-World: YOLO's boxes for classes that are words.
//!
//! Source: Cheng et al. 2024; Ultralytics 8.3, `nn/tasks.py` (`WorldModel.set_classes`, `predict`). Beside the pictures goes
//! `[1, classes, 512]`, the unit vectors of the words by CLIP's text tower (ViT-B/32). Exports with classes baked in are plain
//! networks of the kind `yolo`.

use super::yolo::{BOX, Framed, SIDE, boxes};
use super::{DetectorSettings, InputSize};
use crate::embedder::TextTower;
use crate::picture::{at_once, run_pictures};
use crate::session::{Feed, Numbers};
use crate::signature::{Axis, Expected, Signature};
use crate::{ModelError, Session};
use prehend_geometry::ColorImage;
use prehend_perception::{Detector, InferenceError, Instance};

/// What errors call such a network.
pub const KIND: &str = "a YOLO-World network that takes words";
/// Least score of the authors' `image_demo.py`, overlap of Ultralytics' `predict`.
pub const SETTINGS: DetectorSettings = DetectorSettings { score: 0.1, iou: 0.7 };
/// Names of the input for the words.
const WORDS: &[&str] = &["txt_feats", "text_features"];
/// Numbers of a word: the features of CLIP ViT-B/32.
const FEATURES: usize = 512;
/// What fills a fixed number of words up (the authors' `image_demo.py`): it names what is none of the others.
const FILL: &str = " ";

/// A YOLO-World network that was told what to look for.
#[derive(Debug)]
pub struct YoloWorld {
    session: Session,
    prompts: Vec<String>,
    /// Name of the input for the words.
    input: String,
    output: String,
    /// Unit vectors of the words, `[words, features]`.
    words: Vec<f32>,
    size: InputSize,
    settings: DetectorSettings,
}

/// What such a network must look like.
pub fn signature() -> Signature {
    let free = Axis::free;
    let words = vec![free("1 or batch"), free("classes"), Axis::Fixed(FEATURES)];
    let boxes = vec![free("batch"), free("4 + classes"), free("anchors")];
    Signature {
        inputs: vec![Expected::pictures(&["images", "image"]), Expected::named(WORDS, words)],
        outputs: vec![Expected::only(boxes)],
    }
}

impl YoloWorld {
    /// Wraps a loaded model that looks for `prompts`, which CLIP's text tower reads once.
    ///
    /// Errors: [`ModelError`].
    pub(crate) fn new(
        session: Session,
        text: &TextTower,
        prompts: Vec<String>,
        size: Option<InputSize>,
        settings: DetectorSettings,
    ) -> Result<Self, ModelError> {
        let signature = signature();
        session.check(KIND, &signature)?;
        let wrong = |message: String| session.wrong_prompts(message);
        let place = signature.inputs[1].position(session.inputs()).unwrap_or(1);
        let input = &session.inputs()[place];
        let count = input.axes.get(1).and_then(|axis| axis.fixed()).unwrap_or(prompts.len());
        if prompts.len() > count {
            return Err(wrong(format!("{} prompts, but the file takes {count} at most", prompts.len())));
        }
        let filled = prompts.iter().map(String::as_str).chain(std::iter::repeat(FILL));
        let texts: Vec<&str> = filled.take(count).collect();
        let words = text.embed(&texts).map_err(|error| wrong(error.to_string()))?.concat();
        if words.len() != count * FEATURES {
            let found = words.len() / count.max(1);
            return Err(wrong(format!("the text tower gives {found} numbers a word, not {FEATURES}")));
        }
        let size = InputSize::of(&session, size, InputSize { width: SIDE, height: SIDE })?;
        let (input, output) = (input.name.clone(), session.outputs()[0].name.clone());
        Ok(Self { session, prompts, input, output, words, size, settings })
    }
}

impl Detector for YoloWorld {
    fn name(&self) -> &str {
        self.session.name()
    }

    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError> {
        let InputSize { width, height } = self.size;
        let framed = Framed::of(images, self.size)?;
        // The words once for each picture of a call, but where the file says that once is enough.
        let axes = self.session.inputs().iter().find(|input| input.name == self.input).map(|i| &i.axes);
        let once = axes.and_then(|axes| axes.first()?.fixed());
        let times = once.unwrap_or_else(|| at_once(&self.session, images.len()));
        let words = self.words.repeat(times);
        let shape = [times, self.words.len() / FEATURES, FEATURES];
        let beside = Feed { name: &self.input, shape: &shape, numbers: Numbers::Float(&words) };
        let answers = run_pictures(
            &self.session,
            images.len(),
            &[3, height, width],
            framed.numbers,
            &[beside],
            &[&self.output],
        )?;
        let Some(answer) = answers.first() else { return Ok(Vec::new()) };
        let channels = BOX + shape[1];
        if answer.shape.get(1) != Some(&channels) {
            return Err(self.session.wrong_output(answer, &format!("[batch, {channels}, anchors]")));
        }
        boxes(&self.session, answer, &self.prompts, &self.settings, images, &framed.places)
    }
}
