//! The connector against a fake of Stripe, a process of its own.

mod fake;
#[path = "../../../tests/promises/mod.rs"]
mod promises;
mod shop;

mod conformance;
mod declines;
mod faults;
mod keys;
mod notices;
mod rows;
