//! Tests of the engine with a store in memory that can be made to fail. They check order, limits, failures and
//! restarts.

// The harness.
mod acquirer;
mod clock;
mod connector;
#[path = "../promises/mod.rs"]
mod promises;
mod receiver;
mod shop;
mod world;

// The tests.
mod account_lanes;
mod acquirer_accounts;
mod answers;
mod bounds;
mod calls;
mod card_page;
mod conformance;
mod repetitions;
mod preparations;
mod effects;
mod expiry;
mod failures;
mod delayed_writes;
mod loading;
mod metadata;
mod order;
mod overdrawn;
mod redelivery;
mod restart;
mod retirement;
mod sameness;
mod timers;
mod waiting;
mod webhooks;
