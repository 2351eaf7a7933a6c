//! `prehend eval affordance`: where a part is that an action works on, by the harness and by fixed chains of the same skills.

use crate::args::EvalAffordanceArgs;
use crate::outcome::exit;
use crate::screen::{Progress, Screen, print_json};
use prehend_eval::affordance::{
    Answer, KINDS, Kind, Learned, Method, Sample, Score, Setting, Subset, sample,
};
use prehend_harness::memory::{EPISODES, Memory};
use prehend_perception::evidence::Knowledge;
use prehend_scene::ActionTable;
use prehend_sim::share;
use prehend_sim::world::ArmModel;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seeds of the common-sense bank are this far from those of the samples.
const ELSEWHERE: u64 = 1_000_000;
/// Values of the swept parameters (AAH figures 15 and 16).
const DELTAS: [f64; 6] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const FLOORS: [f64; 5] = [0.3, 0.4, 0.5, 0.6, 0.7];
const CAPACITIES: [usize; 5] = [0, 5, 20, 80, 320];
/// Budgets of the tail without the paper's B (Table 5).
const BUDGETS: [f64; 5] = [1.0, 2.0, 3.0, 5.0, 8.0];

/// Makes the samples and runs every method; gives the exit code.
pub fn affordance(args: &EvalAffordanceArgs) -> u8 {
    match run(args) {
        Ok(()) => exit::DONE,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

fn run(args: &EvalAffordanceArgs) -> Result<(), String> {
    let screen = Screen::new(args.json);
    let samples = made(args, args.samples, args.seed)?;
    let common = made(args, args.common, args.seed.wrapping_add(ELSEWHERE))?;
    let setting = Setting::default();
    let common: Vec<_> = common.iter().filter_map(|sample| Learned::common(sample, &setting)).collect();
    let fresh =
        |capacity: usize| Learned { memory: Memory::with_capacity(capacity).with_common(common.clone()) };
    let answers = |method: Method, setting: &Setting, learned: &mut Learned| -> Vec<Answer> {
        samples.iter().map(|sample| learned.run(method, sample, setting)).collect()
    };
    let mut methods: BTreeMap<&str, Value> = BTreeMap::new();
    let mut subsets: BTreeMap<&str, BTreeMap<&str, Score>> = BTreeMap::new();
    let unseen = samples.iter().filter(|sample| sample.subject.is_none()).count();
    screen.line(format!(
        "{} samples, seed {}; {unseen} of them are no object of the map with such a part, and count as nothing found\n",
        samples.len(),
        args.seed
    ));
    let mut table = vec![heading("method")];
    let mut kinds: Vec<(Method, Vec<Answer>)> = Vec::new();
    for method in Method::ALL {
        let all = answers(method, &setting, &mut fresh(EPISODES));
        let score = Score::of(&all);
        table.push(row(method.name(), &score));
        methods.insert(method.name(), json!(score));
        for subset in Subset::ALL {
            let of_subset = samples.iter().zip(&all).filter(|(sample, _)| sample.subset == subset);
            let score = Score::of(of_subset.map(|(_, answer)| answer));
            subsets.entry(subset.name()).or_default().insert(method.name(), score);
        }
        kinds.push((method, all));
    }
    screen.table(&table);
    for (subset, scores) in &subsets {
        screen.line("");
        let mut table = vec![heading(subset)];
        table.extend(Method::ALL[..3].iter().map(|method| row(method.name(), &scores[method.name()])));
        screen.table(&table);
    }
    screen.line("");
    let mut table = vec![
        ["kind", "n", "harness gIoU", "fixed chain", "detect+segment", "sure", "sure and right"]
            .map(str::to_owned),
    ];
    for kind in KINDS {
        let of = |place: usize| {
            Score::of(
                samples
                    .iter()
                    .zip(&kinds[place].1)
                    .filter(|(sample, _)| sample.kind == kind)
                    .map(|(_, answer)| answer),
            )
        };
        let (harness, chain, detect) = (of(0), of(1), of(2));
        table.push([
            kind.name.to_owned(),
            harness.n.to_string(),
            percent(harness.giou),
            percent(chain.giou),
            percent(detect.giou),
            percent(harness.committed),
            percent(harness.committed_right),
        ]);
    }
    screen.table(&table);
    let mut again = Learned { memory: Memory::with_capacity(samples.len()) };
    let (first, second) = (
        Score::of(&answers(Method::Harness, &setting, &mut again)),
        Score::of(&answers(Method::Harness, &setting, &mut again)),
    );
    screen.line(format!(
        "\nmet again, without common sense: calls {:.2} then {:.2}, gIoU {:.1} then {:.1}, sure of {:.0} % then {:.0} %",
        first.calls,
        second.calls,
        100.0 * first.giou,
        100.0 * second.giou,
        100.0 * first.committed,
        100.0 * second.committed
    ));
    let sweeps = if args.sweep { swept(&screen, &answers, &fresh) } else { Value::Null };
    if args.json {
        let ablations: Vec<&str> = vec!["no_verifier", "no_memory", "no_router"];
        let ablations: BTreeMap<&str, Value> =
            ablations.into_iter().filter_map(|name| Some((name, methods.remove(name)?))).collect();
        print_json(&json!({
            "n": samples.len(), "seed": args.seed, "not_on_the_map": unseen, "methods": methods, "subsets": subsets,
            "repeat": { "first_calls": first.calls, "second_calls": second.calls, "first_giou": first.giou, "second_giou": second.giou },
            "ablations": ablations, "sweeps": sweeps,
        }));
    }
    Ok(())
}

fn swept(
    screen: &Screen,
    answers: &dyn Fn(Method, &Setting, &mut Learned) -> Vec<Answer>,
    fresh: &dyn Fn(usize) -> Learned,
) -> Value {
    let mut all: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut sweep = |name: &'static str, settings: Vec<(f64, Setting, usize)>| {
        screen.line("");
        let mut table = vec![heading(name)];
        for (value, setting, capacity) in settings {
            let score = Score::of(&answers(Method::Harness, &setting, &mut fresh(capacity)));
            table.push(row(&format!("{value}"), &score));
            all.entry(name).or_default().push(json!({ "value": value, "score": score }));
        }
        screen.table(&table);
    };
    let with = |change: &dyn Fn(&mut Setting)| {
        let mut setting = Setting::default();
        change(&mut setting);
        setting
    };
    sweep("delta", DELTAS.iter().map(|v| (*v, with(&|s| s.rule.delta = *v), EPISODES)).collect());
    sweep("omega_floor", FLOORS.iter().map(|v| (*v, with(&|s| s.rule.omega_floor = *v), EPISODES)).collect());
    sweep("episodes", CAPACITIES.iter().map(|v| (*v as f64, Setting::default(), *v)).collect());
    sweep("budget", BUDGETS.iter().map(|v| (*v, with(&|s| s.budget = *v), EPISODES)).collect());
    json!(all)
}

/// The samples of one seed, on two threads, in their order.
fn made(args: &EvalAffordanceArgs, count: usize, seed: u64) -> Result<Vec<Sample>, String> {
    let folder = share::share_dir();
    let urdf = folder.join("urdf/xarm6.urdf");
    let text = std::fs::read_to_string(&urdf).map_err(|error| format!("{}: {error}", urdf.display()))?;
    let arm = ArmModel::from_urdf(&text).map_err(|error| format!("{}: {error}", urdf.display()))?;
    let read = |error: &dyn std::fmt::Display| error.to_string();
    let words = prehend_perception::Lexicon::load(&folder.join("config/language/synonyms.yaml"))
        .map_err(|e| read(&e))?;
    let knowledge =
        Knowledge::load(&folder.join("config/language/knowledge.yaml"), words).map_err(|e| read(&e))?;
    let (knowledge, actions) = (Arc::new(knowledge), ActionTable::built_in());
    let scenes = folder.join("config/scenes");
    let of = |number: usize| -> (Kind, Subset, u64) {
        let kind = KINDS[number % KINDS.len()];
        let subset = Subset::ALL[number / KINDS.len() % Subset::ALL.len()];
        (kind, subset, seed.wrapping_mul(10_007).wrapping_add(number as u64))
    };
    let progress = Progress::new("sample", count);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Sample, String>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let made = sample(&arm, &scenes, &knowledge, &actions, of(number));
                    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    done.push((number, made));
                    progress.show(done.len());
                }
            });
        }
    });
    progress.end();
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

fn heading(what: &str) -> [String; 9] {
    [what, "gIoU", "cIoU", "P@50", "P@50:95", "calls", "ms", "sure", "sure and right"].map(str::to_owned)
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn row(name: &str, score: &Score) -> [String; 9] {
    [
        name.to_owned(),
        percent(score.giou),
        percent(score.ciou),
        percent(score.p50),
        percent(score.p50_95),
        format!("{:.2}", score.calls),
        format!("{:.1}", score.ms),
        percent(score.committed),
        percent(score.committed_right),
    ]
}
