//! The queue before the archive: a row for each commit that is not archived yet, written with the commit itself. It says
//! where its records are and which rows of the vault it changed, so that the archive can fall behind for as long as it
//! must, and catches up from the store. Rows hold sealed personal data, so that none may stay once it is archived: what
//! the archive is found to have is taken out, and not only what was just written to it.
//!
//! Value of a row (offsets in bytes):
//! ```text
//! 0 commit before it (8) | 8 merchant (16) | 24 sequence of its first record (8) | 32 records (4) | 36 rows of the vault (4)
//! 40 rows of the vault, as in `commit.rs`
//! ```

use std::ops::ControlFlow;

use till_domain::ids::MerchantId;

use crate::engine::Engine;
use crate::family::Family;
use crate::journal::layout::decode_stored;
use crate::journal::{Append, CommitNumber, Sequence};
use crate::keys::{GivenUpKey, JournalKey, UnarchivedKey};
use crate::rows::{Direction, RowReader};

use super::ArchiveError;
use super::commit::{ArchivedCommit, Cursor, Place, VaultChange, decode_vault, encode_vault, length};

/// Rows taken out at once: some 100 KB of keys.
const TAKEN_OUT_MAX: usize = 8_192;

/// The rows of the vault that a batch changes.
pub(super) fn vault_of(append: &Append) -> Vec<VaultChange> {
    let rows = append.derived.iter().filter(|row| row.family == Family::Vault);
    rows.map(|row| VaultChange { key: row.key.to_vec(), value: row.value.map(<[u8]>::to_vec) }).collect()
}

/// The row of a batch.
pub(crate) fn queue_value(append: &Append, before: CommitNumber) -> Vec<u8> {
    let vault = vault_of(append);
    let mut value = Vec::with_capacity(40);
    value.extend_from_slice(&before.0.to_be_bytes());
    value.extend_from_slice(&append.merchant_id.to_bytes());
    value.extend_from_slice(&append.expected_head.sequence.next().0.to_be_bytes());
    value.extend_from_slice(&length(append.records.len()));
    value.extend_from_slice(&length(vault.len()));
    encode_vault(&vault, &mut value);
    value
}

struct Row {
    commit: CommitNumber,
    before: CommitNumber,
    merchant_id: MerchantId,
    first: Sequence,
    records: u32,
    vault: Vec<VaultChange>,
}

fn decode(key: &[u8], value: &[u8]) -> Option<Row> {
    let UnarchivedKey(commit) = UnarchivedKey::decode(key)?;
    let mut cursor = Cursor(value);
    let before = CommitNumber(cursor.number()?);
    let merchant_id = MerchantId::from_bytes(*cursor.array()?);
    let first = Sequence(cursor.number()?);
    let (records, vault_count) = (cursor.short()?, cursor.short()?);
    let vault = decode_vault(&mut cursor, vault_count)?;
    cursor.0.is_empty().then_some(Row { commit, before, merchant_id, first, records, vault })
}

/// The commits behind `after` that are not archived yet, in order, as many as fit; at least one when there is one.
pub(super) fn read(
    store: &dyn RowReader,
    after: CommitNumber,
    bytes_max: usize,
) -> Result<Vec<ArchivedCommit>, ArchiveError> {
    let (lower, upper) = UnarchivedKey::range_behind(after);
    let (mut commits, mut bytes, mut failed) = (Vec::new(), 0, None);
    let visited = store.visit(Family::Meta, &lower, &upper, Direction::Forward, &mut |key, value| {
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
    let visited = store.visit(Family::Meta, &lower, &upper, Direction::Forward, &mut |key, _| {
        commits.extend(UnarchivedKey::decode(key).map(|UnarchivedKey(commit)| commit));
        if commits.len() < TAKEN_OUT_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.map_err(ArchiveError::store)?;
    Ok(commits)
}

fn commit_of(store: &dyn RowReader, key: &[u8], value: &[u8]) -> Result<ArchivedCommit, ArchiveError> {
    let damaged = || ArchiveError::store("a row of the queue before the archive is not what was written");
    let Row { commit, before, merchant_id, first, records, vault } = decode(key, value).ok_or_else(damaged)?;
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
    let visited = store.visit(Family::Meta, &lower, &upper, Direction::Forward, &mut |key, value| {
        let last = <[u8; 8]>::try_from(value).ok().map(u64::from_be_bytes);
        if let (Some(GivenUpKey(first)), Some(last)) = (GivenUpKey::decode(key), last) {
            show(first, CommitNumber(last));
        }
        ControlFlow::Continue(())
    });
    visited.map_err(ArchiveError::store)
}
