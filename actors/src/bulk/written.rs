//! How far what one merchant submitted is durable.

use parking_lot::{Condvar, Mutex};
use till_storage::journal::{Sequence, Verdict};

use crate::reply::Denied;

/// Batches of one merchant that wait to be durable: a few groups, so that the commit thread never waits.
const WAITING_MAX: u64 = 4_096;

#[derive(Debug)]
struct State {
    durable: Sequence,
    /// Why a batch was not written: then nothing behind it is, either.
    failed: Option<Denied>,
}

/// The commit thread's word to whoever fills a merchant.
#[derive(Debug)]
pub(super) struct Written {
    state: Mutex<State>,
    changed: Condvar,
}

impl Written {
    pub(super) fn up_to(durable: Sequence) -> Written {
        Written { state: Mutex::new(State { durable, failed: None }), changed: Condvar::new() }
    }

    /// Called on the commit thread with what became of a batch.
    pub(super) fn note(&self, sequence: Sequence, verdict: &Verdict) {
        let mut state = self.state.lock();
        match denied(verdict) {
            None => state.durable = sequence,
            Some(denied) => state.fail(denied),
        }
        self.changed.notify_all();
    }

    /// Waits until another batch may be submitted behind `head`, and says up to where all are durable.
    pub(super) fn make_room(&self, head: Sequence) -> Result<Sequence, Denied> {
        self.wait_for(Sequence(head.0.saturating_sub(WAITING_MAX)))
    }

    /// Waits until everything up to `sequence` is durable, and says up to where it is.
    pub(super) fn wait_for(&self, sequence: Sequence) -> Result<Sequence, Denied> {
        let waits = |state: &mut State| state.failed.is_none() && state.durable < sequence;
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, waits);
        state.failed.clone().map_or(Ok(state.durable), Err)
    }
}

/// Why a batch was not written, unless it was.
pub(super) fn denied(verdict: &Verdict) -> Option<Denied> {
    match verdict {
        Verdict::Committed(_) => None,
        Verdict::Fenced | Verdict::Stale { durable: _ } => Some(Denied::not_done("a write before it failed")),
        Verdict::Unavailable(reason) => Some(Denied::not_done(reason.clone())),
        Verdict::Ambiguous(reason) => Some(Denied::unknown(reason.clone())),
    }
}

impl State {
    /// The first failure is the one that counts.
    fn fail(&mut self, denied: Denied) {
        self.failed.get_or_insert(denied);
    }
}
