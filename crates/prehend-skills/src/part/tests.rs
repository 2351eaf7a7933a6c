use super::*;
use crate::grasp::shapes::{cuboid, seen};
use nalgebra::Unit;

/// A drawer front at x = 0.56 that faces the robot, with a bar handle 46 mm in front of it, its middle at `(y, z)`.
fn drawer(y: f64, z: f64, upright: bool, turned: f64) -> (Vec<Point3<f64>>, Vec<Point3<f64>>) {
    let block = |x: f64, y: f64, z: f64, at: [f64; 3]| -> Vec<Point3<f64>> {
        cuboid(x, y, z).into_iter().map(|p| p + Vector3::new(at[0], at[1], at[2] - z / 2.0)).collect()
    };
    let front = block(0.012, 0.28, 0.085, [0.0, 0.0, 0.0]);
    let (long, posts) =
        if upright { ([0.012, 0.012, 0.06], [0.0, 0.022]) } else { ([0.012, 0.11, 0.012], [0.045, 0.0]) };
    let mut bar = block(long[0], long[1], long[2], [-0.046, 0.0, 0.0]);
    for side in [1.0, -1.0] {
        bar.extend(block(0.03, 0.01, 0.01, [-0.027, side * posts[0], side * posts[1]]));
    }
    let map_from_drawer = Isometry3::new(Vector3::new(0.566, y, z), Vector3::z() * turned);
    let put = |points: Vec<Point3<f64>>| -> Vec<Point3<f64>> {
        points.iter().map(|p| map_from_drawer * p).collect()
    };
    let (front, bar) = (put(front), put(bar));
    let eye = Point3::new(0.2, 0.05, 0.5);
    let all: Vec<Point3<f64>> = front.iter().chain(&bar).copied().collect();
    let visible = seen(&all, eye, 0.0008, 3);
    let near_bar = |p: &Point3<f64>| bar.iter().any(|q| (p - q).norm() < 0.003);
    let (handle, rest): (Vec<_>, Vec<_>) = visible.into_iter().partition(near_bar);
    let object = handle.iter().chain(&rest).copied().collect();
    (handle, object)
}

pub(super) fn request<'a>(
    skill: Skill,
    effect: PartEffect,
    part: &'a [Point3<f64>],
    object: &'a [Point3<f64>],
) -> PartRequest<'a> {
    PartRequest {
        skill,
        effect,
        part,
        object,
        neighbours: &[],
        normal: Vector3::zeros(),
        direction: None,
        extent: None,
        hinge: None,
        known: None,
        is_knob: false,
        is_lever: false,
        support_height: 0.0,
        gripper: GripperModel::default(),
        reach: Reach::default(),
        limit: 20,
    }
}

#[test]
fn a_handle_is_pulled_level_and_away_from_its_face_whichever_way_it_stands() {
    for (z, upright, turned) in [(0.2, false, 0.0), (0.1, false, 0.3), (0.2, true, -0.3), (0.25, false, -0.2)]
    {
        let (handle, object) = drawer(0.02, z, upright, turned);
        let asked = request(Skill::PinchPull, PartEffect::Open, &handle, &object);
        let found = part_candidates(&asked).unwrap_or_else(|e| panic!("{z} {upright} {turned}: {e}"));
        let out = Rotation3::from_axis_angle(&Vector3::z_axis(), turned) * -Vector3::x();
        let best = &found[0];
        assert!(best.motion.direction.angle(&out) < 0.06, "{:?}", best.motion);
        let tool = best.contact.rotation;
        let (approach, closing) = (tool * Vector3::z(), tool * Vector3::y());
        assert!(approach.angle(&-out) < 0.1, "a pinch comes from the front: {approach}");
        let across = if upright { closing.z.abs() < 0.1 } else { closing.z.abs() > 0.9 };
        assert!(across, "the pads close across the bar: {closing}");
        assert!((0.006..0.03).contains(&best.width), "{}", best.width);
        let middle = Point3::from((best.contact * Point3::new(0.0, 0.0, 0.0)).coords);
        assert!((middle - best.motion.anchor).norm() < 0.02, "{middle} {}", best.motion.anchor);
    }
}

#[test]
fn a_hook_comes_from_above_unless_something_is_there() {
    let (handle, object) = drawer(0.0, 0.2, false, 0.0);
    let asked = request(Skill::HookPull, PartEffect::Open, &handle, &object);
    let approach = |c: &PartCandidate| c.contact.rotation * Vector3::z();
    let best = part_candidates(&asked).expect("room")[0];
    assert!(approach(&best).z < -0.85, "{}", approach(&best));
    // The front of the next drawer, 90 mm higher, with a handle of its own.
    let (_, above) = drawer(0.0, 0.29, false, 0.0);
    let neighbours: [&[Point3<f64>]; 1] = [&above];
    let below =
        part_candidates(&PartRequest { neighbours: &neighbours, ..asked }).expect("room from the front");
    assert!(approach(&below[0]).z > -0.85, "{}", approach(&below[0]));
    let boxes = asked.gripper.boxes(below[0].opening);
    let tool = below[0].contact.inverse();
    let hit = above.iter().filter(|p| {
        let q = tool * **p;
        boxes.iter().any(|b| (0..3).all(|i| q[i] > b.low[i] && q[i] < b.high[i]))
    });
    assert!(hit.count() <= 2);
}

#[test]
fn a_button_is_pushed_down_in_its_middle_with_the_gripper_closed() {
    let base = cuboid(0.08, 0.08, 0.035);
    let button: Vec<Point3<f64>> =
        crate::grasp::shapes::cylinder(0.02, 0.02).iter().map(|p| p + Vector3::z() * 0.035).collect();
    let at = Vector3::new(0.38, -0.28, 0.0);
    let all: Vec<Point3<f64>> = base.iter().chain(&button).map(|p| p + at).collect();
    let visible = seen(&all, Point3::new(0.3, 0.0, 0.5), 0.001, 5);
    let top: Vec<Point3<f64>> = visible.iter().filter(|p| p.z > 0.045).copied().collect();
    let asked = request(Skill::TipPush, PartEffect::Press, &top, &visible);
    let best = part_candidates(&asked).expect("room")[0];
    assert!(best.motion.direction.z < -0.99 && best.opening == 0.0);
    let tip = best.contact * Point3::new(0.0, 0.0, asked.gripper.tip_beyond_tool);
    assert!((tip - Point3::new(0.38, -0.28, 0.055)).norm() < 0.006, "{tip}");
    assert!((best.before.translation.z - best.contact.translation.z - 0.05).abs() < 1e-6);
}

#[test]
fn an_open_drawer_is_pushed_shut_level() {
    let (handle, object) = drawer(0.0, 0.2, false, 0.0);
    for part in [&handle, &object] {
        let best =
            part_candidates(&request(Skill::TipPush, PartEffect::Close, part, &object)).expect("room")[0];
        assert!(best.motion.direction.x > 0.99, "{:?}", best.motion);
        assert!(best.motion.direction.z.abs() < 1e-6);
    }
}

#[test]
fn ways_from_every_side_come_before_the_same_way_turned_about() {
    let (part, object) = drawer(0.0, 0.2, false, 0.0);
    let request = PartRequest { limit: 24, ..request(Skill::TipPush, PartEffect::Close, &part, &object) };
    let found = part_candidates(&request).expect("ways");
    let tilt = |way: &PartCandidate| (way.contact.rotation * Vector3::z()).dot(&Vector3::x()).acos();
    let first: Vec<i32> = found.iter().take(5).map(|way| tilt(way).to_degrees().round() as i32).collect();
    assert_eq!(first, [0, 25, 45, 65, 83]);
    assert!(found.iter().all(|way| way.score <= found[0].score));
    assert!(found[5..].iter().any(|way| tilt(way) < 0.1), "the same again, turned about");
}

/// A door hinged at `y` 0.12 on the left, x 0.56, open by `angle`: a sheet with an upright bar near its free edge.
fn door(angle: f64, eye: Point3<f64>) -> (Vec<Point3<f64>>, Vec<Point3<f64>>, Hinge) {
    let hinge = Hinge { foot: Point3::new(0.56, 0.12, 0.1), opens: -Vector3::z_axis(), radius: 0.24, angle };
    let block = |size: [f64; 3], at: [f64; 2]| -> Vec<Point3<f64>> {
        let low = 0.1 - size[2] / 2.0;
        cuboid(size[0], size[1], size[2]).into_iter().map(|p| p + Vector3::new(at[0], at[1], low)).collect()
    };
    let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), -angle);
    let put = |points: Vec<Point3<f64>>| -> Vec<Point3<f64>> {
        points.into_iter().map(|p| hinge.foot + turn * (p - hinge.foot)).collect()
    };
    let sheet = put(block([0.012, 0.24, 0.18], [0.566, 0.0]));
    let bar = put(block([0.012, 0.012, 0.10], [0.518, -0.09]));
    let all: Vec<Point3<f64>> = sheet.iter().chain(&bar).copied().collect();
    let visible = seen(&all, eye, 0.0008, 3);
    let near_bar = |p: &Point3<f64>| bar.iter().any(|q| (p - q).norm() < 0.003);
    let (handle, rest): (Vec<_>, Vec<_>) = visible.into_iter().partition(near_bar);
    let object = handle.iter().chain(&rest).copied().collect();
    (handle, object, hinge)
}

#[test]
fn a_door_is_opened_along_its_arc_and_the_hand_turns_with_it() {
    let (handle, object, hinge) = door(0.0, Point3::new(0.2, 0.0, 0.3));
    let asked =
        PartRequest { hinge: Some(hinge), ..request(Skill::PinchPull, PartEffect::Open, &handle, &object) };
    let best = part_candidates(&asked).expect("room")[0];
    assert!(best.motion.direction.dot(&-Vector3::x()) > 0.9, "{:?}", best.motion);
    let arm = best.pivot.expect("it turns").arm;
    assert!((arm - 0.215).abs() < 0.02, "{arm}");
    assert!(best.motion.least > 0.7 * arm && best.motion.extent > best.motion.least, "{:?}", best.motion);
    let (start, end) = (Point3::from(best.contact.translation.vector), best.end());
    let end_point = Point3::from(end.translation.vector);
    assert!((best.progress(&start, &end_point) - best.motion.extent).abs() < 1e-6);
    assert!((hinge.foot - end_point).xy().norm() - (hinge.foot - start).xy().norm() < 1e-9);
    let turned = best.contact.rotation.angle_to(&end.rotation);
    assert!((turned - best.motion.extent / arm).abs() < 1e-6, "{turned}");
    // The permit's corridor holds the whole arc.
    for step in 0..=20 {
        let pose = best.advance(&best.contact, best.motion.extent * f64::from(step) / 20.0);
        assert!(best.motion.holds(&start, &Point3::from(pose.translation.vector)), "{step}");
    }
}

/// What was measured counts, whatever the looks say: a flap that hangs below, a drawer that slides askew.
#[test]
fn a_measured_joint_counts_more_than_looks() {
    let (handle, object, hinge) = door(0.0, Point3::new(0.2, 0.0, 0.3));
    let other_side = Point3::new(hinge.foot.x, -hinge.foot.y, 0.0);
    let turning =
        KnownJoint { turns: true, axis: -hinge.opens, origin: other_side, position: 0.0, upper: 1.5 };
    let opening = request(Skill::PinchPull, PartEffect::Open, &handle, &object);
    let best = part_candidates(&PartRequest { hinge: Some(hinge), known: Some(turning), ..opening })
        .expect("room")[0];
    let pivot = best.pivot.expect("it turns");
    assert!((best.measured.expect("measured") - 1.5 * pivot.arm).abs() < 1e-9);
    assert!((pivot.foot - other_side).xy().norm() < 1e-9 && pivot.axis == -hinge.opens, "{pivot:?}");
    let askew = Unit::new_normalize(Vector3::new(-1.0, 0.3, 0.0));
    let sliding =
        KnownJoint { turns: false, axis: askew, origin: Point3::origin(), position: 0.02, upper: 0.2 };
    let best = part_candidates(&PartRequest { hinge: Some(hinge), known: Some(sliding), ..opening })
        .expect("room")[0];
    assert!((best.measured.expect("measured") - 0.18).abs() < 1e-9 && best.pivot.is_none());
    assert!((best.motion.direction - askew.into_inner()).norm() < 1e-9, "{:?}", best.motion);
    // "Outwards" means that way; who says that it goes the other way may know better.
    let out = PartRequest { known: Some(sliding), direction: Some(-Vector3::x()), ..opening };
    assert!(part_candidates(&out).expect("room")[0].measured.is_some());
    let other = PartRequest { known: Some(sliding), direction: Some(Vector3::x()), ..opening };
    assert!(part_candidates(&other).map_or(true, |found| found[0].measured.is_none()));
}

#[test]
fn an_open_door_is_pushed_shut_from_the_side_it_opens_to() {
    // Seen from the inside, from the outside, and half open.
    for (angle, eye) in [(1.3, [0.2, 0.0, 0.5]), (1.3, [0.2, 0.5, 0.5]), (0.6, [0.2, 0.0, 0.4])] {
        let (_, object, hinge) = door(angle, Point3::from(eye));
        let normal = Rotation3::from_axis_angle(&Vector3::z_axis(), -angle) * -Vector3::x();
        let towards = Point3::from(eye) - Point3::new(0.5, 0.1, 0.1);
        let normal = if normal.dot(&towards) < 0.0 { -normal } else { normal };
        let asked = PartRequest {
            hinge: Some(hinge),
            normal,
            ..request(Skill::TipPush, PartEffect::Close, &object, &object)
        };
        let found = part_candidates(&asked).unwrap_or_else(|e| panic!("{angle} {eye:?}: {e}"));
        for best in &found {
            let tip = best.contact * Point3::new(0.0, 0.0, asked.gripper.tip_beyond_tool);
            let outside = Rotation3::from_axis_angle(&Vector3::z_axis(), -angle) * -Vector3::x();
            let before = outside.dot(&(tip - hinge.foot));
            assert!((-0.002..0.05).contains(&before), "{angle} {eye:?}: {before}");
            assert!(best.motion.direction.dot(&-outside) > 0.95, "{:?}", best.motion);
            let pivot = best.pivot.expect("it turns");
            assert!(best.motion.extent > angle * pivot.arm, "{:?}", best.motion);
            let end = best.end().translation.vector;
            assert!(end.x > 0.50, "it ends at the front: {end}");
        }
    }
}

#[test]
fn a_knob_is_held_by_its_ridge_and_turned_where_it_stands() {
    for yaw in [0.0, 0.5, -1.1] {
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), yaw);
        let at = Vector3::new(0.40, -0.3, 0.03);
        let mut knob = crate::grasp::shapes::cylinder(0.02, 0.014);
        knob.extend(cuboid(0.04, 0.010, 0.022).iter().map(|p| turn * p + Vector3::z() * 0.014));
        let plate = cuboid(0.2, 0.2, 0.03).into_iter().map(|p| p - Vector3::z() * 0.03);
        let knob: Vec<Point3<f64>> = knob.iter().map(|p| p + at).collect();
        let all: Vec<Point3<f64>> = plate.map(|p| p + at).chain(knob.iter().copied()).collect();
        let visible = seen(&all, Point3::new(0.2, 0.0, 0.5), 0.0008, 5);
        let part: Vec<Point3<f64>> = visible.iter().filter(|p| p.z > 0.034).copied().collect();
        let asked = PartRequest {
            normal: Vector3::z(),
            direction: Some(-Vector3::z()),
            is_knob: true,
            ..request(Skill::PinchPull, PartEffect::Turn, &part, &visible)
        };
        let best = part_candidates(&asked).unwrap_or_else(|e| panic!("{yaw}: {e}"))[0];
        let pivot = best.pivot.expect("it turns");
        assert!(pivot.axis.z < -0.99, "clockwise seen from above: {pivot:?}");
        let closing = best.contact.rotation * Vector3::y();
        let across = turn * Vector3::y();
        assert!(closing.dot(&across).abs() > 0.97, "{yaw}: {closing}");
        assert!((pivot.foot - Point3::from(at)).xy().norm() < 0.006, "{yaw}: {pivot:?}");
        // It turns in place.
        let end = best.end().translation.vector;
        assert!((end - best.contact.translation.vector).norm() < 0.02, "{end}");
        assert!(best.contact.rotation.angle_to(&best.end().rotation) > 1.0);
        let back = PartRequest { direction: Some(Vector3::z()), ..asked };
        let back = part_candidates(&back).expect("room")[0];
        assert!(back.pivot.expect("it turns").axis.z > 0.99);
    }
}

#[test]
fn what_cannot_be_done_is_an_error_of_its_kind() {
    let (handle, object) = drawer(0.0, 0.2, false, 0.0);
    let good = request(Skill::PinchPull, PartEffect::Open, &handle, &object);
    let check = |request: PartRequest<'_>, expected: &str| {
        let found =
            part_candidates(&request).map_or_else(|e| e.to_string(), |c| format!("{} found", c.len()));
        assert!(found.contains(expected), "{found}");
    };
    check(PartRequest { effect: PartEffect::Press, ..good }, "pinch_pull does not press");
    check(PartRequest { skill: Skill::Grasp, ..good }, "grasp does not open a part");
    check(PartRequest { part: &handle[..3], ..good }, "only 3 points");
    check(PartRequest { extent: Some(2.0), ..good }, "the extent is not usable");
    check(PartRequest { extent: Some(f64::NAN), ..good }, "the extent is not usable");
    check(PartRequest { direction: Some(Vector3::zeros()), ..good }, "the direction is not usable");
    let far: Vec<Point3<f64>> = handle.iter().map(|p| p + Vector3::x()).collect();
    check(PartRequest { part: &far, ..good }, "m from the base");
    let wide: Vec<Point3<f64>> =
        cuboid(0.12, 0.12, 0.12).iter().map(|p| p + Vector3::new(0.4, 0.0, 0.1)).collect();
    check(PartRequest { part: &wide, object: &wide, normal: -Vector3::x(), ..good }, "thick");
    let wall: Vec<Point3<f64>> =
        cuboid(0.03, 0.5, 0.5).iter().map(|p| p + Vector3::new(0.47, 0.0, 0.0)).collect();
    let neighbours: [&[Point3<f64>]; 1] = [&wall];
    check(PartRequest { neighbours: &neighbours, ..good }, "no room");
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(numbers in proptest::collection::vec(proptest::prelude::any::<f64>(), 0..90), x in -1e3..1e3_f64) {
        let points: Vec<Point3<f64>> = numbers.chunks_exact(3).map(|c| Point3::new(c[0], c[1], c[2])).collect();
        for (skill, effect) in [(Skill::TipPush, PartEffect::Press), (Skill::HookPull, PartEffect::Open)] {
            let asked = PartRequest {
                normal: Vector3::new(x, f64::NAN, 0.0),
                direction: Some(Vector3::new(x, 0.0, 1.0)),
                ..request(skill, effect, &points, &points)
            };
            if let Ok(found) = part_candidates(&asked) {
                proptest::prop_assert!(!found.is_empty());
            }
        }
    }
}
