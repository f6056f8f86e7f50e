//! The open calls to acquirers that were made, or may have been: each is looked up before it is made again.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;

use crate::acquirer::NamedCall;

/// What is known of a call that was made, or may have been, and has no recorded end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeCall {
    /// There was no answer, or none is recorded. The request was sent by this instant.
    Unanswered(Instant),
    /// It was pending at the acquirer, which is asked again after this time.
    Pending(Duration),
    /// It waits for a customer, or for the result of a customer's action.
    AwaitsCustomer,
}

/// What is known of the call that is open under a key. A key may stand for several calls, one after the other: without
/// a name it is of whatever call is open.
type KnownCall = (Option<NamedCall>, MadeCall);

/// The calls by the keys under which they are open.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls(Mutex<BTreeMap<(MerchantId, OpenCall), KnownCall>>);

impl MadeCalls {
    /// What is known of the call of this name; none when it was surely never made.
    pub(crate) fn find(&self, key: (MerchantId, OpenCall), name: NamedCall) -> Option<MadeCall> {
        let (of, made) = self.0.lock().get(&key).copied()?;
        of.is_none_or(|of| of == name).then_some(made)
    }

    /// Notes what is known now; none when the call was surely not made.
    pub(crate) fn note(&self, key: (MerchantId, OpenCall), name: NamedCall, made: Option<MadeCall>) {
        match made {
            Some(made) => _ = self.0.lock().insert(key, (Some(name), made)),
            None => self.forget(key),
        }
    }

    /// Notes a call that an earlier process may have made at any time until now.
    pub(crate) fn note_from_log(&self, key: (MerchantId, OpenCall)) {
        self.0.lock().insert(key, (None, MadeCall::Unanswered(Instant::now())));
    }

    /// Forgets a call that has ended.
    pub(crate) fn forget(&self, key: (MerchantId, OpenCall)) {
        self.0.lock().remove(&key);
    }

    /// True for a call that waits for a customer.
    pub(crate) fn awaits_customer(&self, key: (MerchantId, OpenCall)) -> bool {
        matches!(self.0.lock().get(&key), Some((_, MadeCall::AwaitsCustomer)))
    }
}
