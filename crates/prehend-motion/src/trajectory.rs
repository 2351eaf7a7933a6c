//! Timing: a path of joint motions becomes positions, speeds and accelerations over time, within all limits.
//!
//! Corners are rounded by a curve whose direction turns by a cubic (so acceleration is continuous and is 0 at its ends). A curve is
//! passed at constant speed, slow enough for all limits; the straight pieces between take up speed and brake with limited jerk. So every
//! limit holds by construction, and rounding costs only what a corner needs.

use crate::collision_check::Scratch;
use crate::profile::{self, Bounds, Phase};
use crate::straight::sample_count;
use crate::{CollisionWorld, LimitsError, MotionLimits};

/// The state of the arm at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryPoint {
    /// Seconds from the start.
    pub time: f64,
    /// rad.
    pub positions: Vec<f64>,
    /// rad/s.
    pub velocities: Vec<f64>,
    /// rad/s².
    pub accelerations: Vec<f64>,
}

/// Why a path cannot be timed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimingError {
    /// The path has no points.
    #[error("the path is empty")]
    Empty,
    /// A point has another length than the first, or is not finite.
    #[error("point {index} of the path is not usable")]
    BadPoint {
        /// Index of the point.
        index: usize,
    },
    /// The limits cannot be used.
    #[error("limits: {0}")]
    Limits(#[from] LimitsError),
}

/// A timed path, to be sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    start: Vec<f64>,
    sections: Vec<Section>,
    /// Beginning in time, index of the section, phase within the section.
    phases: Vec<(f64, usize, Phase)>,
    duration: f64,
}

/// A piece of the rounded path over its own parameter, 0 to `length`.
#[derive(Clone, Debug, PartialEq)]
enum Section {
    Line {
        from: Vec<f64>,
        direction: Vec<f64>,
        length: f64,
    },
    /// The direction turns from `enter` to `leave`: `q' = enter + (leave - enter) (3u² - 2u³)`, `u = s / length`.
    Curve {
        corner: usize,
        from: Vec<f64>,
        enter: Vec<f64>,
        leave: Vec<f64>,
        length: f64,
    },
}

impl Trajectory {
    /// Times a path so that every joint keeps its limits, at rest at both ends.
    ///
    /// `path`: corner points, all of one length; consecutive equal points are one. `rounding`: how far (rad, Euclidean over the joints) a corner may be cut;
    /// 0 stops at every corner. Errors: every [`TimingError`].
    pub fn new(path: &[Vec<f64>], limits: &MotionLimits, rounding: f64) -> Result<Self, TimingError> {
        let path = distinct(path)?;
        limits.validate(path[0].len())?;
        Ok(build(&path, limits, &vec![rounding.max(0.0); path.len()]))
    }

    /// As [`Trajectory::new`], with less rounding at corners where the rounded way would touch something in `world` or leave its fence.
    ///
    /// `step`: greatest motion of the robot between two checks, m. The straight pieces are taken as checked already.
    pub fn collision_free(
        path: &[Vec<f64>],
        limits: &MotionLimits,
        rounding: f64,
        world: &CollisionWorld,
        step: f64,
    ) -> Result<Self, TimingError> {
        let path = distinct(path)?;
        limits.validate(path[0].len())?;
        world.model().check_numbers(&path[0]).map_err(|_| TimingError::BadPoint { index: 0 })?;
        let mut roundings = vec![rounding.max(0.0); path.len()];
        let mut scratch = Scratch::default();
        loop {
            let trajectory = build(&path, limits, &roundings);
            let mut changed = false;
            for section in &trajectory.sections {
                if let Section::Curve { corner, .. } = section
                    && !section.is_free(world, step, &mut scratch)
                {
                    let rounding = &mut roundings[*corner];
                    *rounding = if *rounding > 2e-3 { *rounding / 4.0 } else { 0.0 };
                    changed = true;
                }
            }
            if !changed {
                return Ok(trajectory);
            }
        }
    }

    /// Seconds from start to end.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The state at a time, s; times outside are taken to the nearest end.
    pub fn sample(&self, time: f64) -> TrajectoryPoint {
        let time = if time.is_finite() { time.clamp(0.0, self.duration) } else { 0.0 };
        let after = self.phases.partition_point(|(begin, ..)| *begin <= time);
        let Some((begin, section, phase)) = after.checked_sub(1).and_then(|index| self.phases.get(index))
        else {
            let rest = vec![0.0; self.start.len()];
            return TrajectoryPoint {
                time,
                positions: self.start.clone(),
                velocities: rest.clone(),
                accelerations: rest,
            };
        };
        let (s, v, a) = phase.at((time - begin).min(phase.duration));
        self.sections[*section].state(time, s, v, a)
    }

    /// States every `interval` seconds, the first at 0 and the last at the end.
    pub fn points(&self, interval: f64) -> Vec<TrajectoryPoint> {
        let count = (self.duration / interval.max(1e-3)).ceil().clamp(1.0, 1e6) as usize;
        let mut points: Vec<_> =
            (0..=count).map(|index| self.sample(self.duration * index as f64 / count as f64)).collect();
        if self.duration <= 0.0 {
            points.truncate(1);
        }
        if let Some(last) = points.last_mut() {
            last.velocities.fill(0.0);
            last.accelerations.fill(0.0);
        }
        points
    }
}

/// The path without repeated points.
fn distinct(path: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, TimingError> {
    let Some(first) = path.first() else { return Err(TimingError::Empty) };
    let mut out: Vec<Vec<f64>> = Vec::with_capacity(path.len());
    for (index, point) in path.iter().enumerate() {
        if point.len() != first.len() || point.iter().any(|value| !value.is_finite()) {
            return Err(TimingError::BadPoint { index });
        }
        if out.last().is_none_or(|last| norm(&difference(point, last)) > 1e-9) {
            out.push(point.clone());
        }
    }
    Ok(out)
}

/// Of a straight piece, a rounded corner takes at most this part.
const CORNER_SHARE: f64 = 0.4;
/// A curve cuts its corner by this times its half length times the change of direction.
const CUT: f64 = 0.1875;

fn build(path: &[Vec<f64>], limits: &MotionLimits, roundings: &[f64]) -> Trajectory {
    let sections = sections(path, roundings);
    let bounds: Vec<Bounds> = sections.iter().map(|section| section.bounds(limits)).collect();

    // Speed at the border before each section (the last entry: at the end).
    let mut speeds = vec![0.0; sections.len() + 1];
    for border in 1..sections.len() {
        // A border between two lines is a corner that is not rounded: stop there.
        let curve = |section: usize| match sections[section] {
            Section::Curve { .. } => Some(bounds[section].v),
            Section::Line { .. } => None,
        };
        speeds[border] = match (curve(border - 1), curve(border)) {
            (Some(before), Some(after)) => before.min(after),
            (Some(v), None) => v.min(bounds[border].v),
            (None, Some(v)) => v.min(bounds[border - 1].v),
            (None, None) => 0.0,
        };
    }
    let pass = |speeds: &mut Vec<f64>, from: usize, to: usize, section: usize| {
        let most = match &sections[section] {
            Section::Line { length, .. } => profile::reachable(speeds[from], *length, bounds[section]),
            Section::Curve { .. } => speeds[from],
        };
        speeds[to] = speeds[to].min(most);
    };
    for section in 0..sections.len() {
        pass(&mut speeds, section, section + 1, section);
    }
    for section in (0..sections.len()).rev() {
        pass(&mut speeds, section + 1, section, section);
    }

    let mut phases = Vec::new();
    let mut time = 0.0;
    for (index, section) in sections.iter().enumerate() {
        let parts = match section {
            Section::Line { length, .. } => {
                profile::line(speeds[index], speeds[index + 1], *length, bounds[index])
            }
            Section::Curve { length, .. } => {
                let v = speeds[index];
                vec![Phase { duration: length / v.max(1e-9), s: 0.0, v, a: 0.0, jerk: 0.0 }]
            }
        };
        for phase in parts {
            phases.push((time, index, phase));
            time += phase.duration;
        }
    }
    Trajectory { start: path[0].clone(), sections, phases, duration: time }
}

fn sections(path: &[Vec<f64>], roundings: &[f64]) -> Vec<Section> {
    let pieces: Vec<(Vec<f64>, f64)> = path
        .windows(2)
        .map(|ends| {
            let along = difference(&ends[1], &ends[0]);
            let length = norm(&along);
            (along.iter().map(|value| value / length).collect(), length)
        })
        .collect();
    // Half length of the curve at each corner.
    let mut halves = vec![0.0; path.len()];
    for corner in 1..path.len().saturating_sub(1) {
        let ((enter, before), (leave, after)) = (&pieces[corner - 1], &pieces[corner]);
        let turn = norm(&difference(leave, enter));
        halves[corner] = (CORNER_SHARE * before.min(*after)).min(roundings[corner] / (CUT * turn.max(1e-9)));
    }
    let mut sections = Vec::new();
    for (index, (direction, length)) in pieces.iter().enumerate() {
        let (before, after) = (halves[index], halves[index + 1]);
        sections.push(Section::Line {
            from: ahead(&path[index], direction, before),
            direction: direction.clone(),
            length: length - before - after,
        });
        if after > 0.0
            && let Some((leave, _)) = pieces.get(index + 1)
        {
            sections.push(Section::Curve {
                corner: index + 1,
                from: ahead(&path[index + 1], direction, -after),
                enter: direction.clone(),
                leave: leave.clone(),
                length: 2.0 * after,
            });
        }
    }
    sections
}

impl Section {
    /// Bounds of speed, acceleration and jerk along the section that keep every joint's limits.
    fn bounds(&self, limits: &MotionLimits) -> Bounds {
        let smallest = |over: &[f64], by: &dyn Fn(usize) -> f64| {
            over.iter()
                .enumerate()
                .map(|(joint, limit)| limit / by(joint).abs().max(1e-12))
                .fold(f64::INFINITY, f64::min)
        };
        match self {
            Section::Line { direction, .. } => Bounds {
                v: smallest(&limits.velocity, &|joint| direction[joint]),
                a: smallest(&limits.acceleration, &|joint| direction[joint]),
                j: smallest(&limits.jerk, &|joint| direction[joint]),
            },
            Section::Curve { enter, leave, length, .. } => {
                // At constant speed v: acceleration q'' v², jerk q''' v³; |q''| <= 1.5 turn / length, |q'''| <= 6 turn / length².
                let turn = |joint: usize| leave[joint] - enter[joint];
                let v = smallest(&limits.velocity, &|joint| enter[joint].abs().max(leave[joint].abs()));
                let a = smallest(&limits.acceleration, &|joint| 1.5 * turn(joint) / length).sqrt();
                let j = smallest(&limits.jerk, &|joint| 6.0 * turn(joint) / (length * length)).cbrt();
                Bounds { v: v.min(a).min(j), a: 0.0, j: 0.0 }
            }
        }
    }

    fn state(&self, time: f64, s: f64, v: f64, a: f64) -> TrajectoryPoint {
        match self {
            Section::Line { from, direction, .. } => TrajectoryPoint {
                time,
                positions: ahead(from, direction, s),
                velocities: direction.iter().map(|d| d * v).collect(),
                accelerations: direction.iter().map(|d| d * a).collect(),
            },
            Section::Curve { from, enter, leave, length, .. } => {
                let u = (s / length).clamp(0.0, 1.0);
                let turned = u * u * (3.0 - 2.0 * u);
                let integral = u * u * u * (1.0 - u / 2.0) * length;
                let rate = 6.0 * u * (1.0 - u) / length;
                let joints = || enter.iter().zip(leave);
                TrajectoryPoint {
                    time,
                    positions: from
                        .iter()
                        .zip(joints())
                        .map(|(from, (enter, leave))| from + enter * u * length + (leave - enter) * integral)
                        .collect(),
                    velocities: joints()
                        .map(|(enter, leave)| v * (enter + (leave - enter) * turned))
                        .collect(),
                    accelerations: joints()
                        .map(|(enter, leave)| {
                            a * (enter + (leave - enter) * turned) + v * v * (leave - enter) * rate
                        })
                        .collect(),
                }
            }
        }
    }

    fn is_free(&self, world: &CollisionWorld, step: f64, scratch: &mut Scratch) -> bool {
        let (Section::Line { length, .. } | Section::Curve { length, .. }) = self;
        let ends = (self.state(0.0, 0.0, 1.0, 0.0).positions, self.state(0.0, *length, 1.0, 0.0).positions);
        let samples = 2 * sample_count(world.model(), &ends.0, &ends.1, step);
        (1..samples).all(|sample| {
            let s = length * sample as f64 / samples as f64;
            world.is_clear(&self.state(0.0, s, 1.0, 0.0).positions, scratch)
        })
    }
}

/// Leaves out points of a dense path that lie within `tolerance` (rad, any joint) of the straight motion between those kept.
pub fn simplify(path: &[Vec<f64>], tolerance: f64) -> Vec<Vec<f64>> {
    let Some(last) = path.len().checked_sub(1) else { return Vec::new() };
    let mut keep = vec![false; path.len()];
    keep[0] = true;
    keep[last] = true;
    let mut open = vec![(0, last)];
    while let Some((first, last)) = open.pop() {
        let mut worst = (0.0, first);
        for index in first + 1..last {
            let fraction = (index - first) as f64 / (last - first) as f64;
            let away = path[index]
                .iter()
                .zip(path[first].iter().zip(&path[last]))
                .map(|(value, (from, to))| (value - (from + (to - from) * fraction)).abs())
                .fold(0.0, f64::max);
            if away > worst.0 {
                worst = (away, index);
            }
        }
        if worst.0 > tolerance {
            keep[worst.1] = true;
            open.extend([(first, worst.1), (worst.1, last)]);
        }
    }
    path.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| point.clone()).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn ahead(from: &[f64], direction: &[f64], by: f64) -> Vec<f64> {
    from.iter().zip(direction).map(|(from, direction)| from + direction * by).collect()
}
