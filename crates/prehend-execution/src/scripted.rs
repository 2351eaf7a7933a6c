//! A robot that follows a script, for tests: it plans by its kinematics, does at once what it is told, and one of its calls fails.
//!
//! Permits are the verifier's own, and so is the judge of outcomes. The gate grants what its script does not refuse.

use crate::body::Body;
use crate::fault::SkillFault;
use crate::forbidden::Forbidden;
use crate::robot::{
    Foreseen, Found, Grip, HandWay, Joints, Miss, Motion, Planned, Prospect, Robot, SpeedLimits, keeps_to,
};
use crate::script::Script;
use crate::world::World;
use nalgebra::{Isometry3, Point3, Vector6};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_motion::{IkOptions, RobotGroup, RobotModel};
use prehend_scene::{Object, ObjectKey, ObjectMap, Observation, Permit, SkillPlan};
use prehend_skills::GripperModel;
use prehend_skills::part::KnownJoint;
use prehend_verify::{Ledger, Outcome, check_outcome};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// How far from the middle of its top a key is met, metres.
const KEY: f64 = 0.03;
/// Joint states on each piece of a motion that is felt for.
const STEPS: u32 = 20;

/// The xArm6 of `urdf/`, with the poses and limits of its robot file.
pub(crate) fn xarm6() -> Body {
    let urdf = include_str!("../../../urdf/xarm6.urdf");
    let look = |name: &str, joints: [f64; 6]| (name.to_owned(), joints.to_vec());
    Body {
        model: RobotModel::from_urdf(urdf, RobotGroup::xarm6()).expect("its model"),
        home: vec![0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0],
        looks: vec![
            look("left", [0.6268, -0.3997, -1.3211, -0.1527, 1.5078, 0.6201]),
            look("near", [0.0, -0.9394, -1.0648, 0.0, 1.725, 0.0]),
            look("front", [0.0, -1.5688, 0.0671, 0.0, 0.3309, 0.0]),
        ],
        drive_pose: None,
        camera: "camera_color_optical_frame".to_owned(),
        max_opening: 0.085,
        workspace_low: [0.08, -0.55, -0.05],
        workspace_high: [0.78, 0.55, 0.80],
        chassis_edge: f64::NEG_INFINITY,
        velocity_scaling: 0.6,
        contact_velocity_scaling: 0.15,
    }
}

/// The surface of an upright box between two corners, points so far apart, metres.
pub(crate) fn surface(key: &str, class: &str, (low, high): ([f64; 3], [f64; 3]), apart: f64) -> Object {
    let steps = |axis: usize| ((high[axis] - low[axis]) / apart).ceil().max(1.0) as usize;
    let at = |axis: usize, i: usize| low[axis] + (high[axis] - low[axis]) * i as f64 / steps(axis) as f64;
    let mut points = Vec::new();
    for i in 0..=steps(0) {
        for j in 0..=steps(1) {
            for k in 0..=steps(2) {
                let on_face = [(i, 0), (j, 1), (k, 2)].iter().any(|(n, axis)| *n == 0 || *n == steps(*axis));
                if on_face {
                    points.push(Point3::new(at(0, i), at(1, j), at(2, k)));
                }
            }
        }
    }
    let bounds = OrientedBox::upright_around(&points).expect("points");
    Object {
        class_name: class.to_owned(),
        ..Object::unnamed(key.into(), PointCloud::from_points(points), bounds)
    }
}

/// What is asked of the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Call {
    Prepare,
    Joints,
    Map,
    UpdateMap,
    KnownJoint,
    Ik,
    Plan,
    Line,
    Scene,
    Foresee,
    Gate,
    Confirm,
    Redeem,
    Begin,
    Execute,
    PressOn,
    Grip,
    Check,
}

impl Call {
    /// Whether the robot moves by it.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Self::Execute | Self::PressOn | Self::Grip)
    }
}

/// Points of the arm's joints.
#[derive(Clone, Debug)]
pub(crate) struct Points(Vec<Vec<f64>>);

impl Planned for Points {
    fn positions(&self) -> &[Vec<f64>] {
        &self.0
    }
}

struct State {
    arm: Vec<f64>,
    opening: f64,
    clock: f64,
    map: ObjectMap,
    /// What is between the pads, with its place in the tool's frame.
    gripped: Option<(ObjectKey, Isometry3<f64>)>,
    /// The top of a key that gives way downwards, and its stiffness, newtons per metre.
    key: Option<(Point3<f64>, f64)>,
}

/// The robot of a test.
pub(crate) struct Scripted {
    body: Body,
    state: RefCell<State>,
    ledger: RefCell<Ledger>,
    script: Script<Call, SkillFault>,
    /// A thing, and the view from which it is not seen.
    hidden: RefCell<Option<(ObjectKey, &'static str)>>,
    /// Motion sequences under way.
    moving: Cell<usize>,
    /// Straight lines that end so near to where the first one would, metres, lead nowhere.
    blocked: Cell<Option<(f64, Option<Point3<f64>>)>>,
    /// How far an empty hand gets in a straight line, metres.
    stride: Cell<f64>,
    told: RefCell<Vec<(String, String)>>,
}

impl Scripted {
    /// At home, before a table with these things.
    pub(crate) fn before(objects: Vec<Object>) -> Self {
        let body = xarm6();
        let map = ObjectMap {
            frame: "link_base".to_owned(),
            version: 1,
            stamp: 1.0,
            objects: objects.into_iter().map(|object| Object { last_seen: 1.0, ..object }).collect(),
            support_plane: Some([0.0, 0.0, 1.0, 0.0]),
        };
        let (arm, opening) = (body.home.clone(), body.max_opening);
        Self {
            body,
            state: RefCell::new(State { arm, opening, clock: 1.0, map, gripped: None, key: None }),
            ledger: RefCell::new(Ledger::new(1)),
            script: Script::default(),
            hidden: RefCell::default(),
            moving: Cell::new(0),
            blocked: Cell::new(None),
            stride: Cell::new(f64::INFINITY),
            told: RefCell::default(),
        }
    }

    /// There is a key with its top here and of this stiffness, newtons per metre, and the arm feels it.
    pub(crate) fn with_key(self, top: Point3<f64>, stiffness: f64) -> Self {
        self.state.borrow_mut().key = Some((top, stiffness));
        self
    }

    /// From now on a thing is not seen from one view.
    pub(crate) fn hide(&self, key: &str, view: &'static str) {
        self.hidden.replace(Some((key.into(), view)));
    }

    /// From now on straight lines lead nowhere that end so near to where the first one would, metres.
    pub(crate) fn block(&self, around: f64) {
        self.blocked.set(Some((around, None)));
    }

    /// From now on an empty hand gets no farther in a straight line, metres.
    pub(crate) fn shorten(&self, stride: f64) {
        self.stride.set(stride);
    }

    /// One call from now on fails: the one that is made after `calls` others.
    pub(crate) fn fail_after(&self, calls: usize, fault: SkillFault) {
        self.script.fail_after(calls, fault);
    }

    /// What was asked since the script was set.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.script.calls()
    }

    /// Motion sequences under way.
    pub(crate) fn moving(&self) -> usize {
        self.moving.get()
    }

    /// The phases and statuses that were told.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        self.told.borrow().clone()
    }

    /// Version of the newest map.
    pub(crate) fn map_version(&self) -> u64 {
        self.state.borrow().map.version
    }

    /// Where the tips are.
    pub(crate) fn tips(&self) -> Point3<f64> {
        self.tool() * Point3::new(0.0, 0.0, GripperModel::default().tip_beyond_tool)
    }

    /// Where a thing is.
    pub(crate) fn place_of(&self, key: &str) -> Point3<f64> {
        let state = self.state.borrow();
        Point3::from(state.map.get(&key.into()).expect("it is there").bounds.pose.translation.vector)
    }

    fn call(&self, call: Call) -> Result<(), SkillFault> {
        self.script.call(call)
    }

    fn tool(&self) -> Isometry3<f64> {
        self.body.model.tip_pose(&self.state.borrow().arm).expect("joints")
    }

    /// What the joints report: with a key there, the torques that hold against it, `tau = -J^T F`.
    fn measured(&self) -> Joints {
        let state = self.state.borrow();
        let (arm, opening, stamp) = (state.arm.clone(), state.opening, state.clock);
        let torques = state.key.map_or_else(Vec::new, |(top, stiffness)| {
            let tool = self.body.model.tip_pose(&arm).expect("joints");
            let tips = tool * Point3::new(0.0, 0.0, GripperModel::default().tip_beyond_tool);
            let is_over = (tips - top).xy().norm() < KEY;
            let force = if is_over { stiffness * (top.z - tips.z).max(0.0) } else { 0.0 };
            let wrench = Vector6::new(0.0, 0.0, force, 0.0, 0.0, 0.0);
            let jacobian = self.body.model.jacobian(&arm).expect("joints");
            (jacobian.transpose() * wrench).iter().map(|torque| -torque).collect()
        });
        Joints { arm, opening, effort: 0.0, torques, stamp }
    }

    /// Goes along a motion until a joint state makes `stop` say so. Whether it did.
    fn go_until(&self, motion: &Points, stop: &mut dyn FnMut(&Joints) -> bool) -> bool {
        for ends in motion.0.windows(2) {
            for step in 1..=STEPS {
                let share = f64::from(step) / f64::from(STEPS);
                let at = ends[0].iter().zip(&ends[1]).map(|(a, b)| a + (b - a) * share).collect();
                self.go(&Points(vec![at]));
                if stop(&self.measured()) {
                    return true;
                }
            }
        }
        false
    }

    /// Goes where a motion ends, with what is between the pads.
    fn go(&self, motion: &Points) {
        self.state.borrow_mut().arm = motion.0.last().expect("points").clone();
        let tool = self.tool();
        let state = &mut *self.state.borrow_mut();
        state.clock += 1.0;
        if let Some((key, in_tool)) = &state.gripped {
            carry(&mut state.map, key, &(tool * in_tool));
        }
    }
}

/// Takes a thing to a place: the pose of its box.
fn carry(map: &mut ObjectMap, key: &ObjectKey, to: &Isometry3<f64>) {
    let object = map.objects.iter_mut().find(|object| object.key == *key).expect("it is there");
    let by = to * object.bounds.pose.inverse();
    object.cloud.points.iter_mut().for_each(|point| *point = by * *point);
    object.bounds = OrientedBox { pose: *to, ..object.bounds };
}

/// A motion sequence of the test's robot.
pub(crate) struct Sequence<'a> {
    robot: &'a Scripted,
    plan: SkillPlan,
}

impl Drop for Sequence<'_> {
    fn drop(&mut self) {
        self.robot.moving.set(self.robot.moving.get() - 1);
    }
}

impl Robot for Scripted {
    type Planned = Points;
    type Permitted = (SkillPlan, Permit);
    type Redeemed = SkillPlan;
    type Motion<'a> = Sequence<'a>;

    fn body(&self) -> &Body {
        &self.body
    }

    fn prepare(&self, _moves: bool) -> Result<(), SkillFault> {
        self.call(Call::Prepare)
    }

    fn joints(&self) -> Result<Joints, SkillFault> {
        self.call(Call::Joints)?;
        Ok(self.measured())
    }

    fn newest_map(&self) -> Option<Arc<ObjectMap>> {
        Some(Arc::new(self.state.borrow().map.clone()))
    }

    fn map(&self, _version: u64) -> Result<Arc<ObjectMap>, SkillFault> {
        self.call(Call::Map)?;
        Ok(Arc::new(self.state.borrow().map.clone()))
    }

    fn update_map(
        &self,
        view: &str,
        _reset: bool,
        _gripped: Option<&ObjectKey>,
    ) -> Result<Arc<ObjectMap>, SkillFault> {
        self.call(Call::UpdateMap)?;
        let state = &mut *self.state.borrow_mut();
        (state.map.version, state.map.stamp) = (state.map.version + 1, state.clock);
        let hidden = self.hidden.borrow();
        let is_seen =
            |key: &ObjectKey| hidden.as_ref().is_none_or(|(other, from)| other != key || *from != view);
        for object in state.map.objects.iter_mut().filter(|object| is_seen(&object.key)) {
            object.last_seen = state.clock;
        }
        Ok(Arc::new(state.map.clone()))
    }

    fn known_joint(&self, _part: &ObjectKey, _version: u64) -> Result<Option<KnownJoint>, SkillFault> {
        self.call(Call::KnownJoint).map(|()| None)
    }

    fn ik(&self, base_from_tool: &Isometry3<f64>, seed: &[f64], _opening: f64) -> Found<Vec<f64>> {
        self.call(Call::Ik)?;
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let found = self.body.model.inverse(base_from_tool, seed, &IkOptions::default(), &mut rng);
        Ok(found.map_err(|error| Miss(error.to_string())).map(|mut all| all.swap_remove(0)))
    }

    fn plan(&self, start: &[f64], end: &[f64], _opening: f64, _speed: f64) -> Found<Points> {
        self.call(Call::Plan)?;
        Ok(Ok(Points(vec![start.to_vec(), end.to_vec()])))
    }

    fn line(
        &self,
        start: &[f64],
        poses: &[Isometry3<f64>],
        _opening: f64,
        _speed: SpeedLimits,
    ) -> Found<Points> {
        self.call(Call::Line)?;
        if let (Some((around, first)), Some(last)) = (self.blocked.get(), poses.last()) {
            let end = Point3::from(last.translation.vector);
            let first = first.unwrap_or(end);
            self.blocked.set(Some((around, Some(first))));
            if (end - first).norm() < around {
                return Ok(Err(Miss("something is there".to_owned())));
            }
        }
        let here = self.tool().translation.vector;
        let is_far = |pose: &Isometry3<f64>| (pose.translation.vector - here).norm() > self.stride.get();
        if self.state.borrow().gripped.is_none() && poses.iter().any(is_far) {
            return Ok(Err(Miss("the line leaves the reach of the arm".to_owned())));
        }
        let mut points = vec![start.to_vec()];
        for pose in poses {
            let last = points.last().expect("a start");
            match self.body.model.inverse_near(pose, last, &IkOptions::default()) {
                Ok(joints) => points.push(joints),
                Err(error) => return Ok(Err(Miss(error.to_string()))),
            }
        }
        Ok(Ok(Points(points)))
    }

    fn apply_scene(&self, _world: &World) -> Result<(), SkillFault> {
        self.call(Call::Scene)
    }

    fn foresee(&self, _found: &Prospect<'_, Points>, _assessment: &str) -> Result<Foreseen, SkillFault> {
        self.call(Call::Foresee)?;
        Ok(Foreseen { granted: true, ..Foreseen::default() })
    }

    fn gate(
        &self,
        plan: SkillPlan,
        _assessment: &str,
        _waits: &dyn Fn(&str),
    ) -> Result<Self::Permitted, SkillFault> {
        self.call(Call::Gate)?;
        let clock = self.state.borrow().clock;
        let permit = self.ledger.borrow_mut().issue(plan.hash(), plan.map_version, clock, clock + 10.0);
        Ok((plan, permit))
    }

    fn confirm(&self) -> Result<(), SkillFault> {
        self.call(Call::Confirm)
    }

    fn redeem(&self, (plan, permit): Self::Permitted) -> Result<SkillPlan, SkillFault> {
        self.call(Call::Redeem)?;
        let clock = self.state.borrow().clock;
        let redeemed = self.ledger.borrow_mut().redeem(&permit.id, &plan.hash(), plan.map_version, clock);
        redeemed.map_err(|error| Forbidden::Refused(error.to_string()))?;
        Ok(plan)
    }

    fn begin(&self, redeemed: SkillPlan) -> Result<Sequence<'_>, SkillFault> {
        self.call(Call::Begin)?;
        self.moving.set(self.moving.get() + 1);
        Ok(Sequence { robot: self, plan: redeemed })
    }

    fn check_outcome(
        &self,
        plan: &SkillPlan,
        before: &Observation,
        after: &Observation,
        _assessment: &str,
    ) -> Result<Result<String, String>, SkillFault> {
        self.call(Call::Check)?;
        Ok(match check_outcome(plan, before, after) {
            Outcome::Succeeded { because } => Ok(because),
            Outcome::Failed { because } | Outcome::NotObserved { because } => Err(because),
        })
    }

    fn tell(&self, phase: &str, status: &str, _message: &str, _more: Value) {
        self.told.borrow_mut().push((phase.to_owned(), status.to_owned()));
    }

    fn tell_way(&self, _way: &HandWay<'_>) {}

    fn tell_in_hand(&self, _held: Option<&Object>) {}
}

impl Motion for Sequence<'_> {
    type Planned = Points;

    fn execute(&self, _phase: &'static str, trajectory: Points) -> Result<(), SkillFault> {
        self.robot.call(Call::Execute)?;
        self.robot.go(&trajectory);
        Ok(())
    }

    fn execute_until(
        &self,
        _phase: &'static str,
        trajectory: Points,
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault> {
        self.robot.call(Call::Execute)?;
        Ok(self.robot.go_until(&trajectory, stop))
    }

    fn press_on(
        &self,
        phase: &'static str,
        trajectory: Points,
        contact: (&Point3<f64>, &[Point3<f64>]),
        stop: &mut dyn FnMut(&Joints) -> bool,
    ) -> Result<bool, SkillFault> {
        if !keeps_to(&self.plan, contact) {
            return Err(SkillFault::Corridor { phase });
        }
        self.robot.call(Call::PressOn)?;
        Ok(self.robot.go_until(&trajectory, stop))
    }

    fn grip(&self, _phase: &'static str, grip: Grip) -> Result<f64, SkillFault> {
        self.robot.call(Call::Grip)?;
        let tool = self.robot.tool();
        let state = &mut *self.robot.state.borrow_mut();
        state.opening = grip.opening;
        let at = Point3::from(tool.translation.vector);
        let between = state.map.objects.iter().find(|object| object.bounds.contains(&at, 0.01));
        match (between, state.gripped.take()) {
            (Some(object), _) if grip.opening < 0.01 => {
                let across = object.bounds.size.x.min(object.bounds.size.y);
                state.gripped = Some((object.key.clone(), tool.inverse() * object.bounds.pose));
                state.opening = across;
            }
            // It falls straight down onto the table.
            (_, Some((key, in_tool))) => {
                let mut to = tool * in_tool;
                let lowest = state.map.get(&key).into_iter().flat_map(|object| &object.cloud.points);
                to.translation.z -= lowest.map(|point| point.z).fold(f64::INFINITY, f64::min);
                carry(&mut state.map, &key, &to);
            }
            _ => {}
        }
        Ok(state.opening)
    }
}
