//! initiate-payment-flow: every argument, every rule and every refusal of it, and what comes of a payment.

mod attempt;
mod fields;
mod refusals;
mod order;
mod customers;
mod idempotency;
mod outcomes;
mod settlement;
mod saved_cards;
