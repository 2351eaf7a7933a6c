//! The least value of a function without derivatives, by a simplex (Nelder and Mead 1965).

/// Most evaluations for each dimension.
const MOST: usize = 120;
/// Share of a value within which values of a simplex are the same.
const SAME: f64 = 1e-5;

/// Where a function is least near a start, and how much it is there. `steps` are the sizes of the first simplex, one for each number.
pub(crate) fn least(start: &[f64], steps: &[f64], value: impl Fn(&[f64]) -> f64) -> (Vec<f64>, f64) {
    let count = start.len();
    let mut simplex: Vec<(Vec<f64>, f64)> = vec![(start.to_vec(), value(start))];
    for (axis, step) in steps.iter().enumerate().take(count) {
        let mut corner = start.to_vec();
        corner[axis] += step;
        let at = value(&corner);
        simplex.push((corner, at));
    }
    let mut left = MOST * count;
    while left > 0 && count > 0 {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (simplex[0].1, simplex[count].1);
        let narrow = (0..count)
            .all(|axis| (simplex[count].0[axis] - simplex[0].0[axis]).abs() < 1e-3 * steps[axis].abs());
        if narrow || worst - best <= SAME * best.abs() {
            break;
        }
        let middle: Vec<f64> = (0..count)
            .map(|axis| simplex[..count].iter().map(|(corner, _)| corner[axis]).sum::<f64>() / count as f64)
            .collect();
        let along = |share: f64| -> Vec<f64> {
            middle.iter().zip(&simplex[count].0).map(|(m, w)| m + share * (m - w)).collect()
        };
        let tried = |share: f64| {
            let corner = along(share);
            let at = value(&corner);
            (corner, at)
        };
        let reflected = tried(1.0);
        let next = if reflected.1 < best {
            let far = tried(2.0);
            if far.1 < reflected.1 { Some(far) } else { Some(reflected) }
        } else if reflected.1 < simplex[count - 1].1 {
            Some(reflected)
        } else {
            let share = if reflected.1 < worst { 0.5 } else { -0.5 };
            let near = tried(share);
            (near.1 < worst.min(reflected.1)).then_some(near)
        };
        // At most two of them in a round.
        left = left.saturating_sub(2);
        match next {
            Some(corner) => simplex[count] = corner,
            None => {
                let (first, rest) = simplex.split_at_mut(1);
                for (corner, at) in rest {
                    corner.iter_mut().zip(&first[0].0).for_each(|(c, b)| *c = (*c + b) / 2.0);
                    *at = value(corner);
                    left = left.saturating_sub(1);
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_valley_is_followed() {
        let valley = |x: &[f64]| (1.0 - x[0]).powi(2) + 20.0 * (x[1] - x[0] * x[0]).powi(2);
        let (at, value) = least(&[-0.5, 1.0], &[0.3, 0.3], valley);
        assert!(value < 1e-4 && (at[0] - 1.0).abs() < 0.02, "{at:?} {value}");
        assert_eq!(least(&[], &[], |_| 3.0), (vec![], 3.0));
    }
}
