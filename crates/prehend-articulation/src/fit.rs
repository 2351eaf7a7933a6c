//! The motion of one part, from how it was seen before and after and how the hand that held it went.
//!
//! A motion is one screw without pitch, a slide or a turn, and a position for each look. It is as good as the part's cloud of the
//! first look, moved by it, lies on those of the other looks, and theirs moved back on the first, and as the hand's track follows it.
//! Which numbers are free says what is asked: with all of them free the fit is what was seen; with the axis of a model held it is how
//! well that axis can explain it. The joint critic compares such nested fits.

use crate::evidence::{BY_HAND, Evidence, View};
use crate::field::FAR;
use crate::fitted::Fitted;
use crate::screw::Screw;
use crate::search::least;
use nalgebra::{Point3, Unit, Vector3};

/// One in how many of them is moved while places are looked for.
const COARSE: usize = 4;
/// Sizes of simplexes, one after the other: a second one leaves where the first one got stuck.
const SCALES: [f64; 2] = [1.0, 0.3];
/// Starts that are followed to the end.
const STARTS: usize = 3;
/// Steps of the search for a position, metres and radians, and how far it goes.
const STEPS: [f64; 2] = [0.01, 0.07];
const REACH: [f64; 2] = [0.8, 3.1];
/// How far the axis of a turn may be from the middle of its part and cost nothing, as a share of the whole's size as it was seen: of a
/// chest the front may be all, and of its lid the rim.
const BESIDE: f64 = 1.5;
/// By how much more must be left before the looks tell a motion apart from the best: a share of what is left, and square metres.
const TOLD: (f64, f64) = (0.15, 0.25e-6);

/// What of a motion is given; the rest is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Given {
    /// Only whether it turns.
    Kind {
        /// It turns.
        turns: bool,
    },
    /// Its direction, too.
    Axis {
        /// It turns.
        turns: bool,
        /// The direction.
        axis: Unit<Vector3<f64>>,
    },
    /// All but the positions.
    Screw(Screw),
}

impl Given {
    /// A motion with what is given of it.
    fn applied(&self, screw: Screw) -> Screw {
        match self {
            Self::Kind { .. } => screw,
            Self::Axis { axis, .. } => screw.along(*axis),
            Self::Screw(given) => *given,
        }
    }
}

impl Evidence {
    /// Where a motion brings the part nearest to each of the later looks, and what is left then, of few points.
    fn placed(&self, screw: &Screw) -> (Vec<f64>, f64) {
        let kind = usize::from(screw.turns());
        let count = (REACH[kind] / STEPS[kind]) as i64;
        let (mut left, mut before) = (0.0, self.views[0].look);
        let mut last = 0.0;
        let positions = self.views[1..]
            .iter()
            .map(|view| {
                // The search begins where the hand left it, unless the look plainly says otherwise: a look may be of what hides it.
                let led = self.led_between(screw, before, view.look);
                let at = |step: i64| {
                    let position = step as f64 * STEPS[kind];
                    let by_hand =
                        led.map_or(0.0, |(led, arm)| (arm * (position - last - led)).powi(2).min(FAR * FAR));
                    (position, self.apart(view, &screw.at(position), COARSE) + BY_HAND * by_hand)
                };
                let best = (-count..=count).map(at).min_by(|a, b| a.1.total_cmp(&b.1));
                let (position, apart) = best.unwrap_or((0.0, FAR * FAR));
                left += apart;
                (before, last) = (view.look, position);
                position
            })
            .collect();
        (positions, left + BY_HAND * self.off_track(screw))
    }

    /// Motions to start from.
    fn starts(&self, given: &Given) -> Vec<Screw> {
        let turns = match given {
            Given::Screw(screw) => return vec![*screw],
            Given::Kind { turns } | Given::Axis { turns, .. } => *turns,
        };
        let axes: Vec<Unit<Vector3<f64>>> = match given {
            Given::Axis { axis, .. } => vec![*axis],
            _ => [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()]
                .map(|axis| self.frame * axis)
                .to_vec(),
        };
        let mut starts: Vec<Screw> = Vec::new();
        for axis in axes {
            if turns {
                starts.extend(self.pivots(&axis).into_iter().map(|origin| Screw::Turn { axis, origin }));
            } else {
                starts.push(Screw::Slide { axis });
            }
        }
        for hint in self.hints.iter().filter(|hint| hint.turns() == turns) {
            starts.push(given.applied(*hint));
        }
        starts
    }

    /// Points through which an axis of this direction may go: the edges of the part's box, and its middle.
    fn pivots(&self, axis: &Unit<Vector3<f64>>) -> Vec<Point3<f64>> {
        let local = self.bounds.pose.rotation.inverse() * axis.into_inner();
        let along = local.iamax();
        let others = [(along + 1) % 3, (along + 2) % 3];
        let mut pivots = vec![Point3::origin()];
        for first in [-0.5, 0.0, 0.5] {
            for second in [-0.5, 0.0, 0.5] {
                let mut at = Point3::origin();
                at[others[0]] = first * self.bounds.size[others[0]];
                at[others[1]] = second * self.bounds.size[others[1]];
                if (first, second) != (0.0, 0.0) {
                    pivots.push(at);
                }
            }
        }
        pivots.into_iter().map(|at| self.bounds.pose * at).collect()
    }

    /// The best motion under what is given.
    pub(crate) fn fit(&self, given: &Given) -> Fitted {
        self.searched(given, &SCALES)
    }

    /// The best motion that turns, or slides, well enough to choose between them and to go on from.
    pub(crate) fn roughly(&self, turns: bool) -> Fitted {
        self.searched(&Given::Kind { turns }, &SCALES[..1])
    }

    /// A motion followed to where it is best under what is given, without a search.
    pub(crate) fn followed(&self, given: &Given, from: &Fitted) -> Fitted {
        let start = given.applied(from.screw);
        let position = |view: &View| from.positions.get(view.look).copied().flatten().unwrap_or(0.0);
        let positions = self.views[1..].iter().map(position).collect();
        let (screw, positions, left) = self.refined(given, start, positions, &SCALES);
        self.told(given, screw, positions, left)
    }

    fn searched(&self, given: &Given, scales: &[f64]) -> Fitted {
        let mut starts: Vec<(Screw, Vec<f64>, f64)> = self
            .starts(given)
            .into_iter()
            .map(|screw| {
                let (positions, left) = self.placed(&screw);
                (screw, positions, left)
            })
            .collect();
        starts.sort_by(|a, b| a.2.total_cmp(&b.2));
        starts.truncate(STARTS);
        let best = starts
            .into_iter()
            .map(|(screw, positions, _)| self.refined(given, screw, positions, scales))
            .min_by(|a, b| a.2.total_cmp(&b.2));
        let (screw, positions, left) = best.unwrap_or((
            Screw::Slide { axis: Vector3::x_axis() },
            vec![0.0; self.views.len() - 1],
            f64::INFINITY,
        ));
        self.told(given, screw, positions, left)
    }

    /// A start, followed to where it is best.
    fn refined(
        &self,
        given: &Given,
        start: Screw,
        positions: Vec<f64>,
        scales: &[f64],
    ) -> (Screw, Vec<f64>, f64) {
        let chart = Chart::of(given, start);
        let mut at = vec![0.0; chart.free()];
        at.extend(&positions);
        let mut steps = chart.steps();
        steps.extend(positions.iter().map(|_| STEPS[usize::from(start.turns())] / 2.0));
        let value = |numbers: &[f64]| {
            let screw = chart.screw(numbers);
            self.left(&screw, &numbers[chart.free()..]) + self.beside(&screw)
        };
        let mut left = f64::INFINITY;
        for scale in scales {
            let scaled: Vec<f64> = steps.iter().map(|step| step * scale).collect();
            (at, left) = least(&at, &scaled, value);
        }
        (chart.screw(&at), at[chart.free()..].to_vec(), left)
    }

    /// What a hinge costs that is nowhere near its part, square metres.
    fn beside(&self, screw: &Screw) -> f64 {
        let across = screw.arm(&self.bounds.pose.translation.vector.into());
        (across - BESIDE * self.whole()).max(0.0).powi(2)
    }

    /// The fit as it is told: positions in looks, positive towards where the part went first, and how sure it is.
    fn told(&self, given: &Given, screw: Screw, positions: Vec<f64>, left: f64) -> Fitted {
        // Where its kind does not say which way opens, what it did first is opening: it was found closed.
        let begun = self.tracks.iter().map(|led| screw.position(&led.first(), &led.last()));
        let begun = begun.chain(positions.iter().copied()).find(|position| *position != 0.0);
        // A model's own direction is kept: it is what is asked about.
        let shuts = match self.opens(&screw) {
            Some(opens) => !opens,
            None => begun.is_some_and(|begun| begun < 0.0),
        };
        let flip = shuts && !matches!(given, Given::Screw(_) | Given::Axis { .. });
        let (screw, positions): (Screw, Vec<f64>) = if flip {
            (screw.reversed(), positions.into_iter().map(|position| -position).collect())
        } else {
            (screw, positions)
        };
        let mut in_looks = vec![None; self.looks];
        in_looks[self.views[0].look] = Some(0.0);
        let (mut before, mut last) = (self.views[0].look, 0.0);
        for (view, position) in self.views[1..].iter().zip(&positions) {
            // A whole turn more or less looks alike.
            let expected = self.led_between(&screw, before, view.look).map_or(0.0, |(led, _)| last + led);
            let turns = ((expected - position) / std::f64::consts::TAU).round();
            let whole = if screw.turns() { turns * std::f64::consts::TAU } else { 0.0 };
            (before, last) = (view.look, position + whole);
            in_looks[view.look] = Some(last);
        }
        let far = self.views[0].points.iter().map(|point| screw.arm(point)).fold(0.0, f64::max);
        let reach = |position: f64| match screw {
            Screw::Slide { .. } => position.abs(),
            Screw::Turn { .. } => 2.0 * far * (position.abs().min(std::f64::consts::PI) / 2.0).sin(),
        };
        let travel = positions.iter().map(|position| reach(*position)).fold(self.led(), f64::max);
        let uncertainty = self.uncertainty(&screw, &positions, left);
        let explained = self.explained(&screw, &in_looks);
        Fitted { screw, positions: in_looks, left, still: self.still(), travel, uncertainty, explained }
    }

    /// How far the axis and the origin can go before the looks tell, each by itself.
    fn uncertainty(&self, screw: &Screw, positions: &[f64], left: f64) -> [f64; 2] {
        let chart = Chart::of(&Given::Kind { turns: screw.turns() }, *screw);
        let told = left + TOLD.0 * left + TOLD.1;
        let until = |axes: std::ops::Range<usize>, first: f64, most: f64| {
            let mut worst: f64 = 0.0;
            for axis in axes {
                for sign in [1.0, -1.0] {
                    let mut step = first;
                    loop {
                        let mut numbers = vec![0.0; chart.free()];
                        numbers[axis] = sign * step;
                        if step >= most || self.left(&chart.screw(&numbers), positions) > told {
                            break;
                        }
                        step *= 1.5;
                    }
                    worst = worst.max(step.min(most));
                }
            }
            worst
        };
        let axis = until(0..2, 0.002, 0.8);
        let origin = if screw.turns() { until(2..4, 0.001, 0.3) } else { 0.0 };
        [axis, origin]
    }
}

/// The numbers that are free around a start.
struct Chart {
    start: Screw,
    across: [Vector3<f64>; 2],
    axis: bool,
    origin: bool,
}

impl Chart {
    fn of(given: &Given, start: Screw) -> Self {
        let axis = start.axis().into_inner();
        let side = if axis.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
        let first = axis.cross(&side).normalize();
        let (free_axis, free_origin) = match given {
            Given::Kind { turns } => (true, *turns),
            Given::Axis { turns, .. } => (false, *turns),
            Given::Screw(_) => (false, false),
        };
        Self { start, across: [first, axis.cross(&first)], axis: free_axis, origin: free_origin }
    }

    fn free(&self) -> usize {
        2 * (usize::from(self.axis) + usize::from(self.origin))
    }

    fn steps(&self) -> Vec<f64> {
        let mut steps = Vec::new();
        if self.axis {
            steps.extend([0.06, 0.06]);
        }
        if self.origin {
            steps.extend([0.02, 0.02]);
        }
        steps
    }

    fn screw(&self, numbers: &[f64]) -> Screw {
        let mut numbers = numbers.iter().copied();
        let mut pair = |free: bool| {
            let mut next = || if free { numbers.next().unwrap_or_default() } else { 0.0 };
            self.across[0] * next() + self.across[1] * next()
        };
        let turned = pair(self.axis);
        let moved = pair(self.origin);
        let axis = Unit::new_normalize(self.start.axis().into_inner() + turned);
        match self.start {
            Screw::Slide { .. } => Screw::Slide { axis },
            Screw::Turn { origin, .. } => Screw::Turn { axis, origin: origin + moved },
        }
    }
}
