//! What a member of a team signs in with, sealed for the vault.
//!
//! Shape of the plaintext (offsets in bytes), in a row of the shape in `sealed.rs` under the purpose key
//! `api_key_secret`, whose associated data is the row's own [`VaultKey`]:
//! ```text
//!     0 format (1) = 1 | 1 salt (16) | 17 hash of the password (32) | 49 secret of the authenticator (20)
//!    69 ten digests of recovery codes (32 each), in the order of their numbers
//!   389 end
//! ```
//! Format 1: the password is hashed by Argon2id with 19 MiB, 2 passes and 1 lane.

use till_domain::ids::{MerchantId, UserId};
use till_domain::team::RECOVERY_CODES;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keyring::{Keyring, Purpose};
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

const FORMAT: u8 = 1;
const RECOVERY_FROM: usize = 1 + 16 + 32 + 20;

/// Names the key of the digests of recovery codes. Part of the format.
const RECOVERY_CONTEXT: &str = "till vault 1: digest of a recovery code";

/// What a member signs in with. Zeroized when dropped, and never shown.
#[derive(Clone, Default, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Credentials {
    /// The salt of the hash.
    pub salt: [u8; 16],
    /// The hash of the password.
    pub password: [u8; 32],
    /// The secret that the authenticator knows, too.
    pub authenticator: [u8; 20],
    /// The digests of the recovery codes.
    pub recovery: [[u8; 32]; RECOVERY_CODES],
}

impl Credentials {
    /// Bytes of the shape.
    pub const LEN: usize = RECOVERY_FROM + 32 * RECOVERY_CODES;

    /// The bytes of the shape above.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0] = FORMAT;
        bytes[1..17].copy_from_slice(&self.salt);
        bytes[17..49].copy_from_slice(&self.password);
        bytes[49..RECOVERY_FROM].copy_from_slice(&self.authenticator);
        bytes[RECOVERY_FROM..].copy_from_slice(self.recovery.as_flattened());
        bytes
    }

    /// The credentials with these bytes; none when they are of another shape.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Credentials> {
        let (&format, rest) = bytes.split_first()?;
        let (salt, rest) = rest.split_first_chunk()?;
        let (password, rest) = rest.split_first_chunk()?;
        let (authenticator, rest) = rest.split_first_chunk()?;
        let recovery = <&[[u8; 32]; RECOVERY_CODES]>::try_from(rest.as_chunks().0).ok()?;
        let credentials =
            Credentials { salt: *salt, password: *password, authenticator: *authenticator, recovery: *recovery };
        (format == FORMAT && bytes.len() == Self::LEN).then_some(credentials)
    }
}

impl Keyring {
    /// Seals a member's credentials as the value of the row [`VaultKey::Credentials`].
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_credentials(
        &self,
        merchant: MerchantId,
        user: UserId,
        credentials: &Credentials,
    ) -> Result<Vec<u8>, NoRandomness> {
        let key = VaultKey::Credentials { merchant, user }.encode();
        let mut bytes = credentials.encode();
        let sealed = self.key(Purpose::ApiKeySecret).seal_row(&key, &bytes);
        bytes.zeroize();
        sealed
    }

    /// Opens the value of the row [`VaultKey::Credentials`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another member; [`SealedError::UnknownFormat`]
    /// means "upgrade the program".
    pub fn open_credentials(&self, merchant: MerchantId, user: UserId, row: &[u8]) -> Result<Credentials, SealedError> {
        let key = VaultKey::Credentials { merchant, user }.encode();
        let bytes = self.key(Purpose::ApiKeySecret).open_row(&key, row)?;
        Credentials::decode(&bytes).ok_or(SealedError::Content)
    }

    /// The stored form of a recovery code of a member of this merchant: a keyed digest.
    #[must_use]
    pub fn recovery_code_digest(&self, merchant: MerchantId, code: &str) -> [u8; 32] {
        self.key(Purpose::ApiKeyDigest).derive(RECOVERY_CONTEXT).digest(&[&merchant.to_bytes(), code.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::super::keyring::fixed_keyring;
    use super::*;

    const SHOP: MerchantId = MerchantId::from_bytes([1; 16]);
    const MEMBER: UserId = UserId::from_bytes([3; 16]);

    fn credentials() -> Credentials {
        let recovery = std::array::from_fn(|number| [u8::try_from(number).expect("below 10"); 32]);
        Credentials { salt: [0x5a; 16], password: [0x70; 32], authenticator: [0x61; 20], recovery }
    }

    #[test]
    fn credentials_open_only_for_their_member() {
        let (keyring, credentials) = (fixed_keyring(), credentials());
        let row = keyring.seal_credentials(SHOP, MEMBER, &credentials).expect("randomness");
        assert!(keyring.open_credentials(SHOP, MEMBER, &row).is_ok_and(|opened| opened == credentials));
        for (merchant, user) in [(MerchantId::from_bytes([2; 16]), MEMBER), (SHOP, UserId::from_bytes([4; 16]))] {
            assert_eq!(keyring.open_credentials(merchant, user, &row).err(), Some(SealedError::Refused));
        }
        let key = till_domain::ids::KeyId::from_bytes([3; 16]);
        assert!(keyring.open_secret_text(VaultKey::ApiKeySecret { merchant: SHOP, key }, &row).is_err());
    }

    #[test]
    fn the_bytes_are_those_on_disk_since_format_1() {
        let bytes = credentials().encode();
        assert_eq!((bytes.len(), bytes[0], &bytes[1..3], bytes[17], bytes[49]), (389, 1, &[0x5a; 2][..], 0x70, 0x61));
        assert_eq!((bytes[69], bytes[100], bytes[101], bytes[388]), (0, 0, 1, 9));
        assert!(
            Credentials::decode(&bytes[..388]).is_none() && Credentials::decode(&[&bytes[..], &[0]].concat()).is_none()
        );
        let mut other = bytes;
        other[0] = 2;
        assert!(Credentials::decode(&other).is_none(), "a later program wrote it");
    }

    #[test]
    fn digests_of_recovery_codes_differ_between_merchants() {
        let digest =
            |merchant: u8, code| fixed_keyring().recovery_code_digest(MerchantId::from_bytes([merchant; 16]), code);
        assert_eq!(digest(1, "ABCDEFGHIJ"), digest(1, "ABCDEFGHIJ"));
        assert!(
            digest(1, "ABCDEFGHIJ") != digest(2, "ABCDEFGHIJ") && digest(1, "ABCDEFGHIJ") != digest(1, "ABCDEFGHIK")
        );
    }
}
