//! Calls that may never return.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The reason for which there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoResult {
    /// The call had not ended. Its thread continues, since there is no way to stop it.
    TimedOut,
    /// The call panicked, or the system could not start a thread.
    Died,
}

/// Runs `call` on a thread of its own and waits for it up to `limit`. A thread that RocksDB starts meanwhile without a
/// name keeps the name of that thread.
///
/// # Errors
/// [`NoResult`] when it has not ended by then, or never will.
pub fn run_within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoResult> {
    let (sender, receiver) = channel();
    // After the time limit the result is dropped with the channel.
    let run = move || drop(sender.send(call()));
    std::thread::Builder::new().name("rocksdb:open".to_owned()).spawn(run).map_err(|_| NoResult::Died)?;
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => NoResult::TimedOut,
        RecvTimeoutError::Disconnected => NoResult::Died,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_come_back_is_given_up() {
        let hang = || loop {
            std::thread::park();
        };
        assert_eq!(run_within::<()>(Duration::from_millis(10), hang), Err(NoResult::TimedOut));
        assert_eq!(run_within(Duration::from_secs(60), || 7), Ok(7));
        assert_eq!(run_within::<()>(Duration::from_secs(60), || panic!("as planned")), Err(NoResult::Died));
    }
}
