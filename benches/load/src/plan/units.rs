//! The notation of spans of time, rates and shares on the command line.

use std::ops::Deref;
use std::str::FromStr;
use std::time::{Duration, TryFromFloatSecsError};

use serde::{Deserialize, Serialize};

/// The units of a span, the longer names first, since `s` is the end of all.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("us", 0.000_001), ("s", 1.0), ("m", 60.0)];

/// The longest span: a day.
const SPAN_MAX_SECONDS: f64 = 86_400.0;

/// A span of time: on the command line a number with its unit, `250ms`, `10s`, `1.5m`; in reports a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "f64")]
pub struct Span(pub Duration);

impl Deref for Span {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

impl From<Span> for f64 {
    fn from(span: Span) -> f64 {
        span.as_secs_f64()
    }
}

impl TryFrom<f64> for Span {
    type Error = TryFromFloatSecsError;

    fn try_from(seconds: f64) -> Result<Span, TryFromFloatSecsError> {
        Duration::try_from_secs_f64(seconds).map(Span)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let wrong = || format!("{text}: write a span with its unit, such as 500us, 20ms, 10s or 2m");
        let (digits, factor) =
            UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor))).ok_or_else(wrong)?;
        let seconds = digits.parse::<f64>().map_err(|_| wrong())? * factor;
        let is_span = seconds.is_finite() && (0.0..=SPAN_MAX_SECONDS).contains(&seconds);
        if is_span { Ok(Span(Duration::from_secs_f64(seconds))) } else { Err(wrong()) }
    }
}

/// Calls a second: a number above 0.
///
/// # Errors
/// The fault of the text.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && (0.001..=10_000_000.0).contains(rate));
    rate.ok_or_else(|| format!("{text}: write calls a second, such as 1500"))
}

/// A share: a number from 0 to 1.
///
/// # Errors
/// The fault of the text.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("{text}: write a share from 0 to 1, such as 0.05"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_a_unit() {
        for (text, millis) in [("20ms", 20), ("10s", 10_000), ("1.5m", 90_000), ("0s", 0)] {
            assert_eq!(text.parse(), Ok(Span(Duration::from_millis(millis))), "{text}");
        }
        assert_eq!("500us".parse(), Ok(Span(Duration::from_micros(500))));
        for text in ["", "10", "s", "-1s", "1h", "NaNs", "infs", "1e9s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_above_zero_and_a_share_is_at_most_one() {
        assert_eq!((parse_rate("1500"), parse_share("0.05")), (Ok(1500.0), Ok(0.05)));
        assert!(["0", "-1", "NaN", "inf", "x"].iter().all(|text| parse_rate(text).is_err()));
        assert!(["1.1", "-0.1", "NaN", "x"].iter().all(|text| parse_share(text).is_err()));
    }
}
