//! Drawing on a picture: outlines, tints, dots and labels, and PNG files of it.
//!
//! For: whoever shows a person what was seen or planned. Not for: rendering scenes, see `prehend-sim`. Read [`overlay`] first.

mod font;
pub mod overlay;

#[cfg(test)]
mod tests;
