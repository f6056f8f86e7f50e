//! The distribution of calls to connections: those of one thread take calls in the order in which they are due.

use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::alarm::Alarm;
use super::pace::CallSchedule;

/// The calls of a thread, at fixed times or as soon as a connection is free.
#[derive(Debug)]
pub(crate) enum Turns {
    /// Every free connection calls, from the start to the end.
    Closed {
        /// The time of the first calls.
        start: Instant,
        /// The time from which on no further call is made.
        end: Instant,
    },
    /// A call is due at its time, and made when a connection is free.
    Open {
        /// The times at which calls are due.
        pace: CallSchedule,
        /// Calls that are due and not made yet.
        due: Semaphore,
        /// The number of the next call.
        next: Cell<u64>,
        /// The time at which calls that are still due are given up.
        given_up_at: Instant,
        /// The time that a call waits for a connection before it is given up; without a limit when it is None.
        patience: Option<Duration>,
        /// Calls that were given up.
        given_up: Cell<u64>,
    },
}

impl Turns {
    /// Calls as soon as a connection is free.
    pub(crate) const fn closed(start: Instant, end: Instant) -> Turns {
        Turns::Closed { start, end }
    }

    /// Calls at fixed times.
    pub(crate) fn open(pace: CallSchedule, given_up_at: Instant, patience: Option<Duration>) -> Turns {
        let (next, given_up) = (Cell::new(0), Cell::new(0));
        Turns::Open { pace, due: Semaphore::new(0), next, given_up_at, patience, given_up }
    }

    /// Waits for a call, and returns the time at which it was meant to be made; None when no call is left.
    pub(crate) async fn next(&self) -> Option<Instant> {
        match self {
            Turns::Closed { start, end } => {
                let now = Instant::now();
                if now < *start {
                    tokio::time::sleep_until((*start).into()).await;
                    return Some(Instant::now());
                }
                Some(now).filter(|now| now < end)
            }
            Turns::Open { pace, due, next, given_up_at, patience, given_up } => loop {
                due.acquire().await.ok()?.forget();
                let now = Instant::now();
                // A connection that wakes late skips the calls that have been given up, and makes the first that is
                // left.
                let late = patience.and_then(|patience| now.checked_sub(patience));
                let lost = late.map_or(0, |late| pace.due_before(late).saturating_sub(next.get()));
                given_up.set(given_up.get() + lost);
                let number = next.get() + lost;
                next.set(number);
                let intended = pace.intended(number)?;
                if now > *given_up_at {
                    return None;
                }
                if intended <= now {
                    next.set(number + 1);
                    return Some(intended);
                }
            },
        }
    }

    /// Ends all waiting: no further call is made.
    pub(crate) fn close(&self) {
        match self {
            Turns::Closed { .. } => {}
            Turns::Open { due, .. } => due.close(),
        }
    }

    /// The number of calls that were meant to be made and never were.
    pub(crate) fn never_made(&self) -> u64 {
        match self {
            Turns::Closed { .. } => 0,
            Turns::Open { pace, next, given_up, .. } => {
                let count = (next.get()..).take_while(|number| pace.intended(*number).is_some()).count();
                given_up.get() + u64::try_from(count).expect("a count fits")
            }
        }
    }
}

/// Makes calls due at their times until none is left, and then wakes every connection.
pub(crate) async fn keep_pace(turns: &Turns, connections: usize) -> io::Result<()> {
    let Turns::Open { pace, due, .. } = turns else { return Ok(()) };
    let alarm = Alarm::new()?;
    let mut number = 0;
    while let Some(intended) = pace.intended(number) {
        alarm.wait_until(intended + pace.slack()).await?;
        // All calls that are due by now are released at once, because waking takes time, too.
        let now = Instant::now();
        let later = (number + 1..).find(|later| pace.intended(*later).is_none_or(|at| at > now));
        let count = later.expect("times end") - number;
        due.add_permits(usize::try_from(count).expect("a count fits"));
        number += count;
    }
    due.add_permits(connections);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Rates;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap_or_else(|error| panic!("{error}")).block_on(future)
    }

    fn open(given_up_after: Duration) -> Turns {
        let start = Instant::now();
        let pace = CallSchedule {
            start,
            end: start + Duration::from_millis(20),
            rates: Rates::steady(500.0),
            threads: 1,
            thread: 0,
        };
        Turns::open(pace, start + given_up_after, None)
    }

    #[test]
    fn a_closed_loop_calls_only_between_its_begin_and_its_end() {
        let start = Instant::now() + Duration::from_millis(5);
        let turns = Turns::closed(start, start + Duration::from_secs(60));
        assert!(run(turns.next()).is_some_and(|intended| intended >= start));
        assert_eq!((run(Turns::closed(start, start).next()), turns.never_made()), (None, 0));
    }

    #[test]
    fn every_call_is_handed_out_once_in_order_and_not_early() {
        let turns = open(Duration::from_secs(60));
        let taken = async {
            let mut taken = Vec::new();
            while let Some(intended) = turns.next().await {
                assert!(Instant::now() >= intended);
                taken.push(intended);
            }
            taken
        };
        let (taken, kept) = run(async { tokio::join!(taken, keep_pace(&turns, 1)) });
        assert!(kept.is_ok() && taken.is_sorted());
        assert_eq!((taken.len(), turns.never_made()), (10, 0));
    }

    #[test]
    fn a_call_that_waited_longer_than_its_caller_does_is_given_up() {
        let start = Instant::now();
        let pace = CallSchedule {
            start,
            end: start + Duration::from_millis(20),
            rates: Rates::steady(500.0),
            threads: 1,
            thread: 0,
        };
        let turns = Turns::open(pace, start + Duration::from_secs(60), Some(Duration::ZERO));
        let late = async {
            tokio::time::sleep(Duration::from_millis(40)).await;
            turns.next().await
        };
        let (taken, kept) = run(async { tokio::join!(late, keep_pace(&turns, 1)) });
        assert!(kept.is_ok());
        assert_eq!((taken, turns.never_made()), (None, 10));
    }

    #[test]
    fn a_late_connection_makes_the_first_call_not_given_up() {
        let start = Instant::now();
        let pace = CallSchedule {
            start,
            end: start + Duration::from_millis(200),
            rates: Rates::steady(500.0),
            threads: 1,
            thread: 0,
        };
        let patience = Duration::from_millis(20);
        let turns = Turns::open(pace, start + Duration::from_secs(60), Some(patience));
        let late = async {
            tokio::time::sleep(Duration::from_millis(80)).await;
            (turns.next().await, Instant::now())
        };
        let ((taken, at), kept) = run(async { tokio::join!(late, keep_pace(&turns, 1)) });
        let taken = taken.expect("calls go on falling due");
        assert!(kept.is_ok() && at - taken <= patience + Duration::from_millis(10), "{:?}", at - taken);
        assert_eq!(turns.never_made(), 99, "all others");
    }

    #[test]
    fn calls_without_a_connection_in_time_count_as_never_made() {
        let turns = open(Duration::ZERO);
        let (taken, kept) = run(async { tokio::join!(turns.next(), keep_pace(&turns, 1)) });
        assert!(kept.is_ok());
        assert_eq!((taken, turns.never_made()), (None, 10));
    }
}
