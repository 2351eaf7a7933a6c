//! What is known of how one part moves: its clouds in the looks that show it, and the ways of the hands that held it.
//!
//! Distances of a motion from them are mean squares, square metres, of each point to the nearest of the other cloud.

use crate::field::{FAR, Field};
use crate::fitted::Fitted;
use crate::observation::{LEAST, Look, Observation, Track};
use crate::screw::Screw;
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_geometry::{OrientedBox, PointCloud, voxel};
use prehend_scene::furniture::Usual;
use prehend_skills::joint;

/// Side of the cells in which points are one, metres.
const LEAF: f64 = 0.004;
/// Distance within which neighbours are counted, metres, and the share of the usual number of them that a point of a surface has.
const AROUND: f64 = 0.012;
const ALONE: f64 = 0.4;
/// Distance from which a point shows what the other look does not, metres.
const HIDDEN: f64 = 0.02;
/// Share of the part in one look that the other one must show.
const SHOWN: f64 = 0.15;
/// Thickness of a patch of a surface against its width at which it has a normal.
const FLAT: f64 = 0.35;
/// Share of a part that still faces who looks, below which a look tells nothing of a motion.
const TURNED_AWAY: f64 = 0.1;
/// Share of the whole's size by which a way must go away from its middle, or towards it, to open or to shut.
const ALONG: f64 = 0.1;
/// Cosine of the angle by which an edge may be turned from who saw it and is still seen.
const ASIDE: f64 = 0.8;
/// Points of a look that weigh as much as a look; of fewer each weighs the same.
const FEW: usize = 20;
/// Most points of a look that are moved.
const SAMPLE: usize = 160;
/// Most poses of a track that count.
const POSES: usize = 40;
/// Weight of a hand's track against one look: a hand is some millimetres off; of a board that opens, a look shows the other side.
pub(crate) const BY_HAND: f64 = 8.0;
/// How far a hand slips on what it holds, metres: within this its way says little.
const SLIP: f64 = 0.003;
/// Most that a look may be worse than where the hand left the part, square metres: a spring took it back, or the hand slipped.
const UNLIKE: f64 = 2.5e-4;

/// A square distance of a hand as it counts: all of it beyond its slip, little within.
fn beyond_slip(squared: f64) -> f64 {
    let squared = squared.min(FAR * FAR);
    squared * squared / (squared + SLIP * SLIP)
}

/// A part in one look.
pub(crate) struct View {
    pub(crate) look: usize,
    pub(crate) points: Vec<Point3<f64>>,
    /// Of the surface at each point, towards who looked; `None` at edges and corners.
    normals: Vec<Option<Vector3<f64>>>,
    field: Field,
    /// Of its points, and of those of the first look, which may lie on the other: the others show what was hidden.
    counted: [Vec<bool>; 2],
}

/// The way of a hand that held the part.
pub(crate) struct Led {
    /// Index of the look before it.
    after: usize,
    points: Vec<Point3<f64>>,
    stopped: bool,
}

/// What is known of one part, made ready for many fits.
pub(crate) struct Evidence {
    /// Looks of the observation.
    pub(crate) looks: usize,
    /// Those that show the part; at least one.
    pub(crate) views: Vec<View>,
    pub(crate) tracks: Vec<Led>,
    /// What the hands' ways look like.
    pub(crate) hints: Vec<Screw>,
    /// Along the sides of the whole.
    pub(crate) frame: UnitQuaternion<f64>,
    /// Around the part in the first look that shows it, along the sides of the whole.
    pub(crate) bounds: OrientedBox,
    /// Size of the box around the whole and the part in its first look, along the same sides.
    thing: Vector3<f64>,
    /// Middle of the whole.
    middle: Point3<f64>,
    usual: Usual,
    eye: Point3<f64>,
}

impl Evidence {
    /// Of one part of an observation, its clouds in the looks [`cleaned`]; `None` when fewer than two looks show it and no hand moved it.
    pub(crate) fn of(observation: &Observation, part: usize, clouds: &[Vec<Point3<f64>>]) -> Option<Self> {
        let is_seen = |look: &Look| look.parts.get(part).is_some_and(|points| points.len() >= LEAST);
        let is_led = observation.tracks.iter().any(|track| track.part == part && track.poses.len() > 1);
        if observation.looks.iter().filter(|look| is_seen(look)).count() < 2 && !is_led {
            return None;
        }
        let mut views: Vec<View> = observation
            .looks
            .iter()
            .zip(clouds)
            .enumerate()
            .filter_map(|(look, (seen, all))| {
                if !is_seen(seen) {
                    return None;
                }
                let field = Field::around(all)?;
                let step = all.len().div_ceil(SAMPLE).max(1);
                let points: Vec<Point3<f64>> = all.iter().step_by(step).copied().collect();
                let counted = [vec![true; points.len()], Vec::new()];
                let normals = normals(&points, all, &observation.eye);
                Some(View { look, points, normals, field, counted })
            })
            .collect();
        let own: Vec<&Track> =
            observation.tracks.iter().filter(|track| track.part == part && track.poses.len() > 1).collect();
        if views.is_empty() || views.len() < 2 && own.is_empty() {
            return None;
        }
        let all_of_first = vec![true; views[0].points.len()];
        views.iter_mut().for_each(|view| view.counted[1].clone_from(&all_of_first));
        let first = &views[0];
        let whole = observation.looks.first().and_then(|look| OrientedBox::upright_around(&look.body));
        let frame = whole.map_or(UnitQuaternion::identity(), |bounds| bounds.pose.rotation);
        let around = |points: &mut dyn Iterator<Item = Point3<f64>>| {
            let turned = points.map(|point| (frame.inverse() * point).coords);
            let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
            turned.for_each(|at| (low, high) = (low.inf(&at), high.sup(&at)));
            let middle = frame * Point3::from((low + high) / 2.0);
            let pose = Isometry3::from_parts(Translation3::from(middle.coords), frame);
            OrientedBox { pose, size: high - low }
        };
        let bounds = around(&mut first.points.iter().copied());
        let ends = |whole: &OrientedBox| [-0.5, 0.5].map(|end| whole.pose * Point3::from(whole.size * end));
        let corners = whole.iter().flat_map(ends);
        let thing = around(&mut first.points.iter().copied().chain(corners)).size;
        let usual = Usual::of(&observation.parts.get(part)?.class);
        let middle =
            whole.map_or(bounds.pose.translation.vector.into(), |whole| whole.pose.translation.vector.into());
        let expected = joint::Expected::from(usual);
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
        let (looks, tracks, eye) = (observation.looks.len(), tracks.collect(), observation.eye);
        Some(Self { looks, tracks, views, hints, frame, bounds, thing, middle, usual, eye })
    }

    /// The side of the whole that is within an angle of a direction, radians; with the direction's sign.
    pub(crate) fn side_near(&self, axis: &Unit<Vector3<f64>>, within: f64) -> Option<Unit<Vector3<f64>>> {
        let sides = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()].map(|side| self.frame * side);
        let signed = sides.map(|side| if side.dot(axis) < 0.0 { -side } else { side });
        signed.into_iter().find(|side| side.dot(axis).min(1.0).acos() <= within)
    }

    /// Relative standard deviation of what is left of a motion by chance: that of a mean of squares of as many errors as are
    /// independent. Those of a look are as many as its points, a hand's way has the three of its slip.
    pub(crate) fn chance(&self) -> f64 {
        let looks = self.views[1..].iter().map(|view| {
            let counted = view.counted.iter().flatten().filter(|counts| **counts).count();
            2.0 / (counted / 2).max(FEW) as f64
        });
        let tracks = self.tracks.iter().map(|_| BY_HAND * BY_HAND * 2.0 / 3.0);
        looks.chain(tracks).sum::<f64>().sqrt() / self.terms()
    }

    /// What is left of a motion, square metres, by a hand that slipped as hands do.
    pub(crate) fn slipped(&self) -> f64 {
        BY_HAND * self.tracks.len() as f64 * beyond_slip(SLIP * SLIP) / self.terms()
    }

    /// Whether a motion opens the part, by what parts of its kind do: a drawer, a door and a lid open away from the middle of the whole.
    /// `None` where nobody knows, or it goes along the whole.
    pub(crate) fn opens(&self, screw: &Screw) -> Option<bool> {
        if !matches!(self.usual, Usual::Drawer | Usual::Door | Usual::Lid) {
            return None;
        }
        let part = Point3::from(self.bounds.pose.translation.vector);
        let way = match screw {
            Screw::Slide { axis } => axis.into_inner(),
            Screw::Turn { axis, origin } => axis.cross(&(part - origin)).try_normalize(1e-9)?,
        };
        let away = way.dot(&(part - self.middle));
        (away.abs() > ALONG * self.whole()).then_some(away > 0.0)
    }

    /// How large the thing is, as far as it was seen, metres.
    pub(crate) fn whole(&self) -> f64 {
        self.thing.norm()
    }

    /// Whether a surface at a point is seen when a motion has brought it there. What has no normal was seen from the eye: it is not when
    /// that side is turned away.
    fn shows(&self, point: &Point3<f64>, normal: &Option<Vector3<f64>>, moved: &Isometry3<f64>) -> bool {
        let towards = |point: &Point3<f64>| (self.eye - point).normalize();
        let now = towards(&(moved * point));
        match normal {
            Some(normal) => (moved.rotation * normal).dot(&now) > 0.0,
            None => (moved.rotation * towards(point)).dot(&now) > ASIDE,
        }
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
                at += fit.screw.position(&led.first(), &led.last());
                left.push((at, led.stopped));
            }
        }
        left
    }

    /// Root mean square distance of the hands' ways from a motion, metres.
    pub(crate) fn off_hand(&self, screw: &Screw) -> f64 {
        (self.off_paths(screw, |squared| squared.min(FAR * FAR)) / self.tracks.len().max(1) as f64).sqrt()
    }

    /// The least, over the later looks, of the larger share of what one look should show of the other that it does: either may show what
    /// the other hides.
    pub(crate) fn explained(&self, screw: &Screw, positions: &[Option<f64>]) -> f64 {
        let first = &self.views[0];
        let share = |from: &View, to: &View, pose: &Isometry3<f64>| {
            let (mut on, mut shown) = (0, 0);
            for (point, normal) in from.points.iter().zip(&from.normals) {
                if self.shows(point, normal, pose) {
                    shown += 1;
                    on += usize::from(to.field.at(&(pose * point)) < HIDDEN);
                }
            }
            // Of a board that shows its other side nothing is told.
            if (shown as f64) < TURNED_AWAY * from.points.len() as f64 {
                1.0
            } else {
                on as f64 / shown as f64
            }
        };
        let either = self.views[1..].iter().filter_map(|view| {
            let moved = screw.at(positions.get(view.look).copied().flatten()?);
            Some(share(first, view, &moved).max(share(view, first, &moved.inverse())))
        });
        either.fold(1.0, f64::min)
    }

    /// From now on only those points count that a motion explains: what the part hid at first, and what hid it later, is no matter of
    /// its joint; nor is a side of it that was turned away from who looked.
    pub(crate) fn restrict(&mut self, fit: &Fitted) {
        let is_led = !self.tracks.is_empty();
        let first = &self.views[0];
        let share = |counted: &[bool]| {
            counted.iter().filter(|counts| **counts).count() as f64 / counted.len().max(1) as f64
        };
        let counted = |view: &View| {
            let moved = fit.screw.at(fit.positions.get(view.look).copied().flatten()?);
            let both = |facing: bool| {
                let on = |from: &View, to: &View, pose: &Isometry3<f64>| -> Vec<bool> {
                    let points = from.points.iter().zip(&from.normals);
                    let on = |(point, normal): (&Point3<f64>, &Option<Vector3<f64>>)| {
                        to.field.at(&(pose * point)) < HIDDEN && (!facing || self.shows(point, normal, pose))
                    };
                    points.map(on).collect()
                };
                [on(view, first, &moved.inverse()), on(first, view, &moved)]
            };
            let facing = both(true);
            // Without a hand a look that says little is all there is.
            let is_little = facing.iter().all(|counted| share(counted) < SHOWN);
            Some((if is_little && !is_led { both(false) } else { facing }, is_little))
        };
        let counted: Vec<Option<([Vec<bool>; 2], bool)>> = self.views[1..].iter().map(counted).collect();
        let mut kept = vec![true];
        for (view, counted) in self.views[1..].iter_mut().zip(counted) {
            match counted {
                Some((counted, is_little)) => {
                    view.counted = counted;
                    // A look at which it was hidden says less than the hand.
                    kept.push(!(is_led && is_little));
                }
                None => kept.push(!is_led),
            }
        }
        let mut kept = kept.into_iter();
        self.views.retain(|_| kept.next().unwrap_or(true));
    }

    /// By how much hands moved the part between two looks, and metres of the hand for each unit of it; `None` when none did.
    pub(crate) fn led_between(&self, screw: &Screw, from: usize, to: usize) -> Option<(f64, f64)> {
        let between = self.tracks.iter().filter(|led| (from..to).contains(&led.after));
        between.fold(None, |sum, led| {
            let by = screw.position(&led.first(), &led.last());
            let arm = if screw.turns() { screw.arm(&led.first()) } else { 1.0 };
            Some(sum.map_or((by, arm), |(all, _)| (all + by, arm)))
        })
    }

    /// Mean square distance over one look at a position, square metres; one in `step` points counts.
    pub(crate) fn apart(&self, view: &View, moved: &Isometry3<f64>, step: usize) -> f64 {
        let first = &self.views[0];
        let mean = |points: &[Point3<f64>], counted: &[bool], field: &Field, pose: &Isometry3<f64>| {
            let (mut sum, mut count) = (0.0, 0_usize);
            for (point, _) in points.iter().zip(counted).step_by(step).filter(|(_, counts)| **counts) {
                sum += field.at(&(pose * point)).powi(2);
                count += 1;
            }
            sum / count.max(FEW.min(points.len()).div_ceil(step).max(1)) as f64
        };
        let there = mean(&first.points, &view.counted[1], &view.field, moved);
        (there + mean(&view.points, &view.counted[0], &first.field, &moved.inverse())) / 2.0
    }

    /// What is left of all looks and tracks.
    pub(crate) fn left(&self, screw: &Screw, positions: &[f64]) -> f64 {
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
            let off = (screw.at(after - before) * led.first() - led.last()).norm_squared();
            (BY_HAND * beyond_slip(off)).min(UNLIKE)
        };
        self.tracks.iter().map(off).sum()
    }

    /// Looks and tracks that are compared.
    fn terms(&self) -> f64 {
        ((self.views.len() - 1) as f64 + BY_HAND * self.tracks.len() as f64).max(1.0)
    }

    /// What is left when nothing moves.
    pub(crate) fn still(&self) -> f64 {
        let seen: f64 = self.views[1..].iter().map(|view| self.apart(view, &Isometry3::identity(), 1)).sum();
        let led = |led: &Led| {
            let first = led.first();
            let sum: f64 = led.points.iter().map(|point| beyond_slip((point - first).norm_squared())).sum();
            sum / led.points.len().max(1) as f64
        };
        let by_hand: f64 = self.tracks.iter().map(led).sum();
        (seen + BY_HAND * by_hand) / self.terms()
    }

    /// Sum over tracks of the mean square distance from the path that begins where the track begins, as it counts.
    pub(crate) fn off_track(&self, screw: &Screw) -> f64 {
        self.off_paths(screw, beyond_slip)
    }

    fn off_paths(&self, screw: &Screw, counted: impl Fn(f64) -> f64) -> f64 {
        let off = |led: &Led| {
            let first = led.first();
            let off = |point: &Point3<f64>| {
                let position = screw.position(&first, point);
                counted((screw.at(position) * first - point).norm_squared())
            };
            led.points.iter().map(off).sum::<f64>() / led.points.len().max(1) as f64
        };
        self.tracks.iter().map(off).sum()
    }
}

impl Led {
    pub(crate) fn first(&self) -> Point3<f64> {
        self.points.first().copied().unwrap_or_else(Point3::origin)
    }

    pub(crate) fn last(&self) -> Point3<f64> {
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

/// Normals at some points of a cloud, towards an eye; `None` where it is not flat.
fn normals(points: &[Point3<f64>], cloud: &[Point3<f64>], eye: &Point3<f64>) -> Vec<Option<Vector3<f64>>> {
    let grid = voxel::VoxelGrid::new(cloud, AROUND);
    let normal = |point: &Point3<f64>| {
        let near = grid.within(point, AROUND);
        let count = near.len() as f64;
        let middle = near.iter().map(|index| cloud[*index].coords).sum::<Vector3<f64>>() / count;
        let spread: Matrix3<f64> = near
            .iter()
            .map(|index| {
                let off = cloud[*index].coords - middle;
                off * off.transpose()
            })
            .sum();
        let eigen = spread.symmetric_eigen();
        let thin = eigen.eigenvalues.imin();
        let mut others = (0..3).filter(|axis| *axis != thin).map(|axis| eigen.eigenvalues[axis]);
        let wide = others.next()?.min(others.next()?);
        let normal = eigen.eigenvectors.column(thin).into_owned();
        let towards = if normal.dot(&(eye - point)) < 0.0 { -normal } else { normal };
        (near.len() > 3 && eigen.eigenvalues[thin] < FLAT * FLAT * wide).then_some(towards)
    };
    points.iter().map(normal).collect()
}
