//! Root keys that the operator gave, one of which opens a key ring: one, or two during a rotation.

use anyhow::{Context, bail};
use till_storage::rows::RowReader;
use till_storage::vault::{Keyring, KeyringError, RootKey, stored_keyring};

/// Opens the key ring of a store.
///
/// # Errors
/// Fails when it cannot be read, or there is none; otherwise the errors of [`open_keyring`].
pub(crate) fn open_stored_keyring(roots: &[RootKey], store: &dyn RowReader) -> anyhow::Result<Keyring> {
    let stored = stored_keyring(store).context("failed to read the key ring")?;
    open_keyring(roots, &stored.context("the store has no key ring")?)
}

/// Opens a key ring with the key that it is wrapped under.
///
/// # Errors
/// Fails when it is wrapped under neither key, with the names of both; or when it is damaged.
pub(crate) fn open_keyring(roots: &[RootKey], stored: &[u8]) -> anyhow::Result<Keyring> {
    for root in roots {
        match Keyring::open(root, stored) {
            Ok(keyring) => {
                log_key(root, roots);
                return Ok(keyring);
            }
            Err(KeyringError::WrongRootKey) => {}
            Err(error @ (KeyringError::UnknownFormat { .. } | KeyringError::Damaged { .. })) => {
                return Err(error.into());
            }
        }
    }
    let wanted = Keyring::root_key_name(stored).unwrap_or_default();
    let given: Vec<String> = roots.iter().map(RootKey::name).collect();
    bail!(
        "{}: it is wrapped under the key {wanted}, but {} was given",
        KeyringError::WrongRootKey,
        given.join(" and ")
    );
}

fn log_key(root: &RootKey, roots: &[RootKey]) {
    let key = root.name();
    if roots.len() == 1 {
        tracing::info!(key, "the key ring is wrapped under this vault key");
    } else {
        let others: Vec<String> = roots.iter().map(RootKey::name).filter(|name| *name != key).collect();
        let others = others.join(", ");
        tracing::warn!(key, others, "two vault keys are given; the key ring is wrapped under this one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<RootKey> {
        let key = |byte: &u8| RootKey::from_hex(&format!("{byte:02x}").repeat(32));
        bytes.iter().map(|byte| key(byte).unwrap_or_else(|error| panic!("{error}"))).collect()
    }

    fn stored() -> Vec<u8> {
        Keyring::create(&keys(&[1])[0]).unwrap_or_else(|error| panic!("{error}")).1
    }

    #[test]
    fn either_of_two_keys_opens_and_another_is_named() {
        for given in [&[1][..], &[1, 2], &[2, 1]] {
            assert!(open_keyring(&keys(given), &stored()).is_ok(), "{given:?}");
        }
        let error = open_keyring(&keys(&[2, 3]), &stored()).map(|_| ()).expect_err("neither").to_string();
        for key in keys(&[1, 2, 3]) {
            assert!(error.contains(&key.name()), "{}: {error}", key.name());
        }
    }

    #[test]
    fn a_damaged_key_ring_is_not_taken_for_a_wrong_key() {
        let mut stored = stored();
        stored[300] ^= 1;
        let error = open_keyring(&keys(&[2, 1]), &stored).map(|_| ()).expect_err("damaged").to_string();
        assert!(error.contains("damaged"), "{error}");
    }
}
