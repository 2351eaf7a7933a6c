//! An explanation as one page that needs no network: pictures and style are in it, and there is no script.

use super::sketch::{overview, sketch};
use super::{Answer, Came, Decision, Explanation, Kind, Number, Seen, text};
use crate::html::{data_uri, escape};
use std::fmt::Write;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1c1a;--dim:#66645f;--paper:#fcfcfa;--card:#fff;--line:#dddbd4;--good:#1d6b3a;--bad:#a5281b;--bar:#5b8fd0}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e4df;--dim:#a19e97;--paper:#161614;--card:#1f1f1d;--line:#3a3935;--good:#7fcf9b;--bad:#f08c7e;--bar:#6ea3e6}}\
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:52rem;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}\
h1{font-size:1.35rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}p{margin:.35rem 0}small,.dim,figcaption{color:var(--dim);font-size:.85rem}\
section{border:1px solid var(--line);border-left:4px solid var(--line);background:var(--card);border-radius:6px;padding:.6rem .8rem;margin:.6rem 0}\
section.bad{border-left-color:var(--bad)}section.key{border-color:var(--bad);box-shadow:0 0 0 2px var(--bad)}.good{color:var(--good)}.badly{color:var(--bad)}\
h3{font-size:1rem;margin:0;font-weight:600}ul{margin:.3rem 0;padding-left:1.2rem}.way{border-top:1px dashed var(--line);margin-top:.5rem;padding-top:.4rem}\
table{border-collapse:collapse;width:100%;margin:.3rem 0}td,th{text-align:left;padding:.15rem .5rem .15rem 0;vertical-align:top;font-size:.9rem}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.bar{display:block;position:relative;height:.6rem;min-width:5rem;background:var(--line);border-radius:3px}.bar i,.bar b{position:absolute;top:0;bottom:0;left:0;background:var(--bar);border-radius:3px}.bar b{width:2px;background:var(--ink)}\
figure{margin:.5rem 0}img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:4px}.wide{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.6rem}\
.things{display:flex;flex-wrap:wrap;gap:.5rem;margin:.4rem 0}.thing{width:6.5rem;font-size:.8rem;line-height:1.25}.crop{display:block;width:100%;height:5.5rem;background-size:contain;background-repeat:no-repeat;background-position:center;border:1px solid var(--line);border-radius:4px}\
.sketch{width:100%;max-height:24rem;border:1px solid var(--line);border-radius:4px}.sketch polygon{fill:none;stroke:var(--dim)}.sketch .its{stroke:var(--good);stroke-width:2;fill:var(--line);fill-opacity:.5}\
.sketch text{font-size:11px;fill:var(--ink);text-anchor:middle}.sketch path{fill:none;stroke:#999;stroke-width:1.2}.sketch .missed{stroke:var(--bad);stroke-dasharray:3 2;stroke-opacity:.7}.sketch .taken{stroke:#d400b8;stroke-width:3}\
.taken .crop{border:2px solid var(--good)}details>summary{cursor:pointer}.answer{border-left-color:var(--bar)}";

/// A picture that goes into the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// Key of the thing that it shows alone; `None` of a picture of the scene, or of a decision.
    pub of: Option<String>,
    /// The decision whose hands are drawn over it: an index into the explanation's.
    pub decision: Option<usize>,
    /// The PNG file.
    pub png: Vec<u8>,
}

/// The page of a run, with the answer to a question first when one was asked.
pub fn page(explained: &Explanation, answer: Option<&Answer>, pictures: &[Picture]) -> String {
    let goal = explained.goal.as_deref().unwrap_or("a goal that is not recorded");
    let mut html = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{goal}</title><style>{STYLE}",
        goal = escape(goal)
    );
    let crops: Vec<&Picture> = pictures.iter().filter(|picture| picture.of.is_some()).collect();
    for (number, crop) in crops.iter().enumerate() {
        let _ = write!(html, ".c{number}{{background-image:url({})}}", data_uri(&crop.png));
    }
    let drawn = pictures.iter().filter(|picture| picture.decision.is_some()).collect();
    let page = Page { explained, crops, drawn };
    let _ = write!(html, "</style></head><body>\n<h1><q>{}</q></h1>\n", escape(goal));
    page.ending(&mut html);
    if let Some(answer) = answer {
        page.answer(&mut html, answer);
    }
    if let Some(index) = explained.decisive {
        html.push_str("<h2>What it came down to</h2>\n");
        page.decision(&mut html, index, true);
    }
    scenes(&mut html, pictures);
    html.push_str("<h2>What was decided, in order</h2>\n");
    for index in 0..explained.decisions.len() {
        page.decision(&mut html, index, false);
    }
    page.seen(&mut html);
    page.times(&mut html);
    if !explained.not_recorded.is_empty() {
        html.push_str("<h2>What is not recorded</h2>\n");
        list(&mut html, &explained.not_recorded);
    }
    html.push_str("</body></html>\n");
    html
}

fn list(html: &mut String, entries: &[String]) {
    html.push_str("<ul>");
    for entry in entries {
        let _ = write!(html, "<li>{}", escape(entry));
    }
    html.push_str("</ul>\n");
}

/// The pictures of the scene, each once.
fn scenes(html: &mut String, pictures: &[Picture]) {
    let scenes: Vec<&Picture> =
        pictures.iter().filter(|picture| picture.of.is_none() && picture.decision.is_none()).collect();
    if scenes.is_empty() {
        return html.push_str("<p class=\"dim\">The run has left no pictures.</p>\n");
    }
    html.push_str("<h2>What was to be seen</h2>\n<div class=\"wide\">");
    for picture in scenes {
        figure(html, picture);
    }
    html.push_str("</div>\n");
}

fn figure(html: &mut String, picture: &Picture) {
    let caption = escape(&picture.caption);
    let _ = write!(
        html,
        "<figure><img src=\"{}\" alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>",
        data_uri(&picture.png)
    );
}

struct Page<'a> {
    explained: &'a Explanation,
    crops: Vec<&'a Picture>,
    /// Pictures of decisions.
    drawn: Vec<&'a Picture>,
}

impl Page<'_> {
    fn ending(&self, html: &mut String) {
        if self.explained.is_at_work {
            return html.push_str("<p>It is still at work.</p>\n");
        }
        let Some(end) = &self.explained.ending else {
            return html.push_str("<p class=\"badly\">How it ended is not recorded.</p>\n");
        };
        let class = if end.outcome == "done" { "good" } else { "badly" };
        let reason = end.reason.as_ref().map(|reason| format!(" ({})", escape(reason))).unwrap_or_default();
        let physics = match end.physics_ok {
            Some(true) => " Physics agrees.",
            Some(false) => " <span class=\"badly\">Physics says that it was not reached.</span>",
            None => "",
        };
        let _ = writeln!(
            html,
            "<p><b class=\"{class}\">{}{reason}</b>: {}{physics}</p>",
            escape(&end.outcome),
            escape(&end.message)
        );
    }

    fn answer(&self, html: &mut String, answer: &Answer) {
        let _ = write!(html, "<section class=\"answer\"><h3>{}</h3>", escape(&answer.question));
        for sentence in &answer.said {
            let _ = write!(html, "<p>{}</p>", escape(sentence));
        }
        self.things(
            html,
            answer.objects.iter().map(|key| (key.as_str(), self.explained.acted_on(key), self.name(key))),
        );
        html.push_str("</section>\n");
    }

    /// A thing as the crop of it, when there is one, with its key and what is said of it.
    fn things<'k>(&self, html: &mut String, things: impl Iterator<Item = (&'k str, bool, String)>) {
        html.push_str("<div class=\"things\">");
        for (key, is_taken, said) in things {
            let class = if is_taken { "thing taken" } else { "thing" };
            let _ = write!(html, "<div class=\"{class}\">");
            let crop = self.crops.iter().enumerate().find(|(_, crop)| crop.of.as_deref() == Some(key));
            if let Some((number, crop)) = crop {
                let _ = write!(
                    html,
                    "<span class=\"crop c{number}\" role=\"img\" aria-label=\"{}\"></span>",
                    escape(&crop.caption)
                );
            }
            let _ = write!(html, "<b>{}</b> {}</div>", escape(key), escape(&said));
        }
        html.push_str("</div>");
    }

    fn decision(&self, html: &mut String, index: usize, is_head: bool) {
        let decision = &self.explained.decisions[index];
        let class = match (is_head || self.explained.decisive == Some(index), decision.came) {
            (true, _) => " class=\"key\"",
            (false, Came::Badly) => " class=\"bad\"",
            (false, Came::Well) => "",
        };
        let times =
            if decision.times > 1 { format!(" &middot; {} times", decision.times) } else { String::new() };
        let id = if is_head { String::new() } else { format!(" id=\"d{index}\"") };
        let _ = write!(
            html,
            "<section{class}{id}><small>{:.2} s &middot; {}{times}</small><h3>{}</h3>",
            decision.t,
            kind(decision.kind),
            escape(&decision.what)
        );
        self.pictured(html, decision);
        self.hands(html, index);
        numbers(html, &decision.numbers);
        if !decision.because.is_empty() {
            list(html, &decision.because);
        }
        if let Some(rule) = &decision.rule {
            let _ = write!(html, "<p class=\"dim\">Rule: {}.</p>", escape(rule));
        }
        if !decision.otherwise.is_empty() {
            html.push_str("<div class=\"way\"><b>What would have changed it</b>");
            list(html, &decision.otherwise);
            html.push_str("</div>");
        }
        html.push_str("</section>\n");
    }

    fn pictured(&self, html: &mut String, decision: &Decision) {
        let shows = matches!(decision.kind, Kind::Choice | Kind::Evidence | Kind::Verdict | Kind::Motion);
        if !shows || (decision.objects.is_empty() && decision.rejected.is_empty()) {
            return;
        }
        let taken = decision.objects.iter().map(|key| (key.as_str(), true, self.name(key)));
        let rejected = decision.rejected.iter().map(|one| (one.key.as_str(), false, one.reason.clone()));
        self.things(html, taken.chain(rejected));
    }

    /// The hands that a decision was about, over the camera's picture where there is one, and as a drawing.
    fn hands(&self, html: &mut String, index: usize) {
        let decision = &self.explained.decisions[index];
        let key = decision.objects.first().map_or("", String::as_str);
        let scene = if decision.scene.is_empty() { &self.explained.seen } else { &decision.scene };
        if decision.hands.is_empty() {
            // No refusal without a picture.
            let is_bad = decision.came == Came::Badly || self.explained.decisive == Some(index);
            let all: Vec<String> = decision
                .objects
                .iter()
                .chain(decision.rejected.iter().map(|one| &one.key))
                .cloned()
                .collect();
            match decision.kind {
                _ if !is_bad => {}
                Kind::Choice | Kind::Measure => html.push_str(&overview(&all, scene)),
                Kind::Verdict | Kind::Motion | Kind::Outcome | Kind::Evidence => {
                    html.push_str(&sketch(&[], key, scene));
                }
                _ => {}
            }
            return;
        }
        for picture in self.drawn.iter().filter(|picture| picture.decision == Some(index)) {
            figure(html, picture);
        }
        html.push_str(&sketch(&decision.hands, key, scene));
    }

    fn name(&self, key: &str) -> String {
        self.explained.seen.iter().find(|thing| thing.key == key).map(Seen::name).unwrap_or_default()
    }

    fn seen(&self, html: &mut String) {
        let seen = &self.explained.seen;
        if seen.is_empty() {
            return;
        }
        let _ = write!(
            html,
            "<h2>All {} things of the map</h2>\n<details><summary>List</summary><ul>",
            seen.len()
        );
        for thing in seen {
            let _ = write!(html, "<li>{}", escape(&text::thing(thing)));
        }
        html.push_str("</ul></details>\n");
    }

    fn times(&self, html: &mut String) {
        if self.explained.times.is_empty() {
            return;
        }
        html.push_str("<h2>Where the time went</h2>\n<table>");
        let most = self.explained.times.first().map_or(1.0, |(_, seconds)| *seconds);
        for (what, seconds) in &self.explained.times {
            let _ = write!(
                html,
                "<tr><td>{}<td class=\"n\">{seconds:.1} s<td><span class=\"bar\"><i style=\"width:{:.0}%\"></i></span>",
                escape(what),
                100.0 * seconds / most
            );
        }
        html.push_str("</table>\n");
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Reading => "the sentence",
        Kind::Look => "a look",
        Kind::Choice => "which thing",
        Kind::Word => "a word",
        Kind::Measure => "a fact of the map",
        Kind::Evidence => "evidence",
        Kind::Candidates => "candidates",
        Kind::Verdict => "may it move",
        Kind::Motion => "motion",
        Kind::Outcome => "what became of it",
        Kind::Warning => "trouble",
    }
}

/// Numbers with their limits; those between 0 and 1 as bars.
fn numbers(html: &mut String, numbers: &[Number]) {
    if numbers.is_empty() {
        return;
    }
    html.push_str("<table>");
    for Number { name, value, limit, holds } in numbers {
        let class = if *holds == Some(false) { " badly" } else { "" };
        let limit_text = limit.map(|limit| format!("limit {limit:.3}")).unwrap_or_default();
        let _ = write!(
            html,
            "<tr><td>{}<td class=\"n{class}\">{value:.3}<td class=\"n dim\">{limit_text}<td>",
            escape(name)
        );
        if (0.0..=1.0).contains(value) {
            let mark = limit.filter(|limit| (0.0..=1.0).contains(limit));
            let mark =
                mark.map(|limit| format!("<b style=\"left:{:.0}%\"></b>", 100.0 * limit)).unwrap_or_default();
            let _ = write!(
                html,
                "<span class=\"bar\"><i style=\"width:{:.0}%\"></i>{mark}</span>",
                100.0 * value
            );
        }
    }
    html.push_str("</table>");
}
