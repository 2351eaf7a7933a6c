//! A base that follows a script, for tests: it is at once where it is sent, in a small room with furniture, and one of its calls fails.
//!
//! Permits are the verifier's own. The gate grants what its script does not refuse. Driving it with the arm out ends the test.

use super::base::{Base, Chassis, Facing, Lens, Search};
use super::fault::ErrandFault;
use super::given_up::GivenUp;
use crate::forbidden::Forbidden;
use crate::script::Script;
use crate::view::{DRIVE, HOME};
use nalgebra::{Isometry3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_navigation::grid::Layout;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_navigation::{Costmap, Footprint, Inflation, OccupancyGrid, Pose2};
use prehend_scene::{Object, ObjectKey, ObjectMap, Permit, Scope, SkillPlan};
use prehend_verify::Ledger;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// Version of the map of the room at first.
pub(crate) const VERSION: u64 = 7;
/// Distance of the arm's base before that of the base, metres.
const ARM: f64 = 0.25;
/// Size of the room, metres.
const ROOM: [f64; 2] = [4.4, 4.0];

/// Between the corner where the base begins and the rest of the room: x from and to, y from and to, metres.
const IN_THE_WAY: [[f64; 4]; 2] = [[1.3, 1.4, 0.0, 1.5], [0.0, 1.4, 1.4, 1.5]];

/// A floor with walls around it, nothing known outside; a table in its middle, two shelves at its walls, and what is `in_the_way`.
fn room(in_the_way: &[[f64; 4]]) -> Costmap {
    let margin = 0.5;
    let cells = |length: f64| ((length + 2.0 * margin) / 0.05).round() as usize;
    let layout =
        Layout { width: cells(ROOM[0]), height: cells(ROOM[1]), resolution: 0.05, origin: [-margin; 2] };
    let mut grid = OccupancyGrid::filled(layout, -1).expect("a grid");
    let mut fill = |[x0, x1, y0, y1]: [f64; 4], value| {
        grid.fill_polygon(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]], value);
    };
    fill([-0.1, ROOM[0] + 0.1, -0.1, ROOM[1] + 0.1], 100);
    fill([0.0, ROOM[0], 0.0, ROOM[1]], 0);
    for furniture in [[1.9, 2.5, 1.8, 2.2], [3.4, 4.4, 3.6, 4.0], [0.0, 0.4, 2.4, 3.4]] {
        fill(furniture, 100);
    }
    for thing in in_the_way {
        fill(*thing, 100);
    }
    Costmap::new(&grid, Inflation { inscribed_radius: 0.25, inflation_radius: 0.7, cost_scaling_factor: 4.0 })
}

/// A thing on the floor or on furniture.
pub(crate) fn thing(key: &str, class: &str, [x, y]: [f64; 2]) -> Object {
    let bounds = OrientedBox { pose: Isometry3::translation(x, y, 0.7), size: Vector3::repeat(0.06) };
    Object {
        class_name: class.to_owned(),
        ..Object::unnamed(key.into(), PointCloud::from_points(Vec::new()), bounds)
    }
}

/// What is asked of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    Prepare,
    Pose,
    Arm,
    Costmap,
    Object,
    Affordance,
    Look,
    Foresee,
    Gate,
    Confirm,
    Redeem,
    Drive,
    Settle,
    Pause,
    Keyframe,
}

impl Call {
    /// Whether the arm or the base moves by it.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Self::Look | Self::Drive)
    }
}

/// What always goes wrong at a place, so many times.
pub(crate) struct Trouble {
    pub(crate) call: Call,
    pub(crate) at: Pose2,
    pub(crate) times: usize,
    pub(crate) fault: ErrandFault,
}

/// A redeemed permit's plan: there is no second one of it.
pub(crate) struct Redeemed(SkillPlan);

/// The base of a test.
pub(crate) struct Scripted {
    chassis: Chassis,
    map: Arc<Costmap>,
    /// The map while somebody stands in the way, and how many pauses longer that is.
    blocked_map: Arc<Costmap>,
    pub(crate) blocked: Cell<u32>,
    script: Script<Call, ErrandFault>,
    ledger: RefCell<Ledger>,
    objects: RefCell<Vec<Object>>,
    pub(crate) search: RefCell<Search>,
    given_up: GivenUp,
    /// What an affordance of a thing is like, by the map that shows it.
    pub(crate) facing: RefCell<Vec<(ObjectKey, Scope, Facing)>>,
    pub(crate) local: RefCell<Option<ObjectMap>>,
    pub(crate) arm_moves: Cell<bool>,
    /// Whether a person is asked about a drive.
    pub(crate) asks: Cell<bool>,
    /// How far from where it was sent the base ends: metres and radians.
    pub(crate) drift: Cell<[f64; 2]>,
    pub(crate) troubles: RefCell<Vec<Trouble>>,
    /// Where it was before the last drive, and is.
    before: Cell<Pose2>,
    pose: Cell<Pose2>,
    look: RefCell<String>,
    drives: RefCell<Vec<Pose2>>,
    looks: RefCell<Vec<String>>,
    keyframes: RefCell<Vec<(String, bool)>>,
    told: RefCell<Vec<(String, String, Vec<Pose2>)>>,
}

impl Scripted {
    /// In a corner of the room, with these things in the map of it.
    pub(crate) fn among(objects: Vec<Object>) -> Self {
        let footprint = Footprint::polygon(&[[0.3, 0.25], [-0.3, 0.25], [-0.3, -0.25], [0.3, -0.25]])
            .expect("an outline");
        let start = Pose2::new(0.6, 0.6, 0.0);
        let looks = vec!["front".to_owned(), "tour".to_owned()];
        Self {
            chassis: Chassis { footprint, facing: 0.0, tolerance: [0.1, 0.1], looks },
            map: Arc::new(room(&[])),
            blocked_map: Arc::new(room(&IN_THE_WAY)),
            blocked: Cell::default(),
            script: Script::default(),
            ledger: RefCell::new(Ledger::new(1)),
            objects: RefCell::new(objects),
            search: RefCell::new(Search {
                by_affordance: true,
                params: ViewPoseParams::default(),
                patience: Duration::from_secs(10),
            }),
            given_up: GivenUp::default(),
            facing: RefCell::default(),
            local: RefCell::default(),
            arm_moves: Cell::new(false),
            asks: Cell::new(false),
            drift: Cell::default(),
            troubles: RefCell::default(),
            before: Cell::new(start),
            pose: Cell::new(start),
            look: RefCell::new(HOME.to_owned()),
            drives: RefCell::default(),
            looks: RefCell::default(),
            keyframes: RefCell::default(),
            told: RefCell::default(),
        }
    }

    /// One call from now on fails: the one that is made after `calls` others.
    pub(crate) fn fail_after(&self, calls: usize, fault: ErrandFault) {
        self.script.fail_after(calls, fault);
    }

    /// What was asked since the script was set.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.script.calls()
    }

    /// Where it was driven.
    pub(crate) fn drives(&self) -> Vec<Pose2> {
        self.drives.borrow().clone()
    }

    /// What the arm was brought to.
    pub(crate) fn looks(&self) -> Vec<String> {
        self.looks.borrow().clone()
    }

    /// Keyframes that came, and whether the map began anew with them.
    pub(crate) fn keyframes(&self) -> Vec<(String, bool)> {
        self.keyframes.borrow().clone()
    }

    /// Whether a phase was told with this status.
    pub(crate) fn told(&self, phase: &str, status: &str) -> bool {
        self.told.borrow().iter().any(|(told, with, _)| told == phase && with == status)
    }

    /// The poses that were told first of a phase.
    pub(crate) fn places(&self, phase: &str) -> Vec<Pose2> {
        let told = self.told.borrow();
        told.iter().find(|(told, ..)| told == phase).map(|(.., places)| places.clone()).unwrap_or_default()
    }

    /// The place that was chosen last.
    pub(crate) fn chosen(&self) -> Pose2 {
        let told = self.told.borrow();
        let (.., places) = told.iter().rfind(|(phase, ..)| phase == "pose").expect("a place was chosen");
        places[0]
    }

    fn call(&self, call: Call, at: &Pose2) -> Result<(), ErrandFault> {
        self.script.call(call)?;
        let mut troubles = self.troubles.borrow_mut();
        let here = |trouble: &&mut Trouble| {
            trouble.call == call && trouble.times > 0 && trouble.at.distance(at) < 0.05
        };
        match troubles.iter_mut().find(here) {
            Some(trouble) => {
                trouble.times -= 1;
                Err(trouble.fault.clone())
            }
            None => Ok(()),
        }
    }
}

/// The pose that a plan drives to.
fn goal(plan: &SkillPlan) -> Pose2 {
    let at = plan.pose_goals[0];
    Pose2::new(at.translation.x, at.translation.y, at.rotation.euler_angles().2)
}

impl Base for Scripted {
    type Permitted = (SkillPlan, Permit);
    type Redeemed = Redeemed;

    fn chassis(&self) -> &Chassis {
        &self.chassis
    }

    fn search(&self) -> Search {
        self.search.borrow().clone()
    }

    fn given_up(&self) -> &GivenUp {
        &self.given_up
    }

    fn prepare(&self) -> Result<(), ErrandFault> {
        self.call(Call::Prepare, &self.pose.get())
    }

    fn pose(&self) -> Result<Pose2, ErrandFault> {
        self.call(Call::Pose, &self.pose.get())?;
        Ok(self.pose.get())
    }

    fn arm(&self) -> Result<Isometry3<f64>, ErrandFault> {
        let Pose2 { x, y, yaw } = self.pose.get();
        self.call(Call::Arm, &self.pose.get())?;
        let map_from_base = Isometry3::new(Vector3::new(x, y, 0.0), Vector3::z() * yaw);
        Ok(map_from_base * Isometry3::translation(ARM, 0.0, 0.0))
    }

    fn lens(&self) -> Lens {
        Lens { place: Some([ARM, 0.0]), field_of_view: Some(1.2) }
    }

    fn costmap(&self) -> Result<Arc<Costmap>, ErrandFault> {
        self.call(Call::Costmap, &self.pose.get())?;
        Ok(Arc::clone(if self.blocked.get() > 0 { &self.blocked_map } else { &self.map }))
    }

    fn object(&self, key: &ObjectKey) -> Result<(Object, u64), ErrandFault> {
        self.call(Call::Object, &self.pose.get())?;
        let objects = self.objects.borrow();
        let found = objects.iter().find(|object| object.key == *key).cloned();
        found.map(|object| (object, VERSION)).ok_or_else(|| ErrandFault::UnknownObject(format!("no {key}")))
    }

    fn local_map(&self) -> Option<Arc<ObjectMap>> {
        self.local.borrow().clone().map(Arc::new)
    }

    fn affordance(&self, object: &ObjectKey, scope: Scope) -> Result<Option<Facing>, ErrandFault> {
        self.call(Call::Affordance, &self.pose.get())?;
        let facing = self.facing.borrow();
        let found = facing.iter().find(|(key, shown, _)| key == object && *shown == scope);
        Ok(found.map(|(.., facing)| facing.clone()))
    }

    fn look(&self, pose: &str) -> Result<(), ErrandFault> {
        // Wherever it is stopped, it is not folded.
        self.look.replace(String::new());
        self.call(Call::Look, &self.pose.get())?;
        self.look.replace(pose.to_owned());
        self.looks.borrow_mut().push(pose.to_owned());
        Ok(())
    }

    fn is_arm_at_rest(&self) -> bool {
        !self.arm_moves.get()
    }

    fn foresee(&self, plan: &SkillPlan) -> Result<(), ErrandFault> {
        self.call(Call::Foresee, &goal(plan))
    }

    fn gate(&self, plan: SkillPlan, waits: &dyn Fn(&str)) -> Result<(SkillPlan, Permit), ErrandFault> {
        if self.asks.get() {
            waits("a person is asked");
        }
        self.call(Call::Gate, &goal(&plan))?;
        let permit = self.ledger.borrow_mut().issue(plan.hash(), plan.map_version, 1.0, 10.0);
        Ok((plan, permit))
    }

    fn confirm(&self) -> Result<(), ErrandFault> {
        self.call(Call::Confirm, &self.pose.get())
    }

    fn redeem(&self, (plan, permit): (SkillPlan, Permit)) -> Result<Redeemed, ErrandFault> {
        self.call(Call::Redeem, &goal(&plan))?;
        let redeemed = self.ledger.borrow_mut().redeem(&permit.id, &plan.hash(), plan.map_version, 2.0);
        redeemed.map_err(|error| Forbidden::Refused(error.to_string()))?;
        Ok(Redeemed(plan))
    }

    fn drive(&self, Redeemed(plan): Redeemed) -> Result<(), ErrandFault> {
        assert_eq!(*self.look.borrow(), DRIVE, "it is driven with the arm out");
        let to = goal(&plan);
        self.call(Call::Drive, &to)?;
        self.drives.borrow_mut().push(to);
        let [away, turned] = self.drift.get();
        self.before.replace(self.pose.replace(Pose2::new(to.x + away, to.y, to.yaw + turned)));
        Ok(())
    }

    fn settle(&self, is_there: &dyn Fn(&Pose2) -> bool) -> Result<Pose2, ErrandFault> {
        self.call(Call::Settle, &self.pose.get())?;
        // The localisation is late: it first says where the base was.
        Ok(if is_there(&self.before.get()) { self.before.get() } else { self.pose.get() })
    }

    fn pause(&self, _: Duration) -> Result<(), ErrandFault> {
        self.call(Call::Pause, &self.pose.get())?;
        self.blocked.set(self.blocked.get().saturating_sub(1));
        Ok(())
    }

    fn keyframe(&self, view: &str, anew: bool) -> Result<u64, ErrandFault> {
        self.call(Call::Keyframe, &self.pose.get())?;
        let mut keyframes = self.keyframes.borrow_mut();
        keyframes.push((view.to_owned(), anew));
        Ok(VERSION + keyframes.len() as u64)
    }

    fn tell(&self, phase: &str, status: &str, _message: &str, places: &[Pose2]) {
        self.told.borrow_mut().push((phase.to_owned(), status.to_owned(), places.to_vec()));
    }
}
