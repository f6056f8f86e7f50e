//! Secrets of webhooks, sealed for the vault.
//!
//! The secret that signs a webhook's deliveries is a row of the shape in `sealed.rs` under the purpose key
//! `api_key_secret`, which seals texts of API keys as well: the associated data is the row's own [`VaultKey`], so that
//! a row of one kind does not open as the other.

use till_domain::ids::MerchantId;
use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::row_owners::WebhookSecretOf;
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

/// Bytes of a webhook's secret: 32 of the HMAC key, 32 of the Ed25519 seed.
pub const WEBHOOK_SECRET_LEN: usize = 64;

/// A webhook's secret.
pub type WebhookSecretBytes = Zeroizing<[u8; WEBHOOK_SECRET_LEN]>;

impl Keyring {
    /// Seals a webhook's secret as the value of the row [`VaultKey::WebhookSecret`].
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_webhook_secret(
        &self,
        merchant: MerchantId,
        of: WebhookSecretOf,
        secret: &WebhookSecretBytes,
    ) -> Result<Vec<u8>, NoRandomness> {
        let associated = VaultKey::WebhookSecret { merchant, of }.encode();
        self.key(Purpose::ApiKeySecret).seal_row(&associated, secret.as_slice())
    }

    /// Opens the value of the row [`VaultKey::WebhookSecret`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another merchant or webhook;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open_webhook_secret(
        &self,
        merchant: MerchantId,
        of: WebhookSecretOf,
        row: &[u8],
    ) -> Result<WebhookSecretBytes, SealedError> {
        let associated = VaultKey::WebhookSecret { merchant, of }.encode();
        let secret = self.key(Purpose::ApiKeySecret).open_row(&associated, row)?;
        let bytes = <[u8; WEBHOOK_SECRET_LEN]>::try_from(secret.as_slice()).map_err(|_| SealedError::Content)?;
        Ok(Zeroizing::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{KeyId, WebhookId};
    use till_domain::webhook::SecretSlot;

    use super::super::keyring::fixed_keyring;
    use super::*;

    const SHOP: MerchantId = MerchantId::from_bytes([1; 16]);
    const WEBHOOK: WebhookId = WebhookId::from_bytes([3; 16]);

    #[test]
    fn a_webhook_secret_opens_only_for_its_own_key() {
        let of = WebhookSecretOf { webhook_id: WEBHOOK, slot: SecretSlot::First };
        let keyring = fixed_keyring();
        let secret = Zeroizing::new([7; WEBHOOK_SECRET_LEN]);
        let row = keyring.seal_webhook_secret(SHOP, of, &secret).expect("randomness");
        assert_eq!(keyring.open_webhook_secret(SHOP, of, &row).expect("opens"), secret);
        let other = WebhookSecretOf { webhook_id: WebhookId::from_bytes([4; 16]), ..of };
        for of in [WebhookSecretOf { slot: SecretSlot::Second, ..of }, other] {
            assert_eq!(keyring.open_webhook_secret(SHOP, of, &row), Err(SealedError::Refused), "{of:?}");
        }
        let other_merchant = MerchantId::from_bytes([2; 16]);
        assert_eq!(keyring.open_webhook_secret(other_merchant, of, &row), Err(SealedError::Refused));
        let key = KeyId::from_bytes([3; 16]);
        assert!(
            keyring.open_secret_text(VaultKey::ApiKeySecret { merchant: SHOP, key }, &row).is_err(),
            "it is no text of a key"
        );
    }
}
