//! What a browser keeps for the server, sealed: cookies, and hidden values of forms. The browser can neither read nor
//! change them, and the server need not keep them.
//!
//! Each has the shape in `sealed.rs`, under a key that is derived from the purpose key `address_secret` with the
//! context below. Its associated data names its kind and owner, so that one of another kind or owner does not open.

use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::sealed::NoRandomness;

/// Names the key.
const CONTEXT: &str = "till vault 1: what a browser keeps sealed";

impl Keyring {
    /// Seals a value for a browser.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_for_browser(&self, associated: &[u8], value: &[u8]) -> Result<Vec<u8>, NoRandomness> {
        self.key(Purpose::AddressSecret).derive(CONTEXT).seal_row(associated, value)
    }

    /// Opens what a browser sends back. None when this server did not seal it for the same kind and owner.
    #[must_use]
    pub fn open_from_browser(&self, associated: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.key(Purpose::AddressSecret).derive(CONTEXT).open_row(associated, sealed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::keyring::fixed_keyring;

    #[test]
    fn a_value_opens_for_its_kind_and_owner_as_long_as_no_bit_of_it_changes() {
        let keyring = fixed_keyring();
        let sealed = keyring.seal_for_browser(b"session of a", b"value").expect("randomness");
        let opened = keyring.open_from_browser(b"session of a", &sealed).expect("its own");
        assert_eq!(opened.as_slice(), b"value");
        assert_eq!(keyring.open_from_browser(b"session of b", &sealed), None);
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(keyring.open_from_browser(b"session of a", &flipped), None, "bit {bit}");
        }
        assert_eq!(keyring.open_from_browser(b"session of a", b""), None);
    }
}
