//! What follows from a durable record: effects to carry out, timers to wait for, rows to sweep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use till_domain::effect::{Effect, EffectId};
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::payment::Payment;
use till_domain::records::AnyKey;
use till_domain::time::Millis;
use tokio::sync::mpsc::UnboundedSender;

use crate::bounds::{InFlight, Permit};
use crate::merchant::Changes;
use crate::swept::{Swept, SweptRows};

/// Effects that wait in memory with all that their call needs. The others are read when it is their turn.
const CARRIED_MAX: usize = 8_192;

/// An effect that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OpenEffect {
    pub(crate) merchant_id: MerchantId,
    pub(crate) effect_id: EffectId,
}

/// The effect and its payment.
pub(crate) type CallRows = (Arc<Effect>, Arc<Payment>);

/// What the call of an effect rests on, as it was when the effect was opened: nothing changes it before the call.
#[derive(Debug)]
pub(crate) struct Carried {
    rows: CallRows,
    /// The room that it takes.
    place: Permit,
}

impl Carried {
    /// Gives the room back.
    pub(crate) fn into_rows(self) -> CallRows {
        drop(self.place);
        self.rows
    }
}

/// A timer that was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SetTimer {
    pub(crate) due: Millis,
    pub(crate) merchant_id: MerchantId,
}

/// Where followups go. The rows are what counts: whatever is lost on this way is found at the next start.
#[derive(Debug)]
pub(crate) struct Followups {
    effects: UnboundedSender<(OpenEffect, Option<Carried>)>,
    timers: UnboundedSender<SetTimer>,
    /// Merchants that have something to be swept.
    garbage: UnboundedSender<MerchantId>,
    carried: Arc<InFlight>,
    key_changes: Arc<AtomicU64>,
    /// Where swept rows are counted.
    swept: Arc<SweptRows>,
}

impl Followups {
    /// To these listeners.
    pub(crate) fn new(
        effects: UnboundedSender<(OpenEffect, Option<Carried>)>,
        timers: UnboundedSender<SetTimer>,
        garbage: UnboundedSender<MerchantId>,
        swept: Arc<SweptRows>,
    ) -> Followups {
        let (carried, key_changes) = (InFlight::new(CARRIED_MAX), Arc::default());
        Followups { effects, timers, garbage, carried, key_changes, swept }
    }

    /// How often API keys have changed. Counted after the change can be read and before it is answered.
    pub(crate) fn key_changes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.key_changes)
    }

    /// An effect is to be carried out. That nobody listens means that the service is stopping, as for all these.
    pub(crate) fn open(&self, effect: OpenEffect, carried: Option<Carried>) {
        let _stopping = self.effects.send((effect, carried));
    }

    /// A timer is to be waited for.
    pub(crate) fn set(&self, timer: SetTimer) {
        let _stopping = self.timers.send(timer);
    }

    /// The merchant has something to be swept.
    pub(crate) fn leave(&self, merchant_id: MerchantId) {
        let _stopping = self.garbage.send(merchant_id);
    }
}

/// The followups of one record, or of those that a load derives rows from, to be sent once they are durable.
#[derive(Debug, Default)]
pub(crate) struct Following {
    effects: Vec<(OpenEffect, Option<CallRows>)>,
    timers: Vec<SetTimer>,
    garbage: Option<MerchantId>,
    changes_keys: bool,
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
            if let AnyKey::Effects(effect_id) = key {
                let effect = OpenEffect { merchant_id, effect_id: *effect_id };
                self.effects.push((effect, changes.opened(*effect_id)));
            } else if let AnyKey::Timers(timer) = key {
                self.timers.push(SetTimer { due: timer.due, merchant_id });
            } else if let AnyKey::MetadataGarbage(_) = key {
                self.garbage = Some(merchant_id);
            } else if let AnyKey::ApiKeys(_) = key {
                self.changes_keys = true;
            }
        }
    }

    /// Sends them on their way.
    pub(crate) fn send(self, followups: &Followups) {
        if self.changes_keys {
            followups.key_changes.fetch_add(1, Ordering::AcqRel);
        }
        followups.swept.add(self.swept);
        for (open, rows) in self.effects {
            let carried = rows.and_then(|rows| followups.carried.enter().map(|place| Carried { rows, place }));
            followups.open(open, carried);
        }
        self.timers.into_iter().for_each(|timer| followups.set(timer));
        self.garbage.into_iter().for_each(|merchant_id| followups.leave(merchant_id));
    }
}
