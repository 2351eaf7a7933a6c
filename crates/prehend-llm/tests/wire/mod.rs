//! What each provider sends for a turn of its model, event by event, as its documents show it.

use prehend_agent::talk::{End, Turn};
use prehend_llm::ProviderName;
use serde_json::{Value, json};

/// A streamed answer as the provider sends it.
pub(crate) fn stream(provider: ProviderName, turn: &Turn) -> String {
    match provider {
        ProviderName::OpenAi => openai(turn),
        ProviderName::Anthropic => anthropic(turn),
        ProviderName::Gemini => gemini(turn),
        ProviderName::Ollama => ollama(turn),
    }
}

/// Halves of a text, at a character: providers send arguments in pieces.
fn halves(text: &str) -> [&str; 2] {
    let mut at = text.len() / 2;
    while !text.is_char_boundary(at) {
        at += 1;
    }
    [&text[..at], &text[at..]]
}

fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn openai(turn: &Turn) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        json!({
            "id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1_694_268_190, "model": "m",
            "system_fingerprint": "fp_44709d6fcb", "choices": [choice], "usage": null,
        })
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    for half in halves(&turn.text) {
        events.push(chunk(json!({ "content": half }), Value::Null));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let begun = json!({
            "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": "" },
        });
        events.push(chunk(json!({ "tool_calls": [begun] }), Value::Null));
        for half in halves(&call.arguments) {
            let more = json!({ "index": index, "function": { "arguments": half } });
            events.push(chunk(json!({ "tool_calls": [more] }), Value::Null));
        }
    }
    let reason = match turn.end {
        End::Cut => "length",
        End::Declined => "content_filter",
        End::Complete if turn.calls.is_empty() => "stop",
        End::Complete => "tool_calls",
    };
    events.push(chunk(json!({}), json!(reason)));
    let usage = json!({
        "prompt_tokens": turn.usage.tokens_in, "completion_tokens": turn.usage.tokens_out,
        "total_tokens": turn.usage.tokens_in + turn.usage.tokens_out,
    });
    events.push(
        json!({ "id": "chatcmpl-123", "object": "chat.completion.chunk", "choices": [], "usage": usage }),
    );
    format!(": OPENROUTER PROCESSING\n\n{}data: [DONE]\n\n", sse(&events))
}

fn anthropic(turn: &Turn) -> String {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": null,
        "stop_sequence": null, "usage": { "input_tokens": turn.usage.tokens_in, "output_tokens": 1 },
    });
    let mut events = vec![json!({ "type": "message_start", "message": message }), json!({ "type": "ping" })];
    let mut index = 0;
    let mut block = |events: &mut Vec<Value>, content: Value, deltas: Vec<Value>| {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": content }));
        for delta in deltas {
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    };
    if !turn.text.is_empty() {
        let deltas = halves(&turn.text).map(|half| json!({ "type": "text_delta", "text": half }));
        block(&mut events, json!({ "type": "text", "text": "" }), deltas.to_vec());
    }
    for call in &turn.calls {
        let content = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let mut deltas = vec![json!({ "type": "input_json_delta", "partial_json": "" })];
        deltas.extend(
            halves(&call.arguments).map(|half| json!({ "type": "input_json_delta", "partial_json": half })),
        );
        block(&mut events, content, deltas);
    }
    let reason = match turn.end {
        End::Cut => "max_tokens",
        End::Declined => "refusal",
        End::Complete if turn.calls.is_empty() => "end_turn",
        End::Complete => "tool_use",
    };
    events.push(json!({
        "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": turn.usage.tokens_out },
    }));
    events.push(json!({ "type": "message_stop" }));
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type")))
        .collect()
}

fn gemini(turn: &Turn) -> String {
    let chunk = |parts: Vec<Value>, finish: Option<&str>, written: u64| {
        let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
        if let Some(reason) = finish {
            candidate["finishReason"] = json!(reason);
        }
        json!({
            "candidates": [candidate], "modelVersion": "m", "responseId": "r",
            "usageMetadata": {
                "promptTokenCount": turn.usage.tokens_in, "candidatesTokenCount": written,
                "totalTokenCount": turn.usage.tokens_in + written,
            },
        })
    };
    let mut events: Vec<Value> = halves(&turn.text)
        .into_iter()
        .filter(|half| !half.is_empty())
        .map(|half| chunk(vec![json!({ "text": half })], None, 1))
        .collect();
    events.push(chunk(vec![json!({ "text": "I think", "thought": true })], None, 1));
    for call in &turn.calls {
        // Calls come whole; what is no JSON cannot be sent.
        let args: Value =
            serde_json::from_str(&call.arguments).unwrap_or(json!({ "broken": call.arguments }));
        let mut part = json!({ "functionCall": { "name": call.name, "args": args } });
        if let Some(signature) = &call.signature {
            part["thoughtSignature"] = json!(signature);
        }
        events.push(chunk(vec![part], None, 1));
    }
    let reason = match turn.end {
        End::Cut => "MAX_TOKENS",
        End::Declined => "SAFETY",
        End::Complete => "STOP",
    };
    events.push(chunk(vec![json!({ "text": "" })], Some(reason), turn.usage.tokens_out));
    sse(&events).replace('\n', "\r\n")
}

fn ollama(turn: &Turn) -> String {
    let line = |message: Value| json!({ "model": "m", "created_at": "2025-05-27T22:54:57.641643Z", "message": message, "done": false });
    let mut lines: Vec<Value> =
        halves(&turn.text).map(|half| line(json!({ "role": "assistant", "content": half }))).to_vec();
    for call in &turn.calls {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or(json!(call.arguments));
        let called = json!({ "function": { "name": call.name, "arguments": arguments } });
        lines.push(line(json!({ "role": "assistant", "content": "", "tool_calls": [called] })));
    }
    let reason = if turn.end == End::Cut { "length" } else { "stop" };
    lines.push(json!({
        "model": "m", "created_at": "2025-05-27T22:54:58.100509Z", "message": { "role": "assistant", "content": "" },
        "done": true, "done_reason": reason, "total_duration": 1_000_000,
        "prompt_eval_count": turn.usage.tokens_in, "eval_count": turn.usage.tokens_out,
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
