//! The two folds that apply events: one to a merchant's bounded state, the other to its rows and indexes. A fold cannot
//! refuse an event, because the event is already durable. The same folds run in normal operation and in a replay.

mod acquirer_accounts;
mod actions;
mod activity;
mod change;
mod checkout_customers;
mod checkouts;
mod customers;
mod disputes;
mod ledger;
mod metadata;
mod operations;
mod payment_indexes;
mod payouts;
mod refunds;
mod rows;
mod state;
mod statements;
mod token_uses;
mod webhooks;

pub use payment_indexes::index_rows;
pub use rows::apply_rows;
pub use state::apply_state;
