//! Commands on the store of a stopped server: verify, inspect, export, repair.

mod store;
mod verify;
mod inspect;
mod export;
mod repair;
mod giving_up;
