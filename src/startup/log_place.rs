//! The place of the log, asked for once by a start, and all that follows from it for the data directory and for the
//! threads beside it.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use till_operate::archive::Archiver;
use till_operate::checkpoint::PAUSED_FILE;
use till_shared::{RowsOf, SharedJournal};
use till_storage::disk_store::{Archiving, Deployment as StoreDeployment, DiskStore};
use till_storage::engine::{Engine, EngineOptions, RowReplica};
use till_storage::journal::CommitNumber;
use till_storage::turns::Turns;
use till_storage::vault::{Keyring, RootKey, stored_keyring};

use super::running_mark::RunningMark;
use super::shared_log::{Filling, SharedLog};
use super::stored_keyring as key_ring;
use crate::configuration::{Configuration, Deployment, JournalConfiguration};
use crate::service::{Checkpoints, NoteFiles, Notes, Service};

/// The place of the log, open.
pub(super) enum LogPlace {
    /// The data directory.
    Embedded,
    /// A database.
    Journal(SharedLog),
}

/// The store of a data directory, open, with the stages of its deployment, and with the databases beside it.
pub(super) struct OpenStore<B> {
    pub(super) store: DiskStore,
    /// The keys of each purpose, which are made at the first start.
    pub(super) keyring: Keyring,
    /// The databases beside the store.
    pub(super) beside: B,
    pub(super) place: LogPlace,
    /// The archiver, when commits are archived.
    pub(super) archiver: Option<Archiver>,
}

/// The kind of an auxiliary database: the sandbox's book, or the deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuxiliaryKind {
    /// Nothing else has its rows.
    Own,
    /// A replica of rows elsewhere.
    Replica,
}

impl<B> OpenStore<B> {
    /// Opens the store of a server, and by `beside` the databases beside it.
    ///
    /// # Errors
    /// A reason that the operator must know: the store is damaged, in use or of a newer format, the vault key is wrong,
    /// or the archive or the database of the log cannot be used.
    pub(super) fn of_server(
        configuration: &Configuration,
        options: &EngineOptions,
        vault_keys: &[RootKey],
        beside: impl FnOnce(&LogPlace) -> anyhow::Result<B>,
    ) -> anyhow::Result<OpenStore<B>> {
        match &configuration.deployment {
            Deployment::Embedded => {
                let mut opened = OpenStore::embedded(configuration, options, vault_keys, beside)?;
                // The key ring of a first start is the only write before: an archive that cannot be reached keeps no
                // server from starting. Its commit is queued.
                let start = |settings| Archiver::start(Arc::clone(opened.store.engine()), settings);
                let archiver = configuration.archive.of_store().map(start).transpose();
                opened.archiver = archiver.context("failed to start the archive")?;
                if let Some(archiver) = &opened.archiver {
                    opened.store = opened.store.archived(archiver.archiving());
                }
                Ok(opened)
            }
            Deployment::Journal(journal) => OpenStore::replica(options, vault_keys, journal, beside),
        }
    }

    /// Opens a store whose log is in the data directory, and by `beside` the databases beside it. Commits are queued
    /// where there is an archive.
    ///
    /// # Errors
    /// As [`OpenStore::of_server`].
    pub(super) fn embedded(
        configuration: &Configuration,
        options: &EngineOptions,
        vault_keys: &[RootKey],
        beside: impl FnOnce(&LogPlace) -> anyhow::Result<B>,
    ) -> anyhow::Result<OpenStore<B>> {
        let engine = Engine::open(options)?;
        let stored = stored_keyring(&engine).context("failed to read the key ring")?;
        let keyring = key_ring::open_found(stored, vault_keys, engine.last_commit() > CommitNumber(0))?;
        let archiving = if configuration.archive.of_store().is_some() { Archiving::Queued } else { Archiving::Off };
        let store = DiskStore::new(Arc::new(engine), StoreDeployment::Embedded(archiving))?;
        let keyring = keyring.map_or_else(|| key_ring::create(&store, vault_keys), Ok)?;
        let place = LogPlace::Embedded;
        Ok(OpenStore { store, keyring, beside: beside(&place)?, place, archiver: None })
    }

    /// Opens a replica of the log in a database. The log is claimed last: a start with a directory or a vault key that
    /// does not fit takes it from nobody.
    fn replica(
        options: &EngineOptions,
        vault_keys: &[RootKey],
        journal: &JournalConfiguration,
        beside: impl FnOnce(&LogPlace) -> anyhow::Result<B>,
    ) -> anyhow::Result<OpenStore<B>> {
        let found = SharedLog::find(journal).context("failed to find the log")?;
        let replica_of = Some(found.replicated_log());
        let engine = Engine::open(&EngineOptions { replica_of, ..options.clone() }).with_context(|| {
            let directory = options.directory.display();
            format!("{directory} only repeats the log in the database: if it is damaged, remove it, and start again")
        })?;
        let stored = found.keyring().context("failed to read the key ring")?;
        let keyring = key_ring::open_found(stored, vault_keys, !found.is_empty())?;
        let log = SharedLog::claim(journal, &found).context("failed to claim the log")?;
        let store = log.replicate_into(Arc::new(engine))?;
        let keyring = keyring.map_or_else(|| key_ring::create(&store, vault_keys), Ok)?;
        let place = LogPlace::Journal(log);
        Ok(OpenStore { store, keyring, beside: beside(&place)?, place, archiver: None })
    }
}

impl LogPlace {
    /// Opens an auxiliary database, and answers what fills it where it is a replica of rows elsewhere.
    ///
    /// # Errors
    /// A database cannot be read or written.
    pub(super) fn open_rows<D: RowReplica>(
        &self,
        of: RowsOf,
        directory: &Path,
        open: impl Fn(AuxiliaryKind) -> anyhow::Result<D>,
    ) -> anyhow::Result<(D, Filling)> {
        match self {
            LogPlace::Embedded => Ok((open(AuxiliaryKind::Own)?, Filling::default())),
            LogPlace::Journal(log) => log.replicate_rows(of, directory, || open(AuxiliaryKind::Replica)),
        }
    }

    /// The notes for the next start.
    pub(super) fn notes(&self, data: &Path) -> Arc<dyn Notes> {
        match self {
            LogPlace::Embedded => Arc::new(NoteFiles(data.to_owned())),
            LogPlace::Journal(log) => Arc::clone(&log.journal) as _,
        }
    }

    /// Marks the directory as that of a running server. A replica, of which any copy is as good, has no mark.
    ///
    /// # Errors
    /// The mark cannot be read or made.
    pub(super) fn mark_as_running(&self, data: &Path, notes: &dyn Notes) -> anyhow::Result<Option<RunningMark>> {
        match self {
            LogPlace::Embedded => mark_as_running(data, notes).map(Some),
            LogPlace::Journal(_) => Ok(None),
        }
    }

    /// The checkpoints, unless the tools of a database stand in for them.
    pub(super) fn checkpoints(&self, checkpoints: Checkpoints) -> Option<Checkpoints> {
        match self {
            LogPlace::Embedded => Some(checkpoints),
            LogPlace::Journal(_) => None,
        }
    }

    /// The log in a database, if it is in one.
    pub(super) fn journal(&self) -> Option<Arc<SharedJournal>> {
        match self {
            LogPlace::Embedded => None,
            LogPlace::Journal(log) => Some(Arc::clone(&log.journal)),
        }
    }

    /// Begins what a service does beside its calls. Must be called within an actix system.
    ///
    /// # Errors
    /// The system gave no thread.
    pub(super) fn attend(&self, service: &Arc<Service>) -> std::io::Result<Option<Turns>> {
        match self {
            LogPlace::Embedded => Ok(None),
            LogPlace::Journal(log) => log.attend(service).map(Some),
        }
    }
}

/// Makes a copy of a directory that a server was running on start paused, like a restored one, so that it does not call
/// the acquirer.
fn mark_as_running(data: &Path, notes: &dyn Notes) -> anyhow::Result<RunningMark> {
    if RunningMark::is_of_a_copy(data).context("failed to read the mark of a running server")? {
        tracing::warn!(
            directory = %data.display(),
            "this directory is a plain copy of one that a server was running on: it may have files of different \
                moments. Run `till verify` on it, and `till resume` when its original does not run any more. To copy a \
                store, take a checkpoint, or stop the server first."
        );
        notes.keep(PAUSED_FILE, Some(&[])).context("failed to pause the server")?;
    }
    RunningMark::make(data).context("failed to make the mark of a running server")
}
