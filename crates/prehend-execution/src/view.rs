//! Look and home: the camera at a survey pose.

use crate::course::{Course, Order};
use crate::fault::SkillFault;
use crate::robot::{Miss, Motion as _, Robot};
use crate::world::{TABLE, World};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_scene::{Object, ObjectKey, ObjectMap, Skill, SkillPlan, furniture};
use prehend_skills::plan::view_plan;
use prehend_skills::view::facing;

/// The name of the home pose.
pub(crate) const HOME: &str = "home";
/// The name of the pose the arm has while the base drives.
pub const DRIVE: &str = "drive";
/// The name of the look at upright faces, where a robot has one.
const FRONT: &str = "front";
/// Joints this near to a pose are at it, radians.
pub(crate) const THERE: f64 = 0.01;
/// A tool that approaches with more z than this looks ahead rather than down (45 degrees).
const LEVEL: f64 = -0.7;

impl<R: Robot> Course<'_, R> {
    /// Moves the camera to a survey pose: the one named by `part`, else the one that suits the object best and was not
    /// the last.
    pub(crate) fn look(&self, order: &Order) -> Result<String, SkillFault> {
        let named = self.robot.body().looks.iter().find(|(name, _)| *name == order.part).cloned();
        let (name, joints) = match named {
            Some(look) if look.0 == FRONT => self.turned_to(look, &order.object)?,
            Some(look) => look,
            None if order.part == DRIVE => match &self.robot.body().drive_pose {
                Some(joints) => (DRIVE.to_owned(), joints.clone()),
                None => return Err(SkillFault::BadRequest("this robot does not drive".to_owned())),
            },
            None if order.part == HOME => (HOME.to_owned(), self.robot.body().home.clone()),
            None => {
                let map = self.robot.newest_map();
                let at = map
                    .as_ref()
                    .and_then(|map| map.get(&order.object))
                    .map(|o| o.bounds.pose.translation.vector);
                let last = self.last_look().clone();
                self.survey_pose(at, last.as_deref())
            }
        };
        self.view_from(&name, &joints)?;
        if name == DRIVE {
            return Ok("folded for driving".to_owned());
        }
        *self.last_look() = Some(name.clone());
        Ok(format!("looking from {name}"))
    }

    /// Moves the arm home.
    pub(crate) fn home(&self) -> Result<(), SkillFault> {
        let joints = self.robot.body().home.clone();
        self.view_from(HOME, &joints)
    }

    /// The survey pose whose tool is horizontally nearest to `at`, other than `last`.
    pub(crate) fn survey_pose(&self, at: Option<Vector3<f64>>, last: Option<&str>) -> (String, Vec<f64>) {
        let body = self.robot.body();
        let distance = |joints: &Vec<f64>| match (at, self.tool_at(joints)) {
            // A level look is for vertical faces: who wants it asks for it by name.
            (Some(_), Ok(tool)) if (tool.rotation * Vector3::z()).z > LEVEL => f64::INFINITY,
            (Some(at), Ok(tool)) => (tool.translation.vector - at).xy().norm(),
            _ => 0.0,
        };
        body.looks
            .iter()
            .filter(|(name, _)| Some(name.as_str()) != last)
            .min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))
            .cloned()
            .unwrap_or_else(|| (HOME.to_owned(), body.home.clone()))
    }

    /// The look that sees upright faces, for a plan that moves a part level: drawers and doors show it from the front.
    pub(crate) fn level_look(&self, plan: &SkillPlan) -> Result<Option<(String, Vec<f64>)>, SkillFault> {
        let level = plan.motion.is_some_and(|motion| motion.direction.z.abs() < 0.5);
        let looks = &self.robot.body().looks;
        match looks.iter().find(|(name, _)| level && name == FRONT).cloned() {
            Some(look) => self.turned_to(look, &plan.object).map(Some),
            None => Ok(None),
        }
    }

    /// A level look, turned until the whole of a thing is in the picture, with what it is a part of. It is not turned if the thing is not
    /// known or the arm does not get there.
    fn turned_to(
        &self,
        look: (String, Vec<f64>),
        thing: &ObjectKey,
    ) -> Result<(String, Vec<f64>), SkillFault> {
        let Some(map) = self.robot.newest_map() else { return Ok(look) };
        let Some(object) = map.get(thing) else { return Ok(look) };
        let poses = facing(&self.tool_at(&look.1)?, &corners_of(object, &map));
        if poses.is_empty() {
            return Ok(look);
        }
        let world = self.world(&map)?;
        self.robot.apply_scene(&world)?;
        let opening = self.robot.joints()?.opening;
        for pose in &poses {
            if let Ok(joints) = self.robot.ik(pose, &look.1, opening)? {
                return Ok((look.0, joints));
            }
        }
        self.tell("look", "straight", &format!("no way to turn to {thing}; looking straight ahead"));
        Ok(look)
    }

    /// Moves the camera to joints, gated like every motion.
    pub(crate) fn view_from(&self, name: &str, joints: &[f64]) -> Result<(), SkillFault> {
        let now = self.robot.joints()?;
        if now.arm.iter().zip(joints).all(|(a, b)| (a - b).abs() < THERE) {
            return Ok(());
        }
        let map = self.robot.newest_map();
        let empty = ObjectMap::default();
        let map = map.as_deref().unwrap_or(&empty);
        let world = self.world(map)?;
        let velocity = self.robot.body().velocity_scaling;
        let mut misses = Vec::new();
        for world in self.relaxed(&world) {
            self.robot.apply_scene(&world)?;
            let found = self.robot.plan(&now.arm, joints, now.opening, velocity)?;
            let planned = match found {
                Ok(planned) => planned,
                Err(miss) => {
                    misses.push(miss.to_string());
                    continue;
                }
            };
            let held = self.held()?.map(|held| held.object.key);
            let skill = if name == HOME { Skill::Home } else { Skill::Look };
            let tool = self.tool_at(joints)?;
            let plan = view_plan(
                skill,
                held.as_ref(),
                tool,
                now.opening.clamp(0.0, self.gripper().max_opening),
                map.version,
            );
            let motion = self.commit(plan)?;
            let phase = if name == HOME { "home" } else { "look" };
            motion.execute(phase, planned)?;
            return Ok(());
        }
        Err(SkillFault::NoPlan { phase: "survey pose", tried: misses.len(), detail: misses.join(", ") })
    }

    /// Straight lines from where the arm stands, in `world` or, when the gripper stands too near to something there, in
    /// a world without it: only for motions straight away from what was seen.
    pub(crate) fn line_away(
        &self,
        world: &World,
        way: &[Isometry3<f64>],
        velocity_scaling: f64,
    ) -> Result<Result<R::Planned, Miss>, SkillFault> {
        let now = self.robot.joints()?;
        let mut last = Miss(String::new());
        for world in self.relaxed(world) {
            self.robot.apply_scene(&world)?;
            let line = self.robot.line(&now.arm, way, now.opening, velocity_scaling.into());
            match line? {
                Ok(line) => return Ok(Ok(line)),
                Err(miss) => last = miss,
            }
        }
        Ok(Err(last))
    }

    /// The world, and the same without what the gripper may touch where it stands: a start in contact has no plan else.
    pub(crate) fn relaxed(&self, world: &World) -> Vec<World> {
        let mut worlds = vec![world.clone()];
        let Ok(tool) = self.tool_pose() else { return worlds };
        let tool = tool.translation.vector;
        let near: Vec<&str> = world
            .objects
            .iter()
            .filter(|(key, _)| *key != TABLE)
            .filter(|(_, boxes)| {
                boxes.iter().any(|b| (b.pose.translation.vector - tool).norm() < 0.05 + b.size.norm() / 2.0)
            })
            .map(|(key, _)| key.as_str())
            .collect();
        if !near.is_empty() {
            worlds.push(world.without(&near));
        }
        worlds
    }
}

/// Corners of the boxes of a thing, of what it is a part of, and of all drawers and doors of that.
fn corners_of(object: &Object, map: &ObjectMap) -> Vec<Point3<f64>> {
    let whole = Some(object)
        .filter(|object| furniture::is_panel(&object.class_name))
        .and_then(|panel| furniture::whole_of(panel, map))
        .unwrap_or(object);
    let is_part = |other: &&Object| {
        furniture::is_panel(&other.class_name)
            && furniture::whole_of(other, map).is_some_and(|found| found.key == whole.key)
    };
    let boxes = [whole, object].into_iter().chain(map.objects.iter().filter(is_part)).map(|o| &o.bounds);
    boxes
        .flat_map(|b| {
            let half = b.size / 2.0;
            [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
                .map(|(x, y)| b.pose * Point3::new(x * half.x, y * half.y, 0.0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{surface, xarm6};
    use prehend_geometry::Intrinsics;
    use prehend_motion::{IkOptions, RobotModel};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Where the front of the cabinet is, x in metres.
    const FACE: f64 = 0.46;
    /// The simulated wrist camera.
    const CAMERA: Intrinsics =
        Intrinsics { fx: 615.0, fy: 615.0, cx: 320.0, cy: 240.0, width: 640, height: 480 };

    fn object(key: &str, class: &str, low: [f64; 3], high: [f64; 3]) -> Object {
        surface(key, class, (low, high), 0.02)
    }

    /// Where the uprights of the front of a thing are in the picture, pixels across, from left to right.
    fn across(model: &RobotModel, joints: &[f64], thing: &Object) -> [f64; 2] {
        let camera = model.link_index("camera_color_optical_frame").expect("a camera");
        let base_from_camera = model.link_poses(joints, 0.0).expect("joints")[camera];
        let u = |corner: &Point3<f64>| {
            let seen = base_from_camera.inverse_transform_point(corner);
            CAMERA.project(&seen).expect("before the camera").x
        };
        let front = thing.cloud.points.iter().filter(|p| p.x < FACE + 1e-3).map(u);
        front.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], u| [low.min(u), high.max(u)])
    }

    #[test]
    fn furniture_aside_is_in_the_picture_whole_from_the_look_that_is_turned_to_it() {
        let body = xarm6();
        let model = &body.model;
        let (_, look) = body.looks.iter().find(|(name, _)| name == FRONT).expect("a level look");
        // A cabinet to the left with two doors; the look is for the inner one.
        let cabinet = object("cabinet_0", "cabinet", [FACE, 0.08, 0.0], [0.68, 0.54, 0.28]);
        let inner = object("door_0", "door", [FACE - 0.01, 0.09, 0.01], [FACE, 0.30, 0.27]);
        let outer = object("door_1", "door", [FACE - 0.01, 0.32, 0.01], [FACE, 0.53, 0.27]);
        let map = ObjectMap { objects: vec![cabinet.clone(), inner.clone(), outer], ..ObjectMap::default() };
        let width = CAMERA.width as f64;
        let is_whole = |[left, right]: [f64; 2]| left > 0.0 && right < width;
        let plain = across(model, look, &cabinet);
        assert!(!is_whole(plain), "seen as it is: {plain:?}");
        let poses = facing(&model.tip_pose(look).expect("joints"), &corners_of(&inner, &map));
        let seen_from = |pose: &Isometry3<f64>| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let reached = model.inverse(pose, look, &IkOptions::default(), &mut rng);
            across(model, &reached.expect("the arm gets there")[0], &cabinet)
        };
        let best = seen_from(&poses[0]);
        assert!(is_whole(best), "turned to and stepped back from: {best:?}");
        // Turned on the spot, it would be too near.
        let near = seen_from(poses.last().expect("another look"));
        assert!(!is_whole(near), "turned to: {near:?}");
    }
}
