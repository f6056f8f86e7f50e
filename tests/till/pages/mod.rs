//! The customer's part of a payment, and pages for customers' browsers, without a browser: contract, sections 9.4, 9.5
//! and 15.

mod actions;
pub(crate) mod browser;
mod checkout;
mod ends;
mod headers;
mod hostile_texts;
mod methods;
mod protocol;
mod returning;
mod sandbox;
pub(crate) mod told;
mod webhooks;
