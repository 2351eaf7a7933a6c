use super::*;
use crate::grasp::shapes::{at, bowl, cuboid, cylinder, home_eye, mug, plate, seen, sphere};
use crate::grasp::{GraspRequest, grasp_candidates};
use nalgebra::Vector3;
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::{Object, ObjectMap, furniture};
use proptest::prelude::*;

/// Grasps `surface` at (0.38, -0.15) with its best candidate.
fn hold(surface: &[Point3<f64>]) -> (HeldShape, Vec<Point3<f64>>, Isometry3<f64>) {
    let truth = at(surface, 0.38, -0.15, 0.4);
    let cloud = seen(&truth, home_eye(), 0.001, 11);
    let found = grasp_candidates(&GraspRequest {
        object: &cloud,
        part: None,
        neighbours: &[],
        support_height: 0.0,
        gripper: GripperModel::default(),
        reach: Reach::default(),
        limit: 5,
    })
    .expect("graspable");
    let tool = found[0].map_from_tool;
    (HeldShape::new(&cloud, &tool, 0.0, found[0].width).expect("held"), truth, tool)
}

fn request<'a>(
    relation: Relation,
    held: &'a HeldShape,
    targets: &'a [&'a [Point3<f64>]],
    others: &'a [&'a [Point3<f64>]],
) -> PlaceRequest<'a> {
    PlaceRequest {
        relation,
        compartment: None,
        held,
        targets,
        others,
        support_height: 0.0,
        region_low: [0.15, -0.45],
        region_high: [0.70, 0.45],
        area: None,
        greatest_drop: 0.04,
        gripper: GripperModel::default(),
        reach: Reach::default(),
        sight: None,
        swept: &[],
        spread: Spread::Best,
        limit: 12,
    }
}

/// A cabinet at x 0.6 with one drawer, closed.
fn drawers() -> ObjectMap {
    let object = |key: &str, class: &str, x: f64, size: [f64; 3]| {
        let points: Vec<Point3<f64>> = cuboid(size[0], size[1], size[2])
            .into_iter()
            .map(|p| p + Vector3::new(x + size[0] / 2.0, 0.0, 0.05))
            .collect();
        let bounds = OrientedBox::upright_around(&points).expect("points");
        let object = Object::unnamed(key.into(), PointCloud::from_points(points), bounds);
        Object { class_name: class.to_owned(), ..object }
    };
    ObjectMap {
        objects: vec![
            object("cabinet_0", "cabinet", 0.6, [0.2, 0.3, 0.3]),
            object("drawer_0", "drawer", 0.59, [0.012, 0.28, 0.1]),
        ],
        ..ObjectMap::default()
    }
}

/// The true object when it is let go.
fn placed(
    truth: &[Point3<f64>],
    tool_at_grasp: &Isometry3<f64>,
    candidate: &PlaceCandidate,
) -> Vec<Point3<f64>> {
    let motion = candidate.map_from_tool * tool_at_grasp.inverse();
    truth.iter().map(|p| motion * p).collect()
}

fn mean(points: &[Point3<f64>]) -> Vector3<f64> {
    points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / points.len() as f64
}

fn least(points: &[Point3<f64>], axis: usize) -> f64 {
    points.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min)
}

/// Whether two point sets come nearer than `gap`.
fn touching(a: &[Point3<f64>], b: &[Point3<f64>], gap: f64) -> bool {
    a.iter().step_by(3).any(|p| b.iter().step_by(3).any(|q| (p - q).norm() < gap))
}

#[test]
fn table_relations_are_what_the_robot_calls_them() {
    let (held, truth, tool) = hold(&cuboid(0.05, 0.04, 0.06));
    let target = at(&cylinder(0.04, 0.08), 0.42, 0.05, 0.0);
    let other = at(&cuboid(0.06, 0.06, 0.05), 0.42, 0.17, 0.3);
    let (seen_target, seen_other) = (seen(&target, home_eye(), 0.001, 1), seen(&other, home_eye(), 0.001, 2));
    let (targets, others) = ([seen_target.as_slice()], [seen_other.as_slice()]);
    for relation in
        [Relation::RightOf, Relation::Behind, Relation::InFrontOf, Relation::NextTo, Relation::Away]
    {
        let found = place_candidates(&request(relation, &held, &targets, &others))
            .unwrap_or_else(|error| panic!("{relation:?}: {error}"));
        for candidate in &found {
            let object = placed(&truth, &tool, candidate);
            let (a, b) = (mean(&object), mean(&target));
            let right = match relation {
                Relation::RightOf => a.y < b.y - 0.05 && (a.x - b.x).abs() < (a.y - b.y).abs(),
                Relation::Behind => a.x > b.x + 0.05 && (a.x - b.x).abs() > (a.y - b.y).abs(),
                Relation::InFrontOf => a.x < b.x - 0.05 && (a.x - b.x).abs() > (a.y - b.y).abs(),
                Relation::NextTo => (a - b).xy().norm() < 0.16,
                _ => (a - b).xy().norm() > 0.12,
            };
            assert!(right, "{relation:?}: {a} of {b}");
            assert!(!touching(&object, &target, 0.008) && !touching(&object, &other, 0.008), "{relation:?}");
            let bottom = least(&object, 2);
            assert!((0.0..0.02).contains(&bottom), "{relation:?}: {bottom} above the table");
        }
    }
    // The other object takes the place on the left.
    let left = place_candidates(&request(Relation::LeftOf, &held, &targets, &others));
    for candidate in left.iter().flatten() {
        assert!(!touching(&placed(&truth, &tool, candidate), &other, 0.008));
    }
}

#[test]
fn things_go_into_containers_one_after_the_other() {
    let container = at(&bowl(0.08, 0.06), 0.45, 0.10, 0.0);
    let seen_container = seen(&container, home_eye(), 0.001, 3);
    let (held, truth, tool) = hold(&sphere(0.022));
    let targets = [seen_container.as_slice()];
    let found = place_candidates(&request(Relation::In, &held, &targets, &[])).expect("first");
    let first = placed(&truth, &tool, &found[0]);
    let middle = mean(&first);
    assert!((middle.xy() - nalgebra::Vector2::new(0.45, 0.10)).norm() < 0.02, "{middle}");
    assert!(least(&first, 2) < 0.05 && !touching(&first, &container, 0.001), "{}", least(&first, 2));
    // What lies in it already is not landed on, when there is room beside it.
    let inside =
        at(&sphere(0.022), 0.45, 0.10, 0.0).iter().map(|p| p + Vector3::z() * 0.006).collect::<Vec<_>>();
    let seen_inside = seen(&inside, home_eye(), 0.001, 4);
    let others = [seen_inside.as_slice()];
    let wide = at(&bowl(0.12, 0.06), 0.45, 0.10, 0.0);
    let seen_wide = seen(&wide, home_eye(), 0.001, 3);
    let targets = [seen_wide.as_slice()];
    let second = place_candidates(&request(Relation::In, &held, &targets, &others)).expect("second");
    let object = placed(&truth, &tool, &second[0]);
    assert!(!touching(&object, &inside, 0.001));
    assert!((mean(&object).xy() - nalgebra::Vector2::new(0.45, 0.10)).norm() < 0.10);
}

/// A caddy in two halves: what stands in one, higher than its walls, does not make it one room.
#[test]
fn a_full_compartment_leaves_the_other_one_what_it_is() {
    let (held, _, _) = hold(&cuboid(0.03, 0.03, 0.04));
    let wall = |x: f64, y: f64, size: [f64; 2]| at(&cuboid(size[0], size[1], 0.06), x, y, 0.0);
    let caddy = [
        at(&cuboid(0.16, 0.28, 0.006), 0.42, 0.0, 0.0),
        wall(0.34, 0.0, [0.006, 0.28]),
        wall(0.50, 0.0, [0.006, 0.28]),
        wall(0.42, -0.14, [0.16, 0.006]),
        wall(0.42, 0.0, [0.16, 0.006]),
        wall(0.42, 0.14, [0.16, 0.006]),
    ]
    .concat();
    let full = at(&cuboid(0.15, 0.125, 0.15), 0.42, -0.07, 0.0);
    let (targets, others) = ([caddy.as_slice()], [full.as_slice()]);
    let into = |side: Compartment| {
        let asked = request(Relation::In, &held, &targets, &others);
        place_candidates(&PlaceRequest { compartment: Some(side), ..asked })
    };
    let found = into(Compartment::Left).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.iter().all(|candidate| candidate.spot[1] > 0.0), "{found:?}");
    assert_eq!(into(Compartment::Right), Err(PlaceError::NoSpace { relation: Relation::In }));
}

/// Where the best places are no use, others lie all over the table.
#[test]
fn places_can_be_spread_over_the_table() {
    let (held, _, _) = hold(&sphere(0.027));
    let area = Area { low: [0.25, -0.2], high: [0.5, 0.2] };
    let spots = |spread: Spread| -> Vec<[f64; 2]> {
        let asked = PlaceRequest { spread, area: Some(area), ..request(Relation::Table, &held, &[], &[]) };
        place_candidates(&asked).expect("a place").iter().map(|candidate| candidate.spot).collect()
    };
    let nearest = |spots: &[[f64; 2]]| {
        let pairs =
            spots.iter().enumerate().flat_map(|(number, a)| spots[..number].iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).fold(f64::INFINITY, f64::min)
    };
    let (best, wide) = (spots(Spread::Best), spots(Spread::Wide));
    assert_eq!((best.len(), wide.len()), (12, 12));
    assert!(nearest(&best) < 0.05 && nearest(&wide) >= 0.08, "{best:?} {wide:?}");
}

/// An open drawer, half of it in its cabinet: what goes into it goes into the other half, and nowhere when it stands out too little.
#[test]
fn things_go_into_the_half_of_a_drawer_that_is_out() {
    let (held, truth, tool) = hold(&sphere(0.027));
    let drawer: Vec<Point3<f64>> = {
        let (depth, width, height) = (0.22, 0.28, 0.07);
        let side = |at: Vector3<f64>, size: [f64; 3]| {
            cuboid(size[0], size[1], size[2]).into_iter().map(move |p| p + at).collect::<Vec<_>>()
        };
        [
            side(Vector3::zeros(), [depth, width, 0.006]),
            side(Vector3::new(-depth / 2.0, 0.0, 0.0), [0.008, width, height]),
            side(Vector3::new(depth / 2.0, 0.0, 0.0), [0.008, width, height]),
            side(Vector3::new(0.0, -width / 2.0, 0.0), [depth, 0.008, height]),
            side(Vector3::new(0.0, width / 2.0, 0.0), [depth, 0.008, height]),
        ]
        .concat()
        .into_iter()
        .map(|p| p + Vector3::new(0.0, 0.0, 0.045))
        .collect()
    };
    // The face of the cabinet, with another drawer above, is at x 0.6.
    let cabinet: Vec<Point3<f64>> =
        cuboid(0.24, 0.30, 0.18).into_iter().map(|p| p + Vector3::new(0.72, 0.0, 0.125)).collect();
    let place = |front: f64| {
        let drawer: Vec<Point3<f64>> =
            drawer.iter().map(|p| p + Vector3::new(front + 0.11, 0.0, 0.0)).collect();
        let (targets, others) = ([drawer.as_slice()], [cabinet.as_slice()]);
        place_candidates(&request(Relation::In, &held, &targets, &others))
    };
    let found = place(0.47).unwrap_or_else(|error| panic!("{error}"));
    for candidate in &found {
        let object = placed(&truth, &tool, candidate);
        assert!((0.47..0.6).contains(&mean(&object).x), "{:?}", mean(&object));
        assert!(least(&object, 2) < 0.045 + 0.05, "it is not let down into it: {}", least(&object, 2));
    }
    assert_eq!(place(0.595), Err(PlaceError::NoSpace { relation: Relation::In }));
}

#[test]
fn things_stand_on_plates_and_boxes() {
    for (name, target, top) in [("plate", plate(0.10, 0.02), 0.005), ("box", cuboid(0.12, 0.10, 0.07), 0.07)]
    {
        let target = at(&target, 0.45, 0.12, 0.2);
        let cloud = seen(&target, home_eye(), 0.001, 6);
        let targets = [cloud.as_slice()];
        let (held, truth, tool) = hold(&cylinder(0.025, 0.07));
        let found = place_candidates(&request(Relation::On, &held, &targets, &[])).expect(name);
        let object = placed(&truth, &tool, &found[0]);
        assert!((mean(&object).xy() - nalgebra::Vector2::new(0.45, 0.12)).norm() < 0.03, "{name}");
        let bottom = least(&object, 2);
        assert!((top..top + 0.016).contains(&bottom), "{name}: {bottom}");
    }
}

#[test]
fn an_area_is_kept_to_and_one_out_of_reach_is_told() {
    let (held, truth, tool) = hold(&sphere(0.025));
    let free = at(&cuboid(0.06, 0.06, 0.06), 0.42, 0.0, 0.0);
    let cloud = seen(&free, home_eye(), 0.001, 2);
    let others = [cloud.as_slice()];
    let places = |area: Area| {
        place_candidates(&PlaceRequest { area: Some(area), ..request(Relation::Table, &held, &[], &others) })
    };
    let right = Area { low: [0.2, -0.45], high: [0.6, -0.2] };
    for candidate in places(right).expect("on the right") {
        assert!(right.contains(candidate.spot, 1e-9), "{:?}", candidate.spot);
        let middle = mean(&placed(&truth, &tool, &candidate));
        assert!(right.contains([middle.x, middle.y], 0.01), "{middle}");
    }
    // A few centimetres around one place, wherever that is.
    let small = Area::around([0.38, 0.21], 0.02);
    let found = places(small).expect("a place");
    assert!(found.iter().all(|candidate| small.contains(candidate.spot, 1e-9)));
    assert!((found[0].spot[0] - 0.38).hypot(found[0].spot[1] - 0.21) < 0.015, "{:?}", found[0].spot);
    // Narrower than a free place is, 15 mm beside the box.
    for candidate in places(Area::around([0.42, 0.070], 0.004)).expect("a narrow place") {
        assert!(!touching(&placed(&truth, &tool, &candidate), &free, 0.004), "{:?}", candidate.spot);
    }
    // Taken, and out of reach.
    let taken = places(Area::around([0.42, 0.0], 0.02));
    assert_eq!(taken, Err(PlaceError::NoSpace { relation: Relation::Table }));
    let far = places(Area::around([1.4, 0.0], 0.05));
    assert_eq!(far, Err(PlaceError::OutOfReach { relation: Relation::Table }));
}

#[test]
fn between_two_is_between_them() {
    let (a, b) = (at(&mug(0.04, 0.08), 0.45, 0.16, 0.0), at(&cuboid(0.06, 0.06, 0.06), 0.40, -0.08, 0.0));
    let (seen_a, seen_b) = (seen(&a, home_eye(), 0.001, 1), seen(&b, home_eye(), 0.001, 2));
    let (held, truth, tool) = hold(&cuboid(0.04, 0.04, 0.05));
    let targets = [seen_a.as_slice(), seen_b.as_slice()];
    let found = place_candidates(&request(Relation::Between, &held, &targets, &[])).expect("between");
    let middle = mean(&placed(&truth, &tool, &found[0]));
    assert!((-0.05..0.13).contains(&middle.y) && (0.36..0.49).contains(&middle.x), "{middle}");
}

#[test]
fn no_place_says_why() {
    let (held, _, _) = hold(&cuboid(0.07, 0.06, 0.06));
    let cup = seen(&at(&mug(0.03, 0.08), 0.45, 0.1, 0.0), home_eye(), 0.001, 1);
    let ask = |relation, targets: &[&[Point3<f64>]], others: &[&[Point3<f64>]]| {
        place_candidates(&request(relation, &held, targets, others)).expect_err("no place")
    };
    let narrow = ask(Relation::In, &[&cup], &[]);
    assert!(
        matches!(narrow, PlaceError::TooSmall { opening } if (0.045..0.062).contains(&opening)),
        "{narrow}"
    );
    let peak: Vec<Point3<f64>> = at(&sphere(0.04), 0.45, 0.1, 0.0);
    assert_eq!(ask(Relation::On, &[&seen(&peak, home_eye(), 0.0, 1)], &[]), PlaceError::Unsteady);
    let far = at(&cuboid(0.05, 0.05, 0.05), 0.85, 0.0, 0.0);
    assert_eq!(ask(Relation::On, &[&far], &[]), PlaceError::OutOfReach { relation: Relation::On });
    let crowd: Vec<Vec<Point3<f64>>> = (0..8)
        .flat_map(|i| {
            (0..10).map(move |j| {
                at(&cuboid(0.06, 0.06, 0.05), 0.15 + 0.08 * f64::from(i), -0.4 + 0.09 * f64::from(j), 0.0)
            })
        })
        .collect();
    let crowd: Vec<&[Point3<f64>]> = crowd.iter().map(Vec::as_slice).collect();
    assert_eq!(ask(Relation::Table, &[], &crowd), PlaceError::NoSpace { relation: Relation::Table });
    assert_eq!(ask(Relation::In, &[], &[]), PlaceError::NoTarget { relation: Relation::In, index: 0 });
    assert_eq!(
        ask(Relation::Between, &[&cup], &[]),
        PlaceError::NoTarget { relation: Relation::Between, index: 1 }
    );
    assert_eq!(ask(Relation::On, &[&[]], &[]), PlaceError::NoTarget { relation: Relation::On, index: 0 });
    let nan = PlaceRequest { support_height: f64::NAN, ..request(Relation::Table, &held, &[], &[]) };
    assert_eq!(place_candidates(&nan), Err(PlaceError::NotFinite { what: "support height" }));
    let nowhere = Isometry3::translation(f64::NAN, 0.0, 0.0);
    assert_eq!(HeldShape::new(&cup, &nowhere, 0.0, 0.05), None);
    assert_eq!(HeldShape::new(&[], &Isometry3::identity(), 0.0, 0.05), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_points_give_an_answer(
        points in prop::collection::vec(prop::array::uniform3(-2.0..2.0f64), 0..40),
        relation in prop::sample::select(Relation::ALL.to_vec()),
    ) {
        let points: Vec<Point3<f64>> = points.into_iter().map(Point3::from).collect();
        let cloud = at(&cuboid(0.04, 0.04, 0.04), 0.4, 0.0, 0.0);
        let tool = Isometry3::new(Vector3::new(0.4, 0.0, 0.03), Vector3::x() * std::f64::consts::PI);
        let held = HeldShape::new(&cloud, &tool, 0.0, 0.04).expect("held");
        let _ = place_candidates(&request(relation.0, &held, &[&points], &[&points]));
    }
}

/// On a free table many places are equally good: that is taken in which the thing is found and taken again.
#[test]
fn what_is_put_down_is_seen_again_and_has_room_for_the_pads() {
    let (held, ..) = hold(&cuboid(0.05, 0.04, 0.06));
    // Above the right half of the table, looking straight down.
    let down = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let eye = Vector3::new(0.45, -0.2, 0.6);
    let sight =
        Some(crate::Sight { map_from_camera: Isometry3::from_parts(eye.into(), down), fingers: None });
    let asked = request(Relation::Table, &held, &[], &[]);
    let found = place_candidates(&PlaceRequest { sight, ..asked }).expect("a place");
    assert!(
        found.iter().all(|place| place.spot[1] < 0.05),
        "{:?}",
        found.iter().map(|p| p.spot).collect::<Vec<_>>()
    );
    // A drawer opens over what is seen of it: what is put down comes to stand beside that.
    let map = drawers();
    let room = furniture::sweep(map.get(&"drawer_0".into()).expect("a drawer"), &map).expect("its room");
    let swept = [room];
    let others: Vec<&[Point3<f64>]> = map.objects.iter().map(|o| o.cloud.points.as_slice()).collect();
    let [before, with] = [&[][..], &swept]
        .map(|swept| place_candidates(&PlaceRequest { swept, others: &others, ..asked }).expect("a place"));
    let stands = |place: &PlaceCandidate| {
        let [x, y] = place.spot;
        room.meets([x - 0.02, y - 0.02], [x + 0.02, y + 0.02])
    };
    assert!(before.iter().any(stands) && !stands(&with[0]), "{:?} and {:?}", before[0].spot, with[0].spot);
    // The best spot beside a target, then something else so near to it that no finger fits between: another spot is better.
    let target = seen(&at(&cylinder(0.03, 0.08), 0.45, -0.1, 0.0), home_eye(), 0.001, 1);
    let targets = [target.as_slice()];
    let free = place_candidates(&request(Relation::NextTo, &held, &targets, &[])).expect("a place")[0].spot;
    let away = nalgebra::Vector2::new(free[0] - 0.45, free[1] + 0.1).normalize() * 0.085;
    let [x, y] = [free[0] + away.x, free[1] + away.y];
    let other = seen(&at(&cuboid(0.05, 0.05, 0.05), x, y, 0.0), home_eye(), 0.001, 2);
    let others = [other.as_slice()];
    let found = place_candidates(&request(Relation::NextTo, &held, &targets, &others)).expect("a place");
    let gap = |spot: &[f64; 2]| (spot[0] - x).hypot(spot[1] - y);
    assert!(gap(&found[0].spot) > gap(&free) + 0.01, "{:?} beside ({x:.3}, {y:.3})", found[0].spot);
}
