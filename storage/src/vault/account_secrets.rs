//! Secrets of accounts at acquirers, sealed for the vault.
//!
//! Each is a row of the shape in `sealed.rs` under the purpose key `api_key_secret`, as the secrets of webhooks are:
//! the associated data is the row's own [`VaultKey`], so that a row of one kind does not open as the other.

use till_domain::ids::MerchantId;
use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::row_owners::AccountSecretOf;
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

/// The largest number of bytes of a secret: acquirers give some hundred.
pub const ACCOUNT_SECRET_MAX_BYTES: usize = 255;

impl Keyring {
    /// Seals a secret as the value of the row [`VaultKey::AccountSecret`].
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_account_secret(
        &self,
        merchant: MerchantId,
        of: AccountSecretOf,
        secret: &str,
    ) -> Result<Vec<u8>, NoRandomness> {
        let associated = VaultKey::AccountSecret { merchant, of }.encode();
        self.key(Purpose::ApiKeySecret).seal_row(&associated, secret.as_bytes())
    }

    /// Opens the value of the row [`VaultKey::AccountSecret`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another merchant, account or kind of secret;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open_account_secret(
        &self,
        merchant: MerchantId,
        of: AccountSecretOf,
        row: &[u8],
    ) -> Result<Zeroizing<String>, SealedError> {
        let associated = VaultKey::AccountSecret { merchant, of }.encode();
        let secret = self.key(Purpose::ApiKeySecret).open_row(&associated, row)?;
        let text = std::str::from_utf8(&secret).map_err(|_| SealedError::Content)?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use till_domain::acquirer::AccountSecret;
    use till_domain::ids::{AcquirerId, KeyId};

    use super::super::keyring::fixed_keyring;
    use super::*;

    const SHOP: MerchantId = MerchantId::from_bytes([1; 16]);
    const ACCOUNT: AccountSecretOf =
        AccountSecretOf { acquirer_id: AcquirerId::from_bytes([3; 16]), secret: AccountSecret::Calls };
    const SECRET: &str = "sk_test_0123456789";

    #[test]
    fn an_account_secret_opens_only_for_its_own_key() {
        let keyring = fixed_keyring();
        let row = keyring.seal_account_secret(SHOP, ACCOUNT, SECRET).expect("randomness");
        assert_eq!(keyring.open_account_secret(SHOP, ACCOUNT, &row).expect("opens").as_str(), SECRET);
        assert!(!row.windows(4).any(|window| window == b"0123"), "the row must not contain the text");
        let other = AccountSecretOf { acquirer_id: AcquirerId::from_bytes([4; 16]), ..ACCOUNT };
        for of in [AccountSecretOf { secret: AccountSecret::Notices, ..ACCOUNT }, other] {
            assert_eq!(keyring.open_account_secret(SHOP, of, &row), Err(SealedError::Refused), "{of:?}");
        }
        let other_merchant = MerchantId::from_bytes([2; 16]);
        assert_eq!(keyring.open_account_secret(other_merchant, ACCOUNT, &row), Err(SealedError::Refused));
        let key = KeyId::from_bytes([3; 16]);
        assert!(keyring.open_api_key_secret(SHOP, key, &row).is_err(), "it is no text of a key");
    }

    #[test]
    fn a_row_that_an_older_release_wrote_opens() {
        let associated = VaultKey::AccountSecret { merchant: SHOP, of: ACCOUNT }.encode();
        let row = fixed_keyring().key(Purpose::ApiKeySecret).seal_row_with(&[9; 24], &associated, SECRET.as_bytes());
        assert_eq!(row, GOLDEN_ROW);
        assert_eq!(fixed_keyring().open_account_secret(SHOP, ACCOUNT, &GOLDEN_ROW).expect("opens").as_str(), SECRET);
    }

    #[rustfmt::skip]
    const GOLDEN_ROW: [u8; 59] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0xcd, 0x19, 0xbd, 0xfe, 0x19, 0xd9, 0x0d,
        0x3d, 0xc4, 0x23, 0x3a, 0x0f, 0x5c, 0x46, 0x31, 0xdc, 0x12, 0xca, 0xf3, 0x8d, 0xf0, 0xa2, 0x47,
        0x31, 0x05, 0xcd, 0x16, 0x16, 0xc0, 0xbd, 0x9a, 0x14, 0x6c, 0x21,
    ];
}
