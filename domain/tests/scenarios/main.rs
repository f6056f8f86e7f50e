//! Scenarios of the domain: the given state, the command, its consequences.
//!
//! Every test is a sentence of the contract. After every step the world below them checks the invariants that hold
//! whatever was asked: see `invariants`.

// The harness.
mod invariants;
mod random;
mod words;
mod webhooks;
mod world;

// The sentences.
mod acquirer_accounts;
mod balance;
mod captures;
mod card_page;
mod checkouts;
mod contacts;
mod customers;
mod idempotency;
mod identifiers;
mod installations;
mod instruments;
mod keys;
mod life;
mod metadata;
mod netting;
mod operations;
mod operator;
mod refunds;
mod payouts;
mod customer_actions;
mod preparations;
mod disputes;
mod refusal_order;
mod refusals;
mod roles;
mod saved_cards;
mod sessions;
mod seats;
mod team;
mod sweeping;
mod test_clock;
mod timers;
mod token_uses;
mod unused_tokens;

// Random commands.
mod simulator;
mod statements;
