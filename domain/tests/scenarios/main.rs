//! Scenarios of the domain: what is given, what is asked, what comes of it.
//!
//! Every test is a sentence of the contract. The world beneath them checks after every step what must hold
//! whatever was asked: see `invariants`.

// The harness.
mod invariants;
mod random;
mod words;
mod webhooks;
mod world;

// The sentences.
mod balance;
mod captures;
mod contacts;
mod customers;
mod idempotency;
mod identifiers;
mod installations;
mod instruments;
mod keys;
mod life;
mod metadata;
mod operations;
mod operator;
mod refunds;
mod payouts;
mod disputes;
mod refusal_order;
mod refusals;
mod saved_cards;
mod sessions;
mod team;
mod sweeping;
mod test_clock;
mod timers;
mod unused_tokens;

// Random commands.
mod simulator;
mod statements;
