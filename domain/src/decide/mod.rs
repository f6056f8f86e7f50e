//! The rules: the changes that a command makes, or its refusal.

mod envelope;
mod dispatch;
mod context;
mod caller;
mod acquirer;
mod actions;
mod captures;
mod operations;
mod netting;
mod refunds;
mod disputes;
mod payouts;
mod customer;
mod contacts;
mod cards;
mod identifiers;
mod initiate;
mod checkouts;
mod installations;
mod keys;
mod metadata;
mod operator;
mod posting;
mod sdk;
mod statements;
mod team;
mod test_clock;
mod sweeping;
mod timers;
mod token_queue;
mod token_uses;
mod webhook_events;
mod webhooks;

pub use checkouts::can_pay;
pub use context::{Context, Decision};
pub use envelope::{Outcome, decide};
