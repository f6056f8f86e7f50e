//! Secrets that are texts, sealed for the vault: API keys for a limited time, and secrets of accounts at acquirers.
//!
//! An API key is shown once and otherwise kept as a digest. But a `generate-key` that is repeated with the
//! same Idempotency-Key must be answered again with the same key, so its text is sealed in a row of its own,
//! which is deleted together with the stored answer.
//!
//! Each row has the shape in `sealed.rs`, under the purpose key `api_key_secret`, as the secrets of webhooks have: its
//! associated data is its own [`VaultKey`], so that a row of one kind does not open as another.

use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

/// The largest number of bytes of a secret of an account at an acquirer: acquirers give some hundred.
pub const ACCOUNT_SECRET_MAX_BYTES: usize = 255;

impl Keyring {
    /// Seals a text as the value of the row of this key: [`VaultKey::ApiKeySecret`] or [`VaultKey::AccountSecret`].
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_secret_text(&self, key: VaultKey, text: &str) -> Result<Vec<u8>, NoRandomness> {
        self.key(Purpose::ApiKeySecret).seal_row(&key.encode(), text.as_bytes())
    }

    /// Opens the value of the row of this key.
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another key; [`SealedError::UnknownFormat`]
    /// means "upgrade the program".
    pub fn open_secret_text(&self, key: VaultKey, row: &[u8]) -> Result<Zeroizing<String>, SealedError> {
        let secret = self.key(Purpose::ApiKeySecret).open_row(&key.encode(), row)?;
        let text = std::str::from_utf8(&secret).map_err(|_| SealedError::Content)?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use till_domain::acquirer::AccountSecret;
    use till_domain::ids::{AcquirerId, KeyId, MerchantId};

    use super::super::keyring::fixed_keyring;
    use super::super::row_owners::AccountSecretOf;
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const KEY: VaultKey = VaultKey::ApiKeySecret { merchant: ONE, key: KeyId::from_bytes([3; 16]) };
    const SECRET: &str = "sk_0123456789";
    const ACCOUNT: AccountSecretOf =
        AccountSecretOf { acquirer_id: AcquirerId::from_bytes([3; 16]), secret: AccountSecret::Calls };
    const ACCOUNT_SECRET: &str = "sk_test_0123456789";

    #[test]
    fn a_sealed_api_key_opens_for_its_merchant_and_key_id() {
        let row = fixed_keyring().seal_secret_text(KEY, SECRET).expect("randomness");
        assert_eq!(fixed_keyring().open_secret_text(KEY, &row).expect("opens").as_str(), SECRET);
        assert!(!row.windows(4).any(|window| window == b"0123"), "the row must not contain the text");
    }

    #[test]
    fn a_sealed_api_key_moved_to_another_owner_does_not_open() {
        let row = fixed_keyring().seal_secret_text(KEY, SECRET).expect("randomness");
        let other_merchant =
            VaultKey::ApiKeySecret { merchant: MerchantId::from_bytes([2; 16]), key: KeyId::from_bytes([3; 16]) };
        let other_key = VaultKey::ApiKeySecret { merchant: ONE, key: KeyId::from_bytes([4; 16]) };
        for other in [other_merchant, other_key] {
            assert_eq!(fixed_keyring().open_secret_text(other, &row), Err(SealedError::Refused), "{other:?}");
        }
    }

    #[test]
    fn a_sealed_api_key_with_any_byte_flipped_does_not_open() {
        let row = fixed_keyring().seal_secret_text(KEY, SECRET).expect("randomness");
        for index in 0..row.len() {
            let mut flipped = row.clone();
            flipped[index] ^= 0x80;
            assert!(fixed_keyring().open_secret_text(KEY, &flipped).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_row_that_an_older_release_wrote_opens() {
        let row = fixed_keyring().key(Purpose::ApiKeySecret).seal_row_with(&[9; 24], &KEY.encode(), SECRET.as_bytes());
        assert_eq!(row, GOLDEN_ROW);
        assert_eq!(fixed_keyring().open_secret_text(KEY, &GOLDEN_ROW).expect("opens").as_str(), SECRET);
    }

    #[rustfmt::skip]
    const GOLDEN_ROW: [u8; 54] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0xcd, 0x19, 0xbd, 0xba, 0x4d, 0x98, 0x4a,
        0x56, 0xc1, 0x24, 0x3f, 0x04, 0x51, 0xbb, 0xc7, 0xf9, 0xc7, 0x0e, 0x0f, 0x98, 0x5d, 0xfb, 0x56,
        0xc8, 0x0f, 0x1e, 0x8c, 0x3b, 0xd7,
    ];

    const fn of_account(merchant: MerchantId, of: AccountSecretOf) -> VaultKey {
        VaultKey::AccountSecret { merchant, of }
    }

    #[test]
    fn an_account_secret_opens_only_for_its_own_key() {
        let (keyring, own) = (fixed_keyring(), of_account(ONE, ACCOUNT));
        let row = keyring.seal_secret_text(own, ACCOUNT_SECRET).expect("randomness");
        assert_eq!(keyring.open_secret_text(own, &row).expect("opens").as_str(), ACCOUNT_SECRET);
        assert!(!row.windows(4).any(|window| window == b"0123"), "the row must not contain the text");
        let other_account = AccountSecretOf { acquirer_id: AcquirerId::from_bytes([4; 16]), ..ACCOUNT };
        for other in [
            of_account(ONE, AccountSecretOf { secret: AccountSecret::Notices, ..ACCOUNT }),
            of_account(ONE, other_account),
            of_account(MerchantId::from_bytes([2; 16]), ACCOUNT),
            KEY,
        ] {
            assert_eq!(keyring.open_secret_text(other, &row), Err(SealedError::Refused), "{other:?}");
        }
    }

    #[test]
    fn a_row_of_an_account_that_an_older_release_wrote_opens() {
        let (keyring, own) = (fixed_keyring(), of_account(ONE, ACCOUNT));
        let text = ACCOUNT_SECRET.as_bytes();
        let row = keyring.key(Purpose::ApiKeySecret).seal_row_with(&[9; 24], &own.encode(), text);
        assert_eq!(row, GOLDEN_ACCOUNT_ROW);
        assert_eq!(keyring.open_secret_text(own, &GOLDEN_ACCOUNT_ROW).expect("opens").as_str(), ACCOUNT_SECRET);
    }

    #[rustfmt::skip]
    const GOLDEN_ACCOUNT_ROW: [u8; 59] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0xcd, 0x19, 0xbd, 0xfe, 0x19, 0xd9, 0x0d,
        0x3d, 0xc4, 0x23, 0x3a, 0x0f, 0x5c, 0x46, 0x31, 0xdc, 0x12, 0xca, 0xf3, 0x8d, 0xf0, 0xa2, 0x47,
        0x31, 0x05, 0xcd, 0x16, 0x16, 0xc0, 0xbd, 0x9a, 0x14, 0x6c, 0x21,
    ];
}
