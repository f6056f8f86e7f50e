//! `/merchants/...`: calls of a merchant's program, with an API key.

mod balance_history;
mod by_merchant;
mod cards;
mod contacts;
mod deliveries;
mod events;
mod find_payment;
mod functions;
mod get_balance;
mod initiate_payment_flow;
mod keys;
mod list_activity_logs;
mod list_payments;
mod metadata;
mod named_payment;
mod operations;
mod payouts;
mod disputes;
mod plans;
mod refunds;
mod statement_document;
mod statements;
mod team;
mod topups;
mod webhooks;

pub use functions::{DELIVERED, functions};
#[cfg(test)]
pub(crate) use initiate_payment_flow::INITIATE_PAYMENT_FLOW;
