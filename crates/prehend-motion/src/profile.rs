//! Speed along a line: jerk-limited changes between two speeds, with no acceleration at either end.

/// A time with constant jerk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Phase {
    pub(crate) duration: f64,
    /// Distance, speed and acceleration at its beginning.
    pub(crate) s: f64,
    pub(crate) v: f64,
    pub(crate) a: f64,
    pub(crate) jerk: f64,
}

impl Phase {
    /// Distance, speed and acceleration at `t` after its beginning.
    pub(crate) fn at(&self, t: f64) -> (f64, f64, f64) {
        let Self { s, v, a, jerk, .. } = *self;
        (s + t * (v + t * (a / 2.0 + t * jerk / 6.0)), v + t * (a + t * jerk / 2.0), a + t * jerk)
    }
}

/// Greatest speed, acceleration and jerk along a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) v: f64,
    pub(crate) a: f64,
    pub(crate) j: f64,
}

/// Duration of the two jerk parts and of the constant part of a speed change by `dv` (not negative).
fn ramp(dv: f64, bounds: Bounds) -> (f64, f64) {
    if dv >= bounds.a * bounds.a / bounds.j {
        (bounds.a / bounds.j, dv / bounds.a - bounds.a / bounds.j)
    } else {
        ((dv / bounds.j).sqrt(), 0.0)
    }
}

/// Distance that a speed change needs.
fn ramp_distance(from: f64, to: f64, bounds: Bounds) -> f64 {
    let (jerk_part, constant_part) = ramp((to - from).abs(), bounds);
    (from + to) / 2.0 * (2.0 * jerk_part + constant_part)
}

/// The greatest speed that can be reached from (or braked down to) `from` within `length`, at most `bounds.v`.
pub(crate) fn reachable(from: f64, length: f64, bounds: Bounds) -> f64 {
    let (mut low, mut high) = (from, bounds.v.max(from));
    if ramp_distance(from, high, bounds) <= length {
        return high;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if ramp_distance(from, middle, bounds) <= length { low = middle } else { high = middle }
    }
    low
}

/// Phases from speed `from` to speed `to` over `length`, as fast as the bounds allow.
///
/// Both speeds must be within the bounds and reachable from each other over the length (see [`reachable`]).
pub(crate) fn line(from: f64, to: f64, length: f64, bounds: Bounds) -> Vec<Phase> {
    let needs = |peak: f64| ramp_distance(from, peak, bounds) + ramp_distance(peak, to, bounds);
    let (mut low, mut high) = (from.max(to), bounds.v.max(from).max(to));
    if needs(high) > length {
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if needs(middle) <= length { low = middle } else { high = middle }
        }
    } else {
        low = high;
    }
    let peak = low;
    let mut phases = Vec::new();
    let mut state = (0.0, from, 0.0);
    let mut push = |duration: f64, a: f64, jerk: f64, phases: &mut Vec<Phase>| {
        if duration > 0.0 {
            let phase = Phase { duration, s: state.0, v: state.1, a, jerk };
            state = phase.at(duration);
            phases.push(phase);
        }
    };
    let change = |from: f64, to: f64| {
        let (jerk_part, constant_part) = ramp((to - from).abs(), bounds);
        let sign = if to >= from { 1.0 } else { -1.0 };
        let jerk = sign * bounds.j;
        [(jerk_part, 0.0, jerk), (constant_part, jerk * jerk_part, 0.0), (jerk_part, jerk * jerk_part, -jerk)]
    };
    for (duration, a, jerk) in change(from, peak) {
        push(duration, a, jerk, &mut phases);
    }
    if peak > 0.0 {
        push((length - needs(peak)).max(0.0) / peak, 0.0, 0.0, &mut phases);
    }
    for (duration, a, jerk) in change(peak, to) {
        push(duration, a, jerk, &mut phases);
    }
    phases
}
