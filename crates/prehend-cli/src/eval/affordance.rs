//! `prehend eval affordance`: where a part is that an action works on, by the harness and by fixed chains of the same skills.

use crate::args::{EvalAffordanceArgs, Kinds};
use crate::outcome::exit;
use crate::screen::{Progress, Screen, print_json};
use prehend_config::share;
use prehend_eval::affordance::{
    Answer, KEPT_BACK, KINDS, Kind, Method, Sample, Score, Setting, Subset, sample,
};
use prehend_harness::memory::{EPISODES, Episode, Memory};
use prehend_perception::evidence::Knowledge;
use prehend_scene::ActionTable;
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

/// The samples with what every method knows before.
struct Bench {
    samples: Vec<Sample>,
    common: Vec<Episode>,
}

impl Bench {
    /// What a method makes of all samples, one after the other, with room for so many episodes.
    fn answers(&self, method: Method, setting: &Setting, capacity: usize) -> Vec<Answer> {
        let mut memory = Memory::with_capacity(capacity).with_common(self.common.iter().cloned());
        self.with(method, setting, &mut memory)
    }

    fn with(&self, method: Method, setting: &Setting, memory: &mut Memory) -> Vec<Answer> {
        self.samples.iter().map(|sample| sample.answer(method, setting, memory)).collect()
    }

    /// Figures over the samples of which this holds.
    fn score(&self, answers: &[Answer], of: impl Fn(&Sample) -> bool) -> Score {
        Score::of(self.samples.iter().zip(answers).filter(|(sample, _)| of(sample)).map(|(_, answer)| answer))
    }
}

fn run(args: &EvalAffordanceArgs) -> Result<(), String> {
    let screen = Screen::new(args.json);
    let setting = Setting::default();
    let kinds: &[Kind] = match args.kinds {
        Kinds::Known => &KINDS,
        Kinds::KeptBack => &KEPT_BACK,
    };
    let samples = made(args.jobs, kinds, args.samples, args.seed)?;
    let elsewhere = made(args.jobs, &KINDS, args.common, args.seed.wrapping_add(ELSEWHERE))?;
    let common = elsewhere.iter().filter_map(|sample| sample.common_sense(&setting)).collect();
    let bench = Bench { samples, common };
    let unseen = bench.samples.iter().filter(|sample| sample.subject.is_none()).count();
    screen.line(format!(
        "{} samples, seed {}; {unseen} of them are no object of the map with such a part, and count as nothing found\n",
        bench.samples.len(),
        args.seed
    ));
    let all: Vec<(Method, Vec<Answer>)> =
        Method::ALL.into_iter().map(|method| (method, bench.answers(method, &setting, EPISODES))).collect();
    let scores = |of: &dyn Fn(&Sample) -> bool| -> BTreeMap<&str, Score> {
        all.iter().map(|(method, answers)| (method.name(), bench.score(answers, of))).collect()
    };
    let mut methods = scores(&|_| true);
    tell(&screen, "method", &methods, &Method::ALL);
    let mut subsets = BTreeMap::new();
    let there = |subset: &Subset| bench.samples.iter().any(|sample| sample.subset == *subset);
    for subset in Subset::ALL.into_iter().filter(there) {
        let scores = scores(&|sample| sample.subset == subset);
        tell(&screen, subset.name(), &scores, &Method::CHAINS);
        subsets.insert(subset.name(), scores);
    }
    tell_kinds(&screen, kinds, &|kind| scores(&|sample| sample.kind == kind));
    let mut again = Memory::with_capacity(bench.samples.len());
    let mut meet = || Score::of(&bench.with(Method::Harness, &setting, &mut again));
    let (first, second) = (meet(), meet());
    screen.line(format!(
        "\nmet again, without common sense: calls {:.2} then {:.2}, gIoU {:.1} then {:.1}, sure of {:.0} % then {:.0} %",
        first.calls,
        second.calls,
        100.0 * first.giou,
        100.0 * second.giou,
        100.0 * first.committed,
        100.0 * second.committed
    ));
    let routed = routed(&screen, &all);
    let imagined = imagined(&screen, &bench.samples);
    let sweeps = if args.sweep { swept(&screen, &bench) } else { Value::Null };
    if args.json {
        let ablations: BTreeMap<&str, Score> =
            Method::ABLATIONS.iter().filter_map(|method| methods.remove_entry(method.name())).collect();
        print_json(&json!({
            "n": bench.samples.len(), "seed": args.seed, "not_on_the_map": unseen, "methods": methods, "subsets": subsets,
            "repeat": { "first_calls": first.calls, "second_calls": second.calls, "first_giou": first.giou, "second_giou": second.giou },
            "ablations": ablations, "router": routed, "imagination": imagined, "sweeps": sweeps,
        }));
    }
    Ok(())
}

/// How often the harness's router is decided by its heuristic alone.
fn routed(screen: &Screen, all: &[(Method, Vec<Answer>)]) -> Value {
    let answers =
        all.iter().filter(|(method, _)| *method == Method::Harness).flat_map(|(_, answers)| answers);
    let (choices, open) =
        answers.fold((0, 0), |(choices, open), answer| (choices + answer.choices, open + answer.open));
    screen.line(format!(
        "\nrouter: {choices} choices, {open} of them ({:.0} %) left open by its heuristic: a model would be asked",
        100.0 * open as f64 / (choices as f64).max(1.0)
    ));
    json!({ "choices": choices, "open": open })
}

/// Whether imagination tells right detections from wrong ones.
fn imagined(screen: &Screen, samples: &[Sample]) -> Value {
    let played: Vec<(f64, bool, f64)> = samples.iter().filter_map(Sample::imagined).collect();
    let mean = |values: Vec<f64>| {
        let count = values.len();
        (count > 0).then(|| values.iter().sum::<f64>() / count as f64)
    };
    let of = |right: bool| -> Vec<f64> { played.iter().filter(|p| p.1 == right).map(|p| p.0).collect() };
    let (right, wrong) = (of(true), of(false));
    let counts = (right.len(), wrong.len());
    let (right, wrong) = (mean(right), mean(wrong));
    let ms = mean(played.iter().map(|p| p.2).collect());
    let shown = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    screen.line(format!(
        "imagined: of {} right detections {} go well, of {} wrong ones {}; {:.1} ms each",
        counts.0,
        shown(right),
        counts.1,
        shown(wrong),
        ms.unwrap_or(0.0)
    ));
    json!({ "right": counts.0, "right_goes_well": right, "wrong": counts.1, "wrong_goes_well": wrong, "ms": ms })
}

fn tell(screen: &Screen, what: &str, scores: &BTreeMap<&str, Score>, methods: &[Method]) {
    let mut table = vec![heading(what)];
    table.extend(methods.iter().filter_map(|method| Some(row(method.name(), scores.get(method.name())?))));
    screen.table(&table);
    screen.line("");
}

fn tell_kinds(screen: &Screen, kinds: &[Kind], scores: &dyn Fn(Kind) -> BTreeMap<&'static str, Score>) {
    let heads = ["kind", "n", "harness gIoU", "fixed chain", "detect+segment", "sure", "sure and right"];
    let mut table = vec![heads.map(str::to_owned)];
    for kind in kinds {
        let scores = scores(*kind);
        let of = |method: Method| scores.get(method.name()).copied().unwrap_or_default();
        let harness = of(Method::Harness);
        table.push([
            kind.name.to_owned(),
            harness.n.to_string(),
            percent(harness.giou),
            percent(of(Method::FixedChain).giou),
            percent(of(Method::DetectSegment).giou),
            percent(harness.committed),
            percent(harness.committed_right),
        ]);
    }
    screen.table(&table);
}

fn swept(screen: &Screen, bench: &Bench) -> Value {
    let mut all: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut sweep = |name: &'static str, settings: Vec<(f64, Setting, usize)>| {
        screen.line("");
        let mut table = vec![heading(name)];
        for (value, setting, capacity) in settings {
            let score = Score::of(&bench.answers(Method::Harness, &setting, capacity));
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

/// The samples of one seed, in their order.
fn made(jobs: u32, kinds: &[Kind], count: usize, seed: u64) -> Result<Vec<Sample>, String> {
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
        let kind = kinds[number % kinds.len()];
        let subset = Subset::ALL[number / kinds.len() % Subset::ALL.len()];
        (kind, subset, seed.wrapping_mul(10_007).wrapping_add(number as u64))
    };
    let progress = Progress::new("sample", count);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Sample, String>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
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
