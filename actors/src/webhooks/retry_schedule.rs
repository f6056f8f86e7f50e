//! The time of the next attempt after one that failed, and the meaning of an answer's status.
//!
//! Sources: Standard Webhooks 1.0.0 (<https://www.standardwebhooks.com>), deliverability and reliability; RFC 9110,
//! 10.2.3 (`Retry-After`) and 15 (statuses).

use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// Delays in a schedule, at most.
pub const RETRY_DELAYS_MAX: usize = 20;

/// The longest delay that a schedule may have: a week.
pub const RETRY_DELAY_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The longest wait that an endpoint can ask for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the example of Standard Webhooks, some three days in all.
const DEFAULT_SECONDS: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// Each delay is longer or shorter by up to this part of it, so that deliveries that failed together do not come back
/// together.
const SPREAD_DIVISOR: u64 = 5;

/// The delays between the attempts of one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySchedule(Vec<Duration>);

/// The text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetryScheduleError {
    /// An entry is not a delay.
    #[error("{entry:?} is not a delay: write whole seconds from 1 to {}, separated by commas",
        RETRY_DELAY_MAX.as_secs())]
    NoDelay {
        /// The entry.
        entry: String,
    },
    /// The list is too long.
    #[error("must be at most {RETRY_DELAYS_MAX} delays")]
    TooMany,
}

impl RetrySchedule {
    /// The time to wait after an attempt that failed; None when it was the last one.
    ///
    /// `failed_attempts` counts this one. `chance` is a random number for each attempt: it moves the delay by up
    /// to a fifth, sooner or later. `asked` is what [`retry_after`] read of the answer. It can only lengthen the delay:
    /// an endpoint that always asks for a second would otherwise have used up all attempts in seconds.
    #[must_use]
    pub fn delay_after(&self, failed_attempts: usize, chance: u64, asked: Option<Duration>) -> Option<Duration> {
        let delay = self.0.get(failed_attempts.checked_sub(1)?)?;
        Some(spread(*delay, chance).max(asked.unwrap_or_default()))
    }
}

impl Default for RetrySchedule {
    fn default() -> RetrySchedule {
        RetrySchedule(DEFAULT_SECONDS.map(Duration::from_secs).to_vec())
    }
}

impl FromStr for RetrySchedule {
    type Err = RetryScheduleError;

    /// Reads whole seconds, separated by commas.
    fn from_str(text: &str) -> Result<RetrySchedule, RetryScheduleError> {
        let delays: Vec<Duration> = text.split(',').map(|entry| parse_delay(entry.trim())).collect::<Result<_, _>>()?;
        let fits = delays.len() <= RETRY_DELAYS_MAX;
        fits.then_some(RetrySchedule(delays)).ok_or(RetryScheduleError::TooMany)
    }
}

/// The meaning of an answer's status for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryVerdict {
    /// The endpoint has taken the delivery.
    Succeeded,
    /// The endpoint has not taken the delivery. A redirect counts as this.
    Failed,
    /// The endpoint wants no delivery any more, this one or another.
    Gone,
}

impl DeliveryVerdict {
    /// The verdict of a status: 2xx has succeeded, 410 is gone, every other one has failed.
    #[must_use]
    pub fn of_status(status: u16) -> DeliveryVerdict {
        match status {
            200..=299 => DeliveryVerdict::Succeeded,
            410 => DeliveryVerdict::Gone,
            _ => DeliveryVerdict::Failed,
        }
    }
}

/// The wait that a `Retry-After` asks for: a number of seconds, or an HTTP date, which counts from `now`; at most
/// [`RETRY_AFTER_MAX`]. None when it is neither; zero for a date in the past.
#[must_use]
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number of seconds that does not fit is beyond the limit, too.
        let asked = value.parse().map_or(RETRY_AFTER_MAX, Duration::from_secs);
        return Some(asked.min(RETRY_AFTER_MAX));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let asked = date.duration_since(now).unwrap_or_default();
    Some(asked.min(RETRY_AFTER_MAX))
}

fn parse_delay(entry: &str) -> Result<Duration, RetryScheduleError> {
    let is_number = entry.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| entry.parse::<u64>().ok()).flatten();
    let fits = seconds.filter(|seconds| (1..=RETRY_DELAY_MAX.as_secs()).contains(seconds));
    fits.map(Duration::from_secs).ok_or_else(|| RetryScheduleError::NoDelay { entry: entry.to_owned() })
}

/// A delay from four fifths to six fifths of `delay`, in milliseconds, evenly distributed.
fn spread(delay: Duration, chance: u64) -> Duration {
    let milliseconds = delay.as_secs() * 1_000;
    let fifth = milliseconds / SPREAD_DIVISOR;
    Duration::from_millis(milliseconds - fifth + chance % (2 * fifth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);
    const NO_DELAY: &str = "is not a delay: write whole seconds from 1 to 604800, separated by commas";

    fn schedule(text: &str) -> RetrySchedule {
        text.parse().expect("it is a schedule")
    }

    fn refused(text: &str) -> String {
        text.parse::<RetrySchedule>().expect_err("it is no schedule").to_string()
    }

    /// The chance that leaves a delay unchanged.
    fn middle(delay: Duration) -> u64 {
        delay.as_secs() * 1_000 / SPREAD_DIVISOR
    }

    #[test]
    fn the_default_schedule_has_the_nine_retries_of_the_standard() {
        let expected = ["5", "300", "1800", "7200", "18000", "36000", "50400", "72000", "86400"].join(",");
        assert_eq!(RetrySchedule::default(), schedule(&expected));
        assert_eq!(RetrySchedule::default().0.len(), 9);
    }

    #[test]
    fn each_failed_attempt_has_its_delay_and_the_last_one_none() {
        let two = schedule("5, 300");
        let after = |attempts, delay| two.delay_after(attempts, middle(Duration::from_secs(delay)), None);
        assert_eq!(after(1, 5), Some(Duration::from_secs(5)));
        assert_eq!(after(2, 300), Some(Duration::from_secs(300)));
        assert_eq!(after(3, 300), None);
        assert_eq!(after(0, 5), None, "nothing has failed yet");
    }

    #[test]
    fn a_delay_is_up_to_a_fifth_sooner_or_later() {
        let one = schedule("100");
        let after = |chance| one.delay_after(1, chance, None).expect("there is a retry").as_millis();
        assert_eq!((after(0), after(20_000), after(40_000)), (80_000, 100_000, 120_000));
        assert_eq!(after(40_001), 80_000);
        let chances = (0..1_000_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        assert!(chances.map(after).all(|delay| (80_000..=120_000).contains(&delay)));
    }

    #[test]
    fn the_longest_delays_can_be_spread() {
        let longest = schedule("604800").delay_after(1, u64::MAX, None).expect("there is a retry");
        assert!(longest <= RETRY_DELAY_MAX * 6 / 5 && longest >= RETRY_DELAY_MAX * 4 / 5);
        assert_eq!(schedule("1").delay_after(1, 0, None), Some(Duration::from_millis(800)));
    }

    #[test]
    fn an_endpoint_can_lengthen_a_delay_but_not_shorten_it() {
        let one = schedule("3600");
        let after = |asked| one.delay_after(1, middle(HOUR), Some(asked));
        assert_eq!(after(2 * HOUR), Some(2 * HOUR));
        assert_eq!(after(Duration::from_secs(1)), Some(HOUR));
        assert_eq!(after(Duration::ZERO), Some(HOUR));
        assert_eq!(one.delay_after(2, 0, Some(HOUR)), None, "after the last attempt there is none");
    }

    #[test]
    fn an_endpoint_can_ask_for_a_day_at_most() {
        let asked = |value| retry_after(value, SystemTime::UNIX_EPOCH);
        assert_eq!(asked("86399"), Some(24 * HOUR - Duration::from_secs(1)));
        assert_eq!(asked("86401"), Some(24 * HOUR));
        assert_eq!(asked("99999999999999999999"), Some(24 * HOUR));
        assert_eq!(asked("Fri, 02 Jan 1970 00:00:01 GMT"), Some(24 * HOUR));
    }

    #[test]
    fn an_invalid_schedule_is_refused_with_the_limits() {
        for entry in ["", "0", "604801", "-5", "+5", "5s", "1.5", "99999999999999999999"] {
            assert_eq!(refused(entry), format!("{entry:?} {NO_DELAY}"));
        }
        assert_eq!(refused("5,,300"), format!("\"\" {NO_DELAY}"));
        let delays = |count: usize| vec!["604800"; count].join(",");
        assert_eq!(schedule(&delays(20)).0.len(), 20);
        assert_eq!(refused(&delays(21)), "must be at most 20 delays");
    }

    #[test]
    fn only_2xx_succeeds_and_only_410_is_gone() {
        for status in 100..=599 {
            let expected = match status {
                410 => DeliveryVerdict::Gone,
                status if status / 100 == 2 => DeliveryVerdict::Succeeded,
                _ => DeliveryVerdict::Failed,
            };
            assert_eq!(DeliveryVerdict::of_status(status), expected, "{status}");
        }
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after(" 0 ", now), Some(Duration::ZERO));
        for date in ["Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT", "Sun Nov  6 08:51:37 1994"] {
            assert_eq!(retry_after(date, now), Some(Duration::from_secs(120)), "{date}");
        }
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now), Some(Duration::ZERO));
    }

    #[test]
    fn a_retry_after_of_another_form_is_ignored() {
        for value in ["", "soon", "-1", "+1", "1.5", "Sun, 36 Nov 1994 08:51:37 GMT", "2026-01-01T00:00:00Z"] {
            assert_eq!(retry_after(value, SystemTime::UNIX_EPOCH), None, "{value}");
        }
    }
}
