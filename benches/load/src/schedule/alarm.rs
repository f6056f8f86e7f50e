//! Waking at a time, to the microsecond where the system can: a runtime's own timers count in milliseconds, and their
//! delay would be counted as the server's latency.

use std::io;
use std::time::Instant;

#[cfg(target_os = "linux")]
pub(super) use precise::Alarm;

#[cfg(not(target_os = "linux"))]
pub(super) use coarse::Alarm;

#[cfg(target_os = "linux")]
mod precise {
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    use super::{Instant, io};

    /// A timer of the kernel.
    pub(in crate::schedule) struct Alarm(AsyncFd<OwnedFd>);

    impl Alarm {
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that give another descriptor later; an OwnedFd never does"
        )]
        pub(in crate::schedule) fn new() -> io::Result<Alarm> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            Ok(Alarm(AsyncFd::new(timerfd_create(TimerfdClockId::Monotonic, flags)?)?))
        }

        /// Waits until `time`.
        pub(in crate::schedule) async fn wait_until(&self, time: Instant) -> io::Result<()> {
            let left = time.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
            let it_value = Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })?;
            // Setting the timer again discards its expiration, so readiness is cleared instead of read.
            self.0.readable().await?.clear_ready();
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod coarse {
    use super::{Instant, io};

    /// A timer of the runtime, up to a millisecond late.
    pub(in crate::schedule) struct Alarm;

    impl Alarm {
        pub(in crate::schedule) fn new() -> io::Result<Alarm> {
            Ok(Alarm)
        }

        /// Waits until `time`.
        pub(in crate::schedule) async fn wait_until(&self, time: Instant) -> io::Result<()> {
            tokio::time::sleep_until(time.into()).await;
            Ok(())
        }
    }
}
