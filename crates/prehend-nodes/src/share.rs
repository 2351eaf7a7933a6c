//! Where the data files are: configuration, robot descriptions, scenes.

pub use prehend_sim::share::{SHARE_VARIABLE, resolve, share_dir};
