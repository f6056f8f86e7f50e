//! What signing in needs of the server.

use std::sync::Arc;

use subtle::ConstantTimeEq;
use till_domain::ids::{MerchantId, RawId};
use till_domain::team::{RECOVERY_CODES, SignInCode};
use till_domain::time::Millis;
use till_protocol::api_error::{ApiError, CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::connection::ShareOf;
use till_storage::vault::{Credentials, Keyring};
use zeroize::Zeroizing;

use super::attempts::Attempts;
use super::hashing::Hashing;
use super::recovery_codes;
use super::sealed_values::{Draft, OperatorSession, Session};
use super::totp;
use crate::counted::PASSWORDS_HASHED;

/// Passwords, codes and sessions.
pub(crate) struct Seats {
    keyring: Arc<Keyring>,
    idle_seconds: u64,
    hashing: Hashing,
    attempts: Attempts,
}

/// Fills an array from the operating system's source.
fn random<const N: usize>() -> Result<[u8; N], ApiError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| no_randomness())?;
    Ok(bytes)
}

fn no_randomness() -> ApiError {
    ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)
}

/// People type codes in groups.
fn without_spaces(code: &str) -> String {
    code.chars().filter(|character| !character.is_whitespace()).collect()
}

impl Seats {
    /// Sessions end after so many seconds without a request.
    pub(crate) fn new(keyring: Arc<Keyring>, idle_seconds: u64) -> Seats {
        PASSWORDS_HASHED.inc_by(0);
        Seats { keyring, idle_seconds, hashing: Hashing::new(), attempts: Attempts::default() }
    }

    /// The counts of wrong attempts.
    pub(crate) fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// True when it is the password of these credentials. Without credentials the same is computed.
    ///
    /// # Errors
    /// `UNAVAILABLE` when others were to be served for too long.
    pub(crate) async fn is_password(
        &self,
        share: ShareOf,
        credentials: Option<&Credentials>,
        password: Zeroizing<String>,
    ) -> Result<bool, ApiError> {
        let hash = self.hashing.hash(share, password, credentials.map_or([0; 16], |known| known.salt)).await?;
        Ok(credentials.is_some_and(|known| known.password.ct_eq(&hash).into()))
    }

    /// The code of a member, when it is one of the authenticator now, or a recovery code.
    pub(crate) fn code(
        &self,
        merchant_id: MerchantId,
        credentials: &Credentials,
        code: &str,
        now: Millis,
    ) -> Option<SignInCode> {
        let step = self.step(credentials, code, now);
        let number = recovery_codes::number_of(&self.keyring, merchant_id, credentials, &without_spaces(code));
        step.map(|step| SignInCode::Authenticator { step }).or(number.map(|number| SignInCode::Recovery { number }))
    }

    /// The time step of a code of the authenticator, when it is one now.
    pub(crate) fn step(&self, credentials: &Credentials, code: &str, now: Millis) -> Option<u64> {
        totp::step_of(&credentials.authenticator, &without_spaces(code), now)
    }

    /// The same credentials with another password.
    ///
    /// # Errors
    /// As [`Seats::is_password`].
    pub(crate) async fn with_password(
        &self,
        mut credentials: Credentials,
        share: ShareOf,
        password: Zeroizing<String>,
    ) -> Result<Credentials, ApiError> {
        credentials.salt = random()?;
        credentials.password = self.hashing.hash(share, password, credentials.salt).await?;
        Ok(credentials)
    }

    /// The same credentials with a new secret of the authenticator.
    ///
    /// # Errors
    /// `UNAVAILABLE` when there is no randomness.
    pub(crate) fn with_new_authenticator(&self, mut credentials: Credentials) -> Result<Credentials, ApiError> {
        credentials.authenticator = random()?;
        Ok(credentials)
    }

    /// The same credentials with new recovery codes, and these.
    ///
    /// # Errors
    /// `UNAVAILABLE` when there is no randomness.
    pub(crate) fn with_new_recovery_codes(
        &self,
        merchant_id: MerchantId,
        mut credentials: Credentials,
    ) -> Result<(Credentials, [Zeroizing<String>; RECOVERY_CODES]), ApiError> {
        let bits = random::<{ 10 * RECOVERY_CODES }>()?;
        let bits = bits.as_chunks().0.try_into().expect("ten bytes for each code");
        let codes = recovery_codes::of_bits(bits);
        credentials.recovery = codes.each_ref().map(|code| self.keyring.recovery_code_digest(merchant_id, code));
        Ok((credentials, codes))
    }

    /// The text of the cookie of a session that is used now.
    ///
    /// # Errors
    /// `UNAVAILABLE` when there is no randomness.
    pub(crate) fn cookie(&self, merchant_id: MerchantId, session: Session, now: Millis) -> Result<String, ApiError> {
        session.seal(&self.keyring, merchant_id, now).map_err(|_| no_randomness())
    }

    /// The session in a cookie, unless it is over by time.
    pub(crate) fn session(&self, merchant_id: MerchantId, cookie: &str, now: Millis) -> Option<Session> {
        Session::open(&self.keyring, merchant_id, cookie, self.idle_seconds, now)
    }

    /// The text of the cookie of a session of the operator.
    ///
    /// # Errors
    /// `UNAVAILABLE` when there is no randomness.
    pub(crate) fn operator_cookie(&self, session: &OperatorSession) -> Result<String, ApiError> {
        session.seal(&self.keyring).map_err(|_| no_randomness())
    }

    /// The session of the operator in a cookie, unless it is over by time.
    pub(crate) fn operator_session(&self, cookie: &str, now: Millis) -> Option<OperatorSession> {
        OperatorSession::open(&self.keyring, cookie, now)
    }

    /// The text of a draft of an owner, which a form keeps.
    ///
    /// # Errors
    /// `UNAVAILABLE` when there is no randomness.
    pub(crate) fn seal_draft(&self, merchant_id: MerchantId, owner: RawId, draft: &Draft) -> Result<String, ApiError> {
        draft.seal(&self.keyring, merchant_id, owner).map_err(|_| no_randomness())
    }

    /// The draft in a form.
    pub(crate) fn draft(&self, merchant_id: MerchantId, owner: RawId, text: &str, now: Millis) -> Option<Draft> {
        Draft::open(&self.keyring, merchant_id, owner, text, now)
    }
}
