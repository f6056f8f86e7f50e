//! What the merchants that are filled share.

use std::io;
use std::sync::Arc;
use std::time::Duration;
use till_domain::ids::MerchantId;
use till_storage::commit::Committer;
use till_storage::journal::Journal;
use till_storage::vault::Keyring;
use tokio::runtime::{Builder, Runtime};

use super::merchant::BulkMerchant;
use crate::effects::{Acquirers, Caller};
use crate::merchant::Staging;
use crate::reply::Denied;
use crate::security_codes::SecurityCodes;
use crate::store::Store;

/// Durable rows of a merchant that are kept at hand: those of all payments that wait for the acquirer, some 30 MB.
const KEPT_ROWS: usize = 32_768;

/// The same where nothing lasts before the end: what is read of a merchant with five million payments, its customers
/// among it, at some 600 bytes each. Each that had to be read from the store would take longer than the rest of its
/// payment.
const KEPT_ROWS_OF_MANY: usize = 3_000_000;

/// Keys of customers that are kept at hand with them.
const KEPT_KEYS_OF_MANY: usize = 1_000_000;

/// What a filling that breaks off leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkMode {
    /// A store that is served: batches go through the commit thread, and acquirers are called once the disk has what
    /// they are called for, as the effect runner does.
    Durable,
    /// Nothing that anybody opens: batches are appended by whoever fills, thousands at once, and nothing waits for the
    /// disk.
    AllOrNothing,
}

/// A store that is filled while nobody serves it. It makes its caller wait: not within an asynchronous runtime.
pub struct BulkLoader {
    pub(super) store: Arc<dyn Store>,
    pub(super) keyring: Arc<Keyring>,
    pub(super) committer: Committer,
    pub(super) caller: Arc<Caller>,
    pub(super) calls: Runtime,
    pub(super) mode: BulkMode,
}

impl BulkLoader {
    /// Starts the commit thread, and one that calls acquirers.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        store: Arc<dyn Store>,
        keyring: Arc<Keyring>,
        acquirers: Acquirers,
        mode: BulkMode,
    ) -> io::Result<BulkLoader> {
        let journal: Arc<dyn Journal> = Arc::clone(&store) as _;
        // Whoever fills learns of an uncertain write by its verdict, and stops.
        let committer = Committer::start(journal, Duration::ZERO, Box::new(|_| {}))?;
        let calls = Builder::new_multi_thread().worker_threads(1).thread_name("till-calls").enable_time().build()?;
        let security_codes = Arc::new(SecurityCodes::new());
        let caller = Caller { acquirers, keyring: Arc::clone(&keyring), security_codes, store: Arc::clone(&store) };
        Ok(BulkLoader { store, keyring, committer, caller: Arc::new(caller), calls, mode })
    }

    /// Takes hold of a merchant's log. While it is held, nobody else may change the merchant.
    ///
    /// # Errors
    /// When what is there of the merchant cannot be loaded.
    pub fn merchant(&self, merchant_id: MerchantId) -> Result<BulkMerchant<'_>, Denied> {
        let loaded = Staging::load(merchant_id, &self.store, &self.keyring);
        // What a load finds to follow stands in rows, too: the server takes it up when it next starts.
        let (mut staging, _following) = loaded.map_err(|error| Denied::not_done(error.to_string()))?;
        match self.mode {
            BulkMode::Durable => staging.records.keep_at_hand(KEPT_ROWS),
            BulkMode::AllOrNothing => {
                staging.records.keep_at_hand(KEPT_ROWS_OF_MANY);
                staging.records.personal.keep_opened_keys(KEPT_KEYS_OF_MANY);
            }
        }
        Ok(BulkMerchant::new(self, merchant_id, staging))
    }
}
