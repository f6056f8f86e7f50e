//! The queue before the archive, as the archiver reads it. Its rows hold sealed personal data, so that none may stay
//! once it is archived: all commits that the archive is found to have are taken out, not only those just written to it.

use std::ops::ControlFlow;

use till_storage::archive_queue::{QueuedCommit, decode_queued};
use till_storage::engine::Engine;
use till_storage::family::Family;
use till_storage::journal::layout::decode_stored;
use till_storage::journal::{CommitNumber, Sequence};
use till_storage::keys::{GivenUpKey, JournalKey, UnarchivedKey};
use till_storage::rows::{RowReader, ScanDirection};

use super::ArchiveError;
use super::commit::{ArchivedCommit, Place};

/// Rows taken out at once: some 100 KB of keys.
const TAKEN_OUT_MAX: usize = 8_192;

/// The commits behind `after` that are not archived yet, in order, as many as fit; at least one when there is one.
pub(super) fn read(
    store: &dyn RowReader,
    after: CommitNumber,
    bytes_max: usize,
) -> Result<Vec<ArchivedCommit>, ArchiveError> {
    let (lower, upper) = UnarchivedKey::range_after(after);
    let (mut commits, mut bytes, mut failed) = (Vec::new(), 0, None);
    let visited = store.visit(Family::Meta, &lower, &upper, ScanDirection::Forward, &mut |key, value| {
        match commit_of(store, key, value) {
            Ok(commit) => {
                bytes += commit.byte_count();
                commits.push(commit);
            }
            Err(error) => failed = Some(error),
        }
        if failed.is_some() || bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    visited.map_err(ArchiveError::store)?;
    failed.map_or(Ok(commits), Err)
}

/// Takes the commits behind `after` up to `archived` out, which must be in the archive and on its disk.
pub(super) fn take_out(engine: &Engine, after: CommitNumber, archived: CommitNumber) -> Result<(), ArchiveError> {
    let mut after = after;
    while after < archived {
        let commits = numbers(engine, after, archived)?;
        let Some(&last) = commits.last() else { return Ok(()) };
        engine.unqueue(&commits).map_err(ArchiveError::store)?;
        after = last;
    }
    Ok(())
}

/// The commits behind `after` up to `last` that are in the queue, in order, as many as are taken out at once.
fn numbers(store: &dyn RowReader, after: CommitNumber, last: CommitNumber) -> Result<Vec<CommitNumber>, ArchiveError> {
    let (lower, upper) = UnarchivedKey::range_between(after, last);
    let mut commits = Vec::new();
    let visited = store.visit(Family::Meta, &lower, &upper, ScanDirection::Forward, &mut |key, _| {
        commits.extend(UnarchivedKey::decode(key).map(|UnarchivedKey(commit)| commit));
        if commits.len() < TAKEN_OUT_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.map_err(ArchiveError::store)?;
    Ok(commits)
}

fn commit_of(store: &dyn RowReader, key: &[u8], value: &[u8]) -> Result<ArchivedCommit, ArchiveError> {
    let damaged = || ArchiveError::store("a row of the queue before the archive is not what was written");
    let QueuedCommit { commit, before, merchant_id, first, records, vault } =
        decode_queued(key, value).ok_or_else(damaged)?;
    let record = |ahead: u32| {
        let key = JournalKey { merchant_id, sequence: Sequence(first.0 + u64::from(ahead)) }.encode();
        let value = store.get(Family::Journal, &key).map_err(ArchiveError::store)?;
        let missing =
            || ArchiveError::store(format!("a record of commit {commit} is missing in the log of {merchant_id}"));
        let (_, stored) = decode_stored(merchant_id, &key, &value.ok_or_else(missing)?).map_err(ArchiveError::store)?;
        Ok(stored.bytes)
    };
    let records = (0..records).map(record).collect::<Result<_, ArchiveError>>()?;
    Ok(ArchivedCommit { commit, before, stored: commit, place: Place::default(), merchant_id, records, vault })
}

/// Whether every commit behind `after` up to `until` was given up by an operator.
pub(super) fn were_given_up(
    store: &dyn RowReader,
    after: CommitNumber,
    until: CommitNumber,
) -> Result<bool, ArchiveError> {
    let mut position = after;
    each_given_up(store, &mut |first, last| {
        if first <= position.next() {
            position = position.max(last);
        }
    })?;
    Ok(position >= until)
}

/// Whether any commit behind `after` up to `until` was given up by an operator.
pub(super) fn was_any_given_up(
    store: &dyn RowReader,
    after: CommitNumber,
    until: CommitNumber,
) -> Result<bool, ArchiveError> {
    let mut any = false;
    each_given_up(store, &mut |first, last| any |= first <= until && last > after)?;
    Ok(any)
}

/// Shows the first and the last commit of each stretch that was given up, in order.
fn each_given_up(store: &dyn RowReader, show: &mut dyn FnMut(CommitNumber, CommitNumber)) -> Result<(), ArchiveError> {
    let (lower, upper) = GivenUpKey::range();
    let visited = store.visit(Family::Meta, &lower, &upper, ScanDirection::Forward, &mut |key, value| {
        let last = <[u8; 8]>::try_from(value).ok().map(u64::from_be_bytes);
        if let (Some(GivenUpKey(first)), Some(last)) = (GivenUpKey::decode(key), last) {
            show(first, CommitNumber(last));
        }
        ControlFlow::Continue(())
    });
    visited.map_err(ArchiveError::store)
}
