//! A walk over all merchants, for searches of the operator.

use std::ops::Bound;
use std::vec::IntoIter;

use till_domain::ids::MerchantId;
use till_domain::records::MerchantDirectory;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;
use till_storage::rows::ScanDirection;
use tokio::sync::{Mutex, MutexGuard};

use crate::service::submission::{Reader, Service};

/// Merchants after which other calls get their turn.
const MERCHANTS_AT_A_TIME: usize = 64;

/// Held during a walk: each reads of all merchants, so one is made at a time.
static TURN: Mutex<()> = Mutex::const_new(());

/// A walk over all merchants in the order of their ids, on the worker pool.
pub(crate) struct EveryMerchant<'s> {
    service: &'s Service,
    page: IntoIter<MerchantId>,
    after: Bound<MerchantId>,
    _turn: MutexGuard<'static, ()>,
}

impl<'s> EveryMerchant<'s> {
    /// Begins a walk when those before it have ended.
    ///
    /// # Errors
    /// [`ApiError::for_worker_pool`] on a thread that reads requests.
    pub(crate) async fn begin(service: &'s Service) -> Result<EveryMerchant<'s>, ApiError> {
        request_thread::interrupt_scan().await?;
        let turn = TURN.lock().await;
        Ok(EveryMerchant { service, page: IntoIter::default(), after: Bound::Unbounded, _turn: turn })
    }

    /// A reader of the next merchant's rows; none after the last merchant.
    ///
    /// # Errors
    /// `UNAVAILABLE` when its rows, or the list of merchants, cannot be read.
    pub(crate) async fn next(&mut self) -> Result<Option<Reader<'s>>, ApiError> {
        if self.page.as_slice().is_empty() {
            self.read_on().await?;
        }
        let Some(merchant_id) = self.page.next() else { return Ok(None) };
        self.after = Bound::Excluded(merchant_id);
        self.service.reader(merchant_id).await.map(Some)
    }

    async fn read_on(&mut self) -> Result<(), ApiError> {
        request_thread::interrupt_scan().await?;
        let range = (self.after, Bound::Unbounded);
        let directory = self.service.directory();
        let page = directory.scan_keys::<MerchantDirectory>(range, ScanDirection::Forward, MERCHANTS_AT_A_TIME)?;
        self.page = page.into_iter();
        Ok(())
    }
}
