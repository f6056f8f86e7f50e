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

/// What is known of the call that is open under a key.
#[derive(Debug, Clone, Copy)]
struct KnownCall {
    /// A key may stand for several calls, one after the other: without a name it is of whatever call is open.
    name: Option<NamedCall>,
    made: MadeCall,
    /// The instant since which it is unknown whether it was carried out.
    unknown_since: Option<Instant>,
}

impl KnownCall {
    fn new(name: Option<NamedCall>, made: MadeCall, before: Option<&KnownCall>) -> KnownCall {
        let before = before
            .filter(|before| before.name.is_none() || before.name == name)
            .and_then(|before| before.unknown_since);
        let unknown_since = match made {
            MadeCall::Unanswered(at) => before.or(Some(at)),
            MadeCall::Pending(_) | MadeCall::AwaitsCustomer => None,
        };
        KnownCall { name, made, unknown_since }
    }
}

/// The calls by the keys under which they are open.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls(Mutex<BTreeMap<(MerchantId, OpenCall), KnownCall>>);

impl MadeCalls {
    /// What is known of the call of this name; none when it was surely never made.
    pub(crate) fn find(&self, key: (MerchantId, OpenCall), name: NamedCall) -> Option<MadeCall> {
        let known = self.0.lock().get(&key).copied()?;
        known.name.is_none_or(|of| of == name).then_some(known.made)
    }

    /// Notes what is known now; none when the call was surely not made.
    pub(crate) fn note(&self, key: (MerchantId, OpenCall), name: NamedCall, made: Option<MadeCall>) {
        let Some(made) = made else { return self.forget(key) };
        let mut calls = self.0.lock();
        let known = KnownCall::new(Some(name), made, calls.get(&key));
        calls.insert(key, known);
    }

    /// Notes a call that an earlier process may have made at any time until now.
    pub(crate) fn note_from_log(&self, key: (MerchantId, OpenCall)) {
        self.0.lock().insert(key, KnownCall::new(None, MadeCall::Unanswered(Instant::now()), None));
    }

    /// Forgets a call that has ended.
    pub(crate) fn forget(&self, key: (MerchantId, OpenCall)) {
        self.0.lock().remove(&key);
    }

    /// True for a call that waits for a customer.
    pub(crate) fn awaits_customer(&self, key: (MerchantId, OpenCall)) -> bool {
        self.0.lock().get(&key).is_some_and(|known| known.made == MadeCall::AwaitsCustomer)
    }

    /// The time since the oldest call was made of which it is unknown whether it was carried out. Those of an earlier
    /// process count from the start.
    pub(crate) fn unknown_age(&self) -> Duration {
        let since = self.0.lock().values().filter_map(|known| known.unknown_since).min();
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
