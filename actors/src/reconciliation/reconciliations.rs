//! Reconciliations: the acquirer's list is read page by page, then Till's captures and refunds of the range.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::ids::{AcquirerId, Id, PaymentId, RawId, RefundId};
use till_domain::records::{Refunds, Unreadable};
use till_domain::time::DAY_MILLIS;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantReader, PaymentIndex};
use tokio::task::yield_now;

use super::comparison::BalanceComparison;
use super::findings::{DifferenceCounts, DifferenceKind, ReconciledRange, Reconciliation};
use crate::acquirer::{BalancePage, ListedBalance};
use crate::effects::AcquirerCaller;
use crate::store::Store;

/// The maximum number of changes that a reconciliation reads, so that it holds some 100 MiB at most: a million
/// payments within 31 days and their refunds are fewer.
const CHANGES_MAX: usize = 2_000_000;
/// The rows of Till's that are read between two turns of other work on the thread.
const ROWS_AT_A_TIME: usize = 256;
/// The pauses before a page is asked for again, in seconds. The first page is not: without an answer nothing begins.
const PAUSES_SECONDS: [u64; 4] = [1, 2, 5, 10];

/// The reason why an account was not reconciled.
#[derive(Debug, thiserror::Error)]
pub enum NotReconciled {
    /// Another reconciliation is under way: there is one at a time.
    #[error("another account is being reconciled")]
    Busy,
    /// There is too much to be compared at once.
    #[error("the acquirer lists more than {CHANGES_MAX} changes in these days")]
    TooMany,
    /// The acquirer gave no answer.
    #[error("{0}")]
    NoAnswer(String),
    /// A row cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Reconciliations, one at a time, and the number of differences that the last one of each account found.
#[derive(Debug, Default)]
pub struct Reconciliations {
    turn: tokio::sync::Mutex<()>,
    found: Mutex<BTreeMap<AcquirerId, DifferenceCounts>>,
}

impl Reconciliations {
    /// The differences of a kind that the last reconciliations of all accounts found, in this process.
    #[must_use]
    pub fn differences(&self, kind: DifferenceKind) -> u64 {
        self.found.lock().values().filter_map(|counts| counts.get(&kind)).sum()
    }

    /// Compares the acquirer's list with Till's rows, and changes nothing.
    pub(crate) async fn run(
        &self,
        caller: &AcquirerCaller,
        range: ReconciledRange,
    ) -> Result<Reconciliation, NotReconciled> {
        let Ok(_turn) = self.turn.try_lock() else { return Err(NotReconciled::Busy) };
        // Nothing of a person is compared, so that sealed texts stay sealed.
        let rows = MerchantReader::new(range.merchant_id, None, &*caller.sources.store);
        let mut comparison = BalanceComparison::new(range);
        read_list(caller, &mut comparison, &rows).await?;
        read_captures(&mut comparison, &rows).await?;
        read_refunds(&mut comparison, &rows).await?;
        let found = comparison.found;
        if let Some(id) = range.account.account_id() {
            tracing::info!(acquirer_id = %id, differences = found.count(), "an account was reconciled");
            self.found.lock().insert(id, found.counts.clone());
        }
        Ok(found)
    }
}

/// Reads the acquirer's list, the newest change first.
async fn read_list(
    caller: &AcquirerCaller,
    comparison: &mut BalanceComparison,
    rows: &MerchantReader<&dyn Store>,
) -> Result<(), NotReconciled> {
    let (from, before) = comparison.range.listed();
    let (mut listed, mut count) = (ListedBalance { from, before, after: None }, 0_usize);
    loop {
        let BalancePage { changes, next } = read_page(caller, &comparison.range, &listed).await?;
        count = count.saturating_add(changes.len());
        if count > CHANGES_MAX {
            return Err(NotReconciled::TooMany);
        }
        changes.iter().try_for_each(|change| comparison.list(change, rows))?;
        if next.is_none() {
            return Ok(());
        }
        listed.after = next;
    }
}

/// A page of the list. A later page is asked for again, since the pages before it would be read in vain.
async fn read_page(
    caller: &AcquirerCaller,
    range: &ReconciledRange,
    listed: &ListedBalance,
) -> Result<BalancePage, NotReconciled> {
    let list = || caller.list(range.merchant_id, range.account, listed);
    let pauses = if listed.after.is_some() { &PAUSES_SECONDS[..] } else { &[] };
    for seconds in pauses {
        match list().await {
            Ok(page) => return Ok(page),
            Err(_) => tokio::time::sleep(Duration::from_secs(*seconds)).await,
        }
    }
    list().await.map_err(|error| NotReconciled::NoAnswer(error.to_string()))
}

/// Reads Till's captures of the range, by the index of captures.
async fn read_captures(
    comparison: &mut BalanceComparison,
    rows: &MerchantReader<&dyn Store>,
) -> Result<(), Unreadable> {
    let ReconciledRange { from, until, now, .. } = comparison.range;
    let days = from.0 / DAY_MILLIS..=until.min(now).0 / DAY_MILLIS;
    let days = days.filter_map(|day| u32::try_from(day).ok()).map(PaymentIndex::CaptureDay);
    for index in [PaymentIndex::CapturedAtOnce(from, until)].into_iter().chain(days) {
        let newest = PaymentId::from_bytes([u8::MAX; 16]);
        let mut next = Some(PaymentId::from_bytes([u8::MIN; 16]));
        while let Some(oldest) = next {
            let view = rows.view();
            let entries = view.index_entries(&index, (oldest, newest), ScanDirection::Forward, ROWS_AT_A_TIME)?;
            next = entries.last().and_then(|entry| next_id(entry.id));
            let rows = view.list_rows::<PaymentIndex>(entries)?;
            rows.iter().for_each(|(_, payment)| comparison.capture(payment));
            yield_now().await;
        }
    }
    Ok(())
}

/// Reads Till's refunds that were made in the range.
async fn read_refunds(comparison: &mut BalanceComparison, rows: &MerchantReader<&dyn Store>) -> Result<(), Unreadable> {
    let ReconciledRange { from, until, .. } = comparison.range;
    let newest = RefundId::from_raw(RawId::last_at(until.0.saturating_sub(1)));
    let mut next = Some(RefundId::from_raw(RawId::first_at(from.0)));
    while let Some(oldest) = next {
        let refunds = rows.scan_rows::<Refunds>(oldest..=newest, ScanDirection::Forward, ROWS_AT_A_TIME)?;
        next = refunds.last().and_then(|refund| next_id(refund.id));
        refunds.iter().try_for_each(|refund| comparison.refund(refund, rows))?;
        yield_now().await;
    }
    Ok(())
}

/// The id after one.
fn next_id<K: Id>(id: K) -> Option<K> {
    id.to_raw().successor().map(K::from_raw)
}
