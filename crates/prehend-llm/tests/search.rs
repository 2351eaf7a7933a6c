//! Looking words up over HTTP: both protocols, and every way in which a server fails.

mod scripted;

use prehend_agent::words::Page;
use prehend_llm::{SearchKind, SearchPlace, SearchSettings, Searches};
use scripted::{Reply, ScriptedModel, nowhere};
use serde_json::json;
use std::time::{Duration, Instant};

fn searches(kind: SearchKind, url: &str, timeout: f64) -> Searches {
    let place = SearchPlace { kind, url: url.parse().expect("a URL") };
    let settings = SearchSettings { places: vec![place], hosts: vec!["example.org".to_owned()], timeout };
    Searches::new(&settings).expect("searches")
}

fn page(host: &str, title: &str, text: &str) -> Page {
    Page { host: host.to_owned(), title: title.to_owned(), text: text.to_owned() }
}

#[tokio::test]
async fn a_wiki_gives_its_introductions_in_the_order_of_the_search() {
    let answer = json!({ "batchcomplete": true, "query": { "pages": [
        { "pageid": 2, "ns": 0, "title": "Second", "index": 2, "extract": "The second." },
        { "pageid": 1, "ns": 0, "title": "Saucer", "index": 1, "extract": "A saucer is a small plate." },
        { "pageid": 3, "ns": 0, "title": "No extract", "index": 3 },
    ] } });
    let server = ScriptedModel::start(vec![Reply::body(answer.to_string())]).await;
    let (pages, faults) =
        searches(SearchKind::MediaWiki, &server.base_url, 5.0).look_up("tea saucer&x=1").await;
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(
        pages,
        [
            page("127.0.0.1", "Saucer", "A saucer is a small plate."),
            page("127.0.0.1", "Second", "The second.")
        ]
    );
    let heard = server.heard();
    assert!(heard[0].path.contains("gsrsearch=tea+saucer%26x%3D1"), "{}", heard[0].path);
    let agent = heard[0].headers.iter().find(|(name, _)| name == "user-agent").expect("who asks");
    assert!(agent.1.starts_with("prehend/"));
}

#[tokio::test]
async fn of_a_metasearch_only_allowed_hosts_count() {
    let found = |url: &str, text: &str| json!({ "url": url, "title": "T", "content": text, "engine": "e" });
    let answer = json!({ "query": "q", "number_of_results": 0, "results": [
        found("https://example.org/a", "one"),
        found("https://www.example.org/b", "two"),
        found("https://notexample.org/c", "three"),
        found("https://example.org.evil.net/d", "four"),
        found("no url", "five"),
        { "url": "https://example.org/e" },
    ], "answers": [], "infoboxes": [] });
    let server = ScriptedModel::start(vec![Reply::body(answer.to_string())]).await;
    let (pages, faults) = searches(SearchKind::SearXng, &server.base_url, 5.0).look_up("moutai").await;
    assert!(faults.is_empty(), "{faults:?}");
    let texts: Vec<&str> = pages.iter().map(|page| page.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", ""]);
    assert_eq!(pages[1].site(), "example.org");
    assert!(
        server.heard()[0].path.contains("format=json") && server.heard()[0].path.contains("q=what+is+moutai")
    );
}

#[tokio::test]
async fn every_failure_costs_its_own_pages_only_and_says_what_to_do() {
    let cases = [
        (SearchKind::SearXng, Reply::Status(403, ""), "add `json` to `search.formats`"),
        (SearchKind::SearXng, Reply::Status(429, "Retry-After: 60\r\n"), "status 429"),
        (SearchKind::MediaWiki, Reply::Status(500, ""), "status 500"),
        (SearchKind::MediaWiki, Reply::Status(302, "Location: http://127.0.0.1:1/\r\n"), "status 302"),
        (SearchKind::MediaWiki, Reply::body("<html>not JSON</html>"), "is the URL that of api.php?"),
        (
            SearchKind::MediaWiki,
            Reply::body(r#"{"error":{"code":"badvalue","info":"x"}}"#),
            "error `badvalue`",
        ),
        (SearchKind::SearXng, Reply::body("[]"), "is the URL that of /search?"),
        (SearchKind::SearXng, Reply::Body(vec![b'{'; 10], 1000), "broke off"),
        (SearchKind::SearXng, Reply::body(vec![b' '; (1 << 20) + 1]), "too long"),
        (SearchKind::SearXng, Reply::Silence, "no answer within"),
        (SearchKind::MediaWiki, Reply::Drip, "no answer within"),
    ];
    for (kind, reply, says) in cases {
        let server = ScriptedModel::start(vec![reply]).await;
        let began = Instant::now();
        let (pages, faults) = searches(kind, &server.base_url, 0.4).look_up("moutai").await;
        assert!(began.elapsed() < Duration::from_secs(20), "{says}");
        assert!(pages.is_empty() && faults.len() == 1 && faults[0].contains(says), "{says}: {faults:?}");
    }
    let (pages, faults) = searches(SearchKind::MediaWiki, &nowhere(), 2.0).look_up("moutai").await;
    assert!(pages.is_empty() && faults[0].contains("the connection was not made"), "{faults:?}");
}

#[tokio::test]
async fn nothing_is_asked_by_default() {
    let searches = Searches::new(&SearchSettings::default()).expect("searches");
    assert!(searches.is_off());
    assert_eq!(searches.look_up("moutai").await, (Vec::new(), Vec::new()));
}
