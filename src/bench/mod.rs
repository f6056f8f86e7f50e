//! `till bench`: the load tester. It plays the merchants' servers and their customers against a running server, or
//! one of its own, checks every answer, and reports what it saw with latencies counted from when a call was meant to
//! be made.

// What is measured, of whom.
pub mod plan;
pub mod target;

// How calls are made.
mod chance;
mod client;
mod schedule;
mod scenarios;

// What comes of it.
mod recording;
pub mod run;
pub mod report;
