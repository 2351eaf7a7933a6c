//! Numbers of the command line, each within what makes sense.

use crate::domain::domain_id;

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

pub(super) fn speed(text: &str) -> Result<f64, String> {
    number(text).and_then(|speed| {
        if (0.0..=1000.0).contains(&speed) {
            Ok(speed)
        } else {
            Err("expected a number from 0 to 1000".to_owned())
        }
    })
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text).and_then(|share| {
        if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("expected a number from 0 to 1".to_owned()) }
    })
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|seconds| {
        if (0.1..=1e6).contains(&seconds) { Ok(seconds) } else { Err("expected a number above 0".to_owned()) }
    })
}

pub(super) fn waiting(text: &str) -> Result<f64, String> {
    number(text).and_then(|seconds| {
        if (0.0..=3600.0).contains(&seconds) {
            Ok(seconds)
        } else {
            Err("expected a number from 0 to 3600".to_owned())
        }
    })
}

pub(super) fn domain(text: &str) -> Result<u16, String> {
    domain_id(text).ok_or_else(|| "expected a ROS domain: 0 to 101 or 215 to 232".to_owned())
}
