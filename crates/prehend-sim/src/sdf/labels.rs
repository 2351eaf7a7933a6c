//! Which value of a label map means what.

use super::{Loss, MAX_LABELS, SdfError};
use crate::World;
use crate::body::{Owner, PartName, RenderItem};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A value of a label map: a thing, or a region of one such as a handle, which is a part of the thing too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The value, from 1.
    pub id: u8,
    /// The thing: an object's name, or `object/link`. Every value of one thing has the same.
    pub thing: String,
    /// Class of the thing.
    pub class: String,
    /// The region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartLabel>,
}

/// A region of a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartLabel {
    /// Name of the region, unique within its link.
    pub name: String,
    /// What it is: "handle", "knob", "button".
    pub class: String,
}

/// All labels of a world.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) all: Vec<Label>,
    /// By thing, body and region.
    parts: HashMap<(usize, usize, PartName), u8>,
}

impl Labels {
    /// Things come first; regions take what is left.
    pub(super) fn of(world: &World, losses: &mut Vec<Loss>) -> Result<Self, SdfError> {
        let entities = world.entities();
        if entities.len() > MAX_LABELS {
            return Err(SdfError::TooMany { count: entities.len() });
        }
        let mut all: Vec<Label> = entities
            .iter()
            .zip(1..)
            .map(|(entity, id)| Label {
                id,
                thing: entity.name.clone(),
                class: entity.class.clone(),
                part: None,
            })
            .collect();
        let mut parts = HashMap::new();
        let mut without = 0;
        for item in world.render_items().iter() {
            let (Owner::Object(thing), Some(region)) = (item.owner, &item.part.region) else { continue };
            let key = (thing, item.body, region.clone());
            let Some(entity) = entities.get(thing) else { continue };
            if parts.contains_key(&key) {
                continue;
            }
            // A region without a label has that of its thing.
            let mut id = u8::try_from(thing + 1).unwrap_or_default();
            if all.len() < MAX_LABELS {
                id = u8::try_from(all.len() + 1).unwrap_or_default();
                let part = PartLabel { name: region.name.to_string(), class: region.class.to_string() };
                let (thing, class) = (entity.name.clone(), entity.class.clone());
                all.push(Label { id, thing, class, part: Some(part) });
            } else {
                without += 1;
            }
            parts.insert(key, id);
        }
        if without > 0 {
            losses.push(Loss::Parts { count: without });
        }
        Ok(Self { all, parts })
    }

    /// The label of a piece; what is no object has none.
    pub(super) fn of_item(&self, item: &RenderItem) -> Option<u8> {
        let Owner::Object(thing) = item.owner else { return None };
        let whole = self.all.get(thing).map(|label| label.id);
        let region = item.part.region.as_ref();
        region.and_then(|region| self.parts.get(&(thing, item.body, region.clone())).copied()).or(whole)
    }
}
