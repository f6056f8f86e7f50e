//! The log in a database: found and claimed at the start, and followed by the store of the data directory.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use futures_util::{StreamExt, stream};
use till_shared::{JournalCopy, JournalStatus, RowsOf, SharedJournal, SharedRows, exported_to, status};
use till_storage::disk_store::{Deployment, DiskStore};
use till_storage::engine::{Engine as DiskEngine, RowReplica};
use till_storage::turns::Turns;

use crate::configuration::JournalConfiguration;
use crate::service::Service;

/// The pause between two looks for merchants of which the store may lack something.
const FETCH_PAUSE: Duration = Duration::from_secs(1);

/// The pause between two looks at the state of the database.
const LOOK_PAUSE: Duration = Duration::from_secs(10);

/// Merchants that are fetched at the same time beside callers' requests.
const FETCHED_AT_ONCE: usize = 4;

/// The exit code when another server has claimed the log.
const EXIT_WHEN_FENCED: i32 = 3;

/// A claimed log, with the database that it is in.
pub(super) struct SharedLog {
    pub(super) journal: Arc<SharedJournal>,
}

impl SharedLog {
    /// Looks for the log of a database without a claim, so that a start which is refused takes it from no other server.
    ///
    /// # Errors
    /// The database cannot be reached, has no log, or keeps no second copy of it.
    pub(super) fn find(configuration: &JournalConfiguration) -> anyhow::Result<JournalCopy> {
        let state = status(&configuration.database)?;
        if let Some(directory) = exported_to(&configuration.database)? {
            bail!(
                "an embedded store was made of the log, in {directory}: two servers would go on from the same past. \
                    When none will run there any more, till journal export --undo lets one start on the log"
            );
        }
        match unsafe_to_use(&state) {
            Some(reason) if configuration.may_be_unreplicated => {
                tracing::warn!(reason, "the log is not safe from the loss of its machine");
            }
            Some(reason) => bail!("{reason}: mend it, or set journal_unreplicated = true to start nevertheless"),
            None => {}
        }
        tracing::info!(server = state.server, shards = state.shards, commits = state.commits, "the log was found");
        Ok(JournalCopy::open(&configuration.database)?)
    }

    /// Claims the log that was found, whichever server had it before.
    ///
    /// # Errors
    /// The database cannot be reached, or another server has claimed the log since it was found.
    pub(super) fn claim(configuration: &JournalConfiguration, found: &JournalCopy) -> anyhow::Result<SharedLog> {
        let journal = SharedJournal::open(&configuration.database, Arc::new(end_fenced_process))?;
        // The epochs of the store begin with the number that this claim was to have.
        if journal.claim() != found.replicated_log().claim {
            bail!("another server has claimed the log at the same time; start this one again if it is to have it");
        }
        tracing::info!("the log is claimed");
        Ok(SharedLog { journal: Arc::new(journal) })
    }

    /// Makes a store a replica of the log. What belongs to no single merchant is fetched now, the rest before it is
    /// used.
    ///
    /// # Errors
    /// The database cannot be read, or the store not be written.
    pub(super) fn replicate_into(&self, disk: Arc<DiskEngine>) -> anyhow::Result<DiskStore> {
        let noted = disk.note_of_log().context("failed to read how much of the log the store has")?;
        if self.journal.compare(&noted, &*disk)? {
            let merchants = self.journal.lagging_merchants().len();
            tracing::warn!(merchants, "the data directory lacks a part of the log: it is fetched");
            self.journal.each_row_of_all(&mut |rows| disk.replace_rows(&rows))?;
        }
        Ok(DiskStore::new(disk, Deployment::Journal(Arc::clone(&self.journal) as _))?)
    }

    /// Looks at the database from now on, fetches what the store lacks, and refuses the calls that wait for a log which
    /// refuses them. Must be called within an actix system.
    ///
    /// # Errors
    /// The system gave no thread.
    pub(super) fn attend(&self, service: &Arc<Service>) -> std::io::Result<Turns> {
        let watching = watch(Arc::clone(&self.journal))?;
        let waiting = Arc::downgrade(service);
        let refuse =
            move |reason: &str| waiting.upgrade().iter().for_each(|service| service.engine().refuse_waiting(reason));
        self.journal.when_refusing(Box::new(refuse));
        actix_web::rt::spawn(fetch_lagging_merchants(Arc::downgrade(service), Arc::clone(&self.journal)));
        Ok(watching)
    }

    /// Makes an auxiliary database a replica of its rows elsewhere. One that lacks some of them is made anew, empty: it
    /// is to be filled before it is used.
    ///
    /// # Errors
    /// The database cannot be read, or the auxiliary one not be written.
    pub(super) fn replicate_rows<D: RowReplica>(
        &self,
        of: RowsOf,
        directory: &Path,
        open: impl Fn() -> anyhow::Result<D>,
    ) -> anyhow::Result<(D, Filling)> {
        let (place, mut database) = (self.journal.open_rows(of, Arc::new(end_fenced_process))?, open()?);
        let noted = database.database().position().map_err(|reason| anyhow!("{}: {reason}", directory.display()))?;
        let is_whole = place.has_all(noted.as_deref());
        if !is_whole {
            drop(database);
            std::fs::remove_dir_all(directory).with_context(|| format!("failed to remove {}", directory.display()))?;
            database = open()?;
        }
        Ok((database, Filling(Some(RowsElsewhere { place, is_whole }))))
    }
}

/// The rows elsewhere that an auxiliary database lacks, if it is a replica of such.
#[derive(Default)]
pub(super) struct Filling(Option<RowsElsewhere>);

struct RowsElsewhere {
    place: SharedRows,
    is_whole: bool,
}

impl Filling {
    /// Takes everything over that is missing. From then on rows are written to the other place first. Does nothing for
    /// a database of its own.
    ///
    /// # Errors
    /// The other place cannot be read, or the database not be written.
    pub(super) fn fill(self, database: &impl RowReplica) -> anyhow::Result<()> {
        let Some(RowsElsewhere { place, is_whole }) = self.0 else { return Ok(()) };
        if !is_whole {
            place.each_page(&mut |rows| database.take_over(&rows).map_err(anyhow::Error::msg))?;
        }
        let position = place.position();
        database.database().write_first_in(Arc::new(place), &position).map_err(anyhow::Error::msg)
    }
}

/// Ends the process when another server has claimed the log. It must not be started again by itself: each of two
/// servers would take the log from the other.
fn end_fenced_process() {
    tracing::error!("another server has claimed the log; this one stops");
    signal_hook::low_level::exit(EXIT_WHEN_FENCED)
}

/// The reason for which what the database has acknowledged may be lost.
fn unsafe_to_use(state: &JournalStatus) -> Option<String> {
    if let Some(setting) = state.unsafe_settings.first() {
        return Some(format!("the database of the log runs with {setting}"));
    }
    if !state.waits_for_standby {
        return Some("the database of the log has no synchronous standby (synchronous_standby_names)".to_owned());
    }
    (state.synchronous_standbys == Some(0))
        .then(|| "no synchronous standby is connected to the database of the log".to_owned())
}

/// Looks at the state of the database regularly, for the metrics.
///
/// # Errors
/// The system gave no thread.
fn watch(journal: Arc<SharedJournal>) -> std::io::Result<Turns> {
    Turns::start("journal-watch", move |stop| {
        while !stop.wait(LOOK_PAUSE) {
            journal.look();
        }
    })
}

/// Fetches what the store may lack, also of merchants that nobody asks for: their timers and effects go on.
async fn fetch_lagging_merchants(service: Weak<Service>, journal: Arc<SharedJournal>) -> Infallible {
    loop {
        let lacking = journal.lagging_merchants();
        let fetch = |merchant_id| {
            let service = service.upgrade();
            async move {
                if let Some(service) = service
                    && let Err(error) = service.catch_up(merchant_id).await
                {
                    tracing::warn!(%merchant_id, ?error, "a merchant's log could not be fetched yet");
                }
            }
        };
        stream::iter(lacking).for_each_concurrent(FETCHED_AT_ONCE, fetch).await;
        tokio::time::sleep(FETCH_PAUSE).await;
    }
}
