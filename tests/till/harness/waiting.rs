//! Waiting for work that is done in the background.

use std::fmt::Debug;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest time that a test waits for work in the background, where no shorter time is promised.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until a condition holds. Fails with `failure` when that takes longer than `patience`.
#[track_caller]
pub(crate) fn wait_until(patience: Duration, failure: &str, is_so: impl FnMut() -> bool) {
    assert!(holds_within(patience, is_so), "{failure}");
}

/// The first answer of `ask` for which `is_done` holds. Fails with `failure` and the last answer when that takes longer
/// than `patience`.
#[track_caller]
pub(crate) fn first_answer<T: Debug>(
    patience: Duration,
    failure: &str,
    mut ask: impl FnMut() -> T,
    is_done: impl Fn(&T) -> bool,
) -> T {
    let until = Instant::now() + patience;
    loop {
        let answer = ask();
        if is_done(&answer) {
            return answer;
        }
        assert!(Instant::now() < until, "{failure}: {answer:?}");
        sleep(PAUSE);
    }
}

/// The present time, in Unix seconds.
pub(crate) fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs()
}

/// True when a condition holds within `patience`.
pub(crate) fn holds_within(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + patience;
    while !is_so() {
        if Instant::now() > until {
            return false;
        }
        sleep(PAUSE);
    }
    true
}
