//! The type hash of a message as ROS 2 has it since Iron (REP-2011, `RIHS01`): SHA-256 of its description and of those of the messages
//! in it, as JSON with the spacing that `rosidl_generator_type_description` writes. Defaults, constants and comments do not count.

use std::collections::BTreeSet;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::generate::{EMPTY_MEMBER, Interfaces};
use crate::interface::{Count, Element, Field, Interface, Kind, Primitive};

/// Numbers of `type_description_interfaces/msg/FieldType`.
const NESTED: u32 = 1;
const UINT8: u32 = 3;
/// What is added for an array, a sequence with a bound, one without.
const ARRAY: u32 = 48;
const BOUNDED: u32 = 96;
const UNBOUNDED: u32 = 144;
/// What is added for a string with a bound.
const BOUNDED_STRING: u32 = 4;

/// `RIHS01_` and 64 digits; `None` when a message in it is not among `interfaces`.
pub(crate) fn type_hash(interfaces: &Interfaces, package: &str, name: &str) -> Option<String> {
    let own = find(interfaces, package, name)?;
    let mut known = BTreeSet::new();
    let mut open: Vec<&Interface> = vec![own];
    while let Some(interface) = open.pop() {
        for (package, name) in parts(interface) {
            if known.insert(format!("{package}/msg/{name}")) {
                open.push(find(interfaces, package, name)?);
            }
        }
    }
    let mut referenced = Vec::new();
    for full in &known {
        let (package, name) = full.split_once("/msg/")?;
        referenced.push(individual(full, find(interfaces, package, name)?));
    }
    let text = format!(
        "{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}",
        individual(&format!("{package}/msg/{name}"), own),
        referenced.join(", ")
    );
    let mut hash = String::from("RIHS01_");
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    Some(hash)
}

fn find<'a>(interfaces: &'a Interfaces, package: &str, name: &str) -> Option<&'a Interface> {
    interfaces.get(package)?.get(&Kind::Msg)?.get(name)
}

fn parts(interface: &Interface) -> impl Iterator<Item = (&str, &str)> {
    let fields = interface.sections.iter().flat_map(|section| &section.fields);
    fields.filter_map(|field| match &field.element {
        Element::Message { package, name } => Some((package.as_str(), name.as_str())),
        Element::Primitive(_) => None,
    })
}

/// The description of one message, without those in it.
fn individual(full: &str, interface: &Interface) -> String {
    let mut fields: Vec<String> =
        interface.sections.iter().flat_map(|section| &section.fields).map(field).collect();
    if fields.is_empty() {
        fields.push(described(EMPTY_MEMBER, UINT8, 0, 0, ""));
    }
    format!("{{\"type_name\": \"{full}\", \"fields\": [{}]}}", fields.join(", "))
}

fn field(field: &Field) -> String {
    let (base, bracket) = field.written.split_once('[').unwrap_or((&field.written, ""));
    let string_bound = number(base.split_once("<=").map(|(_, bound)| bound));
    let bound = number(bracket.trim_end_matches(']').strip_prefix("<="));
    let (id, nested) = match &field.element {
        Element::Primitive(primitive) => {
            (id_of(*primitive) + if string_bound > 0 { BOUNDED_STRING } else { 0 }, String::new())
        }
        Element::Message { package, name } => (NESTED, format!("{package}/msg/{name}")),
    };
    let (more, capacity) = match field.count {
        Count::One => (0, 0),
        Count::Fixed(length) => (ARRAY, length),
        Count::Sequence if bound > 0 => (BOUNDED, bound),
        Count::Sequence => (UNBOUNDED, 0),
    };
    described(&field.name, id + more, capacity, string_bound, &nested)
}

fn number(text: Option<&str>) -> usize {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn described(name: &str, id: u32, capacity: usize, string_capacity: usize, nested: &str) -> String {
    format!(
        "{{\"name\": \"{name}\", \"type\": {{\"type_id\": {id}, \"capacity\": {capacity}, \
         \"string_capacity\": {string_capacity}, \"nested_type_name\": \"{nested}\"}}}}"
    )
}

/// A `char` of an interface file is an unsigned octet, not the character of the description.
fn id_of(primitive: Primitive) -> u32 {
    match primitive {
        Primitive::Int8 => 2,
        Primitive::Char | Primitive::Uint8 => UINT8,
        Primitive::Int16 => 4,
        Primitive::Uint16 => 5,
        Primitive::Int32 => 6,
        Primitive::Uint32 => 7,
        Primitive::Int64 => 8,
        Primitive::Uint64 => 9,
        Primitive::Float32 => 10,
        Primitive::Float64 => 11,
        Primitive::Bool => 15,
        Primitive::Byte => 16,
        Primitive::String => 17,
        Primitive::WString => 18,
    }
}
