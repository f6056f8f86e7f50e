//! The throughput of a server in any part of a load, from periodic counts of its answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::harness::Server;

use super::background_load::initiated_at;

/// The pause between two counts.
const EVERY: Duration = Duration::from_millis(100);

/// A count of initiated payments, with its time.
#[derive(Clone, Copy)]
struct Count {
    at: Instant,
    payments: f64,
}

/// Counts until it is dropped.
pub(super) struct Throughput {
    counts: Arc<Mutex<Vec<Count>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Throughput {
    /// Begins to count the answers of a server.
    pub(super) fn of(server: &Server) -> Throughput {
        let address = server.admin_address().to_owned();
        let (counts, ends) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, told) = (Arc::clone(&counts), Arc::clone(&ends));
        let count = move || {
            while !told.load(Ordering::Acquire) {
                let payments = u32::try_from(initiated_at(&address)).expect("a test initiates not so many");
                let count = Count { at: Instant::now(), payments: f64::from(payments) };
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(count);
                thread::sleep(EVERY);
            }
        };
        Throughput { counts, ends, thread: Some(thread::spawn(count)) }
    }

    /// Payments a second between two times, up to both of which counts exist.
    pub(super) fn rate(&self, from: Instant, to: Instant) -> f64 {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        (payments_at(&counts, to) - payments_at(&counts, from)) / to.duration_since(from).as_secs_f64()
    }
}

impl Drop for Throughput {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            drop(thread.join()); // If it panicked, there is nothing to wait for.
        }
    }
}

/// The count at a moment, interpolated between those around it.
fn payments_at(counts: &[Count], at: Instant) -> f64 {
    let later = counts.partition_point(|count| count.at < at).clamp(1, counts.len() - 1);
    let (one, other) = (counts[later - 1], counts[later]);
    let part = at.saturating_duration_since(one.at).as_secs_f64() / (other.at - one.at).as_secs_f64();
    one.payments + (other.payments - one.payments) * part.min(1.0)
}

#[test]
fn a_count_between_two_is_on_the_line_between_them() {
    let begun = Instant::now();
    let count = |seconds, payments| Count { at: begun + Duration::from_secs(seconds), payments };
    let counts = [count(0, 0.0), count(2, 10.0), count(4, 50.0)];
    let at = |millis| payments_at(&counts, begun + Duration::from_millis(millis));
    assert_eq!([at(0), at(1_000), at(2_000), at(3_500), at(9_000)], [0.0, 5.0, 10.0, 40.0, 50.0]);
}
