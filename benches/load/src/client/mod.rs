//! HTTP for a load tester: requests as finished bytes, one connection for one call at a time, and no work beside the
//! calls that are measured.

mod answer;
mod connection;
mod request;
mod source;
mod stream;

pub(crate) use answer::{CallFailure, HttpAnswer};
pub(crate) use connection::Connection;
pub(crate) use request::{RequestHead, Template, form_request, page_request};
