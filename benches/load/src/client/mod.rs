//! HTTP as a load tester needs it: requests as finished bytes, one connection for one call at a time, and nothing
//! that costs without being measured.

mod answer;
mod connection;
mod request;
mod source;
mod stream;

pub(crate) use answer::{Answer, CallFailure};
pub(crate) use connection::Connection;
pub(crate) use request::{Head, Template};
