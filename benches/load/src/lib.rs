//! `till-bench`: the load tester, and the generator of stores to test against. The load tester acts as the merchants'
//! servers and their customers against a running server, or one of its own, checks every answer, and reports latencies
//! that are counted from the time at which a call was meant to be made.

#![expect(clippy::float_arithmetic, reason = "rates, shares and positions in pictures are not amounts")]

// The plan of a measurement, and the server that is measured.
pub mod plan;
pub mod target;

// The calls.
mod chance;
mod client;
mod schedule;
mod webhooks;
mod scenarios;

// The results.
mod recording;
pub mod run;
pub mod report;

// The generator of stores.
pub mod generate;

pub mod commands;
