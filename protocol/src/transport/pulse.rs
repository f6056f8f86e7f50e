//! Heartbeats of the threads that take requests, which show that they are not stuck.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

/// The interval between two heartbeats of a thread.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// The threads with heartbeats.
#[derive(Debug)]
pub struct Pulse {
    began: Instant,
    /// The time of each thread's last heartbeat, in milliseconds since the start. A thread that has ended is removed.
    beats: Mutex<Vec<Weak<AtomicU64>>>,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse { began: Instant::now(), beats: Mutex::default() }
    }
}

impl Pulse {
    /// Sends heartbeats on the runtime of this thread, as long as it lives.
    pub fn beat_here(self: &Arc<Pulse>) {
        let (pulse, beat) = (Arc::clone(self), Arc::new(AtomicU64::new(self.now())));
        self.lock().push(Arc::downgrade(&beat));
        actix_web::rt::spawn(async move {
            loop {
                beat.store(pulse.now(), Ordering::Relaxed);
                tokio::time::sleep(BEAT_EVERY).await;
            }
        });
    }

    /// The longest time since a thread's last heartbeat; None when there are no threads.
    #[must_use]
    pub fn longest_silence(&self) -> Option<Duration> {
        let now = self.now();
        let mut beats = self.lock();
        beats.retain(|beat| beat.strong_count() > 0);
        let last = beats.iter().filter_map(Weak::upgrade).map(|beat| beat.load(Ordering::Relaxed)).min();
        last.map(|last| Duration::from_millis(now.saturating_sub(last)))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<AtomicU64>>> {
        self.beats.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_thread_is_silent_and_an_ended_one_is_forgotten() {
        let mut pulse = Pulse::default();
        let stuck = Arc::new(AtomicU64::new(0));
        pulse.lock().push(Arc::downgrade(&stuck));
        pulse.began = Instant::now().checked_sub(Duration::from_secs(9)).expect("the machine has run for seconds");
        assert!(pulse.longest_silence() >= Some(Duration::from_secs(9)));
        drop(stuck);
        assert_eq!(pulse.longest_silence(), None);
    }

    #[test]
    fn a_thread_beats_as_long_as_its_runtime_lives() {
        let pulse = Arc::new(Pulse::default());
        let system = actix_web::rt::System::new();
        system.block_on(async { pulse.beat_here() });
        assert_eq!(pulse.lock().iter().filter(|beat| beat.strong_count() > 0).count(), 1);
        drop(system);
        assert_eq!(pulse.longest_silence(), None);
        assert!(pulse.lock().is_empty());
    }
}
