//! Place and drop: a free spot in the stated relation, down to it, open, back.

use crate::course::{Course, Order};
use crate::fault::SkillFault;
use crate::hand::{EMPTY_OPENING, Held, is_in_hand};
use crate::misses::Misses;
use crate::part::upwards;
use crate::prospect::{Chosen, ToolPose};
use crate::robot::Joints;
use crate::robot::{Motion, Robot};
use crate::world::World;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::furniture::{self, Sweep};
use prehend_scene::{Compartment, Object, ObjectMap, Relation, Skill, SkillPlan};
use prehend_skills::place::{Spread, place_candidates};
use prehend_skills::plan::{Standoff, place_plan};
use prehend_skills::{Fingers, HeldShape, PlaceCandidate, PlaceRequest, Sight};

/// Candidates asked for, and those all over the region when there is no way to any of them.
const CANDIDATES: usize = 14;
const WIDE_CANDIDATES: usize = 24;
/// Candidates whose reach is asked before their motions are planned.
const BATCH: usize = 3;
/// How far a placed object may fall, metres, and a dropped one.
const PLACE_DROP: f64 = 0.035;
const DROP_DROP: f64 = 0.10;
/// How far something of unknown height may reach below the tool, metres.
const UNKNOWN_BELOW: f64 = 0.06;
/// Resistance from below at which what is held stands, newtons, how far above its place that is looked for, metres, and the
/// share of full speed on the way.
const SET_DOWN_FORCE: f64 = 4.0;
const SET_DOWN_FROM: f64 = 0.012;
const SET_DOWN_SPEED: f64 = 0.015;
/// Heights above a place from which it is gone down to, as shares of the usual one.
const ABOVE: [f64; 3] = [1.0, 0.5, 0.25];
/// How far the hand goes back after it let go, as shares of the usual way; the rest is for the end of the reach.
const RETREATS: [f64; 3] = [1.0, 0.6, 0.35];
/// Name of something in the hand of which nothing is known.
const UNKNOWN: &str = "unknown_object";

/// A candidate with its motions.
struct PlannedPlace<T> {
    candidate: PlaceCandidate,
    standoff: Standoff,
    transit: T,
    lower: T,
}

/// What was found of the places that were asked for.
struct Found<T> {
    way: PlannedPlace<T>,
    poses: Vec<ToolPose>,
    misses: Misses,
}

impl<R: Robot> Course<'_, R> {
    pub(crate) fn place(&self, order: &Order) -> Result<String, SkillFault> {
        let map = self.robot.map(order.map_version)?;
        self.check_contract(order, &map)?;
        let relation = order.relation.unwrap_or(Relation::Table);
        let held =
            self.held()?.ok_or(SkillFault::Slipped { phase: "place", opening: self.joints()?.opening })?;
        self.put(order, relation, &held, &map)
    }

    /// Puts something of which only the opening is known on the table, goes home and takes the map anew.
    pub(crate) fn put_down_unknown(&self, map: &ObjectMap) -> Result<(), SkillFault> {
        let opening = self.robot.joints()?.opening;
        let held = unknown_thing(&self.tool_pose()?, opening)
            .ok_or(SkillFault::Sensor { what: "joint states", detail: "no tool pose".to_owned() })?;
        self.tell("place", "unknown", "something is in the gripper; it is put on the table first");
        self.hand().take(held.clone());
        let order = Order {
            skill: Skill::Place,
            object: held.object.key.clone(),
            targets: Vec::new(),
            relation: Some(Relation::Table),
            area: None,
            part: String::new(),
            effect: None,
            map_version: map.version,
            ..self.order.clone()
        };
        self.put(&order, Relation::Table, &held, map).map(drop)
    }

    fn put(
        &self,
        order: &Order,
        relation: Relation,
        held: &Held,
        map: &ObjectMap,
    ) -> Result<String, SkillFault> {
        let world = self.world(map)?;
        let targets: Vec<&str> = order.targets.iter().map(|key| key.0.as_str()).collect();
        let Found { way, poses, misses } =
            match self.way_to_place((order, relation, held), map, &world, Spread::Best) {
                // What the hand holds askew may not get down anywhere near the robot.
                Err(SkillFault::NoPlan { .. }) => {
                    self.way_to_place((order, relation, held), map, &world, Spread::Wide)?
                }
                way => way?,
            };
        let candidate = &way.candidate;
        let chosen = Chosen {
            candidates: poses,
            misses,
            taken: (candidate.map_from_tool, candidate.opening),
            grip_width: 0.0,
            motions: vec![("transit", &way.transit), ("lower", &way.lower)],
        };
        self.tell_plan(&chosen);
        let before = self.observation(Some(map))?;
        let plan = place_plan(
            order.skill,
            &held.object.key,
            &order.targets,
            relation,
            candidate,
            &way.standoff,
            map.version,
        );
        let plan = SkillPlan { part: order.part.clone(), ..plan };
        if self.order.plan_only {
            return self.foresee(&plan, &chosen);
        }
        let motion = self.commit(plan.clone())?;
        motion.execute("transit", way.transit)?;
        let opening = self.robot.joints()?.opening;
        if opening < EMPTY_OPENING {
            self.hand().release();
            return Err(SkillFault::Slipped { phase: "transit", opening });
        }
        // At the surface the held object and the targets may touch: they are meant to.
        let open = world.without(&targets).holding(&[]);
        let early = match motion.execute("lower", way.lower) {
            Ok(()) => self.set_down(&motion, &open, candidate).err(),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = early {
            // Contact before the expected height: the object stands. Anything else keeps it in the hand.
            let touched = matches!(fault, SkillFault::ControlFailed { .. });
            if !(touched && (held.unknown || self.is_near(candidate)?)) {
                return Err(fault);
            }
            self.tell("lower", "contact", "touched a little early; letting go here");
        }
        self.grip(&motion, "release", candidate.opening)?;
        self.hand().release();
        self.retreat_from_placed(&motion, candidate, &open)?;
        self.grip(&motion, "open", self.gripper().max_opening)?;
        drop(motion);
        if held.unknown {
            self.home()?;
            self.update_map("home", false)?;
            return Ok("put down what was in the gripper".to_owned());
        }
        self.confirm(&plan, before, Some(&held.object))
    }

    /// Away from what was let go: back and up, or else straight up, as far as the arm reaches. From between the fingers a free motion would
    /// take it along.
    fn retreat_from_placed(
        &self,
        motion: &R::Motion<'_>,
        candidate: &PlaceCandidate,
        open: &World,
    ) -> Result<(), SkillFault> {
        let slow = (self.robot.body().contact_velocity_scaling * 2.0).min(1.0);
        let distances = RETREATS.map(|share| share * self.standoff().retreat);
        let backs = distances.map(|distance| candidate.withdrawn(distance));
        let ups = upwards(&self.tool_pose()?, distances);
        let mut last = String::new();
        for to in backs.into_iter().chain(ups) {
            match self.line_away(open, &[to], slow)? {
                Ok(line) => return motion.execute("retreat", line),
                Err(miss) => last = miss.to_string(),
            }
        }
        self.tell("retreat", "skipped", &last);
        Ok(())
    }

    /// A place with its motions, all places there were, and why those before it are none.
    ///
    /// Errors: no_place; no_plan when there is no way to any.
    fn way_to_place(
        &self,
        (order, relation, held): (&Order, Relation, &Held),
        map: &ObjectMap,
        world: &World,
        spread: Spread,
    ) -> Result<Found<R::Planned>, SkillFault> {
        let candidates = self.places(order, relation, held, map, spread)?;
        let [x, y] = candidates[0].spot;
        let (count, key) = (candidates.len(), &held.object.key);
        self.tell(
            "candidates",
            "found",
            &format!("{count} places for {key}, the best at ({x:.2}, {y:.2}) m"),
        );
        let targets: Vec<&str> = order.targets.iter().map(|key| key.0.as_str()).collect();
        let poses: Vec<ToolPose> = candidates.iter().map(|one| (one.map_from_tool, one.opening)).collect();
        let mut misses = Misses::default();
        let way = self.reach_place(&candidates, world, &targets, &mut misses);
        let way = way.inspect_err(|fault| self.tell_no_plan(fault, &poses, &misses))?;
        Ok(Found { way, poses, misses })
    }

    /// The last of the way down, slowly until what is held is felt to stand: it may reach lower than it seemed, and a stiff arm
    /// would press it down. Does nothing for a robot that reports no torques; it came all the way already.
    fn set_down(
        &self,
        motion: &R::Motion<'_>,
        open: &World,
        candidate: &PlaceCandidate,
    ) -> Result<(), SkillFault> {
        let Some(feel) = self.feel()? else { return Ok(()) };
        let down = -Vector3::z();
        let line = match self.line_away(open, &[candidate.map_from_tool], SET_DOWN_SPEED)? {
            Ok(line) => line,
            Err(miss) => {
                self.tell("set_down", "skipped", &miss.to_string());
                return Ok(());
            }
        };
        let mut stands = |joints: &Joints| feel.resistance(joints, &down) > SET_DOWN_FORCE;
        motion.execute_until("set_down", line, &mut stands).map(drop)
    }

    /// Whether the tool is within 15 mm of the release.
    fn is_near(&self, candidate: &PlaceCandidate) -> Result<bool, SkillFault> {
        let tool = self.tool_pose()?.translation.vector;
        Ok((tool - candidate.map_from_tool.translation.vector).norm() < 0.015)
    }

    fn places(
        &self,
        order: &Order,
        relation: Relation,
        held: &Held,
        map: &ObjectMap,
        spread: Spread,
    ) -> Result<Vec<PlaceCandidate>, SkillFault> {
        let tool = self.tool_pose()?;
        let mut targets: Vec<&[Point3<f64>]> = Vec::new();
        for key in &order.targets {
            let target = map.get(key).ok_or_else(|| SkillFault::UnknownObject(key.clone()))?;
            targets.push(&target.cloud.points);
        }
        let others: Vec<&[Point3<f64>]> = map
            .objects
            .iter()
            .filter(|o| !order.targets.contains(&o.key) && !is_in_hand(o, held, &tool))
            .map(|o| o.cloud.points.as_slice())
            .collect();
        let body = self.robot.body();
        let panels = map.objects.iter().filter(|object| furniture::is_panel(&object.class_name));
        let swept: Vec<Sweep> = panels.filter_map(|panel| furniture::sweep(panel, map)).collect();
        let request = PlaceRequest {
            relation,
            compartment: Compartment::parse(&order.part),
            held: &held.shape,
            targets: &targets,
            others: &others,
            support_height: self.table_height(map),
            region_low: [body.workspace_low[0].max(0.15), body.workspace_low[1]],
            region_high: [body.workspace_high[0], body.workspace_high[1]],
            area: order.area,
            greatest_drop: if order.skill == Skill::Drop || held.unknown { DROP_DROP } else { PLACE_DROP },
            gripper: self.gripper(),
            reach: self.reach(),
            sight: self.sight(),
            swept: &swept,
            spread,
            limit: if spread == Spread::Best { CANDIDATES } else { WIDE_CANDIDATES },
        };
        place_candidates(&request)
            .map_err(|cause| SkillFault::NoPlace { object: held.object.key.clone(), cause })
    }

    /// What the camera sees from home; `None` when the model has no such camera.
    fn sight(&self) -> Option<Sight> {
        let body = self.robot.body();
        let camera = body.model.link_index(&body.camera)?;
        let poses = body.model.link_poses(&body.home, 0.0).ok()?;
        let map_from_tool = body.model.tip_pose(&body.home).ok()?;
        let [left, right, ..] = self.gripper().boxes(body.max_opening);
        let fingers = Some(Fingers { map_from_tool, boxes: [left, right] });
        Some(Sight { map_from_camera: *poses.get(camera)?, fingers })
    }

    /// The joints above a place, and the standoff with which they are within reach: high up the arm does not get as far above what
    /// it puts something on as elsewhere. When there are none, why.
    fn above_place(
        &self,
        candidate: &PlaceCandidate,
        start: &[f64],
        opening: f64,
    ) -> Result<Result<(Standoff, Vec<f64>), String>, SkillFault> {
        let full = self.standoff();
        if !self.in_workspace(&candidate.withdrawn(full.retreat)) {
            return Ok(Err("outside the workspace".to_owned()));
        }
        let mut last = "outside the workspace".to_owned();
        for share in ABOVE {
            let standoff = Standoff { above: share * full.above, ..full };
            let above = candidate.above(standoff.above);
            if !self.in_workspace(&above) {
                continue;
            }
            match self.robot.ik(&above, start, opening)? {
                Ok(joints) => return Ok(Ok((standoff, joints))),
                Err(miss) => last = miss.to_string(),
            }
        }
        Ok(Err(last))
    }

    fn reach_place(
        &self,
        candidates: &[PlaceCandidate],
        world: &World,
        targets: &[&str],
        misses: &mut Misses,
    ) -> Result<PlannedPlace<R::Planned>, SkillFault> {
        let now = self.joints()?;
        let (start, opening) = (now.arm, now.opening);
        let open = world.without(targets).holding(&[]);
        let body = self.robot.body();
        let slow_part = if self.feel()?.is_some() { SET_DOWN_FROM } else { 0.0 };
        let numbered: Vec<_> = candidates.iter().enumerate().collect();
        for chunk in numbered.chunks(BATCH) {
            self.robot.apply_scene(&open)?;
            let mut batch = Vec::new();
            for (index, candidate) in chunk.iter().copied() {
                let (standoff, joints) = match self.above_place(candidate, &start, opening)? {
                    Ok(above) => above,
                    Err(miss) => {
                        misses.add(index, miss);
                        continue;
                    }
                };
                let release = [Translation3::new(0.0, 0.0, slow_part) * candidate.map_from_tool];
                let line = self.robot.line(&joints, &release, opening, body.contact_velocity_scaling.into());
                match line? {
                    Ok(lower) => batch.push((index, *candidate, standoff, joints, lower)),
                    Err(miss) => misses.add(index, miss.to_string()),
                }
            }
            self.robot.apply_scene(world)?;
            for (index, candidate, standoff, joints, lower) in batch {
                let speed = body.velocity_scaling * 0.7;
                match self.robot.plan(&start, &joints, opening, speed)? {
                    Ok(transit) => return Ok(PlannedPlace { candidate, standoff, transit, lower }),
                    Err(miss) => misses.add(index, miss.to_string()),
                }
            }
        }
        Err(SkillFault::NoPlan { phase: "place", tried: candidates.len(), detail: misses.summary() })
    }
}

/// A stand-in for something unknown in the hand: as wide as the opening, reaching 6 cm below the tool.
fn unknown_thing(map_from_tool: &Isometry3<f64>, opening: f64) -> Option<Held> {
    let tool = map_from_tool.translation.vector;
    let half = 0.03_f64.max(opening / 2.0);
    let points: Vec<Point3<f64>> = (-4..=4)
        .flat_map(|i| (-4..=4).map(move |j| (f64::from(i) / 4.0, f64::from(j) / 4.0)))
        .map(|(u, v)| Point3::new(tool.x + u * half, tool.y + v * half, tool.z))
        .collect();
    let bottom = tool.z - UNKNOWN_BELOW;
    let shape = HeldShape::new(&points, map_from_tool, bottom, opening)?;
    let size = Vector3::new(2.0 * half, 2.0 * half, UNKNOWN_BELOW);
    let around =
        OrientedBox { pose: Isometry3::translation(tool.x, tool.y, tool.z - UNKNOWN_BELOW / 2.0), size };
    let in_tool = OrientedBox { pose: map_from_tool.inverse() * around.pose, size };
    let object = Object::unnamed(UNKNOWN.into(), PointCloud::from_points(points), around);
    Some(Held { object, shape, boxes: vec![in_tool], unknown: true })
}
