//! Compares a merchant's derived rows with those that result from its log: byte for byte, in both directions.

use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::shapes::{KeyParts, Personal, TableKind, decode_key, decode_row_of, is_same_row};
use till_storage::vault::SubjectId;

use super::fault::Wrong;
use super::job::Job;
use super::personal::ReplayPersonal;
use super::replayed::{Replayed, ReplayedCursor};
use super::scratch::ScratchError;
use super::walk::{Gap, RowWalk, WalkStep, prefix_range};

/// The families whose keys begin with the merchant.
pub(super) const BELOW_MERCHANTS: [Family; 4] = [Family::Rows, Family::Indexes, Family::Effects, Family::Timers];

/// Compares one merchant's rows.
pub(super) struct Comparison<'a, 'p> {
    pub(super) merchant_id: MerchantId,
    /// The rows that result from the log; none when it could not be replayed: then the stored rows are only read.
    pub(super) replayed: Option<&'a Replayed>,
    pub(super) personal: &'a ReplayPersonal<'p>,
}

impl Comparison<'_, '_> {
    /// Compares every family below merchants.
    pub(super) fn run(&self, job: &mut Job<'_>) -> Result<(), ScratchError> {
        BELOW_MERCHANTS.into_iter().try_for_each(|family| self.compare(family, job))
    }

    fn compare(&self, family: Family, job: &mut Job<'_>) -> Result<(), ScratchError> {
        let mut replayed = self.replayed.map(|replayed| replayed.cursor(family));
        for step in RowWalk::new(job.rows, family, prefix_range(&self.merchant_id.to_bytes())) {
            match step {
                WalkStep::Row(key, value) => self.compare_row(family, &key, &value, &mut replayed, job)?,
                WalkStep::Gap(gap) => self.compare_gap(family, gap, &mut replayed, job)?,
            }
        }
        self.missing_before(family, None, &mut replayed, job)
    }

    fn compare_row(
        &self,
        family: Family,
        key: &[u8],
        stored: &[u8],
        replayed: &mut Option<ReplayedCursor<'_>>,
        job: &mut Job<'_>,
    ) -> Result<(), ScratchError> {
        job.count_row();
        self.missing_before(family, Some(key), replayed, job)?;
        let expected = replayed.as_mut().map(|replayed| replayed.take_at(key)).transpose()?;
        if expected.as_ref().is_some_and(|row| row.as_ref().is_some_and(|(_, replayed)| replayed == stored)) {
            return Ok(());
        }
        let wrong = match (decode_key(family, key), expected) {
            (Err(error), _) => Some(Wrong::BadKey { reason: error.to_string() }),
            (Ok((_, KeyParts::AppliedPosition)), _) | (Ok(_), None) => None,
            (Ok((_, parts)), Some(Some((_, replayed)))) => self.difference(&parts, stored, &replayed),
            (Ok((_, parts)), Some(None)) => self.unexplained(&parts, stored),
        };
        if let Some(wrong) = wrong {
            job.row_fault(Some(self.merchant_id), family, key, wrong);
        }
        Ok(())
    }

    /// Reports the rows of the log before `key` that are not stored.
    fn missing_before(
        &self,
        family: Family,
        key: Option<&[u8]>,
        replayed: &mut Option<ReplayedCursor<'_>>,
        job: &mut Job<'_>,
    ) -> Result<(), ScratchError> {
        let Some(replayed) = replayed else { return Ok(()) };
        while let Some((missing, _)) = replayed.take_before(key)? {
            job.row_fault(Some(self.merchant_id), family, &missing, Wrong::Missing);
        }
        Ok(())
    }

    fn compare_gap(
        &self,
        family: Family,
        gap: Gap,
        replayed: &mut Option<ReplayedCursor<'_>>,
        job: &mut Job<'_>,
    ) -> Result<(), ScratchError> {
        let mut expected = None;
        if let Some(replayed) = replayed {
            while replayed.take_before(gap.before.as_deref())?.is_some() {
                expected = Some(expected.unwrap_or(0) + 1);
            }
        }
        job.gap(Some(self.merchant_id), family, gap, expected);
        Ok(())
    }

    fn difference(&self, parts: &KeyParts, stored: &[u8], replayed: &[u8]) -> Option<Wrong> {
        let KeyParts::Row(key) = parts else { return Some(Wrong::Different) };
        match is_same_row(key, stored, replayed, self.personal) {
            Ok(true) => None,
            Ok(false) => Some(Wrong::Different),
            Err(error) => Some(Wrong::Undecodable { reason: error.to_string() }),
        }
    }

    /// Judges a row that does not result from the log. An index of a person whose key exists and cannot be opened would
    /// result from it; the vault's check reports the key.
    fn unexplained(&self, parts: &KeyParts, stored: &[u8]) -> Option<Wrong> {
        let KeyParts::Digest { table, digest: _ } = parts else { return Some(Wrong::Extra) };
        let owner = customer_of(*table, stored, self.personal);
        let is_lost = owner.is_some_and(|subject| self.personal.has_lost(subject));
        (!is_lost).then_some(Wrong::Extra)
    }
}

fn customer_of(table: TableKind, stored: &[u8], personal: &dyn Personal) -> Option<SubjectId> {
    use till_domain::records::{CustomersByEmail, CustomersByMobile, CustomersByOtherEmail, Table};
    let row = decode_row_of(table, stored, personal).ok()?;
    let id = CustomersByEmail::unwrap(row.clone()).or_else(|| CustomersByOtherEmail::unwrap(row.clone()));
    let id = id.or_else(|| CustomersByMobile::unwrap(row))?;
    Some(SubjectId::customer(id))
}
