use super::*;
use crate::{CommitRule, Workspace};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{Mask, OrientedBox, PointCloud};
use prehend_scene::{EvidenceType, Region};

pub(crate) fn settings() -> Settings {
    Settings {
        commit: CommitRule::default(),
        workspace: Workspace {
            low: [0.1, -0.6, -0.05],
            high: [0.8, 0.6, 0.8],
            support_clearance: 0.002,
            max_opening: 0.085,
        },
        permit_seconds: 10.0,
        min_confidence: 0.5,
        grasp_reach: 0.05,
    }
}

fn object(key: &str, x: f64) -> Object {
    let points: Vec<Point3<f64>> = (0..20).map(|i| Point3::new(x, 0.0, 0.002 * f64::from(i))).collect();
    Object {
        class_name: "mug".to_owned(),
        confidence: 0.9,
        class_votes: vec![("mug".to_owned(), 0.9)],
        color: [200, 0, 0],
        view_count: 2,
        last_seen: 1.0,
        ..Object::unnamed(
            ObjectKey::from(key),
            PointCloud::from_points(points),
            OrientedBox { pose: Isometry3::translation(x, 0.0, 0.02), size: Vector3::new(0.05, 0.05, 0.04) },
        )
    }
}

fn map() -> ObjectMap {
    ObjectMap {
        frame: "link_base".to_owned(),
        version: 5,
        stamp: 1.0,
        objects: vec![object("mug_0", 0.4), object("bowl_0", 0.5)],
        support_plane: Some([0.0, 0.0, 1.0, 0.0]),
    }
}

fn evidence() -> Vec<Evidence> {
    let record = |id: &str, producer: &str, scale: f64| Evidence {
        id: id.to_owned(),
        kind: EvidenceType::Seg,
        producer: producer.to_owned(),
        view: "home".to_owned(),
        scale,
        confidence: 0.9,
        label: String::new(),
        region: Region::Mask(Mask::filled_box(640, 480, 10, 10, 40, 40)),
        stamp: 1.0,
    };
    vec![record("a", "detector", 1.0), record("b", "detector", 2.0), record("c", "geometry", 1.0)]
}

fn pose(x: f64, z: f64) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::new(x, 0.0, z), UnitQuaternion::identity())
}

fn plan(skill: Skill) -> SkillPlan {
    let grasp = skill == Skill::Grasp;
    SkillPlan {
        skill,
        object: ObjectKey::from("mug_0"),
        targets: if grasp { Vec::new() } else { vec![ObjectKey::from("bowl_0")] },
        relation: (!grasp).then_some(Relation::In),
        part: String::new(),
        motion: None,
        held_object: (!grasp).then(|| ObjectKey::from("mug_0")),
        pose_goals: vec![pose(0.4, 0.15), pose(0.4, 0.03)],
        gripper_opening: 0.08,
        map_version: 5,
    }
}

/// Breaks one thing of a clean case and expects exactly that finding.
fn check(
    name: &str,
    skill: Skill,
    break_it: impl FnOnce(&mut SkillPlan, &mut Vec<Evidence>, &mut ObjectMap),
    expected: &[&str],
) {
    let (mut plan, mut evidence, mut map, settings) = (plan(skill), evidence(), map(), settings());
    break_it(&mut plan, &mut evidence, &mut map);
    let verdict = judge(
        &plan,
        &evidence,
        &GateContext { map: Some(&map), room: None, ground: None, settings: &settings },
    );
    let found: Vec<String> = verdict
        .findings
        .iter()
        .map(|f| format!("{f:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(found, expected, "{name}: {:?}", verdict.findings);
    assert_eq!(verdict.granted(), expected.is_empty());
}

#[test]
fn one_broken_thing_is_exactly_one_finding() {
    use Skill::{Grasp, Place};
    check("clean grasp", Grasp, |_, _, _| {}, &[]);
    check("clean place", Place, |_, _, _| {}, &[]);
    check("place needs no evidence", Place, |_, e, _| e.clear(), &[]);
    check("no evidence", Grasp, |_, e, _| e.clear(), &["NotCommitted"]);
    check("stale", Grasp, |p, _, _| p.map_version = 4, &["StaleMap"]);
    check("stale place", Place, |_, _, m| m.version = 6, &["StaleMap"]);
    check("gone", Grasp, |p, _, _| p.object = ObjectKey::from("cup_9"), &["UnknownObject"]);
    check("target gone", Place, |p, _, _| p.targets = vec![ObjectKey::from("x")], &["UnknownObject"]);
    check("no target", Place, |p, _, _| p.targets.clear(), &["MissingTarget"]);
    check("between one", Place, |p, _, _| p.relation = Some(Relation::Between), &["MissingTarget"]);
    check("nan", Grasp, |p, _, _| p.pose_goals[0].translation.x = f64::NAN, &["PoseNotFinite"]);
    check("outside", Grasp, |p, _, _| p.pose_goals[0].translation.x = 2.0, &["PoseOutsideWorkspace"]);
    check("into the table", Grasp, |p, _, _| p.pose_goals[1].translation.z = 0.0, &["BelowSupport"]);
    check("no poses", Place, |p, _, _| p.pose_goals.clear(), &["PoseCount"]);
    check("opening", Grasp, |p, _, _| p.gripper_opening = 0.2, &["Opening"]);
    check("nan opening", Grasp, |p, _, _| p.gripper_opening = f64::NAN, &["Opening"]);
    check("full hand", Grasp, |p, _, _| p.held_object = Some(ObjectKey::from("can_0")), &["HandNotEmpty"]);
    check("empty hand", Place, |p, _, _| p.held_object = None, &["NotHeld"]);
    check("other held", Place, |p, _, _| p.held_object = Some(ObjectKey::from("can_0")), &["NotHeld"]);
    check(
        "far",
        Grasp,
        |p, _, _| p.pose_goals.iter_mut().for_each(|g| g.translation.x = 0.6),
        &["GraspAwayFromObject"],
    );
    check("uncertain", Grasp, |_, _, m| m.objects[0].confidence = 0.3, &["UncertainName"]);
}

#[test]
fn without_a_map_nothing_is_touched_but_looking_is_allowed() {
    let settings = settings();
    let context = GateContext { map: None, room: None, ground: None, settings: &settings };
    assert_eq!(
        judge(&plan(Skill::Grasp), &evidence(), &context).findings,
        vec![Finding::NoMap],
        "a grasp needs a map"
    );
    assert!(judge(&plan(Skill::Look), &[], &context).granted());
}

fn pull() -> SkillPlan {
    let motion = PartMotion {
        effect: PartEffect::Open,
        anchor: Point3::new(0.4, 0.0, 0.03),
        direction: -Vector3::x(),
        extent: 0.15,
        least: 0.08,
        corridor: 0.1,
    };
    let grasp = plan(Skill::Grasp);
    SkillPlan { skill: Skill::HookPull, part: "handle".to_owned(), motion: Some(motion), ..grasp }
}

#[test]
fn the_motion_of_a_part_is_bounded_or_refused() {
    let check = |name: &str, break_it: &dyn Fn(&mut SkillPlan, &mut PartMotion), expected: &[&str]| {
        let (mut plan, map, settings) = (pull(), map(), settings());
        let mut motion = plan.motion.expect("a pull has one");
        break_it(&mut plan, &mut motion);
        plan.motion = plan.motion.map(|_| motion);
        let verdict = judge(
            &plan,
            &evidence(),
            &GateContext { map: Some(&map), room: None, ground: None, settings: &settings },
        );
        let found: Vec<String> = verdict
            .findings
            .iter()
            .map(|f| format!("{f:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(found, expected, "{name}: {:?}", verdict.findings);
    };
    check("clean", &|_, _| {}, &[]);
    check("none", &|p, _| p.motion = None, &["PartMotion"]);
    check("of a grasp", &|p, _| p.skill = Skill::Grasp, &["PartMotion"]);
    check("a hook does not press", &|_, m| m.effect = PartEffect::Press, &["PartEffect"]);
    check("far", &|_, m| m.extent = 0.9, &["PartBounds"]);
    check("nan", &|_, m| m.least = f64::NAN, &["PartBounds"]);
    check("backwards", &|_, m| m.least = -0.1, &["PartBounds"]);
    check("anywhere", &|_, m| m.corridor = 0.5, &["PartBounds"]);
    check("no direction", &|_, m| m.direction = Vector3::zeros(), &["PartBounds"]);
    check("elsewhere", &|_, m| m.anchor.y = 0.3, &["PartAwayFromObject"]);
    // 45 cm towards the base end 15 cm outside the workspace: too far for this corridor, not for what may bend as far.
    check("out of the workspace", &|_, m| (m.extent, m.least) = (0.5, 0.45), &["PartLeavesWorkspace"]);
    check("round a corner", &|_, m| (m.extent, m.least, m.corridor) = (0.5, 0.45, 0.2), &[]);
    check("it may stop before", &|_, m| m.extent = 0.5, &[]);
    let (map, settings) = (map(), settings());
    let refused =
        judge(&pull(), &[], &GateContext { map: Some(&map), room: None, ground: None, settings: &settings });
    assert!(matches!(refused.findings[..], [Finding::NotCommitted { .. }]), "{:?}", refused.findings);
}
