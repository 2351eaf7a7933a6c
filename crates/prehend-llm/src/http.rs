//! One request: posted, and its answer read up to a limit.

use crate::error::SetupError;
use crate::retry::asked_pause;
use crate::settings::endpoint;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url, redirect, retry};
use std::time::Duration;

/// Longest answer that is read, bytes.
pub(crate) const LONGEST_BODY: usize = 1 << 20;

/// A server that takes questions.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
}

/// Why one request brought no answer.
pub(crate) enum Failure {
    /// Connecting, sending or reading failed.
    Lost(&'static str),
    /// Status 429 or 5xx, with the pause the server asks for.
    Failing(u16, Option<Duration>),
    /// Any other status that is no success.
    Refused(u16),
    TooLong,
}

impl Endpoint {
    /// Requests go to this base and nowhere else: redirects are not followed and proxies of the environment are not used, so that
    /// pictures and the key reach only what is configured.
    pub(crate) fn new(base_url: &str, key: Option<&str>) -> Result<Self, SetupError> {
        let url = endpoint(base_url).ok_or(SetupError::Url)?;
        let authorization = match key {
            Some(key) => {
                let mut value =
                    HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| SetupError::Key)?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        // An error says that the process has a provider already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder =
            Client::builder().redirect(redirect::Policy::none()).retry(retry::never()).no_proxy();
        if url.scheme() == "http" {
            // Otherwise a machine without CA certificates could not ask a model of its own.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|_| SetupError::Tls)?;
        Ok(Self { client, url, authorization })
    }

    /// Posts JSON; gives the body of a successful answer.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let mut request =
            self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let mut response = request.send().await.map_err(|error| {
            let is_connect = error.is_connect();
            Failure::Lost(if is_connect { "the connection was not made" } else { "the connection broke" })
        })?;
        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            return Err(Failure::Failing(status.as_u16(), asked_pause(header)));
        }
        if !status.is_success() {
            return Err(Failure::Refused(status.as_u16()));
        }
        let mut read = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|_| Failure::Lost("the answer broke off in the middle"))?
        {
            if read.len() + chunk.len() > LONGEST_BODY {
                return Err(Failure::TooLong);
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read)
    }
}
