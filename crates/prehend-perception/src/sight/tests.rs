use super::*;
use crate::map::MapSettings;
use crate::render::{QVGA, Thing, VGA, home, render, ten};
use crate::{KeyframeError, MapBuilder, RoomBuilder, RoomSettings};

const SIZE: [usize; 2] = [64, 48];

/// Sees these.
struct Script(Vec<Instance>);

impl Detector for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn detect(&self, images: &[&ColorImage]) -> Result<Vec<Vec<Instance>>, InferenceError> {
        Ok(images.iter().map(|_| self.0.clone()).collect())
    }
}

/// Draws the inner half of each box, and everything as these boxes; fails when it is asked for nothing.
struct Halves(Vec<PixelBox>);

impl Segmenter for Halves {
    fn name(&self) -> &str {
        "halves"
    }

    fn segment(&self, image: &ColorImage, prompts: &[Prompt]) -> Result<Vec<ScoredMask>, InferenceError> {
        let region = |prompt: &Prompt| {
            let Prompt::Box(b) = prompt else { panic!("{prompt:?}") };
            let (width, height) = ((b.right - b.left) / 4.0, (b.bottom - b.top) / 4.0);
            let inner = PixelBox {
                left: b.left + width,
                top: b.top + height,
                right: b.right - width,
                bottom: b.bottom - height,
            };
            ScoredMask { mask: inner.filled(image.width, image.height), score: 0.9 }
        };
        if prompts.is_empty() {
            return Err(InferenceError::Run { model: "halves".to_owned(), message: "no prompt".to_owned() });
        }
        Ok(prompts.iter().map(region).collect())
    }

    fn everything(&self, image: &ColorImage) -> Result<Vec<ScoredMask>, InferenceError> {
        let region = |b: &PixelBox| ScoredMask { mask: b.filled(image.width, image.height), score: 0.9 };
        Ok(self.0.iter().map(region).collect())
    }
}

fn bounds([left, top, right, bottom]: [usize; 4]) -> PixelBox {
    let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge as f64);
    PixelBox { left, top, right, bottom }
}

fn instance(name: &str, edges: [usize; 4]) -> Instance {
    Instance { class_name: name.to_owned(), score: 0.8, bounds: bounds(edges), mask: None }
}

fn frame() -> Keyframe {
    let [width, height] = SIZE;
    Keyframe {
        color: ColorImage::filled(width, height, [9; 3]),
        labels: LabelImage { width, height, labels: vec![7; width * height] },
        detections: vec![Detection { label: 7, class_name: "old".to_owned(), score: 1.0 }],
        ..render(&[], &QVGA, &home(), 0.0, 1)
    }
}

fn label(frame: &Keyframe, u: usize, v: usize) -> u16 {
    frame.labels.labels[v * SIZE[0] + u]
}

#[test]
fn without_models_a_frame_stays_as_it_is() {
    let mut frame = frame();
    let before = frame.labels.clone();
    assert_eq!(Sight::default().look(&mut frame), Ok(Vec::new()));
    assert_eq!(frame.labels, before);
}

#[test]
fn boxes_without_a_segmenter_claim_no_pixels() {
    let seen = vec![instance("red\u{7}  mug", [10, 10, 30, 30]), instance("out", [64, 0, 80, 20])];
    let sight = Sight { detector: Some(Arc::new(Script(seen))), ..Sight::default() };
    let mut frame = frame();
    let instances = sight.look(&mut frame).expect("an answer");
    assert_eq!(instances, [instance("red mug", [10, 10, 30, 30])]);
    assert_eq!(frame.detections, []);
    assert!(frame.labels.labels.iter().all(|label| *label == 0));
}

#[test]
fn a_segmenter_draws_the_things_in_the_boxes_small_ones_in_front() {
    let seen = vec![instance("cup", [20, 10, 40, 30]), instance("table", [0, 0, 64, 48])];
    let sight = Sight {
        detector: Some(Arc::new(Script(seen))),
        segmenter: Some(Arc::new(Halves(Vec::new()))),
        ..Sight::default()
    };
    let mut frame = frame();
    let instances = sight.look(&mut frame).expect("an answer");
    assert!(instances.iter().all(|instance| instance.mask.is_some()));
    let names: Vec<(u16, &str)> = frame.detections.iter().map(|d| (d.label, d.class_name.as_str())).collect();
    assert_eq!(names, [(1, "cup"), (2, "table")]);
    assert_eq!([label(&frame, 30, 20), label(&frame, 20, 14), label(&frame, 2, 2)], [1, 2, 0]);
}

#[test]
fn a_segmenter_alone_gives_things_without_names_parts_or_background() {
    let regions = [[2, 2, 10, 10], [0, 0, 64, 40], [4, 4, 8, 8], [30, 20, 50, 40]].map(bounds);
    let sight = Sight { segmenter: Some(Arc::new(Halves(regions.to_vec()))), ..Sight::default() };
    let mut frame = frame();
    sight.look(&mut frame).expect("an answer");
    assert_eq!(frame.detections.len(), 2);
    assert!(frame.detections.iter().all(|detection| detection.class_name.is_empty()));
    assert_eq!([label(&frame, 5, 5), label(&frame, 3, 3), label(&frame, 40, 30)], [2, 2, 1]);
    assert_eq!(label(&frame, 60, 10), 0);
}

/// Fails.
struct Broken;

impl Segmenter for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn segment(&self, _: &ColorImage, _: &[Prompt]) -> Result<Vec<ScoredMask>, InferenceError> {
        Err(InferenceError::NotFinite { model: "broken".to_owned(), output: "masks".to_owned() })
    }

    fn everything(&self, image: &ColorImage) -> Result<Vec<ScoredMask>, InferenceError> {
        self.segment(image, &[])
    }
}

impl Embedder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn embed(&self, _: &[prehend_scene::Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        Err(InferenceError::NotFinite { model: "broken".to_owned(), output: "features".to_owned() })
    }
}

#[test]
fn boxes_alone_name_what_geometry_finds() {
    let things = ten();
    let mut frame = render(&things, &VGA, &home(), 0.002, 1);
    let boxes: Vec<Instance> = frame
        .detections
        .iter()
        .map(|detection| {
            let drawn = |index: &usize| frame.labels.labels[*index] == detection.label;
            let pixels: Vec<usize> = (0..frame.labels.labels.len()).filter(drawn).collect();
            let mut bounds = PixelBox::around_mask(&Mask::from_indices(VGA.width, VGA.height, &pixels));
            // Detectors are some pixels off.
            (bounds.left, bounds.top) = (bounds.left - 6.0, bounds.top + 4.0);
            Instance { class_name: detection.class_name.clone(), score: 0.6, bounds, mask: None }
        })
        .collect();
    let sight = Sight { detector: Some(Arc::new(Script(boxes))), ..Sight::default() };
    let instances = sight.look(&mut frame).expect("an answer");
    let mut builder = MapBuilder::new("map", MapSettings::recorded());
    builder.update_named(&frame, &instances, None, false, 1).expect("a map");
    // Geometry alone may cut or miss a thing; what is cut as the detector sees it has its name, and nothing has another's.
    let mut named = 0;
    for object in builder.map().objects.iter().filter(|object| !object.class_name.is_empty()) {
        let place = object.bounds.pose.translation.vector;
        let apart = |thing: &Thing| (place.x - thing.at[0]).hypot(place.y - thing.at[1]);
        let thing = things.iter().min_by(|a, b| apart(a).total_cmp(&apart(b))).expect("ten");
        assert_eq!(object.class_name, thing.class, "{}", object.key);
        assert!((object.confidence - 0.6).abs() < 1e-9, "{}", object.confidence);
        assert!(object.key.0.starts_with(thing.class), "{}", object.key);
        named += 1;
    }
    assert!(named >= 8, "{:?}", builder.map().objects.iter().map(|o| &o.key).collect::<Vec<_>>());
}

#[test]
fn a_model_that_fails_leaves_frame_and_maps_as_they_were() {
    let things = ten();
    let mut frame = render(&things, &QVGA, &home(), 0.0, 1);
    let seen = vec![instance("cup", [20, 10, 40, 30])];
    let sight = Sight {
        detector: Some(Arc::new(Script(seen))),
        segmenter: Some(Arc::new(Broken)),
        embedder: Some(Arc::new(Broken)),
    };
    let before = (frame.labels.clone(), frame.detections.clone());
    assert!(matches!(sight.look(&mut frame), Err(InferenceError::NotFinite { .. })));
    assert_eq!((frame.labels.clone(), frame.detections.clone()), before);
    let mut builder = MapBuilder::with_embedder("map", MapSettings::default(), Box::new(Broken));
    let error = builder.update(&frame, None, true, 1).expect_err("no features");
    assert!(matches!(error, KeyframeError::Model(InferenceError::NotFinite { .. })), "{error}");
    assert_eq!((builder.map().version, builder.map().objects.len()), (0, 0));
    let mut room = RoomBuilder::with_embedder("room", RoomSettings::default(), Box::new(Broken));
    assert!(matches!(room.update(&frame, None, true), Err(KeyframeError::Model(_))));
    assert_eq!((room.map().version, room.map().objects.len()), (0, 0));
}
