//! What `prehend doctor --llm` says: whether the agent's language model answers, and calls tools.

use super::Health;
use crate::args::DoctorArgs;
use crate::outcome::exit;
use crate::screen::Screen;
use prehend_nodes::{agent, share};

pub(in crate::commands) async fn run(args: &DoctorArgs) -> u8 {
    let screen = Screen::new(false);
    let file = share::resolve(&args.agent);
    match agent::try_model(&file).await {
        Ok(None) => {
            let text = format!(
                "none is configured: the built-in planner plans. `model.model` in {} names one",
                file.display()
            );
            Health::Note(text).show(&screen, "language model");
            exit::DONE
        }
        Ok(Some(said)) => {
            Health::Good(said).show(&screen, "language model");
            exit::DONE
        }
        Err(wrong) => {
            Health::Bad(wrong).show(&screen, "language model");
            exit::FAILED
        }
    }
}
