//! `prehend eval memory`: which views the memory of a whole building finds, against flat search and a bag of words; errands with it and
//! without; and how a store bears many things.

mod errands;
mod scale;

use crate::args::{BuildingKinds, EvalMemoryArgs};
use crate::outcome::exit;
use crate::screen::{Progress, Screen, print_json};
use prehend_agent::language::Lexicon;
use prehend_config::share;
use prehend_eval::memory::{
    Camera, Generator, Method, Recall, Run, Setting, Speaker, Tally, Words, run, tally,
};
use prehend_sim::scene::DetectorSpec;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Methods that stand beside the memory; the others are it without a piece.
const METHODS: [Method; 3] = [Method::Memory, Method::Flat, Method::Bm25];

/// Makes the buildings and asks every method; gives the exit code.
pub async fn memory(args: EvalMemoryArgs) -> u8 {
    let measured = match args.scale {
        Some(things) => scale::measure(&args, things),
        None => measure(&args).await,
    };
    match measured {
        Ok(()) => exit::DONE,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

async fn measure(args: &EvalMemoryArgs) -> Result<(), String> {
    let screen = Screen::new(args.json);
    let detector = if args.perfect_detector { DetectorSpec::default() } else { DetectorSpec::imperfect() };
    let (generator, camera, speaker) = match args.kinds {
        BuildingKinds::Known => (Generator::Home, Camera::Head, Speaker::Plain),
        BuildingKinds::KeptBack => (Generator::Office, Camera::Low, Speaker::Talkative),
    };
    let EvalMemoryArgs { rooms, views, instructions, .. } = *args;
    let setting = Setting { generator, rooms, views, instructions, speaker, camera, detector };
    let runs = runs(args, &setting)?;
    let sentences: usize = runs.iter().map(|run| run.sentences.len()).sum();
    let sum = |of: fn(&Run) -> u64| runs.iter().map(of).sum::<u64>();
    let unread: usize = runs.iter().map(|run| run.unread.len()).sum();
    screen.line(format!(
        "{} buildings from seed {}, {} views, {sentences} sentences ({unread} not read), {} things in memory for {} that were seen\n",
        runs.len(),
        args.seed,
        sum(|run| run.views),
        sum(|run| run.things),
        sum(|run| run.true_things as u64),
    ));
    let tallies: BTreeMap<Method, Tally> =
        Method::ALL.into_iter().map(|(method, _)| (method, tally(&runs, method))).collect();
    tell(&screen, &tallies);
    let mut questions: Vec<Duration> = runs.iter().flat_map(|run| run.questions.iter().copied()).collect();
    questions.sort_unstable();
    let at = |share: f64| {
        let place = (share * questions.len().saturating_sub(1) as f64).round() as usize;
        questions.get(place).map_or(0.0, |time| 1000.0 * time.as_secs_f64())
    };
    let mean = |of: fn(&Run) -> Duration| {
        1000.0 * runs.iter().map(|run| of(run).as_secs_f64()).sum::<f64>() / runs.len().max(1) as f64
    };
    let (look_ms, summary_ms) = (mean(|run| run.look), mean(|run| run.summary));
    screen.line(format!(
        "\na view goes in within {look_ms:.1} ms, a building is summarised in {summary_ms:.0} ms, a question takes {:.0} ms (median), {:.0} ms (p99)",
        at(0.5),
        at(0.99)
    ));
    let compared = |which: usize| {
        let all: Vec<[usize; 2]> = runs.iter().flat_map(|run| run.compared[which].iter().copied()).collect();
        let mean = |of: usize| all.iter().map(|pair| pair[of] as f64).sum::<f64>() / all.len().max(1) as f64;
        [mean(0), mean(1)]
    };
    let ([nodes, views], [_, all]) = (compared(0), compared(1));
    screen.line(format!(
        "compared with each question: {nodes:.0} nodes and {views:.0} views; without traversal {all:.0} views"
    ));
    if args.misses {
        tell_misses(&screen, &runs);
    }
    let errands = errands::run(args, &screen).await?;
    if args.json {
        let named = |is: &dyn Fn(&Method) -> bool| -> BTreeMap<&str, Value> {
            let chosen = tallies.iter().filter(|(method, _)| is(method));
            chosen.map(|(method, tally)| (method.name(), json!(tally))).collect()
        };
        print_json(&json!({
            "n": sentences,
            "seed": args.seed,
            "buildings": runs.len(),
            "views": sum(|run| run.views),
            "unread": unread,
            "methods": named(&|method| METHODS.contains(method)),
            "ablations": named(&|method| !METHODS.contains(method)),
            "compared": {"nodes": nodes, "views": views, "views_without_traversal": all},
            "errands": errands,
            "ms": {"look": look_ms, "summary": summary_ms, "question_p50": at(0.5), "question_p99": at(0.99)},
        }));
    }
    Ok(())
}

/// The names that mean the same.
fn names() -> Result<prehend_perception::Lexicon, String> {
    let words = share::share_dir().join("config/language/synonyms.yaml");
    prehend_perception::Lexicon::load(&words).map_err(|findings| findings.to_string())
}

fn runs(args: &EvalMemoryArgs, setting: &Setting) -> Result<Vec<Run>, String> {
    let names = names()?;
    let mut language = Lexicon::built_in();
    // As of a robot that drives.
    language.tables_are_things = true;
    let words = Words { names, rooms: language.rooms.clone(), language };
    let progress = Progress::new("view", args.buildings * args.views);
    let (next, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done: Mutex<Vec<(usize, Result<Run, String>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= args.buildings {
                        return;
                    }
                    let show = || progress.show(seen.fetch_add(1, Ordering::Relaxed) + 1);
                    let made = run(setting, &words, args.seed.wrapping_add(number as u64), show);
                    let made = made.map_err(|error| error.to_string());
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, made));
                }
            });
        }
    });
    progress.end();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

fn tell(screen: &Screen, tallies: &BTreeMap<Method, Tally>) {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let recall = |recall: &Recall| [recall.r5, recall.r10, recall.r20].map(percent).join(" ");
    let head = ["method", "target R@5 10 20", "receptacle", "overall", "SR@1 5 10 20"];
    let mut rows = vec![head.map(str::to_owned)];
    for (method, name) in Method::ALL {
        let Some(Tally { target, receptacle, overall, sr }) = tallies.get(&method) else { continue };
        let sr = sr.map(percent).join(" ");
        rows.push([name.to_owned(), recall(target), recall(receptacle), recall(overall), sr]);
    }
    screen.table(&rows);
}

fn tell_misses(screen: &Screen, runs: &[Run]) {
    for run in runs {
        for sentence in &run.unread {
            screen.line(format!("not read: {sentence}"));
        }
        let lists = run.lists.get(&Method::Memory).map(Vec::as_slice).unwrap_or_default();
        for (sentence, [target, receptacle]) in run.sentences.iter().zip(lists) {
            let wrong = match (target.is_hit(1), receptacle.is_hit(1)) {
                (true, true) => continue,
                (false, true) => "the thing",
                (true, false) => "the place",
                (false, false) => "thing and place",
            };
            screen.line(format!("wrong, {wrong}: {sentence}"));
        }
    }
}
