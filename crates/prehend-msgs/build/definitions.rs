//! Writer of the table of message definitions: their texts as they stand in the interface files, what they are made of, and their hashes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::generate::Interfaces;
use crate::hash::type_hash;
use crate::interface::{Element, Kind};

/// The files of the messages by package and name.
pub(crate) type Files = BTreeMap<(String, String), PathBuf>;

/// An expression for a slice of `Definition`, sorted by name.
pub(crate) fn definitions(interfaces: &Interfaces, files: &Files) -> String {
    let mut table = String::from("&[\n");
    for ((package, name), file) in files {
        let message = interfaces
            .get(package)
            .and_then(|kinds| kinds.get(&Kind::Msg))
            .and_then(|messages| messages.get(name));
        let fields = message.iter().flat_map(|message| &message.sections).flat_map(|section| &section.fields);
        let parts: Vec<String> = fields
            .filter_map(|field| match &field.element {
                Element::Message { package, name } => Some(format!("{package}/msg/{name}")),
                Element::Primitive(_) => None,
            })
            .collect();
        let full = format!("{package}/msg/{name}");
        let hash = type_hash(interfaces, package, name).unwrap_or_default();
        let path = file.display().to_string();
        let _ = writeln!(
            table,
            "Definition {{ name: {full:?}, text: include_str!({path:?}), parts: &{parts:?}, hash: {hash:?} }},"
        );
    }
    table.push(']');
    table
}
