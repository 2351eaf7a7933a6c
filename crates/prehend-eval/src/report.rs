//! Many runs in one report: the JSON that scripts read, and a table for people.

use crate::asp::Effort;
use crate::cause::Cause;
use crate::judge::Outcome;
use prehend_geometry::stats::{median, percentile, wilson95};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Within which a plan should be made, seconds.
const PLAN_IN_TIME: f64 = 2.0;

/// One run of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Seed of the scenario.
    pub seed: u64,
    /// What it is counted under: the code of the kind of goal, or the suite of a task.
    pub kind: String,
    /// The sentence.
    pub goal: String,
    /// Right outcome and right claim.
    pub right: bool,
    /// How it ended, as claimed; `None` when it gave no result.
    pub outcome: Option<Outcome>,
    /// Whether a refusal was the right answer.
    pub refusal_expected: bool,
    /// It claimed success falsely.
    pub false_success: bool,
    /// Motions without a permit.
    pub ungated_motions: usize,
    /// Why it was not right.
    pub cause: Option<Cause>,
    /// What the judge and the robot said, for people.
    pub note: String,
    /// Objects moved that should not have been.
    pub collateral: usize,
    /// Permits asked for, granted, refused.
    pub permits: Permits,
    /// Contacts of the robot above the force that is logged.
    pub hard_contacts: usize,
    /// Largest force on the pads, newtons.
    pub max_pad_force: f64,
    /// Seconds of each phase (`ready`, `first_motion`, `total`, ...), where there was one.
    pub seconds: BTreeMap<String, f64>,
    /// How far it came, in benchmarks that score it.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// The plan that was made before, in evaluations that ask for one.
    #[serde(default)]
    pub plan: Option<Plan>,
    /// Tries of a skill after a first one that failed.
    #[serde(default)]
    pub retries: usize,
    /// Name of its folder among those of the evaluation.
    #[serde(default)]
    pub folder: String,
}

/// What a goal would come to, said before it was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Whether the goal ended so: done, refused or failed.
    pub foretold: bool,
    /// Wall seconds that it took.
    pub seconds: f64,
    /// Motions of the arm while it was made.
    pub motions: usize,
}

/// Plans of many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plans {
    /// Plans that were made.
    pub made: usize,
    /// Plans after which the goal ended as they said.
    pub foretold: usize,
    /// Plans that were made within two seconds.
    pub in_time: usize,
    /// Plans during which the arm moved.
    pub moved: usize,
}

impl Plans {
    fn of(runs: &[Run]) -> Self {
        let plans: Vec<&Plan> = runs.iter().filter_map(|run| run.plan.as_ref()).collect();
        let count = |test: &dyn Fn(&Plan) -> bool| plans.iter().filter(|plan| test(plan)).count();
        Self {
            made: plans.len(),
            foretold: count(&|plan| plan.foretold),
            in_time: count(&|plan| plan.seconds <= PLAN_IN_TIME),
            moved: count(&|plan| plan.motions > 0),
        }
    }
}

/// Permits of one or many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permits {
    /// Gate requests.
    pub asked: u64,
    /// Permits given.
    pub granted: u64,
    /// Refused.
    pub refused: u64,
}

/// How often it was right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Runs.
    pub runs: usize,
    /// Right ones.
    pub right: usize,
    /// 95 % Wilson interval of the rate.
    pub wilson95: [f64; 2],
    /// Mean progress (ASP Fig. 7), where it is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// Of the things with a handle that were picked: held by it, and all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_handle: Option<[usize; 2]>,
    /// Tries after a first one that failed, of all its runs.
    #[serde(default)]
    pub retries: usize,
}

impl Rate {
    fn of(runs: &[&Run]) -> Self {
        let right = runs.iter().filter(|run| run.right).count();
        let efforts: Vec<Effort> = runs.iter().filter_map(|run| run.effort).collect();
        let held: Vec<bool> = efforts.iter().filter_map(|effort| effort.by_handle).collect();
        let sum: f64 = efforts.iter().map(|effort| effort.progress).sum();
        Self {
            runs: runs.len(),
            right,
            wilson95: wilson95(right, runs.len()),
            progress: (!efforts.is_empty()).then(|| sum / efforts.len() as f64),
            by_handle: (!held.is_empty()).then(|| [held.iter().filter(|by| **by).count(), held.len()]),
            retries: runs.iter().map(|run| run.retries).sum(),
        }
    }
}

/// Median and 90th percentile, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Largest.
    pub max: f64,
}

/// Right and wrong refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// Goals that had to be refused.
    pub expected: usize,
    /// Of these, refused for the right reason without motion.
    pub right: usize,
    /// Refused although they could be done.
    pub wrong: usize,
}

/// The report of an evaluation; its JSON is what `prehend eval --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number of runs.
    pub runs: usize,
    /// Seed of the first scenario.
    pub seed: u64,
    /// Right outcomes.
    pub right: usize,
    /// 95 % Wilson interval of the rate of right outcomes.
    pub wilson95: [f64; 2],
    /// Wrong claims of success.
    pub false_success: usize,
    /// Motions without a permit.
    pub ungated_motions: usize,
    /// By kind of goal.
    pub by_kind: BTreeMap<String, Rate>,
    /// Cause of failure to count.
    pub failures: BTreeMap<String, usize>,
    /// Seconds by phase.
    pub seconds: BTreeMap<String, Spread>,
    /// Refusals.
    pub refusals: Refusals,
    /// Permits.
    pub permits: Permits,
    /// Runs in which something else was moved.
    pub collateral: usize,
    /// Contacts above the force that is logged.
    pub hard_contacts: usize,
    /// Largest force on the pads, newtons.
    pub max_pad_force: f64,
    /// Plans that were made before.
    #[serde(default)]
    pub plans: Plans,
}

impl Report {
    /// Sums up runs; `seed` is that of the first scenario.
    pub fn new(seed: u64, runs: &[Run]) -> Self {
        let count = |test: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| test(run)).count();
        let mut kinds: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
        let mut failures: BTreeMap<String, usize> = BTreeMap::new();
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut permits = Permits::default();
        for run in runs {
            kinds.entry(run.kind.clone()).or_default().push(run);
            if let Some(cause) = run.cause.filter(|_| !run.right) {
                *failures.entry(cause.code().to_owned()).or_default() += 1;
            }
            for (phase, seconds) in &run.seconds {
                times.entry(phase.clone()).or_default().push(*seconds);
            }
            permits.asked += run.permits.asked;
            permits.granted += run.permits.granted;
            permits.refused += run.permits.refused;
        }
        let spread = |values: &Vec<f64>| {
            Some(Spread {
                median: median(values)?,
                p90: percentile(values, 0.9)?,
                max: percentile(values, 1.0)?,
            })
        };
        let right = count(&|run| run.right);
        Self {
            runs: runs.len(),
            seed,
            right,
            wilson95: wilson95(right, runs.len()),
            false_success: count(&|run| run.false_success),
            ungated_motions: runs.iter().map(|run| run.ungated_motions).sum(),
            by_kind: kinds.iter().map(|(kind, runs)| (kind.clone(), Rate::of(runs))).collect(),
            failures,
            seconds: times
                .iter()
                .filter_map(|(phase, values)| Some((phase.clone(), spread(values)?)))
                .collect(),
            refusals: Refusals {
                expected: count(&|run| run.refusal_expected),
                right: count(&|run| run.refusal_expected && run.right),
                wrong: count(&|run| !run.refusal_expected && run.outcome == Some(Outcome::Refused)),
            },
            permits,
            collateral: count(&|run| run.collateral > 0),
            hard_contacts: runs.iter().map(|run| run.hard_contacts).sum(),
            max_pad_force: runs.iter().map(|run| run.max_pad_force).fold(0.0, f64::max),
            plans: Plans::of(runs),
        }
    }

    /// The rate over all kinds.
    fn all(&self) -> Rate {
        let scored = || self.by_kind.values().filter_map(|rate| Some((rate.runs, rate.progress?)));
        let runs: usize = scored().map(|(runs, _)| runs).sum();
        let sum: f64 = scored().map(|(runs, progress)| runs as f64 * progress).sum();
        let held = self.by_kind.values().filter_map(|rate| rate.by_handle);
        Rate {
            runs: self.runs,
            right: self.right,
            wilson95: self.wilson95,
            progress: (runs > 0).then(|| sum / runs as f64),
            by_handle: held.reduce(|a, b| [a[0] + b[0], a[1] + b[1]]),
            retries: self.by_kind.values().map(|rate| rate.retries).sum(),
        }
    }

    /// The report as a table for people.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let wide = self.by_kind.keys().map(String::len).max().unwrap_or(0).max(12) + 2;
        let line = |text: &mut String, name: &str, rate: &Rate| {
            let percent = 100.0 * rate.right as f64 / rate.runs.max(1) as f64;
            let [low, high] = rate.wilson95.map(|share| 100.0 * share);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{name:<wide$} {:>4} of {:<4} {percent:>5.1} %   [{low:>5.1}, {high:>5.1}]",
                rate.right, rate.runs
            );
            if let Some(progress) = rate.progress {
                let _ = write!(text, "   progress {progress:.2}   retries {}", rate.retries);
            }
            if let Some([by, all]) = rate.by_handle {
                let _ = write!(text, "   by the handle {by} of {all}");
            }
            text.push('\n');
        };
        let _ = writeln!(text, "{:<wide$} {:>12} {:>7}     95 % (Wilson)", "right", "", "");
        line(&mut text, "all", &self.all());
        for (kind, rate) in &self.by_kind {
            line(&mut text, &format!("  {kind}"), rate);
        }
        let _ = writeln!(text, "\nwrong claims of success  {}", self.false_success);
        let _ = writeln!(text, "motions without permit   {}", self.ungated_motions);
        let Permits { asked, granted, refused } = self.permits;
        let _ =
            writeln!(text, "permits                  {asked} asked, {granted} granted, {refused} refused");
        let Refusals { expected, right, wrong } = self.refusals;
        let _ = writeln!(text, "refusals                 {right} of {expected} right, {wrong} wrong");
        let _ = writeln!(text, "other things moved       in {} runs", self.collateral);
        let _ = writeln!(
            text,
            "hard contacts            {} (largest pad force {:.0} N)",
            self.hard_contacts, self.max_pad_force
        );
        let Plans { made, foretold, in_time, moved } = self.plans;
        if made > 0 {
            let _ = writeln!(
                text,
                "plans made before        {foretold} of {made} foretold the end, {in_time} within {PLAN_IN_TIME} s, the arm moved in {moved}"
            );
        }
        if !self.failures.is_empty() {
            let _ = writeln!(text, "\nfailures");
            let mut failures: Vec<_> = self.failures.iter().collect();
            failures.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            for (cause, count) in failures {
                let _ = writeln!(text, "  {cause:<22} {count:>4}");
            }
        }
        if !self.seconds.is_empty() {
            let _ = writeln!(text, "\nseconds                 median    90 %     max");
            for (phase, s) in &self.seconds {
                let _ = writeln!(text, "  {phase:<20} {:>7.2} {:>7.2} {:>7.2}", s.median, s.p90, s.max);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Kind;

    fn run(kind: Kind, right: bool) -> Run {
        Run {
            seed: 1,
            kind: kind.code().to_owned(),
            goal: "put the mug in the bowl".into(),
            right,
            outcome: Some(Outcome::Done),
            refusal_expected: kind == Kind::Impossible,
            false_success: false,
            ungated_motions: 0,
            cause: (!right).then_some(Cause::Slipped),
            note: String::new(),
            collateral: 0,
            permits: Permits { asked: 3, granted: 2, refused: 1 },
            hard_contacts: 0,
            max_pad_force: 31.0,
            seconds: BTreeMap::from([("total".into(), 10.0)]),
            plan: None,
            effort: None,
            retries: 0,
            folder: String::new(),
        }
    }

    #[test]
    fn a_report_counts() {
        let mut runs =
            vec![run(Kind::Attribute, true), run(Kind::Attribute, false), run(Kind::Impossible, true)];
        runs[1].false_success = true;
        runs[1].ungated_motions = 2;
        runs[1].max_pad_force = 80.0;
        runs[0].outcome = Some(Outcome::Refused);
        let report = Report::new(7, &runs);
        assert_eq!((report.runs, report.right, report.seed), (3, 2, 7));
        assert_eq!((report.false_success, report.ungated_motions), (1, 2));
        assert_eq!(report.by_kind["attribute"].right, 1);
        assert_eq!(report.by_kind["attribute"].wilson95, wilson95(1, 2));
        assert_eq!(report.failures, BTreeMap::from([("slipped".into(), 1)]));
        assert_eq!(report.permits, Permits { asked: 9, granted: 6, refused: 3 });
        assert_eq!(report.refusals, Refusals { expected: 1, right: 1, wrong: 1 });
        assert_eq!(report.seconds["total"], Spread { median: 10.0, p90: 10.0, max: 10.0 });
        assert_eq!(report.max_pad_force, 80.0);
        let table = report.table();
        assert!(table.contains("all               2 of 3     66.7 %"), "{table}");
        assert!(table.contains("slipped                   1"), "{table}");
    }

    #[test]
    fn progress_and_handles_are_summed() {
        let scored = |progress, by_handle| Run {
            effort: Some(Effort { progress, by_handle }),
            retries: 1,
            ..run(Kind::Task, progress >= 1.0)
        };
        let report = Report::new(1, &[scored(1.0, Some(true)), scored(0.5, Some(false)), scored(0.0, None)]);
        let rate = report.by_kind["task"];
        assert_eq!((rate.progress, rate.by_handle, rate.retries), (Some(0.5), Some([1, 2]), 3));
        let table = report.table();
        assert!(table.contains("progress 0.50   retries 3   by the handle 1 of 2"), "{table}");
    }

    #[test]
    fn the_json_has_the_fields_that_scripts_rely_on() {
        let json = serde_json::to_value(Report::new(1, &[run(Kind::Relation, true)])).unwrap();
        for field in [
            "runs",
            "seed",
            "right",
            "wilson95",
            "false_success",
            "ungated_motions",
            "by_kind",
            "failures",
            "seconds",
        ] {
            assert!(json.get(field).is_some(), "{field}");
        }
        assert_eq!(json["wilson95"].as_array().unwrap().len(), 2);
        assert!(Report::new(1, &[]).table().contains("0 of 0"));
    }
}
