//! `prehend eval map --drawers`: what the map makes of a cabinet whose drawers are opened and closed.

use super::sweep::{Sweep, with_sweep};
use crate::args::map::EvalMapArgs;
use crate::screen::{Screen, print_json};
use prehend_config::share;
use prehend_eval::cabinet::{Figures, Settings, measure};
use prehend_geometry::stats::wilson95;
use prehend_sim::world::ArmModel;
use serde_json::json;

pub(super) fn run(model: &str, args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let folder = share::share_dir();
    let urdf = folder.join("urdf/xarm6.urdf");
    let text = std::fs::read_to_string(&urdf).map_err(|error| format!("{}: {error}", urdf.display()))?;
    let arm = ArmModel::from_urdf(&text).map_err(|error| format!("{}: {error}", urdf.display()))?;
    let settings = args.merge.settings_on_robot();
    let sweep = args.sweep.as_deref().map(|filter| Sweep::new(&settings, filter)).transpose()?;
    let scenes = folder.join("config/scenes");
    let cabinet = |seed, map| {
        let settings =
            Settings { model: model.to_owned(), moves: args.moves.into(), fresh: args.fresh, seed };
        measure(&arm, &scenes, map, &settings)
    };
    let seeds = || args.seed..args.seed.saturating_add(args.seeds);
    let mut all: Vec<Figures> = Vec::new();
    for seed in seeds() {
        let figures = cabinet(seed, settings)?;
        screen.line(format!("seed {seed}: {}", line(&figures)));
        all.push(figures);
    }
    let sum = all.iter().copied().fold(Figures::default(), Figures::plus);
    screen.line("");
    let mut rows = vec![
        ["of", "right", "share, Wilson 95 %"].map(str::to_owned),
        row("moves: each drawer one object, and no other", sum.whole, sum.moves),
        row("drawers: one object in the row", sum.single, sum.drawers),
        row("plainly open or shut: shown so", sum.states_right, sum.states),
    ];
    if !args.fresh {
        rows.push(row("met again: the key it had", sum.same_key, sum.met_again));
    }
    screen.table(&rows);
    screen.line(format!("{} objects called drawers that are none, over all moves; {model}", sum.extra));
    let columns = "whole moves/moves, single/drawers, drawers that are none";
    let swept = sweep.map(|sweep| {
        sweep.run(screen, columns, &brief(&sum), |settings| {
            let mut sum = Figures::default();
            for seed in seeds() {
                sum = sum.plus(cabinet(seed, settings)?);
            }
            Ok((brief(&sum), json!(sum)))
        })
    });
    if args.json {
        let figures =
            json!({ "model": model, "fresh": args.fresh, "seed": args.seed, "sum": sum, "cabinets": all });
        print_json(&with_sweep(figures, swept));
    }
    Ok(())
}

/// Figures in a few characters.
fn brief(figures: &Figures) -> String {
    let Figures { moves, whole, drawers, single, extra, .. } = figures;
    format!("{whole}/{moves}, {single}/{drawers}, {extra}")
}

fn row(what: &str, right: usize, of: usize) -> [String; 3] {
    let [low, high] = wilson95(right, of).map(|share| share * 100.0);
    let percent = 100.0 * right as f64 / of.max(1) as f64;
    [what.to_owned(), format!("{right} of {of}"), format!("{percent:.1} % ({low:.1} to {high:.1})")]
}

fn line(figures: &Figures) -> String {
    let Figures { moves, whole, drawers, single, met_again, same_key, states, states_right, extra } = figures;
    format!(
        "{whole} of {moves} moves; {single} of {drawers} drawers one object, {same_key} of {met_again} with their keys, \
         {states_right} of {states} states; {extra} extra"
    )
}
