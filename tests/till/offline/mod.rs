//! What operators do with the store of a server that is down: verify, inspect, export, repair.

mod store;
mod verify;
mod inspect;
mod export;
mod repair;
mod tail;
mod giving_up;
