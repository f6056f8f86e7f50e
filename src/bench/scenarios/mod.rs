//! What is called, and what a right answer is.

mod amounts;
mod prepare;
mod shop;
mod stock;
mod sessions;
mod sets;
mod entries;
mod world;
mod hands;
mod ping;
mod initiate;
mod flow;
mod metadata;
mod lists;
mod page;
mod settling;

pub(in crate::bench) use hands::Hands;
pub(in crate::bench) use settling::{Baseline, FollowUp, Settling};
pub(in crate::bench) use stock::Stock;
pub(in crate::bench) use world::World;
