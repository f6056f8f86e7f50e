//! The root key: the one secret that an operator keeps, which opens everything else in the vault.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::sealed::{NoRandomness, SecretKey};

/// Hexadecimal characters of a root key: two for each of its 32 bytes.
const HEX_LEN: usize = 64;

/// Bytes of the check that name a key for people.
const NAME_LEN: usize = 4;

/// The context of the value by which root keys are told apart. Changing it locks every store.
const CHECK_CONTEXT: &str = "till vault 1: check of the root key that opens a key ring";

/// The key that wraps the key ring, 32 bytes. Zeroized when dropped, and never shown.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct RootKey(SecretKey);

/// The reason for which a text is not a root key. No message repeats any part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RootKeyError {
    /// The text is too short or too long. White space around it counts: trim a text that was read from a file.
    #[error("the vault key must be {HEX_LEN} hexadecimal characters, and this has {found_len}")]
    Length {
        /// Characters of the text.
        found_len: usize,
    },
    /// The text has the right length and a character that is not a hexadecimal digit.
    #[error("the vault key must be {HEX_LEN} hexadecimal characters, and character {position} is not one")]
    NotHexadecimal {
        /// The position of that character, counted from 1.
        position: usize,
    },
}

impl RootKey {
    /// Reads a key from its 64 hexadecimal characters, in either case.
    ///
    /// # Errors
    /// [`RootKeyError`] says what is wrong with the text without repeating it.
    pub fn from_hex(text: &str) -> Result<RootKey, RootKeyError> {
        let found_len = text.chars().count();
        if found_len != HEX_LEN {
            return Err(RootKeyError::Length { found_len });
        }
        let mut nibbles = Zeroizing::new([0_u8; HEX_LEN]);
        for (index, (nibble, character)) in nibbles.iter_mut().zip(text.chars()).enumerate() {
            let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *nibble = digit.ok_or(RootKeyError::NotHexadecimal { position: index + 1 })?;
        }
        let mut bytes = Zeroizing::new([0; SecretKey::LEN]);
        for (byte, pair) in bytes.iter_mut().zip(nibbles.chunks_exact(2)) {
            *byte = (pair[0] << 4) | pair[1];
        }
        Ok(RootKey(SecretKey::new(&bytes)))
    }

    /// A fresh key, for a first start without a given key.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none; do not start then.
    pub fn generate() -> Result<RootKey, NoRandomness> {
        Ok(RootKey(SecretKey::generate()?))
    }

    /// The 64 lower-case hexadecimal characters that [`RootKey::from_hex`] reads. They are only for the one file of
    /// mode 0600 that keeps a generated key.
    #[must_use]
    pub fn expose_hex(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(HEX_LEN));
        for byte in self.0.expose() {
            for nibble in [byte >> 4, byte & 0x0f] {
                text.push(char::from_digit(u32::from(nibble), 16).expect("a nibble is below 16"));
            }
        }
        text
    }

    /// The public name of the key: 8 hexadecimal characters that reveal nothing of it.
    #[must_use]
    pub fn name(&self) -> String {
        name_of(&self.check())
    }

    /// The key itself, for wrapping.
    pub(super) fn key(&self) -> &SecretKey {
        &self.0
    }

    /// 16 bytes that differ between keys and reveal nothing of this one, so that a wrong key can be told
    /// from damaged bytes.
    pub(super) fn check(&self) -> [u8; 16] {
        let derived = blake3::derive_key(CHECK_CONTEXT, self.0.expose());
        *derived.first_chunk().expect("a BLAKE3 key has 32 bytes")
    }
}

/// The name of the key that a check belongs to.
pub(super) fn name_of(check: &[u8]) -> String {
    check.iter().take(NAME_LEN).map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff";

    #[test]
    fn a_root_key_is_read_from_64_hexadecimal_digits_of_either_case() {
        let key = RootKey::from_hex(TEXT).expect("the text is a key");
        assert_eq!(key.key().expose()[..3], [0x00, 0x01, 0x02]);
        assert_eq!(key.key().expose()[29..], [0x1d, 0x1e, 0xff]);
        assert_eq!(key.expose_hex().as_str(), TEXT);
        let upper = RootKey::from_hex(&TEXT.to_uppercase()).expect("upper case is a key too");
        assert_eq!(upper.expose_hex().as_str(), TEXT);
    }

    #[test]
    fn a_text_of_another_length_is_refused_and_the_length_named() {
        for (text, found_len) in [("", 0), (&TEXT[1..], 63), (&format!("{TEXT}\n"), 65), (&"é".repeat(32), 32)] {
            assert_eq!(RootKey::from_hex(text).err(), Some(RootKeyError::Length { found_len }));
        }
    }

    #[test]
    fn the_position_of_a_non_hexadecimal_character_is_named() {
        for bad in ["g", " ", "é", "+"] {
            let text = format!("{}{bad}{}", &TEXT[..40], &TEXT[41..]);
            assert_eq!(RootKey::from_hex(&text).err(), Some(RootKeyError::NotHexadecimal { position: 41 }));
        }
    }

    #[test]
    fn no_error_and_no_debug_output_shows_a_part_of_the_key() {
        let secret = "deadbeefdeadbeefdeadbeefdeadbeef";
        let wrong_length = RootKey::from_hex(secret).expect_err("too short");
        let wrong_digit = RootKey::from_hex(&format!("{secret}{}z", &secret[1..])).expect_err("no digit");
        let key = RootKey::from_hex(&secret.repeat(2)).expect("a key");
        for shown in [wrong_length.to_string(), wrong_digit.to_string(), format!("{wrong_digit:?}"), format!("{key:?}")]
        {
            assert!(!shown.contains("dead") && !shown.contains("222, 173"), "{shown}");
        }
    }

    #[test]
    fn generated_keys_differ_and_so_do_their_checks() {
        let (one, other) = (RootKey::generate().expect("randomness"), RootKey::generate().expect("randomness"));
        assert_ne!(one.expose_hex(), other.expose_hex());
        assert_ne!(one.check(), other.check());
        let read_back = RootKey::from_hex(&one.expose_hex()).expect("what was written is a key");
        assert_eq!(read_back.check(), one.check());
    }
}
