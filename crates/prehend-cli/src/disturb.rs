//! Somebody interferes: what a robot next to people must expect, done to physics over the judge's channel.

use crate::judge::{Judge, JudgeError};
use nalgebra::{Isometry3, Point2, Point3, Quaternion, UnitQuaternion, Vector2, Vector3};
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_sim::world::{ArmModel, ObjectTruth, Truth};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::f64::consts::TAU;
use tokio::sync::mpsc::UnboundedReceiver;

/// How far a thing is pushed aside, metres.
const PUSH: f64 = 0.06;
/// How far from where it stood a thing is put that was taken, metres.
const FALL: f64 = 0.11;
/// Farthest a thing may be from the tool's axis and still be what it approaches, metres.
const APPROACHED: f64 = 0.12;
/// How long after the begin of a motion the arm is in the middle of it, seconds of physics, and how often it is looked.
const UNDER_WAY: f64 = 0.6;
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);
/// Directions that are tried.
const DIRECTIONS: u64 = 8;
/// Room that is left around a thing that is put down, metres.
const ROOM: f64 = 0.015;
/// Where the arm reaches and the camera at home sees, frame of the arm, metres: x, then |y|.
const REACH: ([f64; 2], f64) = ([0.30, 0.56], 0.30);

/// What somebody does, once in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    /// Pushes the first thing that the gripper approaches aside, at the last moment.
    Push,
    /// Takes the first thing that the gripper carries out of it and puts it on the table.
    Slip,
    /// Takes the first thing that was put down away again as soon as the gripper has let it go.
    Take,
    /// Holds the arm in the middle of the first motion that carries something, until it is told to stop.
    Jam,
}

/// Waits for the moment, interferes, and gives what was done in words; never completes when the moment does not come.
///
/// `heard` are the events of the trace. Errors: [`JudgeError`].
pub async fn interfere(
    disturbance: Disturbance,
    judge: &mut Judge,
    arm: &ArmModel,
    seed: u64,
    heard: &mut UnboundedReceiver<TraceEvent>,
) -> Result<String, JudgeError> {
    let before = judge.snapshot().await?;
    let mut carried: Option<String> = None;
    while let Some(event) = heard.recv().await {
        if event.kind != TraceEvent::KIND_MOTION || event.status != "started" {
            continue;
        }
        let truth = judge.snapshot().await?;
        let held = truth.objects.iter().find(|object| object.held);
        carried = held.map(|object| object.name.clone()).or(carried);
        let put_down = truth.objects.iter().find(|object| Some(&object.name) == carried.as_ref());
        let (object, away, words) = match (disturbance, event.name.as_str()) {
            (Disturbance::Push, "approach") => (approached(&truth, arm), PUSH, "pushed aside"),
            (Disturbance::Slip, "transit") => (held, FALL, "taken out of the gripper"),
            (Disturbance::Take, "retreat") => (put_down, FALL, "taken away again"),
            (Disturbance::Jam, "transit") if held.is_some() => {
                under_way(judge, truth.time).await?;
                judge.ask(&json!({"ask": "jam"})).await?;
                return Ok("the arm was held in the middle of its motion".to_owned());
            }
            _ => continue,
        };
        let Some(object) = object else { continue };
        // Near the place it stood at first, and as high.
        let stood = before.objects.iter().find(|known| known.name == object.name).unwrap_or(object);
        let Some(place) = free_place(stood, &truth, &around(&truth, arm), away, seed) else {
            continue;
        };
        let position = [place.x, place.y, stood.position[2]];
        judge.ask(&json!({"ask": "move_object", "object": object.name, "position": position})).await?;
        return Ok(format!("{} was {words}", object.name));
    }
    std::future::pending().await
}

/// Waits until a motion that begins now is under way.
async fn under_way(judge: &mut Judge, begins: f64) -> Result<(), JudgeError> {
    while judge.snapshot().await?.time < begins + UNDER_WAY {
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Where the root of the robot stands: a base that drives, or the arm that is the origin itself.
fn world_from_root(truth: &Truth) -> Isometry3<f64> {
    truth.base.map_or_else(Isometry3::identity, |base| {
        let [x, y, yaw] = base.pose;
        Isometry3::new(Vector3::new(x, y, 0.0), Vector3::z() * yaw)
    })
}

/// Where a thing may be put so that the robot can still get at it.
#[derive(Clone, Copy, Debug)]
enum Around {
    /// Where an arm that stands still reaches: from the map to it.
    Arm(Isometry3<f64>),
    /// A base drives to wherever the thing is.
    Room,
}

fn around(truth: &Truth, arm: &ArmModel) -> Around {
    if truth.base.is_some() { Around::Room } else { Around::Arm(world_from_arm(truth, arm).inverse()) }
}

impl Around {
    fn reaches(&self, place: &Point2<f64>) -> bool {
        let Self::Arm(arm_from_world) = self else { return true };
        let ([near, far], side) = REACH;
        let reached = arm_from_world * Point3::new(place.x, place.y, 0.0);
        (near..far).contains(&reached.x) && reached.y.abs() < side
    }
}

fn world_from_arm(truth: &Truth, arm: &ArmModel) -> Isometry3<f64> {
    let links = arm.link_poses(&truth.joints, truth.opening);
    world_from_root(truth) * links.get(arm.arm_base()).copied().unwrap_or_else(Isometry3::identity)
}

/// The free object nearest to the tool, seen from above.
fn approached<'a>(truth: &'a Truth, arm: &ArmModel) -> Option<&'a ObjectTruth> {
    let tool = (world_from_root(truth) * arm.tcp_pose(&truth.joints)).translation.vector.xy();
    let distance = |object: &ObjectTruth| (center(object).coords - tool).norm();
    truth
        .objects
        .iter()
        .filter(|object| !object.fixed && !object.fallen && distance(object) < APPROACHED)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn center(object: &ObjectTruth) -> Point2<f64> {
    Point2::new(object.position[0], object.position[1])
}

fn radius(object: &ObjectTruth) -> f64 {
    object.half_extents[0].hypot(object.half_extents[1])
}

/// Whether a thing that is put there stands on what carried it, not over its edge.
fn is_on(carrier: &ObjectTruth, object: &ObjectTruth, place: &Point2<f64>) -> bool {
    let [x, y, z, w] = carrier.orientation;
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let offset = turn.inverse() * Point3::new(place.x, place.y, object.position[2]).coords
        - turn.inverse() * Vector3::from(carrier.position);
    (0..2).all(|axis| offset[axis].abs() + radius(object) < carrier.half_extents[axis])
}

/// Whether two things share a height, so that one may not be put where the other stands.
fn is_level(object: &ObjectTruth, other: &ObjectTruth) -> bool {
    let reach = object.half_extents[2] + other.half_extents[2];
    (object.position[2] - other.position[2]).abs() < reach
}

/// A place `away` from where a thing stands, on what carries it, where nothing else stands and the robot gets at it.
fn free_place(
    object: &ObjectTruth,
    truth: &Truth,
    around: &Around,
    away: f64,
    seed: u64,
) -> Option<Point2<f64>> {
    let (carriers, others): (Vec<&ObjectTruth>, Vec<&ObjectTruth>) = truth
        .objects
        .iter()
        .filter(|other| other.name != object.name && !other.held)
        .partition(|other| object.on.contains(&other.name));
    let is_clear = |other: &ObjectTruth, place: &Point2<f64>| {
        (center(other) - place).norm() > radius(other) + radius(object) + ROOM
    };
    (0..DIRECTIONS)
        .map(|step| ((seed + step) % DIRECTIONS) as f64 / DIRECTIONS as f64 * TAU)
        .map(|angle| center(object) + Vector2::new(angle.cos(), angle.sin()) * away)
        .find(|place| {
            around.reaches(place)
                && carriers.iter().all(|carrier| is_on(carrier, object, place))
                && others.iter().all(|other| !is_level(object, other) || is_clear(other, place))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_sim::scene::Shape;

    fn object(name: &str, x: f64, y: f64) -> ObjectTruth {
        ObjectTruth {
            name: name.to_owned(),
            class: "block".to_owned(),
            shape: Shape::Box { size: [0.04; 3] },
            color: [0; 3],
            color_name: None,
            fixed: false,
            position: [x, y, 0.02],
            orientation: [0.0, 0.0, 0.0, 1.0],
            half_extents: [0.02; 3],
            speed: 0.0,
            touches: Vec::new(),
            inside: Vec::new(),
            on: Vec::new(),
            held: false,
            fallen: false,
        }
    }

    fn truth(objects: Vec<ObjectTruth>) -> Truth {
        Truth {
            time: 0.0,
            joints: vec![0.0; 6],
            opening: 0.0,
            pad_force: 0.0,
            moving: true,
            mechanisms: Vec::new(),
            table_height: 0.0,
            base: None,
            objects,
        }
    }

    #[test]
    fn a_thing_is_put_where_nothing_stands_and_the_arm_reaches() {
        let objects = vec![object("a", 0.45, 0.0), object("b", 0.51, 0.0), object("c", 0.45, 0.27)];
        let truth = truth(objects);
        let here = Around::Arm(Isometry3::identity());
        for seed in 0..8 {
            let place = free_place(&truth.objects[0], &truth, &here, PUSH, seed).unwrap();
            assert!((place - Point2::new(0.45, 0.0)).norm() - PUSH < 1e-9);
            assert!((place - center(&truth.objects[1])).norm() > 0.05, "seed {seed}: {place}");
            let place = free_place(&truth.objects[2], &truth, &here, PUSH, seed).unwrap();
            assert!(place.y < 0.30, "seed {seed}: {place}");
        }
        // An arm on a base that stands a metre behind does not reach there.
        let away = Around::Arm(Isometry3::translation(1.0, 0.0, -0.7));
        assert!(free_place(&truth.objects[0], &truth, &away, PUSH, 0).is_none());
        let mut full = truth;
        full.objects[1].half_extents = [0.5; 3];
        assert!(free_place(&full.objects[0], &full, &here, PUSH, 0).is_none());
    }

    #[test]
    fn in_a_room_a_thing_stays_on_the_table_it_stands_on() {
        let table = ObjectTruth {
            fixed: true,
            position: [2.0, 1.0, 0.36],
            half_extents: [0.10, 0.40, 0.36],
            ..object("table", 2.0, 1.0)
        };
        let on = |name: &str, x: f64, y: f64| ObjectTruth {
            on: vec!["table".to_owned()],
            position: [x, y, 0.74],
            ..object(name, x, y)
        };
        let truth = truth(vec![table, on("a", 2.0, 1.0), on("b", 2.0, 1.09)]);
        for seed in 0..8 {
            let place = free_place(&truth.objects[1], &truth, &Around::Room, FALL, seed).unwrap();
            assert!((place.x - 2.0).abs() < 0.08 && place.y < 1.0, "seed {seed}: {place}");
        }
    }
}
