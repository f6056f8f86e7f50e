//! Stores that are filled through the rules and then changed by hand: every change is reported, and nothing else.

// The harness.
mod filled;
mod shop;

// The changes.
mod rows;
mod log;
mod money_and_vault;
mod book;
mod disk;

// Stores without a fault.
mod sweeping;
mod restored;
