//! The planning scene, kept equal to what the map and the hand say.

use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_execution::{SkillFault, World};
use prehend_geometry::OrientedBox;
use prehend_motion::RobotModel;
use prehend_msgs::moveit_msgs::msg::{
    AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneWorld, RobotState,
};
use prehend_msgs::moveit_msgs::srv::ApplyPlanningScene;
use prehend_msgs::shape_msgs::msg::SolidPrimitive;
use prehend_robots::RobotConfig;
use prehend_robots::of_robot;
use prehend_ros::{Client, Node, QosProfile, RosError};
use std::time::Duration;
use tokio::sync::Mutex;

/// Deadline of an answer of the planning scene.
const DEADLINE: Duration = Duration::from_secs(3);
/// Id of the held object.
const HELD: &str = "prehend_held";

/// How far a base that drives reaches along the x of the arm's base, metres: no table is there.
pub(super) fn chassis_edge(robot: &RobotConfig, model: &RobotModel) -> f64 {
    let Some(navigation) = &robot.navigation else { return f64::NEG_INFINITY };
    let base = model.link_index(&navigation.base);
    let poses = model.link_poses(&vec![0.0; model.dof()], 0.0);
    let (Some(base), Ok(poses)) = (base, poses) else { return f64::NEG_INFINITY };
    let corners = navigation.footprint.corners().iter();
    corners.map(|[x, y]| (poses[base] * Point3::new(*x, *y, 0.0)).x).fold(f64::NEG_INFINITY, f64::max)
}

/// Frames and links that scene messages name.
#[derive(Clone, Debug)]
struct SceneFrames {
    base: String,
    tool: String,
    /// Links that may touch what is held.
    touch_links: Vec<String>,
}

/// Sends the differences between what the planning scene holds and what it shall hold.
#[derive(Debug)]
pub(super) struct SceneKeeper {
    client: Client<ApplyPlanningScene::Service>,
    frames: SceneFrames,
    /// What was applied last; `None` until the scene was cleared of what an earlier process left.
    applied: Mutex<Option<World>>,
}

impl SceneKeeper {
    pub(super) fn new(node: &Node, robot: &RobotConfig, model: &RobotModel) -> Result<Self, RosError> {
        let links = model.links().iter().enumerate();
        Ok(Self {
            client: node.create_client(&robot.moveit.apply_planning_scene, QosProfile::services())?,
            frames: SceneFrames {
                base: robot.frames.base.clone(),
                tool: robot.frames.tool.clone(),
                touch_links: links
                    .filter(|(i, _)| model.is_on_hand(*i))
                    .map(|(_, link)| link.name.clone())
                    .collect(),
            },
            applied: Mutex::new(None),
        })
    }

    /// Forgets what was applied, so that the next call starts from a cleared scene: the robot side may be another by now.
    pub(super) async fn forget(&self) {
        *self.applied.lock().await = None;
    }

    /// Makes the planning scene hold `world`.
    pub(super) async fn apply(&self, world: &World) -> Result<(), SkillFault> {
        let mut applied = self.applied.lock().await;
        if applied.as_ref() == Some(world) {
            return Ok(());
        }
        let steps = self.frames.steps(applied.as_ref(), world);
        // Until the answers are there, nothing is known of the scene: the next call starts from a cleared one.
        *applied = None;
        for scene in steps {
            let answer = self
                .client
                .request(ApplyPlanningScene::Request { scene }, DEADLINE)
                .await
                .map_err(|error| of_robot("planning scene", &error))?;
            if !answer.success {
                let detail = "the planning scene was not accepted".to_owned();
                return Err(SkillFault::ControlFailed { phase: "planning scene", detail });
            }
        }
        *applied = Some(world.clone());
        Ok(())
    }
}

impl SceneFrames {
    /// The changes in the order in which they must be made: let go, change the world, take hold. What is let go becomes
    /// part of the world, by MoveIt's rule, and is removed there.
    fn steps(&self, old: Option<&World>, new: &World) -> Vec<PlanningScene> {
        let (mut detach, mut objects, mut attach) = (Vec::new(), Vec::new(), Vec::new());
        let remove = |key: &str| solid(key, &self.base, &[], CollisionObject::REMOVE);
        let empty = World::default();
        if old.is_none() {
            // An empty id is every object.
            detach.push(self.attached("", &[], CollisionObject::REMOVE));
            objects.push(remove(""));
        }
        let old = old.unwrap_or(&empty);
        if old.held != new.held {
            if !old.held.is_empty() {
                detach.push(self.attached(HELD, &[], CollisionObject::REMOVE));
                objects.push(remove(HELD));
            }
            if !new.held.is_empty() {
                attach.push(self.attached(HELD, &new.held, CollisionObject::ADD));
            }
        }
        objects
            .extend(old.objects.keys().filter(|key| !new.objects.contains_key(*key)).map(|key| remove(key)));
        for (key, boxes) in new.objects.iter().filter(|(key, boxes)| old.objects.get(*key) != Some(*boxes)) {
            objects.push(solid(key, &self.base, boxes, CollisionObject::ADD));
        }
        [(detach, Vec::new()), (Vec::new(), objects), (attach, Vec::new())]
            .into_iter()
            .filter(|(attached, objects)| !attached.is_empty() || !objects.is_empty())
            .map(|(attached, objects)| difference(attached, objects))
            .collect()
    }

    fn attached(&self, id: &str, boxes: &[OrientedBox], operation: u8) -> AttachedCollisionObject {
        AttachedCollisionObject {
            link_name: self.tool.clone(),
            object: solid(id, &self.tool, boxes, operation),
            touch_links: self.touch_links.clone(),
            ..Default::default()
        }
    }
}

fn difference(attached: Vec<AttachedCollisionObject>, objects: Vec<CollisionObject>) -> PlanningScene {
    PlanningScene {
        is_diff: true,
        robot_state: RobotState { is_diff: true, attached_collision_objects: attached, ..Default::default() },
        world: PlanningSceneWorld { collision_objects: objects, ..Default::default() },
        ..Default::default()
    }
}

fn solid(id: &str, frame: &str, boxes: &[OrientedBox], operation: u8) -> CollisionObject {
    CollisionObject {
        header: convert::header(frame, 0.0),
        pose: convert::pose_to_msg(&Isometry3::identity()),
        id: id.to_owned(),
        primitives: boxes
            .iter()
            .map(|b| SolidPrimitive {
                type_: SolidPrimitive::BOX,
                dimensions: b.size.iter().copied().collect(),
                ..Default::default()
            })
            .collect(),
        primitive_poses: boxes.iter().map(|b| convert::pose_to_msg(&b.pose)).collect(),
        operation,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn cube(x: f64) -> Vec<OrientedBox> {
        vec![OrientedBox { pose: Isometry3::translation(x, 0.0, 0.02), size: Vector3::repeat(0.04) }]
    }

    fn world(objects: &[(&str, f64)], held: bool) -> World {
        World {
            objects: objects.iter().map(|(key, x)| ((*key).to_owned(), cube(*x))).collect(),
            held: if held { cube(0.0) } else { Vec::new() },
        }
    }

    /// Each step as text: `+id` adds, `-id` removes, in the hand with `!` before.
    fn check(old: Option<&World>, new: &World, expected: &[&str]) {
        let frames =
            SceneFrames { base: "base".into(), tool: "tool".into(), touch_links: vec!["pad".into()] };
        let word = |o: &CollisionObject| {
            format!("{}{}", if o.operation == CollisionObject::ADD { "+" } else { "-" }, o.id)
        };
        let found: Vec<String> = frames
            .steps(old, new)
            .iter()
            .map(|scene| {
                let attached = scene.robot_state.attached_collision_objects.iter();
                let held = attached.map(|a| format!("!{}", word(&a.object)));
                let objects = scene.world.collision_objects.iter().map(word);
                assert!(scene.is_diff && scene.robot_state.is_diff, "a whole scene would forget the rest");
                held.chain(objects).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_differences_are_sent_in_the_order_in_which_they_hold() {
        let (one, two) = (world(&[("cup", 0.4)], false), world(&[("cup", 0.4), ("bowl", 0.5)], false));
        check(None, &one, &["!-", "- +cup"]);
        check(Some(&one), &one, &[]);
        check(Some(&one), &two, &["+bowl"]);
        check(Some(&two), &one, &["-bowl"]);
        check(Some(&one), &world(&[("cup", 0.3)], false), &["+cup"]);
        let held = world(&[("bowl", 0.5)], true);
        check(Some(&two), &held, &["-cup", "!+prehend_held"]);
        check(Some(&held), &two, &["!-prehend_held", "-prehend_held +cup"]);
        check(Some(&held), &held.without(&["bowl"]), &["-bowl"]);
        check(None, &held, &["!-", "- +bowl", "!+prehend_held"]);
    }
}
