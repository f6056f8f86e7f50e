//! API keys: their text form and their stored form.

use crate::ids::KeyId;
use crate::money::AmountMinor;
use crate::role::Role;
use crate::text::Name;
use crate::time::Millis;

/// Prefix of every API key.
pub const KEY_PREFIX: &str = "sk_";
/// Random base62 characters after the prefix: 190 bits.
pub const KEY_RANDOM_LEN: usize = 32;
/// Base62 characters of the checksum at the end.
pub const KEY_CHECKSUM_LEN: usize = 6;
/// Characters kept for display: the prefix and the first five random ones.
pub const KEY_DISPLAY_LEN: usize = 8;
/// The maximum number of keys of one merchant that are neither revoked nor expired.
pub const LIVE_KEYS_MAX: usize = 1_000;
/// The maximum number of keys of one merchant, former ones included: they are part of its bounded state.
pub const KEYS_MAX: usize = 5_000;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The text of a key from the indexes of its 32 random characters (each taken modulo 62).
///
/// Shape: `sk_` | 32 base62 characters | 6 base62 characters, zero-padded, of the CRC-32 (ISO-HDLC) of those 32.
#[must_use]
pub fn key_text(random: [u8; KEY_RANDOM_LEN]) -> String {
    let body: String = random.iter().map(|byte| char::from(BASE62[usize::from(byte % 62)])).collect();
    let checksum: String = checksum(&body).map(char::from).iter().collect();
    format!("{KEY_PREFIX}{body}{checksum}")
}

/// Returns true when a text begins as every key does.
#[must_use]
pub fn has_key_prefix(text: &str) -> bool {
    text.starts_with(KEY_PREFIX)
}

/// Returns true when a text has the form of a key and its checksum is right: a mistyped key is refused without a
/// look-up.
#[must_use]
pub fn is_well_formed(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(KEY_PREFIX) else { return false };
    rest.len() == KEY_RANDOM_LEN.saturating_add(KEY_CHECKSUM_LEN)
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && checksum(&rest[..KEY_RANDOM_LEN]) == rest.as_bytes()[KEY_RANDOM_LEN..]
}

/// The first characters of a key, by which a person recognizes it.
#[must_use]
pub fn display(text: &str) -> String {
    text.chars().take(KEY_DISPLAY_LEN).collect()
}

fn checksum(body: &str) -> [u8; KEY_CHECKSUM_LEN] {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut text = [b'0'; KEY_CHECKSUM_LEN];
    for slot in text.iter_mut().rev() {
        *slot = BASE62[usize::try_from(rest % 62).unwrap_or(0)];
        rest /= 62;
    }
    text
}

/// A keyed digest of a key's text: it is stored in place of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyDigest(pub [u8; 32]);

impl std::fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyDigest(..)")
    }
}

/// An API key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The uid that activity logs name.
    pub id: KeyId,
    /// The keyed digest of the key's text.
    pub digest: KeyDigest,
    /// The first characters, for display.
    pub display: String,
    /// The name that the merchant gives it.
    pub name: Name,
    /// The API version pinned at its creation.
    pub api_version: String,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The instant at which it expires, if it does.
    pub expires_at: Option<Millis>,
    /// The time at which it was revoked.
    pub revoked_at: Option<Millis>,
    /// What it may do, for as long as it lives.
    pub role: Role,
    /// The largest amount that it may give back in one call, in minor units; only with the role SUPPORT.
    pub refund_limit: Option<AmountMinor>,
}

impl ApiKey {
    /// Returns true when the key is valid at `now`.
    #[must_use]
    pub fn is_live(&self, now: Millis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_is_well_formed_and_changed_characters_are_found() {
        let key = key_text(std::array::from_fn(|index| u8::try_from(index * 7).unwrap_or(0)));
        assert_eq!(key.len(), 3 + 32 + 6);
        assert!(is_well_formed(&key));
        for at in 3..key.len() {
            let mut bytes = key.clone().into_bytes();
            bytes[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(bytes).expect("ASCII stays UTF-8");
            assert!(!is_well_formed(&changed), "changed at {at}");
        }
    }

    #[test]
    fn the_checksum_is_the_crc_32_of_the_random_part_in_base62() {
        // The checksum is computed bit by bit here, without the library.
        let body = "0".repeat(KEY_RANDOM_LEN);
        let mut crc = u32::MAX;
        for byte in body.bytes() {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        crc = !crc;
        let mut value: u32 = 0;
        for character in checksum(&body) {
            let digit = BASE62.iter().position(|known| *known == character).expect("base62");
            value = value.wrapping_mul(62).wrapping_add(u32::try_from(digit).expect("below 62"));
        }
        assert_eq!(value, crc);
    }

    #[test]
    fn texts_of_other_shape_are_no_keys() {
        for text in ["", "sk_", "sk_short", "pk_00000000000000000000000000000000000000", "sk_ééééééééééééééééééé"]
        {
            assert!(!is_well_formed(text), "{text:?}");
        }
    }
}
