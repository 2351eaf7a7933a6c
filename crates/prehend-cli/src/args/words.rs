//! Arguments of `words`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const AFTER: &str = "\
A word that stands in no table, and that nothing seen bears as its name, is looked up by the witnesses of `words` in config/nodes/agent.yaml: pages
of allowed hosts, the language model. Two must agree on something that is seen; otherwise the goal is refused, and the refusal says why.
A word is kept when the goal that used it was done, and unlearned when one fails. What is taught stays until it is forgotten.

A sentence teaches, too: prehend goal \"moutai means the white bottle\"";

/// Arguments of `words`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct WordsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: WordsCommand,
    /// Settings of the agent, which say where words are kept and who is asked
    #[arg(long, value_name = "FILE", default_value = "config/nodes/agent.yaml", global = true)]
    pub agent: PathBuf,
    /// File of words, instead of that of the settings
    #[arg(long, value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
    /// Print one JSON value on stdout, and everything else on stderr
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with words.
#[derive(Debug, Subcommand)]
pub enum WordsCommand {
    /// What was taught and learned, with where it comes from
    List,
    /// Take a word for something from now on
    Teach {
        /// The word or words, such as moutai
        word: String,
        /// What it is, in words that are known, such as "white bottle"
        means: String,
    },
    /// Forget a word
    Forget {
        /// The word or words
        word: String,
    },
    /// Ask the witnesses of a word, and say what they come to; nothing is kept
    Ask {
        /// The word or words
        word: String,
        /// Classes of the things that are seen
        #[arg(long, value_name = "CLASS,CLASS", value_delimiter = ',', required = true)]
        seen: Vec<String>,
    },
}
