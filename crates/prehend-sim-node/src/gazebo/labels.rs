//! Label maps as detections: things, and regions of things such as handles.

use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::vision_msgs::msg::{
    BoundingBox2D, Detection2D, Detection2DArray, ObjectHypothesis, ObjectHypothesisWithPose, Point2D, Pose2D,
};
use prehend_sim::sdf::Label;
use prehend_sim::sensors::{Detection, Detections, LabelImage};
use serde::Deserialize;
use std::collections::HashMap;

/// Fewest pixels that are a detection, as of the embedded robot's detector.
pub const MIN_PIXELS: usize = 30;
/// Score of everything: this detector does not err.
const SCORE: f64 = 0.9;

/// What each value of a label map is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTable {
    things: Classes,
    parts: Classes,
}

/// The values of one kind of things.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Classes {
    /// By value: number of the thing, counted from 1; 0 is background.
    of_value: Vec<u16>,
    /// By number minus 1.
    names: Vec<String>,
}

/// A file that is no table of labels.
#[derive(Debug, thiserror::Error)]
pub enum LabelTableError {
    /// Not what `prehend scene to-sdf` writes.
    #[error("not a table of labels: {0}")]
    Json(#[from] serde_json::Error),
    /// A value is there twice, or is that of the background.
    #[error("label {0} stands there twice, or is 0, the background")]
    Value(u8),
}

#[derive(Deserialize)]
struct File {
    labels: Vec<Label>,
}

impl Classes {
    fn new() -> Self {
        Self { of_value: vec![0; 256], names: Vec::new() }
    }

    fn add(&mut self, class: &str) -> u16 {
        self.names.push(class.to_owned());
        u16::try_from(self.names.len()).unwrap_or(u16::MAX)
    }

    /// Highest score first has no meaning where all are equal: the order is that of the values.
    fn detect(&self, values: &[u8], width: usize, height: usize) -> Detections {
        let mut extents: Vec<Option<Extent>> = vec![None; self.names.len() + 1];
        for (row, line) in values.chunks_exact(width.max(1)).enumerate() {
            for (column, value) in line.iter().enumerate() {
                let number = self.of_value[usize::from(*value)];
                if number > 0 {
                    extents[usize::from(number)]
                        .get_or_insert_with(|| Extent::at(column, row))
                        .add(column, row);
                }
            }
        }
        let mut label = vec![0_u16; extents.len()];
        let mut items = Vec::new();
        for (number, extent) in extents.iter().enumerate() {
            let Some(extent) = extent.as_ref().filter(|extent| extent.pixels >= MIN_PIXELS) else { continue };
            let class_name = self.names[number - 1].clone();
            items.push(Detection { class_name, score: SCORE, bbox: extent.bbox() });
            label[number] = items.len() as u16;
        }
        let labels =
            values.iter().map(|value| label[usize::from(self.of_value[usize::from(*value)])]).collect();
        Detections { labels: LabelImage { width, height, labels }, items }
    }
}

impl LabelTable {
    /// Reads the JSON that `prehend scene to-sdf` writes.
    ///
    /// Errors: [`LabelTableError`].
    pub fn parse(text: &str) -> Result<Self, LabelTableError> {
        let file: File = serde_json::from_str(text)?;
        let (mut things, mut parts) = (Classes::new(), Classes::new());
        let mut number_of: HashMap<&str, u16> = HashMap::new();
        for label in &file.labels {
            let value = usize::from(label.id);
            if value == 0 || things.of_value[value] != 0 {
                return Err(LabelTableError::Value(label.id));
            }
            things.of_value[value] = match number_of.get(label.thing.as_str()) {
                Some(number) => *number,
                None => {
                    let number = things.add(&label.class);
                    number_of.insert(&label.thing, number);
                    number
                }
            };
            if let Some(part) = &label.part {
                parts.of_value[value] = parts.add(&part.class);
            }
        }
        Ok(Self { things, parts })
    }

    /// What is seen in a label map of `[height, width]` values: things, and parts of things. Values that are not in the table are
    /// background.
    pub fn detect(&self, values: &[u8], width: usize, height: usize) -> (Detections, Detections) {
        (self.things.detect(values, width, height), self.parts.detect(values, width, height))
    }
}

#[derive(Clone, Copy)]
struct Extent {
    pixels: usize,
    low: [usize; 2],
    high: [usize; 2],
}

impl Extent {
    fn at(column: usize, row: usize) -> Self {
        Self { pixels: 0, low: [column, row], high: [column, row] }
    }

    fn add(&mut self, column: usize, row: usize) {
        self.pixels += 1;
        self.low = [self.low[0].min(column), self.low[1].min(row)];
        self.high = [self.high[0].max(column), self.high[1].max(row)];
    }

    fn bbox(&self) -> [usize; 4] {
        let [left, top] = self.low;
        [left, top, self.high[0] - left + 1, self.high[1] - top + 1]
    }
}

/// The message of a detector; ids are label values.
pub(super) fn detections_to_msg(found: &Detections, header: &Header) -> Detection2DArray {
    let detections = found
        .items
        .iter()
        .zip(1..)
        .map(|(item, number): (_, usize)| {
            let [x, y, width, height] = item.bbox.map(|pixels| pixels as f64);
            let hypothesis = ObjectHypothesis { class_id: item.class_name.clone(), score: item.score };
            let position = Point2D { x: x + (width - 1.0) / 2.0, y: y + (height - 1.0) / 2.0 };
            Detection2D {
                header: header.clone(),
                results: vec![ObjectHypothesisWithPose { hypothesis, ..Default::default() }],
                bbox: BoundingBox2D {
                    center: Pose2D { position, theta: 0.0 },
                    size_x: width,
                    size_y: height,
                },
                id: number.to_string(),
            }
        })
        .collect();
    Detection2DArray { header: header.clone(), detections }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"{"scene": "s", "seed": 1, "labels": [
        {"id": 1, "thing": "mug 1", "class": "mug"}, {"id": 2, "thing": "bowl", "class": "bowl"},
        {"id": 3, "thing": "mug 1", "class": "mug", "part": {"name": "handle", "class": "handle"}}]}"#;

    #[test]
    fn a_handle_is_of_its_mug_and_a_part_of_its_own() {
        // Rows of 10: background and an unknown value, the bowl, the mug, its handle.
        let rows = [[0_u8, 77], [2, 2], [1, 1], [3, 3]];
        let values: Vec<u8> = rows.iter().flat_map(|[a, b]| [[*a; 40], [*b; 40]]).flatten().collect();
        let (things, parts) = LabelTable::parse(TABLE).expect("a table").detect(&values, 80, 4);
        let named = |found: &Detections| -> Vec<(String, [usize; 4])> {
            found.items.iter().map(|item| (item.class_name.clone(), item.bbox)).collect()
        };
        assert_eq!(named(&things), [("mug".to_owned(), [0, 2, 80, 2]), ("bowl".to_owned(), [0, 1, 80, 1])]);
        assert_eq!(named(&parts), [("handle".to_owned(), [0, 3, 80, 1])]);
        let at = |found: &Detections, row: usize| found.labels.labels[row * 80 + 79];
        assert_eq!([0, 1, 2, 3].map(|row| at(&things, row)), [0, 2, 1, 1]);
        assert_eq!([0, 1, 2, 3].map(|row| at(&parts, row)), [0, 0, 0, 1]);
    }

    #[test]
    fn what_is_too_small_is_not_detected_and_an_empty_map_has_nothing() {
        let table = LabelTable::parse(TABLE).expect("a table");
        let mut values = vec![0; 100];
        values[..MIN_PIXELS - 1].fill(2);
        assert_eq!(table.detect(&values, 10, 10).0.items, []);
        assert!(table.detect(&values, 10, 10).0.labels.labels.iter().all(|label| *label == 0));
        values[MIN_PIXELS - 1] = 2;
        assert_eq!(table.detect(&values, 10, 10).0.items.len(), 1);
        assert_eq!(table.detect(&[], 0, 0).0.items, []);
    }

    #[test]
    fn tables_that_are_none_are_errors() {
        for wrong in ["", "[]", r#"{"labels": [{"id": 300, "thing": "a", "class": "a"}]}"#] {
            assert!(matches!(LabelTable::parse(wrong), Err(LabelTableError::Json(_))), "{wrong}");
        }
        for (wrong, value) in [
            (r#"{"labels": [{"id": 0, "thing": "a", "class": "a"}]}"#, 0),
            (
                r#"{"labels": [{"id": 4, "thing": "a", "class": "a"}, {"id": 4, "thing": "b", "class": "b"}]}"#,
                4,
            ),
        ] {
            assert!(
                matches!(LabelTable::parse(wrong), Err(LabelTableError::Value(id)) if id == value),
                "{wrong}"
            );
        }
    }
}
