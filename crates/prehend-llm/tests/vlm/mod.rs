//! Settings of a vision-language model for tests.

#![allow(unreachable_pub, reason = "a module of several test files")]

use prehend_llm::{ResponseFormat, VlmSettings};

/// Of one that is asked at a server.
pub fn settings(base_url: &str) -> VlmSettings {
    VlmSettings {
        base_url: base_url.to_owned(),
        model: "scripted".to_owned(),
        key_env: None,
        temperature: None,
        response_format: ResponseFormat::JsonSchema,
        max_candidates: 6,
        max_side: 64,
        // Longer than any test on the slowest machine, where it is not what is tested.
        timeout: 120.0,
        retries: 2,
        backoff: 0.001,
        seed: 1,
    }
}
