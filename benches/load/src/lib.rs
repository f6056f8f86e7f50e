//! `till-bench`: the load tester, and the generator of stores to test against. The load tester plays the merchants' servers and their customers against a running server, or
//! one of its own, checks every answer, and reports what it saw with latencies counted from when a call was meant to
//! be made.

#![expect(clippy::float_arithmetic, reason = "rates, shares and places in pictures are no amounts")]

// What is measured, of whom.
pub mod plan;
pub mod target;

// How calls are made.
mod chance;
mod client;
mod schedule;
mod webhooks;
mod scenarios;

// What comes of it.
mod recording;
pub mod run;
pub mod report;

// Stores that are filled before.
pub mod generate;

pub mod commands;
