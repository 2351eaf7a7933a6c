//! What critics say, measured or by a model's opinion, as tables of a page.

use prehend_eval::html::escape;
use std::fmt::Write;

/// What a critic says of one joint.
pub(super) struct JointRow<'a> {
    pub(super) joint: &'a str,
    pub(super) rating: f64,
    pub(super) finding: &'a str,
    /// What was recorded.
    pub(super) seen: &'a str,
    /// What the model does.
    pub(super) model: String,
    pub(super) suggestion: &'a str,
    pub(super) is_bad: bool,
}

/// What a critic says of a whole: its scores and why, and of each joint its name, scores of type and position, and why.
pub(super) struct Whole<'a> {
    pub(super) links: f64,
    pub(super) joints: f64,
    pub(super) why: &'a str,
    pub(super) details: Vec<(&'a str, [f64; 2], &'a str)>,
}

/// A table of what is said of joints.
pub(super) fn joints<'a>(rows: impl Iterator<Item = JointRow<'a>>) -> String {
    let mut html = "<table><tr><th>joint<th>rating<th>finding<th>seen<th>model<th>suggestion".to_owned();
    for said in rows {
        let rating = format!("{:.1}", said.rating);
        let cells = [said.joint, &rating, said.finding, said.seen, &said.model, said.suggestion];
        html.push_str(&row(said.is_bad, &cells));
    }
    html + "</table>"
}

/// What is said of a whole.
pub(super) fn whole(said: &Whole<'_>) -> String {
    let mut html =
        format!("<p>Links {:.1}, joints {:.1} of 10. {}</p><ul>", said.links, said.joints, escape(said.why));
    for (joint, [kind, position], why) in &said.details {
        let (joint, why) = (escape(joint), escape(why));
        // Writing to a string does not fail.
        let _ = write!(html, "<li>{joint}: type {kind:.1}, position {position:.1}. {why}");
    }
    html + "</ul>"
}

/// A row of a table.
pub(super) fn row(is_bad: bool, cells: &[&str]) -> String {
    let class = if is_bad { " class=\"bad\"" } else { "" };
    let cells: String = cells.iter().map(|cell| format!("<td>{}", escape(cell))).collect();
    format!("<tr{class}>{cells}")
}
