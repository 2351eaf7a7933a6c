//! What `prehend doctor --llm` says: whether the agent's language model answers, and calls tools.

use super::{Health, Report};
use crate::args::DoctorArgs;
use prehend_config::share;
use prehend_nodes::agent;

pub(in crate::commands) async fn run(args: &DoctorArgs) -> u8 {
    let file = share::resolve(&args.agent);
    let health = match agent::try_model(&file).await {
        Ok(None) => Health::Note(format!(
            "none is configured: the built-in planner plans. `model.model` in {} names one",
            file.display()
        )),
        Ok(Some(said)) => Health::Good(said),
        Err(wrong) => Health::Bad(wrong),
    };
    let mut report = Report::new(args.json);
    report.say("language model", health);
    report.end()
}
