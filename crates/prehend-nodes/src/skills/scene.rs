//! The planning scene, kept equal to what the map and the hand say.

mod read_back;

use super::moveit::MoveIt;
use nalgebra::{Isometry3, Point3};
use prehend_convert as convert;
use prehend_execution::{SkillFault, World};
use prehend_geometry::OrientedBox;
use prehend_motion::RobotModel;
use prehend_msgs::moveit_msgs::msg::{
    AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneComponents as Components,
    PlanningSceneWorld, RobotState,
};
use prehend_msgs::moveit_msgs::srv::ApplyPlanningScene;
use prehend_msgs::shape_msgs::msg::SolidPrimitive;
use prehend_robots::RobotConfig;
use prehend_ros::{Client, Node, QosProfile, RosError};
use std::sync::Arc;
use tokio::sync::Mutex;

/// What a fault of the scene is about.
const PHASE: &str = "planning scene";
/// How the ids of everything begin that Prehend puts into the scene.
pub(super) const OURS: &str = "prehend_";
/// Id of the held object.
pub(super) const HELD: &str = "prehend_held";

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

/// Keeps the planning scene equal to what it shall hold. What others put there stays: Prehend's ids begin with [`OURS`].
#[derive(Debug)]
pub(super) struct SceneKeeper {
    changes: Client<ApplyPlanningScene::Service>,
    moveit: Arc<MoveIt>,
    frames: SceneFrames,
    /// What was applied last; `None` until the scene was cleared of what an earlier process left.
    applied: Mutex<Option<World>>,
}

impl SceneKeeper {
    pub(super) fn new(
        node: &Node,
        robot: &RobotConfig,
        model: &RobotModel,
        moveit: Arc<MoveIt>,
    ) -> Result<Self, RosError> {
        Ok(Self {
            changes: node.create_client(&robot.moveit.apply_planning_scene, QosProfile::services())?,
            moveit,
            frames: SceneFrames::of(robot, model),
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
        // Until the answers are there, nothing is known of the scene: the next call starts from a cleared one.
        let (left, old) = match applied.take() {
            Some(old) => (Leftovers::default(), old),
            None => (Leftovers::of(&self.ask(Components::WORLD_OBJECT_NAMES).await?), World::default()),
        };
        for scene in self.frames.steps(&left, &old, world) {
            let request = ApplyPlanningScene::Request { scene };
            let answer = self.moveit.answers(PHASE, |longest| self.changes.request(request, longest)).await;
            if !answer?.success {
                return Err(fault("the planning scene was not accepted".to_owned()));
            }
        }
        *applied = Some(world.clone());
        Ok(())
    }

    /// Reads back whether the scene in which was planned is the one that was applied: MoveIt may have been started anew since, with an
    /// empty scene, or somebody else may have changed it.
    pub(super) async fn confirm(&self) -> Result<(), SkillFault> {
        let mut applied = self.applied.lock().await;
        let Some(world) = applied.as_ref() else { return Ok(()) };
        let found = self.ask(Components::WORLD_OBJECT_GEOMETRY).await?;
        let Some(difference) = read_back::difference(&self.frames, world, &found) else { return Ok(()) };
        *applied = None;
        Err(fault(format!(
            "{difference}: was move_group started anew, or does somebody else change its scene?"
        )))
    }

    /// The scene as MoveIt has it: what is held, and of what stands around these `components`.
    async fn ask(&self, components: u32) -> Result<PlanningScene, SkillFault> {
        self.moveit.scene(PHASE, components | Components::ROBOT_STATE_ATTACHED_OBJECTS).await
    }
}

fn fault(detail: String) -> SkillFault {
    SkillFault::ControlFailed { phase: PHASE, detail }
}

/// Ids of Prehend's that an earlier process, or an earlier skill, left in the scene.
#[derive(Debug, Default)]
struct Leftovers {
    held: Vec<String>,
    standing: Vec<String>,
}

impl Leftovers {
    fn of(scene: &PlanningScene) -> Self {
        let ours = |id: &String| id.starts_with(OURS);
        let held = scene.robot_state.attached_collision_objects.iter().map(|held| held.object.id.clone());
        let standing = scene.world.collision_objects.iter().map(|object| object.id.clone());
        Self { held: held.filter(ours).collect(), standing: standing.filter(ours).collect() }
    }
}

/// Id in the planning scene of an object of the map.
fn id_of(key: &str) -> String {
    format!("{OURS}{key}")
}

impl SceneFrames {
    fn of(robot: &RobotConfig, model: &RobotModel) -> Self {
        let links = model.links().iter().enumerate();
        let on_hand = links.filter(|(i, _)| model.is_on_hand(*i)).map(|(_, link)| link.name.clone());
        Self {
            base: robot.frames.base.clone(),
            tool: robot.frames.tool.clone(),
            touch_links: on_hand.chain(robot.moveit.touch_links.iter().cloned()).collect(),
        }
    }

    /// The changes in the order in which they must be made: let go, change the world, take hold. What is let go becomes
    /// part of the world, by MoveIt's rule, and is removed there.
    fn steps(&self, left: &Leftovers, old: &World, new: &World) -> Vec<PlanningScene> {
        let (mut detach, mut objects, mut attach) = (Vec::new(), Vec::new(), Vec::new());
        let remove = |id: &str| solid(id, &self.base, &[], CollisionObject::REMOVE);
        detach.extend(left.held.iter().map(|id| self.attached(id, &[], CollisionObject::REMOVE)));
        objects.extend(left.standing.iter().chain(&left.held).map(|id| remove(id)));
        if old.held != new.held {
            if !old.held.is_empty() {
                detach.push(self.attached(HELD, &[], CollisionObject::REMOVE));
                objects.push(remove(HELD));
            }
            if !new.held.is_empty() {
                attach.push(self.attached(HELD, &new.held, CollisionObject::ADD));
            }
        }
        let gone = old.objects.keys().filter(|key| !new.objects.contains_key(*key));
        objects.extend(gone.map(|key| remove(&id_of(key))));
        for (key, boxes) in new.objects.iter().filter(|(key, boxes)| old.objects.get(*key) != Some(*boxes)) {
            objects.push(solid(&id_of(key), &self.base, boxes, CollisionObject::ADD));
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

    pub(super) fn frames() -> SceneFrames {
        SceneFrames { base: "base".into(), tool: "tool".into(), touch_links: vec!["pad".into()] }
    }

    pub(super) fn cube(x: f64) -> Vec<OrientedBox> {
        vec![OrientedBox { pose: Isometry3::translation(x, 0.0, 0.02), size: Vector3::repeat(0.04) }]
    }

    pub(super) fn world(objects: &[(&str, f64)], held: bool) -> World {
        World {
            objects: objects.iter().map(|(key, x)| ((*key).to_owned(), cube(*x))).collect(),
            held: if held { cube(0.0) } else { Vec::new() },
        }
    }

    /// Each step as text: `+id` adds, `-id` removes, in the hand with `!` before.
    fn check(left: &[&str], old: &World, new: &World, expected: &[&str]) {
        let word = |o: &CollisionObject| {
            format!("{}{}", if o.operation == CollisionObject::ADD { "+" } else { "-" }, o.id)
        };
        let found: Vec<String> = frames()
            .steps(&Leftovers::of(&holding(left)), old, new)
            .iter()
            .map(|scene| {
                let attached = scene.robot_state.attached_collision_objects.iter();
                let held = attached.map(|a| format!("!{}", word(&a.object)));
                let objects = scene.world.collision_objects.iter().map(word);
                assert!(scene.is_diff && scene.robot_state.is_diff, "a whole scene would forget the rest");
                held.chain(objects).map(|word| word.replace(OURS, "")).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(found, expected);
    }

    /// A scene with these ids; `!` before those that are held.
    fn holding(ids: &[&str]) -> PlanningScene {
        let mut scene = PlanningScene::default();
        for id in ids {
            match id.strip_prefix('!') {
                Some(id) => scene.robot_state.attached_collision_objects.push(frames().attached(
                    id,
                    &cube(0.0),
                    CollisionObject::ADD,
                )),
                None => {
                    scene.world.collision_objects.push(solid(id, "base", &cube(0.4), CollisionObject::ADD));
                }
            }
        }
        scene
    }

    #[test]
    fn what_is_held_may_touch_the_hand_also_where_the_vendors_has_more_links() {
        let share = prehend_config::share::share_dir();
        let robot = RobotConfig::load(&share.join("config/robots/xarm6.yaml")).expect("the file");
        let text = std::fs::read_to_string(&robot.urdf).expect("the description");
        let model = RobotModel::from_urdf(&text, robot.group()).expect("a robot");
        let frames = SceneFrames::of(&robot, &model);
        let held = frames.attached(HELD, &cube(0.0), CollisionObject::ADD);
        for link in ["left_finger", "right_finger", "left_inner_knuckle", "right_outer_knuckle"] {
            assert!(held.touch_links.iter().any(|name| name == link), "{link}: {:?}", held.touch_links);
        }
        assert!(!held.touch_links.iter().any(|name| name == "link5"), "{:?}", held.touch_links);
    }

    #[test]
    fn only_differences_are_sent_in_the_order_in_which_they_hold() {
        let (one, two) = (world(&[("cup", 0.4)], false), world(&[("cup", 0.4), ("bowl", 0.5)], false));
        let held = world(&[("bowl", 0.5)], true);
        check(&[], &World::default(), &one, &["+cup"]);
        check(&[], &one, &one, &[]);
        check(&[], &one, &two, &["+bowl"]);
        check(&[], &two, &one, &["-bowl"]);
        check(&[], &one, &world(&[("cup", 0.3)], false), &["+cup"]);
        check(&[], &two, &held, &["-cup", "!+held"]);
        check(&[], &held, &two, &["!-held", "-held +cup"]);
        check(&[], &held, &held.without(&["bowl"]), &["-bowl"]);
        check(&[], &World::default(), &held, &["+bowl", "!+held"]);
    }

    #[test]
    fn what_an_earlier_process_left_goes_and_what_others_put_there_stays() {
        let one = world(&[("cup", 0.4)], false);
        let left = ["prehend_cup", "prehend_pan", "wall", "!prehend_held", "!camera"];
        check(&left, &World::default(), &one, &["!-held", "-cup -pan -held +cup"]);
        check(&["wall", "!camera"], &World::default(), &one, &["+cup"]);
    }
}
