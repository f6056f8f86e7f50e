//! The directory of all merchants: every row of it must follow from one merchant's log.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_domain::records::{AcquirerDirectory, AnyKey, AnyRow, CreatedMerchants, KeyDirectory, Table};
use till_storage::family::Family;
use till_storage::rows::RowReader;
use till_storage::shapes::{KeyParts, decode_key, decode_row};
use till_storage::vault::Keyring;

use super::fault::Wrong;
use super::job::Job;
use super::personal::ReplayPersonal;
use super::replayed::Replayed;
use super::scratch::ScratchError;
use super::walk::{RowWalk, WalkStep, prefix_range};

/// The checked part of the directory.
#[derive(Default)]
pub(super) struct Directory {
    /// Digests of the keys of rows that followed from a log: 16 bytes for each API key and merchant.
    explained: HashSet<[u8; 16]>,
    /// Merchants whose log could not be replayed.
    passed_over: BTreeSet<MerchantId>,
}

impl Directory {
    /// Compares the rows of one merchant's log with the stored ones.
    pub(super) fn compare(
        &mut self,
        merchant_id: MerchantId,
        replayed: &Replayed,
        job: &mut Job<'_>,
    ) -> Result<(), ScratchError> {
        let mut rows = replayed.cursor(Family::Directory);
        while let Some((key, expected)) = rows.take_before(None)? {
            let wrong = match job.rows.get(Family::Directory, &key) {
                Ok(Some(stored)) if stored == expected => None,
                Ok(Some(stored)) if is_taken_over((&key, &stored, &expected), job.rows, job.keyring) => continue,
                Ok(Some(_)) => Some(Wrong::Different),
                Ok(None) => Some(Wrong::Missing),
                Err(_) => None, // Reported when the directory is walked.
            };
            self.explained.insert(digest(&key));
            if let Some(wrong) = wrong {
                job.row_fault(Some(merchant_id), Family::Directory, &key, wrong);
            }
        }
        Ok(())
    }

    /// Adds the part that another thread checked.
    pub(super) fn absorb(&mut self, other: Directory) {
        self.explained.extend(other.explained);
        self.passed_over.extend(other.passed_over);
    }

    /// Notes a merchant whose log could not be replayed.
    pub(super) fn pass_over(&mut self, merchant_id: MerchantId) {
        self.passed_over.insert(merchant_id);
    }

    /// Reports the rows that follow from no log.
    pub(super) fn finish(&self, job: &mut Job<'_>) {
        for step in RowWalk::new(job.rows, Family::Directory, prefix_range(&[])) {
            match step {
                WalkStep::Row(key, value) => {
                    job.count_row();
                    self.check_row(&key, &value, job);
                }
                WalkStep::Gap(gap) => job.gap(None, Family::Directory, gap, None),
            }
        }
    }

    fn check_row(&self, key: &[u8], value: &[u8], job: &mut Job<'_>) {
        if self.explained.contains(&digest(key)) {
            return;
        }
        let wrong = match decode_key(Family::Directory, key) {
            Ok(_) => Wrong::Extra,
            Err(error) => Wrong::BadKey { reason: error.to_string() },
        };
        let owner = directory_owner(key, value, job.rows, job.keyring);
        if !owner.is_some_and(|owner| self.passed_over.contains(&owner)) {
            job.row_fault(owner, Family::Directory, key, wrong);
        }
    }
}

fn digest(key: &[u8]) -> [u8; 16] {
    *blake3::hash(key).as_bytes().first_chunk().expect("a digest has 32 bytes")
}

/// True when a stored row of the directory belongs to a merchant that was created later, by a call with the same
/// Idempotency-Key. A key may be used again after its answer has expired.
pub(crate) fn is_taken_over(
    (key, stored, expected): (&[u8], &[u8], &[u8]),
    rows: &dyn RowReader,
    keyring: &Arc<Keyring>,
) -> bool {
    let created = |value| decoded(key, value, rows, keyring).and_then(|(_, row)| CreatedMerchants::unwrap(row));
    let (Some(stored), Some(expected)) = (created(stored), created(expected)) else { return false };
    stored.merchant_id != expected.merchant_id && stored.expires_at > expected.expires_at
}

/// The merchant to which a row of the directory belongs.
pub(crate) fn directory_owner(
    key: &[u8],
    value: &[u8],
    rows: &dyn RowReader,
    keyring: &Arc<Keyring>,
) -> Option<MerchantId> {
    let (key, row) = decoded(key, value, rows, keyring)?;
    if let AnyKey::MerchantDirectory(merchant_id) = key {
        return Some(merchant_id);
    }
    let of_account = AcquirerDirectory::unwrap(row.clone());
    let of_key = KeyDirectory::unwrap(row.clone()).map(|owner| owner.merchant_id);
    of_account.or(of_key).or_else(|| CreatedMerchants::unwrap(row).map(|created| created.merchant_id))
}

fn decoded(key: &[u8], value: &[u8], rows: &dyn RowReader, keyring: &Arc<Keyring>) -> Option<(AnyKey, AnyRow)> {
    let Ok((_, KeyParts::Row(key))) = decode_key(Family::Directory, key) else { return None };
    // Nothing in the directory is personal, so that any merchant id serves.
    let personal = ReplayPersonal::new(MerchantId::from_bytes([0; 16]), keyring, rows);
    let row = decode_row(&key, value, &personal).ok()?;
    Some((key, row))
}
