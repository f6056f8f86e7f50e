//! initiate-payment-flow: every argument, rule and refusal, and the result of a payment.

mod attempt;
mod fields;
mod refusals;
mod order;
mod customers;
mod idempotency;
mod outcomes;
mod settlement;
mod saved_cards;
