//! Objects of a scene that name a model: which one, with which parameters, colours and joint positions.

use super::model::{Blueprint, read_blueprint};
use super::object::read_placement;
use super::{non_empty, read_color};
use crate::scene::template::{JointChange, Paint, Template};
use crate::scene::{Library, ObjectSpec};
use prehend_config::{Document, Findings, Map, Value, Variables, nearest};
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Models that may be like each other, one after the other.
const LONGEST_CHAIN: usize = 8;

impl Template {
    /// The object with parameters and joint positions drawn from their ranges.
    ///
    /// Errors: what is wrong with the drawn sizes.
    pub(in crate::scene) fn draw(&self, rng: &mut impl Rng) -> Result<ObjectSpec, Findings> {
        let mut pick = |[low, high]: [f64; 2]| if low < high { rng.random_range(low..=high) } else { low };
        let values = self.ranges.iter().map(|(name, range)| (name.clone(), pick(*range))).collect();
        let mut spec = self.build(&Variables::new(values))?;
        if let Some(model) = spec.model.as_deref_mut() {
            for change in &self.joints {
                let joint = model.joints.iter_mut().find(|joint| joint.name == change.joint);
                if let (Some(joint), Some(range)) = (joint, change.position) {
                    joint.position = pick(range).clamp(joint.limits[0], joint.limits[1]);
                }
            }
        }
        Ok(spec)
    }

    /// The object with every parameter at this share of its range.
    fn at(&self, share: f64) -> Result<ObjectSpec, Findings> {
        let values = self.ranges.iter().map(|(name, [low, high])| (name.clone(), low + (high - low) * share));
        self.build(&Variables::new(values.collect()))
    }

    fn build(&self, variables: &Variables) -> Result<ObjectSpec, Findings> {
        let blueprint: Blueprint =
            self.document.read(variables, |value| read_blueprint(&value, &self.paint))?;
        let mut model = blueprint.model;
        if let Some(model) = &mut model {
            for change in &self.joints {
                if let Some(joint) = model.joints.iter_mut().find(|joint| joint.name == change.joint) {
                    joint.locked = change.locked.unwrap_or(joint.locked);
                    if let Some([low, high]) = change.position {
                        joint.position = ((low + high) / 2.0).clamp(joint.limits[0], joint.limits[1]);
                    }
                }
            }
        }
        Ok(ObjectSpec {
            name: self.name.clone(),
            class: self.class.clone().unwrap_or(blueprint.class),
            shape: blueprint.shape,
            color: blueprint.color,
            color_name: blueprint.color_name,
            second_color: blueprint.second_color,
            mass: blueprint.mass,
            friction: self.friction.unwrap_or(blueprint.friction),
            restitution: blueprint.restitution,
            fixed: self.fixed.unwrap_or(blueprint.fixed),
            placement: self.placement.clone(),
            model: model.map(Box::new),
            template: Some(Arc::new(self.clone())),
        })
    }
}

/// What a model that is like another one has of its own; the nearest counts.
#[derive(Default)]
struct Changes {
    class: Option<String>,
    paint: Paint,
    fixed: Option<bool>,
    friction: Option<f64>,
    parameters: Vec<(String, [f64; 2])>,
}

/// Reads an object that names a model of the library or holds one.
pub(super) fn read_modelled(map: &mut Map<'_>, library: &Library) -> Option<ObjectSpec> {
    let name = map.req("name").and_then(|value| non_empty(&value));
    let model_value = map.req("model")?;
    let found = resolve(&model_value, library);
    let class = match map.opt("class") {
        Some(value) => non_empty(&value).map(|class| Some(class.to_lowercase())),
        None => Some(None),
    };
    let color = match map.opt("color") {
        Some(value) => read_color(&value).map(Some),
        None => Some(None),
    };
    let second = match map.opt("second_color") {
        Some(value) => read_color(&value).map(|(color, _)| Some(color)),
        None => Some(None),
    };
    let fixed = match map.opt("fixed") {
        Some(value) => value.bool().map(Some),
        None => Some(None),
    };
    let friction = match map.opt("friction") {
        Some(value) => value.f64_in(0.0, 3.0).map(Some),
        None => Some(None),
    };
    let parameters = map.opt("parameters");
    let joints_value = map.opt("joints");
    let placement = read_placement(map);
    let (document, changes) = found?;
    let ranges = read_ranges(&model_value, &document, &changes, parameters.as_ref());
    let joints = match &joints_value {
        Some(value) => value.map(read_joint_changes),
        None => Some(Vec::new()),
    };
    let template = Template {
        document,
        ranges: ranges?,
        name: name?,
        class: class?.or(changes.class),
        paint: Paint { color: color?.or(changes.paint.color), second: second?.or(changes.paint.second) },
        fixed: fixed?.or(changes.fixed),
        friction: friction?.or(changes.friction),
        joints: joints?,
        placement: placement?,
    };
    // A model may be right for middle sizes and wrong for extreme ones.
    for share in [0.5, 0.0, 1.0] {
        let spec = match template.at(share) {
            Ok(spec) => spec,
            Err(findings) => {
                for finding in findings.items() {
                    model_value.report(format!("in the model: {finding}"));
                }
                return None;
            }
        };
        let model = spec.model.as_deref();
        let known: Vec<&str> =
            model.map_or(Vec::new(), |model| model.joints.iter().map(|joint| joint.name.as_str()).collect());
        for change in &template.joints {
            if !known.contains(&change.joint.as_str()) {
                let hint = match nearest(&change.joint, known.iter().copied()) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => format!("; joints: {}", known.join(", ")),
                };
                joints_value
                    .as_ref()
                    .unwrap_or(&model_value)
                    .report(format!("the model has no joint `{}`{hint}", change.joint));
                return None;
            }
        }
    }
    template.at(0.5).ok()
}

/// The model a value names or holds, and what the models between have of their own.
fn resolve(value: &Value<'_>, library: &Library) -> Option<(Document, Changes)> {
    let mut document =
        if value.is_map() { value.to_document() } else { find(&non_empty(value)?, value, library)? };
    let mut changes = Changes::default();
    for _ in 0..LONGEST_CHAIN {
        let read = document.read(&Variables::default(), |own| own.map(|map| read_like(map, &mut changes)));
        match read {
            Ok(None) => return Some((document, changes)),
            Ok(Some(name)) => document = find(&name, value, library)?,
            Err(findings) => {
                for finding in findings.items() {
                    value.report(format!("in the model: {finding}"));
                }
                return None;
            }
        }
    }
    value.report("models are like each other in a circle");
    None
}

/// The name of the model that this one is like, if it is like one; notes what it has of its own.
fn read_like(map: &mut Map<'_>, changes: &mut Changes) -> Option<Option<String>> {
    let Some(like) = map.opt("like") else {
        // Everything else is read when the parameters have values.
        map.entries();
        return Some(None);
    };
    if let Some(value) = map.opt("class") {
        let class = non_empty(&value)?.to_lowercase();
        changes.class.get_or_insert(class);
    }
    if let Some(value) = map.opt("color") {
        let color = read_color(&value)?;
        changes.paint.color.get_or_insert(color);
    }
    if let Some(value) = map.opt("second_color") {
        let color = read_color(&value)?.0;
        changes.paint.second.get_or_insert(color);
    }
    if let Some(value) = map.opt("fixed") {
        let fixed = value.bool()?;
        changes.fixed.get_or_insert(fixed);
    }
    if let Some(value) = map.opt("friction") {
        let friction = value.f64_in(0.0, 3.0)?;
        changes.friction.get_or_insert(friction);
    }
    if let Some(value) = map.opt("parameters") {
        for (name, range) in value.map(read_ranges_map)? {
            if changes.parameters.iter().all(|(known, _)| *known != name) {
                changes.parameters.push((name, range));
            }
        }
    }
    non_empty(&like).map(Some)
}

fn find(name: &str, value: &Value<'_>, library: &Library) -> Option<Document> {
    let found = library.find(name).cloned();
    if found.is_none() {
        match nearest(name, library.names()) {
            Some(near) => value.report(format!("there is no model `{name}`; did you mean `{near}`?")),
            None => {
                let names: Vec<&str> = library.names().collect();
                value.report(format!("there is no model `{name}`; known models: {}", names.join(", ")));
            }
        }
    }
    found
}

/// The parameters of a model with their ranges; the scene narrows or sets them.
fn read_ranges(
    place: &Value<'_>,
    document: &Document,
    changes: &Changes,
    given: Option<&Value<'_>>,
) -> Option<Vec<(String, [f64; 2])>> {
    let own = document.read(&Variables::default(), |value| {
        let mut ranges = Some(Vec::new());
        // Only the parameters: everything else is read when they have values.
        let _ = value.map(|map| {
            if let Some(value) = map.opt("parameters") {
                ranges = value.map(read_ranges_map);
            }
            map.entries();
            Some(())
        });
        ranges
    });
    let mut ranges = match own {
        Ok(ranges) => ranges,
        Err(findings) => {
            for finding in findings.items() {
                place.report(format!("in the model: {finding}"));
            }
            return None;
        }
    };
    set_ranges(&mut ranges, changes.parameters.clone(), place)?;
    if let Some(given) = given {
        set_ranges(&mut ranges, given.map(read_ranges_map)?, given)?;
    }
    Some(ranges)
}

fn set_ranges(
    ranges: &mut [(String, [f64; 2])],
    given: Vec<(String, [f64; 2])>,
    place: &Value<'_>,
) -> Option<()> {
    for (name, range) in given {
        if let Some((_, own)) = ranges.iter_mut().find(|(known, _)| *known == name) {
            *own = range;
            continue;
        }
        match nearest(&name, ranges.iter().map(|(known, _)| known.as_str())) {
            Some(near) => {
                place.report(format!("the model has no parameter `{name}`; did you mean `{near}`?"));
            }
            None => place.report(format!("the model has no parameter `{name}`")),
        }
        return None;
    }
    Some(())
}

fn read_ranges_map(map: &mut Map<'_>) -> Option<Vec<(String, [f64; 2])>> {
    let read: Vec<Option<(String, [f64; 2])>> =
        map.entries().into_iter().map(|(name, value)| Some((name, range(&value)?))).collect();
    read.into_iter().collect()
}

/// A number, or `[low, high]`.
fn range(value: &Value<'_>) -> Option<[f64; 2]> {
    if value.is_list() {
        return super::interval(value, -100.0, 100.0);
    }
    value.f64().map(|number| [number; 2])
}

/// `{joint: position}` or `{joint: {position, locked}}`; a position may be a range.
fn read_joint_changes(map: &mut Map<'_>) -> Option<Vec<JointChange>> {
    let read: Vec<Option<JointChange>> = map
        .entries()
        .into_iter()
        .map(|(joint, value)| {
            if !value.is_map() {
                return Some(JointChange { joint, position: Some(range(&value)?), locked: None });
            }
            value.map(|map| {
                let position = match map.opt("position") {
                    Some(value) => range(&value).map(Some),
                    None => Some(None),
                };
                let locked = match map.opt("locked") {
                    Some(value) => value.bool().map(Some),
                    None => Some(None),
                };
                Some(JointChange { joint, position: position?, locked: locked? })
            })
        })
        .collect();
    read.into_iter().collect()
}
