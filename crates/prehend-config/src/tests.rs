use crate::{read, read_file};

fn check(text: &str, expected: &[&str]) {
    let result = read("f.yaml", text, |root| {
        root.map(|m| {
            let name = m.req("name").and_then(|v| v.text());
            let mass = m.req("mass").and_then(|v| v.f64_in(0.0, 10.0));
            let shape = m.or("shape", 1, |v| v.choice(&[("box", 1), ("cylinder", 2)]));
            let size = m.or("size", [1.0; 3], |v| v.numbers::<3>());
            Some((name?, mass?, shape?, size?))
        })
    });
    let found: Vec<String> = match result {
        Ok(_) => Vec::new(),
        Err(findings) => findings.items().iter().map(ToString::to_string).collect(),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn every_error_at_once_with_its_line_and_the_nearest_key() {
    check("name: a\nmass: 1", &[]);
    check("name: a\nmass: 1\nshape: cylinder\nsize: [1, 2.5, 3]", &[]);
    check(
        "name: a\nmas: 1\nshape: cilinder\nsize: [1, x]",
        &[
            "f.yaml:1:1: missing key `mass`",
            "f.yaml:2:1: unknown key `mas`; did you mean `mass`?",
            "f.yaml:3:8: shape: unknown value `cilinder`; did you mean `cylinder`?",
            "f.yaml:4:11: size[1]: expected a number, found `x`",
        ],
    );
    check("name: a\nmass: .nan", &["f.yaml:2:7: mass: expected a finite number, found `NaN`"]);
    check("name: a\nmass: 11", &["f.yaml:2:7: mass: `11` is outside 0 to 10"]);
    check("name: a\nmass: 1\nzz: 2", &["f.yaml:3:1: unknown key `zz`; known keys: name, mass, shape, size"]);
    check("- a", &["f.yaml:1:1: expected a mapping, found a list of 1"]);
    check("", &["f.yaml:1:1: expected one YAML document, found 0"]);
}

/// Reading that breaks off has not asked for the keys after that: nobody says that they are unknown.
#[test]
fn where_reading_breaks_off_only_what_is_like_an_absent_key_is_unknown() {
    let found = |text: &str| {
        let pair = read("f.yaml", text, |root| {
            root.map(|m| Some((m.req("first")?.f64()?, m.req("second")?.f64()?)))
        });
        pair.expect_err(text).items().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("second: 2"), ["f.yaml:1:1: missing key `first`"]);
    let misspelt =
        ["f.yaml:1:1: missing key `first`", "f.yaml:1:1: unknown key `frist`; did you mean `first`?"];
    assert_eq!(found("frist: 1\nsecond: 2"), misspelt);
}

#[test]
fn broken_yaml_is_one_finding_with_a_line() {
    for text in ["a: [1, 2", "a: 1\na: 2", "\t- x: y: z", "a: \"unclosed"] {
        let error = read("f.yaml", text, |root| root.map(|m| m.req("a")?.f64())).expect_err(text);
        assert!(error.items()[0].line >= 1, "{text}: {error}");
    }
}

#[test]
fn a_missing_file_is_a_finding() {
    let error =
        read_file(std::path::Path::new("/nonexistent/x.yaml"), |root| root.f64()).expect_err("missing");
    assert!(error.to_string().contains("cannot read the file"), "{error}");
}
