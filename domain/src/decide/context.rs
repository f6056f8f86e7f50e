//! The input and the output of every rule.

use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{Entropy, Id, IdPosition, RawId};
use crate::merchant::{Profile, TestClock};
use crate::payment::Lifetimes;
use crate::records::{MerchantState, Records, Table};
use crate::refusal::{DecisionError, Refusal};
use crate::statement::{Calendar, MonthBounds, UtcCalendar};
use crate::text::{ExternalId, TimeZone};
use crate::time::Millis;

/// The time and the fresh ids of one decision.
pub struct Context<'a> {
    /// The merchant's time: the later of its clock and its last event.
    pub now: Millis,
    /// The difference by which the merchant's time is ahead of the wall clock.
    offset_ms: u64,
    pub(super) lifetimes: Lifetimes,
    last_id: IdPosition,
    entropy: &'a mut dyn Entropy,
    calendar: &'a dyn Calendar,
}

impl<'a> Context<'a> {
    /// The context of the next decision on `state`, when the wall clock shows `wall`.
    pub fn new(wall: Millis, state: &MerchantState, entropy: &'a mut dyn Entropy) -> Context<'a> {
        let offset_ms = state.clock_offset_ms();
        let clock = Millis(wall.0.saturating_add(offset_ms));
        let lifetimes = Lifetimes::default();
        let now = clock.max(state.last_at);
        Context { now, offset_ms, lifetimes, last_id: state.last_id, entropy, calendar: &UtcCalendar }
    }

    /// The wall clock, by which webhooks are sent and signed. Like the merchant's time it never goes back.
    #[must_use]
    pub(super) const fn wall(&self) -> Millis {
        Millis(self.now.0.saturating_sub(self.offset_ms))
    }

    /// Advances the merchant's time to a later instant, and returns the test clock that shows it from then on.
    pub(super) fn advance_to(&mut self, to: Millis) -> TestClock {
        let ahead_ms = to.0.saturating_sub(self.now.0);
        self.offset_ms = self.offset_ms.saturating_add(ahead_ms);
        self.now = self.now.max(to);
        TestClock { offset_ms: self.offset_ms }
    }

    /// This context with other lifetimes of payments that wait.
    #[must_use]
    pub const fn with_lifetimes(mut self, lifetimes: Lifetimes) -> Context<'a> {
        self.lifetimes = lifetimes;
        self
    }

    /// This context with the months of time zones.
    #[must_use]
    pub const fn with_calendar(mut self, calendar: &'a dyn Calendar) -> Context<'a> {
        self.calendar = calendar;
        self
    }

    /// The month of a time zone that contains an instant.
    pub(super) fn month_at(&self, zone: &TimeZone, at: Millis) -> MonthBounds {
        self.calendar.month_at(zone, at)
    }

    /// A fresh id, greater than every earlier one of the merchant.
    pub fn mint<I: Id>(&mut self) -> I {
        self.last_id = self.last_id.next(self.now.0);
        I::from_raw(RawId::new(self.last_id, self.entropy.next_u64()))
    }

    /// The position of the merchant's last id, including those made by this decision.
    pub(super) const fn last_id(&self) -> IdPosition {
        self.last_id
    }
}

/// The changes that a command makes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The writes to the vault that belong to them.
    pub vault: Vec<VaultWrite>,
}

impl Decision {
    /// A decision that records nothing.
    #[must_use]
    pub fn nothing() -> Decision {
        Decision::default()
    }

    /// A decision with one event.
    #[must_use]
    pub fn one(event: Event) -> Decision {
        Decision { events: vec![event], vault: Vec::new() }
    }

    /// This decision with a write to the vault.
    #[must_use]
    pub fn with_vault(mut self, write: VaultWrite) -> Decision {
        self.vault.push(write);
        self
    }
}

/// A decision that records nothing, with the answer that nothing changed.
pub(super) fn nothing() -> (Decision, Answer) {
    (Decision::nothing(), Answer::Changed(false))
}

/// The profile of the merchant, whose existence [`super::decide`] has checked for every command except its creation.
pub(super) fn profile(state: &MerchantState) -> Result<&Profile, Refusal> {
    state.profile.as_ref().ok_or(Refusal::MerchantNotFound)
}

/// Refuses an external id that another object of its kind has.
pub(super) fn check_unused<T: Table<Key = ExternalId>>(
    records: &impl Records,
    external_id: Option<&ExternalId>,
    taken_by: impl FnOnce(T::Row) -> Refusal,
) -> Result<(), DecisionError> {
    let holder = external_id.map_or(Ok(None), |external_id| records.get::<T>(external_id.clone()))?;
    holder.map_or(Ok(()), |holder| Err(taken_by(holder).into()))
}
