//! A pause of calls to acquirers and timers, until the operator ends it.

use std::future::pending;

use tokio::sync::watch;

/// Begins and ends the pause.
#[derive(Debug)]
pub(crate) struct Pause(watch::Sender<bool>);

/// A watch on the pause, for the paused work.
#[derive(Debug, Clone)]
pub(crate) struct PauseWatch(watch::Receiver<bool>);

impl Pause {
    /// A pause from now on, or none.
    pub(crate) fn new(is_on: bool) -> Pause {
        Pause(watch::Sender::new(is_on))
    }

    pub(crate) fn watch(&self) -> PauseWatch {
        PauseWatch(self.0.subscribe())
    }

    pub(crate) fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Ends it for good; returns true when it was on.
    pub(crate) fn end(&self) -> bool {
        self.0.send_replace(false)
    }
}

impl PauseWatch {
    pub(crate) fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the pause ends. When there is none, it never returns.
    pub(crate) async fn wait_until_ended(&mut self) {
        if !self.is_on() || self.0.wait_for(|is_on| !is_on).await.is_err() {
            pending().await
        }
    }
}
