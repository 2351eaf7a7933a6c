//! What a new frame says about old points: still there, hidden, or seen through.

use crate::Keyframe;
use crate::segment::Scene;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{Intrinsics, OrientedBox};
use prehend_scene::Object;
use serde::{Deserialize, Serialize};

/// When points of a known object are gone.
///
/// A point that was higher above the support than `stood` is gone as well when the bare support, up to `bare`, is seen in its
/// place: low points have no 2 cm behind them. Of a thing that is lower than that, the points of its upper half count, and
/// half their height is no longer bare; what is lower than `flat` standard deviations of the depth is not told from the support.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeavingSettings {
    /// Depth by which a measurement must lie behind a point to prove that the point is gone, metres.
    pub through: f64,
    /// The same in standard deviations of the depth, where that is more.
    pub noise: f64,
    /// Fewest points that carving leaves.
    pub least: usize,
    /// Height above the support, metres.
    pub stood: f64,
    /// Height above the support, metres.
    pub bare: f64,
    /// Standard deviations of the depth.
    pub flat: f64,
}

impl Default for LeavingSettings {
    fn default() -> Self {
        Self { through: 0.02, noise: 3.0, least: 20, stood: 0.010, bare: 0.005, flat: 4.0 }
    }
}

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
    /// Whether at least half of the object's surface is seen in its place.
    pub fn is_in_sight(&self) -> bool {
        self.points > 0 && self.confirmed * 2 >= self.points
    }

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

/// What a frame says about an object's points.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// Counts of points by state.
    pub(super) visibility: Visibility,
    /// Indices of the points that are not seen through, when some are.
    keep: Option<Vec<usize>>,
    /// Things of the frame at whose pixels confirmed points are: their numbers from 0, and how many points.
    on: Vec<(usize, usize)>,
}

impl Look {
    /// Things of the frame at whose pixels confirmed points are: their numbers, and which share of the confirmed points.
    pub(super) fn shares(&self) -> impl Iterator<Item = (usize, f64)> {
        let confirmed = self.visibility.confirmed.max(1) as f64;
        self.on.iter().map(move |(number, points)| (*number, *points as f64 / confirmed))
    }

    fn count(&mut self, number: usize) {
        match self.on.iter_mut().find(|(known, _)| *known == number) {
            Some((_, points)) => *points += 1,
            None => self.on.push((number, 1)),
        }
    }
}

/// What a frame can say about points.
pub(super) struct Sight<'a> {
    frame: &'a Keyframe,
    scene: &'a Scene,
    camera_from_map: Isometry3<f64>,
    /// Standard deviation of depth at 1 m, metres.
    sigma: f64,
    settings: LeavingSettings,
}

impl<'a> Sight<'a> {
    /// `sigma` is the standard deviation of depth at 1 m, growing with the square, metres.
    pub(super) fn new(frame: &'a Keyframe, scene: &'a Scene, sigma: f64, settings: LeavingSettings) -> Self {
        Self { frame, scene, camera_from_map: frame.map_from_camera.inverse(), sigma, settings }
    }

    /// Sorts the points of an object by what the frame says about them; one that is out of view is not looked at. `owners` are the
    /// numbers from 1 of the things that pixels are of, or nothing.
    pub(super) fn look(&self, object: &Object, owners: &[u16]) -> Look {
        let mut look = Look::default();
        look.visibility.points = object.cloud.len();
        if !self.is_in_view(&object.bounds) {
            return look;
        }
        let stood = self.settings.stood.min(self.scene.height(&top_of(object)) / 2.0);
        for (index, point) in object.cloud.points.iter().enumerate() {
            let state = self.state(point, stood);
            if state == State::Through && look.keep.is_none() {
                look.keep = Some((0..index).collect());
            }
            match state {
                State::Confirmed(pixel) => {
                    look.visibility.confirmed += 1;
                    if let Some(number) = owners.get(pixel).and_then(|number| number.checked_sub(1)) {
                        look.count(usize::from(number));
                    }
                }
                State::Through => look.visibility.through += 1,
                State::Hidden => look.visibility.hidden += 1,
                State::Unseen => {}
            }
            if let Some(keep) = look.keep.as_mut().filter(|_| state != State::Through) {
                keep.push(index);
            }
        }
        look
    }

    /// Whether any of a box can be in the picture: not all of its corners are behind the camera or beyond one edge of it.
    fn is_in_view(&self, bounds: &OrientedBox) -> bool {
        let Intrinsics { fx, fy, cx, cy, width, height } = self.frame.intrinsics;
        let camera_from_box = self.camera_from_map * bounds.pose;
        // A box is of its cloud up to rounding; a pixel reaches half a pixel beyond its centre.
        let half = bounds.size / 2.0 + Vector3::repeat(1e-3);
        let mut beyond = [true; 5];
        for corner in 0..8 {
            let side = |bit: i32, axis: usize| if corner & bit == 0 { -half[axis] } else { half[axis] };
            let p = camera_from_box * Point3::new(side(1, 0), side(2, 1), side(4, 2));
            let (u, v) = (fx * p.x, fy * p.y);
            beyond[0] &= p.z <= 0.0;
            beyond[1] &= u < (-1.0 - cx) * p.z;
            beyond[2] &= u > (width as f64 - cx) * p.z;
            beyond[3] &= v < (-1.0 - cy) * p.z;
            beyond[4] &= v > (height as f64 - cy) * p.z;
        }
        !beyond.contains(&true)
    }

    /// `stood` is the height above the support from which on its bareness tells that a point is gone, metres.
    fn state(&self, point: &Point3<f64>, stood: f64) -> State {
        let (frame, scene) = (self.frame, self.scene);
        let local = self.camera_from_map * point;
        let Some(index) = frame.intrinsics.pixel_index(&local) else { return State::Unseen };
        if scene.robot.get(index).copied().unwrap_or(false) {
            return State::Hidden;
        }
        // Far away, depth is not known to two centimetres.
        let LeavingSettings { through, noise, bare, flat, .. } = self.settings;
        let through = through.max(noise * self.sigma * local.z * local.z);
        match frame.depth.metres(index) {
            None => State::Unseen,
            Some(depth) if depth > local.z + through => State::Through,
            Some(depth) if depth < local.z - through => State::Hidden,
            Some(depth) => {
                let seen = scene.grid.points.get(index).copied().flatten();
                let height = scene.height(point);
                let bare = bare.min(height / 2.0);
                let is_bare = seen.is_some_and(|seen| scene.height(&seen) < bare) && scene.plane.is_some();
                let is_told = height > stood && height > flat * self.sigma * local.z * local.z;
                if is_bare && depth > local.z && is_told { State::Through } else { State::Confirmed(index) }
            }
        }
    }
}

fn top_of(object: &Object) -> Point3<f64> {
    let mut top = Point3::from(object.bounds.pose.translation.vector);
    top.z = object.bounds.top();
    top
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At this pixel.
    Confirmed(usize),
    Through,
    Hidden,
    Unseen,
}

/// Takes out the points that are seen through, when that leaves enough; a nudged object leaves no ghost behind. Gives whether it did.
///
/// The box goes as far below the points as it did: what a thing stands on has not changed.
pub(super) fn carve(object: &mut Object, look: &Look, settings: &LeavingSettings) -> bool {
    let Some(keep) = look.keep.as_ref().filter(|keep| keep.len() >= settings.least) else { return false };
    let lowest = |object: &Object| object.cloud.points.iter().map(|point| point.z).fold(f64::MAX, f64::min);
    let bottom = |bounds: &OrientedBox| bounds.pose.translation.z - bounds.size.z / 2.0;
    let below = (lowest(object) - bottom(&object.bounds)).max(0.0);
    object.cloud = object.cloud.select(keep);
    if let Some(mut bounds) = OrientedBox::upright_around(&object.cloud.points) {
        bounds.size.z += below;
        bounds.pose.translation.z -= below / 2.0;
        object.bounds = bounds;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::PointCloud;
    use prehend_scene::ObjectKey;

    #[test]
    fn a_box_that_loses_points_stands_where_it_stood() {
        // The top of something flat, whose box goes down to the table.
        let points = (0..200).map(|n| Point3::new(0.4 + 0.001 * f64::from(n), 0.0, 0.009)).collect();
        let bounds = OrientedBox {
            pose: Isometry3::translation(0.5, 0.0, 0.0045),
            size: Vector3::new(0.2, 0.004, 0.009),
        };
        let mut object = Object::unnamed(ObjectKey("a".to_owned()), PointCloud::from_points(points), bounds);
        let look = Look { keep: Some((0..150).collect()), ..Look::default() };
        assert!(carve(&mut object, &look, &LeavingSettings::default()));
        assert!(
            (object.bounds.size.x.max(object.bounds.size.y) - 0.149).abs() < 0.002,
            "{:?}",
            object.bounds
        );
        assert!((object.bounds.top() - 0.009).abs() < 1e-4, "{:?}", object.bounds);
        let bottom = object.bounds.pose.translation.z - object.bounds.size.z / 2.0;
        assert!(bottom.abs() < 1e-4, "{:?}", object.bounds);
    }
}
