//! Serving retrievals: what on a map fits some words (ASP IV-C).

use super::confirm::confirmed;
use super::{ObjectMapNode, answer};
use crate::waiting::respond;
use prehend_llm::AskError;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::RetrieveObjects;
use prehend_perception::{Question, retrieve};
use prehend_robots::shell::Trace;
use prehend_ros::ServiceRequest;
use prehend_scene::{ObjectMap, Scope};
use serde_json::json;
use std::borrow::Cow;

impl ObjectMapNode<'_> {
    /// ASP IV-C: top k by similarity, then confirmation; by a model when one is configured, which other requests need not wait
    /// for.
    pub(super) fn retrieve(&self, request: ServiceRequest<RetrieveObjects::Service>) {
        let Some(scope) = Scope::parse(&request.message.scope) else {
            let response = answer::bad_retrieval_scope(&request.message.scope);
            return respond(request, response);
        };
        let map = self.with_in_hand(scope);
        let in_hand: Vec<String> = self.in_hand.iter().map(|object| object.key.0.clone()).collect();
        if let Some(response) = answer::refusal(&map, &request.message) {
            return tell_retrieval(&self.shell.trace, &in_hand, request, response);
        }
        let text = request.message.query.trim();
        let (found, version) = (retrieve(&map, text, request.message.k as usize, &self.lexicon), map.version);
        let asked = self.model.as_ref().and_then(|model| {
            Some((model.clone(), Question::about(&map, text, &found, model.max_candidates)?))
        });
        let trace = self.shell.trace.clone();
        let Some((model, question)) = asked else {
            return tell_retrieval(&trace, &in_hand, request, answer::retrieval(&found, version));
        };
        tokio::spawn(async move {
            let (found, error) = confirmed(found, &question, &*model.confirmer).await;
            tell_confirm(&trace, &question, error);
            tell_retrieval(&trace, &in_hand, request, answer::retrieval(&found, version));
        });
    }

    /// One of the two maps and what is in the hand.
    fn with_in_hand(&self, scope: Scope) -> Cow<'_, ObjectMap> {
        let map = self.map_of(scope);
        let mut away = self.in_hand.iter().filter(|object| map.get(&object.key).is_none()).peekable();
        if away.peek().is_none() {
            return Cow::Borrowed(map);
        }
        let objects = map.objects.iter().chain(away).cloned().collect();
        Cow::Owned(ObjectMap { objects, frame: map.frame.clone(), ..*map })
    }
}

/// Traces who confirmed the candidates of a retrieval.
fn tell_confirm(trace: &Trace, question: &Question, error: Option<AskError>) {
    let candidates: Vec<&str> = question.candidates.iter().map(|c| c.key.0.as_str()).collect();
    let (kind, status, message) = match error {
        None => (
            TraceEvent::KIND_PERCEPTION,
            "done",
            format!("the vision-language model has judged {} candidates", candidates.len()),
        ),
        Some(error) => (
            TraceEvent::KIND_WARNING,
            "built_in",
            format!("the built-in confirm decides, as the vision-language model gives no answer: {error}"),
        ),
    };
    trace.event("", kind, "confirm", status, message, json!({ "candidates": candidates }));
}

/// Traces the answer to a retrieval, with the keys of what was in the hand then, and sends it.
fn tell_retrieval(
    trace: &Trace,
    in_hand: &[String],
    request: ServiceRequest<RetrieveObjects::Service>,
    response: RetrieveObjects::Response,
) {
    let found = if response.error_code != ErrorCode::SUCCESS {
        response.error_message.clone()
    } else if response.keys.is_empty() {
        let nearest = response.rejected_keys.first().zip(response.rejected_reasons.first());
        nearest.map_or("nothing".to_owned(), |(key, why)| format!("nothing; nearest {key}: {why}"))
    } else {
        response.keys.join(", ")
    };
    trace.event(
        "",
        TraceEvent::KIND_PERCEPTION,
        "retrieve",
        if response.keys.is_empty() { "none" } else { "found" },
        format!("\"{}\" -> {found}", request.message.query.trim().chars().take(80).collect::<String>()),
        json!({ "query": request.message.query, "keys": response.keys, "scores": response.scores,
            "rejected": response.rejected_keys, "reasons": response.rejected_reasons,
            "map_version": response.map_version, "in_hand": in_hand, "k": request.message.k, "scope": request.message.scope }),
    );
    respond(request, response);
}
