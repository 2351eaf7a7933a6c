use super::*;
use nalgebra::{Isometry3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::{Felt, PartEffect, PartMotion};

/// The verdict, which must be the same on what travels to the verifier.
fn check_outcome(plan: &SkillPlan, before: &Observation, after: &Observation) -> Outcome {
    let outcome = super::check_outcome(plan, before, after);
    let (mut before, mut after) = (before.clone(), after.clone());
    keep_needed(plan, &mut before, &mut after);
    assert_eq!(super::check_outcome(plan, &before, &after), outcome);
    outcome
}

#[test]
fn only_what_a_check_looks_at_travels_to_the_verifier() {
    let points = |observation: &Observation, key: &str| {
        let found = observation.objects.iter().flatten().find(|object| object.key.0 == key);
        found.map_or(0, |object| object.cloud.len())
    };
    let scene = || observation(0.08, Some(vec![drawer("drawer_0", 0.0, true), bowl()]));
    let (mut before, mut after) = (scene(), scene());
    keep_needed(&plan(Skill::Grasp, None, &[], [0.4, 0.0, 0.03]), &mut before, &mut after);
    assert_eq!([points(&before, "drawer_0"), points(&after, "drawer_0")], [0, 0]);
    // Of a divided container its points; of what surrounds a part before, those at its place; after, all.
    let (mut before, mut after) = (scene(), scene());
    let mut place = plan(Skill::Place, Some(Relation::In), &["bowl_0"], [0.5, 0.1, 0.05]);
    place.part = "left compartment".to_owned();
    keep_needed(&place, &mut before, &mut after);
    assert_eq!([points(&after, "drawer_0"), points(&after, "bowl_0")], [0, 1]);
    let (mut before, mut after) = (scene(), scene());
    let mut pull = plan(Skill::HookPull, None, &[], [0.37, 0.0, 0.2]);
    (pull.object, pull.motion) = ("drawer_0".into(), Some(motion(PartEffect::Open, -Vector3::x(), 0.09)));
    keep_needed(&pull, &mut before, &mut after);
    assert_eq!([points(&before, "bowl_0"), points(&after, "bowl_0")], [0, 1]);
    assert!(points(&before, "drawer_0") > 0);
}

fn object(key: &str, class_name: &str, at: [f64; 3], size: [f64; 3]) -> Object {
    Object {
        class_name: class_name.to_owned(),
        confidence: 0.9,
        class_votes: vec![(class_name.to_owned(), 0.9)],
        color: [200, 0, 0],
        view_count: 1,
        ..Object::unnamed(
            ObjectKey::from(key),
            PointCloud::from_points(vec![Point3::new(at[0], at[1], at[2])]),
            OrientedBox {
                pose: Isometry3::translation(at[0], at[1], at[2]),
                size: Vector3::new(size[0], size[1], size[2]),
            },
        )
    }
}

fn apple(key: &str, x: f64, y: f64, z: f64) -> Object {
    object(key, "apple", [x, y, z], [0.06, 0.06, 0.06])
}

fn bowl() -> Object {
    object("bowl_0", "bowl", [0.5, 0.1, 0.03], [0.16, 0.16, 0.06])
}

fn observation(opening: f64, objects: Option<Vec<Object>>) -> Observation {
    Observation {
        stamp: 1.0,
        gripper_opening: opening,
        gripper_command: 0.0,
        gripper_effort: 20.0,
        tool_pose: Isometry3::identity(),
        objects,
        map_version: 1,
        felt: None,
    }
}

fn plan(skill: Skill, relation: Option<Relation>, targets: &[&str], goal: [f64; 3]) -> SkillPlan {
    SkillPlan {
        skill,
        object: ObjectKey::from("apple_0"),
        targets: targets.iter().map(|key| ObjectKey::from(*key)).collect(),
        relation,
        part: String::new(),
        motion: None,
        held_object: None,
        pose_goals: vec![Isometry3::translation(goal[0], goal[1], goal[2])],
        gripper_opening: 0.08,
        map_version: 1,
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded { .. } => "succeeded",
        Outcome::Failed { .. } => "failed",
        Outcome::NotObserved { .. } => "not observed",
    }
}

#[test]
fn a_grasp_is_judged_by_the_pads_and_the_empty_place() {
    let before = observation(0.08, Some(vec![apple("apple_0", 0.4, 0.0, 0.03), bowl()]));
    let grasp = plan(Skill::Grasp, None, &[], [0.4, 0.0, 0.03]);
    let check = |opening: f64, objects: Option<Vec<Object>>, expected: &str| {
        let outcome = check_outcome(&grasp, &before, &observation(opening, objects));
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(0.058, Some(vec![bowl()]), "succeeded");
    check(0.058, None, "succeeded");
    check(0.0005, Some(vec![bowl()]), "failed");
    check(0.058, Some(vec![apple("apple_0", 0.4, 0.0, 0.03), bowl()]), "failed");
    check(f64::NAN, None, "not observed");
    // The apple is seen elsewhere, and it is the bowl that is gone.
    check(0.058, Some(vec![apple("apple_0", 0.46, 0.0, 0.03)]), "failed");
    // Nothing else is gone: what bears its name now was not known before.
    check(0.058, Some(vec![apple("apple_0", 0.46, 0.0, 0.03), bowl()]), "succeeded");
}

#[test]
fn a_placement_is_judged_by_where_the_object_is_seen() {
    let before = observation(0.058, Some(vec![apple("apple_0", 0.4, 0.0, 0.03), bowl()]));
    let open = |objects: Vec<Object>| {
        let mut after = observation(0.085, Some(objects));
        after.gripper_command = 0.085;
        after
    };
    let check = |relation: Relation, at: [f64; 3], expected: &str| {
        let place = plan(Skill::Place, Some(relation), &["bowl_0"], [at[0], at[1], at[2] + 0.02]);
        let after = open(vec![bowl(), apple("apple_1", at[0], at[1], at[2])]);
        let outcome = check_outcome(&place, &before, &after);
        assert_eq!(word(&outcome), expected, "{relation:?} {outcome:?}");
    };
    check(Relation::In, [0.5, 0.1, 0.05], "succeeded");
    check(Relation::In, [0.5, 0.25, 0.03], "failed");
    check(Relation::On, [0.5, 0.1, 0.08], "succeeded");
    check(Relation::LeftOf, [0.5, 0.3, 0.03], "succeeded");
    check(Relation::LeftOf, [0.5, -0.1, 0.03], "failed");
    check(Relation::RightOf, [0.5, -0.1, 0.03], "succeeded");
    check(Relation::InFrontOf, [0.3, 0.1, 0.03], "succeeded");
    check(Relation::Behind, [0.3, 0.1, 0.03], "failed");
    check(Relation::NextTo, [0.5, 0.25, 0.03], "succeeded");
    check(Relation::NextTo, [0.5, 0.6, 0.03], "failed");
    check(Relation::Table, [0.3, -0.3, 0.03], "succeeded");

    let place = plan(Skill::Place, Some(Relation::In), &["bowl_0"], [0.5, 0.1, 0.08]);
    // It rolled off: something like it lies elsewhere, nothing where it was put.
    let outcome = check_outcome(&place, &before, &open(vec![bowl(), apple("apple_1", 0.3, -0.2, 0.03)]));
    assert_eq!(word(&outcome), "not observed", "{outcome:?}");
    let outcome = check_outcome(&place, &before, &observation(0.05, Some(vec![bowl()])));
    assert_eq!(word(&outcome), "failed", "still held: {outcome:?}");
    let mut blind = observation(0.085, None);
    blind.gripper_command = 0.085;
    assert_eq!(word(&check_outcome(&place, &before, &blind)), "not observed");
}

#[test]
fn what_was_there_before_is_not_what_was_put_there() {
    let old = apple("apple_9", 0.51, 0.12, 0.05);
    let before = observation(0.058, Some(vec![apple("apple_0", 0.4, 0.0, 0.03), bowl(), old.clone()]));
    let place = plan(Skill::Place, Some(Relation::In), &["bowl_0"], [0.5, 0.1, 0.08]);
    let check = |objects: Vec<Object>, expected: &str| {
        let mut after = observation(0.085, Some(objects));
        after.gripper_command = 0.085;
        let outcome = check_outcome(&place, &before, &after);
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(vec![bowl(), old.clone()], "not observed");
    check(vec![bowl(), old.clone(), apple("apple_1", 0.47, 0.05, 0.05)], "succeeded");
    // It rolled to the far side of a wide bowl.
    let wide = object("bowl_0", "bowl", [0.5, 0.1, 0.03], [0.34, 0.34, 0.06]);
    check(vec![wide.clone(), apple("apple_1", 0.5, 0.24, 0.05)], "succeeded");
    // Misnamed, but red and as large; then one of another colour.
    let tomato = object("tomato_0", "tomato", [0.5, 0.1, 0.05], [0.06, 0.06, 0.06]);
    check(vec![bowl(), tomato.clone()], "succeeded");
    check(vec![bowl(), Object { color: [0, 0, 200], ..tomato }], "not observed");
}

#[test]
fn what_lies_on_the_rim_of_a_drawer_is_not_in_it() {
    let drawer = object("drawer_0", "drawer", [0.5, 0.0, 0.25], [0.3, 0.2, 0.09]);
    let before = observation(0.058, Some(vec![apple("apple_0", 0.4, 0.3, 0.03), drawer.clone()]));
    let check = |z: f64, expected: &str| {
        let place = plan(Skill::Place, Some(Relation::In), &["drawer_0"], [0.5, 0.0, z]);
        let mut after = observation(0.085, Some(vec![drawer.clone(), apple("apple_1", 0.5, 0.0, z)]));
        after.gripper_command = 0.085;
        let outcome = check_outcome(&place, &before, &after);
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(0.25, "succeeded");
    check(0.31, "failed");
}

#[test]
fn between_needs_both_sides() {
    let before = observation(0.058, Some(vec![apple("apple_0", 0.4, 0.0, 0.03)]));
    let can = object("can_0", "can", [0.5, -0.3, 0.05], [0.06, 0.06, 0.1]);
    let place = |y: f64| {
        let mut after = observation(0.085, Some(vec![bowl(), can.clone(), apple("apple_2", 0.5, y, 0.03)]));
        after.gripper_command = 0.085;
        let plan = plan(Skill::Place, Some(Relation::Between), &["bowl_0", "can_0"], [0.5, y, 0.05]);
        word(&check_outcome(&plan, &before, &after))
    };
    assert_eq!(place(-0.1), "succeeded");
    assert_eq!(place(0.3), "failed");
}

/// A drawer front with a handle in front of it, pulled out by `out` metres; each a dense patch of points.
fn drawer(key: &str, out: f64, with_handle: bool) -> Object {
    let mut drawer = object(key, "drawer", [0.58 - out, 0.0, 0.2], [0.02, 0.28, 0.08]);
    let patch = |x: f64, half: f64, tall: f64| {
        (-12..=12).flat_map(move |i| {
            (-4..=4).map(move |j| Point3::new(x, half * f64::from(i) / 12.0, 0.2 + tall * f64::from(j) / 4.0))
        })
    };
    let handle = patch(0.53 - out, 0.05, 0.006).filter(|_| with_handle);
    drawer.cloud.points = patch(0.58 - out, 0.14, 0.04).chain(handle).collect();
    drawer
}

fn motion(effect: PartEffect, direction: Vector3<f64>, least: f64) -> PartMotion {
    PartMotion { effect, anchor: Point3::new(0.53, 0.0, 0.2), direction, extent: 0.16, least, corridor: 0.05 }
}

#[test]
fn a_drawer_is_open_when_its_handle_is_seen_farther_out() {
    let mut plan = plan(Skill::HookPull, None, &[], [0.37, 0.0, 0.2]);
    plan.object = ObjectKey::from("drawer_0");
    plan.motion = Some(motion(PartEffect::Open, -Vector3::x(), 0.09));
    let before = observation(0.08, Some(vec![drawer("drawer_0", 0.0, true)]));
    let felt = |travel: f64| Felt {
        travel,
        returned: 0.0,
        displacement: -Vector3::x() * travel,
        force: 8.0,
        stopped: false,
    };
    let check = |felt: Option<Felt>, objects: Option<Vec<Object>>, expected: &str| {
        let after = Observation { felt, ..observation(0.08, objects) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    let seen = |key: &str, out: f64, with_handle: bool| Some(vec![drawer(key, out, with_handle)]);
    check(Some(felt(0.15)), seen("drawer_0", 0.15, true), "succeeded");
    check(Some(felt(0.15)), seen("drawer_9", 0.15, true), "succeeded");
    check(Some(felt(0.15)), seen("drawer_0", 0.15, false), "succeeded");
    // The pads slipped off: the hand went, the drawer did not.
    check(Some(felt(0.15)), seen("drawer_0", 0.0, true), "failed");
    check(Some(felt(0.15)), seen("drawer_0", 0.02, true), "failed");
    check(Some(felt(0.03)), seen("drawer_0", 0.15, true), "failed");
    check(Some(felt(0.15)), Some(Vec::new()), "not observed");
    check(Some(felt(0.15)), None, "not observed");
    check(None, seen("drawer_0", 0.15, true), "not observed");
}

#[test]
fn a_drawer_is_shut_when_its_handle_is_seen_farther_in() {
    let mut plan = plan(Skill::TipPush, None, &[], [0.5, 0.0, 0.2]);
    plan.object = ObjectKey::from("drawer_0");
    let mut shut = motion(PartEffect::Close, Vector3::x(), 0.02);
    shut.anchor.x = 0.38;
    plan.motion = Some(shut);
    let before = observation(0.0, Some(vec![drawer("drawer_0", 0.15, true)]));
    let felt =
        Felt { travel: 0.15, returned: 0.0, displacement: Vector3::x() * 0.15, force: 40.0, stopped: true };
    let check = |out: f64, expected: &str| {
        let after =
            Observation { felt: Some(felt), ..observation(0.0, Some(vec![drawer("drawer_0", out, true)])) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(0.0, "succeeded");
    check(0.15, "failed");
}

#[test]
fn a_drawer_that_was_pushed_in_a_part_of_the_way_is_not_closed() {
    let mut plan = plan(Skill::TipPush, None, &[], [0.5, 0.0, 0.2]);
    plan.object = ObjectKey::from("drawer_0");
    let mut close = motion(PartEffect::Close, Vector3::x(), 0.02);
    close.anchor.x = 0.38;
    plan.motion = Some(close);
    let mut cabinet = object("cabinet_0", "cabinet", [0.7, 0.0, 0.2], [0.2, 0.3, 0.1]);
    cabinet.cloud.points = (-12..=12)
        .flat_map(|i| (0..=20).map(move |j| (f64::from(i) * 0.0125, f64::from(j) * 0.01)))
        .map(|(y, x)| Point3::new(0.58 + x, y, 0.25))
        .collect();
    let before = observation(0.0, Some(vec![cabinet.clone(), drawer("drawer_0", 0.15, false)]));
    let check = |out: f64, stopped: bool, expected: &str| {
        let went = 0.15 - out;
        let felt =
            Felt { travel: went, returned: 0.0, displacement: Vector3::x() * went, force: 40.0, stopped };
        let seen = Some(vec![cabinet.clone(), drawer("drawer_0", out, false)]);
        let outcome =
            check_outcome(&plan, &before, &Observation { felt: Some(felt), ..observation(0.0, seen) });
        assert_eq!(word(&outcome), expected, "{out} {stopped}: {outcome:?}");
    };
    check(0.0, true, "succeeded");
    check(0.09, true, "failed");
    // The arm came no farther: what is seen decides, however far the drawer went.
    check(0.0, false, "succeeded");
    check(0.035, false, "failed");
    check(0.015, false, "not observed");
}

#[test]
fn a_drawer_that_stood_ajar_is_open_when_it_is_seen_to_stand_out_far_enough() {
    let check = |travel: f64, out: f64, expected: &str| {
        let mut cabinet = object("cabinet_0", "cabinet", [0.7, 0.0, 0.2], [0.2, 0.3, 0.1]);
        cabinet.cloud.points = (-12..=12)
            .flat_map(|i| (0..=20).map(move |j| (f64::from(i) * 0.0125, f64::from(j) * 0.01)))
            .map(|(y, x)| Point3::new(0.6 + x, y, 0.25))
            .collect();
        let mut plan = plan(Skill::HookPull, None, &[], [0.37, 0.0, 0.2]);
        plan.object = ObjectKey::from("drawer_0");
        plan.motion = Some(motion(PartEffect::Open, -Vector3::x(), 0.09));
        let before = observation(0.08, Some(vec![cabinet.clone(), drawer("drawer_0", 0.06, false)]));
        let felt =
            Felt { travel, returned: 0.0, displacement: -Vector3::x() * travel, force: 46.0, stopped: true };
        let now = Some(vec![cabinet, drawer("drawer_0", out, false)]);
        let after = Observation { felt: Some(felt), ..observation(0.08, now) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{travel} {out}: {outcome:?}");
    };
    check(0.05, 0.12, "succeeded");
    check(0.05, 0.05, "failed");
    check(0.002, 0.12, "failed");
}

#[test]
fn a_drawer_that_faces_another_way_is_not_the_one_that_was_pulled() {
    let mut plan = plan(Skill::HookPull, None, &[], [0.37, 0.0, 0.2]);
    plan.object = ObjectKey::from("drawer_0");
    plan.motion = Some(motion(PartEffect::Open, -Vector3::x(), 0.09));
    let before = observation(0.08, Some(vec![drawer("drawer_0", 0.0, false)]));
    let felt =
        Felt { travel: 0.15, returned: 0.0, displacement: -Vector3::x() * 0.15, force: 8.0, stopped: false };
    let check = |turn: f64, expected: &str| {
        let mut now = drawer("drawer_0", 0.15, false);
        let (sin, cos) = turn.sin_cos();
        for p in &mut now.cloud.points {
            let (x, y) = (p.x - 0.43, p.y);
            (p.x, p.y) = (0.43 + x * cos - y * sin, x * sin + y * cos);
        }
        let after = Observation { felt: Some(felt), ..observation(0.08, Some(vec![now])) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{turn}: {outcome:?}");
    };
    check(0.0, "succeeded");
    check(0.1, "succeeded");
    check(1.4, "not observed");
}

/// A cabinet and its door, hinged at the left and open by `angle`, with an upright bar near its free edge.
fn closet(angle: f64) -> Vec<Object> {
    let patch = |low: [f64; 3], high: [f64; 3]| -> Vec<Point3<f64>> {
        let steps = [0, 1, 2].map(|i| ((high[i] - low[i]) / 0.006).round() as usize);
        let at = |i: usize, n: usize| low[i] + (high[i] - low[i]) * n as f64 / steps[i].max(1) as f64;
        let all = (0..=steps[0]).flat_map(|i| (0..=steps[1]).map(move |j| (i, j)));
        all.flat_map(|(i, j)| (0..=steps[2]).map(move |k| Point3::new(at(0, i), at(1, j), at(2, k))))
            .collect()
    };
    let mut cabinet = object("cabinet_0", "cabinet", [0.7, 0.0, 0.15], [0.2, 0.24, 0.3]);
    cabinet.cloud.points = patch([0.6, -0.12, 0.3], [0.8, 0.12, 0.3]);
    for y in [-0.12, 0.12] {
        cabinet.cloud.points.extend(patch([0.6, y, 0.0], [0.8, y, 0.3]));
    }
    let mut closed = patch([0.0, 0.0, 0.01], [0.0, 0.23, 0.29]);
    closed.extend(patch([0.042, 0.205, 0.10], [0.042, 0.205, 0.20]));
    let (sin, cos) = angle.sin_cos();
    let points: Vec<Point3<f64>> = closed
        .into_iter()
        .map(|p| Point3::new(0.594 - p.x * cos - p.y * sin, 0.115 - p.y * cos + p.x * sin, p.z))
        .collect();
    let mut door = object("door_0", "door", [0.0; 3], [0.0; 3]);
    door.bounds = prehend_geometry::OrientedBox::upright_around(&points).expect("points");
    door.cloud.points = points;
    vec![cabinet, door]
}

#[test]
fn a_door_is_open_or_closed_by_the_angle_it_is_seen_at() {
    let check = |effect: PartEffect, from: f64, to: f64, stopped: bool, expected: &str| {
        let mut plan = plan(Skill::PinchPull, None, &[], [0.37, 0.0, 0.2]);
        plan.object = ObjectKey::from("door_0");
        plan.motion = Some(motion(effect, -Vector3::x(), 0.09));
        let felt =
            Felt { travel: 0.2, returned: 0.0, displacement: -Vector3::x() * 0.2, force: 8.0, stopped };
        let before = observation(0.08, Some(closet(from)));
        let after = Observation { felt: Some(felt), ..observation(0.08, Some(closet(to))) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{effect:?} {from} {to}: {outcome:?}");
    };
    check(PartEffect::Open, 0.0, 1.2, false, "succeeded");
    check(PartEffect::Open, 0.0, 0.8, false, "succeeded");
    // The pads slipped off, or something was in its way.
    check(PartEffect::Open, 0.0, 0.0, false, "failed");
    check(PartEffect::Open, 0.0, 0.25, true, "failed");
    check(PartEffect::Open, 0.0, 0.5, false, "not observed");
    check(PartEffect::Close, 1.2, 0.0, true, "succeeded");
    check(PartEffect::Close, 1.2, 0.7, true, "failed");
    check(PartEffect::Close, 1.2, 0.0, false, "not observed");
    // It swung so far that it is seen as a new one, where the hand let go of it or elsewhere.
    let handle = |angle: f64| closet(angle)[1].cloud.points.last().copied().expect("points");
    for (away, expected) in [(0.0, "succeeded"), (0.3, "not observed")] {
        let mut plan = plan(Skill::PinchPull, None, &[], [0.37, 0.0, 0.2]);
        plan.object = ObjectKey::from("door_0");
        plan.motion =
            Some(PartMotion { anchor: handle(0.0), ..motion(PartEffect::Open, -Vector3::x(), 0.09) });
        let displacement = handle(1.2) - handle(0.0) + Vector3::z() * away;
        let felt = Felt { travel: 0.25, returned: 0.0, displacement, force: 8.0, stopped: false };
        let mut now = closet(1.2);
        now[1].key = ObjectKey::from("door_7");
        let after = Observation { felt: Some(felt), ..observation(0.08, Some(now)) };
        let outcome = check_outcome(&plan, &observation(0.08, Some(closet(0.0))), &after);
        assert_eq!(word(&outcome), expected, "{away}: {outcome:?}");
    }
    let mut plan = plan(Skill::TipPush, None, &[], [0.37, 0.0, 0.2]);
    plan.object = ObjectKey::from("door_0");
    plan.motion = Some(motion(PartEffect::Close, Vector3::x(), 0.09));
    let felt =
        Felt { travel: 0.2, returned: 0.0, displacement: Vector3::x() * 0.2, force: 8.0, stopped: true };
    let unseen = Observation { felt: Some(felt), ..observation(0.0, Some(Vec::new())) };
    let outcome = check_outcome(&plan, &observation(0.0, Some(closet(1.2))), &unseen);
    assert_eq!(word(&outcome), "not observed", "{outcome:?}");
}

#[test]
fn what_stopped_early_is_shut_only_where_it_is_seen_to_be() {
    let check = |from: f64, to: f64, stopped: bool, expected: &str| {
        let mut plan = plan(Skill::TipPush, None, &[], [0.37, 0.0, 0.2]);
        plan.object = ObjectKey::from("door_0");
        plan.motion = Some(motion(PartEffect::Close, Vector3::x(), 0.09));
        let felt =
            Felt { travel: 0.04, returned: 0.0, displacement: Vector3::x() * 0.04, force: 36.0, stopped };
        let before = observation(0.0, Some(closet(from)));
        let after = Observation { felt: Some(felt), ..observation(0.0, Some(closet(to))) };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{from} {to}: {outcome:?}");
    };
    check(0.4, 0.0, true, "succeeded");
    check(0.4, 0.3, true, "failed");
    check(0.4, 0.18, true, "not observed");
    check(0.4, 0.0, false, "failed");
}

#[test]
fn a_knob_is_turned_when_its_ridge_is_seen_to_point_elsewhere() {
    // A ridge of 40 by 10 mm at the anchor, its length turned by `angle`.
    let stove = |angle: f64| {
        let mut stove = object("stove_0", "stove", [0.5, 0.0, 0.1], [0.2, 0.2, 0.03]);
        let ridge =
            (-10..=10).flat_map(|i| (-2..=2).map(move |j| (f64::from(i) * 2e-3, f64::from(j) * 2e-3)));
        stove.cloud.points = ridge
            .map(|(x, y)| {
                let (sin, cos) = angle.sin_cos();
                Point3::new(0.53 + x * cos - y * sin, x * sin + y * cos, 0.2)
            })
            .collect();
        stove
    };
    let mut plan = plan(Skill::PinchPull, None, &[], [0.53, 0.0, 0.2]);
    plan.object = ObjectKey::from("stove_0");
    plan.motion = Some(motion(PartEffect::Turn, -Vector3::z(), 0.014));
    let felt =
        Felt { travel: 0.024, returned: 0.0, displacement: Vector3::zeros(), force: 3.0, stopped: false };
    let check = |to: Option<f64>, travel: f64, expected: &str| {
        let now = to.map(|angle| vec![stove(angle)]);
        let after = Observation { felt: Some(Felt { travel, ..felt }), ..observation(0.08, now) };
        let outcome = check_outcome(&plan, &observation(0.08, Some(vec![stove(0.2)])), &after);
        assert_eq!(word(&outcome), expected, "{to:?}: {outcome:?}");
    };
    check(Some(-1.0), 0.024, "succeeded");
    check(Some(2.4), 0.044, "succeeded");
    // The pads slipped around it.
    check(Some(0.2), 0.024, "failed");
    check(Some(-0.1), 0.024, "not observed");
    check(Some(-1.0), 0.004, "failed");
    check(None, 0.024, "not observed");
}

#[test]
fn a_lever_is_turned_when_its_end_is_seen_to_have_gone_with_the_hand() {
    // A bar of 90 mm about its end at the post, turned by `angle` from +y towards the robot.
    let faucet = |angle: f64| {
        let mut faucet = object("faucet_0", "faucet", [0.5, 0.0, 0.1], [0.1, 0.1, 0.2]);
        faucet.cloud.points = (0..=45)
            .flat_map(|i| (-2..=2).map(move |j| (f64::from(i) * 2e-3, f64::from(j) * 3e-3)))
            .map(|(y, x)| {
                let (sin, cos) = angle.sin_cos();
                Point3::new(0.5 + x * cos - y * sin, x * sin + y * cos, 0.2)
            })
            .collect();
        faucet
    };
    let mut plan = plan(Skill::HookPull, None, &[], [0.5, 0.06, 0.2]);
    (plan.object, plan.part) = (ObjectKey::from("faucet_0"), "lever".to_owned());
    let turn =
        PartMotion { anchor: Point3::new(0.5, 0.055, 0.2), ..motion(PartEffect::Turn, -Vector3::x(), 0.033) };
    plan.motion = Some(turn);
    let displacement = Vector3::new(-0.05, -0.03, 0.0);
    let felt = Felt { travel: 0.063, returned: 0.0, displacement, force: 3.0, stopped: false };
    let check = |to: Option<f64>, travel: f64, expected: &str| {
        let now = to.map(|angle| vec![faucet(angle)]);
        let after = Observation { felt: Some(Felt { travel, ..felt }), ..observation(0.08, now) };
        let outcome = check_outcome(&plan, &observation(0.08, Some(vec![faucet(0.0)])), &after);
        assert_eq!(word(&outcome), expected, "{to:?}: {outcome:?}");
    };
    check(Some(1.15), 0.063, "succeeded");
    // The pads slipped off, or it turned the other way.
    check(Some(0.0), 0.063, "failed");
    check(Some(-1.15), 0.063, "failed");
    check(Some(0.35), 0.063, "not observed");
    check(Some(1.15), 0.010, "failed");
    check(None, 0.063, "not observed");
}

#[test]
fn a_button_was_pressed_when_it_gave_way_and_came_back() {
    let mut plan = plan(Skill::TipPush, None, &[], [0.4, 0.0, 0.05]);
    plan.motion = Some(motion(PartEffect::Press, -Vector3::z(), 0.002));
    let before = observation(0.0, Some(vec![apple("apple_0", 0.4, 0.0, 0.03)]));
    let felt = Felt {
        travel: 0.006,
        returned: 0.006,
        displacement: -Vector3::z() * 0.006,
        force: 20.0,
        stopped: true,
    };
    let check = |felt: Option<Felt>, at: f64, expected: &str| {
        let objects = Some(vec![apple("apple_0", at, 0.0, 0.03)]);
        let outcome = check_outcome(&plan, &before, &Observation { felt, ..observation(0.0, objects) });
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(Some(felt), 0.4, "succeeded");
    check(Some(felt), 0.45, "failed");
    check(Some(Felt { travel: 0.000_5, ..felt }), 0.4, "failed");
    check(Some(Felt { returned: 0.0, ..felt }), 0.4, "failed");
    check(Some(Felt { stopped: false, ..felt }), 0.4, "failed");
    check(Some(Felt { force: 0.0, ..felt }), 0.4, "not observed");
    // A stove's knob that was taken for a button.
    check(Some(Felt { force: 195.0, ..felt }), 0.4, "not observed");
    check(None, 0.4, "not observed");
}

#[test]
fn a_plug_is_out_when_it_is_held_and_no_longer_seen_in_its_socket() {
    let mut plan = plan(Skill::PinchPull, None, &[], [0.45, 0.0, 0.2]);
    plan.motion = Some(motion(PartEffect::TakeOut, -Vector3::x(), 0.04));
    let before = observation(0.08, Some(vec![drawer("strip_0", 0.0, true)]));
    let felt =
        Felt { travel: 0.07, returned: 0.0, displacement: -Vector3::x() * 0.07, force: 12.0, stopped: false };
    let check = |opening: f64, handle: bool, expected: &str| {
        let after = Observation {
            felt: Some(felt),
            ..observation(opening, Some(vec![drawer("strip_0", 0.0, handle)]))
        };
        let outcome = check_outcome(&plan, &before, &after);
        assert_eq!(word(&outcome), expected, "{outcome:?}");
    };
    check(0.012, false, "succeeded");
    check(0.012, true, "failed");
    check(0.000_5, false, "failed");
}
