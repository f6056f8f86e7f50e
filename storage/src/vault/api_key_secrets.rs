//! API keys that are kept for a limited time in sealed form.
//!
//! An API key is shown once and otherwise kept as a digest. But a `generate-key` that is repeated with the
//! same Idempotency-Key must be answered again with the same key, so its text is sealed in a row of its own,
//! which is deleted together with the stored answer. The row has the shape in `sealed.rs`, under the purpose
//! key `api_key_secret`; its associated data is its own [`VaultKey`].

use till_domain::ids::{KeyId, MerchantId};
use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

impl Keyring {
    /// Seals the text of an API key as the value of the row [`VaultKey::ApiKeySecret`].
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_api_key_secret(&self, merchant: MerchantId, key: KeyId, secret: &str) -> Result<Vec<u8>, NoRandomness> {
        let associated = VaultKey::ApiKeySecret { merchant, key }.encode();
        self.key(Purpose::ApiKeySecret).seal_row(&associated, secret.as_bytes())
    }

    /// Opens the value of the row [`VaultKey::ApiKeySecret`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another merchant or API key;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open_api_key_secret(
        &self,
        merchant: MerchantId,
        key: KeyId,
        row: &[u8],
    ) -> Result<Zeroizing<String>, SealedError> {
        let associated = VaultKey::ApiKeySecret { merchant, key }.encode();
        let secret = self.key(Purpose::ApiKeySecret).open_row(&associated, row)?;
        let text = std::str::from_utf8(&secret).map_err(|_| SealedError::Content)?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::keyring::fixed_keyring;
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const KEY: KeyId = KeyId::from_bytes([3; 16]);
    const SECRET: &str = "sk_0123456789";

    #[test]
    fn a_sealed_api_key_opens_for_its_merchant_and_key_id() {
        let row = fixed_keyring().seal_api_key_secret(ONE, KEY, SECRET).expect("randomness");
        assert_eq!(fixed_keyring().open_api_key_secret(ONE, KEY, &row).expect("opens").as_str(), SECRET);
        assert!(!row.windows(4).any(|window| window == b"0123"), "the row must not contain the text");
    }

    #[test]
    fn a_sealed_api_key_moved_to_another_owner_does_not_open() {
        let row = fixed_keyring().seal_api_key_secret(ONE, KEY, SECRET).expect("randomness");
        let (other_merchant, other_key) = (MerchantId::from_bytes([2; 16]), KeyId::from_bytes([4; 16]));
        assert_eq!(fixed_keyring().open_api_key_secret(other_merchant, KEY, &row), Err(SealedError::Refused));
        assert_eq!(fixed_keyring().open_api_key_secret(ONE, other_key, &row), Err(SealedError::Refused));
    }

    #[test]
    fn a_sealed_api_key_with_any_byte_flipped_does_not_open() {
        let row = fixed_keyring().seal_api_key_secret(ONE, KEY, SECRET).expect("randomness");
        for index in 0..row.len() {
            let mut flipped = row.clone();
            flipped[index] ^= 0x80;
            assert!(fixed_keyring().open_api_key_secret(ONE, KEY, &flipped).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_row_that_an_older_release_wrote_opens() {
        let associated = VaultKey::ApiKeySecret { merchant: ONE, key: KEY }.encode();
        let row = fixed_keyring().key(Purpose::ApiKeySecret).seal_row_with(&[9; 24], &associated, SECRET.as_bytes());
        assert_eq!(row, GOLDEN_ROW);
        assert_eq!(fixed_keyring().open_api_key_secret(ONE, KEY, &GOLDEN_ROW).expect("opens").as_str(), SECRET);
    }

    #[rustfmt::skip]
    const GOLDEN_ROW: [u8; 54] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0xcd, 0x19, 0xbd, 0xba, 0x4d, 0x98, 0x4a,
        0x56, 0xc1, 0x24, 0x3f, 0x04, 0x51, 0xbb, 0xc7, 0xf9, 0xc7, 0x0e, 0x0f, 0x98, 0x5d, 0xfb, 0x56,
        0xc8, 0x0f, 0x1e, 0x8c, 0x3b, 0xd7,
    ];
}
