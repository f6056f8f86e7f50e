//! Stripe's notices. They tell only which objects have changed: what they are now is asked.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// The age of a notice, and the time that it may come from the future, in seconds, at most.
const AGE_SECONDS_MAX: u64 = 300;
/// The bytes of a signature.
const SIGNATURE_BYTES: usize = 32;
/// The longest id of an object that is answered, in bytes.
const ID_BYTES_MAX: usize = 255;

/// The notice is not genuine, or not of this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the notice is not signed with the account's secret, or not at this time")]
pub struct NoticeRefused;

/// Reads a notice: its body as it came, its header `Stripe-Signature` (`t=...,v1=...`), the account's secret for
/// notices, and the time in Unix seconds. Answers Stripe's ids of the objects that it names: at most two, which Till
/// need not know.
///
/// # Errors
/// [`NoticeRefused`], whatever is wrong. Signatures are compared in constant time.
///
/// Source: Stripe's documents on webhooks, "Verify webhook signatures manually".
pub fn read_notice(body: &[u8], signature: &str, secret: &str, now_seconds: u64) -> Result<Vec<String>, NoticeRefused> {
    let members = || signature.split(',').filter_map(|member| member.trim().split_once('='));
    let (_, time) = members().find(|(name, _)| *name == "t").ok_or(NoticeRefused)?;
    let signed_at: u64 = time.parse().map_err(|_| NoticeRefused)?;
    if signed_at.abs_diff(now_seconds) > AGE_SECONDS_MAX {
        return Err(NoticeRefused);
    }
    let mut hmac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    for part in [time.as_bytes(), b".", body] {
        hmac.update(part);
    }
    let mut signatures = members().filter(|(name, _)| *name == "v1").filter_map(|(_, text)| bytes_of(text));
    let is_genuine = signatures.any(|bytes| hmac.clone().verify_slice(&bytes).is_ok());
    if is_genuine { Ok(named_in(body)) } else { Err(NoticeRefused) }
}

/// The bytes of a signature in hexadecimal digits.
fn bytes_of(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let mut bytes = [0; SIGNATURE_BYTES];
    if text.len() != 2 * SIGNATURE_BYTES {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// The ids of the object of an event and of its payment; none for a body that is no event.
fn named_in(body: &[u8]) -> Vec<String> {
    let event: Value = serde_json::from_slice(body).unwrap_or_default();
    let object = &event["data"]["object"];
    let ids = [&object["id"], &object["payment_intent"]].into_iter().filter_map(Value::as_str);
    ids.filter(|id| (1..=ID_BYTES_MAX).contains(&id.len())).map(str::to_owned).collect()
}
