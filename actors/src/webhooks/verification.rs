//! The receiver's side of signatures: a check that a delivery was signed with the endpoint's key, and recently.
//!
//! Source: Standard Webhooks 1.0.0 (<https://www.standardwebhooks.com>).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use hmac::Mac;
use zeroize::Zeroizing;

use super::signing::{PUBLIC_KEY_PREFIX, SECRET_PREFIX, hmac_sha256, signed_content};

/// The greatest difference between a timestamp and the receiver's clock, in either direction. An older delivery may be
/// a replayed one.
pub const TIMESTAMP_TOLERANCE_SECONDS: u64 = 5 * 60;

/// Bytes of an HMAC key, by the specification.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// A key that a receiver checks deliveries with.
pub enum VerificationKey {
    /// The HMAC key, for signatures `v1`.
    Secret(Zeroizing<Vec<u8>>),
    /// The Ed25519 public key, for signatures `v1a`.
    PublicKey(VerifyingKey),
}

/// The text is no key. The message does not repeat any part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerificationKeyError {
    /// It begins with neither prefix.
    #[error("must begin with whsec_ (a secret) or whpk_ (a public key)")]
    Prefix,
    /// The text after the prefix cannot be decoded.
    #[error("must be standard Base64 after its prefix")]
    Base64,
    /// A secret is too short or too long.
    #[error("must have 24 to 64 bytes after whsec_")]
    SecretLength,
    /// A public key is none of Ed25519.
    #[error("must be an Ed25519 public key after whpk_")]
    PublicKey,
}

/// The reason why a delivery must not be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The timestamp is no number of seconds.
    #[error("webhook-timestamp is not a number of Unix seconds")]
    TimestampUnreadable,
    /// The attempt was made too long ago.
    #[error("webhook-timestamp is more than 5 minutes in the past")]
    TimestampTooOld,
    /// The attempt will be made later, by the receiver's clock.
    #[error("webhook-timestamp is more than 5 minutes in the future")]
    TimestampTooNew,
    /// No signature was made with the key over this content.
    #[error("no signature in webhook-signature was made with this key over this id, timestamp and body")]
    NoSignatureMatches,
}

/// The headers of a delivery, as they were received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivedHeaders<'h> {
    /// `webhook-id`
    pub webhook_id: &'h str,
    /// `webhook-timestamp`
    pub webhook_timestamp: &'h str,
    /// `webhook-signature`
    pub webhook_signature: &'h str,
}

impl VerificationKey {
    /// Reads `whsec_...` or `whpk_...`.
    ///
    /// # Errors
    /// [`VerificationKeyError`] when it is neither.
    pub fn parse(text: &str) -> Result<VerificationKey, VerificationKeyError> {
        if let Some(encoded) = text.strip_prefix(SECRET_PREFIX) {
            let key = decode(encoded)?;
            let fits = SECRET_BYTES.contains(&key.len());
            fits.then_some(VerificationKey::Secret(key)).ok_or(VerificationKeyError::SecretLength)
        } else if let Some(encoded) = text.strip_prefix(PUBLIC_KEY_PREFIX) {
            let key = VerifyingKey::try_from(decode(encoded)?.as_slice());
            key.map(VerificationKey::PublicKey).map_err(|_| VerificationKeyError::PublicKey)
        } else {
            Err(VerificationKeyError::Prefix)
        }
    }

    /// Checks that a delivery is recent, and that one of its signatures was made with this key. Signatures of a secret
    /// are compared in constant time. `now_seconds` is the receiver's clock, in Unix seconds.
    ///
    /// # Errors
    /// [`VerificationError`]: do not act on the delivery.
    pub fn verify(
        &self,
        headers: &ReceivedHeaders<'_>,
        body: &[u8],
        now_seconds: u64,
    ) -> Result<(), VerificationError> {
        check_timestamp(headers.webhook_timestamp, now_seconds)?;
        let content = signed_content(headers.webhook_id, headers.webhook_timestamp, body);
        let mut signatures = headers.webhook_signature.split(' ');
        let matches = signatures.any(|signature| self.has_made(signature, &content));
        matches.then_some(()).ok_or(VerificationError::NoSignatureMatches)
    }

    /// True when `signature`, such as `v1,<Base64>`, was made with this key.
    fn has_made(&self, signature: &str, content: &[u8]) -> bool {
        let decoded = |version| signature.strip_prefix(version).and_then(|encoded| STANDARD.decode(encoded).ok());
        match self {
            VerificationKey::Secret(key) => {
                decoded("v1,").is_some_and(|bytes| hmac_sha256(key, content).verify_slice(&bytes).is_ok())
            }
            VerificationKey::PublicKey(key) => decoded("v1a,")
                .and_then(|bytes| Signature::from_slice(&bytes).ok())
                .is_some_and(|signature| key.verify_strict(content, &signature).is_ok()),
        }
    }
}

impl fmt::Debug for VerificationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerificationKey(..)")
    }
}

fn decode(encoded: &str) -> Result<Zeroizing<Vec<u8>>, VerificationKeyError> {
    STANDARD.decode(encoded).map(Zeroizing::new).map_err(|_| VerificationKeyError::Base64)
}

fn check_timestamp(text: &str, now_seconds: u64) -> Result<(), VerificationError> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = is_number.then(|| text.parse::<u64>().ok()).flatten();
    let timestamp = parsed.ok_or(VerificationError::TimestampUnreadable)?;
    if now_seconds.saturating_sub(timestamp) > TIMESTAMP_TOLERANCE_SECONDS {
        Err(VerificationError::TimestampTooOld)
    } else if timestamp.saturating_sub(now_seconds) > TIMESTAMP_TOLERANCE_SECONDS {
        Err(VerificationError::TimestampTooNew)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::signing::{SIGNING_SECRET_BYTES, SignedHeaders, SigningSecret, sign};
    use super::*;

    const EVENT_ID: &str = "evt_01h2e8kqvbfwea724h75qc655w";
    const NOW_SECONDS: u64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"event":"payment_completed"}"#;

    fn secret(byte: u8) -> SigningSecret {
        SigningSecret::from_bytes(&[byte; SIGNING_SECRET_BYTES])
    }

    fn keys_of(secret: &SigningSecret) -> [VerificationKey; 2] {
        [secret.secret_text().as_str(), &secret.public_key_text()]
            .map(|text| VerificationKey::parse(text).expect("it is a key"))
    }

    fn received(headers: &SignedHeaders) -> ReceivedHeaders<'_> {
        ReceivedHeaders {
            webhook_id: &headers.webhook_id,
            webhook_timestamp: &headers.webhook_timestamp,
            webhook_signature: &headers.webhook_signature,
        }
    }

    #[test]
    fn either_key_accepts_a_delivery_that_its_secret_signed() {
        let headers = sign(&secret(1), &[], EVENT_ID, NOW_SECONDS, BODY);
        for key in keys_of(&secret(1)) {
            assert_eq!(key.verify(&received(&headers), BODY, NOW_SECONDS), Ok(()));
        }
    }

    #[test]
    fn receivers_accept_the_old_and_the_new_key_while_both_sign() {
        let headers = sign(&secret(2), &[secret(1)], EVENT_ID, NOW_SECONDS, BODY);
        for key in keys_of(&secret(1)).iter().chain(&keys_of(&secret(2))) {
            assert_eq!(key.verify(&received(&headers), BODY, NOW_SECONDS), Ok(()));
        }
    }

    #[test]
    fn a_change_of_id_timestamp_or_body_and_another_key_are_found() {
        let signed = sign(&secret(1), &[], EVENT_ID, NOW_SECONDS, BODY);
        let headers = received(&signed);
        let refused = Err(VerificationError::NoSignatureMatches);
        for key in keys_of(&secret(1)) {
            let other_id = ReceivedHeaders { webhook_id: "evt_other", ..headers };
            assert_eq!(key.verify(&other_id, BODY, NOW_SECONDS), refused);
            let other_timestamp = ReceivedHeaders { webhook_timestamp: "1614265331", ..headers };
            assert_eq!(key.verify(&other_timestamp, BODY, NOW_SECONDS), refused);
            assert_eq!(key.verify(&headers, b"{}", NOW_SECONDS), refused);
        }
        for key in keys_of(&secret(3)) {
            assert_eq!(key.verify(&headers, BODY, NOW_SECONDS), refused);
        }
    }

    #[test]
    fn a_signature_counts_under_its_own_version_only() {
        let signed = sign(&secret(1), &[], EVENT_ID, NOW_SECONDS, BODY);
        let (symmetric, asymmetric) = signed.webhook_signature.split_once(' ').expect("there are two");
        let swapped = [symmetric.replacen("v1,", "v1a,", 1), asymmetric.replacen("v1a,", "v1,", 1)].join(" ");
        for webhook_signature in [&swapped, "", " ", "v1,", "v1", "v1,%%%", "v2,AAAA", &symmetric[3..]] {
            let headers = ReceivedHeaders { webhook_signature, ..received(&signed) };
            for key in keys_of(&secret(1)) {
                let verified = key.verify(&headers, BODY, NOW_SECONDS);
                assert_eq!(verified, Err(VerificationError::NoSignatureMatches), "{webhook_signature:?}");
            }
        }
    }

    #[test]
    fn a_timestamp_may_differ_by_five_minutes_and_no_more() {
        let [key, _] = keys_of(&secret(1));
        let verified = |timestamp: u64| {
            key.verify(&received(&sign(&secret(1), &[], EVENT_ID, timestamp, BODY)), BODY, NOW_SECONDS)
        };
        assert_eq!([NOW_SECONDS - 300, NOW_SECONDS + 300].map(verified), [Ok(()), Ok(())]);
        assert_eq!(verified(NOW_SECONDS - 301), Err(VerificationError::TimestampTooOld));
        assert_eq!(verified(NOW_SECONDS + 301), Err(VerificationError::TimestampTooNew));
    }

    #[test]
    fn a_timestamp_that_is_no_number_is_refused() {
        let [key, _] = keys_of(&secret(1));
        let signed = sign(&secret(1), &[], EVENT_ID, NOW_SECONDS, BODY);
        for webhook_timestamp in ["", "now", "+1614265330", "-1", "1614265330.0", "99999999999999999999"] {
            let headers = ReceivedHeaders { webhook_timestamp, ..received(&signed) };
            let verified = key.verify(&headers, BODY, NOW_SECONDS);
            assert_eq!(verified, Err(VerificationError::TimestampUnreadable), "{webhook_timestamp:?}");
        }
    }

    #[test]
    fn the_published_test_vector_of_standard_webhooks_is_accepted() {
        let key = VerificationKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("it is a key");
        let headers = ReceivedHeaders {
            webhook_id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            webhook_timestamp: "1614265330",
            webhook_signature: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= \
                                v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        };
        assert_eq!(key.verify(&headers, br#"{"test": 2432232314}"#, NOW_SECONDS), Ok(()));
    }

    #[test]
    fn a_text_that_is_no_key_is_refused_and_not_repeated() {
        let parsed = |text| VerificationKey::parse(text).expect_err("it is no key");
        assert_eq!(parsed("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), VerificationKeyError::Prefix);
        assert_eq!(parsed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_"), VerificationKeyError::Base64);
        assert_eq!(parsed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa=="), VerificationKeyError::Base64);
        assert_eq!(parsed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ=="), VerificationKeyError::SecretLength);
        assert_eq!(parsed("whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), VerificationKeyError::PublicKey);
        assert_eq!(format!("{:?}", keys_of(&secret(1))), "[VerificationKey(..), VerificationKey(..)]");
    }
}
