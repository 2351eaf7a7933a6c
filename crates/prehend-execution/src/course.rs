//! One skill being executed: what every skill shares.

use crate::assumed::{Assumed, Before};
use crate::fault::SkillFault;
use crate::hand::{Hand, Held, is_in_hand};
use crate::robot::{Grip, Joints, Motion as _, Robot};
use crate::world::{World, support};
use nalgebra::{Isometry3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::{
    Affordance, Area, Felt, ObjectKey, ObjectMap, PartEffect, Relation, Skill, SkillPlan, SymbolicState,
};
use prehend_skills::contract::{Contract, Request};
use prehend_skills::grasp::Reach;
use prehend_skills::plan::Standoff;
use prehend_skills::{GripperModel, solids};
use serde_json::{Value, json};
use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::sync::Arc;

/// Id of what a part was moved to since the map was taken.
const DISPLACED: &str = "displaced_part";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// The skill.
    pub skill: Skill,
    /// What it is done with; of a look, what is looked at.
    pub object: ObjectKey,
    /// What a place is related to.
    pub targets: Vec<ObjectKey>,
    /// Where to, relative to the targets.
    pub relation: Option<Relation>,
    /// Where on the table.
    pub area: Option<Area>,
    /// The part; of a look, the name of the pose. Empty when none is meant.
    pub part: String,
    /// What the part is to do.
    pub effect: Option<PartEffect>,
    /// The map that the order was made by.
    pub map_version: u64,
    /// Parts that were found.
    pub affordances: Vec<Affordance>,
    /// Where the part goes, map frame; `None` when it is not said.
    pub direction: Option<Vector3<f64>>,
    /// How far, metres; `None` when it is not said.
    pub extent: Option<f64>,
    /// Id of the evidence that it is carried out on; empty when there is none.
    pub assessment: String,
    /// Whether it is only planned.
    pub plan_only: bool,
    /// What is taken to have been done before, where it is only planned.
    pub before: Option<Before>,
}

/// What lasts from one skill to the next.
#[derive(Debug, Default)]
pub struct Memory {
    hand: Hand,
    last_look: Option<String>,
}

impl Memory {
    /// Notes that arm, hand and map may be anywhere: the next skill looks and feels first.
    pub fn doubt(&mut self) {
        self.hand.settle(false);
    }
}

/// How a skill ended.
#[derive(Debug)]
pub struct Ended {
    /// What was confirmed, or why it was not done.
    pub outcome: Result<String, SkillFault>,
    /// What is in the gripper; it is the measured opening that says so.
    pub held: Option<ObjectKey>,
    /// Whether objects may be elsewhere than the newest map says.
    pub map_is_stale: bool,
    /// Version of the newest map that was taken for this skill; 0 when none was.
    pub map_version: u64,
}

/// Executes one skill. Nothing moves before the verifier has permitted the plan and the permit is redeemed.
pub fn execute<R: Robot>(robot: &R, memory: &mut Memory, order: &Order) -> Ended {
    let course = Course {
        robot,
        order,
        memory: RefCell::new(memory),
        stale: Cell::new(false),
        taken: Cell::new(0),
        moved: Cell::new(false),
        felt: Cell::new(None),
        way: RefCell::new(Vec::new()),
        displaced: RefCell::new(Vec::new()),
        assumed: OnceCell::new(),
    };
    course.run()
}

/// Ends what is no order: it is told as a skill that ended with this fault, and nothing else changes.
pub fn refuse<R: Robot>(robot: &R, memory: &mut Memory, fault: SkillFault) -> Ended {
    ended(robot, &mut memory.hand, Err(fault), (false, 0))
}

/// What is told and remembered at the end of a skill.
fn ended<R: Robot>(
    robot: &R,
    hand: &mut Hand,
    outcome: Result<String, SkillFault>,
    (map_is_stale, map_version): (bool, u64),
) -> Ended {
    // Where nobody knows how far the pads are apart, nobody knows what is between them.
    let opening = robot.joints().ok().map(|joints| joints.opening);
    let held = opening.and_then(|opening| hand.held(opening).cloned());
    let known = held.as_ref().filter(|held| !held.unknown);
    robot.tell_in_hand(known.map(|held| &held.object));
    let (status, message) = match &outcome {
        Ok(message) => ("done", message.clone()),
        Err(fault) => (fault.reason().code(), fault.to_string()),
    };
    robot.tell("done", status, &message, json!({}));
    Ended { outcome, held: held.map(|held| held.object.key), map_is_stale, map_version }
}

/// One skill being executed.
pub(crate) struct Course<'a, R: Robot> {
    pub(crate) robot: &'a R,
    pub(crate) order: &'a Order,
    memory: RefCell<&'a mut Memory>,
    stale: Cell<bool>,
    taken: Cell<u64>,
    /// Whether a motion was begun.
    moved: Cell<bool>,
    /// What the hand felt of the part it touched last.
    pub(crate) felt: Cell<Option<Felt>>,
    /// Where the tool was while it moved a part, from where it took it.
    pub(crate) way: RefCell<Vec<Isometry3<f64>>>,
    /// What a pull or a push left elsewhere than the map says: boxes in the map frame.
    pub(crate) displaced: RefCell<Vec<OrientedBox>>,
    /// What is taken to have been done before, where the skill is only planned.
    pub(crate) assumed: OnceCell<Assumed>,
}

impl<'a, R: Robot> Course<'a, R> {
    /// The gripper's memory.
    pub(crate) fn hand(&self) -> RefMut<'_, Hand> {
        RefMut::map(self.memory.borrow_mut(), |memory| &mut memory.hand)
    }

    /// The survey pose that was taken last.
    pub(crate) fn last_look(&self) -> RefMut<'_, Option<String>> {
        RefMut::map(self.memory.borrow_mut(), |memory| &mut memory.last_look)
    }

    fn run(&self) -> Ended {
        let outcome = self.execute();
        if let Err(fault) = &outcome
            && self.moved.get()
            && fault.cuts_short()
        {
            self.hand().settle(false);
        }
        ended(self.robot, &mut self.hand(), outcome, (self.stale.get(), self.taken.get()))
    }

    fn execute(&self) -> Result<String, SkillFault> {
        let order = self.order;
        if order.area.is_some() && order.relation != Some(Relation::Table) {
            return Err(SkillFault::BadRequest("an area goes with the relation `table` alone".to_owned()));
        }
        self.robot.prepare(!order.plan_only)?;
        if order.plan_only {
            return self.plan_alone();
        }
        self.recover()?;
        match order.skill {
            Skill::GoTo => {
                Err(SkillFault::BadRequest("the arm does not drive: ask the node go_to".to_owned()))
            }
            Skill::Look => self.look(order),
            Skill::Home => self.home().map(|()| "at home".to_owned()),
            Skill::Grasp | Skill::GraspPart => self.grasp(order),
            Skill::Place | Skill::Drop => self.place(order),
            Skill::TipPush | Skill::PinchPull | Skill::HookPull => self.act_on_part(order),
        }
    }

    /// Plans a skill from where the arm is, and makes no motion.
    fn plan_alone(&self) -> Result<String, SkillFault> {
        let order = self.order;
        let map = self.robot.map(order.map_version)?;
        if let Some(assumed) = self.assume(order, &map)? {
            // It is set here alone, once a course.
            let _ = self.assumed.set(assumed);
        }
        match order.skill {
            Skill::Grasp | Skill::GraspPart => self.grasp(order),
            Skill::Place | Skill::Drop => self.place(order),
            Skill::TipPush | Skill::PinchPull | Skill::HookPull => self.act_on_part(order),
            Skill::Look | Skill::Home | Skill::GoTo => Err(SkillFault::BadRequest(format!(
                "{} touches nothing: there is nothing to plan alone",
                order.skill.name()
            ))),
        }
    }

    /// Tells whoever asked, and the trace, what is going on.
    pub(crate) fn tell(&self, phase: &str, status: &str, message: &str) {
        self.tell_with(phase, status, message, json!({}));
    }

    /// As [`Course::tell`], with more data for the trace: the fields of a JSON object.
    pub(crate) fn tell_with(&self, phase: &str, status: &str, message: &str, more: Value) {
        self.robot.tell(phase, status, message, more);
    }

    /// Checks the skill's contract against the map and the hand.
    pub(crate) fn check_contract(&self, order: &Order, map: &ObjectMap) -> Result<(), SkillFault> {
        let state = SymbolicState {
            held_object: self.held()?.map(|held| held.object.key),
            map_version: map.version,
            ..SymbolicState::default()
        };
        let request = Request {
            skill: order.skill,
            object: order.object.clone(),
            targets: order.targets.clone(),
            relation: order.relation,
            effect: order.effect,
            map_version: order.map_version,
        };
        Ok(Contract::of(order.skill).check(&request, &state, map)?)
    }

    /// Where the tool is now, `map_from_tool`.
    pub(crate) fn tool_pose(&self) -> Result<Isometry3<f64>, SkillFault> {
        self.tool_at(&self.joints()?.arm)
    }

    /// Where the arm is, or is taken to be, and how far the pads are apart.
    pub(crate) fn joints(&self) -> Result<Joints, SkillFault> {
        let measured = self.robot.joints()?;
        Ok(match self.assumed.get() {
            Some(Assumed { arm, opening, .. }) => Joints { arm: arm.clone(), opening: *opening, ..measured },
            None => measured,
        })
    }

    /// Where the tool is at these joints.
    pub(crate) fn tool_at(&self, joints: &[f64]) -> Result<Isometry3<f64>, SkillFault> {
        let pose = self.robot.body().model.tip_pose(joints);
        pose.map_err(|error| SkillFault::Sensor { what: "joint states", detail: error.to_string() })
    }

    /// What is held now.
    pub(crate) fn held(&self) -> Result<Option<Held>, SkillFault> {
        if let Some(assumed) = self.assumed.get() {
            return Ok(Some(assumed.held.clone()));
        }
        let opening = self.robot.joints()?.opening;
        Ok(self.hand().held(opening).cloned())
    }

    /// The world of the map, without what is in the hand, which is attached instead.
    pub(crate) fn world(&self, map: &ObjectMap) -> Result<World, SkillFault> {
        let held = self.held()?;
        let tool = self.tool_pose()?;
        let mut world = World::on_table(self.table_height(map), self.robot.body());
        for object in &map.objects {
            if held.as_ref().is_some_and(|held| is_in_hand(object, held, &tool)) {
                continue;
            }
            let boxes = solids::collision_boxes(&object.cloud.points, support(map, &object.cloud.points));
            if !boxes.is_empty() {
                world.objects.insert(object.key.0.clone(), boxes);
            }
        }
        let displaced = self.displaced.borrow();
        if !displaced.is_empty() {
            world.objects.insert(DISPLACED.to_owned(), displaced.clone());
        }
        Ok(match held {
            Some(held) => world.holding(&held.boxes),
            None => world,
        })
    }

    /// Height of the table in front of the robot.
    pub(crate) fn table_height(&self, map: &ObjectMap) -> f64 {
        map.support_height(0.45, 0.0)
    }

    /// Whether the verifier's workspace holds a pose; asking the arm for others is in vain.
    pub(crate) fn in_workspace(&self, pose: &Isometry3<f64>) -> bool {
        let body = self.robot.body();
        let p = pose.translation.vector;
        (0..3).all(|i| p[i] >= body.workspace_low[i] && p[i] <= body.workspace_high[i])
    }

    /// Id of the evidence that a skill is carried out on; empty when it needs none.
    pub(crate) fn assessment_of(&self, skill: Skill) -> &str {
        if skill.needs_evidence() { &self.order.assessment } else { "" }
    }

    /// Asks the gate, redeems the permit and begins to move.
    pub(crate) fn commit(&self, plan: SkillPlan) -> Result<R::Motion<'a>, SkillFault> {
        if self.order.plan_only {
            return Err(SkillFault::BadRequest("this was to be planned alone".to_owned()));
        }
        let moves_objects = Contract::of(plan.skill).moves_objects;
        let assessment = self.assessment_of(plan.skill);
        let permitted = self.robot.gate(plan, assessment, &|why| self.tell("approval", "waiting", why))?;
        self.robot.confirm()?;
        let redeemed = self.robot.redeem(permitted)?;
        let motion = self.robot.begin(redeemed)?;
        self.moved.set(true);
        if moves_objects {
            self.stale.set(true);
        }
        Ok(motion)
    }

    /// Moves the gripper, and remembers what was asked of it. The opening measured afterwards, metres.
    pub(crate) fn grip(
        &self,
        motion: &R::Motion<'_>,
        phase: &'static str,
        opening: f64,
    ) -> Result<f64, SkillFault> {
        let before = self.hand().command(self.robot.joints()?.opening);
        self.hand().commanded(opening);
        motion.grip(phase, Grip { opening, before })
    }

    /// Notes that objects may be elsewhere than the newest map says.
    pub(crate) fn map_is_stale(&self) {
        self.stale.set(true);
    }

    /// A new frame in the map, of what is seen from `view`; the newest map was taken after the last motion then.
    pub(crate) fn update_map(&self, view: &str, reset: bool) -> Result<Arc<ObjectMap>, SkillFault> {
        let map = match self.update_map_once(view, reset) {
            Err(SkillFault::Sensor { detail, .. }) => {
                self.tell("map", "again", &format!("no new map, asking again: {detail}"));
                self.update_map_once(view, reset)
            }
            other => other,
        }?;
        self.taken.set(map.version);
        self.displaced.borrow_mut().clear();
        self.stale.set(false);
        Ok(map)
    }

    fn update_map_once(&self, view: &str, reset: bool) -> Result<Arc<ObjectMap>, SkillFault> {
        let opening = self.robot.joints()?.opening;
        let gripped = self.hand().known(opening);
        self.robot.update_map(view, reset, gripped.as_ref())
    }

    /// Sizes of the gripper.
    pub(crate) fn gripper(&self) -> GripperModel {
        let max_opening = self.robot.body().max_opening;
        let model = GripperModel::default();
        GripperModel { max_opening, usable_width: model.usable_width.min(max_opening - 0.007), ..model }
    }

    /// Reach of the arm within the workspace.
    pub(crate) fn reach(&self) -> Reach {
        let reach = Reach::default();
        Reach { max: reach.max.min(self.robot.body().workspace_high[0]), ..reach }
    }

    /// Distances along a grasp or place.
    pub(crate) fn standoff(&self) -> Standoff {
        Standoff::default()
    }
}

/// A candidate that the arm gets to.
pub(crate) struct Reached<C, T> {
    pub(crate) candidate: C,
    /// The joints before it.
    pub(crate) joints: Vec<f64>,
    /// The straight line from there to it.
    pub(crate) approach: T,
}
