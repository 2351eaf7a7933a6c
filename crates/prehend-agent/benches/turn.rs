//! What the agent adds to a turn besides the model: `cargo bench -p prehend-agent --bench turn --profile dev`.
//!
//! A conversation of retrievals and spatial calls over a table of 30 things, by a model that answers at once.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/scripted/mod.rs"]
mod scripted;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::talk::{Call, End, Message, Model, ModelFault, Tool, Turn, Usage};
use prehend_agent::{Agent, Planner, Settings};
use scripted::{Scripted, thing};
use serde_json::json;
use std::time::{Duration, Instant};

/// Conversations, and turns of each.
const ROUNDS: usize = 40;
const TURNS: usize = 30;

/// Calls tools one after the other, and notes how long the agent took between its turns.
struct Quick {
    turns: usize,
    answered: Option<Instant>,
    took: Vec<Duration>,
}

impl Model for Quick {
    fn turn(&mut self, _messages: &[Message], _tools: &[Tool]) -> Result<Turn, ModelFault> {
        self.took.extend(self.answered.map(|at| at.elapsed()));
        self.turns += 1;
        let (name, arguments) = match self.turns % 3 {
            _ if self.turns == TURNS => ("refuse", json!({ "reason": "not_found", "message": "enough" })),
            0 => ("object_distance", json!({ "obj1": "mug_0", "obj2": format!("mug_{}", self.turns % 10) })),
            1 => ("object_retrieval", json!({ "query": format!("mug number {}", self.turns) })),
            _ => ("size_of", json!({ "obj": format!("mug_{}", self.turns % 10) })),
        };
        let call = Call {
            id: format!("call_{}", self.turns),
            name: name.to_owned(),
            arguments: arguments.to_string(),
            signature: None,
        };
        self.answered = Some(Instant::now());
        Ok(Turn { text: String::new(), calls: vec![call], end: End::Complete, usage: Usage::default() })
    }
}

fn main() {
    let agent = Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().unwrap_or_default(),
        settings: Settings::default(),
    };
    let things = (0..30).map(|number| {
        let (x, y) = (0.3 + 0.05 * f64::from(number % 6), -0.3 + 0.12 * f64::from(number / 6));
        thing(&format!("mug_{number}"), "mug", "red", x, y, [0.04, 0.04, 0.06])
    });
    let things: Vec<_> = things.collect();
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let mut world = Scripted::new(things.clone());
        let Ok(order) = agent.order("do what thou wilt with the mugs", Planner::Model, None) else {
            continue;
        };
        let mut model = Quick { turns: 0, answered: None, took: Vec::new() };
        agent.carry(&order, Planner::Model, Some(&mut model), &mut world, None);
        took.append(&mut model.took);
    }
    took.sort();
    let at =
        |share: f64| took.get((took.len() as f64 * share) as usize).map_or(0.0, |t| t.as_secs_f64() * 1e3);
    println!(
        "{} turns, 30 things: median {:.3} ms, p99 {:.3} ms, most {:.3} ms",
        took.len(),
        at(0.5),
        at(0.99),
        at(0.9999)
    );
}
