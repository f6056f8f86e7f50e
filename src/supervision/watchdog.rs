//! The watchdog: sends heartbeats to the service manager, but only while the server really answers.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use till_actors::Silent;
use till_protocol::transport::Pulse;
use till_storage::statistics::StatisticsSource;

use super::Notifier;
use super::notifier::watchdog_interval;
use crate::service::Service;

/// The limit of the time for which the commit thread may be blocked by a store that stalls writes until tables are
/// compacted. Ending the process earlier would restart the compaction.
const WRITE_STOP_MAX: Duration = Duration::from_secs(600);

/// The interval of heartbeats, and the threads to check.
#[derive(Debug)]
pub(crate) struct Watchdog {
    /// Without a heartbeat for this long, the manager ends the process.
    interval: Duration,
    pulse: Arc<Pulse>,
}

impl Watchdog {
    /// The watchdog that the environment asks for; None when it asks for none.
    #[must_use]
    pub(crate) fn from_environment() -> Option<Watchdog> {
        watchdog_interval().map(|interval| Watchdog { interval, pulse: Arc::default() })
    }

    /// The heartbeats of the threads that take requests.
    #[must_use]
    pub(crate) fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.pulse)
    }

    /// From now on checks the server twice in each interval, until it stops, and sends a heartbeat when all is well:
    /// the threads that take requests beat, the commit thread makes progress, and every thread of actors answers. A
    /// store that stalls writes for a while is no reason to end the process.
    ///
    /// # Errors
    /// An error of the system, when no thread can be started.
    pub(crate) fn start(
        self,
        notifier: Arc<Notifier>,
        service: Weak<Service>,
        store: Weak<dyn StatisticsSource>,
    ) -> std::io::Result<()> {
        let watch = move || {
            let mut answered = Instant::now();
            thread::sleep(self.interval / 8); // The threads that take requests are being started.
            while let Some(service) = service.upgrade() {
                // A quarter of the interval: after a heartbeat, a rest of half an interval and a failed check, there is
                // time for another check.
                let engine = service.engine().check_answers(self.interval / 4);
                drop(service);
                if engine.is_ok() {
                    answered = Instant::now();
                }
                let is_stopped = || store.upgrade().is_some_and(|store| store.statistics().is_write_stopped);
                let judged = self.judge(excused(engine, answered.elapsed(), is_stopped));
                if notifier.is_stopping() {
                    return; // The threads are ending, as they should.
                }
                thread::sleep(self.report(&notifier, judged));
            }
        };
        thread::Builder::new().name("till-watchdog".to_owned()).spawn(watch).map(drop)
    }

    /// Judges by the result of the engine's check and the heartbeats whether the server answers.
    fn judge(&self, engine: Result<(), Silent>) -> Result<(), String> {
        engine.map_err(|silent| silent.to_string())?;
        match self.pulse.longest_silence() {
            None => Err("no thread takes requests".to_owned()),
            Some(silence) if silence > self.interval / 2 + Duration::from_secs(1) => {
                Err("a thread that takes requests does not answer".to_owned())
            }
            Some(_) => Ok(()),
        }
    }

    /// Sends a heartbeat, or only the reason why not. Returns the rest until the next check.
    fn report(&self, notifier: &Notifier, judged: Result<(), String>) -> Duration {
        match judged {
            Ok(()) => {
                notifier.alive();
                self.interval / 2
            }
            Err(reason) => {
                tracing::error!(reason, "the server does not answer: the service manager gets no heartbeat");
                notifier.status(&format!("not answering: {reason}"));
                self.interval / 16
            }
        }
    }
}

/// While the store stalls writes, a silent commit thread counts as one that answers, for a limited time.
fn excused(
    engine: Result<(), Silent>,
    silent_for: Duration,
    is_write_stopped: impl Fn() -> bool,
) -> Result<(), Silent> {
    match engine {
        Err(Silent::CommitThread) if silent_for < WRITE_STOP_MAX && is_write_stopped() => Ok(()),
        judged => judged,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    /// The message that the manager gets after this judgement.
    fn sent_message(watchdog: &Watchdog, judged: Result<(), String>) -> String {
        let (ours, theirs) = UnixDatagram::pair().unwrap_or_else(|error| panic!("{error}"));
        let rest = watchdog.report(&Notifier::connected(ours), judged);
        assert!(rest < watchdog.interval);
        let mut bytes = [0; 200];
        let length = theirs.recv(&mut bytes).unwrap_or_else(|error| panic!("{error}"));
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[test]
    fn only_a_commit_thread_in_a_write_stall_is_excused_for_a_while() {
        let (soon, late) = (WRITE_STOP_MAX / 2, WRITE_STOP_MAX);
        assert_eq!(excused(Err(Silent::CommitThread), soon, || true), Ok(()));
        assert_eq!(excused(Err(Silent::CommitThread), soon, || false), Err(Silent::CommitThread));
        assert_eq!(excused(Err(Silent::CommitThread), late, || true), Err(Silent::CommitThread));
        assert_eq!(excused(Err(Silent::Arbiter), soon, || true), Err(Silent::Arbiter));
    }

    #[test]
    fn heartbeats_are_sent_only_while_every_part_answers() {
        let watchdog = Watchdog { interval: Duration::from_secs(60), pulse: Arc::default() };
        let nobody = watchdog.judge(Ok(()));
        assert_eq!(sent_message(&watchdog, nobody), "STATUS=not answering: no thread takes requests");
        let system = actix_web::rt::System::new();
        system.block_on(async { watchdog.pulse.beat_here() });
        assert_eq!(sent_message(&watchdog, watchdog.judge(Ok(()))), "WATCHDOG=1\nSTATUS=serving");
        for silent in [Silent::CommitThread, Silent::Arbiter] {
            let message = sent_message(&watchdog, watchdog.judge(Err(silent)));
            assert_eq!(message, format!("STATUS=not answering: {silent}"));
        }
    }
}
