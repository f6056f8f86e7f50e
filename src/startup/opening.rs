//! The data directory, opened, with nothing running on it.

use std::sync::Arc;

use anyhow::Context;
use till_actors::acquirer::Connectors;
use till_actors::{Acquirers, Store};
use till_operate::archive::{Archiver, check_place};
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::RocksBook;
use till_storage::deliveries::RocksDeliveries;
use till_storage::disk_store::DiskStore;
use till_storage::engine::{EngineOptions, refuse_unfit};
use till_storage::journal::CommitNumber;
use till_storage::vault::{Keyring, RootKey};
use till_stripe::StripeConnector;

use super::beside::{open_book, open_deliveries};
use super::data_directory::check_data_directory;
use super::ending::abort_with_message;
use super::log_place::{LogPlace, OpenStore};
use crate::configuration::Configuration;
use crate::process::descriptors::DescriptorShares;

/// The directory of the store's database, below the data directory.
pub(super) const DATABASE_DIRECTORY: &str = "db";

/// An open data directory, with nothing running on it.
pub struct Opened {
    pub(super) store: Arc<DiskStore>,
    /// The keys of each purpose.
    pub keyring: Arc<Keyring>,
    pub(super) book: RocksBook,
    pub(super) deliveries: Arc<RocksDeliveries>,
    pub(super) sandbox: Arc<SandboxAcquirer>,
}

/// The buffers of an open store.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    /// Bytes of table blocks cached in memory.
    pub block_cache_bytes: usize,
    /// Bytes of rows that are not in tables yet.
    pub memtable_bytes: usize,
    /// The limit of bytes of the log: a start after a crash reads it twice.
    pub wal_bytes_max: u64,
}

impl Opened {
    /// The open directory, with the place of the log and the archiver of a server.
    pub(super) fn of(open: OpenStore<Beside>) -> (Opened, LogPlace, Option<Archiver>) {
        let OpenStore { store, keyring, beside, place, archiver } = open;
        let Beside { book, deliveries, sandbox } = beside;
        let (store, keyring, deliveries) = (Arc::new(store), Arc::new(keyring), Arc::new(deliveries));
        (Opened { store, keyring, book, deliveries, sandbox: Arc::new(sandbox) }, place, archiver)
    }

    /// The journal with its rows.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    /// The acquirers, without any that has accounts.
    #[must_use]
    pub fn acquirers(&self) -> Acquirers {
        Acquirers::new(Arc::clone(&self.sandbox) as _, Connectors::new())
    }

    /// Closes the stores.
    ///
    /// # Errors
    /// Fails when a store does not close. Acknowledged commits are durable nevertheless.
    pub fn close(self) -> anyhow::Result<()> {
        drop(self.sandbox);
        self.store.close().context("failed to close the store")
    }
}

/// Opens the data directory, or creates it, with other buffers than those of a server.
///
/// # Errors
/// A reason that the operator must know: the store is damaged, in use or of a newer format, or the vault key is wrong.
pub fn open_with(configuration: &Configuration, vault_keys: &[RootKey], buffers: &Buffers) -> anyhow::Result<Opened> {
    let Buffers { block_cache_bytes, memtable_bytes, wal_bytes_max } = *buffers;
    let options = EngineOptions { block_cache_bytes, memtable_bytes, wal_bytes_max, ..disk_options(configuration) };
    let beside = |place: &_| open_beside(configuration, place);
    Ok(Opened::of(OpenStore::embedded(configuration, &options, vault_keys, beside)?).0)
}

/// The databases beside a store.
pub(super) struct Beside {
    book: RocksBook,
    deliveries: RocksDeliveries,
    sandbox: SandboxAcquirer,
}

/// Opens the databases beside the store.
pub(super) fn open_beside(configuration: &Configuration, place: &LogPlace) -> anyhow::Result<Beside> {
    let (book, filling) = open_book(configuration, place).context("failed to open the sandbox's book")?;
    let deliveries = open_deliveries(configuration, place).context("failed to open the deliveries of webhooks")?;
    let filled = book.clone();
    let fill = move || filling.fill(&filled).map_err(|error| format!("{error:#}"));
    let sandbox =
        SandboxAcquirer::start_or_end(book.clone(), fill, abort_with_message).context("failed to start the sandbox")?;
    Ok(Beside { book, deliveries, sandbox })
}

/// Refuses a directory that no server may write to, before any file is created in it.
///
/// # Errors
/// Fails when it is not a directory, may not be written to, is a checkpoint, or is not fully restored.
pub fn check_directory(configuration: &Configuration) -> anyhow::Result<()> {
    check_data_directory(&configuration.data)?;
    if let Some(archive) = &configuration.archive.directory {
        check_place(archive, &configuration.data).context("failed to start the archive")?;
    }
    Ok(refuse_unfit(&configuration.data)?)
}

pub(super) fn disk_options(configuration: &Configuration) -> EngineOptions {
    EngineOptions {
        open_files_max: u16::try_from(DescriptorShares::current().tables).unwrap_or(u16::MAX),
        open_limit: configuration.open_time_max,
        disk_reserve_bytes: configuration.disk_reserve_bytes,
        accept_loss_up_to: configuration.accept_loss_up_to.map(CommitNumber),
        ..EngineOptions::new(&configuration.data)
    }
}

/// The acquirers of a server: the sandbox, and the connectors to those with accounts.
pub(super) fn acquirers(configuration: &Configuration, sandbox: &Arc<SandboxAcquirer>) -> anyhow::Result<Acquirers> {
    let connector = StripeConnector::new(&configuration.stripe_url, configuration.public_url.as_deref());
    let connectors = [(till_stripe::NAME, Arc::new(connector.context("stripe_url is not usable")?) as _)];
    Ok(Acquirers::new(Arc::clone(sandbox) as _, Connectors::from(connectors)))
}
