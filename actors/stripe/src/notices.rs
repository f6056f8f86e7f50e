//! Stripe's notices. They tell only which call is to be looked up.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use till_actors::acquirer::{NamedCall, Notice, NoticeRefused};

/// The age of a notice, and the time that it may come from the future, in seconds, at most.
const AGE_SECONDS_MAX: u64 = 300;
/// The bytes of a signature.
const SIGNATURE_BYTES: usize = 32;

/// Reads a notice whose header is `t=...,v1=...`, and answers the call that its object is about.
///
/// # Errors
/// [`NoticeRefused`], whatever is wrong. Signatures are compared in constant time.
///
/// Source: Stripe's documents on webhooks, "Verify webhook signatures manually".
pub(crate) fn read_notice(notice: &Notice<'_>) -> Result<Option<NamedCall>, NoticeRefused> {
    let Notice { body, signature, secret, now } = *notice;
    let members = || signature.split(',').filter_map(|member| member.trim().split_once('='));
    let (_, time) = members().find(|(name, _)| *name == "t").ok_or(NoticeRefused)?;
    let signed_at: u64 = time.parse().map_err(|_| NoticeRefused)?;
    if signed_at.abs_diff(now.unix_seconds()) > AGE_SECONDS_MAX {
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

/// The call whose reference an event's object has, a charge that of the authorization; none for a body that is no
/// event, and for an object of others.
fn named_in(body: &[u8]) -> Option<NamedCall> {
    let event: Value = serde_json::from_slice(body).unwrap_or_default();
    event["data"]["object"]["metadata"]["till_reference"].as_str()?.parse().ok()
}
