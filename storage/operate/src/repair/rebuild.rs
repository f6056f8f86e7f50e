//! Derives rows from the log again: for one merchant, or for all.

use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_storage::engine::{OpenError, ROW_FORMAT, Unlogged};
use till_storage::family::Family;
use till_storage::journal::layout::each_log;
use till_storage::journal::{Head, JournalError, snapshot};
use till_storage::keys::{AppliedKey, MetaKey, SnapshotKey, encode_head};
use till_storage::rows::{RowError, RowPair, RowRange, RowReader};
use till_storage::vault::Keyring;

use crate::acquirer_book::AcquirerBook;
use crate::overlay::Overlay;
use crate::verify::{
    Concern, DeriveError, Derived, Fault, Report, ScratchError, VerifyOptions, VerifyProgress, derive, directory_owner,
    is_taken_over, verify,
};

use super::workshop::Workshop;

/// The families that are derived from the log.
const DERIVED: [Family; 6] =
    [Family::Rows, Family::Indexes, Family::Effects, Family::Timers, Family::Snapshots, Family::Directory];

/// Of these, the families whose keys begin with the merchant.
const BELOW_MERCHANTS: [Family; 5] =
    [Family::Rows, Family::Indexes, Family::Effects, Family::Timers, Family::Snapshots];

/// The families that everything else is derived from.
const SOURCES: [Family; 3] = [Family::Journal, Family::Vault, Family::Meta];

/// Rows of one read.
const PAGE: usize = 1_024;

/// The reason that nothing was repaired. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// The data that rows are derived from is damaged itself.
    #[error(
        "the data that rows are derived from is damaged itself, which only a restore can repair: {first} (see till \
            verify)"
    )]
    SourceDamaged {
        /// The first fault.
        first: Box<Fault>,
    },
    /// Faults are left that the repair should remove: after a repair of one merchant when the tables themselves are
    /// damaged.
    #[error("{first}, also after the repair, which was discarded: repair all merchants, or restore")]
    NotRepaired {
        /// The first fault.
        first: Box<Fault>,
    },
    /// There is no such merchant.
    #[error("there is no merchant {0} in this store")]
    NoMerchant(MerchantId),
    /// The store does not open, or the copy cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log, or the vault, is damaged.
    #[error(transparent)]
    Derive(#[from] DeriveError),
    /// A read or write failed.
    #[error("failed to rewrite rows")]
    Rows(#[source] Box<RowError>),
    /// The log cannot be read.
    #[error("failed to read the logs")]
    Journal(#[from] JournalError),
}

impl From<RowError> for RepairError {
    fn from(error: RowError) -> RepairError {
        RepairError::Rows(Box::new(error))
    }
}

impl From<ScratchError> for RepairError {
    fn from(error: ScratchError) -> RepairError {
        RepairError::Derive(DeriveError::Scratch(error))
    }
}

/// A repair of derived rows.
pub struct Rebuild<'a> {
    /// The directories of the repair.
    pub workshop: &'a Workshop,
    /// The keys that the store's vault opens under.
    pub keyring: &'a Arc<Keyring>,
    /// The merchant whose rows are repaired; all merchants when none is named.
    pub merchant_id: Option<MerchantId>,
    /// Options of the verification.
    pub options: VerifyOptions,
}

impl Rebuild<'_> {
    /// Finds the present faults, and changes nothing. When derived tables do not open at all, only the data that they
    /// are derived from is checked, and the reason is returned.
    ///
    /// # Errors
    /// [`RepairError::SourceDamaged`]: only a restore helps.
    pub fn survey(
        &self,
        book: Option<&dyn AcquirerBook>,
        tell: &mut dyn FnMut(&VerifyProgress),
    ) -> Result<(Report, Option<OpenError>), RepairError> {
        let database = self.workshop.database();
        let (report, unopened) = match self.workshop.held().open(&database, &Family::ALL) {
            Ok(store) => (verify(&store, self.keyring, book, &self.options, tell)?, None),
            Err(error) => {
                let store = self.workshop.held().open(&database, &SOURCES)?;
                let options = VerifyOptions { compares_rows: false, ..self.options.clone() };
                (verify(&store, self.keyring, None, &options, tell)?, Some(error))
            }
        };
        refuse(&report)?;
        Ok((report, unopened))
    }

    /// Derives the rows again, verifies everything, and puts the result in place. Returns the faults that are left,
    /// none of which follows from the log.
    ///
    /// # Errors
    /// [`RepairError`]: nothing was changed.
    pub fn run(
        &self,
        book: Option<&dyn AcquirerBook>,
        tell: &mut dyn FnMut(&VerifyProgress),
    ) -> Result<Report, RepairError> {
        self.check_sources(tell)?;
        self.workshop.make_copy()?;
        let repaired = self.rewrite(tell).and_then(|()| self.verify_copy(book, tell));
        match &repaired {
            Ok(_) => self.workshop.adopt_copy()?,
            Err(_) => self.workshop.drop_copy()?,
        }
        repaired
    }

    fn check_sources(&self, tell: &mut dyn FnMut(&VerifyProgress)) -> Result<(), RepairError> {
        let store = self.workshop.held().open(&self.workshop.database(), &SOURCES)?;
        let options = VerifyOptions { compares_rows: false, ..self.options.clone() };
        refuse(&verify(&store, self.keyring, None, &options, tell)?)
    }

    fn rewrite(&self, tell: &mut dyn FnMut(&VerifyProgress)) -> Result<(), RepairError> {
        let emptied: &[Family] = if self.merchant_id.is_none() { &DERIVED } else { &[] };
        let copy = Unlogged::repairing(self.workshop.held().options(), &self.workshop.copy(), emptied)?;
        let copy = Overlay::new(copy);
        let merchants = self.merchants(&copy)?;
        let records_total = merchants.iter().map(|(_, head)| head.sequence.0).sum();
        let mut progress =
            VerifyProgress { merchants_total: count(merchants.len()), records_total, ..VerifyProgress::default() };
        for (merchant_id, head) in merchants {
            Writer { rebuild: self, copy: &copy, merchant_id }.run(head)?;
            progress.merchants += 1;
            progress.records += head.sequence.0;
            tell(&progress);
        }
        if self.merchant_id.is_none() {
            copy.set(Family::Meta, MetaKey::RowFormat.encode().to_vec(), Some(ROW_FORMAT.to_be_bytes().to_vec()));
        }
        Ok(copy.finish()?)
    }

    /// The merchants whose rows are written: those with a record.
    fn merchants(&self, copy: &Overlay) -> Result<Vec<(MerchantId, Head)>, RepairError> {
        let mut all = Vec::new();
        each_log(copy, &mut |merchant_id, head| -> Result<(), RepairError> {
            let is_wanted = self.merchant_id.is_none_or(|wanted| merchant_id == wanted);
            all.extend(is_wanted.then_some((merchant_id, head)));
            Ok(())
        })?;
        match self.merchant_id {
            Some(merchant_id) if all.is_empty() => Err(RepairError::NoMerchant(merchant_id)),
            Some(_) | None => Ok(all),
        }
    }

    fn verify_copy(
        &self,
        book: Option<&dyn AcquirerBook>,
        tell: &mut dyn FnMut(&VerifyProgress),
    ) -> Result<Report, RepairError> {
        let store = self.workshop.held().open(&self.workshop.copy(), &Family::ALL)?;
        let report = verify(&store, self.keyring, book, &self.options, tell)?;
        refuse(&report)?;
        match report.faults.iter().find(|fault| is_repaired_with(fault, self.merchant_id)) {
            Some(first) => Err(RepairError::NotRepaired { first: Box::new(first.clone()) }),
            None => Ok(report),
        }
    }
}

/// True when a repair of one merchant, or of all, should have removed a fault.
fn is_repaired_with(fault: &Fault, merchant_id: Option<MerchantId>) -> bool {
    let is_theirs = merchant_id.is_none() || fault.merchant_id == merchant_id;
    Concern::of(fault) == Concern::Derived && is_theirs
}

fn refuse(report: &Report) -> Result<(), RepairError> {
    let forbidding = |fault: &&Fault| Concern::of(fault).forbids_repair();
    match report.faults.iter().find(forbidding) {
        Some(first) => Err(RepairError::SourceDamaged { first: Box::new(first.clone()) }),
        None => Ok(()),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Writes the rows of one merchant that follow from its log.
struct Writer<'a> {
    rebuild: &'a Rebuild<'a>,
    copy: &'a Overlay,
    merchant_id: MerchantId,
}

impl Writer<'_> {
    fn run(&self, head: Head) -> Result<(), RepairError> {
        let Rebuild { keyring, options, .. } = self.rebuild;
        let derived = derive(self.merchant_id, head, self.copy, keyring, options)?;
        if self.rebuild.merchant_id.is_some() {
            self.clear(&derived)?;
        }
        for family in [Family::Rows, Family::Indexes, Family::Effects, Family::Timers] {
            derived.each(family, &mut |pair| self.put(family, pair))?;
        }
        derived.each(Family::Directory, &mut |pair| self.put_unless_taken_over(pair))?;
        for (at, state) in &derived.snapshots {
            let key = SnapshotKey { merchant_id: self.merchant_id, sequence: at.sequence };
            let value = snapshot::encode(key, &at.hash, state);
            self.put(Family::Snapshots, (key.encode().to_vec(), value))?;
        }
        let position = (AppliedKey(self.merchant_id).encode().to_vec(), encode_head(head).to_vec());
        self.put(Family::Rows, position)?;
        Ok(self.copy.write()?)
    }

    /// Removes all rows of one merchant, so that none is left that does not follow from the log.
    fn clear(&self, derived: &Derived) -> Result<(), RepairError> {
        let lower = self.merchant_id.to_bytes().to_vec();
        let upper = [lower.as_slice(), &[u8::MAX; 1_024]].concat();
        let range = (lower, upper);
        for family in BELOW_MERCHANTS {
            self.copy.clear(family, &range)?;
        }
        let mut explained = Vec::new();
        derived.each::<RepairError>(Family::Directory, &mut |(key, _)| {
            explained.push(key);
            Ok(())
        })?;
        self.clear_directory(&explained)
    }

    fn clear_directory(&self, explained: &[Vec<u8>]) -> Result<(), RepairError> {
        let mut next = Vec::new();
        loop {
            let page = self.copy.scan(RowRange::forward(Family::Directory, &next, &[u8::MAX; 1_024]), PAGE)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            next = [last.as_slice(), &[0]].concat(); // The smallest key that is greater.
            for (key, value) in page {
                let owner = directory_owner(&key, &value, self.copy, self.rebuild.keyring);
                if owner == Some(self.merchant_id) && !explained.contains(&key) {
                    self.copy.set(Family::Directory, key, None);
                }
            }
        }
    }

    /// Writes a row, unless the name of a call that created a merchant was used again for a later one.
    fn put_unless_taken_over(&self, (key, value): RowPair) -> Result<(), RepairError> {
        let (copy, keyring) = (self.copy, self.rebuild.keyring);
        let stored = copy.get(Family::Directory, &key)?;
        let is_taken = stored.is_some_and(|stored| is_taken_over((&key, &stored, &value), copy, keyring));
        if is_taken { Ok(()) } else { self.put(Family::Directory, (key, value)) }
    }

    fn put(&self, family: Family, (key, value): RowPair) -> Result<(), RepairError> {
        self.copy.set(family, key, Some(value));
        Ok(self.copy.write_if_much()?)
    }
}
