//! The reasons why an attempt has no answer.

use super::address_policy::RefusedAddress;
use crate::outgoing::RequestFailure;

/// The reason why an attempt has no answer. The messages name no address, so that merchants do not learn from them how
/// the server's network resolves names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// No address of the host may be called.
    #[error("the host has {0}")]
    Refused(RefusedAddress),
    /// The port is none of those that may be called.
    #[error("the port is neither 443 nor above 1023")]
    RefusedPort,
    /// The request failed.
    #[error(transparent)]
    Request(#[from] RequestFailure),
}
