//! What is known at one moment, by whatever source, as a stage.

use super::place::{Place, on_the_floor};
use super::robot::Robot;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_motion::Shape;
use prehend_robots::joints::Joints;
use prehend_robots::move_group::HeardScene;
use prehend_scene::{Object, SymbolicState};
use prehend_viewer::{Area, Candidate, Floor, HELD, SHAPE, Solid, Stage, Stand, Standing, Story, Thing};
use std::sync::Arc;

/// How much shapes and held things hide of what is behind them.
const SHAPE_OPACITY: f64 = 0.14;
const HELD_OPACITY: f64 = 0.75;

/// What is known at one moment.
#[derive(Default)]
pub(super) struct Moment<'a> {
    /// Where the robot is.
    pub(super) place: Place,
    /// What is around it, in the stage.
    pub(super) things: Arc<Vec<Thing>>,
    /// Its joints.
    pub(super) joints: Option<&'a Joints>,
    /// Joints that are only inferred, when none were heard.
    pub(super) inferred: Option<&'a [f64]>,
    /// What its planner keeps clear of, and holds.
    pub(super) scene: Option<&'a HeardScene>,
    /// What is in its gripper, as it was mapped before.
    pub(super) in_hand: Option<&'a Object>,
    /// Its state in words.
    pub(super) state: Option<&'a SymbolicState>,
    /// What happened.
    pub(super) story: Story,
    /// The map of the floor, the way on it, and areas.
    pub(super) floor: Option<Arc<Floor>>,
    pub(super) route: Vec<Point3<f64>>,
    pub(super) areas: Arc<Vec<Area>>,
}

impl Robot {
    /// All of a moment.
    pub(super) fn stage(&self, moment: &Moment<'_>) -> Stage {
        let stage_from_arm = &moment.place.stage_from_arm;
        let placed =
            |solids: Vec<Solid>| solids.into_iter().map(|solid| solid.moved(stage_from_arm)).collect();
        let joints = moment.joints.map(|joints| (joints.measured.arm.as_slice(), joints.drive));
        let joints = joints.or_else(|| Some((moment.inferred?, self.config.gripper.open)));
        let links = joints.map_or_else(Vec::new, |(arm, drive)| self.solids(arm, drive, false));
        let plan = moment.story.plan().cloned().unwrap_or_default();
        let opening = plan.candidates.iter().find(|one| one.chosen).map_or(0.0, |one| one.opening);
        let drive = self.config.gripper.position(opening);
        let ghost = plan.joints.last().map_or_else(Vec::new, |end| self.solids(end, drive, true));
        let candidates = plan
            .candidates
            .iter()
            .map(|one| Candidate { stage_from_tool: stage_from_arm * one.stage_from_tool, ..*one });
        let mut stage = Stage {
            robot: placed(links),
            ghost: placed(ghost),
            things: Arc::clone(&moment.things),
            candidates: candidates.collect(),
            fence: self.fence(stage_from_arm),
            panel: moment.story.panel(moment.state),
            ..Stage::default()
        };
        self.add_shapes(&mut stage, moment, joints);
        self.add_room(&mut stage, moment);
        stage
    }

    /// The box of the robot file that the tool does not leave.
    fn fence(&self, stage_from_arm: &Isometry3<f64>) -> Option<OrientedBox> {
        let limits = &self.config.limits;
        let (low, high) = (Point3::from(limits.workspace_low), Point3::from(limits.workspace_high));
        let size = high - low;
        let middle = Isometry3::from(nalgebra::center(&low, &high).coords);
        (size.min() > 0.0).then(|| OrientedBox { pose: stage_from_arm * middle, size })
    }

    /// What the planner keeps clear of, and what is in the hand: where the planner has it, else as it was mapped, at the tool.
    fn add_shapes(&self, stage: &mut Stage, moment: &Moment<'_>, joints: Option<(&[f64], f64)>) {
        let stage_from_arm = &moment.place.stage_from_arm;
        let solid = |pose: Isometry3<f64>, shape: &Shape, color, opacity| Solid {
            stage_from_solid: stage_from_arm * pose,
            shape: shape.clone(),
            color,
            opacity,
        };
        if let Some(scene) = moment.scene {
            let shapes = scene.shapes();
            stage.shapes =
                shapes.map(|one| solid(one.frame_from_shape, &one.shape, SHAPE, SHAPE_OPACITY)).collect();
        }
        let link_pose = |link: &str| joints.and_then(|(arm, drive)| self.link_pose(link, arm, drive));
        let held = moment.scene.into_iter().flat_map(HeardScene::held).filter_map(|(link, one)| {
            Some(solid(link_pose(link)? * one.frame_from_shape, &one.shape, HELD, HELD_OPACITY))
        });
        stage.held = held.collect();
        if stage.held.is_empty()
            && let Some(object) = moment.in_hand
            && let Some(arm_from_tool) = link_pose(&self.config.frames.tool)
        {
            let shape = Shape::Box { half: object.bounds.size / 2.0 };
            stage.held.push(solid(arm_from_tool, &shape, HELD, HELD_OPACITY));
        }
        let key = moment.state.and_then(|state| state.held_object.as_ref());
        let name = moment.in_hand.map(|object| &object.class_name).filter(|name| !name.is_empty());
        stage.held_name = stage.held.first().and_then(|held| {
            let name = name.or(key.map(|key| &key.0))?;
            Some((name.clone(), held.stage_from_solid.translation.vector.into()))
        });
    }

    /// The floor, and the base on it.
    fn add_room(&self, stage: &mut Stage, moment: &Moment<'_>) {
        stage.floor.clone_from(&moment.floor);
        stage.areas = Arc::clone(&moment.areas);
        let Some(navigation) = &self.config.navigation else { return };
        let Some(stage_from_base) = moment.place.stage_from_base else { return };
        stage.outline = navigation.footprint.corners().to_vec();
        let stand =
            |standing: Standing| move |stage_from_base: Isometry3<f64>| Stand { stage_from_base, standing };
        let story = &moment.story;
        let stops = story.stops().iter().copied().filter_map(on_the_floor).map(stand(Standing::Stop));
        let goal = story.heading_for().and_then(on_the_floor);
        stage.stands = std::iter::once(stand(Standing::Now)(stage_from_base)).chain(stops).collect();
        stage.stands.extend(goal.map(stand(Standing::Goal)));
        // A way is of interest as long as it is to be driven: it ends where the base is going.
        let ends_there = moment.route.last().zip(goal).is_some_and(|(end, goal)| {
            (end.coords - goal.translation.vector).xy().norm() < navigation.goal_tolerance_xy.max(0.1) * 2.0
        });
        if ends_there {
            stage.route.clone_from(&moment.route);
        } else if let Some(goal) = goal {
            // Where nobody tells the way, the goal is told.
            stage.route = [stage_from_base, goal].map(|pose| flat(&pose.translation.vector)).to_vec();
        }
    }
}

fn flat(at: &Vector3<f64>) -> Point3<f64> {
    Point3::new(at.x, at.y, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::geometry_msgs::msg::Pose;
    use prehend_msgs::moveit_msgs::msg::{AttachedCollisionObject, CollisionObject, PlanningScene};
    use prehend_msgs::shape_msgs::msg::SolidPrimitive;
    use prehend_viewer::{Event, Plan};
    use std::path::Path;

    fn robot(name: &str) -> Robot {
        Robot::load(Path::new(&format!("config/robots/{name}.yaml"))).expect("a robot")
    }

    fn cube(id: &str, x: f64) -> CollisionObject {
        let mut pose = Pose::default();
        pose.position.x = x;
        let dimensions = vec![0.06; 3];
        CollisionObject {
            id: id.to_owned(),
            pose,
            primitives: vec![SolidPrimitive { type_: SolidPrimitive::BOX, dimensions, ..Default::default() }],
            primitive_poses: vec![Pose::default()],
            ..Default::default()
        }
    }

    fn at(solid: &Solid) -> Vector3<f64> {
        solid.stage_from_solid.translation.vector
    }

    #[test]
    fn a_plan_is_a_ghost_where_it_ends() {
        let robot = robot("xarm6");
        let stage = |joints: Vec<Vec<f64>>| {
            let mut story = Story::default();
            let plan = Some(Plan { joints, ..Plan::default() });
            story.take(&Event { kind: "motion".to_owned(), plan, ..Event::default() });
            robot.stage(&Moment { story, ..Moment::default() })
        };
        let home = robot.config.home.clone();
        let ghost = stage(vec![vec![0.0; 6], home.clone()]).ghost;
        let expected = robot.solids(&home, robot.config.gripper.position(0.0), true);
        assert!(!ghost.is_empty() && ghost == expected);
        assert!(stage(vec![vec![0.0; 3]]).ghost.is_empty(), "three joints are no arm");
        let fence = stage(Vec::new()).fence.expect("the workspace");
        let inside = |x: f64| fence.contains(&Point3::new(x, 0.0, 0.2), 0.0);
        assert!(inside(0.4) && !inside(2.0));
    }

    #[test]
    fn what_is_held_moves_with_the_joints_and_what_is_around_does_not() {
        let robot = robot("xarm6");
        let mut scene = HeardScene::new(Arc::clone(&robot.model));
        let mut message = PlanningScene { is_diff: true, ..Default::default() };
        message.world.collision_objects = vec![cube("table", 0.5)];
        message.robot_state.is_diff = true;
        message.robot_state.attached_collision_objects = vec![AttachedCollisionObject {
            link_name: robot.config.frames.tool.clone(),
            object: CollisionObject { header: Default::default(), ..cube("mug", 0.0) },
            ..Default::default()
        }];
        scene.take(&message, &robot.config.home, 0.0).expect("a scene");
        let stage = |joints: &[f64]| {
            robot.stage(&Moment { scene: Some(&scene), inferred: Some(joints), ..Moment::default() })
        };
        let mut turned = robot.config.home.clone();
        turned[0] += 1.0;
        let (before, after) = (stage(&robot.config.home), stage(&turned));
        assert_eq!((before.shapes.len(), before.held.len()), (1, 1));
        assert_eq!(before.shapes, after.shapes);
        assert!((at(&before.held[0]) - at(&after.held[0])).norm() > 0.1);
        let tool = robot.link_pose(&robot.config.frames.tool, &turned, 0.0).expect("the tool");
        assert!((at(&after.held[0]) - tool.translation.vector).norm() < 1e-6);
        assert!(
            robot.stage(&Moment { scene: Some(&scene), ..Moment::default() }).held.is_empty(),
            "no joints"
        );
    }

    #[test]
    fn without_a_planner_what_was_mapped_is_at_the_tool() {
        let robot = robot("xarm6");
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::new(0.05, 0.06, 0.07) };
        let mug = Object {
            class_name: "mug".to_owned(),
            ..Object::unnamed("mug_0".into(), Default::default(), bounds)
        };
        let home = robot.config.home.clone();
        let stage = robot.stage(&Moment { in_hand: Some(&mug), inferred: Some(&home), ..Moment::default() });
        let tool = robot.link_pose(&robot.config.frames.tool, &home, 0.0).expect("the tool");
        assert!((at(&stage.held[0]) - tool.translation.vector).norm() < 1e-6);
        assert_eq!(stage.held_name.map(|(name, _)| name).as_deref(), Some("mug"));
    }

    #[test]
    fn in_a_room_the_arm_is_on_its_base_and_the_way_ends_at_the_goal() {
        let robot = robot("ranger_xarm6");
        let place = Place {
            stage_from_arm: Isometry3::translation(2.0, 1.0, 0.5),
            stage_from_base: Some(Isometry3::translation(1.8, 1.0, 0.0)),
        };
        let home = robot.config.home.clone();
        let told = |places: Vec<[f64; 3]>| {
            let mut story = Story::default();
            story.take(&Event {
                kind: "motion".to_owned(),
                name: "drive".to_owned(),
                status: "started".to_owned(),
                places,
                ..Event::default()
            });
            story
        };
        let way = vec![Point3::new(1.8, 1.0, 0.0), Point3::new(3.0, 0.0, 0.0), Point3::new(4.0, 1.0, 0.0)];
        let stage = |story: Story| {
            robot.stage(&Moment {
                place: place.clone(),
                inferred: Some(&home),
                route: way.clone(),
                story,
                ..Moment::default()
            })
        };
        let driving = stage(told(vec![[4.0, 1.0, 0.3]]));
        let standings: Vec<Standing> = driving.stands.iter().map(|stand| stand.standing).collect();
        assert_eq!((standings, driving.route.len()), (vec![Standing::Now, Standing::Goal], 3));
        assert!(driving.robot.iter().all(|solid| at(solid).x > 0.5), "the arm is where the base is");
        assert!(driving.outline.len() > 2);
        assert_eq!(stage(told(vec![[6.0, 6.0, 0.0]])).route.len(), 2, "an old way is not that of this goal");
        let standing = stage(Story::default());
        assert!(standing.route.is_empty() && standing.stands.len() == 1);
        assert_eq!(stage(told(vec![[f64::NAN, 0.0, 0.0]])).stands.len(), 1);
    }
}
