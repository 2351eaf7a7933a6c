//! Parts that are pulled and pushed, by geometry alone: a front (an upright face), bars and knobs that stand before it, its upper
//! edge; buttons and levers that stand on a top.
//!
//! Works on any points with the indices they came with, so that one tool serves the map (points of an object) and the verifier's
//! evidence (pixels of one view).

use nalgebra::{Point3, Vector3};
use prehend_geometry::LevelSpread;
use prehend_geometry::dbscan::clusters;

/// Least width and height of a front, metres.
const FRONT: (f64, f64) = (0.035, 0.025);
/// Distance of points of one plane, metres.
const PLANE: f64 = 0.005;
/// How far before its front a handle begins and ends, metres.
const REACH: (f64, f64) = (0.009, 0.08);
/// Margin around a front within which a handle of it lies, metres.
const MARGIN: f64 = 0.012;
/// Gap within a handle, metres.
const GAP: f64 = 0.012;
/// Least length of a bar, and least ratio of its sides, metres.
const BAR: (f64, f64) = (0.03, 1.8);
/// Greatest extent of a knob, metres.
const KNOB: f64 = 0.06;
/// Least height of a button above what it stands on, and from which it is a lever, metres.
const RISE: (f64, f64) = (0.004, 0.03);
/// Depth of a lever that lies flat on its post, and its least length, metres.
const BAR_DEPTH: f64 = 0.018;
const LEVER: f64 = 0.05;
/// Greatest share of the footprint that a button covers.
const BUTTON_SHARE: f64 = 0.6;
/// Room around a key in which it must stand out, gap to the next one, and how level its cap is, metres.
const CAP_AROUND: f64 = 0.010;
const CAP_GAP: f64 = 0.0035;
const CAP_FLAT: f64 = 0.0025;
/// Directions in half a turn that are tried for a front.
const DIRECTIONS: usize = 60;
/// Most points the search for a front looks at.
const SAMPLE: usize = 1500;

/// A part found by geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Kind: `front`, `handle`, `knob`, `edge`, `button` or `lever`.
    pub kind: &'static str,
    /// Indices of its points, ascending; not empty.
    pub indices: Vec<usize>,
    /// Centre, frame of the points.
    pub centroid: Point3<f64>,
    /// Outward unit normal; of a handle that of its front.
    pub normal: Vector3<f64>,
    /// Whether a bar runs level, so that a hook from above holds it.
    pub is_level: bool,
    /// How well the geometry fits, [0, 1].
    pub score: f64,
}

/// An upright face.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Outward horizontal unit normal.
    pub normal: Vector3<f64>,
    /// Its place along the normal.
    pub offset: f64,
    /// Indices of its points.
    pub indices: Vec<usize>,
    /// Range across (left to right seen from outside) and of height.
    pub across: (f64, f64),
    /// Range of height.
    pub height: (f64, f64),
}

impl Front {
    fn side(&self) -> Vector3<f64> {
        Vector3::new(-self.normal.y, self.normal.x, 0.0)
    }

    /// Largest upright face of points seen from `viewer`, nearest to it of about equals; `None` when none is large enough.
    pub fn find(points: &[Point3<f64>], viewer: &Point3<f64>) -> Option<Self> {
        let step = points.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&Point3<f64>> = points.iter().step_by(step).filter(|p| is_finite(p)).collect();
        if sample.len() < 30 {
            return None;
        }
        let centre = sample.iter().fold(Vector3::zeros(), |sum, p| sum + p.coords) / sample.len() as f64;
        let mut best: Option<(f64, Vector3<f64>, f64)> = None;
        for direction in 0..DIRECTIONS {
            let angle = std::f64::consts::PI * direction as f64 / DIRECTIONS as f64;
            let mut normal = Vector3::new(angle.cos(), angle.sin(), 0.0);
            if normal.dot(&(viewer.coords - centre)) < 0.0 {
                normal = -normal;
            }
            let mut bins: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
            for p in &sample {
                *bins.entry((p.coords.dot(&normal) / PLANE).round() as i64).or_default() += 1;
            }
            for (bin, count) in bins {
                // Of about equal ones the outer: a carcass behind its front is no front.
                let worth =
                    count as f64 * (1.0 + 0.4 * (bin as f64 * PLANE - centre.dot(&normal)).clamp(-0.5, 0.5));
                if best.as_ref().is_none_or(|(most, _, _)| worth > *most) {
                    best = Some((worth, normal, bin as f64 * PLANE));
                }
            }
        }
        let (_, normal, offset) = best?;
        let front = Self::refined(points, normal, offset)?;
        let (wide, high) = (front.across.1 - front.across.0, front.height.1 - front.height.0);
        (wide >= FRONT.0 && high >= FRONT.1 && front.indices.len() >= 30).then_some(front)
    }

    /// The face after two fits of a line to its points seen from above.
    fn refined(points: &[Point3<f64>], mut normal: Vector3<f64>, mut offset: f64) -> Option<Self> {
        let near = |normal: &Vector3<f64>, offset: f64| -> Vec<usize> {
            (0..points.len())
                .filter(|i| is_finite(&points[*i]) && (points[*i].coords.dot(normal) - offset).abs() < PLANE)
                .collect()
        };
        for _ in 0..2 {
            let indices = near(&normal, offset);
            let count = indices.len() as f64;
            if count < 10.0 {
                return None;
            }
            let mean = indices.iter().fold(Vector3::zeros(), |sum, i| sum + points[*i].coords) / count;
            let fitted = LevelSpread::of(indices.iter().map(|i| &points[*i]))?.across;
            let fitted = if fitted.dot(&normal) < 0.0 { -fitted } else { fitted };
            // A sliver says little about its direction.
            if fitted.dot(&normal) > 0.98 {
                normal = fitted;
            }
            offset = mean.dot(&normal);
        }
        let indices = near(&normal, offset);
        let side = Vector3::new(-normal.y, normal.x, 0.0);
        let across = range(indices.iter().map(|i| points[*i].coords.dot(&side)).collect())?;
        let height = range(indices.iter().map(|i| points[*i].z).collect())?;
        Some(Self { normal, offset, indices, across, height })
    }

    /// Indices of points that stand before the face, within its outline.
    fn before(&self, points: &[Point3<f64>]) -> Vec<usize> {
        let side = self.side();
        (0..points.len())
            .filter(|i| {
                let p = &points[*i];
                let out = p.coords.dot(&self.normal) - self.offset;
                let across = p.coords.dot(&side);
                out > REACH.0
                    && out < REACH.1
                    && across > self.across.0 - MARGIN
                    && across < self.across.1 + MARGIN
                    && p.z > self.height.0 - MARGIN
                    && p.z < self.height.1 + MARGIN
            })
            .collect()
    }
}

/// Everything that can be pulled or pushed, found in points seen from `viewer`; a support at `support_z` carries them.
pub fn find(points: &[Point3<f64>], viewer: &Point3<f64>, support_z: f64) -> Vec<Mechanism> {
    let mut found = Vec::new();
    if let Some(front) = Front::find(points, viewer) {
        found.extend(on_front(points, &front));
    }
    found.extend(on_top(points, support_z));
    found
}

/// The face itself, its handles and its upper edge.
fn on_front(points: &[Point3<f64>], front: &Front) -> Vec<Mechanism> {
    let mut found = Vec::new();
    let before = front.before(points);
    let places: Vec<Point3<f64>> = before.iter().map(|i| points[*i]).collect();
    let side = front.side();
    let area = (front.across.1 - front.across.0) * (front.height.1 - front.height.0);
    for group in clusters(&places, GAP, 3) {
        if group.len() < 12 {
            continue;
        }
        let mut indices: Vec<usize> = group.iter().map(|i| before[*i]).collect();
        indices.sort_unstable();
        let Some(across) = range(indices.iter().map(|i| points[*i].coords.dot(&side)).collect()) else {
            continue;
        };
        let Some(height) = range(indices.iter().map(|i| points[*i].z).collect()) else { continue };
        let (wide, high) = (across.1 - across.0, height.1 - height.0);
        let (long, short) = (wide.max(high), wide.min(high).max(0.004));
        // What covers its front is not its handle: another thing stands before it.
        if wide * high > 0.4 * area {
            continue;
        }
        let kind = if long >= BAR.0 && long >= BAR.1 * short {
            "handle"
        } else if long <= KNOB {
            "knob"
        } else {
            continue;
        };
        let Some(centroid) = middle(points, &indices) else { continue };
        let dense = (indices.len() as f64 / 60.0).min(1.0);
        let centred = 1.0
            - (2.0 * (along(&centroid, &side) - (front.across.0 + front.across.1) / 2.0).abs()
                / (front.across.1 - front.across.0).max(1e-3))
            .clamp(0.0, 1.0);
        let score = 0.5 + 0.3 * dense + 0.2 * centred;
        found.push(Mechanism {
            kind,
            indices,
            centroid,
            normal: front.normal,
            is_level: wide >= high,
            score,
        });
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let top: Vec<usize> =
        front.indices.iter().copied().filter(|i| points[*i].z > front.height.1 - 0.012).collect();
    for (kind, indices, score) in [("front", front.indices.clone(), 0.7), ("edge", top, 0.35)] {
        if indices.len() >= 10
            && let Some(centroid) = middle(points, &indices)
        {
            found.push(Mechanism { kind, indices, centroid, normal: front.normal, is_level: true, score });
        }
    }
    found
}

/// A button or a lever: what rises from the middle of a top and is narrower than it.
fn on_top(points: &[Point3<f64>], support_z: f64) -> Option<Mechanism> {
    let mut heights: Vec<f64> = points.iter().map(|p| p.z).filter(|z| z.is_finite()).collect();
    if heights.len() < 40 {
        return None;
    }
    heights.sort_by(f64::total_cmp);
    let top = heights[heights.len() - 1 - heights.len() / 200];
    let all = extent(points, |_| true)?;
    let footprint = (all.1 - all.0).max(0.01) * (all.3 - all.2).max(0.01);
    // Downward in steps: where the section widens suddenly is what it stands on.
    let mut previous: Option<(f64, f64)> = None;
    let mut blade: Option<f64> = None;
    let mut sides = (0.0, 0.0);
    let mut level = top - 0.004;
    let floor = support_z.max(heights[0]);
    while level > floor {
        let Some(here) = extent(points, |p| p.z > level) else { break };
        let (wide, deep) = (here.1 - here.0, here.3 - here.2);
        let area = wide.max(0.004) * deep.max(0.004);
        if let Some((upper, _)) = previous
            && area > 1.6 * upper
            && blade.is_none()
            && is_knob_below(sides, (wide, deep))
        {
            // A ridge across a knob: the knob itself stands on what comes below.
            blade = Some(level);
        } else if let Some((upper, _)) = previous
            && area > 1.6 * upper
        {
            let rise = top - level;
            let shoulder = level + 0.002;
            let indices: Vec<usize> = (0..points.len()).filter(|i| points[*i].z > shoulder + 0.001).collect();
            if rise < RISE.0 || upper > BUTTON_SHARE * footprint || indices.len() < 8 {
                return None;
            }
            let kind = match blade {
                Some(_) => "knob",
                None if rise < RISE.1 => "button",
                None => "lever",
            };
            let flat = flat_lever(points, top).filter(|_| kind == "lever");
            let indices = flat.unwrap_or(indices);
            let mut centroid = middle(points, &indices)?;
            centroid.z = top;
            let share = upper / footprint;
            let score = 0.6 + 0.3 * (1.0 - share / BUTTON_SHARE).clamp(0.0, 1.0);
            return Some(Mechanism { kind, indices, centroid, normal: Vector3::z(), is_level: false, score });
        }
        previous = Some((area, level));
        sides = (wide, deep);
        level -= 0.002;
        if top - level > 0.12 {
            break;
        }
    }
    None
}

/// The bar on top of a post, when what is highest is long and what carries it is not: the post is no part of the lever.
fn flat_lever(points: &[Point3<f64>], top: f64) -> Option<Vec<usize>> {
    let layer = |above: f64, below: f64| -> Vec<usize> {
        (0..points.len())
            .filter(|i| is_finite(&points[*i]) && (top - below..=top - above).contains(&points[*i].z))
            .collect()
    };
    let length = |indices: &[usize]| {
        let centre = middle(points, indices)?;
        let reach = indices.iter().map(|i| (points[*i] - centre).xy().norm()).fold(0.0, f64::max);
        Some(2.0 * reach)
    };
    let bar = layer(-BAR_DEPTH, BAR_DEPTH);
    let post = layer(BAR_DEPTH, 2.0 * BAR_DEPTH);
    let long = length(&bar)?;
    (bar.len() >= 12 && long > LEVER && length(&post).is_none_or(|post| long > 1.5 * post)).then_some(bar)
}

/// Whether a section is that of a knob right below the ridge by which it is turned: about as wide and as deep as the ridge is long.
fn is_knob_below(ridge: (f64, f64), section: (f64, f64)) -> bool {
    let (long, short) = (ridge.0.max(ridge.1), ridge.0.min(ridge.1).max(0.004));
    long > 1.8 * short
        && long < KNOB
        && [section.0, section.1].iter().all(|side| (0.75..1.4).contains(&(side / long)))
}

/// A cap that stands out of what is around it at a place: one key of many. `low` and `high` bound where it is expected.
pub fn cap(points: &[Point3<f64>], low: &Point3<f64>, high: &Point3<f64>) -> Option<Mechanism> {
    let within = |p: &Point3<f64>, margin: f64| {
        is_finite(p) && (0..2).all(|axis| p[axis] > low[axis] - margin && p[axis] < high[axis] + margin)
    };
    let near: Vec<usize> = (0..points.len()).filter(|i| within(&points[*i], CAP_AROUND)).collect();
    let mut heights: Vec<f64> =
        near.iter().map(|i| &points[*i]).filter(|p| within(p, 0.0)).map(|p| p.z).collect();
    heights.sort_by(f64::total_cmp);
    let top = *heights.get(heights.len() * 3 / 5)?;
    let level: Vec<usize> = near.iter().copied().filter(|i| (points[*i].z - top).abs() < CAP_FLAT).collect();
    let places: Vec<Point3<f64>> = level.iter().map(|i| points[*i]).collect();
    let middle_of = nalgebra::center(low, high);
    // The level group the expected middle lies in; those beside it are other keys.
    let group = clusters(&places, CAP_GAP, 3)
        .into_iter()
        .find(|group| group.iter().any(|i| (places[*i].xy() - middle_of.xy()).norm() < CAP_GAP))?;
    let mut indices: Vec<usize> = group.into_iter().map(|i| level[i]).collect();
    indices.sort_unstable();
    let size = |range: Option<(f64, f64)>| range.map_or(0.0, |(low, high)| high - low);
    let fits = (0..2).all(|axis| {
        let wide = size(range(indices.iter().map(|i| points[*i][axis]).collect()));
        (0.5..2.0).contains(&(wide / (high[axis] - low[axis]).max(0.004)))
    });
    let around: Vec<usize> = near.iter().copied().filter(|i| indices.binary_search(i).is_err()).collect();
    let lower = around.iter().filter(|i| points[**i].z < top - RISE.0).count();
    let higher = around.iter().filter(|i| points[**i].z > top + 2.0 * RISE.0).count();
    if !fits || indices.len() < 8 || lower * 5 < around.len() || higher * 5 > around.len() {
        return None;
    }
    let mut centroid = middle(points, &indices)?;
    centroid.z = top;
    let share = lower as f64 / around.len().max(1) as f64;
    let score = 0.6 + 0.3 * share.clamp(0.0, 1.0);
    Some(Mechanism { kind: "button", indices, centroid, normal: Vector3::z(), is_level: false, score })
}

/// Ranges of x and y of the points that are kept.
fn extent(points: &[Point3<f64>], keep: impl Fn(&Point3<f64>) -> bool) -> Option<(f64, f64, f64, f64)> {
    let kept = || points.iter().filter(|p| is_finite(p) && keep(p));
    let x = range(kept().map(|p| p.x).collect())?;
    let y = range(kept().map(|p| p.y).collect())?;
    Some((x.0, x.1, y.0, y.1))
}

/// Least and greatest value but for the outermost fiftieths.
fn range(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let skip = values.len() / 50;
    Some((*values.get(skip)?, *values.get(values.len().checked_sub(1 + skip)?)?))
}

fn middle(points: &[Point3<f64>], indices: &[usize]) -> Option<Point3<f64>> {
    let sum = indices.iter().fold(Vector3::zeros(), |sum, i| sum + points[*i].coords);
    (!indices.is_empty()).then(|| Point3::from(sum / indices.len() as f64))
}

fn along(point: &Point3<f64>, direction: &Vector3<f64>) -> f64 {
    point.coords.dot(direction)
}

fn is_finite(point: &Point3<f64>) -> bool {
    point.coords.iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate at z 0.02 seen from above, 1 mm apart, with keys of 19 mm every 24 mm that rise by `rise`.
    fn keys(rise: f64) -> Vec<Point3<f64>> {
        (0..100)
            .flat_map(|i| (0..100).map(move |j| (f64::from(i) * 1e-3, f64::from(j) * 1e-3)))
            .map(|(x, y)| {
                let on_key = x % 0.024 < 0.019 && y % 0.024 < 0.019;
                Point3::new(x, y, 0.02 + if on_key { rise } else { 0.0 })
            })
            .collect()
    }

    #[test]
    fn one_key_of_many_is_a_cap_and_a_print_on_a_plate_is_none() {
        let (low, high) = (Point3::new(0.049, 0.049, 0.026), Point3::new(0.066, 0.066, 0.028));
        let found = cap(&keys(0.007), &low, &high).expect("a key");
        assert!((found.centroid - Point3::new(0.057, 0.057, 0.027)).norm() < 0.003, "{:?}", found.centroid);
        assert!((300..420).contains(&found.indices.len()), "{}", found.indices.len());
        assert_eq!(cap(&keys(0.0), &low, &high), None);
        // Between keys there is none, and none where nothing was seen.
        let gap = (Point3::new(0.042, 0.042, 0.02), Point3::new(0.048, 0.048, 0.02));
        assert_eq!(cap(&keys(0.007), &gap.0, &gap.1), None);
        assert_eq!(cap(&[], &low, &high), None);
    }
}
