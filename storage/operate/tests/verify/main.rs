//! Stores filled through the rules and then tampered with: every tampering is named, and nothing else.

// The harness.
mod filled;
mod shop;

// The tamperings.
mod rows;
mod log;
mod money_and_vault;
mod book;
mod disk;

// What is no fault.
mod sweeping;
mod restored;
