use super::shapes::{at, bottle, bowl, cuboid, cylinder, handle, home_eye, lathe, mug, plate, seen, sphere};
use super::*;
use proptest::prelude::*;

const NOISE: f64 = 0.0012;

fn request<'a>(object: &'a [Point3<f64>], neighbours: &'a [&'a [Point3<f64>]]) -> GraspRequest<'a> {
    GraspRequest {
        object,
        part: None,
        neighbours,
        support_height: 0.0,
        gripper: GripperModel::default(),
        reach: Reach::default(),
        limit: 30,
    }
}

/// What the true surface says of a candidate that was made from what was seen of it.
fn flaws(candidate: &GraspCandidate, truth: &[Point3<f64>], others: &[&[Point3<f64>]]) -> Vec<String> {
    let gripper = GripperModel::default();
    let mut flaws = Vec::new();
    let boxes = gripper.boxes(candidate.opening);
    let local = |p: &Point3<f64>| candidate.map_from_tool.inverse_transform_point(p);
    let inside = |p: &Point3<f64>, shrink: f64| {
        boxes
            .iter()
            .any(|b| (0..3).all(|i| p.coords[i] > b.low[i] + shrink && p.coords[i] < b.high[i] - shrink))
    };
    if truth.iter().any(|p| inside(&local(p), 0.001)) {
        flaws.push("touches the object when open".to_owned());
    }
    if others.iter().any(|o| o.iter().any(|p| inside(&local(p), 0.0))) {
        flaws.push("touches a neighbour".to_owned());
    }
    for b in &boxes {
        for i in 0..8 {
            let pick = |axis: usize| if i >> axis & 1 == 0 { b.low[axis] } else { b.high[axis] };
            let corner = candidate.map_from_tool * Point3::new(pick(0), pick(1), pick(2));
            if corner.z < 0.003 {
                flaws.push(format!("{:.1} mm above the table", corner.z * 1e3));
            }
        }
    }
    let between: Vec<Point3<f64>> = truth
        .iter()
        .map(local)
        .filter(|p| {
            p.x.abs() < gripper.pad_width / 2.0
                && p.z < gripper.tip_beyond_tool
                && p.z > gripper.tip_beyond_tool - gripper.pad_length
                && p.y.abs() < candidate.opening / 2.0
        })
        .collect();
    if between.is_empty() {
        flaws.push("holds nothing".to_owned());
        return flaws;
    }
    let low = between.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let high = between.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
    if (high - low - candidate.width).abs() > 0.010 {
        flaws.push(format!("{:.1} mm wide, expected {:.1}", (high - low) * 1e3, candidate.width * 1e3));
    }
    if (high + low).abs() / 2.0 > 0.006 {
        flaws.push(format!("{:.1} mm off the middle", (high + low) * 500.0));
    }
    let contact = |near: &dyn Fn(&Point3<f64>) -> bool| {
        let touched: Vec<&Point3<f64>> = between.iter().filter(|p| near(p)).collect();
        let n = touched.len().max(1) as f64;
        (touched.iter().map(|p| p.x).sum::<f64>() / n, touched.iter().map(|p| p.z).sum::<f64>() / n)
    };
    let (a, b) = (contact(&|p| p.y < low + 0.002), contact(&|p| p.y > high - 0.002));
    let twist = (a.0 - b.0).hypot(a.1 - b.1).atan2((high - low).max(0.015));
    if twist > 0.75 {
        flaws.push(format!("contacts {:.0} degrees off opposite", twist.to_degrees()));
    }
    flaws
}

/// Sees `surface` at a place, asks for grasps and holds the first ten against the true surface.
fn check(name: &str, surface: &[Point3<f64>], kinds: &[GraspKind], least: usize) {
    for (x, y, yaw, seed) in
        [(0.40, 0.0, 0.3, 1), (0.45, 0.20, 1.2, 2), (0.38, -0.22, -0.7, 3), (0.55, 0.05, 2.0, 4)]
    {
        let truth = at(surface, x, y, yaw);
        let cloud = seen(&truth, home_eye(), NOISE, seed);
        let found = match grasp_candidates(&request(&cloud, &[])) {
            Ok(found) => found,
            Err(error) => panic!("{name} at {x} {y}: {error}"),
        };
        assert!(found.len() >= least, "{name} at {x} {y}: only {} candidates", found.len());
        let tried: Vec<(GraspCandidate, Vec<String>)> =
            found.iter().take(10).map(|c| (*c, flaws(c, &truth, &[]))).collect();
        let good = tried.iter().filter(|(_, flaws)| flaws.is_empty()).count();
        let show = || {
            tried
                .iter()
                .map(|(c, f)| {
                    format!(
                        "{:?} {:.2} tilt {:.0} width {:.0} at {:?}: {}",
                        c.kind,
                        c.score,
                        c.tilt().to_degrees(),
                        c.width * 1e3,
                        c.map_from_tool.translation.vector.as_slice(),
                        f.join(", ")
                    )
                })
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert!(tried[0].1.is_empty(), "{name} at {x} {y}: the first grasp fails\n{}", show());
        assert!(
            good * 10 >= tried.len() * 8,
            "{name} at {x} {y}: {good} of {} good\n{}",
            tried.len(),
            show()
        );
        assert!(kinds.contains(&tried[0].0.kind), "{name} at {x} {y}: kind\n{}", show());
    }
}

#[test]
fn solid_things_are_grasped_across() {
    let across = [GraspKind::Across];
    check("small box", &cuboid(0.05, 0.04, 0.06), &across, 10);
    check("long box", &cuboid(0.16, 0.05, 0.05), &across, 10);
    check("low box", &cuboid(0.06, 0.03, 0.018), &across, 4);
    check("can", &cylinder(0.033, 0.10), &across, 10);
    check("tall can", &cylinder(0.03, 0.17), &across, 10);
    check("ball", &sphere(0.033), &across, 4);
    check("small ball", &sphere(0.02), &across, 4);
    check("bottle", &bottle(0.034, 0.20), &across, 10);
    check("marker", &cuboid(0.13, 0.016, 0.016), &across, 4);
}

#[test]
fn a_lying_cylinder_is_grasped_across_its_length() {
    let lying: Vec<Point3<f64>> =
        cylinder(0.018, 0.14).iter().map(|p| Point3::new(p.z - 0.07, p.y, p.x + 0.018)).collect();
    check("carrot", &lying, &[GraspKind::Across], 4);
}

#[test]
fn hollow_things_are_grasped_by_the_rim_when_too_wide() {
    let rim = [GraspKind::Rim];
    check("wide mug", &mug(0.045, 0.09), &rim, 6);
    check("bowl", &bowl(0.075, 0.06), &rim, 6);
    let both = [GraspKind::Rim, GraspKind::Across];
    check("mug", &mug(0.036, 0.09), &both, 6);
    check("tray", &tray(0.16, 0.12, 0.05), &rim, 4);
}

fn tray(x: f64, y: f64, h: f64) -> Vec<Point3<f64>> {
    let wall = 0.006;
    let mut points = cuboid(x, y, 0.006);
    for (cx, cy, sx, sy) in [
        (x / 2.0 - wall / 2.0, 0.0, wall, y),
        (wall / 2.0 - x / 2.0, 0.0, wall, y),
        (0.0, y / 2.0 - wall / 2.0, x, wall),
        (0.0, wall / 2.0 - y / 2.0, x, wall),
    ] {
        points.extend(cuboid(sx, sy, h).into_iter().map(|p| p + Vector3::new(cx, cy, 0.0)));
    }
    points
}

#[test]
fn a_plate_is_held_by_its_lifted_edge() {
    check("plate", &plate(0.10, 0.026), &[GraspKind::Rim], 2);
}

#[test]
fn a_handle_is_held_when_asked_for() {
    let (r, h) = (0.042, 0.09);
    let pose = |p: &[Point3<f64>]| at(p, 0.42, 0.1, 2.6);
    let (truth, part_truth) = (pose(&mug(r, h)), pose(&handle(r, h)));
    let cloud = seen(&truth, home_eye(), NOISE, 5);
    let part: Vec<Point3<f64>> =
        cloud.iter().filter(|p| part_truth.iter().any(|q| (*p - q).norm() < 0.004)).copied().collect();
    let found =
        grasp_candidates(&GraspRequest { part: Some(&part), ..request(&cloud, &[]) }).expect("grasps");
    for candidate in found.iter().take(5) {
        assert_eq!(candidate.kind, GraspKind::Part);
        let tip = Point3::from(candidate.map_from_tool.translation.vector);
        let near = part_truth.iter().map(|p| (p - tip).norm()).fold(f64::INFINITY, f64::min);
        assert!(near < 0.03, "{near} from the handle");
    }
    assert_eq!(flaws(&found[0], &truth, &[]), Vec::<String>::new());
}

#[test]
fn neighbours_are_not_touched() {
    let object = at(&cuboid(0.05, 0.05, 0.06), 0.42, 0.0, 0.0);
    let wall = at(&cuboid(0.20, 0.05, 0.09), 0.42, 0.06, 0.0);
    let (cloud, near) = (seen(&object, home_eye(), NOISE, 1), seen(&wall, home_eye(), NOISE, 2));
    let neighbours = [near.as_slice()];
    let found = grasp_candidates(&request(&cloud, &neighbours)).expect("grasps");
    for candidate in found.iter().take(10) {
        assert_eq!(flaws(candidate, &object, &[&wall]), Vec::<String>::new());
    }
}

#[test]
fn without_what_is_in_the_way_there_is_a_grasp() {
    let object = at(&cuboid(0.04, 0.04, 0.05), 0.42, 0.0, 0.0);
    let long = at(&cuboid(0.12, 0.02, 0.07), 0.42, 0.0, 0.0);
    let wide = at(&cuboid(0.02, 0.12, 0.07), 0.42, 0.0, 0.0);
    let moved = |wall: &[Point3<f64>], x: f64, y: f64| -> Vec<Point3<f64>> {
        wall.iter().map(|p| Point3::new(p.x + x, p.y + y, p.z)).collect()
    };
    let walls = [
        moved(&long, 0.0, 0.036),
        moved(&long, 0.0, -0.036),
        moved(&wide, 0.036, 0.0),
        moved(&wide, -0.036, 0.0),
    ];
    let ask = |which: &[usize]| {
        let neighbours: Vec<&[Point3<f64>]> = which.iter().map(|wall| walls[*wall].as_slice()).collect();
        grasp_candidates(&request(&object, &neighbours))
    };
    // Two opposite walls have to go for a grasp between them, one where its opposite is missing already.
    for (which, expected) in [(&[0, 1, 2, 3][..], 2), (&[0, 1, 2], 1), (&[1, 2, 3], 1)] {
        let Err(GraspError::Surrounded { by }) = ask(which) else { panic!("{which:?} leave no grasp") };
        assert_eq!(by.len(), expected, "{which:?}: {by:?}");
        let rest: Vec<usize> = which
            .iter()
            .enumerate()
            .filter(|(place, _)| !by.contains(place))
            .map(|(_, wall)| *wall)
            .collect();
        assert!(ask(&rest).is_ok(), "{which:?} without {by:?}");
    }
}

#[test]
fn what_cannot_be_grasped_says_why() {
    let cloud = |surface: &[Point3<f64>]| seen(&at(surface, 0.42, 0.0, 0.2), home_eye(), NOISE, 9);
    let ask = |points: &[Point3<f64>]| grasp_candidates(&request(points, &[])).expect_err("no grasp");
    let wide = ask(&cloud(&cuboid(0.14, 0.12, 0.10)));
    assert!(
        matches!(wide, GraspError::TooWide { narrowest, .. } if (0.10..0.13).contains(&narrowest)),
        "{wide}"
    );
    assert!(wide.is_final(), "all of its top is seen: {wide:?}");
    // Its top is round, and what is behind it is not seen.
    let round = ask(&cloud(&sphere(0.07)));
    assert!(matches!(round, GraspError::TooWide { is_closed: false, .. }) && !round.is_final(), "{round:?}");
    // Only the inside of a bowl is seen: its rim is hidden.
    let inside: Vec<Point3<f64>> = cloud(&bowl(0.09, 0.06)).into_iter().filter(|p| p.z < 0.045).collect();
    if let Err(error) = grasp_candidates(&request(&inside, &[])) {
        assert!(!error.is_final(), "{error:?}");
    }
    let flat = ask(&cloud(&cuboid(0.06, 0.05, 0.003)));
    assert!(matches!(flat, GraspError::TooFlat { height } if height < 0.008), "{flat}");
    let far = ask(&at(&cuboid(0.05, 0.05, 0.05), 0.9, 0.0, 0.0));
    assert!(matches!(far, GraspError::OutOfReach { distance, .. } if (distance - 0.9).abs() < 0.01), "{far}");
    assert_eq!(ask(&[]), GraspError::TooFewPoints { points: 0 });
    let garbage = vec![Point3::new(f64::NAN, 0.0, 0.0); 100];
    assert_eq!(ask(&garbage), GraspError::TooFewPoints { points: 0 });
    let good = cloud(&cuboid(0.05, 0.05, 0.05));
    let nan = GraspRequest { support_height: f64::NAN, ..request(&good, &[]) };
    assert_eq!(grasp_candidates(&nan), Err(GraspError::NotFinite { what: "support height" }));
    let fence = at(&lathe(&[(0.036, 0.0), (0.036, 0.16), (0.09, 0.16), (0.09, 0.0)]), 0.42, 0.0, 0.0);
    let fenced =
        grasp_candidates(&request(&cloud(&cuboid(0.04, 0.04, 0.04)), &[&fence])).expect_err("fenced");
    assert_eq!(fenced, GraspError::Surrounded { by: vec![0] });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn turning_the_world_about_the_base_turns_the_best_grasp(
        x in 0.04..0.07f64, y in 0.02..0.035f64, z in 0.03..0.08f64, turn in -1.0..1.0f64,
    ) {
        let truth = at(&cuboid(x, y, z), 0.42, 0.0, 0.4);
        let cloud = seen(&truth, home_eye(), 0.0, 1);
        let spin = Isometry3::rotation(Vector3::z() * turn);
        let turned: Vec<Point3<f64>> = cloud.iter().map(|p| spin * p).collect();
        let a = grasp_candidates(&request(&cloud, &[])).expect("grasps");
        let b = grasp_candidates(&request(&turned, &[])).expect("grasps");
        let turned_truth: Vec<Point3<f64>> = truth.iter().map(|p| spin * p).collect();
        prop_assert_eq!(flaws(&a[0], &truth, &[]), Vec::<String>::new());
        prop_assert_eq!(flaws(&b[0], &turned_truth, &[]), Vec::<String>::new());
        let expected = (spin * a[0].map_from_tool).translation.vector;
        let near = |c: &GraspCandidate| {
            (c.map_from_tool.translation.vector - expected).norm() < 0.01 && (c.width - a[0].width).abs() < 0.006
        };
        prop_assert!(b.iter().any(near), "{} {:?}", expected, b);
    }

    #[test]
    fn any_points_give_an_answer(points in prop::collection::vec(prop::array::uniform3(-1e3..1e3f64), 0..60), h in -1.0..1.0f64) {
        let points: Vec<Point3<f64>> = points.into_iter().map(Point3::from).collect();
        let _ = grasp_candidates(&GraspRequest { support_height: h, ..request(&points, &[&points]) });
    }

    #[test]
    fn poses_before_and_after_are_on_the_approach_and_straight_up(distance in 0.01..0.2f64, yaw in -3.0..3.0f64) {
        let pose = Isometry3::new(Vector3::new(0.4, 0.1, 0.05), Vector3::new(3.0, 0.2, yaw));
        let candidate = GraspCandidate {
            kind: GraspKind::Across, map_from_tool: pose, opening: 0.08, width: 0.05, contact_height: 0.02, score: 0.5,
        };
        let back = candidate.pregrasp(distance) * Translation3::new(0.0, 0.0, distance);
        prop_assert!((back.translation.vector - pose.translation.vector).norm() < 1e-9);
        let up = candidate.lift(distance).translation.vector - pose.translation.vector;
        prop_assert!((up - Vector3::z() * distance).norm() < 1e-12);
        prop_assert!(candidate.flipped().flipped().map_from_tool.rotation.angle_to(&pose.rotation) < 1e-6);
    }
}

/// Whether a sampled point of the gripper at a candidate is in one of the boxes of the planning scene.
fn meets(candidate: &GraspCandidate, boxes: &[prehend_geometry::OrientedBox]) -> bool {
    const STEP: f64 = 0.003;
    let count = |low: f64, high: f64| ((high - low) / STEP).ceil() as usize;
    GripperModel::default().boxes(candidate.opening).iter().any(|part| {
        let [nx, ny, nz] = [0, 1, 2].map(|axis| count(part.low[axis], part.high[axis]));
        (0..=nx * ny * nz + nx * ny + nz).any(|n| {
            let (i, j, k) = (n % (nx + 1), n / (nx + 1) % (ny + 1), n / ((nx + 1) * (ny + 1)));
            let share =
                |low: f64, high: f64, i: usize, n: usize| low + (high - low) * (i.min(n) as f64) / n as f64;
            let local = Point3::new(
                share(part.low.x, part.high.x, i, nx),
                share(part.low.y, part.high.y, j, ny),
                share(part.low.z, part.high.z, k, nz),
            );
            let point = candidate.map_from_tool * local;
            boxes.iter().any(|solid| solid.contains(&point, 0.0))
        })
    })
}

/// The ranking and the planning scene are made of one cloud: what one holds for free the other may not hold for taken.
#[test]
fn what_lies_in_a_bowl_is_taken_past_the_boxes_of_the_bowl() {
    for (rim, height) in [(0.075, 0.05), (0.0947, 0.06), (0.11, 0.07)] {
        let around = at(&bowl(rim, height), 0.48, 0.16, 0.0);
        let around = seen(&around, home_eye(), 0.001, 5);
        let boxes = crate::solids::collision_boxes(&around, 0.0);
        for radius in [0.021, 0.027] {
            let inside: Vec<Point3<f64>> =
                at(&sphere(radius), 0.48, 0.16, 0.0).iter().map(|p| p + Vector3::z() * 0.006).collect();
            let inside = seen(&inside, home_eye(), 0.001, 6);
            let neighbours = [around.as_slice()];
            let found = grasp_candidates(&request(&inside, &neighbours))
                .unwrap_or_else(|error| panic!("{radius} in {rim}: {error}"));
            let free = found.iter().filter(|candidate| !meets(candidate, &boxes)).count();
            assert!(free * 2 >= found.len(), "{radius} in {rim}: {free} of {} are free", found.len());
        }
    }
}
