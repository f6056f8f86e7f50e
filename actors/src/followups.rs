//! What follows from a durable record: effects to carry out, timers to wait for, rows to sweep.

use std::sync::Arc;
use till_domain::event::Mutation;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::records::AnyKey;
use till_domain::time::Millis;
use tokio::sync::mpsc::UnboundedSender;

use crate::merchant::Changes;
use crate::swept::{Swept, SweptRows};

/// An effect that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OpenEffect {
    pub(crate) merchant_id: MerchantId,
    pub(crate) payment_id: PaymentId,
}

/// A timer that was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SetTimer {
    pub(crate) due: Millis,
    pub(crate) merchant_id: MerchantId,
}

/// Where followups go. The rows are what counts: whatever is lost on this way is found at the next start.
#[derive(Debug, Clone)]
pub(crate) struct Followups {
    pub(crate) effects: UnboundedSender<OpenEffect>,
    pub(crate) timers: UnboundedSender<SetTimer>,
    /// Merchants that have something to be swept.
    pub(crate) garbage: UnboundedSender<MerchantId>,
    /// Where swept rows are counted.
    pub(crate) swept: Arc<SweptRows>,
}

/// The followups of one record, or of those that a load derives rows from, to be sent once they are durable.
#[derive(Debug, Default)]
pub(crate) struct Following {
    effects: Vec<OpenEffect>,
    timers: Vec<SetTimer>,
    garbage: Option<MerchantId>,
    swept: Swept,
}

impl Following {
    /// What follows from a record and the rows that it writes.
    pub(crate) fn of(merchant_id: MerchantId, mutation: &Mutation, changes: &Changes) -> Following {
        let mut following = Following { swept: Swept::of(mutation), ..Following::default() };
        following.add(merchant_id, changes);
        following
    }

    /// What follows from a further record.
    pub(crate) fn add(&mut self, merchant_id: MerchantId, changes: &Changes) {
        for key in changes.written() {
            if let AnyKey::Effects(payment_id) = key {
                self.effects.push(OpenEffect { merchant_id, payment_id: *payment_id });
            } else if let AnyKey::Timers(timer) = key {
                self.timers.push(SetTimer { due: timer.due, merchant_id });
            } else if let AnyKey::MetadataGarbage(_) = key {
                self.garbage = Some(merchant_id);
            }
        }
    }

    /// Sends them on their way. That nobody listens means that the service is stopping.
    pub(crate) fn send(self, followups: &Arc<Followups>) {
        for effect in self.effects {
            let _stopping = followups.effects.send(effect);
        }
        for timer in self.timers {
            let _stopping = followups.timers.send(timer);
        }
        followups.swept.add(self.swept);
        if let Some(merchant_id) = self.garbage {
            let _stopping = followups.garbage.send(merchant_id);
        }
    }
}
