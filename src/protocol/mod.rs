//! The Web Function protocol: bytes become a checked call, and an answer becomes bytes.
//!
//! Read it from the bottom up: `json`, faults of a body (`fault`, `fields`), single arguments (`field`), answers to
//! refused calls (`api_error`), declarations of endpoints (`declaration`), and the dispatcher, which checks a request
//! (`dispatch`), or each step of several in one (`pipelining`), and its socket (`transport`). Pages for people are in
//! `pages`.

pub mod api_error;
pub(crate) mod arguments;
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
pub(crate) mod request_thread;
mod synonyms;
pub mod transport;
pub mod version;
