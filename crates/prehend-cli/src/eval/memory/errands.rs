//! Whole errands in a room: without a memory, and with that of an earlier session.

use crate::args::{AspMobileArgs, EarlierRoom, EvalMemoryArgs, RunArgs};
use crate::eval::{collect, job};
use crate::run_folder::RunFolder;
use crate::screen::Screen;
use prehend_eval::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tasks that begin with looking for things.
const TASKS: [&str; 2] = ["spatial", "double"];

/// Makes the errands of `--errands`; nothing without it.
///
/// Errors: a folder that cannot be written, or an interrupt, for a person.
pub(super) async fn run(args: &EvalMemoryArgs, screen: &Screen) -> Result<Option<Value>, String> {
    let Some(seeds) = args.errands else { return Ok(None) };
    let folder =
        RunFolder::named_or_dated(args.out.as_deref(), args.seed).map_err(|error| error.to_string())?;
    let mut figures = BTreeMap::new();
    let mut rows = vec![
        ["errands", "right", "wrong claims", "goal (median, robot's time)", "base moves"].map(str::to_owned),
    ];
    for (name, memory) in [("without", None), ("with", Some(EarlierRoom::Same))] {
        let mobile = AspMobileArgs {
            seeds,
            task: TASKS.map(str::to_owned).to_vec(),
            robot: "config/robots/ranger_xarm6.yaml".into(),
            no_aff: false,
            perfect_detector: args.perfect_detector,
            memory,
            runs_made: RunArgs::plain(args.seed, args.speed, args.json),
        };
        let folder = RunFolder::at(&folder.path().join(name)).map_err(|error| error.to_string())?;
        screen.line(format!(
            "\nerrands {name} the memory of an earlier session, into {}",
            folder.path().display()
        ));
        let (runs, is_interrupted) =
            collect(job::asp_mobile(&mobile)?, &mobile.runs_made, folder.path(), screen).await;
        if is_interrupted {
            return Err("interrupted; the same command with --out goes on with what is done".to_owned());
        }
        let report = Report::new(args.seed, &runs);
        folder.write_json("report.json", &report).map_err(|error| error.to_string())?;
        let median = |what: &str| report.seconds.get(what).map(|spread| spread.median);
        let (goal, base) = (median("sim: goal"), median("sim: base moved"));
        let seconds = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0} s"));
        rows.push([
            format!("{name} memory"),
            format!("{} of {}", report.right, report.runs),
            report.false_success.to_string(),
            seconds(goal),
            seconds(base),
        ]);
        figures.insert(
            name,
            json!({
                "right": report.right, "runs": report.runs, "seconds": goal, "base_seconds": base,
                "wrong_claims": report.false_success, "ungated_motions": report.ungated_motions,
            }),
        );
    }
    screen.line("");
    screen.table(&rows);
    Ok(Some(json!(figures)))
}
