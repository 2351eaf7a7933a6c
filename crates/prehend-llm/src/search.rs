//! Looking a word up: texts about it from hosts that are allowed (VLA2 III-B).
//!
//! Two protocols. MediaWiki's API (`action=query`, `generator=search`, `prop=extracts` of the extension TextExtracts; api.php help of
//! MediaWiki 1.43, read November 2026): the introductions of the pages that a search finds. SearXNG's search API (`/search?format=json`,
//! docs.searxng.org/dev/search_api, read November 2026): the excerpts of a metasearch; the server must allow the format `json`.
//!
//! Redirects are not followed, and one answer is at most 1 MiB. Nothing is asked unless it is configured.

use crate::error::SetupError;
use crate::http::{Endpoint, Failure};
use prehend_agent::words::Page;
use prehend_config::{Map, Value};
use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, USER_AGENT};
use serde::Deserialize;
use std::time::Duration;

/// Pages that one search gives, at most.
const MOST_PAGES: usize = 5;
/// Who asks: Wikimedia's policy wants a name.
const AGENT: &str = concat!("prehend/", env!("CARGO_PKG_VERSION"), " (robot looking a word up)");

/// Whose protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    /// `api.php` of a wiki.
    MediaWiki,
    /// `/search` of a SearXNG.
    SearXng,
}

impl SearchKind {
    const ALL: [(&'static str, Self); 2] = [("mediawiki", Self::MediaWiki), ("searxng", Self::SearXng)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// One place to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPlace {
    /// Whose protocol is spoken there.
    pub kind: SearchKind,
    /// Where: http or https.
    pub url: Url,
}

/// Where words are looked up, and whose pages are read.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Places to ask, in this order; none: words are not looked up.
    pub places: Vec<SearchPlace>,
    /// Hosts whose pages count in a metasearch, with their subdomains.
    pub hosts: Vec<String>,
    /// Time for one place, seconds.
    pub timeout: f64,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { places: Vec::new(), hosts: Vec::new(), timeout: 6.0 }
    }
}

impl SearchSettings {
    /// Reads the keys `search`, `hosts` and `timeout` of a mapping.
    pub fn read(map: &mut Map<'_>) -> Option<Self> {
        let usual = Self::default();
        let places = map.or("search", Vec::new(), |value| value.list(|place| place.map(read_place)));
        let hosts = map.or("hosts", Vec::new(), |value| value.list(|host| read_host(&host)));
        let timeout = map.or("timeout", usual.timeout, |value| value.f64_in(0.05, 60.0));
        let (places, hosts) = (places?, hosts?);
        if hosts.is_empty() && places.iter().any(|place| place.kind == SearchKind::SearXng) {
            map.report("`search` with `searxng` needs `hosts`, the hosts whose pages count");
            return None;
        }
        Some(Self { places, hosts, timeout: timeout? })
    }
}

fn read_place(map: &mut Map<'_>) -> Option<SearchPlace> {
    let kind = map.req("kind").and_then(|value| value.choice(&SearchKind::ALL));
    let url = map.req("url").and_then(|value| {
        let url = Url::parse(&value.text()?).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https") && url.host_str().is_some() && url.username().is_empty()
        });
        if url.is_none() {
            value.report("expected an http or https URL, such as https://en.wikipedia.org/w/api.php");
        }
        url
    });
    Some(SearchPlace { kind: kind?, url: url? })
}

fn read_host(value: &Value<'_>) -> Option<String> {
    let host = value.text()?.to_lowercase();
    let fits =
        host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')) && host.contains('.');
    if !fits {
        value.report("expected the name of a host, such as en.wikipedia.org");
    }
    fits.then_some(host)
}

/// Who looks words up; by default nobody is asked.
#[derive(Default)]
pub struct Searches {
    places: Vec<(SearchPlace, Endpoint)>,
    hosts: Vec<String>,
    timeout: Duration,
}

impl std::fmt::Debug for Searches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searches").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Searches {
    /// Searches at the places of the settings. Connects to nobody yet.
    ///
    /// Errors: TLS cannot be set up.
    pub fn new(settings: &SearchSettings) -> Result<Self, SetupError> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let places = settings
            .places
            .iter()
            .map(|place| Ok((place.clone(), Endpoint::new(place.url.clone(), headers.clone(), None)?)));
        Ok(Self {
            places: places.collect::<Result<_, SetupError>>()?,
            hosts: settings.hosts.clone(),
            timeout: Duration::from_secs_f64(settings.timeout),
        })
    }

    /// Whether nobody is asked.
    pub fn is_off(&self) -> bool {
        self.places.is_empty()
    }

    /// Texts about a word from everywhere, and what went wrong, in words. A place that fails costs its own pages only.
    pub async fn look_up(&self, word: &str) -> (Vec<Page>, Vec<String>) {
        let (mut pages, mut faults) = (Vec::new(), Vec::new());
        for (place, endpoint) in &self.places {
            let name = place.kind.name();
            let at = place.url.host_str().unwrap_or_default();
            let answer = tokio::time::timeout(self.timeout, endpoint.get(&question(place.kind, word))).await;
            let read = match answer {
                Err(_) => Err(format!("no answer within {} s", self.timeout.as_secs_f64())),
                Ok(Err(failure)) => Err(why(place.kind, &failure)),
                Ok(Ok(body)) => self.read(place, &body),
            };
            match read {
                Ok(more) => pages.extend(more.into_iter().take(MOST_PAGES)),
                Err(why) => faults.push(format!("{name} at {at}: {why}")),
            }
        }
        (pages, faults)
    }

    fn read(&self, place: &SearchPlace, body: &[u8]) -> Result<Vec<Page>, String> {
        let host = place.url.host_str().unwrap_or_default();
        match place.kind {
            SearchKind::MediaWiki => wiki_pages(host, body),
            SearchKind::SearXng => {
                let mut pages = searx_pages(body)?;
                pages.retain(|page| {
                    self.hosts.iter().any(|allowed| {
                        page.host == *allowed
                            || page.host.strip_suffix(allowed).is_some_and(|sub| sub.ends_with('.'))
                    })
                });
                Ok(pages)
            }
        }
    }
}

fn question(kind: SearchKind, word: &str) -> Vec<(&'static str, String)> {
    let fixed = |pairs: &[(&'static str, &str)]| {
        pairs.iter().map(|(key, value)| (*key, (*value).to_owned())).collect::<Vec<_>>()
    };
    match kind {
        SearchKind::MediaWiki => {
            let mut pairs = fixed(&[
                ("action", "query"),
                ("format", "json"),
                ("formatversion", "2"),
                ("generator", "search"),
                ("gsrlimit", "3"),
                ("prop", "extracts"),
                ("exintro", "1"),
                ("explaintext", "1"),
                ("exlimit", "max"),
                ("exchars", "1200"),
            ]);
            pairs.push(("gsrsearch", word.to_owned()));
            pairs
        }
        SearchKind::SearXng => {
            let mut pairs = fixed(&[("format", "json"), ("language", "en"), ("safesearch", "1")]);
            pairs.push(("q", format!("what is {word}")));
            pairs
        }
    }
}

fn why(kind: SearchKind, failure: &Failure) -> String {
    match failure {
        Failure::Lost(how) => (*how).to_owned(),
        Failure::Failing(status, _) => format!("it answers with status {status}"),
        Failure::Refused(403) if kind == SearchKind::SearXng => {
            "it refuses the format json (status 403); add `json` to `search.formats` in its settings.yml"
                .to_owned()
        }
        Failure::Refused(status) => format!("it refuses the request with status {status}"),
        Failure::TooLong => "its answer is too long".to_owned(),
    }
}

fn wiki_pages(host: &str, body: &[u8]) -> Result<Vec<Page>, String> {
    #[derive(Deserialize)]
    struct Answer {
        query: Option<Query>,
        error: Option<Complaint>,
    }
    #[derive(Deserialize)]
    struct Complaint {
        code: String,
    }
    #[derive(Deserialize)]
    struct Query {
        #[serde(default)]
        pages: Vec<WikiPage>,
    }
    #[derive(Deserialize)]
    struct WikiPage {
        #[serde(default)]
        index: u32,
        title: String,
        extract: Option<String>,
    }
    let answer: Answer = serde_json::from_slice(body).map_err(|_| {
        "what it sent is no answer of MediaWiki's API; is the URL that of api.php?".to_owned()
    })?;
    if let Some(error) = answer.error {
        let code: String =
            error.code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
        return Err(format!("it answers with error `{code}`"));
    }
    let mut pages = answer.query.map(|query| query.pages).unwrap_or_default();
    pages.sort_by_key(|page| page.index);
    let host = host.to_lowercase();
    let texts = pages.into_iter().filter_map(|page| Some((page.title, page.extract?)));
    Ok(texts.map(|(title, text)| Page { host: host.clone(), title, text }).collect())
}

fn searx_pages(body: &[u8]) -> Result<Vec<Page>, String> {
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Found>,
    }
    #[derive(Deserialize)]
    struct Found {
        url: String,
        #[serde(default)]
        title: Option<String>,
        #[serde(default)]
        content: Option<String>,
    }
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|_| "what it sent is no answer of SearXNG; is the URL that of /search?".to_owned())?;
    let page = |found: Found| {
        let host = Url::parse(&found.url).ok()?.host_str()?.to_lowercase();
        Some(Page { host, title: found.title.unwrap_or_default(), text: found.content.unwrap_or_default() })
    };
    Ok(answer.results.into_iter().filter_map(page).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SearchSettings, String> {
        prehend_config::read("agent.yaml", text, |root| root.map(SearchSettings::read))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn nothing_is_asked_unless_it_is_configured() {
        assert_eq!(read("{}"), Ok(SearchSettings::default()));
        let on =
            read("search: [{kind: mediawiki, url: https://en.wikipedia.org/w/api.php}]").expect("a wiki");
        assert_eq!(on.places[0].kind, SearchKind::MediaWiki);
        for (text, says) in [
            ("search: [{kind: google, url: https://a.org}]", "kind"),
            ("search: [{kind: mediawiki, url: file:///etc/passwd}]", "expected an http or https URL"),
            ("search: [{kind: searxng, url: http://localhost:8888/search}]", "needs `hosts`"),
            ("hosts: [localhost]", "the name of a host"),
        ] {
            let found = read(text).expect_err(text);
            assert!(found.contains(says), "{found}");
        }
    }
}
