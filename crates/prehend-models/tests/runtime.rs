//! Libraries that look right from outside but are not ONNX Runtime. In a process of its own, because a process that has loaded
//! the right one keeps it.

use prehend_models::runtime::Places;
use prehend_models::{Runtime, RuntimeError};
use prehend_testing::{Needs, skipped};
use std::path::Path;

fn open(library: &Path) -> Result<Runtime, RuntimeError> {
    let places = Places { command_line: Some(library.to_path_buf()), ..Places::default() };
    Runtime::load(&places.find()?)
}

#[test]
fn another_library_is_refused_and_neither_panics_nor_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let fake = folder.path().join("libonnxruntime.so");
    // The header of this program, made that of a library, and nothing after it.
    let mut header = std::fs::read("/proc/self/exe").expect("this program")[..64].to_vec();
    header[16..18].copy_from_slice(&3_u16.to_le_bytes());
    std::fs::write(&fake, header).expect("the file");
    let error = open(&fake).expect_err("cut off");
    assert!(matches!(error, RuntimeError::Load { .. }), "{error}");
    assert!(error.to_string().contains("pip install onnxruntime"), "{error}");

    let libc = ["/lib", "/usr/lib", "/lib64"].iter().flat_map(|folder| {
        [format!("{folder}/{}-linux-gnu/libm.so.6", std::env::consts::ARCH), format!("{folder}/libm.so.6")]
    });
    let Some(libm) = libc.map(std::path::PathBuf::from).find(|path| path.exists()) else {
        skipped(Needs::Libm, "no libm.so.6 to take for ONNX Runtime");
        return;
    };
    let error = open(&libm).expect_err("not ONNX Runtime");
    let RuntimeError::Load { message, .. } = &error else { panic!("{error}") };
    assert!(message.contains("OrtGetApiBase"), "{message}");
}
