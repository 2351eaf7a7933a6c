//! Things described from clouds that are drawn from a model: what moves, what does not, and what ends in a finding.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_articulation::critic::{Candidate, JointFailure, LinkFailure, judge};
use prehend_articulation::{
    Joint, JointKind, Link, Look, Model, Motions, MovablePart, Observation, ObservationError, Outcome, Shape,
    Solid, Thresholds, Track, Wish, describe, from_urdf, meshes, to_urdf, to_urdf_with_meshes,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A cabinet that looks to -x with one door, hinged at +y, or one drawer.
fn cabinet(kind: JointKind) -> Model {
    let board = |size: [f64; 3], at: [f64; 3]| Solid::cuboid(Point3::from(at), Vector3::from(size));
    let body = vec![
        board([0.3, 0.4, 0.012], [0.0, 0.0, 0.006]),
        board([0.3, 0.4, 0.012], [0.0, 0.0, 0.394]),
        board([0.012, 0.4, 0.4], [0.144, 0.0, 0.2]),
        board([0.3, 0.012, 0.4], [0.0, 0.194, 0.2]),
        board([0.3, 0.012, 0.4], [0.0, -0.194, 0.2]),
    ];
    let (class, origin, axis, limits) = match kind {
        JointKind::Prismatic => ("drawer", Point3::new(-0.15, 0.0, 0.2), -Vector3::x_axis(), [0.0, 0.2]),
        _ => ("door", Point3::new(-0.15, 0.2, 0.2), -Vector3::z_axis(), [0.0, 1.6]),
    };
    let at = |x: f64, y: f64| [x - origin.x, y - origin.y, 0.0];
    let mut part =
        vec![board([0.014, 0.39, 0.38], at(-0.157, 0.0)), board([0.012, 0.012, 0.1], at(-0.2, -0.17))];
    if kind == JointKind::Prismatic {
        part.push(board([0.25, 0.36, 0.3], at(-0.02, 0.0)));
    }
    Model {
        name: "cabinet".to_owned(),
        links: vec![
            Link { name: "body".to_owned(), class: "cabinet".to_owned(), solids: body },
            Link { name: "part".to_owned(), class: class.to_owned(), solids: part },
        ],
        joints: vec![Joint {
            name: "joint".to_owned(),
            kind,
            parent: 0,
            child: 1,
            origin,
            axis,
            limits,
            uncertainty: None,
        }],
    }
}

/// Points over the surfaces of a link, a millimetre off.
fn surface(link: &Link, pose: &Isometry3<f64>, rng: &mut ChaCha8Rng) -> Vec<Point3<f64>> {
    let mut points = Vec::new();
    for solid in &link.solids {
        let Shape::Box(size) = solid.shape else { continue };
        for axis in 0..3 {
            let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
            let count = (size[a] * size[b] / 4e-5) as usize;
            for _ in 0..count {
                let mut at = Vector3::from_fn(|i, _| size[i] * (rng.random::<f64>() - 0.5));
                at[axis] = size[axis] / 2.0 * if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                let noise = Vector3::from_fn(|_, _| 0.002 * (rng.random::<f64>() - 0.5));
                points.push(pose * solid.pose * Point3::from(at + noise));
            }
        }
    }
    points
}

fn map_from_model() -> Isometry3<f64> {
    Isometry3::new(Vector3::new(0.8, 0.1, 0.2), Vector3::z() * 0.3)
}

/// A model seen with its joint at positions, and led by a hand between them.
fn observed(model: &Model, positions: &[f64], led: bool) -> Observation {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let looks = positions.iter().map(|position| {
        let poses = model.poses(&[*position]);
        let cloud = |link: usize, rng: &mut ChaCha8Rng| {
            surface(&model.links[link], &(map_from_model() * poses[link]), rng)
        };
        Look { body: cloud(0, &mut rng), parts: vec![cloud(1, &mut rng)] }
    });
    let looks = looks.collect();
    let tracks = positions.windows(2).enumerate().map(|(after, pair)| {
        let hold =
            Point3::new(-0.05, if model.joints[0].kind == JointKind::Prismatic { 0.0 } else { -0.37 }, 0.0);
        let at = |step: usize| {
            let position = pair[0] + step as f64 / 30.0 * (pair[1] - pair[0]);
            let at = map_from_model() * model.joints[0].at(position) * hold;
            Isometry3::from_parts(Translation3::from(at.coords), UnitQuaternion::identity())
        };
        Track { part: 0, after, poses: (0..=30).map(at).collect(), stopped: after == 1 }
    });
    Observation {
        name: "cabinet_0".to_owned(),
        class: "cabinet".to_owned(),
        parts: vec![MovablePart { name: "part_0".to_owned(), class: model.links[1].class.clone() }],
        tracks: if led { tracks.collect() } else { Vec::new() },
        looks,
        eye: Point3::new(-0.3, 0.0, 0.8),
    }
}

#[test]
fn a_door_that_was_opened_is_known_and_its_urdf_is_read_again() {
    let truth = cabinet(JointKind::Revolute);
    let described = describe(&observed(&truth, &[0.0, 0.9, 1.6], true), Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::Known]);
    assert!(described.wishes.is_empty() && described.stop.is_success(), "{:?}", described.stop);
    let best = described.best();
    let joint = &best.model.joints[0];
    let axis = best.map_from_model.rotation * joint.axis;
    assert!(axis.z < -0.998, "{axis:?}");
    let off = best.map_from_model * joint.origin - map_from_model() * truth.joints[0].origin;
    assert!(off.xy().norm() < 0.01, "{off}");
    // The end was felt.
    assert!((joint.limits[1] - 1.6).abs() < 0.03, "{:?}", joint.limits);
    let read = from_urdf(&to_urdf(&best.model)).expect("a model");
    assert_eq!(read.joints.len(), 1);
    assert!((read.joints[0].origin - joint.origin).norm() < 1e-5);
}

/// The same as [`observed`], of the faces that are turned to the eye, with a hand that slips along a direction of the map.
fn seen_from_the_eye(model: &Model, positions: &[f64], hold: Point3<f64>, slip: Vector3<f64>) -> Observation {
    let mut seen = observed(model, positions, true);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (look, position) in seen.looks.iter_mut().zip(positions) {
        let poses = model.poses(&[*position]);
        for (link, cloud) in [&mut look.body, &mut look.parts[0]].into_iter().enumerate() {
            cloud.clear();
            for solid in &model.links[link].solids {
                let pose = map_from_model() * poses[link] * solid.pose;
                let half = solid.half();
                let eye = pose.inverse_transform_point(&seen.eye);
                let own = Link { solids: vec![*solid], ..model.links[link].clone() };
                let faces = surface(&own, &(map_from_model() * poses[link]), &mut rng);
                cloud.extend(faces.into_iter().filter(|point| {
                    let at = pose.inverse_transform_point(point);
                    let axis = at.coords.abs().component_div(&half).imax();
                    eye[axis] * at[axis].signum() > half[axis]
                }));
            }
        }
    }
    for (track, pair) in seen.tracks.iter_mut().zip(positions.windows(2)) {
        let count = track.poses.len() as f64 - 1.0;
        for (step, pose) in track.poses.iter_mut().enumerate() {
            let share = step as f64 / count;
            let at = map_from_model() * model.joints[0].at(pair[0] + share * (pair[1] - pair[0])) * hold;
            pose.translation = Translation3::from(at.coords + slip * share);
        }
    }
    seen
}

#[test]
fn a_side_that_turned_away_is_not_laid_on_the_one_that_shows() {
    let mut truth = cabinet(JointKind::Revolute);
    // A thick door: closed it shows its front, open its back.
    let hold = Point3::new(-0.05, -0.37, 0.0);
    truth.links[1].solids[0] = Solid::cuboid(Point3::new(-0.02, -0.2, 0.0), Vector3::new(0.04, 0.39, 0.38));
    truth.joints[0].limits[1] = 2.2;
    let seen = seen_from_the_eye(&truth, &[0.0, 1.3, 2.2], hold, Vector3::new(0.002, -0.002, 0.001));
    let described = describe(&seen, Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::Known]);
    let best = described.best();
    let off = best.map_from_model * best.model.joints[0].origin - map_from_model() * truth.joints[0].origin;
    assert!(off.xy().norm() < 0.003, "{:.1} mm", 1e3 * off.xy().norm());
}

#[test]
fn a_knob_turns_about_the_side_it_is_on_though_the_hand_slips() {
    let mut truth = cabinet(JointKind::Revolute);
    truth.links[1].class = "knob".to_owned();
    let knob = |size: [f64; 3], x| Solid::cuboid(Point3::new(x, 0.0, 0.0), Vector3::from(size));
    truth.links[1].solids = vec![knob([0.018, 0.042, 0.042], -0.009), knob([0.022, 0.01, 0.05], -0.029)];
    truth.links[0].solids.push(Solid::cuboid(Point3::new(-0.146, 0.0, 0.2), Vector3::new(0.008, 0.4, 0.4)));
    truth.joints[0] =
        Joint { origin: Point3::new(-0.15, 0.0, 0.2), axis: -Vector3::x_axis(), ..truth.joints[0].clone() };
    let hold = Point3::new(-0.03, 0.0, 0.025);
    let slip = map_from_model().rotation * Vector3::new(0.0032, 0.0008, -0.0008);
    let seen = seen_from_the_eye(&truth, &[0.0, 1.0, 1.6], hold, slip);
    let described = describe(&seen, Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::Known]);
    let best = described.best();
    let axis = best.map_from_model.rotation * best.model.joints[0].axis;
    let off = axis.angle(&(map_from_model().rotation * truth.joints[0].axis));
    assert!(off < 0.05, "{:.1} deg", off.to_degrees());
    let candidate = Candidate { model: &truth, map_from_model: &map_from_model(), links: &[Some(1)] };
    let verdicts = judge(candidate, &seen, &Motions::of(&seen));
    assert_eq!(verdicts.joints[0].failure_reason, JointFailure::Success);
}

#[test]
fn a_drawer_is_known_by_two_looks_without_a_hand() {
    let truth = cabinet(JointKind::Prismatic);
    let described = describe(&observed(&truth, &[0.0, 0.12], false), Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::Known]);
    let best = described.best();
    assert_eq!(best.model.joints[0].kind, JointKind::Prismatic);
    let axis = best.map_from_model.rotation * best.model.joints[0].axis;
    let wanted = map_from_model().rotation * truth.joints[0].axis;
    assert!(axis.dot(&wanted) > 0.998);
    // Nobody felt its end: the limit is a guess, and says so.
    assert!(best.model.joints[0].uncertainty.expect("measured").limits[1] > 0.03);
}

#[test]
fn what_is_found_open_and_shut_first_still_opens_the_other_way() {
    for (kind, positions, shut) in
        [(JointKind::Prismatic, [0.12, 0.0, 0.2], -0.12), (JointKind::Revolute, [0.7, 0.0, 1.6], -0.7)]
    {
        let truth = cabinet(kind);
        let mut seen = observed(&truth, &positions, true);
        seen.tracks[0].stopped = true;
        let described = describe(&seen, Thresholds::default()).expect("seen");
        let best = described.best();
        let joint = &best.model.joints[0];
        let axis = best.map_from_model.rotation * joint.axis;
        let wanted = map_from_model().rotation * truth.joints[0].axis;
        assert!(axis.dot(&wanted) > 0.99, "{kind:?}: {axis:?}");
        let limits = [shut, positions[2] + shut];
        for (found, wanted) in joint.limits.iter().zip(limits) {
            assert!((found - wanted).abs() < 0.03, "{kind:?}: {:?}", joint.limits);
        }
        // Both ends were felt, and each counts.
        seen.tracks[1].stopped = true;
        let motions = Motions::of(&seen);
        for (end, times, reason) in [
            (0, 1.0, JointFailure::Success),
            (0, 2.5, JointFailure::JointLimit),
            (1, 2.5, JointFailure::JointLimit),
        ] {
            let mut model = best.model.clone();
            model.joints[0].limits[end] *= times;
            let candidate =
                Candidate { model: &model, map_from_model: &best.map_from_model, links: &best.links };
            let verdicts = judge(candidate, &seen, &motions);
            assert_eq!(verdicts.joints[0].failure_reason, reason, "{kind:?}, end {end} times {times}");
        }
    }
}

/// Points of a binary STL.
fn corners(bytes: &[u8]) -> Vec<[Point3<f64>; 3]> {
    let number = |at: usize| f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    let point = |at: usize| Point3::new(number(at), number(at + 4), number(at + 8));
    (0..(bytes.len() - 84) / 50).map(|i| [12, 24, 36].map(|off| point(84 + 50 * i + off))).collect()
}

#[test]
fn meshes_hold_what_was_seen_and_the_urdf_with_them_is_read() {
    let truth = cabinet(JointKind::Revolute);
    let seen = observed(&truth, &[0.0, 0.9, 1.6], true);
    let described = describe(&seen, Thresholds::default()).expect("seen");
    let best = described.best();
    let files = meshes(&seen, best);
    for (link, points) in [(0, &seen.looks[0].body), (1, &seen.looks[0].parts[0])] {
        let map_from_link = best.map_from_model * best.model.poses(&[])[link];
        let hulls: Vec<Vec<[Point3<f64>; 3]>> =
            files.iter().filter(|file| file.link == link).map(|file| corners(&file.bytes)).collect();
        assert!(!hulls.is_empty());
        let inside = |point: &&Point3<f64>| {
            let at = map_from_link.inverse_transform_point(point);
            let out = |[a, b, c]: &[Point3<f64>; 3]| {
                let normal = (b - a).cross(&(c - a));
                normal.try_normalize(1e-12).map_or(f64::NEG_INFINITY, |normal| normal.dot(&(at - a)))
            };
            hulls.iter().any(|hull| hull.iter().map(out).fold(f64::NEG_INFINITY, f64::max) < 0.003)
        };
        let share = points.iter().filter(inside).count() as f64 / points.len() as f64;
        assert!(share >= 0.95, "link {link}: {share}");
    }
    let text = to_urdf_with_meshes(&best.model, &files);
    assert!(files.iter().all(|file| text.contains(&format!("<mesh filename=\"{}\"/>", file.name))));
    let read = from_urdf(&text).expect("a model");
    // Collisions stay boxes.
    assert_eq!(read.links[1].solids.len(), best.model.links[1].solids.len());
    assert_eq!(text.matches("<collision>").count(), to_urdf(&best.model).matches("<collision>").count());
}

#[test]
fn what_did_not_move_is_assumed_and_what_was_pulled_in_vain_is_locked() {
    let truth = cabinet(JointKind::Revolute);
    let seen = observed(&truth, &[0.0], false);
    let described = describe(&seen, Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::Assumed]);
    assert_eq!(described.wishes, [Wish::Move { part: "part_0".to_owned() }]);
    assert_eq!(described.best().model.joints[0].kind, JointKind::Revolute);
    let pulled = observed(&truth, &[0.0, 0.004], true);
    assert_eq!(describe(&pulled, Thresholds::default()).expect("seen").parts, [Outcome::Locked]);
}

#[test]
fn a_spring_takes_it_back_and_what_falls_off_is_broken() {
    let truth = cabinet(JointKind::Prismatic);
    let mut springs = observed(&truth, &[0.0, 0.15], true);
    springs.looks[1] = observed(&truth, &[0.0], false).looks[0].clone();
    assert_eq!(describe(&springs, Thresholds::default()).expect("seen").parts, [Outcome::SpringsBack]);
    // The hand goes zigzag with a part that comes off.
    let mut broken = observed(&truth, &[0.0, 0.15], true);
    for (step, pose) in broken.tracks[0].poses.iter_mut().enumerate() {
        pose.translation.vector.z += if step / 5 % 2 == 0 { 0.0 } else { 0.04 };
    }
    let parts = describe(&broken, Thresholds::default()).expect("seen").parts;
    assert!(matches!(parts[..], [Outcome::Broken { .. }]), "{parts:?}");
}

#[test]
fn what_was_hardly_seen_and_what_is_no_observation_is_told() {
    let truth = cabinet(JointKind::Revolute);
    let mut seen = observed(&truth, &[0.0], false);
    seen.looks[0].parts[0].truncate(9);
    let described = describe(&seen, Thresholds::default()).expect("seen");
    assert_eq!(described.parts, [Outcome::HalfSeen { points: 9 }]);
    assert_eq!(described.wishes, [Wish::Look { part: "part_0".to_owned() }]);
    let mut nothing = observed(&truth, &[0.0], false);
    nothing.looks[0].body.clear();
    let error = describe(&nothing, Thresholds::default()).expect_err("nothing");
    assert!(matches!(error, ObservationError::TooFew { points: 0, .. }), "{error}");
    let mut nan = observed(&truth, &[0.0, 0.5], true);
    nan.looks[1].parts[0][3].x = f64::NAN;
    assert_eq!(describe(&nan, Thresholds::default()), Err(ObservationError::NotFinite { look: 1 }));
    let mut track = observed(&truth, &[0.0, 0.5], true);
    track.tracks[0].part = 7;
    assert_eq!(describe(&track, Thresholds::default()), Err(ObservationError::BadTrack { track: 0 }));
    let mut parts = observed(&truth, &[0.0, 0.5], false);
    parts.looks[1].parts.clear();
    assert!(matches!(describe(&parts, Thresholds::default()), Err(ObservationError::Parts { look: 1, .. })));
}

#[test]
fn the_joint_critic_keeps_the_order_of_the_document() {
    let truth = cabinet(JointKind::Revolute);
    let seen = observed(&truth, &[0.0, 0.9, 1.6], true);
    let motions = Motions::of(&seen);
    let said = |change: &dyn Fn(&mut Joint)| {
        let mut model = truth.clone();
        change(&mut model.joints[0]);
        let candidate = Candidate { model: &model, map_from_model: &map_from_model(), links: &[Some(1)] };
        let verdict = judge(candidate, &seen, &motions).joints.remove(0);
        (verdict.failure_reason, verdict.realism_rating)
    };
    let (reason, rating) = said(&|_| ());
    assert_eq!(reason, JointFailure::Success);
    assert!(rating >= 8.0, "{rating}");
    assert_eq!(said(&|joint| joint.kind = JointKind::Prismatic), (JointFailure::JointType, 0.0));
    assert_eq!(said(&|joint| joint.kind = JointKind::Fixed), (JointFailure::JointType, 0.0));
    assert_eq!(said(&|joint| joint.axis = Vector3::x_axis()), (JointFailure::JointAxis, 1.0));
    assert_eq!(said(&|joint| joint.origin.y -= 0.1), (JointFailure::JointOrigin, 2.0));
    assert_eq!(said(&|joint| joint.axis = -joint.axis), (JointFailure::JointLimit, 3.0));
    assert_eq!(said(&|joint| joint.limits[1] = 0.7), (JointFailure::JointLimit, 3.0));
    assert_eq!(said(&|joint| joint.limits[1] = 3.0), (JointFailure::JointLimit, 3.0));
    // Two faults: the first of the document's order is told.
    let both = said(&|joint| {
        joint.kind = JointKind::Prismatic;
        joint.limits[1] = 0.01;
    });
    assert_eq!(both.0, JointFailure::JointType);
}

#[test]
fn the_link_critic_says_what_is_wrong_with_a_link_and_the_urdf_critic_what_is_no_model() {
    let truth = cabinet(JointKind::Revolute);
    let seen = observed(&truth, &[0.0, 0.9], true);
    let motions = Motions::of(&seen);
    let said = |model: &Model, link: Option<usize>| {
        let candidate = Candidate { model, map_from_model: &map_from_model(), links: &[link] };
        judge(candidate, &seen, &motions)
    };
    let moved = |by: Vector3<f64>| {
        let mut model = truth.clone();
        model.links[1].solids.iter_mut().for_each(|solid| solid.pose = Translation3::from(by) * solid.pose);
        let verdicts = said(&model, Some(1));
        let part = &verdicts.links[1];
        (part.failure, part.realism_rating)
    };
    assert_eq!(moved(Vector3::zeros()).0, LinkFailure::None);
    for (by, failure) in [
        (Vector3::new(-0.08, 0.0, 0.0), LinkFailure::Floating),
        (Vector3::new(0.06, 0.0, 0.0), LinkFailure::Intersecting),
        (Vector3::new(0.0, 0.0, 0.1), LinkFailure::Placement),
    ] {
        let (found, rating) = moved(by);
        // The document: below 5 for whatever must be placed anew.
        assert!(found == failure && rating < 5.0, "{by:?}: {found:?} {rating}");
    }
    let body = Model { links: truth.links[..1].to_vec(), joints: Vec::new(), ..truth.clone() };
    assert_eq!(said(&body, None).links[1].failure, LinkFailure::Missing);

    let right = said(&truth, Some(1)).urdf;
    assert!(right.success && right.joint_evaluation_details.len() == 1, "{right:?}");
    let mut broken = truth.clone();
    broken.joints[0].limits = [1.0, 0.0];
    let wrong = said(&broken, Some(1)).urdf;
    assert!(!wrong.success && wrong.link_position_score == 0.0, "{wrong:?}");
}
