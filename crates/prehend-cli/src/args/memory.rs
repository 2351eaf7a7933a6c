//! Arguments of `memory`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const AFTER: &str = "\
The memory is filled by the node `memory`: prehend demo --memory home.db (or `up`). These commands read the store itself; a graph need not run,
and one may. A running graph answers the services memory/query and memory/write, too.

  prehend demo --scene config/scenes/room_errand.yaml --timeout 400 --memory home.db --goal \"where is the bowl in the kitchen?\"
  prehend memory --store home.db query \"the bowl in the kitchen\" --pictures found/
  prehend memory --store home.db query \"bring the red apple on the shelf to the side table\"
  prehend memory --store postgres://robot@server/building list

Exit codes: 0 found or done, 1 nothing fits, 3 the store or a word is wrong.";

/// Arguments of `memory`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct MemoryArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: MemoryCommand,
    /// Where the memory is: a file, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE", default_value = "memory.db", global = true)]
    pub store: String,
    /// Where the features of the store come from, as the parameter `encoder` of the node: words, or models such as siglip2 or minilm,siglip2
    #[arg(long, value_name = "WHICH", default_value = "words", global = true)]
    pub encoder: String,
    /// Only this building [default: all]
    #[arg(long, value_name = "NAME", global = true)]
    pub building: Option<String>,
    /// Print one JSON value on stdout, and everything else on stderr
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with a memory.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Where is it? A thing ("the towel near the sink") or a whole errand
    Query {
        /// The thing or the sentence
        text: String,
        /// What shall be done with it: pick, place, open, close or press [default: as the sentence says]
        #[arg(long, value_name = "ACTION")]
        action: Option<String>,
        /// Most things for each that is looked for
        #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=50))]
        k: u32,
        /// Write the best view of each thing into this folder, as PNG
        #[arg(long, value_name = "DIR")]
        pictures: Option<PathBuf>,
    },
    /// What is remembered: buildings, rooms and what is in them
    List,
    /// What was done, the newest first
    Episodes {
        /// Most of them
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: usize,
    },
    /// Forget what is named, for good
    Forget {
        /// A thing, by the number that `query` shows
        #[arg(long, value_name = "ID", group = "what", required = true)]
        thing: Option<i64>,
        /// Everything of the building of --building
        #[arg(long, group = "what", requires = "building")]
        all: bool,
        /// What this robot saw and did
        #[arg(long, value_name = "ROBOT", group = "what")]
        robot: Option<String>,
        /// Views and episodes that are older than so many days
        #[arg(long, value_name = "DAYS", group = "what")]
        older_than: Option<f64>,
    },
    /// Take everything that came since into the index of likeness; a running memory does it bit by bit, and a server by itself
    Index,
    /// Everything as one JSON object, without pictures
    Export,
}
