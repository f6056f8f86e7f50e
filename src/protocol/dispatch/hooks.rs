//! What the dispatcher asks of the rest of the program.

use std::fmt;
use std::net::IpAddr;

use futures_util::future::LocalBoxFuture;

use super::concurrency::ShareOf;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::Declaration;
use crate::protocol::version::ApiVersion;

pub use super::bearer::NoToken;

/// Somebody whose key was accepted.
pub trait Caller: Clone + Send + 'static {
    /// The caller's name in the log. It is written out only where there is a line.
    type LogName: fmt::Display;

    /// The version that the key is pinned to.
    fn pinned_version(&self) -> ApiVersion;

    /// The key's uid, never the key.
    fn log_name(&self) -> Self::LogName;
}

/// Tells who holds a bearer token.
pub trait Authenticate<C>: Send + Sync {
    /// The holder of `token`.
    ///
    /// # Errors
    /// [`ApiError::unauthorized`], the same for an unknown and a revoked key; `UNAVAILABLE` when it cannot be
    /// told now.
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<C, ApiError>>;

    /// `UNAUTHORIZED` for a call that shows no token, saying why and what to send in which header.
    fn no_token(&self, problem: NoToken) -> ApiError;
}

/// A call at the gate: authenticated, its body not read yet.
pub struct Arrival<'a, C> {
    /// The endpoint it is for.
    pub declaration: &'static Declaration,
    /// Who calls, when the endpoint needs a key.
    pub caller: Option<&'a C>,
    /// The caller's address.
    pub peer: Option<IpAddr>,
}

/// Limits callers, and tells them apart.
pub trait Gate<C>: Send + Sync {
    /// Counts a call, before its body is read.
    ///
    /// # Errors
    /// `RATE_LIMITED` for a caller that asks too often.
    fn count(&self, arrival: &Arrival<'_, C>) -> Result<(), ApiError>;

    /// The caller whose share of the server's work the call counts towards.
    fn share_of(&self, arrival: &Arrival<'_, C>) -> ShareOf;
}

/// Tells the operator's tools how the program is doing.
pub trait Observe: Send + Sync {
    /// The counters in Prometheus' text form.
    fn metrics(&self) -> String;

    /// Why calls cannot be taken now; None when they can.
    fn not_ready(&self) -> Option<String>;

    /// Whether calls are taken and what follows from them waits for the operator.
    fn is_paused(&self) -> bool {
        false
    }
}

/// Lets every call in, as the operator's.
pub(super) struct OpenGate;

impl<C> Gate<C> for OpenGate {
    fn count(&self, _: &Arrival<'_, C>) -> Result<(), ApiError> {
        Ok(())
    }

    fn share_of(&self, _: &Arrival<'_, C>) -> ShareOf {
        ShareOf::Operator
    }
}
