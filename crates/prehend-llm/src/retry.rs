//! How long to wait before a request is sent again.

use rand::{Rng, RngExt};
use std::time::{Duration, SystemTime};

/// Longest pause that is made unless the server asks for a longer one.
const LONGEST: Duration = Duration::from_secs(8);

/// The pause after the `failed`-th failure (from 1): `base` doubled with each, a random half of it taken off so that clients that
/// failed together do not come back together, and never less than what the server asked for.
pub(crate) fn pause(base: Duration, failed: u32, asked: Option<Duration>, rng: &mut impl Rng) -> Duration {
    let doubled = base.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1))).min(LONGEST);
    let jittered = doubled.mul_f64(rng.random_range(0.5..=1.0));
    jittered.max(asked.unwrap_or_default())
}

/// `Retry-After` in whole seconds, or as a date (RFC 9110, 10.2.3); a date that is over asks for no pause.
pub(crate) fn asked_pause(header: Option<&str>, now: SystemTime) -> Option<Duration> {
    let text = header?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn pauses_double_up_to_a_limit_with_half_of_them_random() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let base = Duration::from_millis(500);
        for (failed, most) in [(1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (5, 8.0), (6, 8.0), (u32::MAX, 8.0)] {
            let pauses: Vec<f64> =
                (0..200).map(|_| pause(base, failed, None, &mut rng).as_secs_f64()).collect();
            let (low, high) =
                (pauses.iter().copied().fold(f64::MAX, f64::min), pauses.iter().copied().fold(0.0, f64::max));
            assert!(low >= most / 2.0 && low < most * 0.55, "{failed}: {low}");
            assert!(high <= most && high > most * 0.95, "{failed}: {high}");
        }
    }

    #[test]
    fn a_seed_repeats_the_pauses() {
        let pauses = |seed| -> Vec<Duration> {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            (1..5).map(|failed| pause(Duration::from_millis(500), failed, None, &mut rng)).collect()
        };
        assert_eq!(pauses(7), pauses(7));
        assert_ne!(pauses(7), pauses(8));
    }

    #[test]
    fn the_server_may_ask_for_longer_but_not_for_shorter() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let base = Duration::from_secs(1);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480);
        let asked = |header| asked_pause(header, now);
        assert_eq!(pause(base, 1, asked(Some(" 30 ")), &mut rng), Duration::from_secs(30));
        assert!(pause(base, 1, asked(Some("0")), &mut rng) >= base / 2);
        // The three forms of a date that a client must take.
        for date in
            ["Wed, 21 Oct 2015 07:28:45 GMT", "Wednesday, 21-Oct-15 07:28:45 GMT", "Wed Oct 21 07:28:45 2015"]
        {
            assert_eq!(asked(Some(date)), Some(Duration::from_secs(45)), "{date}");
        }
        assert_eq!(asked(Some("Wed, 21 Oct 2015 07:27:00 GMT")), Some(Duration::ZERO));
        for none in
            [None, Some(""), Some("-1"), Some("1.5"), Some("tomorrow"), Some("Wed, 99 Oct 2015 07:28:00 GMT")]
        {
            assert_eq!(asked(none), None, "{none:?}");
        }
    }
}
