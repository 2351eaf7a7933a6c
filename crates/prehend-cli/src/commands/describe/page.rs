//! What became of a thing and what the critics say of it, for people: one page.

use super::doubt::Opinions;
use super::tables::{JointRow, Whole, joints, row, whole};
use super::{looks, opinion};
use prehend_articulation::critic::JointFailure;
use prehend_articulation::{Described, Observation};
use prehend_eval::html::escape;
use std::fmt::Write;

/// The page.
pub(super) fn page(observation: &Observation, described: &Described, opinions: &Opinions) -> String {
    let best = described.best();
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{name}</title><style>body{{font:16px/1.4 sans-serif;max-width:60em;margin:1em auto;padding:0 1em}}\
         img{{max-width:49%}}td,th{{text-align:left;vertical-align:top;padding:.2em .8em .2em 0}}\
         .bad{{color:#a00}}</style><h1>{name}</h1><p>A {class} with {parts} parts, from {looks} looks. Rated {rating:.1} of 10. {reason}</p>\
         <p><img src=\"closed.png\" alt=\"closed\"> <img src=\"open.png\" alt=\"open\"></p>",
        name = escape(&observation.name),
        class = escape(&observation.class),
        parts = observation.parts.len(),
        looks = observation.looks.len(),
        rating = best.rating.overall,
        reason = described.stop.reason().map(|reason| escape(&reason)).unwrap_or_default(),
    );
    html.push_str(&looks::section(observation, best));
    html.push_str("<h2>Parts</h2><table>");
    for (part, outcome) in observation.parts.iter().zip(&described.parts) {
        html.push_str(&row(!outcome.is_usable(), &[&part.name, &outcome.say()]));
    }
    html.push_str("</table><h2>Joint critic</h2>");
    let rows = best.verdicts.joints.iter().map(|verdict| JointRow {
        joint: &verdict.joint,
        rating: verdict.realism_rating,
        finding: verdict.failure_reason.name(),
        seen: &verdict.gt_description,
        model: format!("{}. {}", verdict.candidate_function_description, verdict.pred_description),
        suggestion: &verdict.improvement_suggestion,
        is_bad: verdict.failure_reason != JointFailure::Success,
    });
    html.push_str(&joints(rows));
    html.push_str("<h2>Link critic</h2><table><tr><th>link<th>rating<th>finding<th>why");
    for verdict in &best.verdicts.links {
        let rating = format!("{:.1}", verdict.realism_rating);
        html.push_str(&row(false, &[&verdict.link, &rating, verdict.failure.name(), &verdict.description]));
    }
    let urdf = &best.verdicts.urdf;
    let detail = urdf.joint_evaluation_details.iter();
    html.push_str("</table><h2>URDF critic</h2>");
    html.push_str(&whole(&Whole {
        links: urdf.link_position_score,
        joints: urdf.joint_score,
        why: &urdf.link_position_reasoning,
        details: detail
            .map(|one| {
                (one.joint_name.as_str(), [one.type_score, one.position_score], one.reasoning.as_str())
            })
            .collect(),
    }));
    html.push_str(&opinion::section(described, opinions));
    html.push_str("<p>The model: <a href=\"model.urdf\">model.urdf</a></p></html>");
    html
}
