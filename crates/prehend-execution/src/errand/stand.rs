//! Where to stand to act on an object, and whether the base stands there already.

use super::Course;
use super::base::Base;
use super::fault::ErrandFault;
use nalgebra::Point3;
use prehend_navigation::pose::turn;
use prehend_navigation::viewpose::{ViewPose, ViewPoseError, ViewPoseParams, search};
use prehend_navigation::{Costmap, Pose2};
use prehend_scene::{ObjectKey, spatial};
use std::time::Duration;

/// Within these an object is at hand, frame of the arm: x and y from and to, metres.
const AT_HAND: [[f64; 2]; 2] = [[0.36, 0.66], [-0.22, 0.22]];
/// Greatest angle between where a part faces and where the base stands at which it need not be driven, radians.
const FACING: f64 = 0.7;
/// When a way that is not free is looked for again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// An object of the room, as far as driving to it goes.
pub(super) struct Remote {
    pub(super) key: ObjectKey,
    /// What it is called.
    pub(super) class: String,
    pub(super) centre: Point3<f64>,
    pub(super) map_version: u64,
}

impl<B: Base> Course<'_, B> {
    /// The object in the map of the room.
    pub(super) fn remote(&self, key: &ObjectKey) -> Result<Remote, ErrandFault> {
        let (object, map_version) = self.base.object(key)?;
        let centre = spatial::centre(&object);
        Ok(Remote { key: object.key, class: object.class_name, centre, map_version })
    }

    /// Whether the object is at hand from where the base stands, on the side it should be acted on from.
    pub(super) fn stands_well(
        &self,
        object: &Remote,
        preferred: Option<[f64; 2]>,
    ) -> Result<bool, ErrandFault> {
        let map_from_arm = self.base.arm()?;
        let at_hand = is_at_hand(&(map_from_arm.inverse() * object.centre));
        let faces = preferred.is_none_or(|[x, y]| {
            let out = map_from_arm.translation.vector - object.centre.coords;
            turn(out.y.atan2(out.x), y.atan2(x)).abs() <= FACING
        });
        Ok(at_hand && faces)
    }

    /// The best place to stand, and it is told why. Where the navigation has just given up, the way was free when it began and is not now:
    /// who stands in it is waited for, `patience` seconds at most.
    pub(super) fn view_pose(
        &self,
        object: &Remote,
        preferred: Option<[f64; 2]>,
        params: &ViewPoseParams,
        patience: Duration,
    ) -> Result<Pose2, ErrandFault> {
        let given_up = self.base.given_up().places().clone();
        let mut waited = Duration::ZERO;
        let found = loop {
            let (base, map) = (self.base.pose()?, self.base.costmap()?);
            let find = |avoided: &[[f64; 2]]| {
                let params =
                    ViewPoseParams { from: Some(base.xy()), avoided: avoided.to_vec(), ..params.clone() };
                self.search(object, preferred, &map, &params)
            };
            let found = match find(&given_up) {
                // Nothing else is left: what was in the way may have gone.
                Err(ErrandFault::NoPose { .. }) if !given_up.is_empty() => find(&[]),
                found => found,
            };
            match found {
                Err(ErrandFault::NoPose { cause, .. }) if !given_up.is_empty() && waited < patience => {
                    if waited.is_zero() {
                        let most = patience.as_secs_f64();
                        self.tell(
                            "way",
                            "waiting",
                            &format!("{cause}; waiting for one, {most:.0} s at most"),
                        );
                    }
                    self.base.pause(LOOK_AGAIN)?;
                    waited += LOOK_AGAIN;
                }
                found => {
                    if found.is_err() && !waited.is_zero() {
                        // Whoever asks again is told at once.
                        self.base.given_up().places().clear();
                    }
                    break found?;
                }
            }
        };
        let Pose2 { x, y, yaw } = found.pose;
        self.base.tell(
            "pose",
            "done",
            &format!(
                "stand at ({x:.2}, {y:.2}) m, {:.0} degrees, {:.2} m from {} (footprint cost {:.2}, {:.2} m off the preferred place)",
                yaw.to_degrees(),
                found.radius,
                object.key,
                found.footprint_cost,
                found.off_preferred
            ),
            &[found.pose],
        );
        Ok(found.pose)
    }

    /// The best place to stand by a costmap.
    fn search(
        &self,
        object: &Remote,
        preferred: Option<[f64; 2]>,
        map: &Costmap,
        params: &ViewPoseParams,
    ) -> Result<ViewPose, ErrandFault> {
        let target = [object.centre.x, object.centre.y];
        search(map, &self.base.chassis().footprint, target, preferred, params).map_err(|error| match error {
            ViewPoseError::OutsideMap { x, y } => ErrandFault::OutsideMap { x, y },
            other => ErrandFault::NoPose { object: object.key.0.clone(), cause: other.to_string() },
        })
    }
}

/// Whether something is in reach without driving, frame of the arm.
pub(super) fn is_at_hand(here: &Point3<f64>) -> bool {
    let [x, y] = AT_HAND;
    (x[0]..=x[1]).contains(&here.x) && (y[0]..=y[1]).contains(&here.y)
}
