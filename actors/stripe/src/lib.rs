//! The connector to Stripe. It keeps no state and has no clock: what it asks for depends on what is recorded, and what
//! it answers on what Stripe answers. It makes each call once, except under a key whose stored answer is a failure.

mod account;
mod authorizations;
mod cancellations;
mod follow_ups;
mod outcomes;
mod failures;
mod objects;
mod api;
mod notices;

pub use account::{NAME, StripeConnector};
