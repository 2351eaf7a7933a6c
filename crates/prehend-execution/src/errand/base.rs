//! What an errand needs of the base and of the nodes around it: where it is, where it may stand, what is known of the room, a drive.
//!
//! For: whoever has a base (the node `go_to`, a test). Not for: what an errand does with it, see [`super::execute`].
//! Calls block. What ends the errand from outside (a stop, a cancel, a lost peer) ends the call that is under way with its fault.
//! Poses are in the frame of the map unless they say otherwise; metres, radians.

use super::fault::ErrandFault;
use super::given_up::GivenUp;
use nalgebra::{Isometry3, Vector3};
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_navigation::{Costmap, Footprint, Pose2};
use prehend_scene::{Object, ObjectKey, ObjectMap, Scope, SkillPlan};
use std::sync::Arc;
use std::time::Duration;

/// The sizes of a base, and the poses its arm knows by name.
#[derive(Clone, Debug)]
pub struct Chassis {
    /// Its outline, in its own frame.
    pub footprint: Footprint,
    /// Direction in its frame into which the arm works and the camera looks.
    pub facing: f64,
    /// How far from its goal the navigation may stop: metres and radians.
    pub tolerance: [f64; 2],
    /// Names of the arm's survey poses.
    pub looks: Vec<String>,
}

/// How a place to stand is searched.
#[derive(Clone, Debug)]
pub struct Search {
    /// Whether the affordance decides from which side to come; without it, an ablation of the paper.
    pub by_affordance: bool,
    /// What the search is told besides the map and where the base is.
    pub params: ViewPoseParams,
    /// How long a way that was free and is blocked now is waited for.
    pub patience: Duration,
}

/// The camera, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lens {
    /// Where it is in the frame of the base.
    pub place: Option<[f64; 2]>,
    /// Its horizontal field of view.
    pub field_of_view: Option<f64>,
}

/// The best affordance of an object, in the frame of the map it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct Facing {
    /// What the part is called.
    pub part: String,
    /// Where it faces.
    pub normal: Vector3<f64>,
    /// Its middle.
    pub centroid: Vector3<f64>,
}

/// The base, and who helps it. One errand at a time.
pub trait Base {
    /// A drive the verifier has permitted. It moves nothing yet.
    type Permitted;
    /// Proof that a permit was redeemed: used up by value, by [`Base::drive`].
    type Redeemed;

    /// What it is.
    fn chassis(&self) -> &Chassis;

    /// How a place to stand is searched for this errand.
    fn search(&self) -> Search;

    /// Where the navigation gave up on the way to.
    fn given_up(&self) -> &GivenUp;

    /// Waits until an errand may begin: everybody is there who must be, and the base is nobody else's.
    fn prepare(&self) -> Result<(), ErrandFault>;

    /// Where it is.
    ///
    /// Errors: [`ErrandFault::NotLocalized`].
    fn pose(&self) -> Result<Pose2, ErrandFault>;

    /// Where the arm's base is, `map_from_arm`.
    ///
    /// Errors: [`ErrandFault::NotLocalized`].
    fn arm(&self) -> Result<Isometry3<f64>, ErrandFault>;

    /// The camera, seen from the base as the arm holds it now.
    fn lens(&self) -> Lens;

    /// The newest costmap.
    ///
    /// Errors: [`ErrandFault::NoMap`].
    fn costmap(&self) -> Result<Arc<Costmap>, ErrandFault>;

    /// An object of the map of the room, and the version of that map.
    ///
    /// Errors: [`ErrandFault::UnknownObject`].
    fn object(&self, key: &ObjectKey) -> Result<(Object, u64), ErrandFault>;

    /// What is seen from where the base stands, in the frame of the arm; `None` when nothing was heard of it.
    fn local_map(&self) -> Option<Arc<ObjectMap>>;

    /// The best affordance of an object of a map for what is to be done there; `None` when none is found, or nothing is to be done.
    fn affordance(&self, object: &ObjectKey, scope: Scope) -> Result<Option<Facing>, ErrandFault>;

    /// Brings the arm to a named pose, by a permit of its own.
    ///
    /// Errors: [`ErrandFault::Arm`] when it is not there, [`ErrandFault::Timeout`].
    fn look(&self, pose: &str) -> Result<(), ErrandFault>;

    /// Whether the arm does not move, or comes to rest in a moment.
    fn is_arm_at_rest(&self) -> bool;

    /// What the verifier would say of a drive; kept for whoever asked. Nothing moves.
    fn foresee(&self, plan: &SkillPlan) -> Result<(), ErrandFault>;

    /// Asks the verifier for a permit. When a person has to be asked, `waits` is told why and the answer is waited for.
    fn gate(&self, plan: SkillPlan, waits: &dyn Fn(&str)) -> Result<Self::Permitted, ErrandFault>;

    /// Waits for frames of now: a person may have taken a minute over the permit.
    fn confirm(&self) -> Result<(), ErrandFault>;

    /// Redeems a permit.
    fn redeem(&self, permitted: Self::Permitted) -> Result<Self::Redeemed, ErrandFault>;

    /// Drives to the pose the permit is for; the permit is used up. However it ends the base stands then, or nobody answers for it.
    fn drive(&self, redeemed: Self::Redeemed) -> Result<(), ErrandFault>;

    /// Where the base is once `is_there` says so of it, or after a moment: the localisation may come later than the base.
    ///
    /// Errors: [`ErrandFault::NotLocalized`].
    fn settle(&self, is_there: &dyn Fn(&Pose2) -> bool) -> Result<Pose2, ErrandFault>;

    /// Waits; a stop, a cancel or a lost peer ends it with its fault.
    fn pause(&self, pause: Duration) -> Result<(), ErrandFault>;

    /// Takes a keyframe into the map of the room, which begins `anew` with it or keeps what it has. The version of the map with it.
    ///
    /// Errors: [`ErrandFault::NothingSeen`] when no frame came.
    fn keyframe(&self, view: &str, anew: bool) -> Result<u64, ErrandFault>;

    /// Tells whoever asked, and the trace, what is going on, with the poses of the base that it is about.
    fn tell(&self, phase: &str, status: &str, message: &str, places: &[Pose2]);
}
