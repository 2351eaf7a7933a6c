//! How well a spot fulfils a relation, from boxes alone.

use prehend_scene::Relation;

/// A rectangle with sides along x and y, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) low: [f64; 2],
    pub(crate) high: [f64; 2],
}

impl Rect {
    pub(crate) fn centre(&self) -> [f64; 2] {
        [(self.low[0] + self.high[0]) / 2.0, (self.low[1] + self.high[1]) / 2.0]
    }

    /// Distance between the nearest points; 0 when they overlap.
    pub(crate) fn gap(&self, other: &Self) -> f64 {
        let along = |i: usize| (other.low[i] - self.high[i]).max(self.low[i] - other.high[i]).max(0.0);
        along(0).hypot(along(1))
    }
}

/// Least and best gap of a stated direction, metres, and the greatest.
const DIRECTED_GAP: [f64; 3] = [0.020, 0.050, 0.150];
/// Least, best and greatest gap of `next_to`, metres.
const BESIDE_GAP: [f64; 3] = [0.018, 0.035, 0.070];
/// Least gap that is `away`, metres, and the gap beyond which more is no better.
const AWAY_GAP: [f64; 2] = [0.060, 0.250];
/// Least gap to anything for a spot that is only free, metres, and the gap that is enough.
const FREE_GAP: [f64; 2] = [0.025, 0.060];

/// Whether a relation is fulfilled on the table, and not on or in its target.
pub(crate) fn on_table(relation: Relation) -> bool {
    !matches!(relation, Relation::On | Relation::In)
}

/// How well `spot` fulfils a table relation, (0, 1]; `None` when it does not.
pub(crate) fn fitness(relation: Relation, spot: &Rect, targets: &[Rect], others: &[Rect]) -> Option<f64> {
    let nearest = |rects: &[Rect]| rects.iter().map(|r| r.gap(spot)).fold(f64::INFINITY, f64::min);
    let first = targets.first();
    match relation {
        Relation::LeftOf => directed(spot, first?, 1, 1.0),
        Relation::RightOf => directed(spot, first?, 1, -1.0),
        Relation::Behind => directed(spot, first?, 0, 1.0),
        Relation::InFrontOf => directed(spot, first?, 0, -1.0),
        Relation::NextTo => {
            let target = first?;
            let (a, b) = (spot.centre(), target.centre());
            let aside = (a[0] - b[0]).abs().min((a[1] - b[1]).abs());
            preferred(target.gap(spot), BESIDE_GAP).map(|fit| (fit - aside).max(0.05))
        }
        Relation::Between => {
            let (a, b) = (targets.first()?.centre(), targets.get(1)?.centre());
            let along = [b[0] - a[0], b[1] - a[1]];
            let length = along[0].hypot(along[1]);
            if length < 1e-6 {
                return None;
            }
            let unit = [along[0] / length, along[1] / length];
            let c = spot.centre();
            let from_a = [c[0] - a[0], c[1] - a[1]];
            let share = (from_a[0] * unit[0] + from_a[1] * unit[1]) / length;
            let aside = (from_a[0] * unit[1] - from_a[1] * unit[0]).abs();
            let fit = 1.0 - 1.6 * (share - 0.5).abs() - aside / 0.10;
            ((0.2..0.8).contains(&share) && aside < 0.06).then_some(fit.max(0.02))
        }
        Relation::Away => {
            let gap = nearest(targets).min(nearest(others));
            let wanted = if targets.is_empty() { gap } else { nearest(targets).min(gap + 0.15) };
            (gap > FREE_GAP[0] && wanted > AWAY_GAP[0]).then(|| (wanted / AWAY_GAP[1]).min(1.0))
        }
        Relation::Table => {
            let gap = nearest(targets).min(nearest(others));
            (gap > FREE_GAP[0]).then(|| (gap / FREE_GAP[1]).min(1.0))
        }
        Relation::On | Relation::In => None,
    }
}

/// 1 at the best gap, falling to 0 at the least and the greatest.
fn preferred(gap: f64, [least, best, greatest]: [f64; 3]) -> Option<f64> {
    if !(least..=greatest).contains(&gap) {
        return None;
    }
    let fit = if gap < best { (gap - least) / (best - least) } else { (greatest - gap) / (greatest - best) };
    Some(0.3 + 0.7 * fit)
}

/// Beside the target along `axis` in the direction of `sign`, and less far aside than along.
fn directed(spot: &Rect, target: &Rect, axis: usize, sign: f64) -> Option<f64> {
    let gap =
        if sign > 0.0 { spot.low[axis] - target.high[axis] } else { target.low[axis] - spot.high[axis] };
    let (a, b) = (spot.centre(), target.centre());
    let along = (a[axis] - b[axis]).abs();
    let aside = (a[1 - axis] - b[1 - axis]).abs();
    let fit = preferred(gap, DIRECTED_GAP)?;
    (aside < 0.45 * along).then(|| (fit - 1.2 * aside / along.max(1e-6)).max(0.02))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: f64, y: f64, half: f64) -> Rect {
        Rect { low: [x - half, y - half], high: [x + half, y + half] }
    }

    #[test]
    fn directions_are_the_robots() {
        let target = [rect(0.4, 0.0, 0.03)];
        for (relation, x, y, fits) in [
            (Relation::LeftOf, 0.4, 0.11, true),
            (Relation::LeftOf, 0.4, -0.11, false),
            (Relation::RightOf, 0.4, -0.11, true),
            (Relation::Behind, 0.51, 0.0, true),
            (Relation::Behind, 0.29, 0.0, false),
            (Relation::InFrontOf, 0.29, 0.0, true),
            (Relation::LeftOf, 0.5, 0.11, false),
            (Relation::LeftOf, 0.4, 0.065, false),
            (Relation::LeftOf, 0.4, 0.30, false),
            (Relation::NextTo, 0.4, 0.10, true),
            (Relation::NextTo, 0.4, 0.20, false),
            (Relation::Away, 0.4, 0.30, true),
            (Relation::Away, 0.4, 0.10, false),
            (Relation::Table, 0.4, 0.12, true),
            (Relation::Table, 0.4, 0.02, false),
        ] {
            let found = fitness(relation, &rect(x, y, 0.03), &target, &[]);
            assert_eq!(found.is_some(), fits, "{relation:?} {x} {y}");
        }
        let pair = [rect(0.4, 0.15, 0.03), rect(0.4, -0.15, 0.03)];
        assert!(fitness(Relation::Between, &rect(0.4, 0.0, 0.03), &pair, &[]).is_some());
        assert!(fitness(Relation::Between, &rect(0.4, 0.2, 0.03), &pair, &[]).is_none());
        assert!(fitness(Relation::Between, &rect(0.4, 0.0, 0.03), &pair[..1], &[]).is_none());
    }
}
