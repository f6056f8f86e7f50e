//! The reasons why an attempt has no answer.

use std::io;

use super::address_policy::RefusedAddress;

/// The reason why an attempt has no answer. The messages name no address, so that merchants do not learn from them how
/// the server's network resolves names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// The URL or a header cannot be sent.
    #[error("the request cannot be made of this URL and these headers")]
    Unsendable,
    /// The name has no address, or the look-up failed.
    #[error("the name of the host has no address")]
    NameNotFound,
    /// No address of the host may be called.
    #[error("the host has {0}")]
    Refused(RefusedAddress),
    /// No address accepted a connection.
    #[error("the connection was not made: {0}")]
    NotConnected(io::ErrorKind),
    /// The certificate is not the host's or not trusted, or the handshake broke off.
    #[error("TLS was not possible: {0}")]
    Tls(String),
    /// The endpoint sent bytes that are not an answer of HTTP, or closed the connection.
    #[error("the answer is missing: {0}")]
    NoAnswer(String),
    /// The time limit has passed.
    #[error("the answer did not come in time")]
    TimedOut,
}
