//! Threads that repeat a task with a pause in between.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// A running thread that repeats its task. Dropping it ends it, as [`Turns::stop`] does.
#[derive(Debug)]
pub struct Turns {
    stop: Arc<StopSignal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The signal that ends a thread.
#[derive(Debug, Default)]
pub struct StopSignal {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Turns {
    /// Starts a thread of this name that does `work`. The function pauses by [`StopSignal::wait`] and must return once
    /// that tells it to.
    ///
    /// # Errors
    /// The error of the system, when it cannot start a thread.
    pub fn start(name: &str, work: impl FnOnce(&StopSignal) + Send + 'static) -> io::Result<Turns> {
        let stop = Arc::new(StopSignal::default());
        let told = Arc::clone(&stop);
        let thread = Builder::new().name(name.to_owned()).spawn(move || work(&told))?;
        Ok(Turns { stop, thread: Mutex::new(Some(thread)) })
    }

    /// Ends a pause at once, and waits for the end of the present run of the task.
    pub fn stop(&self) {
        *self.stop.asked.lock() = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.lock().take() {
            drop(thread.join()); // If it panicked, there is nothing to wait for.
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.stop();
    }
}

impl StopSignal {
    /// Pauses until the next run. Returns true when the thread is to end, also before the pause is over.
    #[must_use]
    pub fn wait(&self, pause: Duration) -> bool {
        let mut asked = self.asked.lock();
        self.changed.wait_while_for(&mut asked, |asked| !*asked, pause);
        *asked
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Instant;

    use super::*;

    const FOR_EVER: Duration = Duration::from_secs(3_600);

    #[test]
    fn turns_follow_one_another_and_a_stop_waits_for_the_last() {
        let (sender, receiver) = channel();
        let turns = Turns::start("test", move |stop| {
            while !stop.wait(Duration::from_millis(1)) {
                sender.send("turn").expect("the test receives");
            }
            sender.send("end").expect("the test receives");
        });
        let turns = turns.expect("a thread can be started");
        assert_eq!([receiver.recv(), receiver.recv()], [Ok("turn"); 2]);
        turns.stop();
        assert_eq!(receiver.try_iter().last(), Some("end"), "before the stop came back");
    }

    #[test]
    fn a_stop_does_not_wait_for_the_pause() {
        let began = Instant::now();
        drop(Turns::start("test", |stop| assert!(stop.wait(FOR_EVER))).expect("a thread can be started"));
        assert!(began.elapsed() < FOR_EVER / 2);
    }
}
