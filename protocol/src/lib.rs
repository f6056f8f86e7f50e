//! The Web Function protocol: bytes become a checked call, and an answer becomes bytes.
//!
//! Read it from the bottom up: `json`, faults of a body (`fault`, `fields`), single arguments (`field`), answers to
//! refused calls (`api_error`), declarations of endpoints (`declaration`), and the dispatcher, which checks a request
//! (`dispatch`), or each step of several in one (`pipelining`), and its socket (`transport`). Pages for people are in
//! `pages`.
//!
//! It knows no endpoint and no payment: endpoints are declared and carried out by the crate that uses it, callers are
//! whatever that authenticates, and what happens is counted by a trait.

pub mod api_error;
pub mod arguments;
pub mod connection;
pub mod count;
pub mod declaration;
pub mod dispatch;
pub mod fault;
pub mod field;
pub mod fields;
pub mod json;
mod memory_budget;
mod pages;
mod pipelining;
pub mod quality;
pub mod request_thread;
mod synonyms;
pub mod transport;
pub mod version;
