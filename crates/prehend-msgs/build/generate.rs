//! Writer of the Rust modules: interfaces in, source text out, in the shape r2r gives the same interfaces.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::interface::{Constant, Count, Element, Field, Interface, Kind, Primitive, Section};

/// All interfaces: package, kind, name.
pub(crate) type Interfaces = BTreeMap<String, BTreeMap<Kind, BTreeMap<String, Interface>>>;

/// A ROS struct without fields has this one on the wire.
pub(crate) const EMPTY_MEMBER: &str = "structure_needs_at_least_one_member";

/// A folder whose name ends so has the layouts of ROS 2 Humble where they differ from Jazzy's; in the graph, the package has its own name.
const HUMBLE: &str = "_humble";

/// The name that a package has in the graph.
pub(crate) fn name_in_graph(package: &str) -> &str {
    package.strip_suffix(HUMBLE).unwrap_or(package)
}

/// What the build script writes.
pub(crate) struct Generated {
    /// The modules, to be included at the root of the crate.
    pub(crate) modules: String,
    /// A macro `for_each_type!(callback)` for the tests, which calls `callback!(Path, "name")` for each type.
    pub(crate) list: String,
}

/// Writes one Rust module per package.
///
/// # Errors
/// Text that names the interface and what it has that cannot be expressed: an unknown message, `wstring`, a value that does not fit.
pub(crate) fn generate(interfaces: &Interfaces) -> Result<Generated, String> {
    let mut known = BTreeSet::new();
    for (package, kinds) in interfaces {
        for name in kinds.get(&Kind::Msg).into_iter().flat_map(BTreeMap::keys) {
            known.insert((package.clone(), name.clone()));
        }
    }
    let mut writer = Writer { known, modules: String::new(), list: String::new() };
    for (package, kinds) in interfaces {
        writer.line(&format!("/// Interfaces of the ROS package `{package}`."));
        writer.line(&format!("pub mod {package} {{"));
        for (kind, by_name) in kinds {
            writer.line(&format!("/// The `.{}` files of `{package}`.", kind.word()));
            if *kind != Kind::Msg {
                writer.line("#[expect(non_snake_case, reason = \"a module is named as its interface, as r2r has it\")]");
            }
            writer.line(&format!("pub mod {} {{", kind.word()));
            for (name, interface) in by_name {
                writer
                    .interface(package, *kind, name, interface)
                    .map_err(|e| format!("{package}/{}/{name}: {e}", kind.word()))?;
            }
            writer.line("}");
        }
        writer.line("}");
    }
    let list = format!("macro_rules! for_each_type {{ ($callback:ident) => {{\n{}}} }}\n", writer.list);
    Ok(Generated { modules: writer.modules, list })
}

struct Writer {
    known: BTreeSet<(String, String)>,
    modules: String,
    list: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.modules.push_str(text);
        self.modules.push('\n');
    }

    fn interface(
        &mut self,
        package: &str,
        kind: Kind,
        name: &str,
        interface: &Interface,
    ) -> Result<(), String> {
        let (parts, marker): (&[&str], &str) = match kind {
            Kind::Msg => {
                let [section] = interface.sections.as_slice() else {
                    return Err("not one section".to_owned());
                };
                let mut doc = vec![format!("`{package}/msg/{name}`.")];
                doc.extend(interface.doc.iter().map(|d| escape_doc(d)));
                self.structure(section, name, &format!("{package}::msg::{name}"), &doc)?;
                self.line(&format!("impl crate::Message for {name} {{"));
                self.identity(package, name);
                self.line("}");
                return Ok(());
            }
            Kind::Srv => (&["Request", "Response"], "Service"),
            Kind::Action => (&["Goal", "Result", "Feedback"], "Action"),
        };
        let full = format!("{package}/{}/{name}", kind.word());
        self.line(&format!("/// `{full}`."));
        for text in &interface.doc {
            self.line("///");
            self.line(&format!("/// {}", escape_doc(text)));
        }
        self.line(&format!("pub mod {name} {{"));
        for (part, section) in parts.iter().zip(&interface.sections) {
            let doc = vec![format!("{part} of `{full}`.")];
            self.structure(section, part, &format!("{package}::{}::{name}::{part}", kind.word()), &doc)?;
        }
        self.line(&format!("/// The type `{full}` itself."));
        self.line("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]");
        self.line(&format!("pub struct {marker};"));
        self.line(&format!("impl crate::{marker} for {marker} {{"));
        for part in parts {
            self.line(&format!("type {part} = {part};"));
        }
        self.identity(package, name);
        self.line("}");
        self.line("}");
        Ok(())
    }

    fn identity(&mut self, package: &str, name: &str) {
        let in_graph = name_in_graph(package);
        self.line(&format!("const PACKAGE: &'static str = {in_graph:?};"));
        if in_graph != package {
            self.line(&format!("const LAYOUT: &'static str = {package:?};"));
        }
        self.line(&format!("const NAME: &'static str = {name:?};"));
    }

    fn structure(&mut self, section: &Section, name: &str, path: &str, doc: &[String]) -> Result<(), String> {
        let _ = writeln!(self.list, "$callback!(prehend_msgs::{path}, {path:?});");
        let plain = section.fields.iter().all(has_rust_default);
        for (index, text) in doc.iter().enumerate() {
            if index > 0 {
                self.line("///");
            }
            self.line(&format!("/// {text}"));
        }
        let default = if plain { "Default, " } else { "" };
        self.line(&format!(
            "#[derive(Clone, Debug, PartialEq, {default}::serde::Serialize, ::serde::Deserialize)]"
        ));
        self.line(&format!("pub struct {name} {{"));
        if section.fields.is_empty() {
            self.line("/// Always 0: an empty ROS structure is one byte on the wire.");
            self.line(&format!("pub {EMPTY_MEMBER}: u8,"));
        }
        for field in &section.fields {
            self.field(field)?;
        }
        self.line("}");
        if !plain {
            self.line(&format!("impl Default for {name} {{ fn default() -> Self {{ Self {{"));
            for field in &section.fields {
                let value = default_of(field).map_err(|e| format!("{}: {e}", field.name))?;
                self.line(&format!("{}: {value},", rust_name(&field.name)));
            }
            self.line("} } }");
        }
        if !section.constants.is_empty() {
            self.line(&format!("impl {name} {{"));
            for constant in &section.constants {
                self.constant(constant).map_err(|e| format!("{}: {e}", constant.name))?;
            }
            self.line("}");
        }
        Ok(())
    }

    fn field(&mut self, field: &Field) -> Result<(), String> {
        let element = match &field.element {
            Element::Primitive(primitive) => {
                rust_primitive(*primitive).map_err(|e| format!("{}: {e}", field.name))?.to_owned()
            }
            Element::Message { package, name } => {
                if !self.known.contains(&(package.clone(), name.clone())) {
                    return Err(format!("{}: there is no message {package}/{name}", field.name));
                }
                format!("crate::{package}::msg::{name}")
            }
        };
        self.doc_of(&field.written, &field.doc);
        let octets =
            matches!(field.element, Element::Primitive(Primitive::Uint8 | Primitive::Byte | Primitive::Char));
        match field.count {
            Count::Fixed(length) => {
                self.line(&format!("#[serde(with = \"crate::fixed_array::Fixed::<{length}>\")]"))
            }
            Count::Sequence if octets => self.line("#[serde(with = \"::serde_bytes\")]"),
            Count::Sequence | Count::One => {}
        }
        let name = rust_name(&field.name);
        if name != field.name {
            self.line(&format!("#[serde(rename = {:?})]", field.name));
        }
        match field.count {
            Count::One => self.line(&format!("pub {name}: {element},")),
            Count::Fixed(_) | Count::Sequence => {
                self.line(&format!("pub {name}: ::std::vec::Vec<{element}>,"))
            }
        }
        Ok(())
    }

    fn constant(&mut self, constant: &Constant) -> Result<(), String> {
        self.doc_of(&constant.written, &constant.doc);
        let (rust, value) = match constant.primitive {
            Primitive::String => ("&'static str", format!("{:?}", constant.value)),
            other => (rust_primitive(other)?, literal(other, &constant.value)?),
        };
        self.line(&format!("pub const {}: {rust} = {value};", constant.name));
        Ok(())
    }

    fn doc_of(&mut self, written: &str, doc: &[String]) {
        self.line(&format!("/// `{written}`"));
        for text in doc {
            self.line("///");
            self.line(&format!("/// {}", escape_doc(text)));
        }
    }
}

/// Markdown would read brackets as links and angles as tags.
fn escape_doc(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<").replace('>', "\\>")
}

fn rust_primitive(primitive: Primitive) -> Result<&'static str, String> {
    Ok(match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => "u8",
        Primitive::Float32 => "f32",
        Primitive::Float64 => "f64",
        Primitive::Int8 => "i8",
        Primitive::Int16 => "i16",
        Primitive::Uint16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::Uint32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::Uint64 => "u64",
        Primitive::String => "::std::string::String",
        Primitive::WString => return Err("wstring has no Rust type here; use string".to_owned()),
    })
}

/// Whether the field's default is that of its Rust type.
fn has_rust_default(field: &Field) -> bool {
    let zero = |items: &Vec<String>| {
        field.count == Count::One && items.iter().all(|v| ["0", "0.0", "false", ""].contains(&v.as_str()))
    };
    !matches!(field.count, Count::Fixed(_)) && field.default.as_ref().is_none_or(zero)
}

fn default_of(field: &Field) -> Result<String, String> {
    let single = "::std::default::Default::default()";
    let Element::Primitive(primitive) = field.element else {
        return Ok(match field.count {
            Count::Fixed(length) => format!("::std::vec![{single}; {length}]"),
            Count::One | Count::Sequence => single.to_owned(),
        });
    };
    let Some(items) = &field.default else {
        return Ok(match field.count {
            Count::Fixed(length) => format!("::std::vec![{single}; {length}]"),
            Count::One | Count::Sequence => single.to_owned(),
        });
    };
    let values = items.iter().map(|item| literal(primitive, item)).collect::<Result<Vec<_>, _>>()?;
    Ok(match field.count {
        Count::One => values.concat(),
        Count::Fixed(_) | Count::Sequence => format!("::std::vec![{}]", values.join(", ")),
    })
}

/// A value of an interface file as a Rust expression of that type.
fn literal(primitive: Primitive, value: &str) -> Result<String, String> {
    let bad = || format!("`{value}` does not fit {primitive:?}");
    match primitive {
        Primitive::Bool => match value {
            "true" | "True" | "1" => Ok("true".to_owned()),
            "false" | "False" | "0" => Ok("false".to_owned()),
            _ => Err(bad()),
        },
        Primitive::Float32 | Primitive::Float64 => {
            let number: f64 = value.parse().map_err(|_| bad())?;
            if number.is_finite() { Ok(format!("{number:?}")) } else { Err(bad()) }
        }
        Primitive::String => Ok(format!("::std::string::String::from({value:?})")),
        Primitive::WString => Err(bad()),
        integer => {
            let (minimum, maximum) = integer_range(integer);
            let number = parse_integer(value).ok_or_else(bad)?;
            if (minimum..=maximum).contains(&number) { Ok(number.to_string()) } else { Err(bad()) }
        }
    }
}

fn integer_range(primitive: Primitive) -> (i128, i128) {
    match primitive {
        Primitive::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Primitive::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Primitive::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Primitive::Int64 => (i64::MIN.into(), i64::MAX.into()),
        Primitive::Uint16 => (0, u16::MAX.into()),
        Primitive::Uint32 => (0, u32::MAX.into()),
        Primitive::Uint64 => (0, u64::MAX.into()),
        _ => (0, u8::MAX.into()),
    }
}

/// Decimal, `0x`, `0o` or `0b`, with a sign.
fn parse_integer(value: &str) -> Option<i128> {
    let (sign, digits) = match value.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, value.strip_prefix('+').unwrap_or(value)),
    };
    let number = if let Some(hex) = digits.strip_prefix("0x") {
        i128::from_str_radix(hex, 16)
    } else if let Some(octal) = digits.strip_prefix("0o") {
        i128::from_str_radix(octal, 8)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        i128::from_str_radix(binary, 2)
    } else {
        digits.parse()
    };
    number.ok().map(|n| sign * n)
}

/// The field name, with a trailing `_` where Rust has that word for itself.
fn rust_name(name: &str) -> String {
    const KEYWORDS: [&str; 52] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
        "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
        "static", "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized",
        "use", "virtual", "where", "while", "yield",
    ];
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}
