//! The key ring of a store: opened, made at the first start, and wrapped anew while the server runs.

use std::sync::Arc;

use anyhow::{Context, bail};
use till_domain::ids::MerchantId;
use till_storage::disk_store::DiskStore;
use till_storage::journal::{Append, AppendVerdict, Journal};
use till_storage::vault::{Keyring, RootKey, keyring_write, stored_keyring};

use super::ending::abort_with_message;
use super::vault_keys;
use crate::service::RewrapKeyring;

/// The log of no merchant. Data of the store as a whole is written under it, without records.
const STORE_ITSELF: MerchantId = MerchantId::from_bytes([0; 16]);

/// Opens the stored key ring; there is none before the first start.
pub(super) fn open_found(
    stored: Option<Vec<u8>>,
    roots: &[RootKey],
    has_records: bool,
) -> anyhow::Result<Option<Keyring>> {
    match stored {
        Some(stored) => vault_keys::open_keyring(roots, &stored).map(Some),
        None if has_records => {
            bail!(
                "the store has records but no key ring: it cannot be used. Restore it from a checkpoint, or the \
                    database of the log from its backup."
            )
        }
        None => Ok(None),
    }
}

/// Creates the key ring at the first start.
pub(super) fn create(store: &DiskStore, roots: &[RootKey]) -> anyhow::Result<Keyring> {
    let (keyring, bytes) = Keyring::create(roots.last().expect("root keys are one or two"))?;
    keep_keyring(store, &bytes)?;
    Ok(keyring)
}

/// The key ring of a running store.
pub(super) struct RunningKeyring {
    pub(super) store: Arc<DiskStore>,
    pub(super) keyring: Arc<Keyring>,
    /// Allows one rewrap at a time.
    pub(super) rewrapping: parking_lot::Mutex<()>,
}

impl RewrapKeyring for RunningKeyring {
    fn rewrap(&self, root: &RootKey) -> anyhow::Result<bool> {
        let _one_at_a_time = self.rewrapping.lock();
        let stored = stored_keyring(&*self.store).context("failed to read the key ring")?;
        let stored = stored.context("the store has no key ring")?;
        let (before, key) = (Keyring::root_key_name(&stored).unwrap_or_default(), root.name());
        // Compares the key itself, not only its name, since the answer must be true of the key.
        if Keyring::open(root, &stored).is_ok() {
            return Ok(false);
        }
        keep_keyring(&self.store, &self.keyring.rewrap(root)?)?;
        tracing::warn!(key, before, "the key ring is wrapped under another vault key from now on");
        Ok(true)
    }
}

/// Writes the key ring, durably and as a whole.
fn keep_keyring(store: &DiskStore, bytes: &[u8]) -> anyhow::Result<()> {
    let claim = store.claim(STORE_ITSELF).context("failed to claim the store")?;
    let nothing = Append::nothing(STORE_ITSELF, claim.epoch, claim.head);
    let append = Append { vault: keyring_write(bytes), may_use_reserve: true, ..nothing };
    let verdicts = store.append(vec![append]);
    store.release(STORE_ITSELF, claim.epoch);
    match verdicts.as_slice() {
        [AppendVerdict::Committed(_)] => Ok(()),
        [AppendVerdict::Ambiguous(reason)] => {
            abort_with_message(reason.clone());
            bail!("the outcome of writing the key ring is unknown: {reason}")
        }
        other => bail!("failed to write the key ring: {other:?}"),
    }
}
