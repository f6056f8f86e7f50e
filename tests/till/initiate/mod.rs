//! initiate-payment-flow: every argument and kind of refusal, and the result of a payment.

mod attempt;
mod fields;
mod refusals;
mod customers;
mod outcomes;
mod settlement;
mod saved_cards;
