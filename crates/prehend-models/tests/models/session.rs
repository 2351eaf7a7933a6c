//! Models as files: what loads, what is refused, and what a refusal says.

use crate::support::onnx::{Axis::Free, Axis::Is, Graph, Kind};
use prehend_models::runtime::{Asked, Found};
use prehend_models::session::{Feed, Numbers};
use prehend_models::signature::{Axis, Expected, Signature};
use prehend_models::{ModelError, Runtime, RuntimeError, Session};
use prehend_perception::InferenceError;
use std::path::Path;

/// `sum = values + 1`, for any number of rows of three.
fn plus_one(path: &Path) {
    Graph::default()
        .input("values", Kind::Float, &[Free("rows"), Is(3)])
        .output("sum", Kind::Float, &[Free("rows"), Is(3)])
        .floats("one", &[1], &[1.0])
        .node("Add", &["values", "one"], &["sum"], &[])
        .write(path);
}

fn run(session: &Session, shape: &[usize], numbers: &[f32]) -> Result<Vec<f32>, InferenceError> {
    let feed = Feed { name: "values", shape, numbers: Numbers::Float(numbers) };
    session.run(&[feed], &["sum"]).map(|mut outputs| outputs.remove(0).numbers)
}

#[test]
fn a_session_runs_again_and_again_with_any_length_of_a_free_axis() {
    let Some(runtime) = crate::support::runtime() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plus_one.onnx");
    plus_one(&path);
    let session = Session::load(&runtime, "plus_one", &path).expect("a model");
    assert_eq!(session.inputs()[0].to_string(), "`values` float32 [rows, 3]");
    assert_eq!(run(&session, &[1, 3], &[0.0, 1.0, 2.0]), Ok(vec![1.0, 2.0, 3.0]));
    assert_eq!(run(&session, &[2, 3], &[0.0; 6]), Ok(vec![1.0; 6]));
    let wrong = run(&session, &[1, 2], &[0.0; 2]);
    assert!(matches!(wrong, Err(InferenceError::Run { .. })), "{wrong:?}");
    let infinite = run(&session, &[1, 3], &[0.0, f32::NAN, 0.0]);
    assert!(matches!(infinite, Err(InferenceError::NotFinite { .. })), "{infinite:?}");
}

#[test]
fn files_that_are_no_model_of_the_kind_are_refused_with_what_is_wrong() {
    let Some(runtime) = crate::support::runtime() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plus_one.onnx");
    let missing = Session::load(&runtime, "m", &path).expect_err("nothing there");
    assert!(matches!(missing, ModelError::Missing { .. }), "{missing}");
    plus_one(&path);
    let whole = std::fs::read(&path).expect("the model");
    for damaged in [&whole[..whole.len() / 2], b"no model at all", b""] {
        let path = folder.path().join("damaged.onnx");
        std::fs::write(&path, damaged).expect("the file");
        let error = Session::load(&runtime, "m", &path).expect_err("damaged");
        assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
    }
    let session = Session::load(&runtime, "m", &path).expect("a model");
    let picture = vec![Axis::free("batch"), Axis::Fixed(3), Axis::free("height"), Axis::free("width")];
    let signature = Signature {
        inputs: vec![Expected::named(&["images"], picture)],
        outputs: vec![Expected::only(vec![Axis::free("rows"), Axis::Fixed(3)])],
    };
    let error = session.check("a detector of pictures", &signature).expect_err("another kind").to_string();
    for words in
        ["is not a detector of pictures", "expected `images` float32", "found `values` float32 [rows, 3]"]
    {
        assert!(error.contains(words), "{words} is missing in: {error}");
    }
}

#[test]
fn a_process_keeps_the_library_it_has() {
    let Some(runtime) = crate::support::runtime() else { return };
    let again = Runtime::open(Some(runtime.path())).expect("the same library");
    assert_eq!(again.path(), runtime.path());
    let other = Found { library: "/lib/libanother.so".into(), asked: Asked::CommandLine };
    let refused = Runtime::load(&other);
    assert!(matches!(refused, Err(RuntimeError::Another { .. })), "{refused:?}");
}
