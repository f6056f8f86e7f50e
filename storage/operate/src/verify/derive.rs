//! Derives the rows and snapshots of a merchant from its log. `till repair` writes them to the database.

use std::sync::Arc;

use till_domain::apply::apply_state;
use till_domain::ids::MerchantId;
use till_domain::records::{MerchantState, Unreadable};
use till_storage::family::Family;
use till_storage::journal::Head;
use till_storage::journal::snapshot::{SNAPSHOT_EVERY, SNAPSHOTS_KEPT};
use till_storage::rows::{RowPair, RowReader};
use till_storage::shapes::encode_state;
use till_storage::vault::Keyring;

use super::faults::Faults;
use super::job::Job;
use super::log::LogCheck;
use super::options::VerifyOptions;
use super::personal::ReplayPersonal;
use super::replayed::{ReplayError, Replayed};
use super::report::VerifyProgress;
use super::scratch::ScratchError;

/// The maximum number of faults of a log that are kept. The first fault ends the work.
const FAULTS_KEPT: usize = 1;

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
    let options = &VerifyOptions { faults_kept: FAULTS_KEPT, ..options.clone() };
    let mut ignore_progress = |_: &VerifyProgress| {};
    let mut job = Job::new(rows, keyring, options, &mut ignore_progress);
    let mut deriving = Deriving {
        merchant_id,
        log: LogCheck::new(merchant_id, Some(head.sequence)),
        personal: ReplayPersonal::new(merchant_id, keyring, rows),
        state: MerchantState::default(),
        rows: Replayed::new(options.memory_bytes_max, options.scratch.clone()),
        snapshots: Vec::new(),
    };
    deriving.run(&mut job)?;
    deriving.finish(head)
}

struct Deriving<'a> {
    merchant_id: MerchantId,
    log: LogCheck,
    personal: ReplayPersonal<'a>,
    state: MerchantState,
    rows: Replayed,
    snapshots: Vec<(Head, Vec<u8>)>,
}

impl<'a> Deriving<'a> {
    fn run(&mut self, job: &mut Job<'a>) -> Result<(), DeriveError> {
        for step in self.log.walk(job) {
            let mutation = self.log.check_step(step, &self.personal, job);
            let Some(mutation) = mutation.filter(|_| self.log.is_unbroken()) else {
                return Err(self.damaged(&job.faults));
            };
            apply_state(&mutation, &mut self.state);
            self.keep_snapshot().map_err(|error| self.at_last(&error.reason))?;
            self.rows.fold(self.merchant_id, &mutation, &mut self.personal).map_err(|error| match error {
                ReplayError::Scratch(error) => DeriveError::Scratch(error),
                ReplayError::Log(error) => self.at_last(&error.reason),
            })?;
        }
        Ok(())
    }

    fn damaged(&self, faults: &Faults) -> DeriveError {
        faults
            .first()
            .map_or_else(|| self.at_last("it is not a record"), |fault| DeriveError::Log { what: fault.to_string() })
    }

    fn at_last(&self, reason: &str) -> DeriveError {
        DeriveError::Log { what: format!("record {} of {}: {reason}", self.log.last(), self.merchant_id) }
    }

    fn keep_snapshot(&mut self) -> Result<(), Unreadable> {
        let Some(head) = self.log.head().filter(|head| head.sequence.0.is_multiple_of(SNAPSHOT_EVERY)) else {
            return Ok(());
        };
        self.snapshots.push((head, encode_state(&self.state)?));
        if self.snapshots.len() > SNAPSHOTS_KEPT {
            self.snapshots.remove(0);
        }
        Ok(())
    }

    fn finish(mut self, head: Head) -> Result<Derived, DeriveError> {
        if self.log.head() != Some(head) {
            return Err(self.at_last("the log does not end where its head says"));
        }
        if self.personal.has_lost_any() {
            return Err(DeriveError::Vault { merchant_id: self.merchant_id });
        }
        self.rows.finish()?;
        Ok(Derived { rows: self.rows, snapshots: self.snapshots })
    }
}
