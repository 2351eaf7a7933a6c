//! Small bags that the tests write, read back and made into maps; and one test for each fault.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod faults;
mod live;
mod maps;
mod real;
mod recorded;
#[cfg(feature = "ros1")]
mod ros1;
mod scene;
mod topics;
mod write;
