//! What the robot knows, as programs read it: with `--json`, from the page, over MCP.

use prehend_msgs::prehend_interfaces::msg::{ObjectMap, SymbolicState};
use prehend_scene::Object;
use serde_json::{Value, json};

/// Where the robot stands in its work.
pub(crate) fn state_json(state: &SymbolicState) -> Value {
    json!({
        "held_object": Some(&state.held_object).filter(|key| !key.is_empty()),
        "inventory": state.inventory,
        "map_version": state.map_version,
        "goal_id": Some(&state.goal_id).filter(|id| !id.is_empty()),
        "step": state.step,
        "stopped": state.stopped,
    })
}

/// An object map.
pub(crate) fn map_json(map: &ObjectMap) -> Value {
    let objects: Vec<Value> = map
        .objects
        .iter()
        .map(|object| {
            let (at, size) = (&object.pose.position, &object.size);
            json!({
                "key": object.key,
                "class": object.class_name,
                "confidence": object.confidence,
                "color": object.color_name,
                "position": [at.x, at.y, at.z],
                "size": [size.x, size.y, size.z],
                "views": object.view_count,
            })
        })
        .collect();
    json!({ "version": map.version, "frame": map.header.frame_id, "objects": objects })
}

/// One object of a saved map, without its points and crops.
pub(crate) fn object_json(object: &Object) -> Value {
    let position = object.bounds.pose.translation.vector;
    json!({
        "key": object.key,
        "class": object.class_name,
        "confidence": object.confidence,
        "votes": object.class_votes,
        "colors": object.color_fractions,
        "position": [position.x, position.y, position.z],
        "size": [object.bounds.size.x, object.bounds.size.y, object.bounds.size.z],
        "points": object.cloud.len(),
        "views": object.view_count,
        "probability": object.probability,
    })
}
