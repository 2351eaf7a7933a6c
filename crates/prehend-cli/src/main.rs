//! The `prehend` command.
fn main() {}
