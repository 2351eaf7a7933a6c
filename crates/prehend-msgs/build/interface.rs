//! Reader of ROS 2 interface files (`.msg`, `.srv`, `.action`): text in, sections of constants and fields out.
//!
//! Source of the syntax: <https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html>. The build script turns the
//! result into Rust; the tests read it directly. Knows nothing of Rust or of the wire.

use std::collections::BTreeSet;
use std::fmt;

/// What a file name's ending says about its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// One section.
    Msg,
    /// Request, response.
    Srv,
    /// Goal, result, feedback.
    Action,
}

impl Kind {
    /// The kind for a file ending, without the dot.
    pub(crate) fn from_extension(extension: &str) -> Option<Kind> {
        match extension {
            "msg" => Some(Kind::Msg),
            "srv" => Some(Kind::Srv),
            "action" => Some(Kind::Action),
            _ => None,
        }
    }

    /// Folder, ending and ROS module name, which are all the same word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Msg => "msg",
            Kind::Srv => "srv",
            Kind::Action => "action",
        }
    }

    fn section_count(self) -> usize {
        match self {
            Kind::Msg => 1,
            Kind::Srv => 2,
            Kind::Action => 3,
        }
    }
}

/// A type built into the interface language. `byte` and `char` are both one unsigned octet in ROS 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primitive {
    Bool,
    Byte,
    Char,
    Float32,
    Float64,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    String,
    WString,
}

impl Primitive {
    fn from_word(word: &str) -> Option<Primitive> {
        Some(match word {
            "bool" => Primitive::Bool,
            "byte" => Primitive::Byte,
            "char" => Primitive::Char,
            "float32" => Primitive::Float32,
            "float64" => Primitive::Float64,
            "int8" => Primitive::Int8,
            "uint8" => Primitive::Uint8,
            "int16" => Primitive::Int16,
            "uint16" => Primitive::Uint16,
            "int32" => Primitive::Int32,
            "uint32" => Primitive::Uint32,
            "int64" => Primitive::Int64,
            "uint64" => Primitive::Uint64,
            "string" => Primitive::String,
            "wstring" => Primitive::WString,
            _ => return None,
        })
    }
}

/// The type of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A built-in type; the bound of a string is not kept, the wire does not show it.
    Primitive(Primitive),
    /// Another message.
    Message { package: String, name: String },
}

/// How many elements a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Exactly one, not an array.
    One,
    /// An array of this length; no length on the wire.
    Fixed(usize),
    /// A sequence, bounded or not (the wire does not show it); its length goes first on the wire.
    Sequence,
}

/// One field of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The type as it is written in the file.
    pub(crate) written: String,
    pub(crate) element: Element,
    pub(crate) count: Count,
    /// The default as written, string quotes removed; one item for a single value.
    pub(crate) default: Option<Vec<String>>,
    pub(crate) doc: Vec<String>,
}

/// One constant of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) written: String,
    pub(crate) primitive: Primitive,
    /// As written, string quotes removed.
    pub(crate) value: String,
    pub(crate) doc: Vec<String>,
}

/// What stands between two `---`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) constants: Vec<Constant>,
    pub(crate) fields: Vec<Field>,
}

/// One interface file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    /// The comment at the head of the file.
    pub(crate) doc: Vec<String>,
    /// One, two or three, as the kind says.
    pub(crate) sections: Vec<Section>,
}

/// Why a file is not an interface; lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceError {
    /// A line has a type and nothing else.
    NoName { line: usize },
    /// A field name is not lower_snake_case, or a constant's not UPPER_SNAKE_CASE.
    BadName { line: usize, name: String },
    /// Two fields or two constants of one section have the same name.
    DuplicateName { line: usize, name: String },
    /// Neither a built-in type nor a message name.
    BadType { line: usize, written: String },
    /// A constant of a message type or an array.
    BadConstant { line: usize, name: String },
    /// A default of a message type, or a number of items that does not fit the array.
    BadDefault { line: usize, name: String },
    /// Too few or too many `---`.
    Sections { expected: usize, found: usize },
}

impl fmt::Display for InterfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterfaceError::NoName { line } => write!(f, "line {line}: a type without a name"),
            InterfaceError::BadName { line, name } => write!(f, "line {line}: `{name}` is not a valid name"),
            InterfaceError::DuplicateName { line, name } => write!(f, "line {line}: `{name}` stands twice"),
            InterfaceError::BadType { line, written } => write!(f, "line {line}: `{written}` is not a type"),
            InterfaceError::BadConstant { line, name } => {
                write!(f, "line {line}: `{name}` cannot be a constant")
            }
            InterfaceError::BadDefault { line, name } => {
                write!(f, "line {line}: the default of `{name}` does not fit")
            }
            InterfaceError::Sections { expected, found } => {
                write!(f, "{found} sections where {expected} are needed")
            }
        }
    }
}

impl std::error::Error for InterfaceError {}

/// Reads one interface file of `package`; message names without a package are resolved to it.
///
/// # Errors
/// The first thing that is not valid, with its line.
pub(crate) fn parse(package: &str, kind: Kind, text: &str) -> Result<Interface, InterfaceError> {
    let mut sections = vec![Section::default()];
    let mut head = Vec::new();
    let mut in_head = true;
    let mut comments: Vec<String> = Vec::new();
    let mut names = BTreeSet::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let (code, comment) = match raw.split_once('#') {
            Some((code, comment)) => (code.trim(), Some(comment.trim_start_matches('#').trim())),
            None => (raw.trim(), None),
        };
        let comment = comment.filter(|c| !c.is_empty()).map(str::to_owned);
        if code.is_empty() {
            match comment {
                Some(comment) if in_head => head.push(comment),
                Some(comment) => comments.push(comment),
                None if raw.trim().is_empty() => {
                    in_head = in_head && head.is_empty();
                    comments.clear();
                }
                None => {}
            }
            continue;
        }
        in_head = false;
        if code == "---" {
            sections.push(Section::default());
            names.clear();
            comments.clear();
            continue;
        }
        let mut doc = std::mem::take(&mut comments);
        doc.extend(comment);
        let Some(section) = sections.last_mut() else { continue };
        let name = parse_line(package, line, code, doc, section)?;
        if !names.insert(name.clone()) {
            return Err(InterfaceError::DuplicateName { line, name });
        }
    }
    if sections.len() != kind.section_count() {
        return Err(InterfaceError::Sections { expected: kind.section_count(), found: sections.len() });
    }
    Ok(Interface { doc: head, sections })
}

fn parse_line(
    package: &str,
    line: usize,
    code: &str,
    doc: Vec<String>,
    section: &mut Section,
) -> Result<String, InterfaceError> {
    let (written, rest) = code.split_once(char::is_whitespace).ok_or(InterfaceError::NoName { line })?;
    let rest = rest.trim_start();
    let name_end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
    let (name, tail) = rest.split_at(name_end);
    let (name, tail) = (name.to_owned(), tail.trim());
    let (element, count) = parse_type(package, written)
        .ok_or_else(|| InterfaceError::BadType { line, written: written.to_owned() })?;
    let written = written.to_owned();
    if let Some(value) = tail.strip_prefix('=') {
        if !is_name(&name, |c| c.is_ascii_uppercase()) {
            return Err(InterfaceError::BadName { line, name });
        }
        let (Element::Primitive(primitive), Count::One) = (element, count) else {
            return Err(InterfaceError::BadConstant { line, name });
        };
        let value = unquote(value.trim()).to_owned();
        section.constants.push(Constant { name: name.clone(), written, primitive, value, doc });
        return Ok(name);
    }
    if !is_name(&name, |c| c.is_ascii_lowercase()) {
        return Err(InterfaceError::BadName { line, name });
    }
    let default = match (tail, &element) {
        ("", _) => None,
        (_, Element::Message { .. }) => return Err(InterfaceError::BadDefault { line, name }),
        (tail, Element::Primitive(_)) => Some(
            parse_default(tail, count)
                .ok_or_else(|| InterfaceError::BadDefault { line, name: name.clone() })?,
        ),
    };
    section.fields.push(Field { name: name.clone(), written, element, count, default, doc });
    Ok(name)
}

fn parse_type(package: &str, written: &str) -> Option<(Element, Count)> {
    let (base, count) = match written.split_once('[') {
        None => (written, Count::One),
        Some((base, bound)) => {
            let bound = bound.strip_suffix(']')?;
            let count = match (bound, bound.strip_prefix("<=")) {
                ("", _) => Count::Sequence,
                (_, Some(limit)) => {
                    limit.parse::<usize>().ok().filter(|n| *n > 0).map(|_| Count::Sequence)?
                }
                (length, None) => length.parse().ok().filter(|n| *n > 0).map(Count::Fixed)?,
            };
            (base, count)
        }
    };
    if let Some((word, limit)) = base.split_once("<=") {
        limit.parse::<usize>().ok()?;
        let primitive = Primitive::from_word(word)?;
        let bounded = matches!(primitive, Primitive::String | Primitive::WString);
        return bounded.then_some((Element::Primitive(primitive), count));
    }
    if let Some(primitive) = Primitive::from_word(base) {
        return Some((Element::Primitive(primitive), count));
    }
    let parts: Vec<&str> = base.split('/').collect();
    let (package, name) = match parts.as_slice() {
        [name] => (package, *name),
        [package, name] | [package, "msg", name] => (*package, *name),
        _ => return None,
    };
    let camel =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    let fits = camel && is_name(package, |c| c.is_ascii_lowercase());
    fits.then(|| (Element::Message { package: package.to_owned(), name: name.to_owned() }, count))
}

/// The items of a default: `[a, b]` for an array, one otherwise.
fn parse_default(tail: &str, count: Count) -> Option<Vec<String>> {
    if count == Count::One {
        return Some(vec![unquote(tail).to_owned()]);
    }
    let inside = tail.strip_prefix('[')?.strip_suffix(']')?.trim();
    let items: Vec<String> = if inside.is_empty() {
        Vec::new()
    } else {
        split_items(inside).into_iter().map(|item| unquote(item.trim()).to_owned()).collect()
    };
    match count {
        Count::Fixed(length) if items.len() != length => None,
        _ => Some(items),
    }
}

/// Splits at commas that are not inside quotes.
fn split_items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ',') => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}

fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return inside;
        }
    }
    text
}

/// A letter of the right case first, then such letters, digits and single underscores, no underscore last.
fn is_name(name: &str, letter: fn(char) -> bool) -> bool {
    name.starts_with(letter)
        && name.chars().all(|c| letter(c) || c.is_ascii_digit() || c == '_')
        && !name.contains("__")
        && !name.ends_with('_')
}
