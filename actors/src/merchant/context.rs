//! The context that all actors share.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use till_domain::ids::MerchantId;
use till_domain::payment::Lifetimes;
use till_storage::commit::Committer;
use till_storage::vault::Keyring;

use super::loader::Loader;
use crate::clock::{Clock, MerchantClocks};
use crate::counts::Counts;
use crate::outbox::Outbox;
use crate::store::Store;

/// The context that all actors share.
pub(crate) struct SharedContext {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) committer: Committer,
    pub(crate) loader: Loader,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clocks: Arc<MerchantClocks>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) idle_before_retiring: Duration,
    pub(crate) lifetimes: Lifetimes,
    /// Merchants whose newest load has failed.
    pub(crate) not_loaded: Mutex<BTreeSet<MerchantId>>,
}
