//! The motion of one part, from how it was seen before and after and how the hand that held it went.
//!
//! A motion is one screw without pitch, a slide or a turn, and a position for each look. It is as good as the part's cloud of the
//! first look, moved by it, lies on those of the other looks, and theirs moved back on the first, and as the hand's track follows it.
//! Which numbers are free says what is asked: with all of them free the fit is what was seen; with the axis of a model held it is how
//! well that axis can explain it. The joint critic compares such nested fits.

use crate::field::{FAR, Field};
use crate::observation::{LEAST, Observation, Track};
use crate::search::least;
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_geometry::{OrientedBox, PointCloud, voxel};
use prehend_skills::joint::{self, Expected};
use serde::{Deserialize, Serialize};

/// Side of the cells in which points are one, metres.
const LEAF: f64 = 0.004;
/// Distance within which neighbours are counted, metres, and the share of the usual number of them that a point of a surface has.
const AROUND: f64 = 0.012;
const ALONE: f64 = 0.4;
/// Distance from which a point shows what the other look does not, metres.
const HIDDEN: f64 = 0.02;
/// Share of what a look shows that must be seen of the part in the first one.
const SHOWN: f64 = 0.15;
/// Most points of a look that are moved.
const SAMPLE: usize = 160;
/// One in how many of them is moved while places are looked for.
const COARSE: usize = 4;
/// Most poses of a track that count.
const POSES: usize = 40;
/// Sizes of simplexes, one after the other: a second one leaves where the first one got stuck.
const SCALES: [f64; 2] = [1.0, 0.3];
/// Starts that are followed to the end.
const STARTS: usize = 3;
/// Steps of the search for a position, metres and radians, and how far it goes.
const STEPS: [f64; 2] = [0.01, 0.07];
const REACH: [f64; 2] = [0.8, 3.1];
/// Weight of a hand's track against one look: a hand is some millimetres off; of a board that opens, a look shows the other side.
const BY_HAND: f64 = 8.0;
/// Most that a look may be worse than where the hand left the part, square metres: a spring took it back, or the hand slipped.
const UNLIKE: f64 = 2.5e-4;
/// Distance of a place that a fit starts from the best one, beyond the part itself, as a share of the part's size.
const BESIDE: f64 = 0.75;
/// By how much a worse motion must be worse before the looks tell it apart: a share of what is left, and square metres.
const TOLD: (f64, f64) = (0.15, 0.25e-6);

/// A slide or a turn, in the frame of the observation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Screw {
    /// Along an axis.
    Slide {
        /// Direction.
        axis: Unit<Vector3<f64>>,
    },
    /// About an axis through a point.
    Turn {
        /// Direction.
        axis: Unit<Vector3<f64>>,
        /// A point on it.
        origin: Point3<f64>,
    },
}

impl Screw {
    /// What it does to the frame of the observation at a position, metres or radians.
    pub fn at(&self, position: f64) -> Isometry3<f64> {
        match self {
            Self::Slide { axis } => Translation3::from(axis.into_inner() * position).into(),
            Self::Turn { axis, origin } => {
                let about = Translation3::from(origin.coords);
                about * UnitQuaternion::from_axis_angle(axis, position) * about.inverse()
            }
        }
    }

    /// Its direction.
    pub fn axis(&self) -> Unit<Vector3<f64>> {
        match self {
            Self::Slide { axis } | Self::Turn { axis, .. } => *axis,
        }
    }

    /// Whether it turns.
    pub fn turns(&self) -> bool {
        matches!(self, Self::Turn { .. })
    }

    /// The same the other way round: positions change their signs.
    pub fn reversed(&self) -> Self {
        match *self {
            Self::Slide { axis } => Self::Slide { axis: -axis },
            Self::Turn { axis, origin } => Self::Turn { axis: -axis, origin },
        }
    }
}

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

/// A motion that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The motion.
    pub screw: Screw,
    /// Where the part was in each look; `None` where it was not seen. The first look that shows it has 0.
    pub positions: Vec<Option<f64>>,
    /// What is left: mean square distance, square metres, over looks and tracks.
    pub left: f64,
    /// The same for no motion at all.
    pub still: f64,
    /// Farthest that the middle of the part went, metres; of a part that turns about its middle, its edge.
    pub travel: f64,
    /// How far the axis, radians, and the origin, metres, may be off.
    pub uncertainty: [f64; 2],
    /// Share of the part in one look that the motion brings onto another one, the larger of both ways; the least over the looks.
    pub explained: f64,
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Fewer than two looks show the part, and no hand moved it.
    #[error(
        "{part} was seen in {looks} looks only, and not moved by the hand: nothing is known of how it moves"
    )]
    NotMoved {
        /// Its name.
        part: String,
        /// How many looks show it.
        looks: usize,
    },
}

/// A part in one look.
struct View {
    look: usize,
    points: Vec<Point3<f64>>,
    field: Field,
    /// Of its points, and of those of the first look, which may lie on the other: the others show what was hidden.
    counted: [Vec<bool>; 2],
}

/// The way of a hand that held the part.
struct Led {
    /// Index of the look before it.
    after: usize,
    points: Vec<Point3<f64>>,
    stopped: bool,
}

/// What is known of one part, made ready for many fits.
pub(crate) struct Evidence {
    looks: usize,
    views: Vec<View>,
    tracks: Vec<Led>,
    hints: Vec<Screw>,
    frame: UnitQuaternion<f64>,
    bounds: OrientedBox,
}

impl Evidence {
    /// Of one part of an observation.
    ///
    /// Errors: [`FitError::NotMoved`].
    pub(crate) fn of(observation: &Observation, part: usize) -> Result<Self, FitError> {
        let mut views: Vec<View> = observation
            .looks
            .iter()
            .enumerate()
            .filter_map(|(look, seen)| {
                let points = seen.parts.get(part).filter(|points| points.len() >= LEAST)?;
                let all = cleaned(points);
                let field = Field::around(&all)?;
                let step = all.len().div_ceil(SAMPLE).max(1);
                let points: Vec<Point3<f64>> = all.into_iter().step_by(step).collect();
                let counted = [vec![true; points.len()], Vec::new()];
                Some(View { look, points, field, counted })
            })
            .collect();
        let own: Vec<&Track> =
            observation.tracks.iter().filter(|track| track.part == part && track.poses.len() > 1).collect();
        let missing = || FitError::NotMoved {
            part: observation.parts.get(part).map(|part| part.name.clone()).unwrap_or_default(),
            looks: views.len(),
        };
        if views.is_empty() || views.len() < 2 && own.is_empty() {
            return Err(missing());
        }
        let all_of_first = vec![true; views[0].points.len()];
        views.iter_mut().for_each(|view| view.counted[1].clone_from(&all_of_first));
        let first = &views[0];
        let whole = observation.looks.first().and_then(|look| OrientedBox::upright_around(&look.body));
        let frame = whole.map_or(UnitQuaternion::identity(), |bounds| bounds.pose.rotation);
        let turned: Vec<Point3<f64>> = first.points.iter().map(|point| frame.inverse() * point).collect();
        let start = turned[0];
        let (low, high) = turned.iter().fold((start, start), |(low, high), point| {
            (Point3::from(low.coords.inf(&point.coords)), Point3::from(high.coords.sup(&point.coords)))
        });
        let middle = frame * nalgebra::center(&low, &high);
        let pose = Isometry3::from_parts(Translation3::from(middle.coords), frame);
        let bounds = OrientedBox { pose, size: high - low };
        let class = observation.parts.get(part).map_or("", |part| part.class.as_str());
        let expected = Expected::of(class);
        let hints = own.iter().filter_map(|track| {
            let fit = joint::estimate(&track.poses, expected).ok()?;
            Some(match fit.joint {
                joint::Joint::Prismatic { axis } => Screw::Slide { axis },
                joint::Joint::Revolute { axis, centre, .. } => Screw::Turn { axis, origin: centre },
            })
        });
        let hints = hints.collect();
        let tracks = own.iter().map(|track| {
            let step = track.poses.len().div_ceil(POSES).max(1);
            let points = track.poses.iter().step_by(step).chain(track.poses.last());
            let points = points.map(|pose| Point3::from(pose.translation.vector)).collect();
            Led { after: track.after, points, stopped: track.stopped }
        });
        Ok(Self { looks: observation.looks.len(), tracks: tracks.collect(), views, hints, frame, bounds })
    }

    /// The side of the whole that is within an angle of a direction, radians; with the direction's sign.
    pub(crate) fn side_near(&self, axis: &Unit<Vector3<f64>>, within: f64) -> Option<Unit<Vector3<f64>>> {
        let sides = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()].map(|side| self.frame * side);
        let signed = sides.map(|side| if side.dot(axis) < 0.0 { -side } else { side });
        signed.into_iter().find(|side| side.dot(axis).min(1.0).acos() <= within)
    }

    /// Points that are compared, at least 1.
    pub(crate) fn points(&self) -> usize {
        self.views[0].points.len().max(1)
    }

    /// How far its edge is from its middle, metres.
    pub(crate) fn size(&self) -> f64 {
        self.bounds.size.norm() / 2.0
    }

    /// Longest way of a hand that held it, metres.
    pub(crate) fn led(&self) -> f64 {
        self.tracks.iter().map(|led| (led.last() - led.first()).norm()).fold(0.0, f64::max)
    }

    /// Where hands left the part, by a motion, and whether it had come to a stop there.
    pub(crate) fn left_at(&self, fit: &Fitted) -> Vec<(f64, bool)> {
        let mut at = 0.0;
        let mut left = Vec::new();
        for (look, seen) in fit.positions.iter().enumerate() {
            // What a look does not show is where the last hand left it.
            at = seen.unwrap_or(at);
            for led in self.tracks.iter().filter(|led| led.after == look) {
                at += position_of(&fit.screw, &led.first(), &led.last());
                left.push((at, led.stopped));
            }
        }
        left
    }

    /// Root mean square distance of the hands' ways from a motion, metres.
    pub(crate) fn off_hand(&self, screw: &Screw) -> f64 {
        (self.off_track(screw) / self.tracks.len().max(1) as f64).sqrt()
    }

    /// The least, over the later looks, of the larger share of one look that a motion brings onto the other: either may show what the
    /// other hides.
    pub(crate) fn explained(&self, fit: &Fitted) -> f64 {
        let first = &self.views[0];
        let share = |points: &[Point3<f64>], field: &Field, pose: &Isometry3<f64>| {
            let on = points.iter().filter(|point| field.at(&(pose * *point)) < HIDDEN).count();
            on as f64 / points.len().max(1) as f64
        };
        let either = self.views[1..].iter().filter_map(|view| {
            let moved = fit.screw.at(fit.positions.get(view.look).copied().flatten()?);
            let there = share(&first.points, &view.field, &moved);
            Some(there.max(share(&view.points, &first.field, &moved.inverse())))
        });
        either.fold(1.0, f64::min)
    }

    /// From now on only those points count that a motion explains: what the part hid at first, and what hid it later, is no matter of
    /// its joint.
    pub(crate) fn restrict(&mut self, fit: &Fitted) {
        if !self.tracks.is_empty() {
            // A look at which it was hidden says less than the hand.
            let first = &self.views[0];
            let shows = |view: &View| {
                let Some(position) = fit.positions.get(view.look).copied().flatten() else { return false };
                let back = fit.screw.at(position).inverse();
                let here = |point: &&Point3<f64>| first.field.at(&(back * *point)) < HIDDEN;
                view.points.iter().filter(here).count() as f64 >= SHOWN * view.points.len() as f64
            };
            let shown: Vec<bool> = self.views.iter().map(shows).collect();
            let mut shown = shown.into_iter();
            self.views.retain(|_| shown.next().unwrap_or(true));
        }
        let (first, rest) = self.views.split_at_mut(1);
        let first = &first[0];
        for view in rest {
            let Some(moved) = fit.positions.get(view.look).copied().flatten().map(|at| fit.screw.at(at))
            else {
                continue;
            };
            let back = moved.inverse();
            let there = |point: &Point3<f64>| view.field.at(&(moved * point)) < HIDDEN;
            let here = |point: &Point3<f64>| first.field.at(&(back * point)) < HIDDEN;
            let counted =
                [view.points.iter().map(here).collect::<Vec<_>>(), first.points.iter().map(there).collect()];
            view.counted = counted;
        }
    }

    /// Mean square distance over one look at a position, square metres; one in `step` points counts.
    fn apart(&self, view: &View, moved: &Isometry3<f64>, step: usize) -> f64 {
        let first = &self.views[0];
        let mean = |points: &[Point3<f64>], counted: &[bool], field: &Field, pose: &Isometry3<f64>| {
            let (mut sum, mut count) = (0.0, 0);
            for (point, _) in points.iter().zip(counted).step_by(step).filter(|(_, counts)| **counts) {
                sum += field.at(&(pose * point)).powi(2);
                count += 1;
            }
            sum / f64::from(count.max(1))
        };
        let there = mean(&first.points, &view.counted[1], &view.field, moved);
        (there + mean(&view.points, &view.counted[0], &first.field, &moved.inverse())) / 2.0
    }

    /// What is left of all looks and tracks.
    fn left(&self, screw: &Screw, positions: &[f64]) -> f64 {
        let seen: f64 = self.views[1..]
            .iter()
            .zip(positions)
            .map(|(view, position)| self.apart(view, &screw.at(*position), 1))
            .sum();
        (seen + BY_HAND * self.off_track(screw) + self.off_places(screw, positions)) / self.terms()
    }

    /// Sum over tracks of the square distance of the hand's end from where it would be if the part had stayed in it from look to look;
    /// no more than [`UNLIKE`], so that it decides only between places that look alike.
    fn off_places(&self, screw: &Screw, positions: &[f64]) -> f64 {
        let at = |look: usize| {
            let view = self.views.iter().position(|view| view.look == look)?;
            if view == 0 { Some(0.0) } else { positions.get(view - 1).copied() }
        };
        let off = |led: &Led| {
            let (Some(before), Some(after)) = (at(led.after), at(led.after + 1)) else { return 0.0 };
            (BY_HAND * (screw.at(after - before) * led.first() - led.last()).norm_squared()).min(UNLIKE)
        };
        self.tracks.iter().map(off).sum()
    }

    /// Looks and tracks that are compared.
    fn terms(&self) -> f64 {
        ((self.views.len() - 1) as f64 + BY_HAND * self.tracks.len() as f64).max(1.0)
    }

    /// What is left when nothing moves.
    fn still(&self) -> f64 {
        let seen: f64 = self.views[1..].iter().map(|view| self.apart(view, &Isometry3::identity(), 1)).sum();
        let led = |led: &Led| {
            let first = led.first();
            let sum: f64 = led.points.iter().map(|point| (point - first).norm_squared().min(FAR * FAR)).sum();
            sum / led.points.len().max(1) as f64
        };
        let by_hand: f64 = self.tracks.iter().map(led).sum();
        (seen + BY_HAND * by_hand) / self.terms()
    }

    /// Sum over tracks of the mean square distance from the path that begins where the track begins.
    fn off_track(&self, screw: &Screw) -> f64 {
        let off = |led: &Led| {
            let first = led.first();
            let sum: f64 = led
                .points
                .iter()
                .map(|point| {
                    let position = position_of(screw, &first, point);
                    (screw.at(position) * first - point).norm_squared().min(FAR * FAR)
                })
                .sum();
            sum / led.points.len().max(1) as f64
        };
        self.tracks.iter().map(off).sum()
    }

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

    /// By how much hands moved the part between two looks, and metres of the hand for each unit of it; `None` when none did.
    fn led_between(&self, screw: &Screw, from: usize, to: usize) -> Option<(f64, f64)> {
        let between = self.tracks.iter().filter(|led| (from..to).contains(&led.after));
        between.fold(None, |sum, led| {
            let by = position_of(screw, &led.first(), &led.last());
            let arm = match screw {
                Screw::Slide { .. } => 1.0,
                Screw::Turn { axis, origin } => axis.cross(&(led.first() - origin)).norm(),
            };
            Some(sum.map_or((by, arm), |(all, _)| (all + by, arm)))
        })
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
            starts.push(match (given, *hint) {
                (Given::Axis { axis, .. }, Screw::Turn { origin, .. }) => Screw::Turn { axis: *axis, origin },
                (Given::Axis { axis, .. }, Screw::Slide { .. }) => Screw::Slide { axis: *axis },
                (_, hint) => hint,
            });
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
        let start = match (given, from.screw) {
            (Given::Axis { axis, .. }, Screw::Slide { .. }) => Screw::Slide { axis: *axis },
            (Given::Axis { axis, .. }, Screw::Turn { origin, .. }) => Screw::Turn { axis: *axis, origin },
            (_, screw) => screw,
        };
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
        let size = self.bounds.size.norm();
        let mut at = vec![0.0; chart.free()];
        at.extend(&positions);
        let mut steps = chart.steps();
        steps.extend(positions.iter().map(|_| STEPS[usize::from(start.turns())] / 2.0));
        let value = |numbers: &[f64]| {
            let screw = chart.screw(numbers);
            self.left(&screw, &numbers[chart.free()..]) + self.beside(&screw, size)
        };
        let mut left = f64::INFINITY;
        for scale in scales {
            let scaled: Vec<f64> = steps.iter().map(|step| step * scale).collect();
            (at, left) = least(&at, &scaled, value);
        }
        (chart.screw(&at), at[chart.free()..].to_vec(), left)
    }

    /// What a hinge costs that is nowhere near its part, square metres.
    fn beside(&self, screw: &Screw, size: f64) -> f64 {
        let Screw::Turn { axis, origin } = screw else { return 0.0 };
        let off = self.bounds.pose.translation.vector - origin.coords;
        let across = (off - axis.into_inner() * axis.dot(&off)).norm();
        (across - BESIDE * size).max(0.0).powi(2)
    }

    /// The fit with positions in looks, from the most position on the positive side, and its uncertainty.
    fn told(&self, given: &Given, screw: Screw, positions: Vec<f64>, left: f64) -> Fitted {
        // What it did first is opening: it was found closed.
        let begun = self.tracks.iter().map(|led| position_of(&screw, &led.first(), &led.last()));
        let begun = begun.chain(positions.iter().copied()).find(|position| *position != 0.0);
        // A model's own direction is kept: it is what is asked about.
        let flip =
            begun.is_some_and(|begun| begun < 0.0) && !matches!(given, Given::Screw(_) | Given::Axis { .. });
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
        let reach = |position: f64| match screw {
            Screw::Slide { .. } => position.abs(),
            Screw::Turn { axis, origin } => {
                let arm = |corner: &Point3<f64>| {
                    let off = corner - origin;
                    (off - axis.into_inner() * axis.dot(&off)).norm()
                };
                let far = self.views[0].points.iter().map(arm).fold(0.0, f64::max);
                2.0 * far * (position.abs().min(std::f64::consts::PI) / 2.0).sin()
            }
        };
        let travel = positions.iter().map(|position| reach(*position)).fold(self.led(), f64::max);
        let still = self.still();
        let uncertainty = self.uncertainty(&screw, &positions, left);
        Fitted { screw, positions: in_looks, left, still, travel, uncertainty, explained: 1.0 }
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

impl Led {
    fn first(&self) -> Point3<f64> {
        self.points.first().copied().unwrap_or_else(Point3::origin)
    }

    fn last(&self) -> Point3<f64> {
        self.points.last().copied().unwrap_or_else(Point3::origin)
    }
}

/// Points of one cell in one, without those that hang alone: edges of masks lie on what is behind.
pub(crate) fn cleaned(points: &[Point3<f64>]) -> Vec<Point3<f64>> {
    let all = voxel::downsample(&PointCloud::from_points(points.to_vec()), LEAF).points;
    let grid = voxel::VoxelGrid::new(&all, AROUND);
    let counts: Vec<usize> = all.iter().map(|point| grid.within(point, AROUND).len()).collect();
    let mut sorted = counts.clone();
    sorted.sort_unstable();
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    let kept = |count: usize| count as f64 >= ALONE * usual as f64;
    let found: Vec<Point3<f64>> =
        all.iter().zip(&counts).filter(|(_, count)| kept(**count)).map(|(point, _)| *point).collect();
    if found.is_empty() { all } else { found }
}

/// Position at which a motion brings one point nearest to another.
fn position_of(screw: &Screw, from: &Point3<f64>, to: &Point3<f64>) -> f64 {
    match screw {
        Screw::Slide { axis } => axis.dot(&(to - from)),
        Screw::Turn { axis, origin } => {
            let (a, b) = (from - origin, to - origin);
            let across = |v: Vector3<f64>| v - axis.into_inner() * axis.dot(&v);
            let (a, b) = (across(a), across(b));
            a.cross(&b).dot(axis).atan2(a.dot(&b))
        }
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
