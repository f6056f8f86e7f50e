//! Conversion of appends to keys and values, and back: the layout on disk that every embedded journal shares.
//!
//! A stored record is commit number (8) | CRC-32C of those 8 bytes (4) | record. The number is outside
//! of the record because it is assigned when the batch is written; the record has a checksum of its own.

use std::ops::ControlFlow;

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::keys::{
    AppliedKey, HEAD_LEN, HeadKey, JournalKey, MERCHANT_LEN, MetaKey, SnapshotKey, decode_head, encode_head,
};
use crate::rows::{RowError, RowPair, RowRange, RowReader, RowWrite};

use super::by_merchant::ByMerchant;
use super::claims::{Durable, PlannedBatch, WritePlan};
use super::snapshot::{self, SNAPSHOTS_KEPT};
use super::{Append, EncodedRecord, JournalError, READ_BYTES_MAX, RecordHeader, StoredRecord, StoredSnapshot, record};
use crate::positions::{CommitNumber, Head, Sequence};

/// Bytes before a stored record.
const COMMIT_LEN: usize = 8 + 4;

/// Merchants fetched by one scan of all of them.
const MERCHANTS_PER_SCAN: usize = 1_024;

/// Receives the writes of one atomic step.
pub trait WriteSink {
    /// Sets a key.
    fn put(&mut self, family: Family, key: &[u8], value: &[u8]);
    /// Removes a key.
    fn delete(&mut self, family: Family, key: &[u8]);
}

/// Passes all writes of the plan to the sink, merchant by merchant in the order of families and keys,
/// each key once.
///
/// A key that several batches of the group write is written with the last value: the step is atomic, so no
/// reader sees the others. So hot rows (a merchant's totals, its head and position, the last commit) are written
/// once per group. No two merchants write the same key: a key above all merchants is written only by the
/// merchant that made it.
pub(crate) fn write_plan(group: &[Append], plan: &WritePlan, sink: &mut impl WriteSink) {
    let mut writes: Vec<(&Append, &PlannedBatch)> = group.iter().zip(&plan.steps).collect();
    // Stable, so that a merchant's records stay in order.
    writes.sort_by_key(|(append, _)| append.merchant_id);
    let mut scratch = Vec::new();
    for (append, step) in &writes {
        let PlannedBatch::Write { commit, .. } = step else { continue };
        for record in &append.records {
            write_record(append.merchant_id, record, *commit, &mut scratch, sink);
        }
    }
    let of_one_merchant =
        |left: &(&Append, &PlannedBatch), right: &(&Append, &PlannedBatch)| left.0.merchant_id == right.0.merchant_id;
    for writes in writes.chunk_by(of_one_merchant) {
        write_derived(writes, sink);
    }
    for (append, step) in &writes {
        write_snapshots(append, step, sink);
    }
    write_positions(&plan.after, sink);
    if let Some(last) = plan.last_commit {
        sink.put(Family::Meta, &MetaKey::LastCommit.encode(), &last.0.to_be_bytes());
    }
}

/// Passes the rows of one merchant's batches to the sink.
fn write_derived(writes: &[(&Append, &PlannedBatch)], sink: &mut impl WriteSink) {
    let written =
        writes.iter().filter(|(_, step)| matches!(step, PlannedBatch::Write { .. })).map(|(append, _)| *append);
    let mut rows: Vec<(u128, RowWrite<'_>)> = written
        .flat_map(|append| append.derived.iter().chain(append.vault.iter()))
        .map(|row| (rank(&row), row))
        .collect();
    // Stable, so that the last of a key is the last written.
    rows.sort_by(|(rank, row), (other_rank, other)| (rank, row.key).cmp(&(other_rank, other.key)));
    let same_key = |(rank, row): &(u128, RowWrite<'_>), (other_rank, other): &(u128, RowWrite<'_>)| {
        rank == other_rank && row.key == other.key
    };
    for rows_of_key in rows.chunk_by(same_key) {
        write_rows(rows_of_key.last().map(|(_, row)| *row), sink);
    }
}

/// A number by which rows of one merchant are sorted, usually without a comparison of their keys: the family, and the
/// bytes of the key after the merchant.
fn rank(row: &RowWrite<'_>) -> u128 {
    let mut bytes = [0; 16];
    bytes[0] = u8::try_from(row.family.index()).unwrap_or(u8::MAX);
    let rest = row.key.get(MERCHANT_LEN..).unwrap_or_default();
    let len = rest.len().min(bytes.len() - 1);
    bytes[1..=len].copy_from_slice(&rest[..len]);
    u128::from_be_bytes(bytes)
}

/// Passes a record to the sink as the log stores it.
pub fn write_record(
    merchant_id: MerchantId,
    record: &EncodedRecord,
    commit: CommitNumber,
    scratch: &mut Vec<u8>,
    sink: &mut impl WriteSink,
) {
    let commit = commit.0.to_be_bytes();
    scratch.clear();
    scratch.extend_from_slice(&commit);
    scratch.extend_from_slice(&crc32c::crc32c(&commit).to_be_bytes());
    scratch.extend_from_slice(&record.bytes);
    let key = JournalKey { merchant_id, sequence: record.sequence };
    sink.put(Family::Journal, &key.encode(), scratch);
}

/// Passes row writes to the sink.
pub(crate) fn write_rows<'a>(rows: impl IntoIterator<Item = RowWrite<'a>>, sink: &mut impl WriteSink) {
    for row in rows {
        match row.value {
            Some(value) => sink.put(row.family, row.key, value),
            None => sink.delete(row.family, row.key),
        }
    }
}

fn write_snapshots(append: &Append, step: &PlannedBatch, sink: &mut impl WriteSink) {
    let PlannedBatch::Write { dropped_snapshots, keeps_snapshot, .. } = step else { return };
    let key = |sequence| SnapshotKey { merchant_id: append.merchant_id, sequence };
    if let Some(snapshot) = append.snapshot.as_ref().filter(|_| *keeps_snapshot) {
        let key = key(snapshot.at.sequence);
        sink.put(Family::Snapshots, &key.encode(), &snapshot::encode(key, &snapshot.at.hash, &snapshot.bytes));
    }
    for &sequence in dropped_snapshots {
        sink.delete(Family::Snapshots, &key(sequence).encode());
    }
}

fn write_positions(after: &ByMerchant<Durable>, sink: &mut impl WriteSink) {
    for (&merchant_id, durable) in after {
        write_head(merchant_id, durable.head, sink);
        write_applied(merchant_id, durable.head, sink);
    }
}

/// Passes the head of a merchant's log to the sink.
pub(crate) fn write_head(merchant_id: MerchantId, head: Head, sink: &mut impl WriteSink) {
    sink.put(Family::Meta, &HeadKey(merchant_id).encode(), &encode_head(head));
}

/// Passes the position of a merchant's rows to the sink.
pub fn write_applied(merchant_id: MerchantId, applied: Head, sink: &mut impl WriteSink) {
    sink.put(Family::Rows, &AppliedKey(merchant_id).encode(), &encode_head(applied));
}

/// The durable head of a merchant's log.
pub fn read_head(reader: &(impl RowReader + ?Sized), merchant_id: MerchantId) -> Result<Head, RowError> {
    read_position(reader, merchant_id, Family::Meta, &HeadKey(merchant_id).encode(), "head")
}

/// The position of a merchant's rows.
pub fn read_applied(reader: &(impl RowReader + ?Sized), merchant_id: MerchantId) -> Result<Head, RowError> {
    read_position(reader, merchant_id, Family::Rows, &AppliedKey(merchant_id).encode(), "row position")
}

fn read_position(
    reader: &(impl RowReader + ?Sized),
    merchant_id: MerchantId,
    family: Family,
    key: &[u8],
    what: &'static str,
) -> Result<Head, RowError> {
    match reader.get(family, key)? {
        None => Ok(Head::EMPTY),
        Some(value) => decode_head(&value).ok_or(RowError::Damaged { merchant_id, what }),
    }
}

/// The stored state that a first claim of a merchant needs.
pub(crate) fn read_durable(reader: &impl RowReader, merchant_id: MerchantId) -> Result<Durable, JournalError> {
    let head = read_head(reader, merchant_id)?;
    let mut snapshots = Vec::new();
    for (key, _) in scan_snapshots(reader, merchant_id, SNAPSHOTS_KEPT)? {
        snapshots.extend(SnapshotKey::decode(&key).map(|key| key.sequence));
    }
    snapshots.reverse();
    Ok(Durable { head, snapshots })
}

/// The merchant's valid snapshots, newest first.
pub fn read_snapshots(
    reader: &impl RowReader,
    merchant_id: MerchantId,
    max: usize,
) -> Result<Vec<StoredSnapshot>, JournalError> {
    let pairs = scan_snapshots(reader, merchant_id, max)?;
    let good = pairs.into_iter().filter_map(|(key, value)| {
        let snapshot = SnapshotKey::decode(&key).and_then(|key| snapshot::decode(key, &value));
        if snapshot.is_none() {
            tracing::warn!(%merchant_id, "a snapshot is damaged; an older one or the log is used");
        }
        snapshot
    });
    Ok(good.collect())
}

fn scan_snapshots(reader: &impl RowReader, merchant_id: MerchantId, max: usize) -> Result<Vec<RowPair>, JournalError> {
    let (lower, upper) = SnapshotKey::range(merchant_id);
    Ok(reader.scan(RowRange::backward(Family::Snapshots, &lower, &upper), max)?)
}

/// Records of a merchant's log, within the limits of [`super::Journal::read`].
pub fn read_records(
    reader: &impl RowReader,
    merchant_id: MerchantId,
    from: Sequence,
    max: usize,
) -> Result<Vec<StoredRecord>, JournalError> {
    let (mut records, mut byte_count, mut damage) = (Vec::new(), 0, None);
    if max == 0 {
        return Ok(records);
    }
    let (lower, upper) = JournalKey::range(merchant_id, from);
    // A record beyond the limit is not copied: a page of large ones would take hundreds of times the limit.
    reader.visit(RowRange::forward(Family::Journal, &lower, &upper), &mut |key, value| {
        byte_count += value.len();
        if byte_count > READ_BYTES_MAX && !records.is_empty() {
            return ControlFlow::Break(());
        }
        match decode_stored(merchant_id, key, value) {
            Ok((_, record)) => records.push(record),
            Err(error) => damage = Some(error),
        }
        if records.len() < max && damage.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    damage.map_or(Ok(records), Err)
}

/// One record of a merchant's log, not yet checked; none when it is not there.
pub fn read_record(
    reader: &(impl RowReader + ?Sized),
    merchant_id: MerchantId,
    sequence: Sequence,
) -> Result<Option<StoredRecord>, JournalError> {
    let key = JournalKey { merchant_id, sequence }.encode();
    let value = reader.get(Family::Journal, &key)?;
    value.map(|value| Ok(decode_stored(merchant_id, &key, &value)?.1)).transpose()
}

/// The time of one record, in milliseconds since the Unix epoch, by its header alone: a body, which may have megabytes,
/// is neither copied nor checked. None when there is no such record.
///
/// # Errors
/// [`JournalError::Damaged`] when the header is not that of this record.
pub fn read_record_time(
    reader: &(impl RowReader + ?Sized),
    merchant_id: MerchantId,
    sequence: Sequence,
) -> Result<Option<u64>, JournalError> {
    let [lower, upper] = [sequence, sequence.next()].map(|sequence| JournalKey { merchant_id, sequence }.encode());
    let mut header = None;
    reader.visit(RowRange::forward(Family::Journal, &lower, &upper), &mut |_, value| {
        header = Some(value.get(COMMIT_LEN..).and_then(record::glance));
        ControlFlow::Break(())
    })?;
    let is_its_own = |header: &RecordHeader| header.merchant_id == merchant_id && header.sequence == sequence;
    let damaged = JournalError::Damaged { merchant_id, what: "header of a record" };
    header.map(|header| header.filter(is_its_own).map(|header| header.at_ms).ok_or(damaged)).transpose()
}

/// The record in a stored value, not yet checked: [`super::record::decode`] does that.
///
/// # Errors
/// [`JournalError::Damaged`] when the bytes before the record are damaged.
pub fn decode_stored(
    merchant_id: MerchantId,
    key: &[u8],
    value: &[u8],
) -> Result<(Sequence, StoredRecord), JournalError> {
    let damaged = JournalError::Damaged { merchant_id, what: "commit number in front of a record" };
    let key = JournalKey::decode(key).ok_or(damaged.clone())?;
    let (front, bytes) = value.split_first_chunk::<COMMIT_LEN>().ok_or(damaged.clone())?;
    let (commit, crc) = front.split_first_chunk::<8>().ok_or(damaged.clone())?;
    if crc32c::crc32c(commit).to_be_bytes() != crc {
        return Err(damaged);
    }
    let commit = CommitNumber(u64::from_be_bytes(*commit));
    Ok((key.sequence, StoredRecord { commit, bytes: bytes.to_vec() }))
}

/// Merchants that have a log, after `after`.
pub fn read_merchants(
    reader: &impl RowReader,
    after: Option<MerchantId>,
    max: usize,
) -> Result<Vec<(MerchantId, Head)>, JournalError> {
    let (lower, upper) = HeadKey::range(after);
    let pairs = reader.scan(RowRange::forward(Family::Meta, &lower, &upper), max)?;
    let heads = pairs.into_iter().filter_map(|(key, value)| {
        let HeadKey(merchant_id) = HeadKey::decode(&key)?;
        let damaged = JournalError::Damaged { merchant_id, what: "head" };
        Some(decode_head(&value).map(|head| (merchant_id, head)).ok_or(damaged))
    });
    heads.collect()
}

/// Calls `visit` with every merchant that has a record and the end of its log, in the order of ids.
pub fn each_log<E: From<JournalError>>(
    reader: &impl RowReader,
    visit: &mut dyn FnMut(MerchantId, Head) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = None;
    loop {
        let page = read_merchants(reader, after, MERCHANTS_PER_SCAN)?;
        let Some(&(last, _)) = page.last() else { return Ok(()) };
        // The store itself has a head and no record.
        for (merchant_id, head) in page.into_iter().filter(|(_, head)| *head != Head::EMPTY) {
            visit(merchant_id, head)?;
        }
        after = Some(last);
    }
}

/// The number that is the whole value of a key of the family meta.
pub fn read_meta_number<const LEN: usize>(
    reader: &(impl RowReader + ?Sized),
    key: MetaKey,
) -> Result<Option<[u8; LEN]>, RowError> {
    let Some(value) = reader.get(Family::Meta, &key.encode())? else { return Ok(None) };
    let reason = || format!("the value of {key:?} is {} bytes long, not {LEN}", value.len());
    let bytes = <[u8; LEN]>::try_from(value.as_slice());
    bytes.map(Some).map_err(|_| RowError::Unreadable { family: Family::Meta, reason: reason() })
}

impl From<RowError> for JournalError {
    fn from(error: RowError) -> JournalError {
        match error {
            RowError::Damaged { merchant_id, what } => JournalError::Damaged { merchant_id, what },
            RowError::Unreadable { .. } | RowError::OutOfOrder { .. } | RowError::Unwritten { .. } => {
                JournalError::Unreadable { reason: error.to_string() }
            }
        }
    }
}

const _: () = assert!(HEAD_LEN == 8 + 32 && COMMIT_LEN == 12, "on disk since format 1");
