//! The Area Summariser (Affordance RAG IV-A.3): views become zones, zones areas, areas the building.
//!
//! Each level is an agglomerative clustering by distance in space and in meaning; each cluster gets a summary by rule: the kind of room
//! that its furniture tells, then what is there, the largest first. The sentence of a model stands in its place where there is one for
//! just this list ([`Told`]).
//!
//! Deviation: the paper clusters by the sentences. Here the rule's lists decide what belongs together, so that the levels are the same
//! with a model, without one, and while one is asked; the sentences decide what is found.

use crate::encode::{EncodeError, Encoder, similarity};
use crate::record::{Thing, View};
use kodama::{Method, linkage};
use prehend_agent::language::rooms::RoomNames;
use prehend_perception::Summary;
use std::collections::BTreeMap;

/// Distance, metres, that counts as much as having nothing in common in words.
const MEANING: f64 = 2.0;
/// Mean distances, metres and meaning together, up to which views are one zone and zones one area.
const ZONE: f64 = 3.0;
const AREA: f64 = 4.0;
/// From this many nodes on, those of one square metre are joined first: clustering takes the square of their number.
const MANY: usize = 1500;
/// Most things that a summary names.
const NAMED: usize = 14;

/// What a model said of areas, by the rule's summary of each.
pub type Told = BTreeMap<String, Summary>;

/// A cluster on its way to an area.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Indices of what it holds: views of a zone, zones of an area.
    pub members: Vec<usize>,
    /// Its middle.
    pub center: [f64; 3],
    /// Where its cameras were, in the mean.
    pub eye: [f64; 3],
    /// The kind of room.
    pub room: Option<String>,
    /// What is there.
    pub summary: String,
    /// The rule's summary, when the summary is a model's.
    pub rule: Option<String>,
    /// Features of the summary.
    pub features: Vec<f32>,
    /// Number of views.
    pub views: u32,
}

/// Zones, areas and the building.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Level 4, of views.
    pub zones: Vec<Cluster>,
    /// Level 5, of zones.
    pub areas: Vec<Cluster>,
    /// Level 6, of areas.
    pub building: Cluster,
}

/// What is clustered.
struct Node {
    middle: [f64; 3],
    eye: [f64; 3],
    features: Vec<f32>,
}

fn distance(a: &Node, b: &Node) -> f64 {
    let apart =
        |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
    // What two cameras look at and where they stand: each alone is near across a wall.
    let space = (apart(&a.middle, &b.middle) + apart(&a.eye, &b.eye)) / 2.0;
    space + MEANING * (1.0 - similarity(&a.features, &b.features)).clamp(0.0, 1.0)
}

/// Indices of each cluster, by average linkage up to a distance.
fn clusters(nodes: &[Node], reach: f64) -> Vec<Vec<usize>> {
    let groups = grouped(nodes);
    let firsts: Vec<&Node> = groups.iter().filter_map(|group| nodes.get(*group.first()?)).collect();
    let count = firsts.len();
    let mut condensed = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for row in 0..count {
        for column in row + 1..count {
            condensed.push(distance(firsts[row], firsts[column]));
        }
    }
    // Each step joins two clusters; step i makes cluster `count + i`. Average linkage never comes back below a distance it passed.
    let mut members: Vec<Vec<usize>> = groups;
    if count > 1 {
        let dendrogram = linkage(&mut condensed, count, Method::Average);
        for step in dendrogram.steps().iter().take_while(|step| step.dissimilarity <= reach) {
            let mut joined = std::mem::take(&mut members[step.cluster1]);
            joined.append(&mut members[step.cluster2]);
            members.push(joined);
        }
    }
    let mut found: Vec<Vec<usize>> = members.into_iter().filter(|members| !members.is_empty()).collect();
    found.iter_mut().for_each(|members| members.sort_unstable());
    found.sort();
    found
}

/// Each node by itself, or, of very many, those whose cameras stood on one square metre.
fn grouped(nodes: &[Node]) -> Vec<Vec<usize>> {
    if nodes.len() <= MANY {
        return (0..nodes.len()).map(|index| vec![index]).collect();
    }
    let mut cells: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        cells.entry(node.eye.map(|value| value.floor() as i64)).or_default().push(index);
    }
    cells.into_values().collect()
}

/// Makes the levels of a building from its views and things. `view_things[i]` are the indices of the things in view i.
///
/// Errors: [`EncodeError`] when a summary has no features.
pub fn summarise(
    views: &[View],
    things: &[Thing],
    view_things: &[Vec<usize>],
    encoder: &dyn Encoder,
    rooms: &RoomNames,
    told: &Told,
) -> Result<Levels, EncodeError> {
    let words = Words { encoder, rooms, told };
    let nodes: Vec<Node> = views
        .iter()
        .map(|view| Node { middle: view.middle, eye: view.eye, features: view.picture_features.clone() })
        .collect();
    let in_views = |members: &[usize]| -> Vec<usize> {
        let mut found: Vec<usize> =
            members.iter().filter_map(|view| view_things.get(*view)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let mut zones = Vec::new();
    let mut zone_things = Vec::new();
    let mut zone_nodes = Vec::new();
    for members in clusters(&nodes, ZONE) {
        let inside = in_views(&members);
        let parts: Vec<(&Node, u32)> = members.iter().map(|view| (&nodes[*view], 1)).collect();
        let (zone, features) = words.cluster(members.clone(), &parts, &inside, things)?;
        zone_nodes.push(Node { middle: zone.center, eye: zone.eye, features });
        zones.push(zone);
        zone_things.push(inside);
    }
    let nodes = zone_nodes;
    let mut areas = Vec::new();
    for members in clusters(&nodes, AREA) {
        let mut inside: Vec<usize> =
            members.iter().flat_map(|zone| zone_things[*zone].iter().copied()).collect();
        inside.sort_unstable();
        inside.dedup();
        let parts: Vec<(&Node, u32)> =
            members.iter().map(|zone| (&nodes[*zone], zones[*zone].views)).collect();
        areas.push(words.cluster(members.clone(), &parts, &inside, things)?.0);
    }
    let all: Vec<usize> = (0..things.len()).collect();
    let nodes: Vec<Node> =
        areas.iter().map(|area| Node { middle: area.center, eye: area.eye, features: Vec::new() }).collect();
    let parts: Vec<(&Node, u32)> = nodes.iter().zip(areas.iter().map(|area| area.views)).collect();
    let (mut building, _) = words.cluster((0..areas.len()).collect(), &parts, &all, things)?;
    building.room = None;
    Ok(Levels { zones, areas, building })
}

/// What gives clusters their words.
struct Words<'a> {
    encoder: &'a dyn Encoder,
    rooms: &'a RoomNames,
    told: &'a Told,
}

impl Words<'_> {
    /// A cluster with its summary, and the features of the rule's one.
    fn cluster(
        &self,
        members: Vec<usize>,
        nodes: &[(&Node, u32)],
        inside: &[usize],
        things: &[Thing],
    ) -> Result<(Cluster, Vec<f32>), EncodeError> {
        let views: u32 = nodes.iter().map(|(_, views)| views).sum();
        let mean = |of: fn(&Node) -> [f64; 3]| {
            let sum = |axis: usize| {
                nodes.iter().map(|(node, views)| of(node)[axis] * f64::from(*views)).sum::<f64>()
            };
            [0, 1, 2].map(|axis| sum(axis) / f64::from(views.max(1)))
        };
        let inside: Vec<&Thing> = inside.iter().filter_map(|index| things.get(*index)).collect();
        let classes: Vec<&str> = inside.iter().map(|thing| thing.name()).collect();
        let room = self.rooms.told_by(classes.iter().copied()).map(str::to_owned);
        let rule = summary(room.as_deref(), &inside);
        let by_rule = self.encoder.text(&rule)?;
        let (center, eye) = (mean(|node| node.middle), mean(|node| node.eye));
        let cluster = match self.told.get(&rule) {
            Some(told) => Cluster {
                room: told.room.clone().or(room),
                features: self.encoder.text(&told.text)?,
                summary: told.text.clone(),
                rule: Some(rule),
                members,
                center,
                eye,
                views,
            },
            None => Cluster {
                features: by_rule.clone(),
                summary: rule,
                rule: None,
                members,
                center,
                eye,
                room,
                views,
            },
        };
        Ok((cluster, by_rule))
    }
}

/// A summary by rule: the room, then the things, the largest first, each once.
pub fn summary(room: Option<&str>, things: &[&Thing]) -> String {
    let mut things = things.to_vec();
    things.sort_by(|a, b| b.place.longest().total_cmp(&a.place.longest()).then(a.id.cmp(&b.id)));
    let mut words: Vec<String> = Vec::new();
    for thing in things.iter().filter(|thing| !thing.name().is_empty()) {
        let said = thing.words();
        if !words.contains(&said) {
            words.push(said);
        }
    }
    words.truncate(NAMED);
    let list = words.join(", ");
    match room {
        Some(room) if list.is_empty() => room.to_owned(),
        Some(room) => format!("{room}: {list}"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(x: f64, y: f64, feature: usize) -> Node {
        let mut features = vec![0.0; 8];
        features[feature] = 1.0;
        Node { middle: [x, y, 0.8], eye: [x - 1.0, y, 1.2], features }
    }

    #[test]
    fn what_is_near_in_space_and_meaning_is_one_cluster() {
        let nodes =
            [node(0.0, 0.0, 1), node(0.3, 0.2, 1), node(0.1, 0.4, 1), node(6.0, 0.0, 1), node(6.2, 0.1, 1)];
        assert_eq!(clusters(&nodes, ZONE), [vec![0, 1, 2], vec![3, 4]]);
        // Across a wall: as near as before, but with nothing in common.
        let walled = [node(0.0, 0.0, 1), node(1.6, 0.0, 2)];
        assert_eq!(clusters(&walled, ZONE).len(), 2);
        assert_eq!(clusters(&[node(0.0, 0.0, 1), node(1.6, 0.0, 1)], ZONE).len(), 1);
        assert_eq!(clusters(&[], ZONE), Vec::<Vec<usize>>::new());
        assert_eq!(clusters(&[node(0.0, 0.0, 1)], ZONE), [vec![0]]);
    }

    #[test]
    fn very_many_views_are_joined_by_where_they_were_taken() {
        let nodes: Vec<Node> =
            (0..2 * MANY).map(|i| node(0.01 * (i % 100) as f64 + 20.0 * (i % 3) as f64, 0.0, 1)).collect();
        let found = clusters(&nodes, ZONE);
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), nodes.len());
    }
}
