//! Boxes for a planning scene from observed clouds: the occupied columns, merged.

use crate::columns::{Columns, Fill};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::OrientedBox;

/// Side of a column, metres.
pub const COLUMN: f64 = 0.004;
/// Columns whose tops differ by less are merged, metres.
const SAME_HEIGHT: f64 = 0.003;

/// Boxes (axis-aligned, map frame) that cover an observed cloud and everything below it down to `support_height`.
/// They reach as high as what they cover. Empty when no point is finite.
pub fn collision_boxes(cloud: &[Point3<f64>], support_height: f64) -> Vec<OrientedBox> {
    boxes_of(&Columns::new(COLUMN, [(0, cloud, Fill::To(support_height))]))
}

/// Boxes of a held object in the tool frame, from its cloud and the tool pose at the grasp.
///
/// They end `lift` metres above the support, so that they do not touch it when the motion begins.
pub fn attached_boxes(
    cloud: &[Point3<f64>],
    map_from_tool: &Isometry3<f64>,
    support_height: f64,
    lift: f64,
) -> Vec<OrientedBox> {
    let bottom = support_height + lift;
    let tool_from_map = map_from_tool.inverse();
    boxes_of(&Columns::new(COLUMN, [(0, cloud, Fill::To(bottom))]))
        .into_iter()
        .filter(|b| b.top() > bottom)
        .map(|b| OrientedBox { pose: tool_from_map * b.pose, size: b.size })
        .collect()
}

/// A run of cells in one row, or several equal runs on top of each other.
struct Run {
    x: (f64, f64),
    y: (f64, f64),
    low: f64,
    top: f64,
}

fn boxes_of(columns: &Columns) -> Vec<OrientedBox> {
    let half = columns.cell() / 2.0;
    let mut runs: Vec<Run> = Vec::new();
    for (x, y, low, top) in columns.occupied() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        if let Some(last) = runs.last_mut() {
            let joins = near(last.y.0, y - half) && near(last.x.1, x - half);
            if joins && (last.top - top).abs() < SAME_HEIGHT {
                last.x.1 = x + half;
                last.top = last.top.max(top);
                last.low = last.low.min(low);
                continue;
            }
        }
        runs.push(Run { x: (x - half, x + half), y: (y - half, y + half), low, top });
    }
    let mut merged: Vec<Run> = Vec::new();
    for run in runs {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        let above = merged.iter_mut().find(|m| {
            near(m.y.1, run.y.0)
                && near(m.x.0, run.x.0)
                && near(m.x.1, run.x.1)
                && (m.top - run.top).abs() < SAME_HEIGHT
        });
        match above {
            Some(m) => {
                m.y.1 = run.y.1;
                m.top = m.top.max(run.top);
                m.low = m.low.min(run.low);
            }
            None => merged.push(run),
        }
    }
    merged
        .into_iter()
        .map(|run| {
            let size = Vector3::new(run.x.1 - run.x.0, run.y.1 - run.y.0, (run.top - run.low).max(0.001));
            let centre = [(run.x.0 + run.x.1) / 2.0, (run.y.0 + run.y.1) / 2.0, run.top - size.z / 2.0];
            OrientedBox { pose: Isometry3::translation(centre[0], centre[1], centre[2]), size }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grasp::shapes::{at, bowl, cuboid, home_eye, seen};

    #[test]
    fn boxes_cover_what_was_seen_and_little_else() {
        for (surface, most) in [(cuboid(0.10, 0.06, 0.05), 40), (bowl(0.08, 0.06), 600)] {
            let truth = at(&surface, 0.42, 0.1, 0.0);
            let cloud = seen(&truth, home_eye(), 0.001, 1);
            let boxes = collision_boxes(&cloud, 0.0);
            assert!(!boxes.is_empty() && boxes.len() <= most, "{}", boxes.len());
            for point in cloud.iter().filter(|p| p.z > 0.0) {
                assert!(boxes.iter().any(|b| b.contains(point, 1e-6)), "{point}");
            }
            for b in &boxes {
                assert!((b.top() - b.size.z).abs() < 1e-9, "stands on the support");
                let near = |p: &&Point3<f64>| b.contains(p, 0.003);
                assert!(cloud.iter().any(|p| near(&p)), "{b:?} covers nothing");
            }
        }
        assert!(collision_boxes(&[], 0.0).is_empty());
        assert!(collision_boxes(&[Point3::new(f64::NAN, 0.0, 0.0)], 0.0).is_empty());
    }

    #[test]
    fn attached_boxes_move_with_the_tool() {
        let truth = at(&cuboid(0.05, 0.04, 0.06), 0.42, 0.1, 0.0);
        let cloud = seen(&truth, home_eye(), 0.0, 1);
        let map_from_tool = Isometry3::new(Vector3::new(0.42, 0.1, 0.04), Vector3::new(3.1, 0.1, 0.3));
        let boxes = attached_boxes(&cloud, &map_from_tool, 0.0, 0.005);
        for point in cloud.iter().filter(|p| p.z > 0.01) {
            let local = map_from_tool.inverse_transform_point(point);
            assert!(boxes.iter().any(|b| b.contains(&local, 1e-6)), "{point}");
        }
        for b in &boxes {
            let bottom = (map_from_tool * b.pose).translation.z - b.size.z / 2.0;
            assert!(bottom >= 0.005 - 1e-9, "{bottom}");
        }
    }
}
