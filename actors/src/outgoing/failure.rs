//! The reasons why a request has no answer.

use std::io;

/// Heads before that of the answer (1xx) that are read, at most. Servers send one, if any.
pub(super) const INTERIM_HEADS_MAX: usize = 8;

/// The reason why a request has no answer. The messages name no address, so that those who choose the host do not learn
/// from them how the server's network resolves names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestFailure {
    /// The URL or a header cannot be sent.
    #[error("the request cannot be made of this URL and these headers")]
    Unsendable,
    /// The name has no address, or the look-up failed.
    #[error("the name of the host has no address")]
    NameNotFound,
    /// No address accepted a connection.
    #[error("the connection was not made: {0}")]
    NotConnected(io::ErrorKind),
    /// The certificate is not the host's or not trusted, or the handshake broke off.
    #[error("TLS was not possible: {0}")]
    Tls(String),
    /// The host closed the connection before a byte of the request was written.
    #[error("the connection was closed before the request was written")]
    NotWritten,
    /// The host sent bytes that are not an answer of HTTP, or closed the connection.
    #[error("the answer is missing: {0}")]
    NoAnswer(String),
    /// The host sent more heads before that of its answer than are read.
    #[error("there were more than {INTERIM_HEADS_MAX} interim answers (1xx) before the answer")]
    TooManyInterimHeads,
    /// The body of the answer is longer than is read.
    #[error("the body of the answer is too long")]
    BodyTooLong,
    /// The time limit has passed.
    #[error("the answer did not come in time")]
    TimedOut,
}

impl RequestFailure {
    /// True when no byte of the request was written, so that it has surely not been carried out; false when it may have
    /// been.
    #[must_use]
    pub const fn is_unsent(&self) -> bool {
        match self {
            RequestFailure::Unsendable
            | RequestFailure::NameNotFound
            | RequestFailure::NotConnected(_)
            | RequestFailure::Tls(_)
            | RequestFailure::NotWritten => true,
            RequestFailure::NoAnswer(_)
            | RequestFailure::TooManyInterimHeads
            | RequestFailure::BodyTooLong
            | RequestFailure::TimedOut => false,
        }
    }
}
