//! Whether a call's arguments have the shape that its tool asks for.

use serde_json::{Map, Value};

/// What is wrong with a value, by the part of JSON Schema that the tools use: `type`, `properties`, `required`,
/// `additionalProperties: false`, `items`, `minItems`, `maxItems`, `enum`; `None` when nothing is.
///
/// The text names places and wanted types, never what the model wrote.
pub(super) fn misfit(value: &Value, schema: &Value) -> Option<String> {
    at("arguments", value, schema)
}

fn at(place: &str, value: &Value, schema: &Value) -> Option<String> {
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or("object");
    match (wanted, value) {
        ("object", Value::Object(fields)) => object(place, fields, schema),
        ("array", Value::Array(items)) => {
            let bound =
                |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
            let (low, high) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(usize::MAX));
            if items.len() < low || items.len() > high {
                let high = if high == usize::MAX { "more".to_owned() } else { high.to_string() };
                return Some(format!("`{place}` must have {low} to {high} entries, not {}", items.len()));
            }
            let of = schema.get("items")?;
            items.iter().enumerate().find_map(|(index, item)| at(&format!("{place}[{index}]"), item, of))
        }
        ("string", Value::String(_)) => {
            let choices = schema.get("enum")?.as_array()?;
            let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
            (!choices.contains(value)).then(|| format!("`{place}` must be one of {}", names.join(", ")))
        }
        _ => Some(format!("`{place}` must be of type {wanted}")),
    }
}

fn object(place: &str, fields: &Map<String, Value>, schema: &Value) -> Option<String> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    let missing = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|name| !fields.contains_key(*name))
        .map(|name| format!("`{place}` needs `{name}`"));
    let unknown = fields.keys().any(|name| !properties.contains_key(name)).then(|| {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        format!("`{place}` takes only {}", known.join(", "))
    });
    missing.or(unknown).or_else(|| {
        fields.iter().find_map(|(name, value)| at(&format!("{place}.{name}"), value, properties.get(name)?))
    })
}

#[cfg(test)]
mod tests {
    use super::super::prompt;
    use super::*;
    use serde_json::json;

    fn check(tool: &str, arguments: &Value) -> Option<String> {
        let tools = prompt::tools(true);
        let tool = tools.iter().find(|known| known.name == tool).expect("a tool of this name");
        misfit(arguments, &tool.parameters)
    }

    #[test]
    fn what_fits_fits() {
        let fits = [
            ("object_retrieval", json!({ "query": "red mug" })),
            ("interact", json!({ "obj": "", "action": "place it on the table" })),
            ("interact", json!({ "obj": "a_0", "action": "place it between", "with": ["b_0"] })),
            ("near", json!({ "objects": ["a_0", "b_0"] })),
            ("finish", json!({ "message": "done", "facts": [] })),
            ("finish", json!({ "message": "", "facts": [{ "object": "a", "state": "in", "target": "b" }] })),
            ("refuse", json!({ "reason": "unsafe", "message": "no" })),
        ];
        for (tool, arguments) in fits {
            assert_eq!(check(tool, &arguments), None, "{tool} {arguments}");
        }
    }

    #[test]
    fn what_does_not_is_told_by_its_place() {
        let wrong = [
            ("object_retrieval", json!({}), "needs `query`"),
            ("object_retrieval", json!({ "query": 3 }), "`arguments.query` must be of type string"),
            ("object_retrieval", json!(["mug"]), "must be of type object"),
            ("object_retrieval", json!(null), "must be of type object"),
            ("interact", json!({ "obj": "a_0", "action": "grasp", "force": 40 }), "takes only"),
            ("interact", json!({ "obj": "a_0", "action": "grasp", "with": "b" }), "`arguments.with`"),
            ("near", json!({ "objects": ["a_0"] }), "2 to 2 entries"),
            ("near", json!({ "objects": ["a_0", 1] }), "`arguments.objects[1]`"),
            ("refuse", json!({ "reason": "bored", "message": "" }), "one of not_understood"),
            ("finish", json!({ "message": "m", "facts": [{ "object": "a" }] }), "facts[0]` needs"),
        ];
        for (tool, arguments, says) in wrong {
            let found = check(tool, &arguments).unwrap_or_default();
            assert!(found.contains(says), "{tool} {arguments}: {found}");
        }
    }
}
