//! The scheduler: serves the subjects of a queue as they become due, several at a time, and repeats failed attempts.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::time::Millis;

use super::pause::PauseWatch;
use super::queue::{Retry, WorkQueue};
use crate::clock::Clock;

/// The reason why a subject could not be served, for the log.
pub(crate) type WorkError = Box<dyn std::error::Error + Send + Sync>;

/// The instant at which a subject has something due next, after it was served.
pub(crate) type Served = Result<Option<Millis>, WorkError>;

/// One kind of background work.
pub(crate) trait BackgroundWork: Send + Sync + 'static {
    /// The key of one piece of work, such as a merchant.
    type Subject: Copy + Ord + Send + Sync + 'static;
    /// The data that may have been prepared for the first attempt.
    type Prepared: Send + 'static;

    /// Subjects that are served at the same time.
    const SERVED_MAX: usize;
    /// The pauses before a subject that could not be served is tried again.
    const RETRY: Retry;

    /// Does the work of a subject that is due. None of it is due before `earliest`.
    fn serve(
        &self,
        subject: Self::Subject,
        earliest: Millis,
        prepared: Option<Self::Prepared>,
    ) -> impl Future<Output = Served> + Send;

    /// The pauses after this error.
    fn retry(_error: &WorkError) -> Retry {
        Self::RETRY
    }

    /// True for an error of which the log tells.
    fn is_told(_error: &WorkError) -> bool {
        true
    }

    /// Logs that a subject could not be served and is tried again.
    fn warn(subject: Self::Subject, reason: &str);
}

/// Does one kind of work as it becomes due.
pub(crate) struct Scheduler<W: BackgroundWork> {
    work: Arc<W>,
    queue: Arc<WorkQueue<W::Subject, W::Prepared>>,
    clock: Arc<dyn Clock>,
}

impl<W: BackgroundWork> Scheduler<W> {
    pub(crate) fn new(
        work: W,
        queue: &Arc<WorkQueue<W::Subject, W::Prepared>>,
        clock: &Arc<dyn Clock>,
    ) -> Scheduler<W> {
        Scheduler { work: Arc::new(work), queue: Arc::clone(queue), clock: Arc::clone(clock) }
    }

    /// Serves until the runtime stops. Nothing is served during a pause.
    pub(crate) async fn run(self, mut pause: PauseWatch) {
        loop {
            let sleep = if pause.is_on() { None } else { self.start_due() };
            tokio::select! {
                () = self.queue.changed.notified() => {}
                () = sleep_for(sleep) => {}
                () = pause.wait_until_ended() => {}
            }
        }
    }

    /// Starts to serve subjects that are due, up to the limit, and returns the time to sleep until there is more to do.
    fn start_due(&self) -> Option<Duration> {
        loop {
            let (clock, now) = (self.clock.now(), Instant::now());
            let Some((subject, earliest, prepared)) = self.queue.take_due(clock, now, W::SERVED_MAX) else {
                return self.queue.until_due(clock, now, W::SERVED_MAX);
            };
            let (work, attempt) =
                (Arc::clone(&self.work), ServeAttempt::<W> { queue: Arc::clone(&self.queue), subject });
            tokio::spawn(async move { attempt.end(work.serve(subject, earliest, prepared).await) });
        }
    }
}

/// A subject that is being served.
struct ServeAttempt<W: BackgroundWork> {
    queue: Arc<WorkQueue<W::Subject, W::Prepared>>,
    subject: W::Subject,
}

impl<W: BackgroundWork> ServeAttempt<W> {
    fn end(&self, served: Served) {
        match served {
            Ok(next) => self.queue.finish(self.subject, next, Instant::now()),
            Err(reason) => {
                if W::is_told(&reason) {
                    W::warn(self.subject, &reason.to_string());
                }
                self.queue.fail(self.subject, W::retry(&reason), Instant::now());
            }
        }
    }
}

impl<W: BackgroundWork> Drop for ServeAttempt<W> {
    /// A panic ends the attempt, and its subject is tried again.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.end(Err("it panicked".into()));
        }
    }
}

async fn sleep_for(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pause::Pause;
    use super::super::queue::AT_ONCE;
    use super::*;
    use crate::clock::SystemClock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Panics, fails and succeeds in turns.
    #[derive(Default)]
    struct FlakyWork(AtomicUsize);

    impl BackgroundWork for Arc<FlakyWork> {
        type Subject = char;
        type Prepared = ();

        const SERVED_MAX: usize = 1;
        const RETRY: Retry = Retry { pause_first: Duration::from_millis(1), pause_max: Duration::from_millis(1) };

        async fn serve(&self, _: char, _: Millis, _: Option<()>) -> Served {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => panic!("on purpose"),
                1 => Err("on purpose".into()),
                _ => Ok(None),
            }
        }

        fn warn(_: char, _: &str) {}
    }

    #[tokio::test]
    async fn work_that_panics_or_fails_is_repeated_until_it_succeeds() {
        let (queue, work, pause) = (Arc::new(WorkQueue::default()), Arc::new(FlakyWork::default()), Pause::new(true));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        tokio::spawn(Scheduler::new(Arc::clone(&work), &queue, &clock).run(pause.watch()));
        queue.add('a', AT_ONCE, None);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(work.0.load(Ordering::SeqCst), 0, "nothing is served during a pause");
        pause.end();
        let served = async {
            while queue.served() > 0 || queue.earliest_due().is_some() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), served).await.expect("it is served in the end");
        assert_eq!((work.0.load(Ordering::SeqCst), queue.served()), (3, 0));
    }
}
