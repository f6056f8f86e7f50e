//! The secret of an endpoint, and the headers that prove the origin of a delivery.
//!
//! The signed content is `{event id}.{timestamp}.{body}`. Every secret signs it twice: `v1` by HMAC-SHA-256, and `v1a`
//! by Ed25519, for receivers that keep no secret.
//!
//! Source: Standard Webhooks 1.0.0 (<https://www.standardwebhooks.com>); RFC 2104 (HMAC), RFC 8032 (Ed25519).

use std::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a secret: 32 of the HMAC key, then 32 of the Ed25519 seed.
pub const SIGNING_SECRET_BYTES: usize = HMAC_KEY_BYTES + SEED_BYTES;

/// Standard Webhooks asks for 24 to 64 bytes.
const HMAC_KEY_BYTES: usize = 32;
const SEED_BYTES: usize = 32;

/// The beginning of the text of an HMAC key.
pub(super) const SECRET_PREFIX: &str = "whsec_";
/// The beginning of the text of an Ed25519 public key.
pub(super) const PUBLIC_KEY_PREFIX: &str = "whpk_";

/// The keys that an endpoint's deliveries are signed with: an HMAC key and an Ed25519 key. Zeroized when dropped, and
/// never shown.
///
/// It lives on the heap, so that moving it leaves no copy behind.
#[derive(Clone)]
pub struct SigningSecret(Box<Zeroizing<[u8; SIGNING_SECRET_BYTES]>>);

impl SigningSecret {
    /// The secret of these bytes: random ones for a new secret, or those of the vault.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SIGNING_SECRET_BYTES]) -> SigningSecret {
        SigningSecret(Box::new(Zeroizing::new(*bytes)))
    }

    /// The HMAC key as the merchant gets it, once: `whsec_` and its standard Base64.
    #[must_use]
    pub fn secret_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(64)); // It does not grow, so it leaves no copy behind.
        text.push_str(SECRET_PREFIX);
        STANDARD.encode_string(self.hmac_key(), &mut text);
        text
    }

    /// The Ed25519 public key as the merchant gets it: `whpk_` and its standard Base64.
    #[must_use]
    pub fn public_key_text(&self) -> String {
        format!("{PUBLIC_KEY_PREFIX}{}", STANDARD.encode(self.signing_key().verifying_key()))
    }

    fn hmac_key(&self) -> &[u8] {
        &self.0[..HMAC_KEY_BYTES]
    }

    fn signing_key(&self) -> SigningKey {
        let seed = self.0.last_chunk().expect("a secret is longer than the seed at its end");
        SigningKey::from_bytes(seed)
    }

    /// Both signatures, separated by a space.
    fn signatures(&self, content: &[u8]) -> String {
        let symmetric = STANDARD.encode(hmac_sha256(self.hmac_key(), content).finalize().into_bytes());
        let asymmetric = STANDARD.encode(self.signing_key().sign(content).to_bytes());
        format!("v1,{symmetric} v1a,{asymmetric}")
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(..)")
    }
}

/// The headers that prove the origin of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHeaders {
    /// `webhook-id`: the event's id.
    pub webhook_id: String,
    /// `webhook-timestamp`: the time of the attempt, in Unix seconds.
    pub webhook_timestamp: String,
    /// `webhook-signature`: `v1,<Base64> v1a,<Base64>` for each secret, the newest first, separated by spaces.
    pub webhook_signature: String,
    /// The value of the header that the endpoint names: `hmac_sha256=<hexadecimal digits>` over the body alone.
    pub plain_hmac: String,
}

impl SignedHeaders {
    /// The headers with their names; `signature_header` is the one that the endpoint names for the plain HMAC.
    #[must_use]
    pub fn with_names<'h>(&'h self, signature_header: &'h str) -> [(&'h str, &'h str); 4] {
        [
            ("webhook-id", &self.webhook_id),
            ("webhook-timestamp", &self.webhook_timestamp),
            ("webhook-signature", &self.webhook_signature),
            (signature_header, &self.plain_hmac),
        ]
    }
}

/// Signs one attempt to deliver `body`, which must be sent as these very bytes.
///
/// `older` are secrets that were replaced and still sign, the newest of them first. The plain HMAC is made with the
/// newest secret only, since it is a single value. Its key is the 32 bytes and not their text: receivers of that form
/// are given the Base64 after `whsec_` and decode it before they use it, as those of Standard Webhooks do.
#[must_use]
pub fn sign(
    newest: &SigningSecret,
    older: &[SigningSecret],
    event_id: &str,
    timestamp_seconds: u64,
    body: &[u8],
) -> SignedHeaders {
    let webhook_timestamp = timestamp_seconds.to_string();
    let content = signed_content(event_id, &webhook_timestamp, body);
    let signatures: Vec<String> =
        std::iter::once(newest).chain(older).map(|secret| secret.signatures(&content)).collect();
    SignedHeaders {
        webhook_id: event_id.to_owned(),
        webhook_timestamp,
        webhook_signature: signatures.join(" "),
        plain_hmac: plain_hmac(newest, body),
    }
}

/// The bytes that are signed.
pub(super) fn signed_content(webhook_id: &str, webhook_timestamp: &str, body: &[u8]) -> Vec<u8> {
    [webhook_id.as_bytes(), webhook_timestamp.as_bytes(), body].join(&b'.')
}

/// The HMAC of a content, to be shown or compared.
pub(super) fn hmac_sha256(key: &[u8], content: &[u8]) -> Hmac<Sha256> {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    hmac.update(content);
    hmac
}

fn plain_hmac(secret: &SigningSecret, body: &[u8]) -> String {
    let mut text = String::from("hmac_sha256=");
    for byte in hmac_sha256(secret.hmac_key(), body).finalize().into_bytes() {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT_ID: &str = "evt_01h2e8kqvbfwea724h75qc655w";
    const TIMESTAMP: u64 = 1_614_265_330;
    const BODY: &str = r#"{"event_id":"evt_01h2e8kqvbfwea724h75qc655w","event":"payment_completed","note":"บาท"}"#;

    // The secret of the bytes 0 to 63, and that of the bytes 100 to 163. The values were computed with the Python
    // packages `standardwebhooks` (v1), `cryptography` and `PyNaCl` (v1a), and `hmac` (plain).
    const FIRST_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const FIRST_PUBLIC_KEY: &str = "whpk_Kay64UG8yvCyLhqU000LxzYeUm0L/hLIl5S8kyKWbdc=";
    const FIRST_V1: &str = "v1,jdNaKwYGv0L07qFfHLYamv0/tMpZ0/9aMuDE1NcSb+4=";
    const FIRST_V1A: &str =
        "v1a,eQKigS0dhcNqCP3S6o5Nynmdulj2sdJhtwwvxl8SW3IJdwF5KsDraw80hygva0bxE7Du/q54mHgeX8mm9EOyAw==";
    const FIRST_PLAIN: &str = "hmac_sha256=746644d4413846293afd054ea30b62556c81ecc1dcc09ff4dec3aaa0d5a3b175";
    const SECOND_PUBLIC_KEY: &str = "whpk_i+/mHDCV2k1x8Uvv4iD/mnbgxbXQRiBO49cHYaroOfw=";
    const SECOND_V1: &str = "v1,P/7ntZ4Mt4CcR7HrSqiXulUQD1TGg2YhCfZKcx2LGNA=";
    const SECOND_V1A: &str =
        "v1a,A1aQWDoZ3QYrm6L9fQL0nePZ8W77rU/jGKHJHHxu/Gb+U5imdsseXIeCVgP1IMuOIwHcHnSrCwQDQl5/DostBQ==";
    const SECOND_PLAIN: &str = "hmac_sha256=b20daff46ba296c472d63eea2e6a3a7862fe2c303330785ec3c5df181586abe2";

    fn secret_from(first_byte: u8) -> SigningSecret {
        let mut bytes = [first_byte; SIGNING_SECRET_BYTES];
        (0..).zip(&mut bytes).for_each(|(offset, byte): (u8, _)| *byte += offset);
        SigningSecret::from_bytes(&bytes)
    }

    #[test]
    fn keys_are_shown_in_the_form_of_standard_webhooks() {
        assert_eq!(*secret_from(0).secret_text(), FIRST_SECRET);
        assert_eq!(secret_from(0).public_key_text(), FIRST_PUBLIC_KEY);
        assert_eq!(secret_from(100).public_key_text(), SECOND_PUBLIC_KEY);
    }

    #[test]
    fn signatures_are_those_that_other_libraries_compute() {
        let headers = sign(&secret_from(0), &[], EVENT_ID, TIMESTAMP, BODY.as_bytes());
        assert_eq!(headers.webhook_id, EVENT_ID);
        assert_eq!(headers.webhook_timestamp, "1614265330");
        assert_eq!(headers.webhook_signature, format!("{FIRST_V1} {FIRST_V1A}"));
        assert_eq!(headers.plain_hmac, FIRST_PLAIN);
    }

    #[test]
    fn a_replaced_secret_signs_everything_but_the_plain_hmac() {
        let headers = sign(&secret_from(100), &[secret_from(0)], EVENT_ID, TIMESTAMP, BODY.as_bytes());
        assert_eq!(headers.webhook_signature, format!("{SECOND_V1} {SECOND_V1A} {FIRST_V1} {FIRST_V1A}"));
        assert_eq!(headers.plain_hmac, SECOND_PLAIN);
    }

    #[test]
    fn the_plain_hmac_has_the_name_that_the_endpoint_chose() {
        let headers = sign(&secret_from(0), &[], EVENT_ID, TIMESTAMP, BODY.as_bytes());
        let signature = format!("{FIRST_V1} {FIRST_V1A}");
        let expected = [
            ("webhook-id", EVENT_ID),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", &signature),
            ("Shop-Signature", FIRST_PLAIN),
        ];
        assert_eq!(headers.with_names("Shop-Signature"), expected);
    }

    #[test]
    fn the_published_test_vector_of_standard_webhooks_holds() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("it is Base64");
        let content = signed_content("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        let signature = STANDARD.encode(hmac_sha256(&key, &content).finalize().into_bytes());
        assert_eq!(signature, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_was_sealed_signs_as_before() {
        let opened = SigningSecret::from_bytes(&secret_from(7).0);
        assert_eq!(opened.secret_text(), secret_from(7).secret_text());
        assert_eq!(opened.public_key_text(), secret_from(7).public_key_text());
        assert_ne!(opened.secret_text(), secret_from(8).secret_text());
    }

    #[test]
    fn debug_output_shows_no_secret() {
        assert_eq!(format!("{:?}", secret_from(0)), "SigningSecret(..)");
    }
}
