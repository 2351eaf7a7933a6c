//! The models that look at the frames of a map.

use super::Failure;
use crate::args::SightArgs;
use crate::commands::models;
use prehend_models::Runtime;
use prehend_models::sight::{choose, open as open_models};
use prehend_perception::Sight;

/// Opens the models that were asked for; without any, nothing is looked for, not even the runtime.
pub(super) fn open(args: &SightArgs) -> Result<Sight, Failure> {
    if args.models.is_empty() && args.prompt.is_none() {
        return Ok(Sight::default());
    }
    let config = models::config(&args.which).map_err(Failure::input)?;
    let entries = choose(&config, &args.models, args.prompt.as_slice()).map_err(Failure::input)?;
    let runtime = Runtime::open(args.which.runtime.as_deref()).map_err(Failure::not_ready)?;
    open_models(&entries, &runtime).map_err(Failure::not_ready)
}
