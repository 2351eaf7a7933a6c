//! Whether a motion goes on: the hand that does not come forward is noticed by a threshold that follows the motion's own speed (VLA2
//! III-C).
//!
//! How far the arm has come is read as the time of the trajectory at which it should be where it is measured. How fast that time passes
//! is the motion's own pace: 1 as planned, 0.3 when the pendant slows the robot down, whatever the machine's clock does. An arm is stuck
//! when it has come less than a tenth of what its own pace promised, for long enough that the promise was a way that can be measured.

use crate::robot::Joints;
use std::collections::VecDeque;

/// Share of its own pace below which a motion does not come forward.
const STUCK: f64 = 0.1;
/// How long it must not come forward, seconds at the pace that was planned; a slower motion has more.
const WINDOW: f64 = 0.6;
/// Longest such time, and how long a motion may take to begin, seconds.
const LONGEST: f64 = 4.0;
/// Over how long the pace is measured, seconds.
const LATELY: f64 = 0.3;
/// Least way that is promised within the window, radians (metres of a slide): less than that cannot be told from standing.
const LEAST_WAY: f64 = 0.02;
/// From here to the end of the trajectory whoever controls the arm decides when it has arrived, seconds.
const LAST: f64 = 0.2;

/// Follows one motion, by its joint states: whether the arm is stuck.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Time of each point, seconds, way along the path up to it, and joints in the order of the robot.
    points: Vec<(f64, f64, Vec<f64>)>,
    /// How far the arm was, as a time of the trajectory.
    at: f64,
    /// Stamps and how far the arm was then, within the window.
    seen: VecDeque<(f64, f64)>,
    /// The fastest that the trajectory's time has passed so far; `None` until the motion has begun.
    pace: Option<f64>,
    /// Stamp of the first measurement.
    first: Option<f64>,
}

impl Progress {
    /// A motion through points: the time of each from the start, seconds, and the joints there, in the order of the model. `None` when
    /// there are fewer than two.
    pub fn new(trajectory: impl IntoIterator<Item = (f64, Vec<f64>)>) -> Option<Self> {
        let mut points: Vec<(f64, f64, Vec<f64>)> = Vec::new();
        for (time, at) in trajectory {
            let way = points.last().map_or(0.0, |(_, way, before)| way + distance(before, &at));
            points.push((time, way, at));
        }
        (points.len() > 1).then_some(Self { points, at: 0.0, seen: VecDeque::new(), pace: None, first: None })
    }

    /// Share of the time of the trajectory that is behind, [0, 1].
    pub fn share(&self) -> f64 {
        let end = self.points.last().map_or(0.0, |(time, ..)| *time);
        if end > 0.0 { (self.at / end).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Takes in where the arm is; whether it is stuck.
    pub fn is_stuck(&mut self, joints: &Joints) -> bool {
        let now = joints.stamp;
        if self.seen.back().is_some_and(|(last, _)| *last >= now) {
            return false;
        }
        let first = *self.first.get_or_insert(now);
        self.at = self.nearest(&joints.arm).max(self.at);
        self.seen.push_back((now, self.at));
        let end = self.points.last().map_or(0.0, |(time, ..)| *time);
        if self.pace.is_none() {
            if self.way_at(self.at) <= LEAST_WAY {
                let stands = self.way_at(self.at) < STUCK * LEAST_WAY;
                return stands && now - first > LONGEST && self.way_at(LONGEST.min(end)) > LEAST_WAY;
            }
            // From here on it is measured; how long it took to begin says nothing of its pace.
            self.seen.clear();
            self.seen.push_back((now, self.at));
        }
        let lately = self.seen.iter().rfind(|(then, _)| *then <= now - LATELY);
        let rate = lately.map_or(0.0, |(then, at)| (self.at - at) / (now - then));
        let pace = self.pace.unwrap_or(0.0).max(rate);
        self.pace = Some(pace);
        if pace <= 0.0 {
            // It began and went no further: nothing is known of its pace yet but what was planned.
            let (since, from) = self.seen[0];
            return now - since > LONGEST && self.at <= from + STUCK * LATELY && self.at < end - LAST;
        }
        let window = (WINDOW / pace).clamp(WINDOW, LONGEST);
        while self.seen.len() > 2 && self.seen[1].0 <= now - window {
            self.seen.pop_front();
        }
        let (since, from) = self.seen[0];
        if now - since < window - 1e-6 || self.at > end - LAST {
            return false;
        }
        let promised = self.way_at(from + pace * (now - since)) - self.way_at(from);
        promised > LEAST_WAY && self.way_at(self.at) - self.way_at(from) < STUCK * promised
    }

    /// The time of the trajectory at which the arm should be where it is, from where it was on.
    fn nearest(&self, arm: &[f64]) -> f64 {
        let mut best = (f64::INFINITY, self.at);
        for pair in self.points.windows(2) {
            let ((t0, _, a), (t1, _, b)) = (&pair[0], &pair[1]);
            if *t1 < self.at {
                continue;
            }
            let along: f64 = a.iter().zip(b).zip(arm).map(|((a, b), x)| (b - a) * (x - a)).sum();
            let length: f64 = a.iter().zip(b).map(|(a, b)| (b - a) * (b - a)).sum();
            let s = if length > 1e-12 { (along / length).clamp(0.0, 1.0) } else { 0.0 };
            let foot: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + (b - a) * s).collect();
            let off = distance(&foot, arm);
            if off < best.0 - 1e-9 {
                best = (off, t0 + (t1 - t0) * s);
            }
        }
        best.1
    }

    /// Way along the path up to a time of the trajectory.
    fn way_at(&self, time: f64) -> f64 {
        let after = self.points.partition_point(|(t, ..)| *t <= time);
        match (self.points.get(after.saturating_sub(1)), self.points.get(after)) {
            (Some((t0, w0, _)), Some((t1, w1, _))) if after > 0 => w0 + (w1 - w0) * (time - t0) / (t1 - t0),
            (_, None) => self.points.last().map_or(0.0, |(_, way, _)| *way),
            _ => 0.0,
        }
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Points = Vec<(f64, Vec<f64>)>;

    fn standing(arm: Vec<f64>, stamp: f64) -> Joints {
        Joints { arm, opening: 0.0, effort: 0.0, torques: Vec::new(), stamp }
    }

    /// A joint turns by `way` in `seconds`, slowly at first and at the end; another one stands.
    fn turn(way: f64, seconds: f64) -> Points {
        let point = |number| {
            let s = f64::from(number) / 20.0;
            (s * seconds, vec![way * s * s * (3.0 - 2.0 * s), 0.0])
        };
        (0..=20).map(point).collect()
    }

    /// When an arm is called stuck that passes through the trajectory's time at `rate(now)`, within a minute.
    fn noticed(trajectory: &Points, period: f64, rate: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        let mut progress = Progress::new(trajectory.clone()).expect("its joints");
        let (mut at, mut now) = (0.0_f64, 100.0_f64);
        let end = progress.points.last().expect("points").0;
        while now < 160.0 {
            let after = progress.points.partition_point(|(t, ..)| *t <= at).min(progress.points.len() - 1);
            let ((t0, _, a), (t1, _, b)) = (&progress.points[after - 1], &progress.points[after]);
            let s = (at - t0) / (t1 - t0);
            let noise = 2e-4 * (now * 977.0).sin();
            let arm = a.iter().zip(b).map(|(a, b)| a + (b - a) * s + noise).collect();
            if progress.is_stuck(&standing(arm, now)) {
                return Some((now - 100.0, progress.share()));
            }
            at = (at + rate(now - 100.0) * period).min(end);
            now += period;
        }
        None
    }

    #[test]
    fn a_motion_that_comes_forward_is_not_stuck_at_any_pace() {
        for (way, seconds) in [(1.2, 1.5), (0.3, 4.0), (0.05, 1.0), (2.0, 8.0), (0.004, 2.0)] {
            for pace in [1.0, 0.5, 0.25, 0.1] {
                for period in [0.004, 0.02, 0.1] {
                    let found = noticed(&turn(way, seconds), period, |_| pace);
                    assert_eq!(found, None, "{way} rad in {seconds} s at {pace}, every {period} s");
                }
            }
        }
        // Slower and faster again, and a machine that stutters.
        assert_eq!(noticed(&turn(1.0, 3.0), 0.02, |t| if t < 1.0 { 1.0 } else { 0.4 }), None);
        assert_eq!(
            noticed(&turn(1.0, 3.0), 0.02, |t| if (t * 10.0) as u32 % 4 < 2 { 0.0 } else { 1.0 }),
            None
        );
    }

    #[test]
    fn a_motion_that_stands_is_noticed_as_soon_as_its_own_pace_allows() {
        for (pace, within) in [(1.0, 1.0), (0.5, 2.2), (0.25, 4.2)] {
            for period in [0.004, 0.02, 0.1] {
                let jam = 1.2 / pace;
                let found = noticed(&turn(1.2, 3.0), period, |t| if t < jam { pace } else { 0.0 });
                let (when, share) = found.expect("it stands");
                assert!(when > jam && when < jam + within, "at {pace}: {when} after {jam}");
                assert!((share - 0.4).abs() < 0.05, "{share}");
            }
        }
    }

    #[test]
    fn a_motion_that_does_not_begin_is_noticed_and_has_time_to() {
        let (when, share) = noticed(&turn(1.2, 3.0), 0.02, |_| 0.0).expect("it never begins");
        assert!(when > 3.0 && when < 5.0 && share < 0.05, "{when}");
        assert_eq!(noticed(&turn(1.2, 3.0), 0.02, |t| if t < 2.0 { 0.0 } else { 1.0 }), None);
    }

    #[test]
    fn what_is_no_motion_is_not_followed() {
        assert!(Progress::new(Vec::new()).is_none());
        assert!(Progress::new(vec![(0.0, vec![0.0, 0.0])]).is_none());
        // Stamps that do not pass say nothing.
        let mut progress = Progress::new(turn(1.0, 1.0)).expect("a motion");
        for _ in 0..1000 {
            assert!(!progress.is_stuck(&standing(vec![0.0, 0.0], 0.0)));
        }
    }
}
