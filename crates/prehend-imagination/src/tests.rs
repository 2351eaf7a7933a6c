use super::*;

const HAND: Hand =
    Hand { max_opening: 0.085, pad_width: 0.022, finger_thickness: 0.012, finger_length: 0.068, force: 30.0 };

/// Surface points of a box, 2 mm apart.
fn block(low: [f64; 3], high: [f64; 3]) -> Vec<Point3<f64>> {
    let steps = |axis: usize| ((high[axis] - low[axis]) / 0.002).round().max(1.0) as usize;
    let [nx, ny, nz] = [0, 1, 2].map(steps);
    let at = |axis: usize, i: usize, n: usize| low[axis] + (high[axis] - low[axis]) * i as f64 / n as f64;
    let mut points = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                if i % nx == 0 || j % ny == 0 || k % nz == 0 {
                    points.push(Point3::new(at(0, i, nx), at(1, j, ny), at(2, k, nz)));
                }
            }
        }
    }
    points
}

fn played(thing: &[Point3<f64>], part: &[Point3<f64>], act: Act) -> Imagined {
    let outward = if act == Act::Press { Vector3::z() } else { -Vector3::x() };
    imagine(&Seen { thing, part, outward, support: 0.0 }, &HAND, act).expect("something is seen")
}

#[test]
fn a_bar_before_a_front_is_held_and_the_front_is_not() {
    let bar = block([0.47, -0.05, 0.145], [0.482, 0.05, 0.155]);
    let front = block([0.52, -0.2, 0.02], [0.53, 0.2, 0.3]);
    let thing: Vec<_> = bar.iter().chain(&front).copied().collect();
    let held = played(&thing, &bar, Act::Hold);
    assert!(matches!(held.end, End::Held(slip) if slip < 0.008) && held.success >= 1.0, "{held:?}");
    assert!((held.at - Point3::new(0.48, 0.0, 0.15)).norm() < 0.02, "{held:?}");
    let wide = played(&thing, &front, Act::Hold);
    assert_eq!((wide.end, wide.success), (End::NoRoom, 0.0));
}

#[test]
fn what_has_nothing_to_hold_slips() {
    // A cone that opens towards its tip: the pads push it out.
    let mut cone = Vec::new();
    for level in 0..20_u32 {
        let z = 0.10 + 0.002 * f64::from(level);
        let radius = 0.03 - 0.0014 * f64::from(level);
        for turn in 0..60_u32 {
            let angle = f64::from(turn) * std::f64::consts::TAU / 60.0;
            cone.push(Point3::new(0.4 + radius * angle.cos(), radius * angle.sin(), z));
        }
    }
    let seen = Seen { thing: &cone, part: &cone, outward: Vector3::z(), support: 0.0 };
    let weak = Hand { force: 2.0, ..HAND };
    let found = imagine(&seen, &weak, Act::Hold).expect("seen");
    assert!(matches!(found.end, End::Slipped(_)), "{found:?}");
}

#[test]
fn a_button_is_reached_unless_something_stands_before_it() {
    let base = block([0.3, -0.05, 0.0], [0.4, 0.05, 0.05]);
    let button = block([0.34, -0.01, 0.05], [0.36, 0.01, 0.06]);
    let thing: Vec<_> = base.iter().chain(&button).copied().collect();
    assert_eq!(played(&thing, &button, Act::Press).end, End::Reached);
    let lid = block([0.3, -0.05, 0.09], [0.4, 0.05, 0.10]);
    let under: Vec<_> = thing.iter().chain(&lid).copied().collect();
    let blocked = played(&under, &button, Act::Press);
    assert_eq!((blocked.end, blocked.success), (End::Blocked, 0.0));
}

#[test]
fn nothing_and_broken_points_give_nothing() {
    let thing = block([0.3, -0.02, 0.0], [0.34, 0.02, 0.04]);
    let seen = |part, outward| Seen { thing: &thing, part, outward, support: 0.0 };
    let nan = [Point3::new(f64::NAN, 0.0, 0.0)];
    for act in [Act::Hold, Act::Press] {
        assert_eq!(imagine(&seen(&[], Vector3::z()), &HAND, act), None);
        assert_eq!(imagine(&seen(&nan, Vector3::z()), &HAND, act), None);
        assert_eq!(imagine(&seen(&thing, Vector3::zeros()), &HAND, act), None);
        assert_eq!(imagine(&seen(&thing, Vector3::new(f64::NAN, 0.0, 0.0)), &HAND, act), None);
        let flat = Hand { pad_width: 0.0, ..HAND };
        assert_eq!(imagine(&seen(&thing, Vector3::z()), &flat, act), None);
        // One point of a part is little, and no reason to panic.
        assert!(imagine(&seen(&thing[..1], Vector3::z()), &HAND, act).is_some());
    }
}
