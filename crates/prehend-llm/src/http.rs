//! One request: posted, and its answer read up to a limit.

use crate::error::SetupError;
use crate::retry::asked_pause;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Client, Response, StatusCode, Url, redirect, retry};
use std::time::{Duration, SystemTime};

/// Longest answer that is read, bytes.
pub(crate) const LONGEST_BODY: usize = 1 << 20;

/// A server that takes questions.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
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

/// A header that holds a key: it is never shown.
pub(crate) fn secret(text: &str) -> Result<HeaderValue, SetupError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| SetupError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The header that carries a key as most servers want it; none without a key.
pub(crate) fn bearer(key: Option<&str>) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, secret(&format!("Bearer {key}"))?);
    }
    Ok(headers)
}

impl Endpoint {
    /// Requests go to this URL and nowhere else: redirects are not followed and proxies of the environment are not used, so that
    /// pictures and the key reach only what is configured. `authority` is a PEM of one that is trusted besides the system's.
    pub(crate) fn new(
        url: Url,
        mut headers: HeaderMap,
        authority: Option<&[u8]>,
    ) -> Result<Self, SetupError> {
        // An error says that the process has a provider already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder =
            Client::builder().redirect(redirect::Policy::none()).retry(retry::never()).no_proxy();
        if url.scheme() == "http" {
            // Otherwise a machine without CA certificates could not ask a model of its own.
            builder = builder.tls_certs_only([]);
        } else if let Some(pem) = authority {
            let certificates = Certificate::from_pem_bundle(pem).map_err(|_| SetupError::Authority)?;
            if certificates.is_empty() {
                return Err(SetupError::Authority);
            }
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|_| SetupError::Tls)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client, url, headers })
    }

    /// Posts JSON; gives the answer before its body was read, whatever its status.
    ///
    /// Errors: what happened to the connection.
    pub(crate) async fn open(&self, body: Vec<u8>) -> Result<Response, &'static str> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        request.send().await.map_err(|error| lost(&error))
    }

    /// Posts JSON; gives the body of a successful answer.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
        read(self.open(body).await.map_err(Failure::Lost)?).await
    }

    /// Gets the URL with this query; gives the body of a successful answer.
    pub(crate) async fn get(&self, query: &[(&'static str, String)]) -> Result<Vec<u8>, Failure> {
        let mut url = self.url.clone();
        url.query_pairs_mut().extend_pairs(query.iter().map(|(key, value)| (*key, value.as_str())));
        let request = self.client.get(url).headers(self.headers.clone());
        read(request.send().await.map_err(|error| Failure::Lost(lost(&error)))?).await
    }
}

/// How a request was lost.
fn lost(error: &reqwest::Error) -> &'static str {
    if error.is_connect() { "the connection was not made" } else { "the connection broke" }
}

/// The body of a successful answer.
async fn read(mut response: Response) -> Result<Vec<u8>, Failure> {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return Err(Failure::Failing(status.as_u16(), pause_of(&response)));
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

/// The pause that a server asks for, if it does.
pub(crate) fn pause_of(response: &Response) -> Option<Duration> {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    asked_pause(header, SystemTime::now())
}
