//! Whole conversations of a robot's agent with each provider's model, over TCP, with bytes, events and calls that are wrong.
//!
//! Contract: no panic, no hang, nothing claimed that is not so in the world.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../prehend-agent/tests/scripted/mod.rs"]
#[allow(dead_code, reason = "a module of several test files, each of which uses its own part")]
mod robot;
mod scripted;
mod wire;

use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::talk::{Call, End, Message, Model, ModelFault, Tool, Turn, Usage};
use prehend_agent::{Agent, Outcome, Planner, Settings};
use prehend_llm::{Budget, HttpModel, ModelSettings, ProviderName, Session};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use robot::{Scripted, thing};
use scripted::{After, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;
use wire::stream;

/// Seed and number of conversations of each provider.
const SEED: u64 = 2400;
const CONVERSATIONS: usize = 250;
/// One that the grammar understands, and one that it does not.
const SENTENCES: [&str; 2] =
    ["put the pear in the bowl", "it is the pear that belongs with the bowl, inside of course"];

/// A session as the agent asks it, from a thread that may block.
struct Blocking {
    runtime: Handle,
    session: Session,
}

impl Model for Blocking {
    fn turn(&mut self, messages: &[Message], tools: &[Tool]) -> Result<Turn, ModelFault> {
        Ok(self.runtime.block_on(self.session.turn(messages, tools))?)
    }
}

fn world() -> Scripted {
    Scripted::new(vec![
        thing("mug_0", "mug", "red", 0.45, 0.30, [0.08, 0.08, 0.09]),
        thing("bowl_0", "bowl", "white", 0.55, 0.0, [0.16, 0.16, 0.06]),
        thing("plate_0", "plate", "white", 0.30, 0.0, [0.2, 0.2, 0.02]),
        thing("pear_0", "pear", "green", 0.35, 0.18, [0.06, 0.06, 0.09]),
    ])
}

fn conversation() -> Vec<Turn> {
    let turn = |name: &str, arguments: Value| {
        let call = Call {
            id: format!("id_{name}"),
            name: name.to_owned(),
            arguments: arguments.to_string(),
            signature: None,
        };
        let usage = Usage { tokens_in: 500, tokens_out: 20, seconds: 0.0 };
        Turn { text: "Now this.".to_owned(), calls: vec![call], end: End::Complete, usage }
    };
    vec![
        turn("object_retrieval", json!({ "query": "pear" })),
        turn("interact", json!({ "obj": "pear_0", "action": "grasp" })),
        turn("object_retrieval", json!({ "query": "bowl" })),
        turn("interact", json!({ "obj": "bowl_0", "action": "place it in" })),
        turn(
            "finish",
            json!({ "message": "Done.", "facts": [{ "object": "pear_0", "state": "in", "target": "bowl_0" }] }),
        ),
    ]
}

/// What the server sends for a turn, with something wrong in one of three.
fn sent(provider: ProviderName, turn: &Turn, rng: &mut impl Rng) -> Reply {
    let mut bytes = stream(provider, turn).into_bytes();
    let mut after = After::End;
    if rng.random_bool(0.3) {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..9) {
            0 => bytes[at] = rng.random(),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, rng.random()),
            3 => {
                bytes.truncate(at);
                after = After::Break;
            }
            4 => bytes.truncate(at),
            5 => {
                // A piece twice.
                let end = (at + 40).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let text = String::from_utf8(bytes).unwrap();
                let (from, to) =
                    [("pear_0", "mug_0"), ("bowl_0", "plate_0"), ("grasp", "throw it"), ("\"in\"", "\"on\"")]
                        [rng.random_range(0..4)];
                bytes = text.replace(from, to).into_bytes();
            }
            7 => {
                let status = [400, 401, 404, 429, 500, 529][rng.random_range(0..6)];
                return Reply::Error(
                    status,
                    String::new(),
                    "{\"error\":{\"type\":\"some_error\"}}".to_owned(),
                );
            }
            _ => bytes = "data: {}\n\n".repeat(3).into_bytes(),
        }
    }
    let cut = rng.random_range(1..200);
    Reply::Stream(bytes.chunks(cut).map(<[u8]>::to_vec).collect(), after)
}

fn is_in_bowl(world: &Scripted) -> bool {
    let at = |key: &str| {
        let object = world.map.objects.iter().find(|object| object.key.0 == key).unwrap();
        object.bounds.pose.translation.vector.xy()
    };
    (at("pear_0") - at("bowl_0")).norm() < 0.02
}

/// Conversations with the model of one provider; how many of them were done.
async fn converse(provider: ProviderName) -> usize {
    let coming: Arc<Mutex<VecDeque<Reply>>> = Arc::default();
    let queue = Arc::clone(&coming);
    let server = ScriptedModel::answering(move |_| {
        let next = queue.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Reply::Error(404, String::new(), String::new()))
    })
    .await;
    let settings = ModelSettings {
        base_url: server.base_url.trim_end_matches("/v1").to_owned(),
        backoff: 0.001,
        budget: Budget::default(),
        ..ModelSettings::new(provider, "scripted")
    };
    let model = HttpModel::new(settings, None).unwrap();
    let runtime = Handle::current();
    let work = move || {
        let agent = Agent {
            lexicon: Lexicon::built_in(),
            policy: Policy::built_in().unwrap(),
            settings: Settings::default(),
        };
        let orders = SENTENCES.map(|text| agent.order(text, Planner::Model, None).unwrap());
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut done = 0;
        for number in 0..CONVERSATIONS {
            *coming.lock().unwrap() =
                conversation().iter().map(|turn| sent(provider, turn, &mut rng)).collect();
            let mut world = world();
            let mut session = Blocking { runtime: runtime.clone(), session: model.session() };
            let report =
                agent.carry(&orders[number % 2], Planner::Model, Some(&mut session), &mut world, None);
            assert_eq!(report.outcome == Outcome::Done, report.reason.is_none(), "{number}: {report:?}");
            assert!(report.outcome != Outcome::Refused || world.skills.is_empty(), "{number}: {report:?}");
            assert!(world.skills.iter().all(|skill| !skill.contains("throw")), "{:?}", world.skills);
            if report.outcome == Outcome::Done {
                done += 1;
                assert!(is_in_bowl(&world), "{number}: {report:?}");
            }
        }
        done
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[expect(clippy::print_stdout, reason = "a figure for whoever runs it")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_with_each_provider() {
    for (name, provider) in ProviderName::ALL {
        let done = converse(provider).await;
        println!(
            "{name}: {done} of {CONVERSATIONS} mutated conversations (seed {SEED}) done, no wrong claim"
        );
        assert!(done > CONVERSATIONS / 8, "{name}: {done} were done: the mutations leave too little");
    }
}
