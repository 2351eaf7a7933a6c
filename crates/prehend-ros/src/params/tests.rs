//! Values, layouts and every error of parameters.

use super::*;

const FILE: &str = "\
/**:
  ros__parameters:
    use_sim_time: true
    shared_only: 1
verifier:
  ros__parameters:
    gate:
      threshold: 0.6
      retries: 2
    names: [a, b]
    weights: [1, 2.5]
    enabled: false
    label: hello
/other/verifier:
  ros__parameters:
    label: not ours
";

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("params.yaml");
    std::fs::write(&path, text).expect("written");
    (dir, path)
}

fn load(text: &str, overrides: &[&str]) -> Result<Parameters, ParameterError> {
    let (_dir, path) = file(text);
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Parameters::load("/prehend/verifier", &[path], &overrides)
}

#[test]
fn values_of_every_type() {
    let params = load(FILE, &[]).expect("valid");
    assert_eq!(params.f64("gate.threshold"), Ok(0.6));
    assert_eq!(params.f64("gate.retries"), Ok(2.0));
    assert_eq!(params.i64("gate.retries"), Ok(2));
    assert_eq!(params.bool("enabled"), Ok(false));
    assert_eq!(params.bool("use_sim_time"), Ok(true));
    assert_eq!(params.string("label"), Ok("hello".to_owned()));
    assert_eq!(params.string_list("names"), Ok(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(params.f64_list("weights"), Ok(vec![1.0, 2.5]));
    assert_eq!(params.f64_or("absent", 7.0), Ok(7.0));
    assert_eq!(params.finish(), Ok(()));
}

#[test]
fn overrides_win() {
    let params = load(FILE, &["gate.threshold:=0.9", "names:=[x]", "label:=\"a b\""]).expect("valid");
    assert_eq!(params.f64("gate.threshold"), Ok(0.9));
    assert_eq!(params.string_list("names"), Ok(vec!["x".to_owned()]));
    assert_eq!(params.string("label"), Ok("a b".to_owned()));
}

#[test]
fn unknown_parameters_are_named_with_the_nearest() {
    let params = load("verifier: {ros__parameters: {treshold: 1}}", &["colour:=red"]).expect("valid");
    assert_eq!(params.f64_or("threshold", 0.5), Ok(0.5));
    let Err(ParameterError::Unknown { unknown }) = params.finish() else { panic!("two unknown parameters") };
    let found: Vec<_> = unknown.iter().map(|item| (item.name.as_str(), item.nearest.as_deref())).collect();
    assert_eq!(found, [("colour", None), ("treshold", Some("threshold"))]);
    assert!(unknown[1].to_string().contains("params.yaml:1"), "{}", unknown[1]);
}

#[test]
fn wrong_types_and_missing() {
    let params = load(FILE, &["nan:=.nan"]).expect("valid");
    for wrong in [
        params.f64("label").err(),
        params.i64("gate.threshold").err(),
        params.bool("label").err(),
        params.string("names").err(),
        params.f64_list("names").err(),
        params.string_list("label").err(),
        params.f64("nan").err(),
    ] {
        assert!(matches!(wrong, Some(ParameterError::Wrong { .. })), "{wrong:?}");
    }
    let missing = ParameterError::Missing { node: "/prehend/verifier".to_owned(), name: "absent".to_owned() };
    assert_eq!(params.f64("absent"), Err(missing));
}

#[test]
fn broken_files_and_overrides() {
    for text in
        ["[1, 2]", "a: 1", "verifier: {ros__parameters: 3}", "verifier: {ros__parameters: {a: {b: }}}", ": {"]
    {
        let outcome = load(text, &[]);
        assert!(matches!(outcome, Err(ParameterError::File { .. })), "{text}: {outcome:?}");
    }
    for text in ["a=1", ":=1", "a:=[1", ""] {
        let outcome = load(FILE, &[text]);
        assert!(matches!(outcome, Err(ParameterError::Override { .. })), "{text}: {outcome:?}");
    }
    let absent = Parameters::load("/a", &[PathBuf::from("/nonexistent.yaml")], &[]);
    assert!(matches!(absent, Err(ParameterError::File { .. })), "{absent:?}");
}

#[test]
fn node_patterns() {
    for (path, full_name, expected) in [
        (vec!["/**"], "/prehend/sim", true),
        (vec!["/**"], "/sim", true),
        (vec!["/*"], "/sim", true),
        (vec!["/*"], "/prehend/sim", false),
        (vec!["/**/sim"], "/a/b/sim", true),
        (vec!["/**/sim"], "/sim", true),
        (vec!["/prehend/sim"], "/prehend/sim", true),
        (vec!["prehend", "sim"], "/prehend/sim", true),
        (vec!["/prehend", "*"], "/prehend/sim", true),
        (vec!["sim"], "/prehend/sim", true),
        (vec!["/sim"], "/prehend/sim", false),
        (vec!["agent"], "/prehend/sim", false),
    ] {
        let owned: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(means(&owned, full_name), expected, "{path:?} {full_name}");
    }
}
