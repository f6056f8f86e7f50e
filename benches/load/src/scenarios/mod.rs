//! The calls of each scenario, and the checks of their answers.

mod amounts;
mod prepare;
mod asking;
mod shop;
mod stock;
mod supply;
mod sessions;
mod acknowledged;
mod payments;
mod sets;
mod world;
mod load_client;
mod customer;
mod ping;
mod initiate;
mod flow;
mod checkout;
mod changes;
mod payouts;
mod shown;
mod metadata;
mod lists;
mod page;
mod settling;
mod deliveries;
mod entries;
mod stocking;
mod dispatch;

pub(crate) use deliveries::{Deliveries, Delivering};
pub(crate) use load_client::LoadClient;
pub(crate) use settling::{Baseline, FollowUp, Settling};
pub(crate) use stock::Stock;
pub(crate) use world::{Ending, RunContext};
