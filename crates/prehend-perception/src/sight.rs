//! What models see in a frame. With a segmenter, the boxes of a detector become masks. Without one, they name what geometry finds. A
//! segmenter alone gives regions without names.

use crate::names::clean;
use crate::traits::WordEmbedder;
use crate::{
    Detection, Detector, Embedder, InferenceError, Instance, Keyframe, LabelImage, Prompt, ScoredMask,
    Segmenter,
};
use prehend_geometry::{ColorImage, Mask, PixelBox};
use std::sync::Arc;

/// Share of the picture above which a region is what carries the things or stands behind them.
const BACKGROUND: f64 = 0.5;
/// Share of a region that lies in larger ones above which it is a part of them.
const PART: f64 = 0.5;

/// The models that look at frames; without any of them a frame is what geometry makes of it.
#[derive(Clone, Default)]
pub struct Sight {
    /// Finds and names things.
    pub detector: Option<Arc<dyn Detector + Send + Sync>>,
    /// Draws the mask of each thing; without a detector, of everything.
    pub segmenter: Option<Arc<dyn Segmenter + Send + Sync>>,
    /// Makes the features of objects; without one they are of words and colours.
    pub embedder: Option<Arc<dyn Embedder + Send + Sync>>,
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sight")
            .field("detector", &self.detector.as_ref().map(|detector| detector.name()))
            .field("segmenter", &self.segmenter.as_ref().map(|segmenter| segmenter.name()))
            .field("embedder", &self.embedder.is_some())
            .finish()
    }
}

impl Sight {
    /// Whether a frame is looked at before geometry cuts it.
    pub fn looks(&self) -> bool {
        self.detector.is_some() || self.segmenter.is_some()
    }

    /// What makes the features of objects.
    pub fn embedder(&self) -> Arc<dyn Embedder + Send + Sync> {
        self.embedder.clone().unwrap_or_else(|| Arc::new(WordEmbedder))
    }

    /// Looks at a frame: one call of each model. Masks go into the frame's label image and detections, in place of what was there;
    /// the instances come back, best first, their names cleaned.
    ///
    /// Errors: [`InferenceError`]; the frame is then unchanged.
    pub fn look(&self, frame: &mut Keyframe) -> Result<Vec<Instance>, InferenceError> {
        if !self.looks() {
            return Ok(Vec::new());
        }
        let instances = self.instances(&frame.color)?;
        let size = [frame.color.width, frame.color.height];
        (frame.labels, frame.detections) = painted(&instances, size);
        Ok(instances)
    }

    fn instances(&self, image: &ColorImage) -> Result<Vec<Instance>, InferenceError> {
        let Some(detector) = &self.detector else {
            let regions =
                self.segmenter.as_ref().map_or(Ok(Vec::new()), |segmenter| segmenter.everything(image));
            return regions.map(|regions| things(regions, image));
        };
        let mut instances = detector.detect(&[image])?.pop().unwrap_or_default();
        for instance in &mut instances {
            instance.class_name = clean(&instance.class_name);
            instance.bounds = instance.bounds.clipped(image.width, image.height);
        }
        instances.retain(|instance| instance.bounds.area() > 0.0);
        if let Some(segmenter) = &self.segmenter {
            let bare: Vec<usize> =
                (0..instances.len()).filter(|place| instances[*place].mask.is_none()).collect();
            let prompts: Vec<Prompt> =
                bare.iter().map(|place| Prompt::Box(instances[*place].bounds)).collect();
            for (place, region) in bare.into_iter().zip(segmenter.segment(image, &prompts)?) {
                instances[place].mask = Some(region.mask);
            }
        }
        Ok(instances)
    }
}

/// Regions that may be things: without what fills the picture, and without parts of others.
fn things(mut regions: Vec<ScoredMask>, image: &ColorImage) -> Vec<Instance> {
    let pixels = image.width * image.height;
    regions.retain(|region| (region.mask.area() as f64) < BACKGROUND * pixels as f64);
    regions.sort_by_key(|region| std::cmp::Reverse(region.mask.area()));
    let mut taken = vec![false; pixels];
    let mut instances = Vec::new();
    for ScoredMask { mask, score } in regions {
        let indices = mask.indices();
        let inside = indices.iter().filter(|index| taken[**index]).count();
        if indices.is_empty() || inside as f64 > PART * indices.len() as f64 {
            continue;
        }
        indices.iter().for_each(|index| taken[*index] = true);
        let bounds = PixelBox::around_mask(&mask);
        instances.push(Instance { class_name: String::new(), score, bounds, mask: Some(mask) });
    }
    instances
}

/// The masks of instances as a label image: label i is that of the i-th of them, from 1. Where masks overlap, the smaller one is in front of
/// the other, as a thing is in front of the table.
fn painted(instances: &[Instance], [width, height]: [usize; 2]) -> (LabelImage, Vec<Detection>) {
    let mut labels = vec![0_u16; width * height];
    let mut masks: Vec<(u16, &Instance, &Mask)> = (1..=u16::MAX)
        .zip(instances)
        .filter_map(|(label, instance)| Some((label, instance, instance.mask.as_ref()?)))
        .filter(|(_, _, mask)| (mask.image_width, mask.image_height) == (width, height))
        .collect();
    masks.sort_by_key(|(_, _, mask)| std::cmp::Reverse(mask.area()));
    let mut detections = Vec::new();
    for (label, instance, mask) in masks {
        mask.indices().into_iter().for_each(|index| labels[index] = label);
        detections.push(Detection { label, class_name: instance.class_name.clone(), score: instance.score });
    }
    detections.sort_by_key(|detection| detection.label);
    (LabelImage { width, height, labels }, detections)
}

#[cfg(test)]
mod tests;
