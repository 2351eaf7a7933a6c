//! Models on the real runtime: every test is skipped, with a line that says so, where ONNX Runtime is not installed.

mod cells;
mod fastestdet;
mod memory;
mod names;
mod sam;
mod sentence;
mod session;
mod support;
mod towers;
mod worded;
mod yolo;
