//! The operator, who holds the admin token.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::dispatch::{Authenticate, Caller};
use crate::protocol::version::ApiVersion;

/// Somebody who showed the admin token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator;

impl Caller for Operator {
    fn pinned_version(&self) -> ApiVersion {
        ApiVersion::NEWEST
    }

    fn log_name(&self) -> String {
        "operator".to_owned()
    }
}

/// The one token that the admin listener takes.
pub struct AdminToken(SecretString);

impl AdminToken {
    /// Takes this token and no other.
    #[must_use]
    pub fn new(token: SecretString) -> AdminToken {
        AdminToken(token)
    }

    /// Compares digests, in constant time, so that neither length nor content of the token shows in how long
    /// it takes.
    fn is(&self, token: &str) -> bool {
        let (shown, expected) = (blake3::hash(token.as_bytes()), blake3::hash(self.0.expose_secret().as_bytes()));
        shown.as_bytes().ct_eq(expected.as_bytes()).into()
    }
}

impl Authenticate<Operator> for AdminToken {
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<Operator, ApiError>> {
        let refusal = || ApiError::new(Code::Unauthorized, "The admin token is not valid.");
        async move { if self.is(token) { Ok(Operator) } else { Err(refusal()) } }.boxed_local()
    }

    fn no_token(&self) -> ApiError {
        ApiError::new(Code::Unauthorized, "Send the admin token in the header Authorization: Bearer <ADMIN_TOKEN>.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_taken() {
        let token = AdminToken::new(SecretString::from("till-admin"));
        assert!(token.is("till-admin"));
        for other in ["", "till-admi", "till-admin ", "Till-admin", "till-adminx"] {
            assert!(!token.is(other), "{other}");
        }
    }
}
