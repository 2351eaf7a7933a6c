//! What a new frame says about old points: still there, hidden, or seen through.

use crate::Keyframe;
use crate::segment::Scene;
use nalgebra::Isometry3;
use prehend_geometry::OrientedBox;
use prehend_scene::Object;

/// Depth by which a measurement must lie behind a point to prove that the point is gone, metres.
const THROUGH: f64 = 0.02;
/// A point that was higher above the support than `STOOD` is gone as well when the bare support, up to `BARE`, is seen in its
/// place, metres: low points have no 2 cm behind them.
const STOOD: f64 = 0.010;
const BARE: f64 = 0.005;

/// How many points of an object a frame sees in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Points of the object.
    pub points: usize,
    /// Surface measured where the point is.
    pub confirmed: usize,
    /// Surface measured behind: free space where the point was.
    pub through: usize,
    /// Surface measured in front, or the robot: nothing is known.
    pub hidden: usize,
}

impl Visibility {
    /// Whether hardly any of the object is seen in its place, whatever hides the rest.
    pub fn is_unconfirmed(&self) -> bool {
        self.confirmed * 10 < self.points
    }

    /// Whether the frame proves that the object is no longer there: enough of it in view, most of that free.
    pub fn is_gone(&self) -> bool {
        let seen = self.confirmed + self.through;
        self.through * 10 >= seen * 6 && seen * 10 >= self.points * 2 && seen >= 5
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Confirmed,
    Through,
    Hidden,
    Unseen,
}

/// Counts the states of an object's points in a frame.
pub(super) fn look(object: &Object, frame: &Keyframe, scene: &Scene) -> Visibility {
    let camera_from_map = frame.map_from_camera.inverse();
    let mut visibility = Visibility { points: object.cloud.len(), ..Visibility::default() };
    for state in states(object, frame, scene, &camera_from_map) {
        match state {
            State::Confirmed => visibility.confirmed += 1,
            State::Through => visibility.through += 1,
            State::Hidden => visibility.hidden += 1,
            State::Unseen => {}
        }
    }
    visibility
}

/// Takes out the points that are seen through, when that leaves enough; a nudged object leaves no ghost behind.
pub(super) fn carve(object: &mut Object, frame: &Keyframe, scene: &Scene) {
    let camera_from_map = frame.map_from_camera.inverse();
    let keep: Vec<usize> = states(object, frame, scene, &camera_from_map)
        .enumerate()
        .filter(|(_, state)| *state != State::Through)
        .map(|(index, _)| index)
        .collect();
    if keep.len() < object.cloud.len() && keep.len() >= 20 {
        object.cloud = object.cloud.select(&keep);
        if let Some(bounds) = OrientedBox::upright_around(&object.cloud.points) {
            object.bounds = bounds;
        }
    }
}

fn states<'a>(
    object: &'a Object,
    frame: &'a Keyframe,
    scene: &'a Scene,
    camera_from_map: &'a Isometry3<f64>,
) -> impl Iterator<Item = State> + 'a {
    object.cloud.points.iter().map(move |point| {
        let local = camera_from_map * point;
        let Some(index) = frame.intrinsics.pixel_index(&local) else { return State::Unseen };
        if scene.robot.get(index).copied().unwrap_or(false) {
            return State::Hidden;
        }
        match frame.depth.metres(index) {
            None => State::Unseen,
            Some(depth) if depth > local.z + THROUGH => State::Through,
            Some(depth) if depth < local.z - THROUGH => State::Hidden,
            Some(depth) => {
                let bare = scene.grid.points.get(index).copied().flatten();
                let is_bare = bare.is_some_and(|seen| scene.height(&seen) < BARE) && scene.plane.is_some();
                if is_bare && depth > local.z && scene.height(point) > STOOD {
                    State::Through
                } else {
                    State::Confirmed
                }
            }
        }
    })
}
