//! The secret at the end of an address that lets whoever has it act: contract, section 9.6.

use std::fmt;
use std::str::FromStr;

use crate::ids::RawId;

/// 128 bits that nobody can guess, as 26 characters of the base32 of ids. It is displayed in addresses only, and is
/// never shown by its debug form.
#[derive(Clone, Copy)]
pub struct AddressSecret([u8; 16]);

/// The error of a text that is no secret of an address. It does not repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 26 characters of lower-case base32")]
pub struct NoAddressSecret;

impl AddressSecret {
    /// The secret with these bits.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> AddressSecret {
        AddressSecret(bytes)
    }

    /// Its bits. Compare them in constant time.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Debug for AddressSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddressSecret(..)")
    }
}

impl fmt::Display for AddressSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&RawId::from_bytes(self.0), f)
    }
}

impl FromStr for AddressSecret {
    type Err = NoAddressSecret;

    fn from_str(text: &str) -> Result<AddressSecret, NoAddressSecret> {
        RawId::decode(text).map(|raw| AddressSecret(raw.to_bytes())).ok_or(NoAddressSecret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_as_it_is_displayed_and_hidden_in_debug_output() {
        let secret = AddressSecret::from_bytes([0xa5; 16]);
        let text = secret.to_string();
        assert_eq!(text.len(), 26);
        assert_eq!(text.parse::<AddressSecret>().expect("a secret").to_bytes(), secret.to_bytes());
        assert_eq!(format!("{secret:?}"), "AddressSecret(..)");
        for wrong in ["", &text[1..], &text.to_uppercase(), "zzzzzzzzzzzzzzzzzzzzzzzzzz"] {
            assert!(wrong.parse::<AddressSecret>().is_err(), "{wrong}");
        }
    }
}
