//! Arguments of `explain`.

use clap::Args;
use std::path::PathBuf;

const AFTER_EXPLAIN: &str = "\
Examples:
  prehend explain runs/20261127T130209Z-3                     what was decided, and what it came down to
  prehend explain runs/20261127T130209Z-3 \"why did you not take the blue one?\"
  prehend explain runs/20261127T130209Z-3 --out report.html   with pictures, in one file that opens without a network

The same questions can be asked of a robot that runs: prehend goal \"why did you not take the blue one?\"

RUN is the folder of `prehend demo` or `up` (the last goal of it), or of one run of `prehend eval ... --out DIR` (DIR/seed-000007), or a trace.jsonl alone. It needs no
robot. The answer rests on what the run has recorded, and says so when something is not.

You can ask: why did you take the red mug? why did you not take the blue one? why did you refuse? why did you stop? what would have
changed it? how sure were you? what did you see? how did you understand it? what did you do? why did it take so long?

The JSON object of --json: goal, readings, ending {outcome, reason, message, physics_ok}, decisions [{t, kind, what, came, times, objects,
rule, numbers [{name, value, limit, holds}], rejected [{key, reason, would_be}], because, otherwise}], decisive (an index of decisions, or
null), seen, times, not_recorded, and with a question answer {question, asked, said, objects, decisions}.

Exit codes: 0; 1 when the question is not one that can be answered; 3 when RUN is no run or the page cannot be written.";

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EXPLAIN)]
pub struct ExplainArgs {
    /// Folder of a run, or its trace.jsonl
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// What you want to know, as a question
    #[arg(value_name = "QUESTION")]
    pub question: Option<String>,
    /// Write all of it with pictures as one page
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}
