//! Named colours, as data.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// 8-bit sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Color(pub [u8; 3]);

/// A named colour of `data/colours.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorName {
    /// Lower case name.
    pub name: String,
    /// What it looks like.
    pub color: Color,
}

/// The colour names a scene file may use, in file order.
pub fn named_colors() -> &'static [ColorName] {
    static COLORS: OnceLock<Vec<ColorName>> = OnceLock::new();
    COLORS.get_or_init(|| {
        // A broken table gives an empty list, which a test and every scene file would show.
        prehend_config::read("colours.yaml", include_str!("../../data/colours.yaml"), read_colors)
            .unwrap_or_default()
    })
}

/// The colour of this name, if there is one.
pub fn named_color(name: &str) -> Option<Color> {
    named_colors().iter().find(|entry| entry.name == name).map(|entry| entry.color)
}

fn read_colors(root: prehend_config::Value<'_>) -> Option<Vec<ColorName>> {
    root.map(|map| {
        let read: Vec<Option<ColorName>> = map
            .entries()
            .into_iter()
            .map(|(name, value)| Some(ColorName { name, color: read_rgb(&value)? }))
            .collect();
        read.into_iter().collect()
    })
}

/// Reads `[r, g, b]`, whole numbers from 0 to 255.
pub(super) fn read_rgb(value: &prehend_config::Value<'_>) -> Option<Color> {
    let channels = value.list(|channel| {
        let number = channel.u64()?;
        match u8::try_from(number) {
            Ok(byte) => Some(byte),
            Err(_) => {
                channel.report(format!("`{number}` is outside 0 to 255"));
                None
            }
        }
    })?;
    match <[u8; 3]>::try_from(channels) {
        Ok(rgb) => Some(Color(rgb)),
        Err(channels) => {
            value.report(format!("expected 3 numbers [r, g, b], found {}", channels.len()));
            None
        }
    }
}
