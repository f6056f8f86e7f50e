//! HTTP as a load tester needs it: requests as finished bytes, one connection for one call at a time, and nothing
//! that costs without being measured.

mod answer;
mod connection;
mod request;

pub(in crate::bench) use answer::{Answer, CallFailure};
pub(in crate::bench) use connection::Connection;
pub(in crate::bench) use request::{Head, Template};
