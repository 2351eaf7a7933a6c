//! Poses of the base from which faces are seen.

use super::TourParams;
use super::faces::Face;
use crate::footprint::Footprint;
use crate::grid::{Costmap, INSCRIBED, LETHAL};
use crate::pose::{Pose2, turn};

/// A pose and what is seen from there.
pub(super) struct View {
    pub(super) pose: Pose2,
    /// Faces by their numbers.
    pub(super) sees: Vec<u32>,
    /// The base can turn there as it likes: such a pose is come to and left without touching anything.
    roomy: bool,
}

/// The view with the greatest gain, one with room around it if any has a gain; of equal ones the first: the same on every run.
pub(super) fn best_view<T: PartialOrd>(
    views: &[View],
    gain: impl Fn(&View) -> Option<T>,
) -> Option<(T, &View)> {
    let best = |roomy: bool| {
        let views = views.iter().filter(|view| view.roomy == roomy);
        let gains = views.filter_map(|view| gain(view).map(|gain| (gain, view)));
        gains.reduce(|a, b| if b.0 > a.0 { b } else { a })
    };
    best(true).or_else(|| best(false))
}

/// Every considered pose that sees something.
pub(super) fn views(
    map: &Costmap,
    footprint: &Footprint,
    reachable: &[bool],
    faces: &[Face],
    params: &TourParams,
) -> Vec<View> {
    let layout = map.layout();
    let outline = footprint.grown(params.margin);
    let stride = ((params.spacing / layout.resolution).round() as usize).max(1);
    let mut views = Vec::new();
    for row in (stride / 2..layout.height).step_by(stride) {
        for column in (stride / 2..layout.width).step_by(stride) {
            let index = row * layout.width + column;
            if !reachable[index] || map.costs()[index] >= INSCRIBED {
                continue;
            }
            let [x, y] = layout.centre((column, row));
            let roomy = map.room([x, y]) > outline.circumscribed_radius();
            for heading in 0..params.headings {
                let yaw = std::f64::consts::TAU * heading as f64 / params.headings as f64;
                let pose = Pose2::new(x, y, crate::pose::normalised(yaw));
                if outline.collides(map, &pose) {
                    continue;
                }
                let sees = seen(map, &pose, faces, params);
                if !sees.is_empty() {
                    views.push(View { pose, sees, roomy });
                }
            }
        }
    }
    views
}

fn seen(map: &Costmap, pose: &Pose2, faces: &[Face], params: &TourParams) -> Vec<u32> {
    let camera = pose.transform(params.camera);
    let looks = pose.yaw + params.camera_yaw;
    let upright = params.incidence.cos();
    let mut sees = Vec::new();
    for (index, face) in faces.iter().enumerate() {
        let (dx, dy) = (face.at[0] - camera[0], face.at[1] - camera[1]);
        let distance = dx.hypot(dy);
        if distance < params.range[0] || distance > params.range[1] {
            continue;
        }
        if -(dx * face.normal[0] + dy * face.normal[1]) < upright * distance {
            continue;
        }
        if turn(looks, dy.atan2(dx)).abs() > params.field_of_view / 2.0 {
            continue;
        }
        if in_sight(map, camera, face) {
            sees.push(index as u32);
        }
    }
    sees
}

/// Whether nothing occupied is between the camera and a face.
fn in_sight(map: &Costmap, camera: [f64; 2], face: &Face) -> bool {
    let resolution = map.layout().resolution;
    let target =
        [face.at[0] + 0.6 * resolution * face.normal[0], face.at[1] + 0.6 * resolution * face.normal[1]];
    let (dx, dy) = (target[0] - camera[0], target[1] - camera[1]);
    let steps = (dx.hypot(dy) / (0.8 * resolution)).ceil().max(1.0) as usize;
    (0..=steps).all(|step| {
        let share = step as f64 / steps as f64;
        map.cost([camera[0] + share * dx, camera[1] + share * dy]) != LETHAL
    })
}
