use super::*;
use crate::{Assessments, CommitRule, Doubt, Scene, Settings, Sightings, Workspace, assess};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{Intrinsics, Mask, OrientedBox, PointCloud};
use prehend_scene::{Evidence, EvidenceType, ObjectKey, PartEffect, Region, Sighting};

pub(crate) fn settings() -> Settings {
    Settings {
        commit: CommitRule::default(),
        workspace: Workspace {
            low: [0.1, -0.6, -0.05],
            high: [0.8, 0.6, 0.8],
            support_clearance: 0.002,
            max_opening: 0.085,
        },
        assessment_seconds: 120.0,
        permit_seconds: 10.0,
        min_confidence: 0.5,
        grasp_reach: 0.05,
        approval: crate::Approval::Never,
        approval_seconds: 60.0,
        sure_score: 0.9,
        sure_name: 0.75,
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

/// Seen once, from straight above the mug.
fn sightings() -> Sightings {
    let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let seen = Sighting {
        view: "home".to_owned(),
        stamp: 1.0,
        intrinsics: Intrinsics { fx: 600.0, fy: 600.0, cx: 320.0, cy: 240.0, width: 640, height: 480 },
        map_from_camera: Isometry3::from_parts(Translation3::new(0.4, 0.0, 0.6), down),
    };
    ["mug_0", "bowl_0"].map(|key| (ObjectKey::from(key), vec![seen.clone()])).into()
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
        region: Region::Mask(Mask::filled_box(640, 480, 300, 220, 40, 40)),
        stamp: 1.0,
    };
    vec![record("a", "detector", 1.0), record("b", "detector", 2.0), record("c", "geometry", 1.0)]
}

/// What is broken between the assessment and the gate.
struct Case {
    plan: SkillPlan,
    evidence: Vec<Evidence>,
    /// What the evidence is said to be about.
    about: ObjectKey,
    /// The map when the evidence was assessed; the gate sees `map`.
    assessed_on: ObjectMap,
    map: ObjectMap,
    sightings: Sightings,
    /// The id that is shown to the gate, when it is not the one that was given.
    shown: Option<String>,
    /// Time of the gate; the assessment is made at 2 s.
    now: f64,
}

impl Case {
    fn clean(plan: SkillPlan) -> Self {
        Self {
            plan,
            evidence: evidence(),
            about: ObjectKey::from("mug_0"),
            assessed_on: map(),
            map: map(),
            sightings: sightings(),
            shown: None,
            now: 3.0,
        }
    }

    fn judge(&self) -> Verdict {
        let settings = settings();
        let scene = Scene { map: Some(&self.assessed_on), sightings: &self.sightings, now: 2.0 };
        let mut assessments = Assessments::new(1);
        let judged = assess(&self.about, &self.evidence, &scene, &settings.commit);
        let given = assessments.keep(&self.about, &self.evidence, judged, &scene);
        let context = GateContext { map: Some(&self.map), now: self.now, ..context(&settings, &assessments) };
        judge(&self.plan, self.shown.as_ref().unwrap_or(&given), &context)
    }
}

/// A context that knows nothing but its settings and assessments.
pub(crate) fn context<'a>(settings: &'a Settings, assessments: &'a Assessments) -> GateContext<'a> {
    let same_name: &dyn Fn(&str, &str) -> bool = &|a, b| matches!((a, b), ("pan", "skillet"));
    GateContext { map: None, room: None, ground: None, assessments, same_name, settings, now: 0.0 }
}

/// The names of the findings.
fn names(verdict: &Verdict) -> Vec<String> {
    let name = |f: &Finding| match f {
        Finding::Doubted { doubt } => format!("{doubt:?}"),
        other => format!("{other:?}"),
    };
    let first = |text: String| text.split([' ', '{', '(']).next().unwrap_or_default().to_owned();
    verdict.findings.iter().map(|finding| first(name(finding))).collect()
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
    check_case(name, skill, |case| break_it(&mut case.plan, &mut case.evidence, &mut case.map), expected);
}

/// As [`check`], for what lies between the assessment and the gate.
fn check_case(name: &str, skill: Skill, break_it: impl FnOnce(&mut Case), expected: &[&str]) {
    let mut case = Case::clean(plan(skill));
    break_it(&mut case);
    let verdict = case.judge();
    assert_eq!(names(&verdict), expected, "{name}: {:?}", verdict.findings);
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
    check_case(
        "gone",
        Grasp,
        |c| {
            c.plan.object = ObjectKey::from("cup_9");
            c.about = c.plan.object.clone();
        },
        &["UnknownObject", "UnknownObject"],
    );
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
    check(
        "uncertain",
        Grasp,
        |_, _, m| {
            m.objects[0].confidence = 0.3;
            m.objects[0].class_votes = vec![("mug".to_owned(), 0.9), ("can".to_owned(), 2.1)];
        },
        &["UncertainName"],
    );
}

/// Evidence belongs to one thing, at one time: each broken binding is exactly one finding.
#[test]
fn evidence_supports_only_what_it_is_about_while_it_is_so() {
    use Skill::{Grasp, HookPull};
    let bowl = || ObjectKey::from("bowl_0");
    for skill in [Grasp, HookPull] {
        let check = |name: &str, break_it: &dyn Fn(&mut Case), expected: &[&str]| {
            let pulls = skill == HookPull;
            check_case(
                name,
                Grasp,
                |case| {
                    if pulls {
                        case.plan = pull();
                    }
                    break_it(case);
                },
                expected,
            );
        };
        check("clean", &|_| {}, &[]);
        check("none", &|c| c.shown = Some(String::new()), &["NotAssessed"]);
        check("made up", &|c| c.shown = Some("a1-2".to_owned()), &["UnknownAssessment"]);
        check("of another life", &|c| c.shown = Some("a2-1".to_owned()), &["UnknownAssessment"]);
        check("at another time", &|c| c.now = 2.0 + 121.0, &["AssessmentExpired"]);
        check("before it was made", &|c| c.now = 1.0, &["AssessmentExpired"]);
        check("at no time", &|c| c.now = f64::NAN, &["AssessmentExpired"]);
        check(
            "the object was pushed",
            &|c| c.assessed_on.objects[0].bounds.pose.translation.x = 0.3,
            &["MovedSinceAssessed"],
        );
        check("further sides were seen", &|c| c.map.objects[0].bounds.size.x += 0.06, &[]);
        check("a newer map, nothing moved", &|c| c.assessed_on.version = 4, &[]);
        // What was judged of the bowl supports nothing of the mug, however good it is.
        check(
            "about the bowl",
            &|c| {
                c.about = bowl();
                c.evidence.iter_mut().for_each(|e| e.region = on_the_bowl());
            },
            &["AssessedOther"],
        );
        check(
            "of the bowl, said to be of the mug",
            &|c| c.evidence.iter_mut().for_each(|e| e.region = on_the_bowl()),
            &["Elsewhere"],
        );
        // One tool that errs is disagreement, not another thing.
        check("one errs", &|c| c.evidence[1].region = on_the_bowl(), &["NotCommitted"]);
        check(
            "of a view in which it was not seen",
            &|c| c.evidence[2].view = "left".to_owned(),
            &["OtherView"],
        );
        check("of an older image", &|c| c.evidence[2].stamp = 0.5, &["OtherView"]);
        check(
            "of an image of another size",
            &|c| {
                c.evidence
                    .iter_mut()
                    .for_each(|e| e.region = Region::Mask(Mask::filled_box(320, 240, 150, 110, 20, 20)));
            },
            &["Elsewhere"],
        );
        check("never seen", &|c| c.sightings.clear(), &["OtherView"; 3]);
        check(
            "of an image yet to be taken",
            &|c| {
                c.evidence.iter_mut().for_each(|e| e.stamp = 9.0);
                c.sightings.values_mut().flatten().for_each(|seen| seen.stamp = 9.0);
            },
            &["FromTheFuture"; 3],
        );
    }
}

/// A box round the bowl, which stands 100 pixels beside the mug.
fn on_the_bowl() -> Region {
    Region::Box(Mask::filled_box(640, 480, 400, 220, 40, 40))
}

#[test]
fn votes_for_names_that_mean_the_same_are_one() {
    let votes = |votes: &[(&str, f64)], confidence: f64| {
        let mut pan = object("pan_0", 0.4);
        pan.class_name = "pan".to_owned();
        pan.confidence = confidence;
        pan.class_votes = votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        let same = |a: &str, b: &str| [a, b].contains(&"skillet") && [a, b].contains(&"pan");
        name_confidence(&pan, &same)
    };
    let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    close(votes(&[("pan", 2.0), ("skillet", 1.0), ("bowl", 1.0)], 0.5), 0.75);
    close(votes(&[("pan", 2.0), ("pot", 2.0)], 0.5), 0.5);
    // Votes may lower nothing, and none say nothing.
    close(votes(&[("bowl", 2.0)], 0.6), 0.6);
    close(votes(&[], 0.6), 0.6);
    check("not a number", Skill::Grasp, |_, _, m| m.objects[0].confidence = f64::NAN, &[]);
    check(
        "not a number, and no votes",
        Skill::Grasp,
        |_, _, m| {
            m.objects[0].confidence = f64::NAN;
            m.objects[0].class_votes.clear();
        },
        &["UncertainName"],
    );
}

#[test]
fn without_a_map_nothing_is_touched_but_looking_is_allowed() {
    let (settings, assessments) = (settings(), Assessments::new(1));
    let context = context(&settings, &assessments);
    assert_eq!(
        judge(&plan(Skill::Grasp), "", &context).findings,
        vec![Finding::NoMap],
        "a grasp needs a map"
    );
    assert!(judge(&plan(Skill::Look), "", &context).granted());
    let scene = Scene { map: None, sightings: &Sightings::new(), now: 2.0 };
    let judged = assess(&ObjectKey::from("mug_0"), &evidence(), &scene, &settings.commit);
    assert_eq!((judged.doubts, judged.diagnostics.committed), (vec![Doubt::NoMap], false));
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
        let mut plan = pull();
        let mut motion = plan.motion.expect("a pull has one");
        break_it(&mut plan, &mut motion);
        plan.motion = plan.motion.map(|_| motion);
        let verdict = Case::clean(plan).judge();
        assert_eq!(names(&verdict), expected, "{name}: {:?}", verdict.findings);
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
}
