//! Contacts on opposite sides of a body: slices as wide as a pad, at several heights and in every direction.

use super::{Contact, GraspError, GraspKind, LEAST_HOLD, SUPPORT_CLEARANCE, Shape, quantile, slope};
use crate::gripper::GripperModel;
use nalgebra::{Point3, Vector3};

/// Closing directions tried in half a turn.
const DIRECTIONS: usize = 18;
/// Distance between slices, metres.
const STEP: f64 = 0.006;
/// How much of the object the pads cover, metres, when the support allows.
const HOLDS: [f64; 4] = [0.018, 0.028, 0.040, 0.055];
/// Rows of a slice, from which the direction of a face is measured.
const ROWS: usize = 5;
/// Steepest face that friction of 0.4 holds, with some leave for noise, radians.
const STEEPEST: f64 = 0.45;

/// Contacts found and, when there are none, what stood against them.
pub(crate) struct Found {
    pub(crate) contacts: Vec<Contact>,
    narrowest: f64,
    highest: f64,
}

impl Found {
    pub(crate) fn error(&self, gripper: &GripperModel, is_closed: bool) -> GraspError {
        if self.highest < SUPPORT_CLEARANCE + LEAST_HOLD {
            GraspError::TooFlat { height: self.highest.max(0.0) }
        } else if self.narrowest.is_finite() && self.narrowest > gripper.usable_width {
            GraspError::TooWide { narrowest: self.narrowest, usable: gripper.usable_width, is_closed }
        } else {
            GraspError::NoContact
        }
    }
}

/// A point in a slice: along the closing direction, across it, and up.
type Local = [f64; 3];

pub(crate) fn contacts(shape: &Shape, gripper: &GripperModel) -> Found {
    let top = shape.touch.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    let mut found = Found { contacts: Vec::new(), narrowest: f64::INFINITY, highest: top - shape.support };
    let first = principal_direction(shape);
    for i in 0..DIRECTIONS {
        let angle = first + std::f64::consts::PI * i as f64 / DIRECTIONS as f64;
        let d = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let e = Vector3::new(-angle.sin(), angle.cos(), 0.0);
        let mut local: Vec<Local> =
            shape.touch.iter().map(|p| [d.dot(&p.coords), e.dot(&p.coords), p.z]).collect();
        local.sort_by(|a, b| a[1].total_cmp(&b[1]));
        let centre = e.x * shape.centre[0] + e.y * shape.centre[1];
        let (low, high) = (local[0][1], local[local.len() - 1][1]);
        let below = ((centre - low) / STEP).floor().max(0.0);
        let count = ((high - low) / STEP).floor() as usize + 1;
        for k in 0..count {
            let s = centre + (k as f64 - below) * STEP;
            if s < low || s > high {
                continue;
            }
            slice_contacts(&local, s, (d, e), shape, gripper, &mut found);
        }
    }
    found
}

fn slice_contacts(
    local: &[Local],
    s: f64,
    (d, e): (Vector3<f64>, Vector3<f64>),
    shape: &Shape,
    gripper: &GripperModel,
    found: &mut Found,
) {
    let half = gripper.pad_width / 2.0;
    let from = local.partition_point(|p| p[1] < s - half);
    let to = local.partition_point(|p| p[1] <= s + half);
    let slice = &local[from..to];
    if slice.len() < 5 {
        return;
    }
    let mut heights: Vec<f64> = slice.iter().map(|p| p[2]).collect();
    heights.sort_by(f64::total_cmp);
    let top = quantile(&heights, 0.97);
    let floor = shape.support + SUPPORT_CLEARANCE;
    let mut last = f64::INFINITY;
    for hold in HOLDS {
        let tip = (top - hold).max(floor);
        if last - tip < 0.004 || top - tip < LEAST_HOLD {
            continue;
        }
        last = tip;
        let band: Vec<Local> = slice.iter().filter(|p| p[2] >= tip - 0.002).copied().collect();
        let Some(pair) = Pair::measure(&band, s, tip, gripper) else { continue };
        if pair.angle <= STEEPEST {
            found.narrowest = found.narrowest.min(pair.width);
        }
        if pair.width > gripper.usable_width
            || pair.angle > STEEPEST
            || pair.contact_height < LEAST_HOLD.max(0.25 * (top - tip).min(0.02))
        {
            continue;
        }
        let depth = (pair.contact_height / 2.0).min(gripper.pad_length / 2.0);
        let plan = d * pair.middle + e * s;
        found.contacts.push(Contact {
            kind: if shape.part { GraspKind::Part } else { GraspKind::Across },
            shell: false,
            centre: Point3::new(plan.x, plan.y, tip + depth),
            closing: d,
            approach: -Vector3::z(),
            depth,
            width: pair.width,
            contact_height: pair.contact_height,
            contact_width: pair.contact_width,
            angle: pair.angle,
        });
    }
}

/// The two outermost faces of a slice.
struct Pair {
    middle: f64,
    width: f64,
    contact_height: f64,
    contact_width: f64,
    angle: f64,
}

impl Pair {
    fn measure(band: &[Local], s: f64, tip: f64, gripper: &GripperModel) -> Option<Self> {
        if band.len() < 5 {
            return None;
        }
        let mut us: Vec<f64> = band.iter().map(|p| p[0]).collect();
        us.sort_by(f64::total_cmp);
        let (lo, hi) = (quantile(&us, 0.02), quantile(&us, 0.98));
        let height = |near: &dyn Fn(f64) -> bool| {
            let mut zs: Vec<f64> = band.iter().filter(|p| near(p[0])).map(|p| p[2]).collect();
            zs.sort_by(f64::total_cmp);
            (quantile(&zs, 0.85) - tip).clamp(0.0, gripper.pad_length)
        };
        // What lies below the highest point at the edge is taken to be as wide: it was not seen to be narrower.
        let contact_height = height(&|u| u < lo + 0.005).min(height(&|u| u > hi - 0.005));
        let row_width = gripper.pad_width / ROWS as f64;
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for row in 0..ROWS {
            let v0 = s - gripper.pad_width / 2.0 + row as f64 * row_width;
            let mut row_us: Vec<f64> =
                band.iter().filter(|p| p[1] >= v0 && p[1] < v0 + row_width).map(|p| p[0]).collect();
            if row_us.len() >= 2 {
                row_us.sort_by(f64::total_cmp);
                let v = v0 + row_width / 2.0;
                lows.push((v, row_us[0]));
                highs.push((v, row_us[row_us.len() - 1]));
            }
        }
        // With too few rows the faces' directions are not known: neither good nor bad.
        let face = |rows: &[(f64, f64)]| slope(rows).map_or(0.2, |slope| slope.atan().abs());
        let touching = |rows: &[(f64, f64)], edge: f64| {
            rows.iter().filter(|row| (row.1 - edge).abs() < 0.006).count() as f64 * row_width
        };
        Some(Self {
            middle: (lo + hi) / 2.0,
            width: hi - lo,
            contact_height,
            contact_width: touching(&lows, lo).min(touching(&highs, hi)),
            angle: face(&lows).max(face(&highs)),
        })
    }
}

/// Direction (angle from x) of the shorter side of the smallest rectangle around the footprint.
fn principal_direction(shape: &Shape) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for step in 0..90 {
        let angle = f64::from(step).to_radians();
        let (c, s) = (angle.cos(), angle.sin());
        let (mut lo, mut hi) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in &shape.touch {
            for (axis, value) in [c * p.x + s * p.y, c * p.y - s * p.x].into_iter().enumerate() {
                lo[axis] = lo[axis].min(value);
                hi[axis] = hi[axis].max(value);
            }
        }
        let (a, b) = (hi[0] - lo[0], hi[1] - lo[1]);
        if a * b < best.0 {
            best = (a * b, if a <= b { angle } else { angle + std::f64::consts::FRAC_PI_2 });
        }
    }
    best.1
}
