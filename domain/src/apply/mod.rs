//! The two folds. Neither can refuse: the event is durable already. Live and on replay they are the same.

mod activity;
mod change;
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
mod webhooks;

pub use payment_indexes::index_rows;
pub use rows::apply_rows;
pub use state::apply_state;
