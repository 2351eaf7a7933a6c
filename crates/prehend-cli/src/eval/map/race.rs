//! `prehend eval map --race`: a map by the clock.

use crate::args::map::EvalMapArgs;
use crate::screen::{Screen, print_json};
use prehend_eval::mapped::Counts;
use prehend_eval::race;
use std::path::Path;

pub(super) fn run(folder: &Path, args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    if let Some(boxes) = &args.boxes {
        let counts = race::judge(folder, boxes).map_err(|error| error.to_string())?;
        screen.line(agreement(&counts));
        if args.json {
            print_json(&counts);
        }
        return Ok(());
    }
    let lap = race::run(folder, args.merge.settings(), args.seed).map_err(|error| error.to_string())?;
    screen.line(format!(
        "{} keyframes, {} masks: {:.1} ms a keyframe (median; most {:.1}, the last tenth {:.1}), {:.2} s in all; {} objects of {} points",
        lap.keyframes, lap.masks, lap.median_ms, lap.max_ms, lap.last_ms, lap.total_s, lap.objects, lap.points
    ));
    if let Some(seconds) = lap.cpu_s {
        screen.line(format!("processor time: {seconds:.2} s"));
    }
    if let Some([loaded, most]) = lap.memory_mib {
        screen.line(format!("memory: {most:.0} MiB at most, {loaded:.0} MiB with the frames loaded"));
    }
    if let Some(counts) = &lap.counts {
        screen.line(agreement(counts));
    }
    if args.json {
        print_json(&lap);
    }
    Ok(())
}

fn agreement(counts: &Counts) -> String {
    let Counts { things, found, objects } = counts;
    format!(
        "{} of {things} things found at IoU 0.25 among {} objects, {} at 0.5 among {}",
        found[0], objects[0], found[1], objects[1]
    )
}
