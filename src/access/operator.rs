//! The operator, who holds the admin token.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use parking_lot::RwLock;
use secrecy::{ExposeSecret, SecretString};
use subtle::{Choice, ConstantTimeEq};
use till_domain::key;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{Authenticate, AuthenticatedCaller, NoToken};
use till_protocol::version::ApiVersion;

/// A caller who showed the admin token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator;

impl AuthenticatedCaller for Operator {
    type LogName = &'static str;

    fn pinned_version(&self) -> ApiVersion {
        ApiVersion::NEWEST
    }

    fn log_name(&self) -> &'static str {
        "operator"
    }
}

/// The tokens that the admin listener accepts: one, or two during a rotation.
pub struct AdminToken(RwLock<Vec<SecretString>>);

impl AdminToken {
    /// Accepts only this token.
    #[must_use]
    pub fn new(token: SecretString) -> AdminToken {
        AdminToken::any_of(vec![token])
    }

    /// Accepts only these tokens.
    #[must_use]
    pub fn any_of(tokens: Vec<SecretString>) -> AdminToken {
        AdminToken(RwLock::new(tokens))
    }

    /// Accepts only these tokens from now on.
    pub fn replace(&self, tokens: Vec<SecretString>) {
        *self.0.write() = tokens;
    }

    /// The digest of a token that is accepted. None for any other.
    pub(crate) fn digest_of(&self, token: &str) -> Option<[u8; 32]> {
        let digest = *blake3::hash(token.as_bytes()).as_bytes();
        self.is_of_one(&digest).then_some(digest)
    }

    /// True when a token with this digest is accepted. Compares digests in constant time, so that the duration reveals
    /// neither the length nor the content of the token.
    pub(crate) fn is_of_one(&self, shown: &[u8; 32]) -> bool {
        let tokens = self.0.read();
        let equals =
            |expected: &SecretString| shown.ct_eq(blake3::hash(expected.expose_secret().as_bytes()).as_bytes());
        // All tokens are compared, even after a match.
        tokens.iter().fold(Choice::from(0), |is_one, expected| is_one | equals(expected)).into()
    }

    fn is(&self, token: &str) -> bool {
        self.digest_of(token).is_some()
    }
}

impl Authenticate<Operator> for AdminToken {
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<Operator, ApiError>> {
        async move { if self.is(token) { Ok(Operator) } else { Err(no_admin_token(token)) } }.boxed_local()
    }

    fn no_token(&self, problem: NoToken) -> ApiError {
        let message = format!("{problem} Send the admin token in the header Authorization: Bearer <ADMIN_TOKEN>.");
        ApiError::new(Code::Unauthorized, message)
    }
}

/// The refusal of a token that is not the operator's.
fn no_admin_token(token: &str) -> ApiError {
    let message = if key::has_key_prefix(token) {
        "The bearer token is a merchant's API key. Calls of /admin take the admin token: the server's \
            TILL_ADMIN_TOKEN, or the content of secrets/admin-token in its data directory."
    } else {
        "The admin token is not valid. Send the server's TILL_ADMIN_TOKEN, or the content of secrets/admin-token in \
            its data directory."
    };
    ApiError::new(Code::Unauthorized, message)
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

    #[test]
    fn two_tokens_are_taken_until_they_are_replaced() {
        let token = AdminToken::any_of(vec!["new".into(), "old".into()]);
        assert!(token.is("new") && token.is("old") && !token.is("other"));
        token.replace(vec!["new".into()]);
        assert!(token.is("new") && !token.is("old"));
    }
}
