//! Quantiles, and the interval of a rate.

/// The value at this share (0 to 1) of an ascending slice, the nearest one; `None` of none.
pub fn nearest_rank(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share.clamp(0.0, 1.0)).round() as usize).copied()
}

/// The finite values, ascending.
pub fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The 95 % Wilson score interval of a rate, as `[low, high]` (Wilson 1927); `[0, 1]` of no trials.
pub fn wilson95(successes: usize, trials: usize) -> [f64; 2] {
    if trials == 0 {
        return [0.0, 1.0];
    }
    // The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let n = trials as f64;
    let rate = successes.min(trials) as f64 / n;
    let center = (rate + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    [(center - half).max(0.0), (center + half).min(1.0)]
}

/// The percentile `share` (0 to 1) of the finite values, between neighbours linearly; `None` of none.
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = ascending(values.iter().copied());
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// The median of the finite values; `None` of none.
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let [l, h] = wilson95(successes, trials);
            assert!((l - low).abs() < 6e-5 && (h - high).abs() < 6e-5, "{successes}/{trials}: [{l}, {h}]");
        }
        assert_eq!(wilson95(0, 0), [0.0, 1.0]);
        assert!(wilson95(20, 20)[1] <= 1.0);
    }

    #[test]
    fn percentiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, f64::NAN, 2.0, 3.0]), Some(2.5));
        assert_eq!(percentile(&[0.0, 10.0], 0.9), Some(9.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(nearest_rank(&ascending([4.0, f64::NAN, 1.0, 2.0]), 0.6), Some(2.0));
        assert_eq!(nearest_rank(&[], 0.5), None);
    }
}
