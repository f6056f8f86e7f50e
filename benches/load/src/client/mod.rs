//! HTTP for a load tester: requests as finished bytes, one connection for one call at a time, and no work beside the
//! calls that are measured.

mod answer;
mod connection;
mod request;
mod source;

pub(crate) use answer::{Answer, CallFailure};
pub(crate) use connection::Connection;
pub(crate) use request::{Head, Template};
