//! The interfaces through which the dispatcher uses the rest of the program.

use std::fmt;
use std::net::IpAddr;

use futures_util::future::LocalBoxFuture;

use crate::api_error::ApiError;
use crate::connection::ShareOf;
use crate::declaration::Declaration;
use crate::version::ApiVersion;

pub use super::bearer::NoToken;

/// A caller whose key was accepted.
pub trait AuthenticatedCaller: Clone + Send + 'static {
    /// The caller's name in the log. It is formatted only when a line is written.
    type LogName: fmt::Display;

    /// The version that the key is pinned to.
    fn pinned_version(&self) -> ApiVersion;

    /// The key's uid, never the key.
    fn log_name(&self) -> Self::LogName;
}

/// Identifies the holder of a bearer token.
pub trait Authenticate<C>: Send + Sync {
    /// The holder of `token`.
    ///
    /// # Errors
    /// [`ApiError::unauthorized`], the same for an unknown and a revoked key; `UNAVAILABLE` when the key cannot be
    /// checked now.
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<C, ApiError>>;

    /// `UNAUTHORIZED` for a call that shows no token. It says why, and which header to send.
    fn no_token(&self, problem: NoToken) -> ApiError;
}

/// A call when it arrives: authenticated, but its body not read yet.
pub struct Arrival<'a, C> {
    /// The endpoint it is for.
    pub declaration: &'static Declaration,
    /// The caller, when the endpoint needs a key.
    pub caller: Option<&'a C>,
    /// The caller's address.
    pub peer: Option<IpAddr>,
}

/// Limits the rates of callers, and assigns each call to a caller's share.
pub trait AdmissionGate<C>: Send + Sync {
    /// Counts a call, before its body is read.
    ///
    /// # Errors
    /// `RATE_LIMITED` for a caller that calls too often.
    fn count(&self, arrival: &Arrival<'_, C>) -> Result<(), ApiError>;

    /// The caller against whose share of the server's work the call counts.
    fn share_of(&self, arrival: &Arrival<'_, C>) -> ShareOf;
}

/// The state of the program for the operator's tools.
pub trait Observe: Send + Sync {
    /// The metrics in Prometheus' text format.
    fn metrics(&self) -> String;

    /// The reason why calls cannot be taken now; None when they can.
    fn not_ready(&self) -> Option<String>;

    /// True when calls are taken, but their effects wait for the operator.
    fn is_paused(&self) -> bool {
        false
    }

    /// The damaged files of the store, for as long as they are neither repaired nor restored.
    fn damaged_tables(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Lets every call in, and counts all of them as the operator's.
pub(super) struct OpenGate;

impl<C> AdmissionGate<C> for OpenGate {
    fn count(&self, _: &Arrival<'_, C>) -> Result<(), ApiError> {
        Ok(())
    }

    fn share_of(&self, _: &Arrival<'_, C>) -> ShareOf {
        ShareOf::Operator
    }
}
