//! Root keys from the operator's secrets, one of which opens a key ring.

use anyhow::{Context, bail};
use secrecy::ExposeSecret;
use till_storage::rows::RowReader;
use till_storage::vault::{Keyring, KeyringError, RootKey, stored_keyring};
use zeroize::Zeroizing;

use crate::configuration::VaultKeySecret;

/// The root keys that the operator gave: one, or two during a rotation, either of which may open the key ring.
#[derive(Debug)]
pub struct RootKeys(Vec<RootKey>);

impl RootKeys {
    /// From the configured secrets.
    ///
    /// # Errors
    /// Fails when one is not a valid root key; the message does not show it.
    pub fn from_secrets(secrets: &[VaultKeySecret]) -> anyhow::Result<RootKeys> {
        Ok(RootKeys(secrets.iter().map(root_key).collect::<anyhow::Result<_>>()?))
    }

    /// The key under which a new key ring is wrapped: the last one, which is the newest.
    ///
    /// # Panics
    /// Never: there is at least one.
    #[must_use]
    pub fn newest(&self) -> &RootKey {
        self.0.last().expect("secrets are one or two")
    }

    /// Opens the key ring of a store.
    ///
    /// # Errors
    /// Fails when it cannot be read, or there is none; otherwise the errors of [`RootKeys::open`].
    pub fn open_stored(&self, store: &dyn RowReader) -> anyhow::Result<Keyring> {
        let stored = stored_keyring(store).context("failed to read the key ring")?;
        self.open(&stored.context("the store has no key ring")?)
    }

    /// Opens a key ring with the key that it is wrapped under.
    ///
    /// # Errors
    /// Fails when it is wrapped under neither key, with the names of both; or when it is damaged.
    pub fn open(&self, stored: &[u8]) -> anyhow::Result<Keyring> {
        for root in &self.0 {
            match Keyring::open(root, stored) {
                Ok(keyring) => {
                    self.log_key(root);
                    return Ok(keyring);
                }
                Err(KeyringError::WrongRootKey) => {}
                Err(error @ (KeyringError::UnknownFormat { .. } | KeyringError::Damaged { .. })) => {
                    return Err(error.into());
                }
            }
        }
        let wanted = Keyring::root_key_name(stored).unwrap_or_default();
        let given: Vec<String> = self.0.iter().map(RootKey::name).collect();
        bail!(
            "{}: it is wrapped under the key {wanted}, but {} was given",
            KeyringError::WrongRootKey,
            given.join(" and ")
        );
    }

    fn log_key(&self, root: &RootKey) {
        let key = root.name();
        if self.0.len() == 1 {
            tracing::info!(key, "the key ring is wrapped under this vault key");
        } else {
            let others: Vec<String> = self.0.iter().map(RootKey::name).filter(|name| *name != key).collect();
            let others = others.join(", ");
            tracing::warn!(key, others, "two vault keys are given; the key ring is wrapped under this one");
        }
    }
}

fn root_key(secret: &VaultKeySecret) -> anyhow::Result<RootKey> {
    let mut text = Zeroizing::new(String::with_capacity(64));
    for byte in secret.expose_secret() {
        std::fmt::Write::write_fmt(&mut *text, format_args!("{byte:02x}")).expect("writing to a string cannot fail");
    }
    Ok(RootKey::from_hex(&text)?)
}

#[cfg(test)]
mod tests {
    use secrecy::SecretBox;

    use super::*;

    fn keys(bytes: &[u8]) -> RootKeys {
        let secrets: Vec<VaultKeySecret> = bytes.iter().map(|byte| SecretBox::new(Box::new([*byte; 32]))).collect();
        RootKeys::from_secrets(&secrets).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn either_of_two_keys_opens_and_another_is_named() {
        let (_, stored) = Keyring::create(keys(&[1]).newest()).unwrap_or_else(|error| panic!("{error}"));
        for given in [&[1][..], &[1, 2], &[2, 1]] {
            assert!(keys(given).open(&stored).is_ok(), "{given:?}");
        }
        let error = keys(&[2, 3]).open(&stored).map(|_| ()).expect_err("neither").to_string();
        for name in [keys(&[1]), keys(&[2]), keys(&[3])].map(|keys| keys.newest().name()) {
            assert!(error.contains(&name), "{name}: {error}");
        }
    }

    #[test]
    fn a_damaged_key_ring_is_not_taken_for_a_wrong_key() {
        let (_, mut stored) = Keyring::create(keys(&[1]).newest()).unwrap_or_else(|error| panic!("{error}"));
        stored[300] ^= 1;
        let error = keys(&[2, 1]).open(&stored).map(|_| ()).expect_err("damaged").to_string();
        assert!(error.contains("damaged"), "{error}");
    }
}
