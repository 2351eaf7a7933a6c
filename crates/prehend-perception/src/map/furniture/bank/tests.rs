use super::*;
use prehend_geometry::{OrientedBox, PointCloud};

/// Points of a front at `x` that looks to -x, 0.3 m wide, in this range of heights.
fn front(x: f64, up: (f64, f64)) -> Vec<Point3<f64>> {
    let steps = |low: f64, high: f64| {
        (0..=((high - low) / 0.005).round() as usize).map(move |step| low + 0.005 * step as f64)
    };
    steps(-0.15, 0.15).flat_map(|y| steps(up.0, up.1).map(move |z| Point3::new(x, y, z))).collect()
}

fn thing(key: &str, name: &str, points: Vec<Point3<f64>>) -> Known {
    let bounds = OrientedBox::upright_around(&points).unwrap();
    let mut object = Object::unnamed(key.into(), PointCloud::from_points(points), bounds);
    object.class_name = name.to_owned();
    object.class_votes = vec![(name.to_owned(), 1.0)];
    object.view_count = BankSettings::default().views;
    Known::seen(object, 1.0, &MergeRule::default(), 1)
}

const LOW: (f64, f64) = (0.05, 0.12);
const HIGH: (f64, f64) = (0.14, 0.21);

fn learn(banks: &mut Banks, objects: &mut Vec<Known>) -> UpdateReport {
    let mut report = UpdateReport::default();
    banks.learn(objects, &MergeRule::default(), 1, &mut report);
    report
}

/// Two drawers whose fronts are at `x`, and the bank that was learned of them.
fn bank_at(x: f64) -> (Banks, Vec<Known>) {
    let mut objects = vec![thing("a", "drawer", front(x, LOW)), thing("b", "drawer", front(x, HIGH))];
    let mut banks = Banks::default();
    learn(&mut banks, &mut objects);
    (banks, objects)
}

fn sort(banks: &mut Banks, seen: Vec<Known>) -> Vec<Known> {
    banks.sort(seen, &MergeRule::default(), 2)
}

fn slots(seen: &[Known]) -> Vec<Option<&str>> {
    seen.iter().map(|thing| thing.track.slot.as_ref().map(|key| key.0.as_str())).collect()
}

#[test]
fn two_flush_fronts_make_a_bank_and_others_do_not() {
    let (banks, objects) = bank_at(0.6);
    assert_eq!(banks.all.len(), 1);
    assert_eq!(slots(&objects), [Some("a"), Some("b")]);
    for other in [
        // Not in one plane, one over the other, far apart, seen too little, not called so.
        thing("b", "drawer", front(0.5, HIGH)),
        thing("b", "drawer", front(0.6, (0.06, 0.13))),
        thing("b", "drawer", front(0.6, (0.4, 0.47))),
        Known {
            object: Object { view_count: 1, ..thing("b", "drawer", front(0.6, HIGH)).object },
            ..objects[1].clone()
        },
        thing("b", "cabinet", front(0.6, HIGH)),
    ] {
        let mut banks = Banks::default();
        learn(&mut banks, &mut vec![thing("a", "drawer", front(0.6, LOW)), other]);
        assert!(banks.all.is_empty());
    }
}

#[test]
fn a_drawer_is_known_by_its_place_whatever_it_is_called_and_however_far_it_is_out() {
    let (mut banks, _) = bank_at(0.6);
    for (name, x) in [("drawer", 0.6), ("box", 0.6), ("box", 0.45), ("", 0.5)] {
        let seen = sort(&mut banks, vec![thing("", name, front(x, HIGH))]);
        assert_eq!(slots(&seen), [Some("b")], "{name} at {x}");
    }
    // What lies in a drawer, what stands before it on the table, and what is beside it.
    let small: Vec<Point3<f64>> =
        front(0.5, LOW).into_iter().filter(|p| p.y.abs() < 0.03 && p.z < 0.1).collect();
    let beside = front(0.6, LOW).into_iter().map(|p| Point3::new(p.x, p.y + 0.5, p.z)).collect();
    // One frame calls an apple on the table a drawer.
    let misnamed = small.iter().map(|p| Point3::new(p.x - 0.2, p.y, p.z)).collect();
    let seen = [("apple", small), ("drawer", misnamed), ("drawer", beside)];
    let seen = sort(&mut banks, seen.map(|(name, points)| thing("", name, points)).into());
    assert_eq!(slots(&seen), [None, None, None]);
}

#[test]
fn pieces_of_a_drawer_are_one_and_a_mask_over_two_is_cut() {
    let (mut banks, _) = bank_at(0.6);
    let (left, right): (Vec<_>, Vec<_>) = front(0.5, LOW).into_iter().partition(|p| p.y < 0.0);
    let seen = sort(&mut banks, vec![thing("", "drawer", left), thing("", "drawer", right)]);
    assert_eq!(slots(&seen), [Some("a")]);
    assert_eq!(seen[0].object.view_count, 1, "pieces of one frame are one view");
    let both = || [front(0.6, LOW), front(0.6, HIGH)].concat();
    let seen = sort(&mut banks, vec![thing("", "drawer", both())]);
    assert_eq!(slots(&seen), [Some("a"), Some("b")]);
    assert!(seen.iter().all(|drawer| drawer.object.bounds.size.z < 0.08));
    // What a mask took of the body beside stays something.
    let top: Vec<Point3<f64>> =
        front(0.6, (0.0, 0.3)).into_iter().map(|p| Point3::new(0.6 + p.z, p.y, 0.25)).collect();
    let seen = sort(&mut banks, vec![thing("", "cabinet", [both(), top].concat())]);
    assert_eq!(slots(&seen), [None, Some("a"), Some("b")]);
}

#[test]
fn frames_that_go_on_showing_one_drawer_for_two_end_the_bank() {
    let (mut banks, mut objects) = bank_at(0.6);
    let both = || vec![thing("", "drawer", [front(0.6, LOW), front(0.6, HIGH)].concat())];
    sort(&mut banks, both());
    learn(&mut banks, &mut objects);
    assert_eq!(banks.all.len(), 1, "one frame is wrong now and then");
    (0..BankSettings::default().doubt).for_each(|_| drop(sort(&mut banks, both())));
    // Nothing new is learned of objects that did not change.
    objects.iter_mut().for_each(|known| known.track.changed = 0);
    learn(&mut banks, &mut objects);
    assert!(banks.all.is_empty());
    assert_eq!(slots(&objects), [None, None]);
}

#[test]
fn the_closed_place_is_the_innermost_that_was_often_seen() {
    let (mut banks, mut objects) = bank_at(0.5);
    let mut look = |x: f64, times: usize| {
        (0..times).for_each(|_| drop(sort(&mut banks, vec![thing("", "drawer", front(x, HIGH))])));
        learn(&mut banks, &mut objects);
        objects[0].object.slide
    };
    assert_eq!(look(0.5, 5), None, "two drawers are equally far out: closed or not, nobody knows");
    let slide = look(0.6, 3).unwrap();
    assert!((slide.closed + 0.6).abs() < BankSettings::default().layer, "{slide:?}");
    assert!((slide.way + Vector3::x()).norm() < 0.01, "{slide:?}");
    // One wrong frame behind it changes nothing.
    look(0.6, 30);
    let slide = look(0.7, 1).unwrap();
    assert!((slide.closed + 0.6).abs() < BankSettings::default().layer, "{slide:?}");
}

#[test]
fn drawers_of_a_bank_have_one_name_and_what_else_lies_there_becomes_one_with_them() {
    let (mut banks, mut objects) = bank_at(0.6);
    objects[1].object.class_votes = vec![("box".to_owned(), 2.0), ("drawer".to_owned(), 1.0)];
    objects[0].object.class_votes = vec![("drawer".to_owned(), 9.0)];
    objects.push(thing("stale", "drawer", front(0.5, HIGH)));
    let report = learn(&mut banks, &mut objects);
    assert_eq!(objects.len(), 2);
    assert_eq!(report.joined, [("stale".into(), "b".into())]);
    assert!(objects.iter().all(|known| known.object.class_name == "drawer"));
    assert!(objects[1].object.confidence > 0.8);
}

#[test]
fn what_the_drawers_are_in_is_no_drawer() {
    let (mut banks, mut objects) = bank_at(0.6);
    let side = |y: f64| front(0.6, (0.0, 0.25)).into_iter().map(move |p| Point3::new(0.75 + p.y, y, p.z));
    let body: Vec<Point3<f64>> = side(-0.152).chain(side(0.152)).collect();
    objects.push(thing("body", "drawer", body));
    objects[2].object.class_votes.push(("cabinet".to_owned(), 0.3));
    let beside = front(0.6, LOW).into_iter().map(|p| Point3::new(p.x, p.y + 0.5, p.z)).collect();
    objects.push(thing("beside", "drawer", beside));
    learn(&mut banks, &mut objects);
    let names: Vec<&str> = objects.iter().map(|known| known.object.class_name.as_str()).collect();
    assert_eq!(names, ["drawer", "drawer", "cabinet", "drawer"]);
}

#[test]
fn a_bank_whose_drawers_are_all_gone_is_gone() {
    let (mut banks, _) = bank_at(0.6);
    banks.leave(|key| key.0 == "a");
    assert_eq!(banks.all.len(), 1);
    banks.leave(|_| true);
    assert!(banks.all.is_empty());
    assert!(sort(&mut banks, vec![thing("", "drawer", front(0.6, LOW))])[0].track.slot.is_none());
}

/// A mask takes a drawer and the body around it for one: only what lies in the place of the drawer is of the drawer.
#[test]
fn what_a_mask_took_of_the_body_is_not_of_the_drawer() {
    let (mut banks, _) = bank_at(0.6);
    let lid: Vec<Point3<f64>> =
        front(0.6, (0.0, 0.05)).into_iter().map(|p| Point3::new(0.62 + p.z, p.y, 0.25)).collect();
    let seen = sort(&mut banks, vec![thing("", "drawer", [front(0.6, HIGH), lid].concat())]);
    assert_eq!(slots(&seen), [Some("b")]);
    assert!(seen[0].object.bounds.top() < 0.23, "{:?}", seen[0].object.bounds);
}

#[test]
fn an_outline_follows_the_fuller_views() {
    // First only a strip was seen.
    let mut objects =
        vec![thing("a", "drawer", front(0.6, LOW)), thing("b", "drawer", front(0.6, (0.14, 0.18)))];
    let mut banks = Banks::default();
    learn(&mut banks, &mut objects);
    let height = |banks: &Banks| {
        let slot = banks.all[0].slots.iter().find(|slot| slot.key.0 == "b").unwrap();
        slot.outline.up.1 - slot.outline.up.0
    };
    assert!(height(&banks) < 0.045);
    (0..3).for_each(|_| drop(sort(&mut banks, vec![thing("", "drawer", front(0.6, HIGH))])));
    assert!((height(&banks) - 0.07).abs() < 0.01, "{}", height(&banks));
    // Half hidden again, it is as high as before.
    (0..3).for_each(|_| drop(sort(&mut banks, vec![thing("", "drawer", front(0.6, (0.14, 0.175)))])));
    assert!((height(&banks) - 0.07).abs() < 0.01, "{}", height(&banks));
}

#[test]
fn frames_that_go_on_showing_two_drawers_for_one_end_the_bank() {
    let tall = (0.14, 0.3);
    let mut objects = vec![thing("a", "drawer", front(0.6, LOW)), thing("b", "drawer", front(0.6, tall))];
    let mut banks = Banks::default();
    learn(&mut banks, &mut objects);
    assert_eq!(banks.all.len(), 1);
    let two =
        || vec![thing("", "drawer", front(0.6, (0.14, 0.21))), thing("", "drawer", front(0.6, (0.23, 0.3)))];
    (0..BankSettings::default().doubt).for_each(|_| drop(sort(&mut banks, two())));
    objects.iter_mut().for_each(|known| known.track.changed = 0);
    learn(&mut banks, &mut objects);
    assert!(banks.all.is_empty());
}

/// From above a closed drawer is often its handle and the strip of its front that nothing hides, both called drawers.
#[test]
fn a_handle_and_a_strip_of_one_front_are_no_two_drawers() {
    let (mut banks, mut objects) = bank_at(0.6);
    let pieces = || {
        let handle = front(0.56, (0.17, 0.18)).into_iter().filter(|p| p.y.abs() < 0.08).collect();
        [handle, front(0.6, (0.14, 0.15))].map(|points| thing("", "drawer", points)).to_vec()
    };
    for _ in 0..4 * BankSettings::default().doubt {
        assert_eq!(slots(&sort(&mut banks, pieces())), [Some("b")]);
    }
    objects.iter_mut().for_each(|known| known.track.changed = 0);
    learn(&mut banks, &mut objects);
    assert_eq!(banks.all.len(), 1);
}

/// A closed front lies on the hollow of the open drawer, as it was seen.
#[test]
fn a_drawer_has_slid_when_its_front_has() {
    let (mut banks, _) = bank_at(0.6);
    let mut at = |x: f64, up: (f64, f64)| sort(&mut banks, vec![thing("", "drawer", front(x, up))]).remove(0);
    let (open, near, closed) = (at(0.45, HIGH), at(0.455, HIGH), at(0.6, HIGH));
    // Of what hides most of it nobody knows where it is; where it was is not known of the very first view.
    let mut strip = at(0.6, HIGH);
    strip.track.front = None;
    assert!(banks.slid(&open, &near).is_none());
    assert!(banks.slid(&open, &closed).is_some());
    assert!(banks.slid(&open, &strip).is_none());
    assert!(banks.slid(&strip, &open).is_some());
}

/// A drawer is rigid, and what lies in it goes with it: from above a strip of the closed front is seen, and nothing of what is inside.
#[test]
fn what_is_known_of_a_drawer_and_what_lies_in_it_slide_with_it() {
    let (mut banks, objects) = bank_at(0.6);
    let small = |name: &str, x: f64, y: f64, z: f64| {
        let points = front(x, (z, z + 0.04)).into_iter().filter(|p| p.y.abs() < 0.02);
        thing(name, name, points.map(|p| Point3::new(p.x, p.y + y, p.z)).collect())
    };
    let mut closed = objects[1].clone();
    closed.track.front =
        Some(sort(&mut banks, vec![thing("", "drawer", front(0.6, HIGH))])[0].track.front.unwrap());
    let by = 0.15;
    let mut open = sort(&mut banks, vec![thing("", "drawer", front(0.6 - by, (0.2, 0.21)))]).remove(0);
    let slid = banks.slid(&closed, &open).unwrap();
    banks.bring(&slid, &closed, &mut open, 0.004, 2);
    let bounds = &open.object.bounds;
    assert!(
        (bounds.size.z - 0.07).abs() < 0.01 && (bounds.pose.translation.x - 0.45).abs() < 0.01,
        "{bounds:?}"
    );
    // In it, under it, above it, before it on the table, and a piece of the cabinet.
    let mut things = [
        small("apple", 0.7, 0.05, 0.15),
        small("block", 0.7, 0.05, 0.08),
        small("mug", 0.7, 0.0, 0.22),
        small("pear", 0.4, 0.0, 0.15),
        thing("board", "board", front(0.7, HIGH)),
    ];
    let places = |things: &[Known]| -> Vec<f64> {
        things.iter().map(|known| known.object.bounds.pose.translation.x).collect()
    };
    let before = places(&things);
    banks.carry(&[slid], &mut things, 2);
    let moved: Vec<f64> = places(&things).iter().zip(before).map(|(is, was)| was - is).collect();
    assert!((moved[0] - by).abs() < 0.01 && moved[1..].iter().all(|by| *by == 0.0), "{moved:?}");
}

/// Seen from near, the border of the picture cuts an open drawer: its hollow is seen, and its front is not.
/// From above the floor of an open drawer is a thing of its own, without a name. A small thing in it, and one with a name, are none of it.
#[test]
fn the_floor_of_an_open_drawer_is_of_it() {
    let floor = |half: f64| -> Vec<Point3<f64>> {
        let flat = front(0.0, LOW).into_iter().filter(|p| p.y.abs() <= half);
        flat.map(|p| Point3::new(0.45 + 1.5 * (p.z - LOW.0), p.y, 0.055)).collect()
    };
    for (name, half, x, slot) in [
        ("", 0.15, 0.42, Some("a")),
        ("", 0.1, 0.42, Some("a")),
        ("", 0.03, 0.42, None),
        ("tray", 0.15, 0.42, None),
        // Nobody knows that it is open.
        ("", 0.15, 0.6, None),
    ] {
        let (mut banks, mut objects) = bank_at(0.6);
        let seen = sort(&mut banks, vec![thing("", "drawer", front(x, LOW))]);
        assert_eq!(slots(&seen), [Some("a")]);
        objects[0].track.front = seen[0].track.front;
        learn(&mut banks, &mut objects);
        let seen = sort(&mut banks, vec![thing("", name, floor(half))]);
        assert_eq!(slots(&seen), [slot], "{name} {half} {x}");
    }
}

#[test]
fn what_the_border_of_the_picture_cuts_off_has_not_slid_back() {
    let (mut banks, mut objects) = bank_at(0.6);
    let seen_so = |banks: &mut Banks, points: Vec<Point3<f64>>, is_cut: bool| {
        let mut seen = thing("", "drawer", points);
        seen.object.touches_border = is_cut;
        sort(banks, vec![seen]).remove(0)
    };
    let open = seen_so(&mut banks, front(0.4, HIGH), false);
    objects[1].track.front = open.track.front;
    learn(&mut banks, &mut objects);
    let (floor, back) =
        ((0..14).flat_map(|n| front(0.45 + 0.01 * f64::from(n), (0.14, 0.145))), front(0.6, (0.14, 0.185)));
    let hollow: Vec<Point3<f64>> = floor.chain(back).collect();
    for (points, is_cut, has_moved) in [
        (hollow.clone(), true, false),
        (hollow, false, true),
        // The whole face, or a strip farther out, tells all the same.
        (front(0.6, HIGH), true, true),
        (front(0.35, (0.2, 0.21)), true, true),
    ] {
        let seen = seen_so(&mut banks, points, is_cut);
        assert_eq!(banks.slid(&open, &seen).is_some(), has_moved, "{:?}", seen.track.front);
    }
}

#[test]
fn what_hangs_at_a_front_is_of_its_drawer() {
    let (mut banks, mut objects) = bank_at(0.6);
    // As frames show the fronts.
    for seen in sort(
        &mut banks,
        objects.iter().map(|known| thing("", "drawer", known.object.cloud.points.clone())).collect(),
    ) {
        let key = seen.track.slot.clone().unwrap();
        objects.iter_mut().find(|known| known.object.key == key).unwrap().track.front = seen.track.front;
    }
    learn(&mut banks, &mut objects);
    let part = |x: f64, across: (f64, f64), up: (f64, f64)| -> Vec<Point3<f64>> {
        let depth = front(x, up).into_iter().chain(front(x + 0.01, up));
        depth.filter(|p| (across.0..=across.1).contains(&p.y)).collect()
    };
    let mut check = |what: &str, points: Vec<Point3<f64>>, others: Vec<Known>, slot: Option<&str>| {
        let seen = sort(&mut banks, [vec![thing("", "box", points)], others].concat());
        let found = seen.iter().find(|known| known.object.class_name == "box").expect("it is somewhere");
        assert_eq!(found.track.slot.as_ref().map(|key| key.0.as_str()), slot, "{what}");
    };
    let bar = || part(0.57, (-0.05, 0.05), (0.165, 0.18));
    check("a bar", bar(), vec![], Some("b"));
    check("a strip of the front", part(0.595, (0.06, 0.14), (0.18, 0.2)), vec![], Some("b"));
    check("what is farther before it", part(0.5, (-0.05, 0.05), (0.165, 0.18)), vec![], None);
    check("what reaches below the front", part(0.57, (-0.02, 0.02), (0.02, 0.07)), vec![], None);
    check("what reaches beyond it", part(0.57, (-0.02, 0.02), (0.18, 0.3)), vec![], None);
    let below = thing("", "crate", part(0.56, (-0.06, 0.06), (0.0, 0.16)));
    check("what stands on something", bar(), vec![below], None);
    // The same of what was on the map before.
    let known = |key: &str, views: u32, confidence: f64| {
        let mut known = thing(key, "box", bar());
        (known.object.view_count, known.object.confidence) = (views, confidence);
        known
    };
    objects.extend([known("box", 9, 0.3), known("towel", 9, 0.9)]);
    let report = learn(&mut banks, &mut objects);
    let keys: Vec<&str> = objects.iter().map(|known| known.object.key.0.as_str()).collect();
    assert_eq!(keys, ["a", "b", "towel"], "what most views agree on stays");
    assert_eq!(report.joined, [("box".into(), "b".into())]);
}

#[test]
fn what_drawers_are_in_is_one() {
    let (mut banks, mut objects) = bank_at(0.6);
    let strip = |x: f64, across: (f64, f64), up: (f64, f64)| -> Vec<Point3<f64>> {
        front(x, up).into_iter().filter(|p| (across.0..=across.1).contains(&p.y)).collect()
    };
    let lid: Vec<Point3<f64>> =
        front(0.6, (0.0, 0.2)).into_iter().map(|p| Point3::new(0.6 + p.z, p.y, 0.22)).collect();
    let colored = |mut known: Known, color| {
        known.object.color = color;
        known
    };
    let (wood, red) = ([120, 80, 50], [180, 30, 30]);
    objects.extend([
        colored(thing("body", "cabinet", lid), wood),
        colored(thing("left", "cabinet", strip(0.62, (-0.14, -0.05), (0.0, 0.04))), wood),
        colored(thing("right", "", strip(0.62, (0.05, 0.14), (0.0, 0.04))), wood),
        colored(thing("apple", "", strip(0.62, (-0.02, 0.02), (0.15, 0.19))), red),
        colored(thing("box", "box", strip(0.65, (-0.02, 0.02), (0.0, 0.04))), wood),
        colored(thing("before", "cabinet", strip(0.4, (-0.02, 0.02), (0.0, 0.04))), wood),
        colored(thing("above", "cabinet", strip(0.65, (-0.02, 0.02), (0.3, 0.4))), wood),
    ]);
    let report = learn(&mut banks, &mut objects);
    let keys: Vec<&str> = objects.iter().map(|known| known.object.key.0.as_str()).collect();
    assert_eq!(keys, ["a", "b", "body", "apple", "box", "before", "above"]);
    assert_eq!(report.joined.len(), 2);
    assert_eq!(objects[2].object.view_count, BankSettings::default().views, "its pieces were seen together");
}
