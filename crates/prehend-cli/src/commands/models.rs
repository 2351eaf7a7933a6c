//! `prehend doctor --models`: which network models are there, whether they fit, and what to do when not.

use super::doctor::{Health, Report};
use crate::args::ModelArgs;
use crate::outcome::exit;
use prehend_config::Findings;
use prehend_config::share;
use prehend_models::config::{Entry, FileState, ModelFile, folder};
use prehend_models::{ModelsConfig, Runtime};

/// Reads the file of the models.
pub(super) fn config(args: &ModelArgs) -> Result<ModelsConfig, Findings> {
    ModelsConfig::load(&share::resolve(&args.config), &folder(&share::share_dir()))
}

pub(super) fn run(args: &ModelArgs, json: bool) -> u8 {
    let mut report = Report::new(json);
    let config = match config(args) {
        Ok(config) => config,
        Err(findings) => {
            eprintln!("{findings}");
            return exit::BAD_INPUT;
        }
    };
    let runtime = Runtime::open(args.runtime.as_deref());
    report.say(
        "runtime",
        match &runtime {
            Ok(runtime) => Health::Good(runtime.path().display().to_string()),
            Err(error) => Health::Bad(error.to_string()),
        },
    );
    for entry in &config.models {
        for (place, health) in look(entry, runtime.as_ref().ok()).into_iter().enumerate() {
            // A table names a model once, JSON names it with each finding.
            report.say(if place == 0 || json { &entry.name } else { "" }, health);
        }
    }
    report.end()
}

/// What is to be said of a model: each of its files, and at last whether they fit each other.
fn look(entry: &Entry, runtime: Option<&Runtime>) -> Vec<Health> {
    let mut rows: Vec<Health> = Vec::new();
    let mut whole = true;
    for file in entry.model_files() {
        let path = file.path.display();
        rows.push(match file.state(runtime) {
            FileState::Fits(what) => Health::Good(format!("{path}\n{what}")),
            state => {
                whole = false;
                match state {
                    FileState::Unchecked => {
                        Health::Note(format!("{path}\nis there; the runtime must be, too"))
                    }
                    FileState::Wrong(error) => Health::Bad(format!("{error}\n{}", must(&file))),
                    _ => {
                        Health::Note(format!("{path}\nis not there; {}\nfrom {}", must(&file), entry.source))
                    }
                }
            }
        });
    }
    if let (true, Some(runtime)) = (whole, runtime)
        && let Err(error) = entry.check(runtime)
    {
        rows.push(Health::Bad(error.to_string()));
    }
    rows
}

fn must(file: &ModelFile) -> String {
    format!("it must be {}", file.must.lines().join("\n  "))
}
