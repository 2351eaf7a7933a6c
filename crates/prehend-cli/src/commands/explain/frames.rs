//! What the camera saw right before decisions, from a run's recording.

use prehend_bags::{ContainerError, stored_messages};
use prehend_convert as convert;
use prehend_explain::{Came, Decision, Explanation, Kind, Picture};
use prehend_msgs::sensor_msgs::msg::Image;
use prehend_nodes::pictures;
use std::path::Path;

/// Most decisions that are shown with a picture of their moment.
const MOST: usize = 5;

/// A decision and the newest picture before it.
struct Moment<'a> {
    decision: &'a Decision,
    image: Option<Image>,
}

/// The pictures before the decisions that matter: that which the goal failed by, what went badly, choices and verdicts. A recording that is
/// damaged is read up to there.
///
/// Errors: [`ContainerError`] when it cannot be read at all.
pub(super) fn frames(recording: &Path, explained: &Explanation) -> Result<Vec<Picture>, ContainerError> {
    let mut moments: Vec<Moment<'_>> =
        chosen(explained).into_iter().map(|decision| Moment { decision, image: None }).collect();
    let last = moments.iter().map(|moment| moment.decision.t).fold(f64::NEG_INFINITY, f64::max);
    stored_messages(recording, true, &mut |message| {
        if message.type_name != "sensor_msgs/msg/Image" {
            return true;
        }
        let Ok(image) = prehend_ros::from_cdr::<Image>(message.data) else { return true };
        if !["rgb8", "bgr8"].contains(&image.encoding.as_str()) {
            return true;
        }
        let stamp = convert::seconds(&image.header.stamp);
        for moment in moments.iter_mut().filter(|moment| stamp <= moment.decision.t) {
            moment.image = Some(image.clone());
        }
        stamp <= last
    })?;
    moments.sort_by(|a, b| a.decision.t.total_cmp(&b.decision.t));
    let pictures = moments.into_iter().filter_map(|Moment { decision, image }| {
        let image = image?;
        let png = pictures::png(&convert::color_image_from_msg(&image).ok()?).ok()?;
        let stamp = convert::seconds(&image.header.stamp);
        let caption = format!("recorded at {stamp:.2} s, right before: {}", decision.what);
        Some(Picture { caption, of: None, decision: None, png })
    });
    Ok(pictures.collect())
}

fn chosen(explained: &Explanation) -> Vec<&Decision> {
    let rank = |index: usize, decision: &Decision| match (decision.kind, decision.came) {
        _ if explained.decisive == Some(index) => 0,
        (Kind::Verdict | Kind::Motion | Kind::Outcome, Came::Badly) => 1,
        (Kind::Choice, _) => 2,
        (Kind::Verdict | Kind::Outcome, Came::Well) => 3,
        _ => 4,
    };
    let decisions = explained.decisions.iter().enumerate();
    let mut ranked: Vec<_> = decisions.map(|(index, decision)| (rank(index, decision), decision)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut chosen: Vec<&Decision> = Vec::new();
    for (rank, decision) in ranked {
        // Decisions of one moment have one picture.
        let is_new = chosen.iter().all(|other| (other.t - decision.t).abs() > 0.5);
        if rank < 4 && is_new && chosen.len() < MOST {
            chosen.push(decision);
        }
    }
    chosen
}
