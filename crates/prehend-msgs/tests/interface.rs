//! The reader of interface files: each part of the syntax, each error with its line.

#[path = "../build/interface.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod interface;

use interface::{Count, Element, InterfaceError, Kind, Primitive, parse};

fn primitive(p: Primitive) -> Element {
    Element::Primitive(p)
}

fn message(package: &str, name: &str) -> Element {
    Element::Message { package: package.to_owned(), name: name.to_owned() }
}

#[test]
fn types() {
    let cases = [
        ("bool a", primitive(Primitive::Bool), Count::One),
        ("byte a", primitive(Primitive::Byte), Count::One),
        ("char a", primitive(Primitive::Char), Count::One),
        ("float32 a", primitive(Primitive::Float32), Count::One),
        ("float64[9] a", primitive(Primitive::Float64), Count::Fixed(9)),
        ("int8[] a", primitive(Primitive::Int8), Count::Sequence),
        ("uint8[<=4] a", primitive(Primitive::Uint8), Count::Sequence),
        ("string a", primitive(Primitive::String), Count::One),
        ("string<=10 a", primitive(Primitive::String), Count::One),
        ("string<=10[] a", primitive(Primitive::String), Count::Sequence),
        ("string<=10[<=5] a", primitive(Primitive::String), Count::Sequence),
        ("wstring[3] a", primitive(Primitive::WString), Count::Fixed(3)),
        ("Pose a", message("here_msgs", "Pose"), Count::One),
        ("geometry_msgs/Pose[] a", message("geometry_msgs", "Pose"), Count::Sequence),
        ("geometry_msgs/msg/Pose[2] a", message("geometry_msgs", "Pose"), Count::Fixed(2)),
        ("  int64 \t a  # spaces and a comment", primitive(Primitive::Int64), Count::One),
    ];
    for (text, element, count) in cases {
        let parsed = parse("here_msgs", Kind::Msg, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let field = &parsed.sections[0].fields[0];
        assert_eq!((&field.element, field.count, field.name.as_str()), (&element, count, "a"), "{text}");
    }
}

#[test]
fn defaults() {
    let cases: [(&str, Option<&[&str]>); 10] = [
        ("float64 a", None),
        ("float64 a 1", Some(&["1"])),
        ("int32 a -7", Some(&["-7"])),
        ("bool a true", Some(&["true"])),
        ("string a plain", Some(&["plain"])),
        ("string a \"two words\"", Some(&["two words"])),
        ("string a 'it''s'", Some(&["it''s"])),
        ("int32[] a [1, 2,3]", Some(&["1", "2", "3"])),
        ("int32[] a []", Some(&[])),
        ("string[2] a [\"x, y\", 'z']", Some(&["x, y", "z"])),
    ];
    for (text, expected) in cases {
        let parsed = parse("p", Kind::Msg, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let found = parsed.sections[0].fields[0].default.clone();
        assert_eq!(found, expected.map(|items| items.iter().map(|s| (*s).to_owned()).collect()), "{text}");
    }
}

#[test]
fn constants() {
    let cases = [
        ("int32 A=5", Primitive::Int32, "5"),
        ("int32 A = -5", Primitive::Int32, "-5"),
        ("uint8 A_1=0x1F # hex", Primitive::Uint8, "0x1F"),
        ("string A=plain words", Primitive::String, "plain words"),
        ("string A='quoted'", Primitive::String, "quoted"),
        ("string A=x=y", Primitive::String, "x=y"),
        ("float32 A= 0.5", Primitive::Float32, "0.5"),
    ];
    for (text, kind, value) in cases {
        let parsed = parse("p", Kind::Msg, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let constant = &parsed.sections[0].constants[0];
        assert_eq!((constant.primitive, constant.value.as_str()), (kind, value), "{text}");
        assert!(parsed.sections[0].fields.is_empty(), "{text}");
    }
}

#[test]
fn sections_and_comments() {
    let text = "# What it is.\n# More.\n\n# of a\nint32 a # too\n\n# lost\n\nint32 b\n---\nint32 a\n---\n";
    let parsed = parse("p", Kind::Action, text).expect("valid");
    assert_eq!(parsed.doc, ["What it is.", "More."]);
    let counts: Vec<usize> = parsed.sections.iter().map(|s| s.fields.len()).collect();
    assert_eq!(counts, [2, 1, 0]);
    assert_eq!(parsed.sections[0].fields[0].doc, ["of a", "too"]);
    assert!(parsed.sections[0].fields[1].doc.is_empty());
}

#[test]
fn errors() {
    let name = |line, name: &str| InterfaceError::BadName { line, name: name.to_owned() };
    let bad_type = |line, written: &str| InterfaceError::BadType { line, written: written.to_owned() };
    let bad_default = InterfaceError::BadDefault { line: 1, name: "a".to_owned() };
    let cases = [
        (Kind::Msg, "int32", InterfaceError::NoName { line: 1 }),
        (Kind::Msg, "\n\nint32 A", name(3, "A")),
        (Kind::Msg, "int32 a__b", name(1, "a__b")),
        (Kind::Msg, "int32 a_", name(1, "a_")),
        (Kind::Msg, "int32 lower=1", name(1, "lower")),
        (Kind::Msg, "int32 a\nint32 a", InterfaceError::DuplicateName { line: 2, name: "a".to_owned() }),
        (Kind::Msg, "int33 a", bad_type(1, "int33")),
        (Kind::Msg, "int32[ a", bad_type(1, "int32[")),
        (Kind::Msg, "int32[0] a", bad_type(1, "int32[0]")),
        (Kind::Msg, "int32<=3 a", bad_type(1, "int32<=3")),
        (Kind::Msg, "a/b/c/D a", bad_type(1, "a/b/c/D")),
        (Kind::Msg, "Pose A=1", InterfaceError::BadConstant { line: 1, name: "A".to_owned() }),
        (Kind::Msg, "int32[2] A=1", InterfaceError::BadConstant { line: 1, name: "A".to_owned() }),
        (Kind::Msg, "Pose a 1", bad_default.clone()),
        (Kind::Msg, "int32[2] a [1]", bad_default.clone()),
        (Kind::Msg, "int32[2] a 1", bad_default),
        (Kind::Msg, "int32 a\n---", InterfaceError::Sections { expected: 1, found: 2 }),
        (Kind::Srv, "int32 a", InterfaceError::Sections { expected: 2, found: 1 }),
        (Kind::Action, "---", InterfaceError::Sections { expected: 3, found: 2 }),
    ];
    for (kind, text, expected) in cases {
        let error = parse("p", kind, text).expect_err(text);
        assert_eq!(error, expected, "{text}");
        assert!(!error.to_string().is_empty());
    }
}
