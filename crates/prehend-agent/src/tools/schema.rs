//! Signatures of the tools as JSON schemas, for whoever calls them by name.

use super::Measure;
use serde_json::{Value, json};

/// One entry for each tool: name, description, parameters (JSON schema).
pub fn schema() -> Vec<Value> {
    let mut tools = vec![
        tool(
            "object_retrieval",
            "Finds the objects that a short description means (\"red mug\") and adds their keys to the inventory. \
             Be specific; look for one kind of thing at a time. Reuses the map until a skill has moved something.",
            json!({ "query": { "type": "string" } }),
            &["query"],
        ),
        tool(
            "interact",
            "Acts on an object: action \"grasp\" (or \"grasp the handle\") picks it up; \"place it in\", \"place it on\", \
             \"place it next to\", \"place it left of\" ... puts the held object relative to it; \"place it on the table\" \
             needs no object; \"drop it in\" lets it fall a short way. Preconditions: the object is in the inventory; \
             nothing is held for a grasp, something for a placement. Clears the inventory.",
            json!({
                "obj": { "type": "string", "description": "an ObjectKey, or empty for the table" },
                "action": { "type": "string" },
                "with": { "type": "array", "items": { "type": "string" }, "description": "further targets, for between" }
            }),
            &["obj", "action"],
        ),
    ];
    tools.push(tool(
        "go_to",
        "Drives a mobile robot to where an object of the map of the room can be acted on; the action says how it shall be \
         acted on. Afterwards look for the object again with the same query: the map is then that of the place.",
        json!({ "obj": { "type": "string" }, "action": { "type": "string" } }),
        &["obj", "action"],
    ));
    for (measure, name, arity) in Measure::ALL {
        tools.push(tool(
            name,
            description(measure),
            json!({ "objects": { "type": "array", "items": { "type": "string" }, "minItems": arity, "maxItems": arity } }),
            &["objects"],
        ));
    }
    tools
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": description,
        "parameters": { "type": "object", "properties": properties, "required": required, "additionalProperties": false }
    })
}

fn description(measure: Measure) -> &'static str {
    match measure {
        Measure::DistanceTo => "Horizontal distance of an inventory object from the robot, metres.",
        Measure::DistanceBetween => "Distance between the centres of two inventory objects, metres.",
        Measure::GapBetween => "Free space between two inventory objects, metres.",
        Measure::SizeOf => "Size of an inventory object: side of a cube of the same volume, metres.",
        Measure::LeftOf => "Whether the first object is to the left of the second, seen by the robot.",
        Measure::RightOf => "Whether the first object is to the right of the second, seen by the robot.",
        Measure::InFrontOf => "Whether the first object is nearer to the robot than the second.",
        Measure::Behind => "Whether the first object is farther from the robot than the second.",
        Measure::Near => "Whether two objects are near each other.",
        Measure::Between => "Whether the first object stands between the second and the third.",
        Measure::Inside => "Whether the first object is inside the second.",
        Measure::On => "Whether the first object is on the second.",
    }
}
