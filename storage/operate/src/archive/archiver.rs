//! The thread that copies commits to the archive, and catches up when it has fallen behind.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use till_storage::disk_store::Archiving;
use till_storage::engine::Engine;
use till_storage::journal::CommitNumber;
use till_storage::turns::Turns;

use crate::last_used::LastUsedDirectory;

use super::commit::ArchivedCommit;
use super::gate::ArchiveGate;
use super::writer::{StoreSide, Writer, check_place};
use super::{ArchiveError, queue};

/// File in the data directory with the path of the archive.
const KNOWN_FILE: &str = "archive-known";

/// Bytes that are read from the store and written with one sync.
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Time until an archive that failed is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Limit of the time that a stop spends on commits that are not archived yet: they stay in the queue, and the next
/// start goes on from there.
const LAST_TURN_MAX: Duration = Duration::from_secs(10);

/// Settings of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// The directory of the archive.
    pub directory: PathBuf,
    /// Bytes from which a segment is closed.
    pub segment_bytes: u64,
    /// Age from which a segment is closed, when something is in it.
    pub segment_age: Duration,
    /// Time between two reads of the queue: about as much is lost when the data directory is lost.
    pub every: Duration,
    /// True when a commit is archived before it is written and acknowledged.
    pub before_acknowledged: bool,
}

/// The state of the archive of a running store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveStats {
    /// Commits that are not archived yet.
    pub lag_commits: u64,
    /// Time for which there have been such commits.
    pub lag: Duration,
    /// Segments closed by this process.
    pub segments_closed: u64,
    /// Failed attempts to write to it.
    pub failures: u64,
}

/// Archives one running store. Dropping it ends the thread after a last turn.
pub struct Archiver {
    engine: Arc<Engine>,
    gate: Arc<ArchiveGate>,
    settings: ArchiveSettings,
    /// None when no thread runs, and the archive is written to by calls only.
    thread: Option<Turns>,
}

impl Archiver {
    /// Opens the archive and begins. Must be called before anything but the key ring of a first start is written to the
    /// store, which must then be archived in the way that [`Archiver::archiving`] answers. An archive that cannot be
    /// reached is opened as soon as it can be.
    ///
    /// # Errors
    /// [`ArchiveError`]: the store cannot continue this archive, or the archive is damaged.
    pub fn start(engine: Arc<Engine>, settings: ArchiveSettings) -> Result<Archiver, ArchiveError> {
        let mut archiver = Archiver::prepare(engine, settings)?;
        // A disk that hangs blocks the start here.
        tracing::info!(directory = %archiver.settings.directory.display(), "opening the archive");
        match archiver.begin() {
            Err(error) if error.is_passing() => archiver.gate.fail(&error),
            begun => begun?,
        }
        let (engine, gate) = (Arc::clone(&archiver.engine), Arc::clone(&archiver.gate));
        let settings = archiver.settings.clone();
        let thread = Turns::start("archive", move |stop| {
            let is_asked = || stop.wait(Duration::ZERO);
            turn(&engine, &gate, &settings, &is_asked);
            while !stop.wait(pause(&gate, &settings)) {
                turn(&engine, &gate, &settings, &is_asked);
            }
            let begun = Instant::now();
            turn(&engine, &gate, &settings, &|| begun.elapsed() > LAST_TURN_MAX);
        });
        let failed = ArchiveError::files("start the thread for", &archiver.settings.directory);
        archiver.thread = Some(thread.map_err(failed)?);
        Ok(archiver)
    }

    /// Opens the archive without a thread: only [`Archiver::catch_up`] and [`Archiver::turn`] write to it.
    ///
    /// # Errors
    /// The errors of [`Archiver::start`], and also an archive that cannot be reached.
    pub fn open(engine: Arc<Engine>, settings: ArchiveSettings) -> Result<Archiver, ArchiveError> {
        let archiver = Archiver::prepare(engine, settings)?;
        archiver.catch_up()?;
        Ok(archiver)
    }

    /// Opens the archive. When commits are archived before they are written, the archive must catch up before anything
    /// is written; otherwise a start does not wait for commits that are not archived yet.
    fn begin(&self) -> Result<(), ArchiveError> {
        match self.settings.before_acknowledged {
            true => self.catch_up(),
            false => self.gate.open(|| open_writer(&self.engine, &self.settings)),
        }
    }

    fn prepare(engine: Arc<Engine>, settings: ArchiveSettings) -> Result<Archiver, ArchiveError> {
        check_place(&settings.directory, engine.directory())?;
        let gate = Arc::new(ArchiveGate::new(base(&engine)?));
        Ok(Archiver { engine, gate, settings, thread: None })
    }

    /// The way in which the store's commits get into the archive.
    #[must_use]
    pub fn archiving(&self) -> Archiving {
        match self.settings.before_acknowledged {
            true => Archiving::First(Arc::clone(&self.gate) as _),
            false => Archiving::Queued,
        }
    }

    /// Archives everything that is not archived yet.
    ///
    /// # Errors
    /// [`ArchiveError`]; what was archived by then stays.
    pub fn catch_up(&self) -> Result<(), ArchiveError> {
        catch_up(&self.engine, &self.gate, &self.settings, &mut || Ok(true))
    }

    /// One turn of the thread: archives the queue, closes a segment that is old enough, and notes a failure.
    pub fn turn(&self) {
        turn(&self.engine, &self.gate, &self.settings, &|| false);
    }

    /// The present state.
    #[must_use]
    pub fn stats(&self) -> ArchiveStats {
        let lag_commits = self.engine.last_commit().0.saturating_sub(self.gate.covered().0);
        let lag = if lag_commits == 0 { Duration::ZERO } else { self.gate.lag() };
        let (segments_closed, failures) = (self.gate.segments_closed(), self.gate.failures());
        ArchiveStats { lag_commits, lag, segments_closed, failures }
    }

    /// Ends the thread after a last turn of some seconds at most: commits that are not archived by then stay in the
    /// queue.
    pub fn stop(&self) {
        self.thread.iter().for_each(Turns::stop);
    }
}

impl Drop for Archiver {
    fn drop(&mut self) {
        self.stop();
        self.gate.close();
    }
}

/// The pause before the next turn: a short one of its own after a failure.
fn pause(gate: &ArchiveGate, settings: &ArchiveSettings) -> Duration {
    match gate.failing() {
        Some(_) => RETRY_DELAY,
        None => settings.every,
    }
}

/// One turn. Under a steady load there are always new commits, so that it ends only when `is_over` returns true.
fn turn(engine: &Engine, gate: &ArchiveGate, settings: &ArchiveSettings, is_over: &dyn Fn() -> bool) {
    let mut goes_on = || {
        gate.with_writer(|writer| writer.close_if_older(settings.segment_age, engine.last_commit()))?;
        gate.recover();
        Ok(!is_over())
    };
    if let Err(error) = catch_up(engine, gate, settings, &mut goes_on) {
        gate.fail(&error);
    }
}

/// Archives group by group until the queue is empty. `goes_on` is called after each group, and returns false to stop.
fn catch_up(
    engine: &Engine,
    gate: &ArchiveGate,
    settings: &ArchiveSettings,
    goes_on: &mut dyn FnMut() -> Result<bool, ArchiveError>,
) -> Result<(), ArchiveError> {
    gate.open(|| open_writer(engine, settings))?;
    gate.with_writer(|writer| writer.repair().and_then(|()| writer.check_in_place()))?;
    loop {
        // First, since a crash may have left commits in the queue that the archive has.
        unqueue_archived(engine, gate)?;
        let read_at = Instant::now();
        let step = gate.with_writer(|writer| archive_some(engine, gate, writer))?;
        if step.has_reached {
            gate.note_caught_up(read_at);
        }
        if !goes_on()? || !step.has_written {
            return Ok(());
        }
    }
}

/// Removes from the queue the commits that are on the archive's disk.
fn unqueue_archived(engine: &Engine, gate: &ArchiveGate) -> Result<(), ArchiveError> {
    let archived = gate.with_writer(|writer| Ok(writer.last()))?;
    gate.unqueue(archived, |after| queue::remove_archived(engine, after, archived));
    Ok(())
}

/// The commit after which a new archive of the store begins.
fn base(engine: &Engine) -> Result<CommitNumber, ArchiveError> {
    // Read before the queue: a commit that comes in between is in the queue.
    let last = engine.last_commit();
    let first = queue::read(engine, CommitNumber(0), 0)?;
    Ok(first.first().map_or(last, |commit| commit.before))
}

fn open_writer(engine: &Engine, settings: &ArchiveSettings) -> Result<Writer, ArchiveError> {
    let known = LastUsedDirectory::of(engine.directory(), KNOWN_FILE);
    let (last, base, was_there) = (engine.last_commit(), base(engine)?, known.is(&settings.directory));
    let side = StoreSide { engine, last, base, was_there };
    let writer = Writer::open(&settings.directory, settings.segment_bytes, &side)?;
    known.remember(&settings.directory).map_err(ArchiveError::files("write", known.file()))?;
    Ok(writer)
}

/// The result of one read of the queue.
struct QueueRead {
    /// True when there was anything to archive.
    has_written: bool,
    /// True when the archive has everything that the store had at that read.
    has_reached: bool,
}

/// Archives the next group of the queue.
fn archive_some(engine: &Engine, gate: &ArchiveGate, writer: &mut Writer) -> Result<QueueRead, ArchiveError> {
    // Read before the queue: a commit that is not in the queue then was never queued.
    let stored = engine.last_commit();
    if writer.last().max(gate.covered()) >= stored {
        return Ok(QueueRead { has_written: false, has_reached: true });
    }
    let mut commits = queue::read(engine, writer.last(), GROUP_BYTES_MAX)?;
    let next = commits.first().map_or(stored, |commit| commit.before);
    if next > writer.last() && !queue::were_given_up(engine, writer.last(), next)? {
        let (first, last) = (writer.last().next(), next);
        tracing::warn!(%first, %last, "commits were not queued for the archive: take a checkpoint");
        writer.leave_gap(next)?;
    }
    truncate_at_gap(&mut commits);
    if commits.is_empty() {
        gate.cover(next);
        return Ok(QueueRead { has_written: false, has_reached: true });
    }
    writer.write(&mut commits)?;
    gate.cover(writer.last());
    Ok(QueueRead { has_written: true, has_reached: writer.last() >= stored })
}

/// Keeps the commits before the next gap.
fn truncate_at_gap(commits: &mut Vec<ArchivedCommit>) {
    let breaks = commits.windows(2).position(|pair| pair[1].before != pair[0].commit);
    if let Some(at) = breaks {
        commits.truncate(at + 1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::thread;

    use till_domain::ids::MerchantId;

    use super::*;
    use till_storage::disk_store::{Deployment, DiskStore};
    use till_storage::engine::EngineOptions;
    use till_storage::family::Family;
    use till_storage::journal::{Append, AppendVerdict, BatchId, Journal};
    use till_storage::rows::{RowWrite, RowWrites};

    const FOR_EVER: Duration = Duration::from_secs(3_600);
    const PAUSE: Duration = Duration::from_millis(20);

    /// Commits a row of the vault, without a record.
    fn commit(store: &DiskStore) {
        let merchant_id = MerchantId::from_bytes([1; 16]);
        let claim = store.claim(merchant_id).expect("nobody else has it");
        let append = Append {
            merchant_id,
            epoch: claim.epoch,
            expected_head: claim.head,
            new_head: claim.head,
            batch_id: BatchId::default(),
            records: Vec::new(),
            vault: [RowWrite { family: Family::Vault, key: &[9; 33], value: Some(&[8; 20]) }].into_iter().collect(),
            derived: RowWrites::default(),
            snapshot: None,
            may_use_reserve: false,
        };
        assert!(matches!(store.append(vec![append])[..], [AppendVerdict::Committed(_)]));
        store.release(merchant_id, claim.epoch);
    }

    #[test]
    fn a_turn_under_a_steady_load_ends_when_told_to_stop() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        let options = EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(&data) };
        let engine = Arc::new(Engine::open(&options).expect("nothing is missing"));
        let settings = ArchiveSettings {
            directory: directory.path().join("archive"),
            segment_bytes: 1 << 30,
            segment_age: FOR_EVER,
            every: FOR_EVER,
            before_acknowledged: false,
        };
        let archiver = Archiver::prepare(Arc::clone(&engine), settings).expect("it is outside");
        let store = DiskStore::new(Arc::clone(&engine), Deployment::Embedded(archiver.archiving()));
        let store = store.expect("it is its own");
        commit(&store);
        let (begun, groups) = (Instant::now(), Cell::new(0));
        let mut more = || {
            groups.set(groups.get() + 1);
            commit(&store);
            thread::sleep(PAUSE);
            Ok(groups.get() < 5)
        };
        catch_up(&engine, &archiver.gate, &archiver.settings, &mut more).expect("it can be written to");
        assert_eq!((groups.get(), archiver.stats().lag_commits), (5, 1));
        let caught_up_after = begun.elapsed().saturating_sub(archiver.gate.lag());
        assert!(caught_up_after >= 4 * PAUSE, "{caught_up_after:?}: at the last look, not at the first");
    }
}
