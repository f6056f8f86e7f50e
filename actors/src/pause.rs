//! A rest for what goes out by itself: calls to acquirers and timers.

use std::future::pending;

use tokio::sync::watch;

/// Begins and ends the rest.
#[derive(Debug)]
pub(crate) struct Pause(watch::Sender<bool>);

/// What those who rest know of it.
#[derive(Debug, Clone)]
pub(crate) struct Rest(watch::Receiver<bool>);

impl Pause {
    /// A rest that goes on from now, or none.
    pub(crate) fn new(is_on: bool) -> Pause {
        Pause(watch::Sender::new(is_on))
    }

    pub(crate) fn rest(&self) -> Rest {
        Rest(self.0.subscribe())
    }

    pub(crate) fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Ends it for good; whether there was one.
    pub(crate) fn end(&self) -> bool {
        self.0.send_replace(false)
    }
}

impl Rest {
    pub(crate) fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Comes back when the rest ends. Without one it never does.
    pub(crate) async fn ended(&mut self) {
        if !self.is_on() || self.0.wait_for(|is_on| !is_on).await.is_err() {
            pending().await
        }
    }
}
