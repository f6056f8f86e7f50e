//! The queue before the archive, as the archiver reads it. Its rows hold sealed personal data, so none may stay once it
//! is archived: every commit that the archive has is removed, not only those that were just written to it.

use std::ops::ControlFlow;

use till_storage::archive_queue::{QueuedCommit, decode_queued};
use till_storage::engine::Engine;
use till_storage::family::Family;
use till_storage::journal::layout::read_record;
use till_storage::journal::{CommitNumber, Sequence};
use till_storage::keys::{GivenUpKey, UnarchivedKey};
use till_storage::rows::{RowRange, RowReader};

use super::ArchiveError;
use super::commit::{ArchivedCommit, GroupPosition};

/// Rows removed at once: some 100 KB of keys.
const REMOVED_AT_ONCE: usize = 8_192;

/// The commits after `after` that are not archived yet, in order, until they have `bytes_max` bytes; at least one if
/// there is one.
pub(super) fn read(
    store: &dyn RowReader,
    after: CommitNumber,
    bytes_max: usize,
) -> Result<Vec<ArchivedCommit>, ArchiveError> {
    let (lower, upper) = UnarchivedKey::range_after(after);
    let (mut commits, mut bytes, mut failed) = (Vec::new(), 0, None);
    store.visit(RowRange::forward(Family::Meta, &lower, &upper), &mut |key, value| {
        match commit_of(store, key, value) {
            Ok(commit) => {
                bytes += commit.byte_count();
                commits.push(commit);
            }
            Err(error) => failed = Some(error),
        }
        if failed.is_some() || bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    failed.map_or(Ok(commits), Err)
}

/// Removes the commits after `after` up to `archived` from the queue. They must be in the archive and on its disk.
pub(super) fn remove_archived(
    engine: &Engine,
    after: CommitNumber,
    archived: CommitNumber,
) -> Result<(), ArchiveError> {
    let mut after = after;
    while after < archived {
        let commits = numbers(engine, after, archived)?;
        let Some(&last) = commits.last() else { return Ok(()) };
        engine.unqueue(&commits).map_err(ArchiveError::store)?;
        after = last;
    }
    Ok(())
}

/// The commits after `after` up to `last` that are in the queue, in order, at most `REMOVED_AT_ONCE`.
fn numbers(store: &dyn RowReader, after: CommitNumber, last: CommitNumber) -> Result<Vec<CommitNumber>, ArchiveError> {
    let (lower, upper) = UnarchivedKey::range_between(after, last);
    let mut commits = Vec::new();
    store.visit(RowRange::forward(Family::Meta, &lower, &upper), &mut |key, _| {
        commits.extend(UnarchivedKey::decode(key).map(|UnarchivedKey(commit)| commit));
        if commits.len() < REMOVED_AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(commits)
}

fn commit_of(store: &dyn RowReader, key: &[u8], value: &[u8]) -> Result<ArchivedCommit, ArchiveError> {
    let damaged = || ArchiveError::store("a row of the queue before the archive is not what was written");
    let QueuedCommit { commit, before, merchant_id, first, records, vault } =
        decode_queued(key, value).ok_or_else(damaged)?;
    let record = |ahead: u32| {
        let missing =
            || ArchiveError::store(format!("a record of commit {commit} is missing in the log of {merchant_id}"));
        let stored = read_record(store, merchant_id, Sequence(first.0 + u64::from(ahead)))?;
        stored.map(|stored| stored.bytes).ok_or_else(missing)
    };
    let records = (0..records).map(record).collect::<Result<_, ArchiveError>>()?;
    Ok(ArchivedCommit {
        commit,
        before,
        stored: commit,
        position: GroupPosition::default(),
        merchant_id,
        records,
        vault,
    })
}

/// True when an operator gave up every commit after `after` up to `until`.
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

/// True when an operator gave up any commit after `after` up to `until`.
pub(super) fn was_any_given_up(
    store: &dyn RowReader,
    after: CommitNumber,
    until: CommitNumber,
) -> Result<bool, ArchiveError> {
    let mut any = false;
    each_given_up(store, &mut |first, last| any |= first <= until && last > after)?;
    Ok(any)
}

/// Calls `show` with the first and the last commit of each range that was given up, in order.
fn each_given_up(store: &dyn RowReader, show: &mut dyn FnMut(CommitNumber, CommitNumber)) -> Result<(), ArchiveError> {
    let (lower, upper) = GivenUpKey::range();
    Ok(store.visit(RowRange::forward(Family::Meta, &lower, &upper), &mut |key, value| {
        let last = <[u8; 8]>::try_from(value).ok().map(u64::from_be_bytes);
        if let (Some(GivenUpKey(first)), Some(last)) = (GivenUpKey::decode(key), last) {
            show(first, CommitNumber(last));
        }
        ControlFlow::Continue(())
    })?)
}
