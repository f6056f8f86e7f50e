//! The filters of payments, and the ranges of indexes that they are.

use std::ops::Bound;

use till_domain::ids::{CustomerId, PaymentId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{PaymentsByAmount, PaymentsByCaptureDay, Unreadable};
use till_domain::time::{DAY_MILLIS, Millis};
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantView, PaymentIndex};

use super::merge::EntrySource;
use super::payment_terms::PaymentTerms;
use super::search::Selection;
use crate::protocol::api_error::ApiError;
use crate::protocol::request_thread;
use crate::service::shared::Reader;

/// Payments that are looked up by themselves at most, where no index has them in the order of the list.
pub(super) const KNOWN_MAX: usize = 2_048;
/// The same on a thread that reads requests.
const KNOWN_AT_ONCE_MAX: usize = 512;
/// Different amounts within a range that are walked side by side at most.
const AMOUNTS_MAX: usize = 16;

/// An amount, or the amounts from one to another, in minor units, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmountRange {
    /// The smallest amount.
    pub min_minor: u64,
    /// The largest amount.
    pub max_minor: u64,
}

impl AmountRange {
    const fn contains(self, amount_minor: u64) -> bool {
        self.min_minor <= amount_minor && amount_minor <= self.max_minor
    }
}

/// The filters of a list of payments. All that are given must hold.
#[derive(Debug, Clone, Default)]
pub struct PaymentFilters {
    /// The status.
    pub status: Option<PaymentStatus>,
    /// The payment method.
    pub method: Option<PaymentMethod>,
    /// The time of creation: from one instant, inclusive, to another, exclusive.
    pub created: Option<(Millis, Millis)>,
    /// The time of capture: from one instant, inclusive, to another, exclusive.
    pub captured: Option<(Millis, Millis)>,
    /// The amount that was asked for.
    pub amount: Option<AmountRange>,
    /// The customer.
    pub customer_id: Option<CustomerId>,
    /// A text that the payment is looked for by.
    pub terms: Option<String>,
}

impl PaymentFilters {
    /// The payments that pass the filters.
    ///
    /// # Errors
    /// `UNAVAILABLE` when an index cannot be read; [`ApiError::for_worker_pool`] when many entries of one are to be read
    /// and this thread reads requests.
    pub fn selection(&self, reader: &Reader<'_>) -> Result<Selection<PaymentIndex>, ApiError> {
        self.select_from(&reader.view())
    }

    pub(super) fn select_from(&self, view: &MerchantView<'_>) -> Result<Selection<PaymentIndex>, ApiError> {
        let mut selection = Selection::default();
        if let Some((from, until)) = self.created {
            selection.recorded(from, until);
        }
        if let Some(terms) = &self.terms {
            PaymentTerms::find(terms, view)?.select(&mut selection);
        }
        if let Some(customer_id) = self.customer_id {
            selection.any_of(vec![PaymentIndex::Customer(customer_id)]);
        }
        if let Some(range) = self.amount {
            select_amounts(range, view, &mut selection)?;
        }
        if let Some((from, until)) = self.captured {
            select_captured(from, until, view, &mut selection)?;
        }
        if self.status.is_some() || self.method.is_some() {
            self.select_status(&mut selection);
        }
        Ok(selection)
    }

    /// The index is by status and method, so that either is a union. A payment that is PENDING is found by its open effect.
    fn select_status(&self, selection: &mut Selection<PaymentIndex>) {
        let (status, method) = (self.status, self.method);
        let statuses = PaymentStatus::ALL.into_iter().filter(|one| status.is_none_or(|wanted| *one == wanted));
        let (pending, others): (Vec<_>, Vec<_>) = statuses.partition(|one| *one == PaymentStatus::Pending);
        let methods = || PaymentMethod::ALL.into_iter().filter(|one| method.is_none_or(|wanted| *one == wanted));
        let mut indexes: Vec<PaymentIndex> =
            others.iter().flat_map(|status| methods().map(|method| PaymentIndex::Status(*status, method))).collect();
        if !pending.is_empty() {
            indexes.push(PaymentIndex::WithOpenEffect);
            selection.passing(move |payment: &Payment| {
                status.is_none_or(|wanted| payment.status == wanted)
                    && method.is_none_or(|wanted| payment.instrument.method() == wanted)
            });
        }
        selection.any_of(indexes);
    }
}

/// Keeps the payments of a range of amounts: one amount or few by their ranges of the index, few payments by themselves,
/// and otherwise those whose rows say so.
fn select_amounts(
    range: AmountRange,
    view: &MerchantView<'_>,
    selection: &mut Selection<PaymentIndex>,
) -> Result<(), ApiError> {
    if let Some(amounts) = few_amounts(range, view)? {
        selection.any_of(amounts.into_iter().map(PaymentIndex::Amount).collect());
        return Ok(());
    }
    let (oldest, newest) = (PaymentId::from_bytes([u8::MIN; 16]), PaymentId::from_bytes([u8::MAX; 16]));
    let keys = (range.min_minor, oldest)..=(range.max_minor, newest);
    let scan = |limit| view.scan_keys::<PaymentsByAmount>(keys.clone(), ScanDirection::Forward, limit);
    match known(|limit| Ok(scan(limit)?.into_iter().map(|(_, id)| id).collect()))? {
        Some(known) => selection.any_source(vec![known]),
        None => selection.passing(move |payment| range.contains(payment.money.amount.get())),
    }
    Ok(())
}

/// The different amounts of a merchant's payments within a range; none when they are more than [`AMOUNTS_MAX`].
fn few_amounts(range: AmountRange, view: &MerchantView<'_>) -> Result<Option<Vec<u64>>, Unreadable> {
    if range.min_minor == range.max_minor {
        return Ok(Some(vec![range.min_minor]));
    }
    let newest = PaymentId::from_bytes([u8::MAX; 16]);
    let (mut after, mut amounts) =
        (Bound::Included((range.min_minor, PaymentId::from_bytes([u8::MIN; 16]))), Vec::new());
    while amounts.len() <= AMOUNTS_MAX {
        let keys = (after, Bound::Included((range.max_minor.min(AMOUNT_MAX_MINOR), newest)));
        let next = view.scan_keys::<PaymentsByAmount>(keys, ScanDirection::Forward, 1)?;
        let Some((amount_minor, _)) = next.into_iter().next() else { return Ok(Some(amounts)) };
        amounts.push(amount_minor);
        after = Bound::Excluded((amount_minor, newest));
    }
    Ok(None)
}

/// The entries that `ids` reads, when they are few enough: it reads at most as many as it is asked for, in any order.
pub(super) fn known(
    ids: impl Fn(usize) -> Result<Vec<PaymentId>, ApiError>,
) -> Result<Option<EntrySource<PaymentIndex>>, ApiError> {
    let is_request_thread = request_thread::is_here();
    let limit = if is_request_thread { KNOWN_AT_ONCE_MAX } else { KNOWN_MAX };
    let mut found = ids(limit.saturating_add(1))?;
    if found.len() > limit {
        return if is_request_thread { Err(ApiError::for_worker_pool()) } else { Ok(None) };
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(EntrySource::Known(found.into())))
}

/// Keeps the payments that were captured from one instant, inclusive, to another, exclusive: those of the days between, of
/// which the first and the last are checked on the rows where they belong to the range in part.
fn select_captured(
    from: Millis,
    until: Millis,
    view: &MerchantView<'_>,
    selection: &mut Selection<PaymentIndex>,
) -> Result<(), ApiError> {
    let end_day = |direction| -> Result<Option<u64>, Unreadable> {
        Ok(view.scan_keys::<PaymentsByCaptureDay>(.., direction, 1)?.first().map(|(day, _)| u64::from(*day)))
    };
    let (Some(first), Some(last)) = (end_day(ScanDirection::Forward)?, end_day(ScanDirection::Backward)?) else {
        selection.any_of(Vec::new());
        return Ok(());
    };
    let begin = (from.0 / DAY_MILLIS).max(first);
    let end = until.0.div_ceil(DAY_MILLIS).min(last.saturating_add(1));
    let day = |day: u64| u32::try_from(day).ok().map(PaymentIndex::CaptureDay);
    selection.any_of((begin..end).rev().filter_map(day).collect());
    // The range reaches beyond the days that there are, or ends with one.
    let is_whole_at_begin = from.0 <= begin.saturating_mul(DAY_MILLIS);
    let is_whole_at_end = until.0 >= end.saturating_mul(DAY_MILLIS);
    if !(is_whole_at_begin && is_whole_at_end) {
        let captured_at = |payment: &Payment| payment.capture.map(|capture| capture.at);
        selection.passing(move |payment| captured_at(payment).is_some_and(|at| (from..until).contains(&at)));
    }
    Ok(())
}
