//! Calls to other parties over HTTP: names are looked up, a stream is connected, TLS begins, and requests are sent.

mod failure;
mod lookups;
mod stream;
mod http_connection;
mod client;
#[cfg(test)]
pub(crate) mod test_server;

pub use client::{HttpAnswer, HttpCall, HttpClient, RefusedBaseUrl, check_base_url};
pub use failure::RequestFailure;
pub(crate) use http_connection::HttpConnection;
pub(crate) use lookups::Lookups;
pub(crate) use stream::{ADDRESSES_TRIED_MAX, Scheme, addresses_of, connect, system_roots, tls_trusting};
