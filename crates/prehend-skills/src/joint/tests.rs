use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Poses of a hand on a part with this joint, every `step` metres, moved by noise of at most `noise` metres per axis.
fn track(
    fit: &JointFit,
    start: Isometry3<f64>,
    steps: usize,
    step: f64,
    noise: f64,
    seed: u64,
) -> Vec<Isometry3<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..=steps)
        .map(|i| {
            let shake = Vector3::from_fn(|_, _| rng.random_range(-1.0..=1.0) * noise);
            Translation3::from(shake) * fit.advance(&start, step * i as f64)
        })
        .collect()
}

fn fit_of(joint: Joint) -> JointFit {
    JointFit { joint, residual: 0.0, line_residual: 0.0, travel: 0.0 }
}

fn door(radius: f64, hinge_side: f64, start: &Isometry3<f64>) -> JointFit {
    // The handle is pulled towards -x; the hinge is to its left or right.
    let centre = Point3::from(start.translation.vector) + Vector3::new(0.0, hinge_side * radius, 0.0);
    let axis = Unit::new_normalize(Vector3::z() * -hinge_side);
    let fit = fit_of(Joint::Revolute { axis, centre, radius });
    let tangent = fit.tangent(&Point3::from(start.translation.vector));
    if tangent.x < 0.0 { fit } else { fit_of(Joint::Revolute { axis: -axis, centre, radius }) }
}

proptest! {
    #[test]
    fn a_slide_is_a_slide_with_noise(
        yaw in -1.0..1.0_f64, pitch in -0.6..0.6_f64, seed in 0..1000_u64, noise in 0.0..0.000_3_f64,
    ) {
        let start = Isometry3::new(Vector3::new(0.5, 0.1, 0.3), Vector3::new(0.3, 2.0, 0.1));
        let axis = Unit::new_normalize(Vector3::new(-yaw.cos() * pitch.cos(), yaw.sin(), pitch.sin()));
        let poses = track(&fit_of(Joint::Prismatic { axis }), start, 10, 0.01, noise, seed);
        let fit = estimate(&poses, Expected::Turn).expect("a track");
        match fit.joint {
            Joint::Prismatic { axis: found } => prop_assert!(found.angle(&axis) < 0.02, "{fit:?}"),
            Joint::Revolute { .. } => prop_assert!(false, "{fit:?}"),
        }
        prop_assert!(fit.residual <= 0.001);
    }

    #[test]
    fn a_door_is_found_from_eight_centimetres_and_followed(
        radius in 0.15..0.45_f64, left in any::<bool>(), seed in 0..1000_u64, noise in 0.0..0.000_2_f64,
    ) {
        let start = Isometry3::new(Vector3::new(0.55, 0.05, 0.25), Vector3::new(0.3, 2.0, 0.1));
        let truth = door(radius, if left { 1.0 } else { -1.0 }, &start);
        let poses = track(&truth, start, 16, 0.005, noise, seed);
        let fit = estimate(&poses, Expected::Turn).expect("a track");
        let Joint::Revolute { axis, radius: found, .. } = fit.joint else {
            return Err(TestCaseError::fail(format!("{fit:?}")));
        };
        let Joint::Revolute { axis: real, .. } = truth.joint else { unreachable!() };
        prop_assert!(axis.angle(&real) < 0.15, "{fit:?}");
        prop_assert!((found / radius - 1.0).abs() < 0.25, "{found} for {radius}");
        // Two centimetres ahead the estimate is less than 2 mm off.
        let here = truth.advance(&start, 0.08);
        let (ahead, real) = (fit.advance(&here, 0.02), truth.advance(&here, 0.02));
        prop_assert!((ahead.translation.vector - real.translation.vector).norm() < 0.002);
        prop_assert!(ahead.rotation.angle_to(&real.rotation) < 0.06);
    }

    #[test]
    fn garbage_never_panics(numbers in proptest::collection::vec(any::<f64>(), 0..60)) {
        let poses: Vec<Isometry3<f64>> =
            numbers.chunks_exact(3).map(|c| Isometry3::translation(c[0], c[1], c[2])).collect();
        if let Ok(fit) = estimate(&poses, Expected::Turn) {
            prop_assert!(fit.travel >= SHORTEST);
        }
    }
}

#[test]
fn the_first_millimetres_say_nothing() {
    let start = Isometry3::translation(0.5, 0.0, 0.2);
    let slide = fit_of(Joint::Prismatic { axis: -Vector3::x_axis() });
    assert!(matches!(
        estimate(&track(&slide, start, 3, 0.001, 0.0, 1), Expected::Unknown),
        Err(JointError::TooShort { .. })
    ));
    assert_eq!(estimate(&[start], Expected::Unknown), Err(JointError::TooShort { travel: 0.0 }));
    let mut broken = track(&slide, start, 3, 0.01, 0.0, 1);
    broken[2].translation.x = f64::NAN;
    assert_eq!(estimate(&broken, Expected::Unknown), Err(JointError::NotFinite { index: 2 }));
}

#[test]
fn poses_that_turn_tell_the_axis_of_a_lying_hinge() {
    // An oven door: the axis lies along y, below the handle.
    let start = Isometry3::translation(0.5, 0.0, 0.4);
    let truth =
        fit_of(Joint::Revolute { axis: -Vector3::y_axis(), centre: Point3::new(0.5, 0.0, 0.1), radius: 0.3 });
    let fit = estimate(&track(&truth, start, 12, 0.01, 0.000_2, 3), Expected::Turn).expect("a track");
    let Joint::Revolute { axis, .. } = fit.joint else { panic!("{fit:?}") };
    assert!(axis.dot(&-Vector3::y()) > 0.99, "{fit:?}");
}

#[test]
fn a_drawer_slides_although_the_hand_strays_and_a_misnamed_door_still_turns() {
    let start = Isometry3::translation(0.55, 0.05, 0.25);
    // The hand on a drawer sags and comes back by 1.5 mm.
    let strayed: Vec<Isometry3<f64>> = (0..12)
        .map(|i| {
            let s = f64::from(i) / 11.0;
            start * Translation3::new(-0.12 * s, 0.0, -0.006 * s * (1.0 - s))
        })
        .collect();
    let fit = |expected| estimate(&strayed, expected).expect("a track").joint;
    assert!(matches!(fit(Expected::of("top drawer")), Joint::Prismatic { .. }));
    assert!(matches!(fit(Expected::of("door")), Joint::Revolute { .. }));
    let turned = track(&door(0.25, 1.0, &start), start, 16, 0.01, 0.000_2, 1);
    let fit = estimate(&turned, Expected::of("drawer")).expect("a track");
    assert!(matches!(fit.joint, Joint::Revolute { .. }), "{fit:?}");
    assert_eq!(Expected::of("thing"), Expected::Unknown);
}
