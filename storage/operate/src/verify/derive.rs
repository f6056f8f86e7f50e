//! Derives the rows and snapshots of a merchant from its log. `till repair` writes them to the database.

use std::sync::Arc;

use till_domain::apply::apply_state;
use till_domain::ids::MerchantId;
use till_domain::records::{MerchantState, Unreadable};
use till_storage::family::Family;
use till_storage::journal::snapshot::SNAPSHOTS_KEPT;
use till_storage::journal::{Head, LogReader, SnapshotSchedule, layout};
use till_storage::rows::{RowPair, RowReader};
use till_storage::shapes::encode_state;
use till_storage::vault::Keyring;

use super::options::VerifyOptions;
use super::personal::ReplayPersonal;
use super::replayed::{ReplayError, Replayed};
use super::scratch::ScratchError;

/// The reason that a log's rows could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum DeriveError {
    /// The log is damaged: nothing can be derived from it.
    #[error("the log itself is damaged: {what}")]
    Log {
        /// The fault and its location.
        what: String,
    },
    /// The key of a person cannot be opened, so the rows would lack data that the log contains.
    #[error("the vault is damaged: the key of a person of {merchant_id} cannot be opened")]
    Vault {
        /// The merchant whose log names the person.
        merchant_id: MerchantId,
    },
    /// The rows did not fit into memory, and the scratch directory could not be used.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// The rows and snapshots that were derived from one log.
pub(crate) struct Derived {
    rows: Replayed,
    /// The snapshots to keep. The oldest one comes first.
    pub(crate) snapshots: Vec<(Head, Vec<u8>)>,
}

impl Derived {
    /// Calls a function with every row of a family, in the order of keys.
    pub(crate) fn each<E: From<ScratchError>>(
        &self,
        family: Family,
        visit: &mut dyn FnMut(RowPair) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cursor = self.rows.cursor(family);
        while let Some(pair) = cursor.take_before(None)? {
            visit(pair)?;
        }
        Ok(())
    }
}

/// Derives the rows and snapshots of a merchant whose log ends at `head`.
pub(crate) fn derive(
    merchant_id: MerchantId,
    head: Head,
    rows: &dyn RowReader,
    keyring: &Arc<Keyring>,
    options: &VerifyOptions,
) -> Result<Derived, DeriveError> {
    let mut deriving = Deriving {
        merchant_id,
        head: Head::EMPTY,
        personal: ReplayPersonal::new(merchant_id, keyring, rows),
        state: MerchantState::default(),
        rows: Replayed::new(options.memory_bytes_max, options.scratch.clone()),
        snapshots: Vec::new(),
        schedule: SnapshotSchedule::default(),
    };
    deriving.run(rows)?;
    deriving.finish(head)
}

struct Deriving<'a> {
    merchant_id: MerchantId,
    /// The last record.
    head: Head,
    personal: ReplayPersonal<'a>,
    state: MerchantState,
    rows: Replayed,
    snapshots: Vec<(Head, Vec<u8>)>,
    schedule: SnapshotSchedule,
}

impl Deriving<'_> {
    fn run(&mut self, rows: &dyn RowReader) -> Result<(), DeriveError> {
        let read = |merchant_id, from, max| layout::read_records(&rows, merchant_id, from, max);
        let mut log = LogReader::starting_after(Head::EMPTY, self.merchant_id, read);
        while let Some(record) = log.next(&self.personal).map_err(|error| self.damaged(&error.to_string()))? {
            self.head = record.head();
            apply_state(&record.mutation, &mut self.state);
            self.keep_snapshot(record.byte_count).map_err(|error| self.at_last(&error.reason))?;
            let folded = self.rows.fold(self.merchant_id, &record.mutation, &mut self.personal);
            folded.map_err(|error| match error {
                ReplayError::Scratch(error) => DeriveError::Scratch(error),
                ReplayError::Log(error) => self.at_last(&error.reason),
            })?;
        }
        Ok(())
    }

    fn damaged(&self, reason: &str) -> DeriveError {
        DeriveError::Log { what: format!("{}: {reason}", self.merchant_id) }
    }

    fn at_last(&self, reason: &str) -> DeriveError {
        DeriveError::Log { what: format!("record {} of {}: {reason}", self.head.sequence, self.merchant_id) }
    }

    /// Takes the snapshot that was written with the last record, when there was one.
    fn keep_snapshot(&mut self, record_bytes: usize) -> Result<(), Unreadable> {
        if !self.schedule.is_due(self.head.sequence, record_bytes) {
            self.schedule.count(record_bytes);
            return Ok(());
        }
        let state = encode_state(&self.state)?;
        self.schedule = SnapshotSchedule::for_state(state.len());
        self.snapshots.push((self.head, state));
        if self.snapshots.len() > SNAPSHOTS_KEPT {
            self.snapshots.remove(0);
        }
        Ok(())
    }

    fn finish(mut self, head: Head) -> Result<Derived, DeriveError> {
        if self.head != head {
            return Err(self.at_last("the log does not end where its head says"));
        }
        if self.personal.has_lost_any() {
            return Err(DeriveError::Vault { merchant_id: self.merchant_id });
        }
        self.rows.finish()?;
        Ok(Derived { rows: self.rows, snapshots: self.snapshots })
    }
}
