//! The row of the key ring.

use crate::family::Family;
use crate::rows::{RowError, RowReader, RowWrite, RowWrites};

use super::VaultKey;

/// The bytes of a store's key ring, if it has one.
///
/// # Errors
/// Fails when they cannot be read.
pub fn stored_keyring(rows: &(impl RowReader + ?Sized)) -> Result<Option<Vec<u8>>, RowError> {
    rows.get(Family::Vault, &VaultKey::Keyring.encode())
}

/// The write that makes these bytes the store's key ring.
#[must_use]
pub fn keyring_write(bytes: &[u8]) -> RowWrites {
    let key = VaultKey::Keyring.encode();
    [RowWrite { family: Family::Vault, key: &key, value: Some(bytes) }].into_iter().collect()
}
