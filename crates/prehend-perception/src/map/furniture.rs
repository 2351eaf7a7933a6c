//! Drawers and doors from frame to frame.

pub(super) mod bank;
pub(super) mod rows;
mod settings;

pub use settings::{BankSettings, FurnitureSettings, OutlineSettings, RowSettings};
