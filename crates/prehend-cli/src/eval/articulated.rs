//! `prehend eval articulated`: things with moving parts described from looks and motions, and critics before planted faults.

mod reopen;

use crate::args::{EvalArticulatedArgs, Kinds};
use crate::outcome::exit;
use crate::screen::{Progress, Screen, print_json};
use prehend_articulation::{to_sdf, to_urdf};
use prehend_eval::articulated::{Alarms, Fault, Faults, Figures, INTERACTIONS, Kind, Run, Stage, Tally, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Interactions after which the figures at the top of the JSON are taken: each part was moved to its end once.
const HEAD: usize = 2;

/// Runs the things; gives the exit code.
pub async fn articulated(args: &EvalArticulatedArgs) -> u8 {
    match measure(args).await {
        Ok(()) => exit::DONE,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

async fn measure(args: &EvalArticulatedArgs) -> Result<(), String> {
    let screen = Screen::new(args.json);
    let kinds: &[Kind] = match args.kinds {
        Some(Kinds::Known) => &Kind::KNOWN,
        Some(Kinds::KeptBack) => &Kind::KEPT_BACK,
        None => &Kind::ALL,
    };
    if let Some(out) = &args.out {
        std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let tally = all(args, kinds)?;
    tell(&screen, args, kinds, &tally);
    let reopened = reopen::run(args, &screen).await?;
    if args.json {
        print_json(&report(args, kinds, &tally, &reopened));
    }
    Ok(())
}

/// Every thing, as many at a time as asked for.
fn all(args: &EvalArticulatedArgs, kinds: &[Kind]) -> Result<Tally, String> {
    let progress = Progress::new("thing", args.things);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<BTreeMap<usize, Result<Tally, String>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= args.things {
                        return;
                    }
                    let kind = kinds[number % kinds.len()];
                    let seed = args.seed.wrapping_mul(10_007).wrapping_add(number as u64);
                    let made = run(kind, seed).and_then(|run| {
                        if let Some(out) = &args.out {
                            write(out, number, &run)?;
                        }
                        Ok(run.tally)
                    });
                    let made = made.map_err(|why| format!("thing {number} ({}): {why}", kind.name()));
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(number, made);
                    progress.show(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    progress.end();
    // In their order, so that the same seeds give the same figures.
    let mut tally = Tally::default();
    for made in results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_values() {
        tally.add(&made?);
    }
    Ok(tally)
}

/// The description as URDF and as SDFormat, and where its links are with all joints at a quarter, a half and all of their ways.
fn write(out: &Path, number: usize, run: &Run) -> Result<(), String> {
    let model = &run.described.best().model;
    let samples: Vec<Value> = [0.0, 0.25, 0.5, 1.0]
        .into_iter()
        .map(|share: f64| {
            let position = |[low, high]: [f64; 2]| low + share * (high - low);
            let positions: Vec<f64> = model.joints.iter().map(|joint| position(joint.limits)).collect();
            let named =
                model.joints.iter().zip(&positions).map(|(joint, at)| (joint.name.clone(), json!(at)));
            let links = model.links.iter().zip(model.poses(&positions)).map(|(link, pose)| {
                let (t, q) = (pose.translation, pose.rotation);
                (link.name.clone(), json!([t.x, t.y, t.z, q.w, q.i, q.j, q.k]))
            });
            json!({
                "positions": named.collect::<serde_json::Map<_, _>>(),
                "links": links.collect::<serde_json::Map<_, _>>(),
            })
        })
        .collect();
    let file = |end: &str, text: String| {
        let path = out.join(format!("{number}.{end}"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    file("urdf", to_urdf(model))?;
    file("sdf", to_sdf(model, &[]))?;
    file("json", json!(samples).to_string())
}

fn tell(screen: &Screen, args: &EvalArticulatedArgs, kinds: &[Kind], tally: &Tally) {
    screen.line(format!("{} things, seed {}; simulated camera and hand\n", tally.n, args.seed));
    let head = ["", "parts", "type right", "axis", "origin", "limits", "IoU", "time"].map(str::to_owned);
    let mut table = vec![head];
    for interactions in 0..=INTERACTIONS {
        let what = match interactions {
            0 => "seen only".to_owned(),
            1 => "moved once".to_owned(),
            more => format!("moved {more} times"),
        };
        table.push(row(what, &tally.stage(interactions)));
    }
    screen.table(&table);
    screen.line(format!("\nby kind, moved {HEAD} times"));
    let table: Vec<_> = kinds
        .iter()
        .filter_map(|kind| Some(row(kind.name().to_owned(), tally.stages.get(&(*kind, HEAD))?)))
        .collect();
    screen.table(&table);
    screen.line("");
    let mut table = vec![["fault", "planted", "noticed", "named"].map(str::to_owned)];
    for (fault, found) in &tally.faults {
        let counts = [found.planted, found.noticed, found.named].map(|count| count.to_string());
        let [planted, noticed, named] = counts;
        table.push([fault.name().to_owned(), planted, noticed, named]);
    }
    screen.table(&table);
    let alarms = alarms(tally);
    screen.line(format!("false alarms: {} of {} right models", alarms.alarms, alarms.gold));
}

fn row(what: String, stage: &Stage) -> [String; 8] {
    let figures = stage.figures();
    [
        what,
        format!("{} (+{} not told)", figures.joints, figures.left_out),
        format!("{:.1} %", 100.0 * figures.joint_type),
        format!("{:.1} deg", figures.axis_deg_p90),
        format!("{:.0} mm", figures.origin_mm_p90),
        format!("{:.0} %", figures.limits_percent_p90),
        format!("{:.2}", figures.iou),
        format!("{:.2} s", figures.seconds_p90),
    ]
}

fn alarms(tally: &Tally) -> Alarms {
    tally.alarms.values().fold(Alarms::default(), |sum, found| Alarms {
        gold: sum.gold + found.gold,
        alarms: sum.alarms + found.alarms,
    })
}

fn report(args: &EvalArticulatedArgs, kinds: &[Kind], tally: &Tally, reopened: &Value) -> Value {
    let stages: Vec<Figures> = (0..=INTERACTIONS).map(|count| tally.stage(count).figures()).collect();
    let head = &stages[HEAD];
    let all = tally.faults.values().fold(Faults::default(), |sum, found| Faults {
        planted: sum.planted + found.planted,
        noticed: sum.noticed + found.noticed,
        named: sum.named + found.named,
    });
    let faults: BTreeMap<&str, &Faults> =
        Fault::ALL.iter().filter_map(|fault| Some((fault.name(), tally.faults.get(fault)?))).collect();
    let by_kind: BTreeMap<&str, Value> = kinds
        .iter()
        .map(|kind| {
            let figures: Vec<Figures> = (0..=INTERACTIONS)
                .map(|count| tally.stages.get(&(*kind, count)).map_or_else(Figures::default, Stage::figures))
                .collect();
            (kind.name(), json!({ "interactions": figures, "false_alarms": tally.alarms.get(kind) }))
        })
        .collect();
    let found = alarms(tally);
    json!({
        "n": tally.n, "seed": args.seed, "joint_type": head.joint_type, "axis_deg_p90": head.axis_deg_p90,
        "origin_mm_p90": head.origin_mm_p90, "limits_percent_p90": head.limits_percent_p90,
        "iou": head.iou, "seconds_p90": head.seconds_p90, "interactions": stages,
        "faults": { "planted": all.planted, "noticed": all.noticed, "named": all.named, "by_fault": faults },
        "false_alarms": found, "reopened": reopened, "by_kind": by_kind,
    })
}
