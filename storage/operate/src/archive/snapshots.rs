//! Snapshots of merchants whose logs grew during a restore, so that a first use of them replays as little as before.

use std::sync::Arc;

use till_domain::apply::apply_state;
use till_domain::ids::MerchantId;
use till_domain::records::MerchantState;
use till_storage::family::Family;
use till_storage::journal::snapshot::{self, SNAPSHOTS_KEPT};
use till_storage::journal::{Head, LogReader, layout};
use till_storage::keys::SnapshotKey;
use till_storage::rows::{RowRange, RowReader};
use till_storage::shapes::{MerchantReader, decode_state, encode_state};
use till_storage::vault::Keyring;

use crate::overlay::Overlay;

use super::ArchiveError;

/// Number of records after the newest snapshot from which a new one is taken.
const RECORDS_SINCE_SNAPSHOT: u64 = 1_024;

/// Takes a snapshot of a merchant at the end of its log when its newest one is far behind. The merchant's rows must all
/// be written.
pub(super) fn take_snapshot(
    overlay: &Overlay,
    keyring: &Arc<Keyring>,
    merchant_id: MerchantId,
) -> Result<(), ArchiveError> {
    let head = layout::read_head(overlay, merchant_id)?;
    let newest = layout::read_snapshots(overlay, merchant_id, 1)?.pop();
    let newest = newest.and_then(|snapshot| Some((snapshot.at, decode_state(&snapshot.bytes).ok()?)));
    let (at, state) = newest.unwrap_or((Head::EMPTY, MerchantState::default()));
    if head.sequence.0 < at.sequence.0 + RECORDS_SINCE_SNAPSHOT {
        return Ok(());
    }
    let state = fold(overlay, keyring, merchant_id, (at, state), head)?;
    let key = SnapshotKey { merchant_id, sequence: head.sequence };
    let bytes = encode_state(&state).map_err(|error| ArchiveError::store(error.reason))?;
    overlay.set(Family::Snapshots, key.encode().to_vec(), Some(snapshot::encode(key, &head.hash, &bytes)));
    drop_older(overlay, merchant_id)?;
    Ok(overlay.write_if_much()?)
}

/// Computes the state at the end of a log from the state at an earlier position.
fn fold(
    overlay: &Overlay,
    keyring: &Arc<Keyring>,
    merchant_id: MerchantId,
    (mut at, mut state): (Head, MerchantState),
    end: Head,
) -> Result<MerchantState, ArchiveError> {
    let personal = MerchantReader::new(merchant_id, Some(Arc::clone(keyring)), overlay);
    let read = |merchant_id, from, max| layout::read_records(overlay, merchant_id, from, max);
    let mut log = LogReader::starting_after(at, merchant_id, read);
    while at.sequence < end.sequence {
        let record = log.next(&personal).map_err(ArchiveError::store)?;
        let missing = || ArchiveError::store(format!("the log of {merchant_id} ends before its head"));
        let record = record.ok_or_else(missing)?;
        apply_state(&record.mutation, &mut state);
        at = record.head();
    }
    Ok(state)
}

/// Removes older snapshots, so that together with a new one there are as many as are kept.
fn drop_older(overlay: &Overlay, merchant_id: MerchantId) -> Result<(), ArchiveError> {
    let (lower, upper) = SnapshotKey::range(merchant_id);
    let kept = overlay.scan(RowRange::backward(Family::Snapshots, &lower, &upper), usize::MAX)?;
    let older = kept.into_iter().skip(SNAPSHOTS_KEPT - 1);
    older.for_each(|(key, _)| overlay.set(Family::Snapshots, key, None));
    Ok(())
}
