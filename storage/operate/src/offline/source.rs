//! A store that no server uses: a data directory, or a checkpoint.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use till_domain::ids::MerchantId;
use till_storage::engine::{EngineOptions, StoppedStore, refuse_unfit};
use till_storage::journal::layout::each_log;
use till_storage::journal::{CommitNumber, Head};
use till_storage::rows::RowReader;
use till_storage::shapes::{Disclosure, MerchantReader};
use till_storage::vault::Keyring;

use crate::checkpoint::{MANIFEST_FILE, read_manifest};

/// Opens the key ring of a store.
pub type OpenKeyring<'a> = &'a dyn Fn(&dyn RowReader) -> anyhow::Result<Keyring>;

/// An open store. While it is open no server can start on it, and nobody writes to it.
pub struct Source {
    store: StoppedStore,
    /// Present when personal data is to be opened.
    keyring: Option<Arc<Keyring>>,
}

impl Source {
    /// Opens the store of a directory. `open_keyring` opens its key ring, and with it personal data; without it
    /// personal data stays sealed.
    ///
    /// # Errors
    /// An error when it cannot be opened, or is a checkpoint that was not finished.
    pub fn open(
        directory: &Path,
        open_time_max: Duration,
        open_keyring: Option<OpenKeyring<'_>>,
    ) -> anyhow::Result<Source> {
        if !directory.join("db").exists() {
            refuse_unfit(directory)?;
            bail!("there is no data in {}", directory.display());
        }
        if directory.join(MANIFEST_FILE).exists() || directory.extension().is_some_and(|end| end == "in-progress") {
            read_manifest(directory)?;
        }
        let options = EngineOptions { open_limit: open_time_max, ..EngineOptions::new(directory) };
        let store = StoppedStore::open(&options)?;
        let missing = store.last_commit()?.next()..=store.acknowledged();
        if !missing.is_empty() {
            bail!("acknowledged commits {} to {} are missing: see till verify", missing.start(), missing.end());
        }
        let keyring = open_keyring.map(|open| open(&store)).transpose()?.map(Arc::new);
        Ok(Source { store, keyring })
    }

    /// Says if personal data is shown.
    #[must_use]
    pub const fn disclosure(&self) -> Disclosure {
        if self.keyring.is_some() { Disclosure::Opened } else { Disclosure::Sealed }
    }

    pub(super) const fn rows(&self) -> &dyn RowReader {
        &self.store
    }

    pub(super) fn last_commit(&self) -> anyhow::Result<CommitNumber> {
        Ok(self.store.last_commit()?)
    }

    /// The merchants that have a log, with its end, in the order of their ids.
    pub(super) fn merchants(&self) -> anyhow::Result<Vec<(MerchantId, Head)>> {
        let mut merchants = Vec::new();
        each_log(&self.store, &mut |merchant_id, head| -> anyhow::Result<()> {
            merchants.push((merchant_id, head));
            Ok(())
        })?;
        Ok(merchants)
    }

    /// The end of one merchant's log.
    pub(super) fn head(&self, merchant_id: MerchantId) -> anyhow::Result<Head> {
        let found = self.merchants()?.into_iter().find(|(id, _)| *id == merchant_id);
        found.map(|(_, head)| head).with_context(|| format!("there is no merchant {merchant_id} in this store"))
    }

    /// Reads a merchant's rows, with its personal data opened or sealed.
    pub(super) fn reader(&self, merchant_id: MerchantId) -> MerchantReader<&dyn RowReader> {
        MerchantReader::new(merchant_id, self.keyring.clone(), self.rows())
    }
}
