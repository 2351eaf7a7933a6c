//! Chat with tools against a scripted server that speaks each provider's protocol: what is sent, what is made of every answer, and
//! of none. How long something takes is never asserted.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod scripted;
mod wire;

use prehend_agent::talk::{Call, End, Message, ModelFault, Tool, Turn, Usage};
use prehend_llm::{Budget, HttpModel, ModelError, ModelSettings, Prices, ProviderName, SetupError};
use scripted::{After, Heard, Reply, ScriptedModel, nowhere, serve};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use wire::stream;

const KEY: &str = "sk-secret-key";

fn settings(provider: ProviderName, base_url: &str) -> ModelSettings {
    ModelSettings {
        base_url: base_url.to_owned(),
        // Longer than any test on the slowest machine, where it is not what is tested.
        timeout: 120.0,
        idle: 60.0,
        backoff: 0.001,
        budget: Budget::default(),
        ..ModelSettings::new(provider, "scripted")
    }
}

fn call(id: &str, name: &str, arguments: &Value) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_string(), signature: None }
}

/// A turn with a text and two calls; ids and signatures where the provider has them.
fn turn(provider: ProviderName) -> Turn {
    let has_ids = matches!(provider, ProviderName::OpenAi | ProviderName::Anthropic);
    let id = |text: &str| if has_ids { text.to_owned() } else { String::new() };
    let mut calls = vec![
        Call { id: id("call_a"), ..call("", "object_retrieval", &json!({ "query": "the é mug" })) },
        Call { id: id("call_b"), ..call("", "interact", &json!({ "action": "grasp", "obj": "mug_0" })) },
    ];
    if provider == ProviderName::Gemini {
        calls[0].signature = Some("c2lnbmVk".to_owned());
    }
    let usage = Usage { tokens_in: 812, tokens_out: 37, seconds: 0.0 };
    Turn { text: "I look – for it.".to_owned(), calls, end: End::Complete, usage }
}

fn tools() -> Vec<Tool> {
    let parameters = json!({
        "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"],
        "additionalProperties": false,
    });
    vec![Tool { name: "object_retrieval".to_owned(), description: "Finds objects.".to_owned(), parameters }]
}

/// A conversation with everything in it, also what a model garbled.
fn messages() -> Vec<Message> {
    let garbled = Call { arguments: "{\"query\": \"mu".to_owned(), ..call("b", "interact", &Value::Null) };
    let signed = Call {
        signature: Some("c2ln".to_owned()),
        ..call("a", "object_retrieval", &json!({ "query": "mug" }))
    };
    let answer = |id: &str, name: &str| Message::Tool {
        id: id.to_owned(),
        name: name.to_owned(),
        content: json!({ "success": true }).to_string(),
    };
    vec![
        Message::System { text: "the rules".to_owned() },
        Message::User { text: "the sentence".to_owned() },
        Message::Assistant { text: String::new(), calls: Vec::new() },
        Message::User { text: "answer with a call".to_owned() },
        Message::Assistant { text: "so".to_owned(), calls: vec![signed, garbled] },
        answer("a", "object_retrieval"),
        answer("b", "interact"),
    ]
}

/// One turn from a script of replies: the turn or error, and the requests.
async fn ask(
    provider: ProviderName,
    replies: Vec<Reply>,
    change: impl FnOnce(&mut ModelSettings),
) -> (Result<Turn, ModelError>, Vec<Heard>) {
    let server = ScriptedModel::start(replies).await;
    let base = server.base_url.trim_end_matches("/v1").to_owned();
    let mut settings = settings(provider, &base);
    change(&mut settings);
    let model = HttpModel::new(settings, Some(KEY)).unwrap();
    let mut session = model.session();
    let turn = session.turn(&messages(), &tools()).await;
    if let Err(error) = &turn {
        let told = format!("{error} {error:?} {model:?} {session:?} {}", ModelFault::from(error.clone()));
        assert!(!told.contains("secret"), "{told}");
    }
    (turn, server.heard())
}

fn pieces(text: &str, cut: usize) -> Vec<Vec<u8>> {
    text.as_bytes().chunks(cut).map(<[u8]>::to_vec).collect()
}

fn streamed(text: &str) -> Reply {
    Reply::Stream(pieces(text, 100), After::End)
}

/// Without the time it took.
fn untimed(turn: Turn) -> Turn {
    let usage = Usage { seconds: 0.0, ..turn.usage };
    Turn { usage, ..turn }
}

#[tokio::test]
async fn a_streamed_turn_is_the_same_however_it_is_cut() {
    for (name, provider) in ProviderName::ALL {
        for end in [End::Complete, End::Cut, End::Declined] {
            // Ollama has no filter of its own.
            if (provider, end) == (ProviderName::Ollama, End::Declined) {
                continue;
            }
            let expected = Turn { end, ..turn(provider) };
            let text = stream(provider, &expected);
            for cut in [1, 7, 64, text.len()] {
                let (found, heard) =
                    ask(provider, vec![Reply::Stream(pieces(&text, cut), After::End)], |_| ()).await;
                assert_eq!(found.map(untimed), Ok(expected.clone()), "{name} {end:?} {cut}");
                assert_eq!(heard.len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_request_is_what_the_provider_asks_for() {
    let mut bodies = Vec::new();
    for (_, provider) in ProviderName::ALL {
        let reply = streamed(&stream(provider, &turn(provider)));
        let change = |settings: &mut ModelSettings| {
            (settings.temperature, settings.max_tokens) = (Some(0.5), Some(900))
        };
        let (_, heard) = ask(provider, vec![reply], change).await;
        let header = |name: &str| {
            heard[0].headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let (path, key) = match provider {
            ProviderName::OpenAi => ("/chat/completions", header("authorization")),
            ProviderName::Anthropic => {
                ("/v1/messages", header("x-api-key").map(|key| format!("Bearer {key}")))
            }
            ProviderName::Gemini => (
                "/v1beta/models/scripted:streamGenerateContent?alt=sse",
                header("x-goog-api-key").map(|key| format!("Bearer {key}")),
            ),
            ProviderName::Ollama => ("/api/chat", header("authorization")),
        };
        assert_eq!((heard[0].path.as_str(), key.as_deref()), (path, Some("Bearer sk-secret-key")));
        assert!(!heard[0].path.contains("secret"));
        bodies.push(heard[0].body.clone());
        if provider == ProviderName::Anthropic {
            assert_eq!(header("anthropic-version").as_deref(), Some("2023-06-01"));
        }
    }
    let [openai, anthropic, gemini, ollama] = bodies.as_slice() else { panic!("four providers") };

    assert_eq!((&openai["stream"], &openai["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
    assert_eq!((&openai["temperature"], &openai["max_completion_tokens"]), (&json!(0.5), &json!(900)));
    assert_eq!(openai["tools"][0]["function"]["parameters"]["additionalProperties"], json!(false));
    let roles: Vec<&str> =
        openai["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "tool", "tool"]);
    let calls = &openai["messages"][4]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], json!("{\"query\":\"mug\"}"), "a text that is JSON");
    assert_eq!(calls[1]["function"]["arguments"], json!("{}"), "what was garbled goes back as nothing");
    assert_eq!(openai["messages"][6]["tool_call_id"], json!("b"));

    assert_eq!((&anthropic["system"], &anthropic["max_tokens"]), (&json!("the rules"), &json!(900)));
    let said = anthropic["messages"].as_array().unwrap();
    assert_eq!(said.len(), 3, "roles take turns: {said:#?}");
    assert_eq!(said[0]["content"].as_array().unwrap().len(), 2, "an empty turn is left out");
    assert_eq!(
        said[1]["content"][1],
        json!({ "type": "tool_use", "id": "a", "name": "object_retrieval", "input": { "query": "mug" } })
    );
    let types: Vec<&Value> =
        said[2]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(types, [&json!("tool_result"), &json!("tool_result")]);
    assert_eq!(anthropic["tools"][0]["input_schema"]["type"], json!("object"));

    assert_eq!(gemini["systemInstruction"]["parts"][0]["text"], json!("the rules"));
    assert_eq!(gemini["generationConfig"], json!({ "temperature": 0.5, "maxOutputTokens": 900 }));
    let said = gemini["contents"].as_array().unwrap();
    assert_eq!((said.len(), &said[1]["role"]), (3, &json!("model")));
    assert_eq!(said[1]["parts"][1]["thoughtSignature"], json!("c2ln"));
    assert_eq!(said[2]["parts"][1]["functionResponse"]["response"], json!({ "success": true }));
    let declared = gemini["tools"][0]["functionDeclarations"][0].to_string();
    assert!(
        declared.contains("object_retrieval") && !declared.contains("additionalProperties"),
        "{declared}"
    );

    assert_eq!(
        (&ollama["stream"], &ollama["options"]),
        (&json!(true), &json!({ "temperature": 0.5, "num_predict": 900 }))
    );
    assert_eq!(ollama["messages"][4]["tool_calls"][0]["function"]["arguments"], json!({ "query": "mug" }));
    assert_eq!(
        ollama["messages"][6],
        json!({ "role": "tool", "tool_name": "interact", "content": "{\"success\":true}" })
    );
}

#[tokio::test]
async fn servers_that_leave_things_out_are_read_too() {
    // vLLM's last chunk has no choices; others number no calls, or send them whole, or send no [DONE].
    let events = [
        json!({ "choices": [{ "delta": { "tool_calls": [{ "id": "x", "function": { "name": "a", "arguments": "{}" } }] } }] }),
        json!({ "choices": [{ "delta": { "tool_calls": [{ "id": "y", "function": { "name": "b", "arguments": "{\"q\":" } }] } }] }),
        json!({ "choices": [{ "delta": { "tool_calls": [{ "function": { "arguments": "1}" } }] } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": null, "usage": { "prompt_tokens": 5, "completion_tokens": 6 } }),
    ];
    let text: String = events.iter().map(|event| format!("data:{event}\r\n\r\n")).collect();
    let (found, _) = ask(ProviderName::OpenAi, vec![streamed(&text)], |_| ()).await;
    let found = found.unwrap();
    let calls: Vec<(&str, &str)> =
        found.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("a", "{}"), ("b", "{\"q\":1}")]);
    assert_eq!((found.usage.tokens_in, found.usage.tokens_out), (5, 6));
    // A refusal in words.
    let text = "data: {\"choices\":[{\"delta\":{\"refusal\":\"No.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (found, _) = ask(ProviderName::OpenAi, vec![streamed(text)], |_| ()).await;
    assert_eq!(found.unwrap().end, End::Declined);
    // Gemini blocks a prompt as a whole; a call without arguments has none.
    let text = "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n";
    let (found, _) = ask(ProviderName::Gemini, vec![streamed(text)], |_| ()).await;
    assert_eq!(found.unwrap().end, End::Declined);
    let text = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"a\"}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":50}}\n\n";
    let (found, _) = ask(ProviderName::Gemini, vec![streamed(text)], |_| ()).await;
    let found = found.unwrap();
    assert_eq!((found.calls[0].arguments.as_str(), found.usage.tokens_out), ("{}", 54));
    // Anthropic counts what was cached apart, and sends thinking and blocks that come later.
    let events = [
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "t", "name": "home", "input": {} } }),
        json!({ "type": "a_later_event" }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ];
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let (found, _) = ask(ProviderName::Anthropic, vec![streamed(&text)], |_| ()).await;
    let found = found.unwrap();
    assert_eq!((found.usage.tokens_in, found.usage.tokens_out), (100, 9));
    assert_eq!((found.calls[0].name.as_str(), found.calls[0].arguments.as_str()), ("home", ""));
}

#[tokio::test]
async fn every_status_has_its_error() {
    let error = |status: u16, body: &str| Reply::Error(status, String::new(), body.to_owned());
    let code = |text: &str| Some(text.to_owned());
    let too_long =
        "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\",\"code\":null}}";
    let cases: [(Reply, ModelError, usize); 14] = [
        (error(400, too_long), ModelError::TooLong { status: 400 }, 1),
        (
            error(400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"sk-secret\"}}"),
            ModelError::Refused { status: 400, code: code("invalid_request_error") },
            1,
        ),
        (
            error(401, "{\"error\":{\"code\":\"invalid_api_key\",\"message\":\"sk-secret\"}}"),
            ModelError::Key { status: 401, code: code("invalid_api_key") },
            1,
        ),
        (Reply::Refused, ModelError::Key { status: 401, code: code("invalid_api_key") }, 1),
        (error(403, "sk-secret"), ModelError::Key { status: 403, code: None }, 1),
        (
            error(404, "{\"error\":{\"code\":\"model_not_found\"}}"),
            ModelError::NoModel { code: code("model_not_found") },
            1,
        ),
        (error(408, ""), ModelError::Failing { status: 408, attempts: 3, code: None }, 3),
        (error(409, ""), ModelError::Failing { status: 409, attempts: 3, code: None }, 3),
        (error(413, "{\"error\":{\"type\":\"request_too_large\"}}"), ModelError::TooLong { status: 413 }, 1),
        (error(422, "[]"), ModelError::Refused { status: 422, code: None }, 1),
        (
            error(429, "{\"error\":{\"type\":\"rate_limit_error\"}}"),
            ModelError::Failing { status: 429, attempts: 3, code: code("rate_limit_error") },
            3,
        ),
        (error(500, "\u{0}"), ModelError::Failing { status: 500, attempts: 3, code: None }, 3),
        (error(504, ""), ModelError::Failing { status: 504, attempts: 3, code: None }, 3),
        (
            error(529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"),
            ModelError::Failing { status: 529, attempts: 3, code: code("overloaded_error") },
            3,
        ),
    ];
    for (_, provider) in ProviderName::ALL {
        for (reply, expected, requests) in &cases {
            let (found, heard) = ask(provider, vec![reply.clone()], |_| ()).await;
            assert_eq!((found, heard.len()), (Err(expected.clone()), *requests));
        }
    }
    let fault = |error: ModelError| ModelFault::from(error);
    assert_eq!(fault(ModelError::TooLong { status: 413 }), ModelFault::TooLong);
    assert!(matches!(fault(ModelError::Key { status: 401, code: None }), ModelFault::Unavailable(_)));
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let good = || streamed(&stream(ProviderName::Anthropic, &turn(ProviderName::Anthropic)));
    let busy = |header: &str| Reply::Error(429, format!("Retry-After: {header}\r\n"), String::new());
    let over = httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(60));
    for header in ["0", over.as_str(), "soon"] {
        let (found, heard) = ask(ProviderName::Anthropic, vec![busy(header), good()], |_| ()).await;
        assert_eq!((found.is_ok(), heard.len()), (true, 2), "{header}");
    }
    let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(4000));
    for header in ["3600", later.as_str()] {
        let (found, heard) = ask(ProviderName::Anthropic, vec![busy(header), good()], |_| ()).await;
        assert!(matches!(found, Err(ModelError::MustWait { seconds }) if seconds > 3000), "{found:?}");
        assert_eq!(heard.len(), 1);
    }
    // Errors within a stream: a passing one is asked again, a long conversation is not.
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"sk-secret\"}}\n\n";
    let (found, heard) = ask(ProviderName::Anthropic, vec![streamed(overloaded), good()], |_| ()).await;
    assert_eq!((found.is_ok(), heard.len()), (true, 2));
    let (found, _) =
        ask(ProviderName::Ollama, vec![streamed("{\"error\":\"sk-secret ran out of memory\"}\n")], |_| ())
            .await;
    assert_eq!(found, Err(ModelError::Failing { status: 200, attempts: 3, code: None }));
    let long = "data: {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"\"}}\n\n";
    let (found, heard) = ask(ProviderName::OpenAi, vec![streamed(long)], |_| ()).await;
    assert_eq!((found, heard.len()), (Err(ModelError::TooLong { status: 200 }), 1));
}

#[tokio::test]
async fn answers_that_break_off_are_none() {
    let broken = "the answer broke off in the middle";
    for (name, provider) in ProviderName::ALL {
        let text = stream(provider, &turn(provider));
        // In the middle of a call's arguments, with and without an orderly end of the connection.
        let half = text.find("interact").unwrap() + 20;
        for after in [After::Break, After::End] {
            let cut = Reply::Stream(pieces(&text[..half], 50), after);
            let (found, heard) = ask(provider, vec![cut.clone()], |_| ()).await;
            assert!(
                matches!(found, Err(ModelError::Lost { attempts: 3, how }) if how == broken)
                    || matches!(found, Err(ModelError::Format { .. })),
                "{name} {after:?}: {found:?}"
            );
            let requests = if matches!(found, Err(ModelError::Lost { .. })) { 3 } else { 1 };
            assert_eq!(heard.len(), requests);
            if requests == 3 {
                let (found, _) = ask(provider, vec![cut, streamed(&text)], |_| ()).await;
                assert_eq!(found.map(untimed), Ok(turn(provider)), "{name}");
            }
        }
        // Silence, a connection that is kept alive without a word, and one byte after the other.
        let alive = if provider == ProviderName::Ollama { "\n" } else { ": keep-alive\n\n" };
        let dead = [
            Reply::Silence,
            Reply::Stream(Vec::new(), After::Silence),
            Reply::Stream(pieces(&text[..half], 50), After::Silence),
            Reply::Stream(Vec::new(), After::Again(alive)),
            Reply::Drip,
        ];
        for reply in dead {
            let change = |settings: &mut ModelSettings| (settings.idle, settings.retries) = (0.1, 0);
            let (found, _) = ask(provider, vec![reply], change).await;
            assert_eq!(found, Err(ModelError::Silent { seconds: 0.1 }), "{name}");
        }
        let change = |settings: &mut ModelSettings| settings.timeout = 0.1;
        let (found, _) = ask(provider, vec![Reply::Silence], change).await;
        assert_eq!(found, Err(ModelError::TimedOut { seconds: 0.1 }), "{name}");
    }
    // Anthropic's ping is no word.
    let change = |settings: &mut ModelSettings| (settings.idle, settings.retries) = (0.1, 0);
    let ping = Reply::Stream(Vec::new(), After::Again("event: ping\ndata: {\"type\": \"ping\"}\n\n"));
    let (found, _) = ask(ProviderName::Anthropic, vec![ping], change).await;
    assert_eq!(found, Err(ModelError::Silent { seconds: 0.1 }));
}

#[tokio::test]
async fn what_is_no_answer_of_the_provider_is_told_so() {
    for (name, provider) in ProviderName::ALL {
        let frame = |text: &str| {
            if provider == ProviderName::Ollama { format!("{text}\n") } else { format!("data: {text}\n\n") }
        };
        for text in ["Hello!", "{\"a\":", "[1]", "3"] {
            let (found, heard) = ask(provider, vec![streamed(&frame(text))], |_| ()).await;
            assert!(matches!(found, Err(ModelError::Format { .. })), "{name} {text}: {found:?}");
            assert_eq!(heard.len(), 1);
        }
        let (found, _) = ask(provider, vec![streamed("<html>a page</html>")], |_| ()).await;
        assert!(found.is_err(), "{name}");
        let (found, _) = ask(provider, vec![Reply::body(Vec::new())], |_| ()).await;
        assert!(
            matches!(found, Err(ModelError::Lost { how: "the answer was empty", .. })),
            "{name}: {found:?}"
        );
        let endless = Reply::Stream(
            vec![frame(&format!("{{\"x\": \"{}\"}}", "y".repeat(1 << 20))).into_bytes(); 8],
            After::End,
        );
        let (found, _) = ask(provider, vec![endless], |_| ()).await;
        assert!(
            matches!(found, Err(ModelError::TooMuch { .. } | ModelError::Format { .. })),
            "{name}: {:?}",
            found.map(|turn| turn.end)
        );
        let model = HttpModel::new(settings(provider, &nowhere()), None).unwrap();
        let found = model.session().turn(&messages(), &tools()).await;
        let lost = ModelError::Lost { attempts: 3, how: "the connection was not made" };
        assert_eq!(found, Err(lost), "{name}");
    }
    let wrong = HttpModel::new(settings(ProviderName::OpenAi, "http://h"), Some("a\nb"));
    assert_eq!(wrong.err(), Some(SetupError::Key));
}

#[tokio::test]
async fn a_budget_ends_a_goal_and_not_the_next() {
    let reply = || streamed(&stream(ProviderName::OpenAi, &turn(ProviderName::OpenAi)));
    let one = Budget::default();
    let cases = [
        Budget { tokens: Some(1000), ..one },
        Budget { calls: Some(2), ..one },
        // 812 tokens read and 37 written, twice.
        Budget { money: Some(0.0018), ..one },
    ];
    for budget in cases {
        let server = ScriptedModel::start(vec![reply()]).await;
        let settings = ModelSettings {
            budget,
            prices: Prices { input: 1.0, output: 3.0 },
            ..settings(ProviderName::OpenAi, &server.base_url)
        };
        let model = HttpModel::new(settings, None).unwrap();
        for _ in 0..2 {
            let mut session = model.session();
            for turns in 0..2 {
                let found = session.turn(&messages(), &tools()).await;
                assert!(found.is_ok(), "{budget:?} {turns}: {found:?}");
            }
            let found = session.turn(&messages(), &tools()).await;
            assert!(matches!(found, Err(ModelError::Spent { .. })), "{budget:?}: {found:?}");
            assert_eq!(session.requests(), 2);
        }
    }
    // Requests that are sent again count, and time ends a turn in the middle.
    let budget = |budget: Budget| move |settings: &mut ModelSettings| settings.budget = budget;
    let busy = Reply::Error(503, String::new(), String::new());
    let (found, heard) =
        ask(ProviderName::OpenAi, vec![busy], budget(Budget { calls: Some(2), ..one })).await;
    assert!(matches!(found, Err(ModelError::Spent { .. })), "{found:?}");
    assert_eq!(heard.len(), 2);
    let (found, _) =
        ask(ProviderName::OpenAi, vec![Reply::Silence], budget(Budget { seconds: Some(0.1), ..one })).await;
    assert!(matches!(found, Err(ModelError::Spent { .. })), "{found:?}");
}

#[tokio::test]
async fn a_server_behind_tls_is_trusted_by_its_authority_only() {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, signed.cert.pem()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let noted = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&noted);
    tokio::spawn(async move {
        let text = stream(ProviderName::Gemini, &turn(ProviderName::Gemini));
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let (reply, noted) = (streamed(&text), Arc::clone(&noted));
            tokio::spawn(serve(stream, Arc::new(move |_: &Heard| reply.clone()), noted));
        }
    });
    let trusting = ModelSettings { ca_file: Some(authority), ..settings(ProviderName::Gemini, &base) };
    let model = HttpModel::new(trusting.clone(), Some(KEY)).unwrap();
    let found = model.session().turn(&messages(), &tools()).await;
    assert_eq!(found.map(untimed), Ok(turn(ProviderName::Gemini)));
    let model = HttpModel::new(ModelSettings { ca_file: None, ..trusting.clone() }, Some(KEY));
    // A machine without authorities of its own cannot begin.
    if let Ok(model) = model {
        let found = model.session().turn(&messages(), &tools()).await;
        assert!(matches!(found, Err(ModelError::Lost { .. })), "{found:?}");
    }
    assert_eq!(heard.lock().unwrap().len(), 1, "the key went to who is trusted only");
    let missing = ModelSettings { ca_file: Some("nowhere.pem".into()), ..trusting };
    assert_eq!(HttpModel::new(missing, None).err(), Some(SetupError::Authority));
}

#[tokio::test]
async fn a_picture_stands_where_each_provider_wants_it_and_no_tools_are_sent_when_there_are_none() {
    let png = vec![0x89, b'P', b'N', b'G', 0, 255];
    let data = "iVBORwD/";
    for (name, provider) in ProviderName::ALL {
        let expected = Turn { calls: Vec::new(), ..turn(provider) };
        let server = ScriptedModel::start(vec![streamed(&stream(provider, &expected))]).await;
        let base = server.base_url.trim_end_matches("/v1").to_owned();
        let model = HttpModel::new(settings(provider, &base), Some(KEY)).unwrap();
        let messages = [
            Message::System { text: "the rules".to_owned() },
            Message::User { text: "the sentence".to_owned() },
            Message::Picture { text: "the scene".to_owned(), png: png.clone() },
        ];
        let found = model.session().turn(&messages, &[]).await;
        assert_eq!(found.map(untimed), Ok(expected), "{name}");
        let body = &server.heard()[0].body;
        assert!(body.get("tools").is_none(), "{name}: {body}");
        let (found, text) = match provider {
            ProviderName::OpenAi => {
                let parts = &body["messages"][2]["content"];
                assert_eq!(parts[1]["type"], "image_url");
                let url = parts[1]["image_url"]["url"].as_str().unwrap();
                (url.strip_prefix("data:image/png;base64,").unwrap(), &parts[0]["text"])
            }
            ProviderName::Anthropic => {
                let parts = &body["messages"][0]["content"];
                assert_eq!(
                    (&parts[2]["type"], &parts[2]["source"]["media_type"]),
                    (&json!("image"), &json!("image/png"))
                );
                (parts[2]["source"]["data"].as_str().unwrap(), &parts[1]["text"])
            }
            ProviderName::Gemini => {
                let parts = &body["contents"][0]["parts"];
                assert_eq!(parts[2]["inlineData"]["mimeType"], "image/png");
                (parts[2]["inlineData"]["data"].as_str().unwrap(), &parts[1]["text"])
            }
            ProviderName::Ollama => {
                let message = &body["messages"][2];
                (message["images"][0].as_str().unwrap(), &message["content"])
            }
        };
        assert_eq!((found, text), (data, &json!("the scene")), "{name}");
    }
}
